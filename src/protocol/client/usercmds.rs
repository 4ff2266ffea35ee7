//! Usercmd history of a client: selection for packets, round-trip time.
//!
//! Each packet carries every usercmd since some earlier packet, so that a lost packet loses none. A snapshot
//! proves by its delta base, which a packet acknowledged, that the server has received that packet. The newest
//! executed usercmd in the playerstate would prove more, but not during an intermission and not to a spectator who
//! follows: the ping would depend on what the client does.
//!
//! Invariants: times of usercmds never decrease within a level; a packet has at most 32; those of
//! an earlier level are never sent. Source: Quake III protocol 68, packets of a client.

use crate::model::{LevelTime, Millis, Sequence, UserCmd, limits::MAX_PACKET_USERCMDS};

/// Number of stored usercmds.
const KEPT: usize = 64;
/// Number of stored packets: two seconds at the highest packet rate.
const PACKETS: usize = 256;
/// Maximum number of earlier packets whose usercmds a packet repeats.
pub(super) const MAX_PACKET_DUP: u32 = 5;

/// A sent packet.
#[derive(Clone, Copy, Debug, Default)]
struct SentPacket {
    /// Usercmds created before it.
    made: u64,
    /// Message of the server that it acknowledged.
    acknowledged: Sequence,
    at: Millis,
}

/// Usercmds of one connection.
#[derive(Debug)]
pub(super) struct UsercmdHistory {
    kept: [UserCmd; KEPT],
    /// Usercmds created so far; number `n` has index `n % KEPT`.
    made: u64,
    /// First usercmd of the current level.
    floor: u64,
    sent: [SentPacket; PACKETS],
    /// Packets sent so far; number `n` has index `n % PACKETS`.
    packets: u64,
    /// First packet of the current level.
    level_packets: u64,
    packet_dup: u32,
}

impl UsercmdHistory {
    pub(super) fn new(packet_dup: u32) -> Self {
        Self {
            kept: [UserCmd::default(); KEPT],
            made: 0,
            floor: 0,
            sent: [SentPacket::default(); PACKETS],
            packets: 0,
            level_packets: 0,
            packet_dup: packet_dup.min(MAX_PACKET_DUP),
        }
    }

    /// Adds a usercmd. One older than the last gets the last one's time.
    pub(super) fn push(&mut self, mut usercmd: UserCmd) {
        if let Some(last) = self.last() {
            let step = LevelTime(usercmd.server_time).distance(LevelTime(last.server_time));
            usercmd.server_time = last.server_time.wrapping_add(step.max(0));
        }
        self.kept[self.made as usize % KEPT] = usercmd;
        self.made += 1;
    }

    /// Drops all usercmds at the end of a level.
    pub(super) fn forget(&mut self) {
        self.floor = self.made;
        self.level_packets = self.packets;
    }

    /// Newest usercmd of the level.
    pub(super) fn last(&self) -> Option<&UserCmd> {
        (self.made > self.floor).then(|| &self.kept[(self.made - 1) as usize % KEPT])
    }

    /// Copies the usercmds of the next packet, oldest first, and returns their number.
    pub(super) fn select(&self, out: &mut [UserCmd; MAX_PACKET_USERCMDS]) -> usize {
        let since = match self.packets.checked_sub(1 + u64::from(self.packet_dup)) {
            Some(packet) => self.sent[packet as usize % PACKETS].made,
            None => 0,
        };
        let wanted = self.made - since.max(self.floor);
        let count = wanted.min(MAX_PACKET_USERCMDS as u64);
        for (place, number) in out.iter_mut().zip(self.made - count..self.made) {
            *place = self.kept[number as usize % KEPT];
        }
        count as usize
    }

    /// Records a packet with the usercmds of [`UsercmdHistory::select`] and its acknowledged message.
    pub(super) fn sent(&mut self, now: Millis, acknowledged: Sequence) {
        let place = &mut self.sent[self.packets as usize % PACKETS];
        *place = SentPacket { made: self.made, acknowledged, at: now };
        self.packets += 1;
    }

    /// Returns the time since the packet was sent that first acknowledged the delta base of a snapshot.
    ///
    /// `None` without a base, or when no stored packet acknowledged it.
    pub(super) fn round_trip(&self, now: Millis, base: Option<Sequence>) -> Option<Millis> {
        let proved = self.first_with_acknowledgement(base?)?;
        Some(now.since(self.packet(proved).at))
    }

    fn packet(&self, number: u64) -> &SentPacket {
        &self.sent[number as usize % PACKETS]
    }

    /// Returns the numbers of the stored packets of the level, newest first.
    fn newest_packets(&self) -> impl Iterator<Item = u64> {
        let first = self.packets.saturating_sub(PACKETS as u64).max(self.level_packets);
        (first..self.packets).rev()
    }

    /// Returns the first packet that acknowledged a message.
    fn first_with_acknowledgement(&self, message: Sequence) -> Option<u64> {
        self.newest_packets()
            .take_while(|&number| self.packet(number).acknowledged.0 >= message.0)
            .filter(|&number| self.packet(number).acknowledged == message)
            .last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(moves: &mut UsercmdHistory, times: impl IntoIterator<Item = i32>) {
        for server_time in times {
            moves.push(UserCmd { server_time, ..UserCmd::default() });
        }
    }

    fn packet(moves: &mut UsercmdHistory, at: u64) -> Vec<i32> {
        let mut out = [UserCmd::default(); MAX_PACKET_USERCMDS];
        let count = moves.select(&mut out);
        moves.sent(Millis(at), Sequence(at as u32 / 50));
        out[..count].iter().map(|usercmd| usercmd.server_time).collect()
    }

    #[test]
    fn packet_repeats_usercmds_of_earlier_packets() {
        for (packet_dup, third) in
            [(0, vec![50, 60]), (1, vec![30, 40, 50, 60]), (5, vec![10, 20, 30, 40, 50, 60])]
        {
            let mut moves = UsercmdHistory::new(packet_dup);
            push(&mut moves, [10, 20]);
            assert_eq!(packet(&mut moves, 1), [10, 20]);
            push(&mut moves, [30, 40]);
            packet(&mut moves, 2);
            push(&mut moves, [50, 60]);
            assert_eq!(packet(&mut moves, 3), third, "packetdup {packet_dup}");
        }
    }

    #[test]
    fn packet_carries_newest_32_usercmds_of_current_level() {
        let mut moves = UsercmdHistory::new(1);
        push(&mut moves, 1..=100);
        assert_eq!(packet(&mut moves, 1), (69..=100).collect::<Vec<_>>());
        moves.forget();
        assert_eq!(packet(&mut moves, 2), [0; 0]);
        push(&mut moves, [5]);
        assert_eq!(packet(&mut moves, 3), [5], "time may begin anew with a level");
    }

    #[test]
    fn usercmd_time_never_decreases() {
        let mut moves = UsercmdHistory::new(0);
        push(&mut moves, [i32::MAX - 1, 7, i32::MIN + 1]);
        assert_eq!(packet(&mut moves, 1), [i32::MAX - 1, i32::MAX - 1, i32::MIN + 1]);
    }

    #[test]
    fn round_trip_ends_at_snapshot_based_on_acknowledged_message() {
        let mut moves = UsercmdHistory::new(1);
        // Acknowledged messages: 2, 2, 3, 3, 4.
        for (time, at) in [(10, 100), (20, 133), (30, 166), (40, 199), (50, 232)] {
            push(&mut moves, [time]);
            packet(&mut moves, at);
        }
        let trip = |moves: &UsercmdHistory, base: Option<u32>| {
            moves.round_trip(Millis(250), base.map(Sequence)).map(|trip| trip.0)
        };
        assert_eq!([2, 3, 4].map(|base| trip(&moves, Some(base))), [150, 84, 18].map(Some));
        assert_eq!((trip(&moves, Some(1)), trip(&moves, None)), (None, None));
        moves.forget();
        assert_eq!(trip(&moves, Some(4)), None);
    }
}

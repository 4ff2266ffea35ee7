//! Usercmd history of a client: selection for packets, round-trip time.
//!
//! Each packet carries every usercmd since some earlier packet, so that a lost packet loses none.
//!
//! Invariants: times of usercmds never decrease within a level; a packet has at most 32; those of
//! an earlier level are never sent. Source: Quake III protocol 68, packets of a client.

use crate::model::{LevelTime, Millis, UserCmd, limits::MAX_PACKET_USERCMDS};

/// Number of stored usercmds.
const KEPT: usize = 64;
/// Number of stored packets.
const PACKETS: usize = 32;
/// Maximum number of earlier packets whose usercmds a packet repeats.
pub(super) const MAX_PACKET_DUP: u32 = 5;

/// A sent packet.
#[derive(Clone, Copy, Debug, Default)]
struct SentPacket {
    /// Usercmds created before it.
    made: u64,
    /// Time of the newest of them.
    time: i32,
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

    /// Records a packet with the usercmds of [`UsercmdHistory::select`].
    pub(super) fn sent(&mut self, now: Millis) {
        let time = self.last().map_or(0, |last| last.server_time);
        let place = &mut self.sent[self.packets as usize % PACKETS];
        *place = SentPacket { made: self.made, time, at: now };
        self.packets += 1;
    }

    /// Returns the time since the newest executed usercmd was first sent. `command_time` identifies
    /// it; `None` when it is not stored.
    pub(super) fn round_trip(&self, now: Millis, command_time: i32) -> Option<Millis> {
        let first = self.packets.saturating_sub(PACKETS as u64);
        let mut found: Option<SentPacket> = None;
        for number in (first..self.packets).rev() {
            let sent = self.sent[number as usize % PACKETS];
            if sent.made <= self.floor {
                break;
            }
            match found {
                // The earliest of several packets without newer usercmds.
                Some(newer) if newer.time != sent.time => break,
                Some(_) => found = Some(sent),
                None if LevelTime(command_time).distance(LevelTime(sent.time)) >= 0 => {
                    found = Some(sent);
                }
                None => {}
            }
        }
        found.map(|sent| now.since(sent.at))
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
        moves.sent(Millis(at));
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
    fn round_trip_starts_at_first_send_of_usercmd() {
        let mut moves = UsercmdHistory::new(1);
        assert_eq!(moves.round_trip(Millis(5), 0), None);
        for (time, at) in [(10, 100), (20, 133), (30, 166)] {
            push(&mut moves, [time]);
            packet(&mut moves, at);
        }
        packet(&mut moves, 199);
        assert_eq!(moves.round_trip(Millis(200), 9), None);
        assert_eq!(moves.round_trip(Millis(200), 10), Some(Millis(100)));
        assert_eq!(moves.round_trip(Millis(200), 29), Some(Millis(67)));
        assert_eq!(moves.round_trip(Millis(200), 30), Some(Millis(34)));
        moves.forget();
        assert_eq!(moves.round_trip(Millis(200), 30), None);
    }
}

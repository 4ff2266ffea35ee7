//! Usercmds on their way: which of them a packet carries, and how long they take there and back.
//!
//! Each packet carries every usercmd made since some earlier packet, so one that is lost loses nothing.
//!
//! Invariants: times of usercmds never go back within a level; a packet carries at most 32; those of
//! an earlier level are never sent. Source: Quake III protocol 68, packets of a client.

use crate::model::{LevelTime, Millis, UserCmd, limits::MAX_PACKET_USERCMDS};

/// Usercmds remembered.
const KEPT: usize = 64;
/// Packets remembered.
const PACKETS: usize = 32;
/// Most earlier packets whose usercmds a packet repeats.
pub(super) const MAX_PACKET_DUP: u32 = 5;

/// A packet that left.
#[derive(Clone, Copy, Debug, Default)]
struct SentPacket {
    /// Usercmds made until then.
    made: u64,
    /// Time of the newest of them.
    time: i32,
    at: Millis,
}

/// Usercmds of one connection.
#[derive(Debug)]
pub(super) struct UsercmdHistory {
    kept: [UserCmd; KEPT],
    /// Usercmds ever made; number `n` lies at `n % KEPT`.
    made: u64,
    /// Those below belong to an earlier level.
    floor: u64,
    sent: [SentPacket; PACKETS],
    /// Packets ever sent; number `n` lies at `n % PACKETS`.
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

    /// Adds a usercmd. One that is older than the last gets the last one's time.
    pub(super) fn push(&mut self, mut usercmd: UserCmd) {
        if let Some(last) = self.last() {
            let step = LevelTime(usercmd.server_time).distance(LevelTime(last.server_time));
            usercmd.server_time = last.server_time.wrapping_add(step.max(0));
        }
        self.kept[self.made as usize % KEPT] = usercmd;
        self.made += 1;
    }

    /// Forgets every usercmd: the level they were made in is over.
    pub(super) fn forget(&mut self) {
        self.floor = self.made;
    }

    /// The newest usercmd of the level.
    pub(super) fn last(&self) -> Option<&UserCmd> {
        (self.made > self.floor).then(|| &self.kept[(self.made - 1) as usize % KEPT])
    }

    /// Copies the usercmds that belong into the next packet, oldest first, and returns how many.
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

    /// Notes that a packet left with what [`UsercmdHistory::select`] chose.
    pub(super) fn sent(&mut self, now: Millis) {
        let time = self.last().map_or(0, |last| last.server_time);
        let place = &mut self.sent[self.packets as usize % PACKETS];
        *place = SentPacket { made: self.made, time, at: now };
        self.packets += 1;
    }

    /// Time since the newest usercmd that a server has executed, according to its `command_time`, first
    /// left. `None` when it executed none of those remembered.
    pub(super) fn round_trip(&self, now: Millis, command_time: i32) -> Option<Millis> {
        let first = self.packets.saturating_sub(PACKETS as u64);
        let mut found: Option<SentPacket> = None;
        for number in (first..self.packets).rev() {
            let sent = self.sent[number as usize % PACKETS];
            if sent.made <= self.floor {
                break;
            }
            match found {
                // The earliest of several packets that had nothing newer.
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
    fn a_packet_repeats_what_the_packets_before_it_carried() {
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
    fn a_packet_carries_the_newest_32_and_nothing_of_an_earlier_level() {
        let mut moves = UsercmdHistory::new(1);
        push(&mut moves, 1..=100);
        assert_eq!(packet(&mut moves, 1), (69..=100).collect::<Vec<_>>());
        moves.forget();
        assert_eq!(packet(&mut moves, 2), [0; 0]);
        push(&mut moves, [5]);
        assert_eq!(packet(&mut moves, 3), [5], "time may begin anew with a level");
    }

    #[test]
    fn time_never_goes_back() {
        let mut moves = UsercmdHistory::new(0);
        push(&mut moves, [i32::MAX - 1, 7, i32::MIN + 1]);
        assert_eq!(packet(&mut moves, 1), [i32::MAX - 1, i32::MAX - 1, i32::MIN + 1]);
    }

    #[test]
    fn a_round_trip_begins_when_the_usercmd_first_left() {
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

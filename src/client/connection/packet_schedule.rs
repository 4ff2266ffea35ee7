//! Times of the packets of a client: a grid with an own phase, and jitter around it.
//!
//! Invariant: jitter does not add up; the mean rate is that of the interval.

use crate::model::Millis;

/// Schedule of the packets of one connection.
#[derive(Clone, Debug)]
pub(super) struct PacketSchedule {
    interval: Millis,
    /// Longest delay of a packet behind the grid.
    jitter: Millis,
    /// Time of the next packet without jitter.
    grid: Millis,
    next: Millis,
    /// State of the generator (SplitMix64).
    random: u64,
}

impl PacketSchedule {
    /// Starts with a packet at `now`.
    pub(super) fn new(now: Millis, interval: Millis, jitter: Millis, seed: u64) -> Self {
        Self { interval, jitter, grid: now, next: now, random: seed }
    }

    /// Time of the next packet.
    pub(super) fn next(&self) -> Millis {
        self.next
    }

    /// Sends the next packet at `at` at the latest.
    pub(super) fn hasten(&mut self, at: Millis) {
        self.next = self.next.min(at);
        self.grid = self.grid.min(at);
    }

    /// Plans the packet after the one that is sent at `now`. Without a level, `idle` replaces the interval.
    pub(super) fn advance(&mut self, now: Millis, idle: Option<Millis>) {
        let interval = idle.unwrap_or(self.interval);
        self.grid += interval;
        if self.grid <= now {
            self.grid = now + interval;
        }
        let jitter = match self.jitter {
            Millis(0) => 0,
            Millis(most) => self.draw() % (most + 1),
        };
        self.next = self.grid + Millis(jitter);
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(jitter: u64, seed: u64) -> Vec<u64> {
        let mut schedule = PacketSchedule::new(Millis(1000), Millis(33), Millis(jitter), seed);
        let mut times = Vec::new();
        for _ in 0..300 {
            times.push(schedule.next().0);
            schedule.advance(schedule.next(), None);
        }
        times
    }

    #[test]
    fn packets_without_jitter_keep_the_interval() {
        assert!(times(0, 1).windows(2).all(|pair| pair[1] - pair[0] == 33));
    }

    #[test]
    fn jitter_keeps_the_mean_rate() {
        let times = times(8, 1);
        for (index, time) in (0..).zip(&times).skip(1) {
            let delay = time - (1000 + 33 * index);
            assert!(delay <= 8, "packet {index}: {delay} ms");
        }
        let gaps: std::collections::BTreeSet<_> =
            times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() > 10, "{gaps:?}");
    }

    #[test]
    fn seeds_differ() {
        assert_ne!(times(8, 1), times(8, 2));
        assert_eq!(times(8, 1), times(8, 1));
    }
}

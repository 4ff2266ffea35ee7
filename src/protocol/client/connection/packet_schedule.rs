//! Times of the packets of a client: regular, or with an own phase and jitter.
//!
//! Real clients send by their own frames. With jitter, the grid of a client therefore has a random phase, which
//! no message of the server changes.
//! Invariant: jitter does not add up; the mean rate is that of the interval.

use crate::model::Millis;

/// Schedule of the packets of one connection.
#[derive(Clone, Debug)]
pub(super) struct PacketSchedule {
    interval: Millis,
    /// Longest delay of a packet behind the grid, below the interval.
    jitter: Millis,
    /// Offset of the grid, below the interval.
    phase: u64,
    next: Millis,
    /// State of the generator (SplitMix64).
    random: u64,
}

impl PacketSchedule {
    /// Starts with a packet at `now`.
    pub(super) fn new(now: Millis, interval: Millis, jitter: Millis, seed: u64) -> Self {
        let jitter = jitter.min(Millis(interval.0.saturating_sub(1)));
        let mut this = Self { interval, jitter, phase: 0, next: now, random: seed };
        this.phase = this.draw() % interval.0.max(1);
        this
    }

    /// Time of the next packet.
    pub(super) fn next(&self) -> Millis {
        self.next
    }

    /// Sends the next packet at `at` at the latest.
    pub(super) fn hasten(&mut self, at: Millis) {
        self.next = self.next.min(at);
    }

    /// Plans the packet after the one that is sent at `now`. Without a level, `idle` replaces the interval.
    pub(super) fn advance(&mut self, now: Millis, idle: Option<Millis>) {
        if self.jitter == Millis(0) || idle.is_some() {
            let interval = idle.unwrap_or(self.interval);
            self.next += interval;
            if self.next <= now {
                self.next = now + interval;
            }
            return;
        }
        let interval = self.interval.0;
        let since_grid = (now.0 + interval - self.phase) % interval;
        let jitter = self.draw() % (self.jitter.0 + 1);
        self.next = now + Millis(interval - since_grid + jitter);
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
        let times = &times(8, 1)[1..];
        for (pair, count) in times.windows(2).zip(1..) {
            assert!((25..=41).contains(&(pair[1] - pair[0])), "{pair:?}");
            let drift = pair[1].abs_diff(times[0] + 33 * count);
            assert!(drift <= 8, "{drift} ms after {count} packets");
        }
        let gaps: std::collections::BTreeSet<_> =
            times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() > 10, "{gaps:?}");
    }

    #[test]
    fn urgent_packet_keeps_the_phase() {
        let mut schedule = PacketSchedule::new(Millis(1000), Millis(33), Millis(8), 1);
        for at in 1000..2000 {
            let now = Millis(at);
            if at % 50 == 0 {
                schedule.hasten(now);
            }
            if schedule.next() <= now {
                schedule.advance(now, None);
                let delay = (schedule.next().0 + 33 - schedule.phase) % 33;
                assert!(delay <= 8, "{delay} ms behind the grid");
                assert!(schedule.next() > now);
            }
        }
    }

    #[test]
    fn seeds_differ() {
        assert_ne!(times(8, 1), times(8, 2));
        assert_eq!(times(8, 1), times(8, 1));
    }
}

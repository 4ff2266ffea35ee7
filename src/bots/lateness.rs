//! Lateness of the load generator, weighted by time.
//!
//! A wake-up that is two seconds late counts as two seconds, not as one of thousands of wake-ups. Bots send and
//! receive late by as much, so that the measurements of that time describe the generator and not the server.

use hdrhistogram::Histogram;

use crate::model::Millis;

/// Longest lateness of the histogram, in ms.
const LONGEST: u64 = 86_400_000;

/// Lateness of the wake-ups of an interval.
#[derive(Clone)]
pub(super) struct Lateness {
    weighted: Histogram<u64>,
    count: u64,
    longest_ms: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        let weighted = Histogram::new_with_bounds(1, LONGEST, 2).expect("bounds in order");
        Self { weighted, count: 0, longest_ms: 0 }
    }
}

impl Lateness {
    /// Records a wake-up at `now` that was due at `due`. The one before it was at `before`.
    pub(super) fn record(&mut self, before: Millis, due: Millis, now: Millis) {
        let late = now.since(due);
        self.weighted.saturating_record_n(0, due.min(now).since(before).0);
        self.weighted.saturating_record_n(late.0, now.since(due.max(before)).0);
        self.count += 1;
        self.longest_ms = self.longest_ms.max(late.0);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.weighted.add(&other.weighted).expect("the same bounds");
        self.count += other.count;
        self.longest_ms = self.longest_ms.max(other.longest_ms);
    }

    pub(super) fn weighted(&self) -> &Histogram<u64> {
        &self.weighted
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn longest_ms(&self) -> u64 {
        self.longest_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalled_generator_is_late_for_its_stall() {
        let mut lateness = Lateness::default();
        for at in (0..30_000).step_by(5) {
            lateness.record(Millis(at), Millis(at + 4), Millis(at + 5));
        }
        assert_eq!(lateness.weighted().value_at_quantile(0.999), 1);
        lateness.record(Millis(30_000), Millis(30_005), Millis(32_000));
        assert!(lateness.weighted().value_at_quantile(0.99) > 1900);
        assert_eq!((lateness.longest_ms(), lateness.count()), (1995, 6001));
    }

    #[test]
    fn overloaded_generator_is_late_all_the_time() {
        let mut lateness = Lateness::default();
        for at in (0..1000).step_by(10) {
            lateness.record(Millis(at), Millis(at.saturating_sub(70)), Millis(at + 10));
        }
        assert_eq!(lateness.weighted().value_at_quantile(0.5), 80);
    }
}

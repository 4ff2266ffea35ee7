//! Lateness of the load generator, weighted by time.
//!
//! A wake-up that is two seconds late counts as two seconds, not as one of thousands of wake-ups. Bots send and
//! receive late by as much, so that the measurements of that time describe the generator and not the server.

use super::time_weighted::TimeWeighted;
use crate::model::Millis;

/// Lateness of the wake-ups of an interval.
#[derive(Clone, Default)]
pub(super) struct Lateness(TimeWeighted);

impl Lateness {
    /// Records a wake-up at `now` that was due at `due`. The one before it was at `before`.
    pub(super) fn record(&mut self, before: Millis, due: Millis, now: Millis) {
        self.0.add_zero(due.min(now).since(before));
        self.0.record(now.since(due), now.since(due.max(before)));
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }

    pub(super) fn times(&self) -> &TimeWeighted {
        &self.0
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
        assert_eq!(lateness.times().histogram().value_at_quantile(0.999), 1);
        lateness.record(Millis(30_000), Millis(30_005), Millis(32_000));
        assert!(lateness.times().histogram().value_at_quantile(0.99) > 1900);
        assert_eq!((lateness.times().longest_ms(), lateness.times().count()), (1995, 6001));
    }

    #[test]
    fn overloaded_generator_is_late_all_the_time() {
        let mut lateness = Lateness::default();
        for at in (0..1000).step_by(10) {
            lateness.record(Millis(at), Millis(at.saturating_sub(70)), Millis(at + 10));
        }
        assert_eq!(lateness.times().histogram().value_at_quantile(0.5), 80);
    }
}

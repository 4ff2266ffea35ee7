//! Snapshot gaps, weighted by time, and time without a snapshot.
//!
//! Each gap counts with its length, so figures of servers with different frame rates compare.

use super::time_weighted::TimeWeighted;
use crate::model::Millis;

/// Snapshot intervals that a gap must exceed to count as time without a snapshot.
pub(super) const OVERDUE: u64 = 3;

/// Snapshot gaps of an interval.
#[derive(Clone, Default)]
pub(super) struct GapStats {
    /// Gaps, each weighted by its part of the time in the game.
    times: TimeWeighted,
    /// Sum of the gaps of more than [`OVERDUE`] intervals.
    without_snapshot_ms: u64,
}

impl GapStats {
    /// Records a gap with the part `weight` in the interval. A snapshot was due after `due`.
    pub(super) fn record(&mut self, gap: Millis, weight: Millis, due: Millis) {
        self.times.record(gap, weight);
        if is_overdue(gap, due) {
            self.without_snapshot_ms += weight.0;
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.times.add(&other.times);
        self.without_snapshot_ms += other.without_snapshot_ms;
    }

    pub(super) fn times(&self) -> &TimeWeighted {
        &self.times
    }

    pub(super) fn without_snapshot_ms(&self) -> u64 {
        self.without_snapshot_ms
    }
}

/// Whether a gap counts as time without a snapshot.
pub(super) fn is_overdue(gap: Millis, due: Millis) -> bool {
    gap.0 > due.0.saturating_mul(OVERDUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overdue_gap_is_time_without_a_snapshot() {
        let mut gaps = GapStats::default();
        for gap in [50, 150, 2000] {
            gaps.record(Millis(gap), Millis(gap), Millis(50));
        }
        assert_eq!((gaps.without_snapshot_ms(), gaps.times().total_ms()), (2000, 2200));
    }
}

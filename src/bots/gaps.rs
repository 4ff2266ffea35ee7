//! Snapshot gaps, weighted by time, and time without a snapshot.
//!
//! A gap counts with its length: in 99% of the time in the game, the running gap is at most the 99th percentile.
//! A count of gaps would hide a stall: one gap of two seconds among 560 gaps of 50 ms (coordinated omission).
//! Unlike values filled in at the requested interval, the weights do not depend on the server's frame rate.

use hdrhistogram::Histogram;

use crate::model::Millis;

/// Snapshot intervals that a gap must exceed to count as time without a snapshot.
pub(super) const OVERDUE: u64 = 3;
/// Longest gap of the histogram, in ms.
const LONGEST: u64 = 86_400_000;

/// Snapshot gaps of an interval.
#[derive(Clone)]
pub(super) struct GapStats {
    /// Milliseconds of the time in the game, by the length of the gap that they belong to.
    weighted: Histogram<u64>,
    /// Number of gaps.
    count: u64,
    longest_ms: u64,
    total_ms: u64,
    /// Sum of the gaps of more than [`OVERDUE`] intervals.
    without_snapshot_ms: u64,
}

impl Default for GapStats {
    fn default() -> Self {
        Self {
            weighted: Histogram::new_with_bounds(1, LONGEST, 2).expect("bounds in order"),
            count: 0,
            longest_ms: 0,
            total_ms: 0,
            without_snapshot_ms: 0,
        }
    }
}

impl GapStats {
    /// Records a gap with the part `weight` in the interval. A snapshot was due after `due`.
    pub(super) fn record(&mut self, gap: Millis, weight: Millis, due: Millis) {
        self.weighted.saturating_record_n(gap.0, weight.0);
        self.count += 1;
        self.longest_ms = self.longest_ms.max(gap.0);
        self.total_ms += weight.0;
        if is_overdue(gap, due) {
            self.without_snapshot_ms += weight.0;
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.weighted.add(&other.weighted).expect("the same bounds");
        self.count += other.count;
        self.longest_ms = self.longest_ms.max(other.longest_ms);
        self.total_ms += other.total_ms;
        self.without_snapshot_ms += other.without_snapshot_ms;
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

    pub(super) fn total_ms(&self) -> u64 {
        self.total_ms
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
    fn long_gap_counts_by_its_length() {
        let mut gaps = GapStats::default();
        let mut record = |gap| gaps.record(Millis(gap), Millis(gap), Millis(50));
        (0..560).for_each(|_| record(50));
        record(2000);
        let quantile = |q| gaps.weighted().value_at_quantile(q);
        assert_eq!((quantile(0.9), gaps.count(), gaps.longest_ms()), (50, 561, 2000));
        assert!((2000..2020).contains(&quantile(0.99)), "{}", quantile(0.99));
        assert_eq!((gaps.without_snapshot_ms(), gaps.total_ms()), (2000, 30_000));
    }
}

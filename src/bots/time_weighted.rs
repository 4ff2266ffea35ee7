//! Distribution of times that count with their length.
//!
//! In 99% of the measured time, the running value is at most the 99th percentile. A count of values would hide a
//! stall: one gap of two seconds among 560 gaps of 50 ms (coordinated omission). Invariant: the longest value is
//! exact, the percentiles have two digits.

use hdrhistogram::Histogram;

use crate::model::Millis;

/// Longest value of the histogram, in ms.
const LONGEST: u64 = 86_400_000;

/// Distribution of times in ms, each weighted by its part in the interval.
#[derive(Clone)]
pub(super) struct TimeWeighted {
    weighted: Histogram<u64>,
    count: u64,
    longest_ms: u64,
    total_ms: u64,
}

impl Default for TimeWeighted {
    fn default() -> Self {
        let weighted = Histogram::new_with_bounds(1, LONGEST, 2).expect("bounds in order");
        Self { weighted, count: 0, longest_ms: 0, total_ms: 0 }
    }
}

impl TimeWeighted {
    /// Records a value with the part `weight` in the interval.
    pub(super) fn record(&mut self, value: Millis, weight: Millis) {
        self.weighted.saturating_record_n(value.0, weight.0);
        self.count += 1;
        self.longest_ms = self.longest_ms.max(value.0);
        self.total_ms += weight.0;
    }

    /// Adds time in which the value was 0, without another value.
    pub(super) fn add_zero(&mut self, weight: Millis) {
        self.weighted.saturating_record_n(0, weight.0);
        self.total_ms += weight.0;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.weighted.add(&other.weighted).expect("the same bounds");
        self.count += other.count;
        self.longest_ms = self.longest_ms.max(other.longest_ms);
        self.total_ms += other.total_ms;
    }

    /// Milliseconds of the interval, by value.
    pub(super) fn histogram(&self) -> &Histogram<u64> {
        &self.weighted
    }

    /// Number of values.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Longest value, in ms.
    pub(super) fn longest_ms(&self) -> u64 {
        self.longest_ms
    }

    /// Sum of the weights, in ms.
    pub(super) fn total_ms(&self) -> u64 {
        self.total_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_counts_by_its_weight() {
        let mut times = TimeWeighted::default();
        (0..560).for_each(|_| times.record(Millis(50), Millis(50)));
        times.record(Millis(2000), Millis(2000));
        let quantile = |q| times.histogram().value_at_quantile(q);
        assert_eq!((quantile(0.9), times.count(), times.longest_ms()), (50, 561, 2000));
        assert!((2000..2020).contains(&quantile(0.99)), "{}", quantile(0.99));
        assert_eq!(times.total_ms(), 30_000);
    }

    #[test]
    fn zero_time_lowers_the_percentiles_only() {
        let mut times = TimeWeighted::default();
        times.record(Millis(2000), Millis(2000));
        times.add_zero(Millis(98_000));
        assert_eq!(times.histogram().value_at_quantile(0.97), 0);
        assert_eq!((times.longest_ms(), times.count(), times.total_ms()), (2000, 1, 100_000));
    }
}

//! Distribution of a measured value over fixed buckets, recorded without allocation.

use super::Histogram;

/// Counts of values up to bounds, in millionths of a unit, e.g. microseconds.
#[derive(Clone, Debug)]
pub struct Distribution<const N: usize> {
    bounds: &'static [u64; N],
    /// Number of values in each bucket.
    counts: [u64; N],
    count: u64,
    sum: u64,
}

impl<const N: usize> Distribution<N> {
    /// Creates an empty distribution. `bounds` must ascend.
    #[must_use]
    pub const fn new(bounds: &'static [u64; N]) -> Self {
        Self { bounds, counts: [0; N], count: 0, sum: 0 }
    }

    /// Records a value.
    pub fn record(&mut self, value: u64) {
        if let Some(at) = self.bounds.iter().position(|&bound| value <= bound) {
            self.counts[at] += 1;
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
    }

    /// Returns the counts as a metric.
    #[must_use]
    pub fn histogram(&self) -> Histogram {
        let mut up_to = 0;
        let bucket = |(&bound, &count): (&u64, &u64)| {
            up_to += count;
            (bound, up_to)
        };
        let buckets = self.bounds.iter().zip(&self.counts).map(bucket).collect();
        Histogram { buckets, count: self.count, sum: self.sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_up_to_bounds() {
        let mut distribution = Distribution::new(&[0, 10, 100]);
        [0, 0, 1, 10, 11, 100, 101].into_iter().for_each(|value| distribution.record(value));
        let expected = Histogram { buckets: vec![(0, 2), (10, 4), (100, 6)], count: 7, sum: 223 };
        assert_eq!(distribution.histogram(), expected);
    }
}

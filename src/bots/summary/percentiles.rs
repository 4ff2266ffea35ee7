//! Percentiles of a histogram, and of each step of joining.

use hdrhistogram::{Counter, Histogram};
use serde::Serialize;

use super::{
    super::{stage_stats::JOIN_STEPS, time_weighted::TimeWeighted},
    rounding::rounded,
};

/// Distribution of values, in ms to two digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Mean of the values.
    pub mean: f64,
    /// 50th percentile.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// Largest value.
    pub max: u64,
    /// Number of values.
    pub count: u64,
}

/// A statistic of a distribution: its name and its value.
pub(in crate::bots) type Statistic = (&'static str, fn(&Percentiles) -> f64);

impl Percentiles {
    /// Statistics, as columns of tables and as suffixes of metrics.
    pub(in crate::bots) const STATISTICS: [Statistic; 7] = [
        ("mean", |values| values.mean),
        ("p50", |values| values.p50 as f64),
        ("p90", |values| values.p90 as f64),
        ("p95", |values| values.p95 as f64),
        ("p99", |values| values.p99 as f64),
        ("p99.9", |values| values.p99_9 as f64),
        ("max", |values| values.max as f64),
    ];

    pub(in crate::bots) fn of<C: Counter>(values: &Histogram<C>) -> Self {
        let [p50, p90, p95, p99, p99_9] =
            [0.5, 0.9, 0.95, 0.99, 0.999].map(|q| values.value_at_quantile(q));
        Self {
            mean: rounded(values.mean()),
            p50,
            p90,
            p95,
            p99,
            p99_9,
            max: values.max(),
            count: values.len(),
        }
    }

    /// Returns the percentiles of the time, with the number of values.
    pub(in crate::bots) fn of_time(times: &TimeWeighted) -> Self {
        let (count, max) = (times.count(), times.longest_ms());
        Self { count, max, ..Self::of(times.histogram()) }.capped()
    }

    /// Limits the percentiles, which have two digits, to the exact maximum.
    fn capped(self) -> Self {
        let Self { p50, p90, p95, p99, p99_9, max, .. } = self;
        let [p50, p90, p95, p99, p99_9] = [p50, p90, p95, p99, p99_9].map(|value| value.min(max));
        Self { p50, p90, p95, p99, p99_9, ..self }
    }
}

/// Time of each join step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Steps {
    /// From the first request to the challenge.
    pub challenge: Percentiles,
    /// From the challenge to the connect response.
    pub connect: Percentiles,
    /// From the connect response to the gamestate.
    pub gamestate: Percentiles,
    /// From the gamestate to the first snapshot of the game.
    pub first_snapshot: Percentiles,
}

impl Steps {
    pub(super) fn of(steps: &[Histogram<u32>; JOIN_STEPS.len()]) -> Self {
        let [challenge, connect, gamestate, first_snapshot] = steps.each_ref().map(Percentiles::of);
        Self { challenge, connect, gamestate, first_snapshot }
    }
}

/// Returns the values of a histogram with their counts.
pub(in crate::bots) fn distribution<C: Counter>(values: &Histogram<C>) -> Vec<(u64, u64)> {
    values
        .iter_recorded()
        .map(|step| (step.value_iterated_to(), step.count_since_last_iteration()))
        .collect()
}

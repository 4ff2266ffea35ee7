//! Percentiles of a histogram, and of each step of joining.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::{super::bot_stats::JOIN_STEPS, rounding::rounded};

/// Distribution of values, in ms to two digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Mean of the values.
    pub mean: f64,
    /// 50th percentile.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest value.
    pub max: u64,
    /// Number of values.
    pub count: u64,
}

impl Percentiles {
    pub(super) fn of(values: &Histogram<u32>) -> Self {
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| values.value_at_quantile(q));
        Self { mean: rounded(values.mean()), p50, p90, p99, max: values.max(), count: values.len() }
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
pub(in crate::bots) fn distribution(values: &Histogram<u32>) -> Vec<(u64, u64)> {
    values
        .iter_recorded()
        .map(|step| (step.value_iterated_to(), step.count_since_last_iteration()))
        .collect()
}

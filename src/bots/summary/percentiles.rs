//! Percentiles of a histogram, and of each step of joining.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::{super::bot_stats::JOIN_STEPS, rounding::rounded};

/// How values lie, in milliseconds to two digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Their mean.
    pub mean: f64,
    /// Half of them are no larger.
    pub p50: u64,
    /// Nine tenths are no larger.
    pub p90: u64,
    /// 99 of 100 are no larger.
    pub p99: u64,
    /// The largest.
    pub max: u64,
    /// How many there are.
    pub count: u64,
}

impl Percentiles {
    pub(super) fn of(values: &Histogram<u32>) -> Self {
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| values.value_at_quantile(q));
        Self { mean: rounded(values.mean()), p50, p90, p99, max: values.max(), count: values.len() }
    }
}

/// The steps of joining.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Steps {
    /// Until the challenge was granted.
    pub challenge: Percentiles,
    /// Then until the connection was.
    pub connect: Percentiles,
    /// Then until the level was known.
    pub gamestate: Percentiles,
    /// Then until the first snapshot of the game.
    pub first_snapshot: Percentiles,
}

impl Steps {
    pub(super) fn of(steps: &[Histogram<u32>; JOIN_STEPS.len()]) -> Self {
        let [challenge, connect, gamestate, first_snapshot] = steps.each_ref().map(Percentiles::of);
        Self { challenge, connect, gamestate, first_snapshot }
    }
}

/// The values of a histogram and how often each was.
pub(in crate::bots) fn distribution(values: &Histogram<u32>) -> Vec<(u64, u64)> {
    values
        .iter_recorded()
        .map(|step| (step.value_iterated_to(), step.count_since_last_iteration()))
        .collect()
}

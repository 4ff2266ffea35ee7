//! Capacity of a server: the largest stage of a load test before the first failure.

use super::{summary::StageSummary, verdict::Verdict};

/// Capacity of the server by the stages.
pub(super) struct Capacity {
    pub(super) bots: Option<usize>,
    /// Whether a larger stage failed by the server.
    pub(super) is_limit: bool,
}

impl Capacity {
    /// Returns the largest stage that passed before the first failure; none for a test of one stage.
    ///
    /// An interrupted stage, or one that failed by a late generator, does not limit the server.
    pub(super) fn of(stages: &[StageSummary], planned: usize, verdict: Verdict) -> Self {
        let is_reliable = !matches!(verdict, Verdict::GeneratorLate | Verdict::Interrupted);
        let passed = stages.iter().take_while(|stage| stage.passed).map(|stage| stage.total.bots);
        Self {
            bots: (planned > 1).then(|| passed.max().unwrap_or(0)),
            is_limit: is_reliable && stages.iter().any(|stage| !stage.passed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bots::summary::IntervalStats;

    #[test]
    fn capacity_is_the_largest_stage_before_a_failure() {
        let stage = |bots, passed| StageSummary {
            total: IntervalStats { bots, ..IntervalStats::default() },
            passed,
            is_interrupted: false,
            expectations: Vec::new(),
            failed_expectations: Vec::new(),
        };
        let of = |stages: &[StageSummary], planned| {
            let capacity = Capacity::of(stages, planned, Verdict::Failed);
            (capacity.bots, capacity.is_limit)
        };
        assert_eq!(of(&[stage(4, true), stage(8, true), stage(16, false)], 3), (Some(8), true));
        assert_eq!(of(&[stage(4, false)], 3), (Some(0), true));
        assert_eq!(of(&[stage(8, true), stage(4, true)], 2), (Some(8), false));
        assert_eq!(of(&[stage(8, true)], 1), (None, false));
        for verdict in [Verdict::GeneratorLate, Verdict::Interrupted] {
            let capacity = Capacity::of(&[stage(4, true), stage(8, false)], 2, verdict);
            assert_eq!((capacity.bots, capacity.is_limit), (Some(4), false));
        }
    }
}

//! Expectations: pass criteria such as `snapshot_gap_p99<120ms,loss<1%,drops=0`.
//!
//! Each metric has one row in `METRICS`, with its unit and its source in [`IntervalStats`]. A metric without
//! samples fails every expectation.

use std::{fmt, str::FromStr};

use thiserror::Error;

use super::summary::{IntervalStats, Percentiles};

/// A metric of an expectation.
struct Metric {
    name: &'static str,
    unit: &'static str,
    take: fn(&IntervalStats) -> Option<f64>,
}

const fn metric(
    name: &'static str,
    unit: &'static str,
    take: fn(&IntervalStats) -> Option<f64>,
) -> Metric {
    Metric { name, unit, take }
}

/// All metrics. Ratios are percentages here.
const METRICS: &[Metric] = &[
    metric("bots", "", |s| Some(s.bots as f64)),
    metric("in_game", "", |s| Some(s.active as f64)),
    metric("refused", "", |s| Some(s.refused as f64)),
    metric("drops", "", |s| Some(s.dropped as f64)),
    metric("protocol_errors", "", |s| Some(s.protocol_errors as f64)),
    metric("walked_per_second", "", |s| Some(s.walked_per_second)),
    metric("scored", "", |s| Some(s.scored as f64)),
    metric("join_p50", "ms", |s| some(s.join_ms, s.join_ms.p50)),
    metric("join_p99", "ms", |s| some(s.join_ms, s.join_ms.p99)),
    metric("join_max", "ms", |s| some(s.join_ms, s.join_ms.max)),
    metric("snapshots_per_second", "", |s| Some(s.snapshots_per_second)),
    metric("snapshot_gap_p50", "ms", |s| some(s.snapshot_gap_ms, s.snapshot_gap_ms.p50)),
    metric("snapshot_gap_p90", "ms", |s| some(s.snapshot_gap_ms, s.snapshot_gap_ms.p90)),
    metric("snapshot_gap_p99", "ms", |s| some(s.snapshot_gap_ms, s.snapshot_gap_ms.p99)),
    metric("snapshot_gap_max", "ms", |s| some(s.snapshot_gap_ms, s.snapshot_gap_ms.max)),
    metric("jitter_p99", "ms", |s| some(s.jitter_ms, s.jitter_ms.p99)),
    metric("ping_p50", "ms", |s| some(s.ping_ms, s.ping_ms.p50)),
    metric("ping_p99", "ms", |s| some(s.ping_ms, s.ping_ms.p99)),
    metric("command_p99", "ms", |s| some(s.command_ms, s.command_ms.p99)),
    metric("loss", "%", |s| Some(s.loss * 100.0)),
    metric("late", "%", |s| Some(s.late * 100.0)),
    metric("rate_delayed", "%", |s| Some(s.rate_delayed * 100.0)),
    metric("delta", "%", |s| Some(s.delta_share * 100.0)),
    metric("bytes_per_snapshot", "", |s| Some(s.bytes_per_snapshot)),
    metric("bytes_in_per_second", "", |s| Some(s.bytes_in_per_second)),
    metric("cpu_per_client_second", "ms", |s| s.server.map(|cost| cost.cpu_ms_per_client_second)),
    metric("memory", "MB", |s| s.server.map(|cost| cost.memory_mb)),
];

/// Returns a percentile, or `None` without samples.
fn some(percentiles: Percentiles, value: u64) -> Option<f64> {
    (percentiles.count > 0).then_some(value as f64)
}

/// Comparison of a metric with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparator {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
}

/// Comparison operators, the longer ones first.
const COMPARATORS: [(&str, Comparator); 5] = [
    ("<=", Comparator::AtMost),
    (">=", Comparator::AtLeast),
    ("<", Comparator::Less),
    (">", Comparator::More),
    ("=", Comparator::Equal),
];

impl Comparator {
    fn holds(self, metric: f64, limit: f64) -> bool {
        match self {
            Self::Less => metric < limit,
            Self::AtMost => metric <= limit,
            Self::More => metric > limit,
            Self::AtLeast => metric >= limit,
            Self::Equal => metric == limit,
        }
    }

    fn sign(self) -> &'static str {
        COMPARATORS.iter().find(|(_, comparator)| *comparator == self).map_or("", |(sign, _)| sign)
    }
}

/// One pass criterion: a metric, a comparison and a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// Index in `METRICS`.
    metric: usize,
    comparator: Comparator,
    limit: f64,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Metric { name, unit, .. } = METRICS[self.metric];
        write!(f, "{name}{}{}{unit}", self.comparator.sign(), self.limit)
    }
}

/// List of expectations that must all hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expectations(Vec<Expectation>);

/// An expectation that does not hold, with the measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedExpectation {
    /// The expectation.
    pub expectation: Expectation,
    /// Measured value; `None` without samples.
    pub measured: Option<f64>,
}

impl fmt::Display for FailedExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Metric { name, unit, .. } = METRICS[self.expectation.metric];
        match self.measured {
            Some(measured) => {
                let off = (measured - self.expectation.limit).abs();
                write!(
                    f,
                    "{}: {name} was {}{unit}, off by {}{unit}",
                    self.expectation,
                    rounded(measured),
                    rounded(off)
                )
            }
            None => write!(f, "{}: {name} was not measured", self.expectation),
        }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

impl Expectations {
    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an expectation names a metric.
    #[must_use]
    pub fn name(&self, metric: &str) -> bool {
        self.0.iter().any(|one| METRICS[one.metric].name == metric)
    }

    /// Appends the expectations of another list.
    pub fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    /// Returns the expectations that do not hold.
    #[must_use]
    pub fn failed(&self, interval: &IntervalStats) -> Vec<FailedExpectation> {
        let measured = |expectation: &Expectation| (METRICS[expectation.metric].take)(interval);
        self.0
            .iter()
            .map(|expectation| FailedExpectation {
                expectation: *expectation,
                measured: measured(expectation),
            })
            .filter(
                |FailedExpectation {
                     expectation: Expectation { comparator, limit, .. },
                     measured,
                 }| {
                    !measured.is_some_and(|measured| comparator.holds(measured, *limit))
                },
            )
            .collect()
    }
}

/// An invalid expectation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpectError {
    /// No comparison operator.
    #[error(
        "invalid expectation '{0}' (expected METRIC<LIMIT with <, <=, >, >= or =, e.g. loss<1%)"
    )]
    Form(String),
    /// Unknown metric.
    #[error("unknown metric '{name}' (expected one of {})", metrics())]
    Metric {
        /// The unknown name.
        name: String,
    },
    /// A limit that is not a number in the unit of the metric.
    #[error("{name}: invalid limit '{limit}' (expected a number{})", in_unit(unit))]
    Limit {
        /// Name of the metric.
        name: &'static str,
        /// The invalid limit.
        limit: String,
        /// Unit of the metric.
        unit: &'static str,
    },
}

/// Returns the names of all metrics, for help and errors.
#[must_use]
pub fn metrics() -> String {
    METRICS.iter().map(|metric| metric.name).collect::<Vec<_>>().join(", ")
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" of {unit}") }
}

impl FromStr for Expectations {
    type Err = ExpectError;

    fn from_str(text: &str) -> Result<Self, ExpectError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(expectation).collect::<Result<Vec<_>, _>>().map(Self)
    }
}

fn expectation(text: &str) -> Result<Expectation, ExpectError> {
    let split = COMPARATORS.iter().find_map(|(sign, comparator)| {
        let (name, limit) = text.split_once(sign)?;
        Some((name.trim(), *comparator, limit.trim()))
    });
    let (name, comparator, limit) = split.ok_or_else(|| ExpectError::Form(text.to_owned()))?;
    let place = METRICS.iter().position(|metric| metric.name == name);
    let metric = place.ok_or_else(|| ExpectError::Metric { name: name.to_owned() })?;
    let Metric { name, unit, .. } = METRICS[metric];
    let number = limit.strip_suffix(unit).unwrap_or(limit).trim().parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite());
    let wrong = || ExpectError::Limit { name, limit: limit.to_owned(), unit };
    Ok(Expectation { metric, comparator, limit: number.ok_or_else(wrong)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> IntervalStats {
        let mut interval = IntervalStats { loss: 0.02, dropped: 0, ..IntervalStats::default() };
        interval.snapshot_gap_ms = Percentiles { p99: 150, count: 1, ..Percentiles::default() };
        interval
    }

    #[test]
    fn failed_expectation_reports_the_difference() {
        let all: Expectations = "snapshot_gap_p99<120ms, loss<=2%,drops=0".parse().unwrap();
        let failed: Vec<_> = all.failed(&measured()).iter().map(ToString::to_string).collect();
        assert_eq!(failed, ["snapshot_gap_p99<120ms: snapshot_gap_p99 was 150ms, off by 30ms"]);
        let all: Expectations = "memory<10MB,ping_p50>=0".parse().unwrap();
        let failed: Vec<_> = all.failed(&measured()).iter().map(ToString::to_string).collect();
        assert_eq!(
            failed,
            ["memory<10MB: memory was not measured", "ping_p50>=0ms: ping_p50 was not measured"]
        );
        assert!(all.name("memory") && !all.name("loss"));
    }

    #[test]
    fn invalid_expectations_are_rejected() {
        for (text, because) in [
            ("loss", "invalid expectation"),
            ("speed<1", "unknown metric 'speed' (expected one of bots, in_game"),
            ("loss<x%", "invalid limit 'x%' (expected a number of %)"),
            ("drops=inf", "expected a number"),
            ("loss<1ms", "number of %"),
        ] {
            let error = text.parse::<Expectations>().unwrap_err().to_string();
            assert!(error.contains(because), "{text}: {error}");
        }
        assert!("".parse::<Expectations>().unwrap().is_empty());
    }

    #[test]
    fn metric_names_are_unique() {
        for (at, metric) in METRICS.iter().enumerate() {
            assert!(
                METRICS[at + 1..].iter().all(|other| other.name != metric.name),
                "{}",
                metric.name
            );
        }
    }
}

//! Expectations: pass criteria such as `snapshot_gap_p99<120ms,loss<1%,drops=0`.
//!
//! By default all bots must join, half of them soon, and none may be dropped, no protocol error may occur, no gap may
//! reach a second and no map change two, and the load generator must not be late. Bots that are not to enter the game
//! must be accepted. Lateness of 5% of the time is overload; single stalls of a busy machine, which are shorter than
//! the limit of the maximum, are not. An expectation for the same metric replaces a default. A metric without samples
//! fails every expectation but a default.

mod baseline;
mod metrics;

use std::{fmt, str::FromStr};

use serde::Serialize;
use thiserror::Error;

use super::summary::IntervalStats;

use metrics::Metric;
pub use metrics::metrics_help;

/// Expectations that apply by default on a link that is not impaired, as for `--expect`.
#[must_use]
pub fn default_expectations() -> String {
    let all = DEFAULTS.iter().filter_map(|&(name, comparator, limit)| {
        let metric = Metric::named(name)?;
        Some(Expectation { metric, comparator, limit, is_optional: true }.to_string())
    });
    all.collect::<Vec<_>>().join(", ")
}

/// Expectations that apply unless others name their metrics. `in_game` is added by the number of bots.
///
/// The silence of a server shows that it stands still also while no bot is in the game, and during a map change. A
/// server that loads a large map is silent for up to a second and a half.
const DEFAULTS: [(&str, Comparator, f64); 8] = [
    ("protocol_errors", Comparator::Equal, 0.0),
    ("drops", Comparator::Equal, 0.0),
    (JOIN, Comparator::Less, 1500.0),
    ("server_silence_max", Comparator::Less, 1750.0),
    (GAP, Comparator::Less, GAP_MS),
    (MAP_CHANGE, Comparator::Less, 2000.0),
    ("lateness_p95", Comparator::Less, 50.0),
    ("lateness_max", Comparator::Less, 500.0),
];
/// Metric of the snapshot gaps that has a default, and its limit: at least that many snapshots.
const GAP: &str = "snapshot_gap_max";
const GAP_MS: f64 = 1000.0;
const MISSED_SNAPSHOTS: f64 = 3.0;
/// Metric of the joins that has a default.
const JOIN: &str = "join_p50";
/// Metric of the map changes that has a default.
const MAP_CHANGE: &str = "map_change_max";
/// Additions to limits on an impaired link: round trips, and milliseconds if it loses datagrams. A lost handshake packet
/// costs three seconds.
const LINK_ALLOWANCES: [(&str, f64, f64); 2] = [(JOIN, 4.0, 1500.0), (MAP_CHANGE, 4.0, 3000.0)];
/// Lateness of the generator that spoils the measurements of a second, in ms.
pub(super) const SPOILING_LATENESS_MS: u64 = 100;

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
    metric: Metric,
    comparator: Comparator,
    limit: f64,
    /// Whether it is left out without samples.
    is_optional: bool,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, comparator, limit, .. } = self;
        write!(f, "{metric}{}{limit}{}", comparator.sign(), metric.unit())
    }
}

/// Conditions of a load test that select default expectations.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Whether the bots are expected to enter the game.
    pub enters: bool,
    /// Longest round trip of the bots' links, without queues, in ms.
    pub round_trip_ms: f64,
    /// Whether the links of the bots lose, damage or queue datagrams.
    pub loses: bool,
    /// Interval of the snapshots that the bots request, in ms.
    pub interval_ms: f64,
}

impl Conditions {
    /// Returns what the link and the interval of snapshots add to the limit of a metric.
    fn allowance(self, metric: &str) -> f64 {
        if metric == GAP {
            return (self.interval_ms * MISSED_SNAPSHOTS - GAP_MS).max(0.0);
        }
        let row = LINK_ALLOWANCES.iter().find(|(known, ..)| *known == metric);
        let Some(&(_, round_trips, loss_ms)) = row else { return 0.0 };
        (round_trips * self.round_trip_ms).ceil() + if self.loses { loss_ms } else { 0.0 }
    }
}

/// List of expectations that must all hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expectations(Vec<Expectation>);

/// An expectation with the measured value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExpectationResult {
    /// Stage, from 1.
    pub stage: usize,
    /// The expectation, e.g. `snapshot_gap_p99<120ms`.
    pub expectation: String,
    /// Metric.
    pub metric: String,
    /// Comparison operator.
    pub comparator: &'static str,
    /// Limit, in the unit of the metric.
    pub limit: f64,
    /// Unit: `ms`, `%`, `MB` or empty.
    pub unit: &'static str,
    /// Measured value; `None` without samples.
    pub value: Option<f64>,
    /// Whether the expectation holds.
    pub passed: bool,
    /// Whether it is a default.
    pub is_default: bool,
}

impl ExpectationResult {
    /// Returns the measured value with its unit.
    #[must_use]
    pub fn measured(&self) -> String {
        self.value
            .map_or_else(|| "not measured".to_owned(), |value| format!("{value}{}", self.unit))
    }

    /// Returns the comparison and the limit with its unit.
    #[must_use]
    pub fn allowed(&self) -> String {
        format!("{} {}{}", self.comparator, self.limit, self.unit)
    }
}

impl fmt::Display for ExpectationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expectation, metric, unit, .. } = self;
        match self.value {
            Some(value) if !self.passed => {
                let off = rounded((value - self.limit).abs());
                write!(f, "{expectation}: {metric} was {value}{unit}, off by {off}{unit}")
            }
            Some(value) => write!(f, "{expectation}: {metric} was {value}{unit}"),
            None => write!(f, "{expectation}: {metric} was not measured"),
        }
    }
}

/// Returns the metric of the bots that are present.
///
/// They are in the game, or accepted if they are not to enter it.
pub(super) fn presence(enters: bool) -> &'static str {
    if enters { "in_game" } else { "connected" }
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
        self.0.iter().any(|one| one.metric.to_string() == metric)
    }

    /// Appends the expectations of another list.
    pub fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    /// Compares all expectations and the defaults with a stage.
    #[must_use]
    pub fn evaluate(
        &self,
        interval: &IntervalStats,
        stage: usize,
        conditions: Conditions,
    ) -> Vec<ExpectationResult> {
        let own = self.0.iter().map(|one| one.evaluate(interval, stage, false));
        let is_optional = self.0.iter().map(|one| one.is_optional);
        let own = own.zip(is_optional);
        let own = own.filter(|(one, is_optional)| one.value.is_some() || !is_optional);
        let mut results: Vec<_> = own.map(|(one, _)| one).collect();
        // Refusals that are limited by an expectation are not missing bots, unless all are refused.
        let refused = if self.name("refused") { interval.refused } else { 0 };
        let bots = interval.bots.saturating_sub(refused).max(1) as f64;
        let presence = (presence(conditions.enters), Comparator::AtLeast, bots);
        for (name, comparator, limit) in std::iter::once(presence).chain(DEFAULTS) {
            let Some(metric) = Metric::named(name).filter(|_| !self.name(name)) else { continue };
            let limit = limit + conditions.allowance(name);
            let default = Expectation { metric, comparator, limit, is_optional: true };
            let result = default.evaluate(interval, stage, true);
            if result.value.is_some() {
                results.push(result);
            }
        }
        results
    }
}

impl Expectation {
    fn evaluate(
        &self,
        interval: &IntervalStats,
        stage: usize,
        is_default: bool,
    ) -> ExpectationResult {
        let Self { metric, comparator, limit, .. } = *self;
        let value = metric.value(interval);
        ExpectationResult {
            stage,
            expectation: self.to_string(),
            metric: metric.to_string(),
            comparator: comparator.sign(),
            limit,
            unit: metric.unit(),
            value: value.map(rounded),
            passed: value.is_some_and(|value| comparator.holds(value, limit)),
            is_default,
        }
    }
}

/// An invalid expectation. Each names the item of the list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpectError {
    /// No comparison operator.
    #[error(
        "invalid expectation '{0}' (expected METRIC<LIMIT with <, <=, >, >= or =, e.g. loss<1%)"
    )]
    Form(String),
    /// Unknown metric.
    #[error(
        "invalid expectation '{item}': unknown metric '{name}'{} (expected one of {})",
        meant(near),
        metrics::list()
    )]
    Metric {
        /// The invalid item.
        item: String,
        /// The unknown name.
        name: String,
        /// The most similar metric.
        near: Option<String>,
    },
    /// A limit that is not a number in the unit of the metric.
    #[error(
        "invalid expectation '{item}': {name}: invalid limit '{limit}' (expected {})",
        metrics::expected_limit(unit)
    )]
    Limit {
        /// The invalid item.
        item: String,
        /// Name of the metric.
        name: String,
        /// The invalid limit.
        limit: String,
        /// Unit of the metric.
        unit: &'static str,
    },
}

fn meant(near: &Option<String>) -> String {
    near.as_ref().map_or(String::new(), |near| format!("; did you mean {near}?"))
}

impl FromStr for Expectations {
    type Err = ExpectError;

    fn from_str(text: &str) -> Result<Self, ExpectError> {
        text.split(',').map(str::trim).map(expectation).collect::<Result<Vec<_>, _>>().map(Self)
    }
}

fn expectation(text: &str) -> Result<Expectation, ExpectError> {
    let form = || ExpectError::Form(text.to_owned());
    let at = text.find(['<', '>', '=']).ok_or_else(form)?;
    let (name, rest) = (text[..at].trim(), &text[at..]);
    let split = COMPARATORS
        .iter()
        .find_map(|(sign, comparator)| Some((*comparator, rest.strip_prefix(sign)?.trim())));
    let (comparator, limit) = split.ok_or_else(form)?;
    let item = || text.to_owned();
    let metric = Metric::named(name).ok_or_else(|| ExpectError::Metric {
        item: item(),
        name: name.to_owned(),
        near: metrics::nearest(name),
    })?;
    let unit = metric.unit();
    let number = metrics::limit(limit, unit).ok_or_else(|| ExpectError::Limit {
        item: item(),
        name: metric.to_string(),
        limit: limit.to_owned(),
        unit,
    })?;
    Ok(Expectation { metric, comparator, limit: number, is_optional: false })
}

#[cfg(test)]
mod tests {
    use super::{super::summary::Percentiles, *};

    fn measured() -> IntervalStats {
        let mut interval =
            IntervalStats { loss: 0.02, bots: 1, active: 1, ..IntervalStats::default() };
        interval.snapshot_gap_ms = Percentiles { p99: 150, count: 1, ..Percentiles::default() };
        interval
    }

    const PLAIN: Conditions =
        Conditions { enters: true, round_trip_ms: 0.0, loses: false, interval_ms: 50.0 };

    /// Parses a list, or returns an empty one, which a command line cannot give.
    fn parsed(expectations: &str) -> Expectations {
        match expectations {
            "" => Expectations::default(),
            text => text.parse().unwrap(),
        }
    }

    fn failed(expectations: &str) -> Vec<String> {
        let all = parsed(expectations);
        let results = all.evaluate(&measured(), 1, PLAIN);
        results.iter().filter(|one| !one.passed).map(ToString::to_string).collect()
    }

    #[test]
    fn failed_expectation_reports_the_difference() {
        assert_eq!(
            failed("snapshot_gap_p99<120ms, loss<=2%,drops=0"),
            ["snapshot_gap_p99<120ms: snapshot_gap_p99 was 150ms, off by 30ms"]
        );
        assert_eq!(
            failed("memory<10MB,ping_p50>=0"),
            ["memory<10MB: memory was not measured", "ping_p50>=0ms: ping_p50 was not measured"]
        );
    }

    #[test]
    fn defaults_apply_unless_their_metric_is_named() {
        let mut interval = IntervalStats { bots: 16, active: 12, refused: 4, ..measured() };
        interval.snapshot_gap_ms.max = 2000;
        let failed = |expectations: &str| -> Vec<String> {
            let all = parsed(expectations);
            let results = all.evaluate(&interval, 2, PLAIN);
            assert!(results.iter().all(|one| one.stage == 2));
            results.into_iter().filter(|one| !one.passed).map(|one| one.expectation).collect()
        };
        assert_eq!(failed(""), ["in_game>=16", "snapshot_gap_max<1000ms"]);
        assert_eq!(failed("refused<=4,snapshot_gap_max<3s"), [""; 0]);
        assert_eq!(failed("in_game=16"), ["in_game=16", "snapshot_gap_max<1000ms"]);
    }

    #[test]
    fn joins_are_limited_by_default() {
        let mut interval = measured();
        interval.join_ms = Percentiles { p50: 2000, count: 1, ..Percentiles::default() };
        let failed = |expectations: &str, loses, interval: &IntervalStats| -> Vec<String> {
            let all = parsed(expectations);
            let conditions = Conditions { loses, ..PLAIN };
            let results = all.evaluate(interval, 1, conditions);
            results.into_iter().filter(|one| !one.passed).map(|one| one.expectation).collect()
        };
        assert_eq!(failed("", false, &interval), ["join_p50<1500ms"]);
        assert_eq!(failed("", true, &interval), [""; 0]);
        assert_eq!(failed("join_p50<3s", false, &interval), [""; 0]);
        interval.join_ms.p50 = 3000;
        assert_eq!(failed("", true, &interval), ["join_p50<3000ms"]);
        let conditions = Conditions { round_trip_ms: 220.0, ..PLAIN };
        let results = parsed("").evaluate(&interval, 1, conditions);
        let failed_ones: Vec<_> = results.iter().filter(|one| !one.passed).collect();
        assert_eq!(failed_ones[0].expectation, "join_p50<2380ms");
        // No link explains a silence, which is measured before it.
        (interval.join_ms.p50, interval.server_silence_max_ms) = (1000, 1950);
        assert_eq!(failed("", true, &interval), ["server_silence_max<1750ms"]);
    }

    #[test]
    fn stall_during_map_change_fails_by_default() {
        let mut interval = measured();
        interval.map_change_ms = Percentiles { max: 2100, count: 1, ..Percentiles::default() };
        for (expectations, loses, passes) in
            [("", false, false), ("", true, true), ("map_change_max<3s", false, true)]
        {
            let conditions = Conditions { loses, ..PLAIN };
            let results = parsed(expectations).evaluate(&interval, 1, conditions);
            assert_eq!(results.iter().all(|one| one.passed), passes, "{expectations}");
        }
    }

    #[test]
    fn bots_that_stay_outside_must_be_accepted() {
        let interval = IntervalStats { bots: 4, connected: 3, active: 0, ..measured() };
        let conditions = Conditions { enters: false, ..PLAIN };
        let results = Expectations::default().evaluate(&interval, 1, conditions);
        let failed = results.iter().filter(|one| !one.passed).map(|one| one.expectation.as_str());
        assert_eq!(failed.collect::<Vec<_>>(), ["connected>=4"]);
    }

    #[test]
    fn all_distributions_have_all_percentiles() {
        for family in
            ["join", "snapshot_gap", "jitter", "ping", "command", "map_change", "lateness"]
        {
            for (statistic, _) in Percentiles::STATISTICS {
                let text = format!("{family}_{statistic}<5ms");
                let parsed: Expectations = text.parse().unwrap();
                assert_eq!(parsed.0[0].to_string(), text);
            }
        }
        let spelled: Expectations = "ping_p99_9<1.5s".parse().unwrap();
        assert_eq!(spelled, "ping_p99.9<1500ms".parse().unwrap());
    }

    #[test]
    fn invalid_expectations_are_rejected() {
        for (text, because) in [
            ("loss", "invalid expectation 'loss' (expected METRIC<LIMIT"),
            ("drops=0,speed<1", "expectation 'speed<1': unknown metric 'speed' (expected one of"),
            ("snapshot_gap_p98<1", "did you mean snapshot_gap_p90? (expected one of"),
            ("loss<x%", "'loss<x%': loss: invalid limit 'x%' (expected a number of %, e.g. 1%)"),
            ("drops=inf", "expected a number"),
            ("loss<1ms", "number of %"),
            ("ping_max<1m", "expected a number of ms, or of s"),
            (
                "",
                "invalid expectation '' (expected METRIC<LIMIT with <, <=, >, >= or =, e.g. loss<1%)",
            ),
            ("loss<1%,", "invalid expectation '' (expected METRIC<LIMIT"),
        ] {
            let error = text.parse::<Expectations>().unwrap_err().to_string();
            assert!(error.contains(because), "{text}: {error}");
        }
    }
}

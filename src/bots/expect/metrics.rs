//! Metrics of expectations: a name, a unit and a source in [`IntervalStats`].
//!
//! A distribution has one metric for each statistic, e.g. `ping_p99` and `ping_max`.

use std::fmt;

use super::super::summary::{IntervalStats, Percentiles};
use crate::model::spelling::near_names;

/// A metric with one value.
struct Scalar {
    name: &'static str,
    unit: &'static str,
    take: fn(&IntervalStats) -> Option<f64>,
}

/// A metric with a distribution of milliseconds.
struct Distribution {
    name: &'static str,
    take: fn(&IntervalStats) -> Percentiles,
}

const fn scalar(
    name: &'static str,
    unit: &'static str,
    take: fn(&IntervalStats) -> Option<f64>,
) -> Scalar {
    Scalar { name, unit, take }
}

const fn distribution(name: &'static str, take: fn(&IntervalStats) -> Percentiles) -> Distribution {
    Distribution { name, take }
}

/// Distributions, in ms.
const DISTRIBUTIONS: &[Distribution] = &[
    distribution("join", |s| s.join_ms),
    distribution("challenge", |s| s.join_steps_ms.challenge),
    distribution("connect", |s| s.join_steps_ms.connect),
    distribution("gamestate", |s| s.join_steps_ms.gamestate),
    distribution("first_snapshot", |s| s.join_steps_ms.first_snapshot),
    distribution("snapshot_gap", |s| s.snapshot_gap_ms),
    distribution("jitter", |s| s.jitter_ms),
    distribution("ping", |s| s.ping_ms),
    distribution("command", |s| s.command_ms),
    distribution("map_change", |s| s.map_change_ms),
    distribution("lateness", |s| s.loop_lateness_ms),
];

/// Metrics with one value. Ratios are percentages here.
const SCALARS: &[Scalar] = &[
    scalar("bots", "", |s| Some(s.bots as f64)),
    scalar("connected", "", |s| Some(s.connected as f64)),
    scalar("in_game", "", |s| Some(s.active as f64)),
    scalar("refused", "", |s| Some(s.refused as f64)),
    scalar("drops", "", |s| Some(s.dropped as f64)),
    scalar("protocol_errors", "", |s| Some(s.protocol_errors as f64)),
    scalar("server_silence_max", "ms", |s| Some(s.server_silence_max_ms as f64)),
    scalar("time_without_snapshot", "%", |s| {
        (s.snapshot_gap_ms.count > 0).then_some(s.time_without_snapshot * 100.0)
    }),
    scalar("time_without_snapshot_max", "ms", |s| {
        (s.snapshot_gap_ms.count > 0).then_some(s.time_without_snapshot_max_ms as f64)
    }),
    scalar("loss", "%", |s| Some(s.loss * 100.0)),
    scalar("lost_messages", "", |s| Some(s.lost_messages as f64)),
    scalar("dropped_datagrams", "", |s| Some(s.dropped_datagrams as f64)),
    scalar("late", "%", |s| Some(s.late * 100.0)),
    scalar("rate_delayed", "%", |s| Some(s.rate_delayed * 100.0)),
    scalar("delta", "%", |s| Some(s.delta_share * 100.0)),
    scalar("map_changes", "", |s| Some(s.map_changes as f64)),
    scalar("map_restarts", "", |s| Some(s.map_restarts as f64)),
    scalar("intermission", "%", |s| Some(s.intermission * 100.0)),
    scalar("walked_per_second", "", |s| Some(s.walked_per_second)),
    scalar("scored", "", |s| Some(s.scored as f64)),
    scalar("seconds", "", |s| Some(s.seconds)),
    scalar("client_seconds", "", |s| Some(s.client_seconds)),
    scalar("snapshots", "", |s| Some(s.snapshots as f64)),
    scalar("snapshots_per_second", "", |s| Some(s.snapshots_per_second)),
    scalar("discarded_snapshots", "", |s| Some(s.discarded_snapshots as f64)),
    scalar("bytes_per_snapshot", "", |s| Some(s.bytes_per_snapshot)),
    scalar("bytes_per_snapshot_with_headers", "", |s| Some(s.bytes_per_snapshot_with_headers)),
    scalar("bytes_in_per_second", "", |s| Some(s.bytes_in_per_second)),
    scalar("bytes_in_per_second_with_headers", "", |s| Some(s.bytes_in_per_second_with_headers)),
    scalar("bytes_out_per_second", "", |s| Some(s.bytes_out_per_second)),
    scalar("bytes_out_per_second_with_headers", "", |s| Some(s.bytes_out_per_second_with_headers)),
    scalar("cpu", "ms", |s| s.server.map(|cost| cost.cpu_ms)),
    scalar("cpu_per_client_second", "ms", |s| s.server.map(|cost| cost.cpu_ms_per_client_second)),
    scalar("memory", "MB", |s| s.server.map(|cost| cost.memory_mb)),
    scalar("memory_per_bot", "kB", |s| s.server.map(|cost| cost.memory_kb_per_bot)),
    scalar("own_cpu", "ms", |s| s.own.map(|cost| cost.cpu_ms)),
    scalar("own_cpu_per_bot_second", "ms", |s| s.own.map(|cost| cost.cpu_ms_per_client_second)),
    scalar("own_memory", "MB", |s| s.own.map(|cost| cost.memory_mb)),
    scalar("own_memory_per_bot", "kB", |s| s.own.map(|cost| cost.memory_kb_per_bot)),
];

/// A metric: an index in `SCALARS`, or in `DISTRIBUTIONS` and its statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    Scalar(usize),
    Distribution(usize, usize),
}

impl Metric {
    /// Returns the metric of a name. `p99_9`, the key in JSON, is accepted for `p99.9`.
    pub(super) fn named(name: &str) -> Option<Self> {
        if let Some(place) = SCALARS.iter().position(|scalar| scalar.name == name) {
            return Some(Self::Scalar(place));
        }
        let dotted = name.strip_suffix("_p99_9").map(|family| format!("{family}_p99.9"));
        let (family, statistic) = dotted.as_deref().unwrap_or(name).rsplit_once('_')?;
        let family = DISTRIBUTIONS.iter().position(|one| one.name == family)?;
        let statistic =
            Percentiles::STATISTICS.iter().position(|(known, _)| *known == statistic)?;
        Some(Self::Distribution(family, statistic))
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Scalar(place) => SCALARS[place].unit,
            Self::Distribution(..) => "ms",
        }
    }

    /// Returns the value in an interval; `None` without samples.
    pub(super) fn value(self, interval: &IntervalStats) -> Option<f64> {
        match self {
            Self::Scalar(place) => (SCALARS[place].take)(interval),
            Self::Distribution(family, statistic) => {
                let values = (DISTRIBUTIONS[family].take)(interval);
                (values.count > 0).then(|| (Percentiles::STATISTICS[statistic].1)(&values))
            }
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        let families = (0..DISTRIBUTIONS.len()).flat_map(|family| {
            (0..Percentiles::STATISTICS.len()).map(move |one| Self::Distribution(family, one))
        });
        (0..SCALARS.len()).map(Self::Scalar).chain(families)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Scalar(place) => f.write_str(SCALARS[place].name),
            Self::Distribution(family, statistic) => {
                let (statistic, _) = Percentiles::STATISTICS[statistic];
                write!(f, "{}_{statistic}", DISTRIBUTIONS[family].name)
            }
        }
    }
}

/// Returns the names of all metrics in one line.
pub(super) fn list() -> String {
    let scalars = SCALARS.iter().map(|scalar| scalar.name.to_owned());
    let families = DISTRIBUTIONS.iter().map(|family| format!("{}_*", family.name));
    let names: Vec<_> = scalars.chain(families).collect();
    format!("{}; * is one of {}", names.join(", "), statistics())
}

fn statistics() -> String {
    Percentiles::STATISTICS.map(|(name, _)| name).join(" ")
}

/// Returns the metrics as lines of the help.
#[must_use]
pub fn metrics_help() -> String {
    let mut lines = Vec::new();
    let families: Vec<_> =
        DISTRIBUTIONS.iter().map(|family| format!("{}_*", family.name)).collect();
    wrap(&mut lines, &families);
    lines.push(format!("    in ms; * is one of {}", statistics()));
    let units = [("", "counts and rates"), ("%", "%"), ("ms", "ms"), ("MB", "MB"), ("kB", "kB")];
    for (unit, note) in units {
        let of_unit = SCALARS.iter().filter(|scalar| scalar.unit == unit);
        let mut names: Vec<_> = of_unit.map(|scalar| scalar.name.to_owned()).collect();
        names.push(format!("({note})"));
        wrap(&mut lines, &names);
    }
    lines.push("    cpu, cpu_per_client_second, memory and memory_per_bot need --pid".to_owned());
    lines.join("\n")
}

fn wrap(lines: &mut Vec<String>, names: &[String]) {
    let mut line = String::from(" ");
    for name in names {
        if line.len() + name.len() > 98 {
            lines.push(std::mem::replace(&mut line, String::from(" ")));
        }
        line.push(' ');
        line.push_str(name);
    }
    lines.push(line);
}

/// Parses a limit in a unit. Milliseconds may be given in seconds.
pub(super) fn limit(text: &str, unit: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if let Some(own) = text.strip_suffix(unit).and_then(number) {
        return Some(own);
    }
    let seconds = text.strip_suffix('s').filter(|_| unit == "ms").and_then(number);
    seconds.map(|seconds| seconds * 1000.0).or_else(|| number(text))
}

/// Returns what a limit in a unit looks like.
pub(super) fn expected_limit(unit: &str) -> String {
    match unit {
        "" => "a number, e.g. 0".to_owned(),
        "ms" => "a number of ms, or of s, e.g. 120ms or 2s".to_owned(),
        unit => format!("a number of {unit}, e.g. 1{unit}"),
    }
}

/// Returns the metric with the most similar name, if one is near.
pub(super) fn nearest(name: &str) -> Option<String> {
    let names: Vec<_> = Metric::all().map(|metric| metric.to_string()).collect();
    near_names(name, names.iter().map(String::as_str), 1).first().map(|&near| near.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::super::summary::ResourceSummary, *};

    #[test]
    fn metric_names_are_unique_and_parse() {
        let mut names: Vec<_> = Metric::all().map(|metric| metric.to_string()).collect();
        for (metric, name) in Metric::all().zip(&names) {
            assert_eq!(Metric::named(name), Some(metric), "{name}");
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_figure_of_the_summary_has_a_metric() {
        let cost = ResourceSummary {
            cpu_ms: 0.0,
            cpu_ms_per_client_second: 0.0,
            memory_mb: 0.0,
            memory_kb_per_bot: 0.0,
        };
        let interval =
            IntervalStats { server: Some(cost), own: Some(cost), ..IntervalStats::default() };
        let json = serde_json::to_value(interval).unwrap();
        let named = |key: &str| match key {
            "active" => "in_game".to_owned(),
            "dropped" => "drops".to_owned(),
            "delta_share" => "delta".to_owned(),
            "server" => "cpu".to_owned(),
            "own" => "own_cpu".to_owned(),
            "join_steps_ms" => "challenge_p50".to_owned(),
            "loop_lateness_ms" => "lateness_p50".to_owned(),
            key => key.trim_end_matches("_ms").to_owned(),
        };
        for key in json.as_object().unwrap().keys() {
            let (plain, family) = (named(key), format!("{}_p50", named(key)));
            assert!(Metric::named(&plain).or(Metric::named(&family)).is_some(), "{key}");
        }
    }

    #[test]
    fn help_names_all_metrics_in_100_columns() {
        let help = metrics_help();
        assert!(help.lines().all(|line| line.len() <= 100), "{help}");
        assert!(SCALARS.iter().all(|scalar| help.contains(scalar.name)));
    }

    #[test]
    fn similar_metric_is_suggested() {
        assert_eq!(nearest("snapshot_gap_p98").as_deref(), Some("snapshot_gap_p90"));
        assert_eq!(nearest("los").as_deref(), Some("loss"));
        assert_eq!(nearest("speed"), None);
        assert!(nearest(&"x".repeat(1000)).is_none());
    }
}

//! Expectations from the summary of an earlier run, for regression tests.
//!
//! No metric may be worse by more than a share. A small slack keeps values near zero, and the resolution of the clock, from failing.

use serde_json::Value;

use super::{Comparator, Expectation, Expectations, Metric, rounded};

/// Metrics of a baseline: name, key path in the summary, factor to the unit, slack in the unit.
const COMPARED: [(&str, &str, f64, f64); 9] = [
    ("snapshot_gap_p99", "/snapshot_gap_ms/p99", 1.0, 2.0),
    ("time_without_snapshot", "/time_without_snapshot", 100.0, 0.1),
    ("ping_p50", "/ping_ms/p50", 1.0, 2.0),
    ("ping_p99", "/ping_ms/p99", 1.0, 5.0),
    ("command_p99", "/command_ms/p99", 1.0, 5.0),
    ("join_p99", "/join_ms/p99", 1.0, 50.0),
    ("loss", "/loss", 100.0, 0.1),
    ("cpu_per_client_second", "/server/cpu_ms_per_client_second", 1.0, 0.02),
    ("memory", "/server/memory_mb", 1.0, 1.0),
];

impl Expectations {
    /// Creates expectations from the JSON summary of an earlier run.
    ///
    /// Each metric may be worse by `share`, e.g. 0.1, and its slack. Metrics that either run did not measure are left out;
    /// with `has_processes` false, those of the server process are, too.
    ///
    /// # Errors
    /// Text that is not a summary of `fragd bots --json`, or one of an unreliable run.
    pub fn from_baseline(text: &str, share: f64, has_processes: bool) -> Result<Self, String> {
        let summary: Value = serde_json::from_str(text).map_err(|error| {
            format!("invalid JSON: {error} (expected a summary of fragd bots --json)")
        })?;
        let what = match summary.pointer("/exit_code").and_then(Value::as_u64) {
            Some(7) => Some("the load generator was late"),
            Some(8) => Some("the run was interrupted"),
            _ => None,
        };
        if let (Some(what), Some(code)) = (what, summary.pointer("/exit_code")) {
            return Err(format!("exit_code {code}: {what} (expected a run with reliable results)"));
        }
        let mut all = Vec::new();
        for (name, path, factor, slack) in COMPARED {
            if path.starts_with("/server/") && !has_processes {
                continue;
            }
            let (Some(metric), Some(value)) = (Metric::named(name), summary.pointer(path)) else {
                continue;
            };
            let Some(value) = value.as_f64().filter(|value| *value >= 0.0) else {
                return Err(format!(
                    "{path}: invalid value {value} (expected a number of 0 or more)"
                ));
            };
            let is_measured = |path: &str| summary.pointer(path).is_none_or(|count| *count != 0);
            if let Some((family, _)) = path.rsplit_once('/')
                && !is_measured(&format!("{family}/count"))
            {
                continue;
            }
            let limit = rounded(value * factor * (1.0 + share) + slack);
            let comparator = Comparator::AtMost;
            all.push(Expectation { metric, comparator, limit, is_optional: true });
        }
        if all.is_empty() {
            return Err("no metrics found (expected a summary of fragd bots --json)".to_owned());
        }
        Ok(Self(all))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Conditions, *};
    use crate::bots::summary::IntervalStats;

    #[test]
    fn baseline_limits_allow_the_given_share() {
        let text = r#"{"snapshot_gap_ms":{"p99":60,"count":5},"join_ms":{"p99":0,"count":0},
            "loss":0.0,"server":{"memory_mb":20.0}}"#;
        let all = |has_processes| {
            let all = Expectations::from_baseline(text, 0.1, has_processes).unwrap();
            all.0.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(all(true), ["snapshot_gap_p99<=68ms", "loss<=0.1%", "memory<=23MB"]);
        assert_eq!(all(false), ["snapshot_gap_p99<=68ms", "loss<=0.1%"]);
    }

    #[test]
    fn baseline_metric_without_samples_is_no_regression() {
        let text = r#"{"ping_ms":{"p50":60,"count":5},"join_ms":{"p99":40,"count":5},"loss":0.0}"#;
        let all = Expectations::from_baseline(text, 0.1, false).unwrap();
        let conditions =
            Conditions { enters: false, round_trip_ms: 0.0, loses: false, interval_ms: 50.0 };
        let interval = || IntervalStats { connected: 1, ..IntervalStats::default() };
        let results = all.evaluate(&interval(), 1, conditions);
        assert!(results.iter().all(|one| one.passed), "{results:?}");
        assert!(results.iter().any(|one| one.metric == "loss"), "{results:?}");
        let mut slower = interval();
        (slower.join_ms.p99, slower.join_ms.count) = (94, 1);
        assert!(all.evaluate(&slower, 1, conditions).iter().all(|one| one.passed));
        slower.join_ms.p99 = 95;
        assert!(all.evaluate(&slower, 1, conditions).iter().any(|one| !one.passed));
    }

    #[test]
    fn documentation_lists_all_compared_metrics() {
        let page = include_str!("../../../docs/load-testing.md");
        let (_, section) = page.split_once("`--baseline before.json`").unwrap();
        let (section, _) = section.split_once("\n\n").unwrap();
        let listed = section.matches('`').count() / 2 - 1; // `--regression`
        assert_eq!(listed, COMPARED.len(), "{section}");
        for (name, ..) in COMPARED {
            assert!(Metric::named(name).is_some() && section.contains(&format!("`{name}`")));
        }
    }

    #[test]
    fn invalid_baseline_names_the_key() {
        for (text, because) in [
            ("x", "invalid JSON"),
            ("{}", "no metrics found"),
            (r#"{"loss":0.0,"exit_code":7}"#, "exit_code 7: the load generator was late"),
            (r#"{"loss":0.0,"exit_code":8}"#, "exit_code 8: the run was interrupted"),
            (r#"{"loss":"a"}"#, "/loss: invalid value \"a\""),
        ] {
            let error = Expectations::from_baseline(text, 0.1, true).unwrap_err();
            assert!(error.contains(because), "{text}: {error}");
        }
    }
}

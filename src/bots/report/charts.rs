//! Charts of the report: gaps, metrics over time, stages.

use maud::{Markup, html};

use super::super::summary::{Sample, Summary};
use crate::chart::{self, CurveLimit, Series, StagePoint, Timeline};

/// Shares of the percentiles that limits name.
const SHARES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

impl Summary {
    /// Draws percentile curve and histogram of the snapshot gaps.
    pub(super) fn gap_section(&self) -> Markup {
        html! {
            section {
                h2 { "Time between snapshots" }
                p { "Share of the time in the game in which the gap between two snapshots is at most the value; requested: "
                    (self.asked_interval_ms) " ms. Values in ms. Each decade towards 100% has the same width. A bar marks the limit of an "
                    "expectation, green if it holds." }
                figure .wide-chart { (chart::percentile_curve(&self.gap_distribution, &self.gap_limits())) }
                p { "Time in gaps of each length, in ms, summed over all bots. Both axes are logarithmic. Point at a bar for its values." }
                figure .wide-chart { (chart::histogram(&self.gap_distribution)) }
            }
        }
    }

    /// Returns the limits of gap percentiles, for the curve.
    fn gap_limits(&self) -> Vec<CurveLimit> {
        let limit = |result: &super::ExpectationResult| {
            let statistic = result.metric.strip_prefix("snapshot_gap_")?;
            let (_, share) = SHARES.iter().find(|(name, _)| *name == statistic)?;
            let (share, value, is_kept) = (*share, result.limit, result.passed);
            Some(CurveLimit { share, value, is_kept, text: result.to_string() })
        };
        self.expectations.iter().filter_map(limit).collect()
    }

    /// Draws the metrics over time. Seconds with a late load generator are shaded.
    pub(super) fn timelines(&self) -> Markup {
        let timeline = Timeline {
            samples: &self.samples,
            seconds: &|sample: &Sample| sample.seconds,
            is_spoiled: &|sample: &Sample| sample.is_spoiled,
        };
        let some = |title: &str, value: &dyn Fn(&Sample) -> Option<f64>| {
            timeline.draw(title, &[Series { name: "", value }], false)
        };
        let one = |title: &str, value: &dyn Fn(&Sample) -> f64| {
            some(title, &|sample| Some(value(sample)))
        };
        let three = |title: &str, values: [fn(&Sample) -> Option<u64>; 3]| {
            let [p50, p99, max] =
                values.map(|value| move |s: &Sample| value(s).map(|ms| ms as f64));
            let lines = [
                Series { name: "p50", value: &p50 },
                Series { name: "p99", value: &p99 },
                Series { name: "max", value: &max },
            ];
            timeline.draw(title, &lines, true)
        };
        html! {
            section {
                h2 { "Over time" }
                p { "A line is broken where a second has no value, e.g. no snapshot." }
                div .charts {
                    (three("Snapshot gap, ms", [|s| s.gap_p50_ms, |s| s.gap_p99_ms, |s| s.worst_gap_ms]))
                    (three("Ping, ms", [|s| s.ping_p50_ms, |s| s.ping_p99_ms, |s| s.ping_max_ms]))
                    (one("Bots in the game", &|s| s.in_game as f64))
                    (one("Received by all bots, kB/s", &|s| s.bytes_in as f64 / 1000.0))
                    (one("Messages lost per second, all bots", &|s| s.lost_messages as f64))
                    (one("Load generator lateness, ms", &|s| s.lateness_ms as f64))
                    @if self.total.map_changes > 0 {
                        (one("Map changes", &|s| s.map_changes as f64))
                    }
                    @if self.total.map_restarts > 0 {
                        (one("Restarts", &|s| s.map_restarts as f64))
                    }
                    @if self.queries.sent > 0 {
                        (one("Queries answered per second", &|s| s.query_answers as f64))
                    }
                    @if self.total.server.is_some() {
                        (some("Server CPU, ms/s", &|s| s.server_cpu_ms))
                        (some("Server memory, MB", &|s| s.server_memory_mb))
                    }
                    @if self.total.own.is_some() {
                        (some("Load generator CPU, ms/s", &|s| s.own_cpu_ms))
                    }
                }
            }
        }
    }

    /// Draws gap, ping and CPU time by number of bots, with the capacity.
    pub(super) fn stage_charts(&self) -> Markup {
        let points = |value: &dyn Fn(&super::IntervalStats) -> Option<f64>| -> Vec<StagePoint> {
            let point = |stage: &super::super::summary::StageSummary| StagePoint {
                clients: stage.total.bots as f64,
                value: value(&stage.total),
                passed: stage.passed,
            };
            self.stages.iter().map(point).collect()
        };
        let capacity = self.capacity.filter(|&bots| bots > 0).map(|bots| bots as f64);
        let gap = points(&|total| Some(total.snapshot_gap_ms.p99 as f64));
        let ping = points(&|total| Some(total.ping_ms.p99 as f64));
        let cpu = points(&|total| {
            let seconds = total.seconds.max(0.001);
            total.server.map(|cost| cost.cpu_ms / seconds)
        });
        html! {
            div .charts {
                (chart::by_clients("Snapshot gap p99 by bots, ms", &gap, capacity, true))
                (chart::by_clients("Ping p99 by bots, ms", &ping, capacity, true))
                @if self.total.server.is_some() {
                    (chart::by_clients("Server CPU by bots, ms/s", &cpu, capacity, false))
                }
            }
        }
    }
}

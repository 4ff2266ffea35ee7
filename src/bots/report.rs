//! HTML report of a load test: one file with inline charts, without scripts or external resources.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::summary::{BotOutcome, BotSummary, IntervalStats, Percentiles, Sample, Summary};
use crate::chart::{self, STYLE};

/// Maximum lagometers, which bounds the length of the page.
const MAX_LAGOMETERS: usize = 64;

impl Summary {
    /// Returns the report as an HTML page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { "fragd bots: " (self.server_address) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    h1 { "Load test of " (self.server_address) }
                    p .verdict.(if self.succeeded { "good" } else { "bad" }) {
                        (self.sentence)
                    }
                    (self.warnings())
                    (self.tiles())
                    (self.conditions())
                    (self.stages_table())
                    (self.metrics())
                    section {
                        h2 { "Time between snapshots" }
                        p { "Distribution of the interval between consecutive snapshots. Requested interval: "
                            (self.asked_interval_ms) " ms. Point at a bar for its values." }
                        (chart::distribution(&self.gap_distribution, self.axis()))
                    }
                    section {
                        h2 { "Over time" }
                        div .charts {
                            (self.over_time("Bots in the game", |s| s.in_game as f64))
                            (self.over_time("Received by all bots, kB/s", |s| s.bytes_in as f64 / 1000.0))
                            (self.over_time("Longest snapshot gap, ms", |s| s.worst_gap_ms as f64))
                            (self.over_time("Ping, ms", |s| s.ping_ms as f64))
                            (self.over_time("Messages lost per second, all bots", |s| s.lost_messages as f64))
                            @if self.queries.sent > 0 {
                                (self.over_time("Queries answered per second", |s| s.query_answers as f64))
                            }
                            @if self.total.server.is_some() {
                                (self.over_time("Server CPU, ms/s", |s| s.server_cpu_ms))
                                (self.over_time("Server memory, MB", |s| s.server_memory_mb))
                            }
                            @if self.total.own.is_some() {
                                (self.over_time("Load generator CPU, ms/s", |s| s.own_cpu_ms))
                            }
                        }
                    }
                    (self.lagometers())
                }
            }
        };
        page.into_string()
    }

    /// Draws a metric over time.
    fn over_time(&self, title: &str, value: impl Fn(&Sample) -> f64) -> Markup {
        let seconds = self.samples.last().map_or(0, |sample| sample.second);
        chart::over_time(title, &self.samples, seconds, value)
    }

    /// Interval after which a snapshot is due: the requested one, or a longer one that the server keeps.
    fn due_ms(&self) -> u64 {
        self.asked_interval_ms.max(self.total.snapshot_gap_ms.p50)
    }

    /// Minimum and maximum end of the axis of the gap histogram, in ms.
    fn axis(&self) -> [u64; 2] {
        let due = self.due_ms();
        [due * 2, (self.total.snapshot_gap_ms.p99 * 2).max(due * 3)]
    }

    /// Draws the key metrics.
    fn tiles(&self) -> Markup {
        let total = &self.total;
        let mut tiles = vec![
            ("bots in the game", format!("{} of {}", total.active, total.bots)),
            ("snapshots/s per bot", format!("{:.1}", total.snapshots_per_second)),
            ("snapshot gap p99", format!("{} ms", total.snapshot_gap_ms.p99)),
            ("ping p50", format!("{} ms", total.ping_ms.p50)),
            ("messages lost", format!("{:.2}%", total.loss * 100.0)),
            ("bytes per snapshot", format!("{:.0}", total.bytes_per_snapshot)),
        ];
        if let Some(server) = total.server {
            let each = server.cpu_ms_per_client_second;
            tiles.push(("server CPU per client-second", format!("{each:.3} ms")));
            tiles.push(("server memory", format!("{:.1} MB", server.memory_mb)));
        }
        html! {
            div .tiles {
                @for (name, value) in tiles { div { b { (value) } span { (name) } } }
            }
        }
    }

    fn warnings(&self) -> Markup {
        html! {
            @for failed in &self.failed_expectations { p .bad { "Failed: " (failed) } }
            @if self.own_process_was_late() {
                p .warning {
                    "Load generator overloaded (p99 lateness " (self.total.loop_lateness_ms.p99)
                    " ms): results are unreliable."
                }
            }
        }
    }

    fn conditions(&self) -> Markup {
        let or_clear =
            |shape: &str| if shape.is_empty() { "unimpaired".to_owned() } else { shape.to_owned() };
        html! {
            table .conditions {
                tr { th { "Server" } td { (self.server_address) ", protocol " (self.protocol) ", for "
                    (format!("{:.0}", self.total.seconds)) " s" } }
                tr { th { "Bots" } td { (self.behavior) ", seed " (self.seed) } }
                tr { th { "Uplink" } td { (or_clear(&self.uplink)) } }
                tr { th { "Downlink" } td { (or_clear(&self.downlink)) } }
                @if self.queries.sent > 0 {
                    tr { th { "Queries" } td { (self.queries.answered) " of " (self.queries.sent) " answered" } }
                }
            }
        }
    }

    fn metrics(&self) -> Markup {
        let total = &self.total;
        let percent = |share: f64| format!("{:.2}%", share * 100.0);
        html! {
            section {
                h2 { "Metrics" }
                table .numbers {
                    tr { th { "Milliseconds" } th { "mean" } th { "p50" } th { "p90" } th { "p99" } th { "max" } th { "samples" } }
                    @for (name, percentiles) in percentile_rows(total).iter().filter(|(_, percentiles)| percentiles.count > 0) {
                        tr {
                            th { (name) }
                            td { (format!("{:.1}", percentiles.mean)) }
                            @for value in [percentiles.p50, percentiles.p90, percentiles.p99, percentiles.max, percentiles.count] { td { (value) } }
                        }
                    }
                }
                table {
                    tr { th { "Snapshots" } td { (total.snapshots) " in total, " (total.snapshots_per_second) "/s each" } }
                    tr { th { "Walked, scored" } td { (format!("{:.0} units/s each, {} in total", total.walked_per_second, total.scored)) } }
                    tr { th { "Deltas" } td { (percent(total.delta_share)) } }
                    tr { th { "Lost" } td { (percent(total.loss)) } }
                    tr { th { "Late" } td { (percent(total.late)) } }
                    tr { th { "Rate delayed" } td { (percent(total.rate_delayed)) } }
                    tr { th { "Bytes per snapshot" } td {
                        (total.bytes_per_snapshot) ", with headers " (total.bytes_per_snapshot_with_headers) } }
                    @for (name, cost) in [("Server process", total.server), ("Load generator", total.own)] {
                        @if let Some(cost) = cost {
                            tr { th { (name) } td {
                                (format!("{:.2} s of CPU, {:.3} ms per client-second; {:.1} MB, {:.0} kB per bot",
                                    cost.cpu_ms / 1000.0, cost.cpu_ms_per_client_second,
                                    cost.memory_mb, cost.memory_kb_per_bot)) } }
                        }
                    }
                }
            }
        }
    }

    fn stages_table(&self) -> Markup {
        html! {
            @if self.stages.len() > 1 {
                section {
                    h2 { "Stages" }
                    table .numbers {
                        tr { th { "bots" } th { "in the game" } th { "gap p99" } th { "gap max" } th { "lost" }
                            th { "CPU ms per client-second" } th {} }
                        @for stage in &self.stages {
                            @let IntervalStats { bots, active, snapshot_gap_ms: gap, loss, server, .. } = &stage.total;
                            tr {
                                td { (bots) } td { (active) } td { (gap.p99) } td { (gap.max) }
                                td { (format!("{:.2}%", loss * 100.0)) }
                                td { (server.map_or("–".to_owned(), |cost| format!("{:.3}", cost.cpu_ms_per_client_second))) }
                                td .words { (stage.failed_expectations.join("; ")) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn lagometers(&self) -> Markup {
        let shown = &self.each[..self.each.len().min(MAX_LAGOMETERS)];
        html! {
            section {
                h2 { "Bots" }
                p { "Upper half: snapshot gap, blue up to the requested interval, yellow beyond it. Lower half: ping, green; "
                    "yellow where snapshots were rate delayed, red where messages were lost. "
                    "Red in both halves: no snapshot arrived." }
                @for bot in shown {
                    figure .lagometer {
                        figcaption { (bot.name) " " small { (describe(bot)) } }
                        (chart::lagometer(&bot.lagometer, self.due_ms()))
                    }
                }
                @if self.each.len() > MAX_LAGOMETERS {
                    p { "and " (self.each.len() - MAX_LAGOMETERS) " more, in the JSON summary" }
                }
            }
        }
    }
}

fn percentile_rows(total: &IntervalStats) -> [(&'static str, Percentiles); 6] {
    [
        ("Time to join", total.join_ms),
        ("Snapshot gap", total.snapshot_gap_ms),
        ("Jitter", total.jitter_ms),
        ("Ping", total.ping_ms),
        ("Reliable command round trip", total.command_ms),
        ("Load generator lateness", total.loop_lateness_ms),
    ]
}

fn describe(bot: &BotSummary) -> String {
    let what = match bot.outcome {
        BotOutcome::Played => format!(
            "ping {} ms, longest gap {} ms, lost {:.2}%",
            bot.ping_ms,
            bot.worst_gap_ms,
            bot.loss * 100.0
        ),
        BotOutcome::Refused => "refused".to_owned(),
        BotOutcome::NeverJoined => "never joined".to_owned(),
        BotOutcome::Dropped => "dropped".to_owned(),
    };
    match &bot.reason {
        Some(reason) => format!("{what}: {}", crate::model::text::escaped(reason.as_bytes())),
        None => what,
    }
}

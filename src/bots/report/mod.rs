//! HTML report of a load test: one file with inline charts, without scripts or external resources.

mod charts;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    expect::ExpectationResult,
    summary::{BotOutcome, BotSummary, IntervalStats, Percentiles, ProtocolSummary, Summary},
};
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
                    (self.expectations_table())
                    (self.stages_section())
                    (self.protocols_section())
                    (self.metrics())
                    (self.gap_section())
                    (self.timelines())
                    (self.lagometers())
                }
            }
        };
        page.into_string()
    }

    /// Interval after which a snapshot is due: the requested one, or a longer one that the server keeps.
    fn due_ms(&self) -> u64 {
        self.asked_interval_ms.max(self.total.snapshot_gap_ms.p50)
    }

    /// Draws the key metrics.
    fn tiles(&self) -> Markup {
        let total = &self.total;
        let mut tiles = vec![
            ("bots in the game", format!("{} of {}", total.active, total.bots)),
            ("snapshots/s per bot", format!("{:.1}", total.snapshots_per_second)),
            ("snapshot gap p99", format!("{} ms", total.snapshot_gap_ms.p99)),
            ("longest snapshot gap", format!("{} ms", total.snapshot_gap_ms.max)),
            ("time without a snapshot", format!("{:.2}%", total.time_without_snapshot * 100.0)),
            ("ping p50", format!("{} ms", total.ping_ms.p50)),
            ("messages lost", format!("{:.2}%", total.loss * 100.0)),
            ("bytes per snapshot", format!("{:.0}", total.bytes_per_snapshot)),
        ];
        if let Some(capacity) = self.capacity {
            let least = if self.is_capacity_limit { "" } else { "≥ " };
            tiles.insert(0, ("capacity", format!("{least}{capacity} bots")));
        }
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
        let spoiled = self.samples.iter().filter(|sample| sample.is_spoiled).count();
        html! {
            @if self.own_process_was_late() {
                p .warning {
                    "Load generator late (p99 " (self.total.loop_lateness_ms.p99)
                    " ms): gaps and pings may be too long by as much."
                }
            }
            @if spoiled > 0 {
                p .warning { "Measurements that a late load generator spoiled are shaded: " (spoiled) " of " (self.samples.len()) " seconds." }
            }
        }
    }

    fn conditions(&self) -> Markup {
        let or_clear =
            |shape: &str| if shape.is_empty() { "unimpaired".to_owned() } else { shape.to_owned() };
        html! {
            table .conditions {
                tr { th { "Server" } td { (self.server_address) ", protocol " (self.protocol) ", for "
                    (format!("{:.0}", self.total.seconds)) " s"
                    @for server in self.servers.iter().filter(|server| !server.name.is_empty()) { br; (server.describe()) }
                } }
                @if !self.run.version.is_empty() {
                    tr { th { "Program" } td { "fragd " (self.run.version) ", started " (self.started) } }
                    tr { th { "Machine" } td { (self.run.machine.describe()) } }
                    tr { th { "Options" } td .options { (self.run.options) } }
                }
                tr { th { "Bots" } td { (self.behavior) ", seed " (self.seed) } }
                tr { th { "Uplink" } td { (or_clear(&self.uplink)) } }
                tr { th { "Downlink" } td { (or_clear(&self.downlink)) } }
                @if self.queries.sent > 0 {
                    tr { th { "Queries" } td { (self.queries.answered) " of " (self.queries.sent) " answered" } }
                }
                @if let Some(levels) = self.total.levels() {
                    tr { th { "Levels" } td { (levels)
                        @if self.total.map_changes > 0 { "; longest map change " (self.total.map_change_ms.max) " ms" } } }
                }
            }
        }
    }

    /// Lists the expectations of each stage with limit and value.
    fn expectations_table(&self) -> Markup {
        html! {
            section {
                h2 { "Expectations" }
                div .wide { table {
                    tr {
                        @if self.stages.len() > 1 { th { "Stage" } }
                        th { "Metric" } th { "Limit" } th { "Value" } th { "Result" }
                    }
                    @for result in &self.expectations { (self.expectation_row(result)) }
                } }
            }
        }
    }

    fn expectation_row(&self, result: &ExpectationResult) -> Markup {
        let stage = self.stages.get(result.stage.saturating_sub(1));
        html! {
            tr {
                @if self.stages.len() > 1 { td { (stage.map_or(0, |stage| stage.total.bots)) " bots" } }
                td { (result.metric) } td { (result.allowed()) } td { (result.measured()) }
                td .(if result.passed { "good" } else { "bad" }) {
                    (if result.passed { "passed" } else { "failed" })
                    @if result.is_default { " " small { "default" } }
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
                div .wide { table .numbers {
                    tr {
                        th { "Milliseconds" }
                        @for (name, _) in Percentiles::STATISTICS { th { (name) } }
                        th { "samples" }
                    }
                    @for (name, percentiles) in total.distributions().iter().filter(|(_, percentiles)| percentiles.count > 0) {
                        tr {
                            th .(if name.starts_with(' ') { "step" } else { "" }) { (name.trim()) }
                            @for (statistic, value) in Percentiles::STATISTICS {
                                @let decimals = usize::from(statistic == "mean");
                                td { (format!("{:.decimals$}", value(percentiles))) }
                            }
                            td { (percentiles.count) }
                        }
                    }
                } }
                table {
                    tr { th { "Snapshots" } td { (total.snapshots) " in total, " (total.snapshots_per_second) "/s each" } }
                    tr { th { "Walked, scored" } td { (format!("{:.0} units/s each, {} in total", total.walked_per_second, total.scored)) } }
                    tr { th { "Deltas" } td { (percent(total.delta_share)) } }
                    tr { th { "Lost" } td { (percent(total.loss)) } }
                    tr { th { "Time without a snapshot" } td {
                        (percent(total.time_without_snapshot)) ", at most " (total.time_without_snapshot_max_ms) " ms of one bot" } }
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

    fn stages_section(&self) -> Markup {
        html! {
            @if self.stages.len() > 1 {
                section {
                    h2 { "Stages" }
                    @if let Some(capacity) = self.capacity_text() { p { "Capacity: " (capacity) "." } }
                    (self.stage_charts())
                    div .wide { table .numbers {
                        tr { th { "bots" } th { "in the game" } th { "gap p99" } th { "gap max" } th { "ping p99" } th { "lost" }
                            th { "CPU ms per client-second" } th {} }
                        @for stage in &self.stages {
                            @let IntervalStats { bots, active, snapshot_gap_ms: gap, ping_ms: ping, loss, server, .. } = &stage.total;
                            tr {
                                td { (bots) } td { (active) } td { (gap.p99) } td { (gap.max) } td { (ping.p99) }
                                td { (format!("{:.2}%", loss * 100.0)) }
                                td { (server.map_or("–".to_owned(), |cost| format!("{:.3}", cost.cpu_ms_per_client_second))) }
                                td .words { (stage.failed_expectations.join("; ")) }
                            }
                        }
                    } }
                }
            }
        }
    }

    fn protocols_section(&self) -> Markup {
        html! {
            @if !self.protocols.is_empty() {
                section {
                    h2 { "Protocols" }
                    div .wide { table .numbers {
                        tr { th { "protocol" } @for name in ProtocolSummary::COLUMNS { th { (name) } } }
                        @for protocol in &self.protocols {
                            tr { th { (protocol.protocol) } @for value in protocol.columns() { td { (value) } } }
                        }
                    } }
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

fn describe(bot: &BotSummary) -> String {
    let what = match bot.outcome {
        BotOutcome::Played => format!(
            "ping {} ms, longest gap {} ms, lost {:.2}%",
            bot.ping_ms,
            bot.worst_gap_ms,
            bot.loss * 100.0
        ),
        BotOutcome::Connected => "accepted".to_owned(),
        BotOutcome::Refused => "refused".to_owned(),
        BotOutcome::NeverJoined => "never joined".to_owned(),
        BotOutcome::Dropped => "dropped".to_owned(),
    };
    match &bot.reason {
        Some(reason) => format!("{what}: {}", crate::model::text::escaped(reason.as_bytes())),
        None => what,
    }
}

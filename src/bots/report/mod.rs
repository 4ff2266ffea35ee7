//! The page that shows a load test: one file, with its own charts, that needs nothing from elsewhere.

mod chart;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::summary::{BotSummary, Outcome, Spread, Stretch, Summary};

/// Bots whose strips are drawn; a page with more is not read.
const MAX_STRIPS: usize = 64;

/// How the page looks: readable on paper, by day and by night.
const STYLE: &str = include_str!("report.css");

impl Summary {
    /// The page as HTML.
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
                    (self.figures())
                    section {
                        h2 { "Time between snapshots" }
                        p { "How many snapshots came so long after the one before. The bots asked for one in "
                            (self.asked_interval_ms) " ms; a bar pointed at says its numbers." }
                        (chart::distribution(&self.gap_distribution, self.axis()))
                    }
                    section {
                        h2 { "Over time" }
                        div .charts {
                            (chart::over_time("Bots in the game", &self.samples, |s| s.in_game as f64))
                            (chart::over_time("Bytes received by all, kB/s", &self.samples, |s| s.bytes_in as f64 / 1000.0))
                            (chart::over_time("Longest time between snapshots, ms", &self.samples, |s| s.worst_gap_ms as f64))
                            (chart::over_time("Ping, ms", &self.samples, |s| s.ping_ms as f64))
                            (chart::over_time("Messages lost, in a second by all", &self.samples, |s| s.lost_messages as f64))
                            @if self.queries.sent > 0 {
                                (chart::over_time("Queries answered in a second", &self.samples, |s| s.query_answers as f64))
                            }
                            @if self.total.server.is_some() {
                                (chart::over_time("Processor time of the server, ms in a second", &self.samples, |s| s.server_cpu_ms))
                                (chart::over_time("Memory of the server, MB", &self.samples, |s| s.server_memory_mb))
                            }
                            @if self.total.own.is_some() {
                                (chart::over_time("Processor time of the bots, ms in a second", &self.samples, |s| s.own_cpu_ms))
                            }
                        }
                    }
                    (self.strips())
                }
            }
        };
        page.into_string()
    }

    /// When a snapshot is due: as asked for, or as the server sends most of them.
    fn due_ms(&self) -> u64 {
        self.asked_interval_ms.max(self.total.snapshot_gap_ms.p50)
    }

    /// How far the times between snapshots are shown, at least and at most.
    fn axis(&self) -> [u64; 2] {
        let due = self.due_ms();
        [due * 2, (self.total.snapshot_gap_ms.p99 * 2).max(due * 3)]
    }

    /// What everybody asks first.
    fn tiles(&self) -> Markup {
        let total = &self.total;
        let mut tiles = vec![
            ("bots in the game", format!("{} of {}", total.active, total.bots)),
            ("snapshots a second, each", format!("{:.1}", total.snapshots_per_second)),
            ("between snapshots, p99", format!("{} ms", total.snapshot_gap_ms.p99)),
            ("ping, half within", format!("{} ms", total.ping_ms.p50)),
            ("messages lost", format!("{:.2} %", total.loss * 100.0)),
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
            @for broken in &self.broken { p .bad { "Not as expected: " (broken) } }
            @if self.own_process_was_late() {
                p .warning {
                    "The bots themselves ran late (p99 " (self.total.own_lateness_ms.p99)
                    " ms): their machine was too busy for them, and the figures tell more of it than of the server."
                }
            }
        }
    }

    fn conditions(&self) -> Markup {
        let or_clear =
            |shape: &str| if shape.is_empty() { "untouched".to_owned() } else { shape.to_owned() };
        html! {
            table .conditions {
                tr { th { "Server" } td { (self.server_address) ", wire " (self.wire) ", for "
                    (format!("{:.0}", self.total.seconds)) " s" } }
                tr { th { "Bots" } td { (self.behaviour) ", seed " (self.seed) } }
                tr { th { "Way there" } td { (or_clear(&self.uplink)) } }
                tr { th { "Way back" } td { (or_clear(&self.downlink)) } }
                @if self.queries.sent > 0 {
                    tr { th { "Queries" } td { (self.queries.answered) " of " (self.queries.sent) " answered" } }
                }
            }
        }
    }

    fn figures(&self) -> Markup {
        let total = &self.total;
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        html! {
            section {
                h2 { "Figures" }
                table .numbers {
                    tr { th { "Milliseconds" } th { "mean" } th { "p50" } th { "p90" } th { "p99" } th { "worst" } th { "counted" } }
                    @for (name, spread) in spreads(total).iter().filter(|(_, spread)| spread.count > 0) {
                        tr {
                            th { (name) }
                            td { (format!("{:.1}", spread.mean)) }
                            @for value in [spread.p50, spread.p90, spread.p99, spread.max, spread.count] { td { (value) } }
                        }
                    }
                }
                table {
                    tr { th { "Snapshots" } td { (total.snapshots) " in all, " (total.snapshots_per_second) "/s each" } }
                    tr { th { "Walked, scored" } td { (format!("{:.0} units/s each, {} in all", total.walked_per_second, total.scored)) } }
                    tr { th { "Deltas" } td { (percent(total.delta_share)) } }
                    tr { th { "Lost" } td { (percent(total.loss)) } }
                    tr { th { "Late" } td { (percent(total.late)) } }
                    tr { th { "Held back by the rate" } td { (percent(total.rate_delayed)) } }
                    tr { th { "Bytes per snapshot" } td {
                        (total.bytes_per_snapshot) ", with headers " (total.bytes_per_snapshot_with_headers) } }
                    @for (name, cost) in [("Server process", total.server), ("Bots' process", total.own)] {
                        @if let Some(cost) = cost {
                            tr { th { (name) } td {
                                (format!("{:.2} s of processor time, {:.3} ms per client-second; {:.1} MB, {:.0} kB more for each",
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
                        tr { th { "bots" } th { "in the game" } th { "gap p99" } th { "worst gap" } th { "lost" }
                            th { "CPU ms per client-second" } th {} }
                        @for stage in &self.stages {
                            @let Stretch { bots, active, snapshot_gap_ms: gap, loss, server, .. } = &stage.figures;
                            tr {
                                td { (bots) } td { (active) } td { (gap.p99) } td { (gap.max) }
                                td { (format!("{:.2} %", loss * 100.0)) }
                                td { (server.map_or("–".to_owned(), |cost| format!("{:.3}", cost.cpu_ms_per_client_second))) }
                                td .words { (stage.broken.join("; ")) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn strips(&self) -> Markup {
        let shown = &self.each[..self.each.len().min(MAX_STRIPS)];
        html! {
            section {
                h2 { "Bots" }
                p { "Above, the time between snapshots: blue as asked for, yellow what was longer. Below, the ping: "
                    "green; yellow where the server held snapshots back to keep to the rate, red where messages were lost. "
                    "Red above and below: nothing came at all." }
                @for bot in shown {
                    figure .strip {
                        figcaption { (bot.name) " " small { (describe(bot)) } }
                        (chart::lagometer(&bot.strip, self.due_ms()))
                    }
                }
                @if self.each.len() > MAX_STRIPS {
                    p { "and " (self.each.len() - MAX_STRIPS) " more, in the JSON summary" }
                }
            }
        }
    }
}

fn spreads(total: &Stretch) -> [(&'static str, Spread); 6] {
    [
        ("Time to join", total.join_ms),
        ("Time between snapshots", total.snapshot_gap_ms),
        ("Jitter", total.jitter_ms),
        ("Ping", total.ping_ms),
        ("Commands there and back", total.command_ms),
        ("Own lateness", total.own_lateness_ms),
    ]
}

fn describe(bot: &BotSummary) -> String {
    let what = match bot.outcome {
        Outcome::Played => format!(
            "ping {} ms, worst gap {} ms, lost {:.2} %",
            bot.ping_ms,
            bot.worst_gap_ms,
            bot.loss * 100.0
        ),
        Outcome::Refused => "refused".to_owned(),
        Outcome::NeverJoined => "never joined".to_owned(),
        Outcome::Dropped => "dropped".to_owned(),
    };
    match &bot.reason {
        Some(reason) => format!("{what}: {}", crate::model::text::escaped(reason.as_bytes())),
        None => what,
    }
}

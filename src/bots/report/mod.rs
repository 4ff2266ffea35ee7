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
        let verdict = if self.succeeded { "as expected" } else { "not as expected" };
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
                        (self.total.active) " of " (self.total.bots) " bots in the game, "
                        (format!("{:.0}", self.total.seconds)) " s: " (verdict)
                    }
                    (self.warnings())
                    (self.conditions())
                    (self.figures())
                    (self.stages_table())
                    section {
                        h2 { "Time between snapshots" }
                        p { "How often each was; the bots asked for one in "
                            (self.asked_gap_ms()) " ms." }
                        (chart::distribution(&self.gap_distribution))
                    }
                    section {
                        h2 { "Over time" }
                        (chart::over_time("Bytes received by all, kB/s", &self.samples, |s| s.bytes_in as f64 / 1000.0))
                        (chart::over_time("Longest time between snapshots, ms", &self.samples, |s| s.worst_gap_ms as f64))
                        (chart::over_time("Ping, ms", &self.samples, |s| s.ping_ms as f64))
                        @if self.total.server.is_some() {
                            (chart::over_time("Processor time of the server, ms/s", &self.samples, |s| s.server_cpu_ms))
                        }
                    }
                    (self.strips())
                }
            }
        };
        page.into_string()
    }

    fn asked_gap_ms(&self) -> u64 {
        self.total.snapshot_gap_ms.p50
    }

    fn warnings(&self) -> Markup {
        html! {
            @for broken in &self.broken { p .bad { "Not as expected: " (broken) } }
            @if self.own_process_was_late() {
                p .bad {
                    "The bots' own process was often late (99 % within "
                    (self.total.own_lateness_ms.p99)
                    " ms): these figures say more of it than of the server."
                }
            }
        }
    }

    fn conditions(&self) -> Markup {
        let or_clear =
            |shape: &str| if shape.is_empty() { "as it is".to_owned() } else { shape.to_owned() };
        html! {
            table .conditions {
                tr { th { "Wire" } td { (self.wire) } }
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
                table {
                    tr { th {} th { "mean" } th { "p50" } th { "p90" } th { "p99" } th { "worst" } }
                    @for (name, spread) in spreads(total) {
                        tr {
                            th { (name) ", ms" }
                            td { (format!("{:.1}", spread.mean)) }
                            @for value in [spread.p50, spread.p90, spread.p99, spread.max] { td { (value) } }
                        }
                    }
                }
                table {
                    tr { th { "Snapshots" } td { (total.snapshots) " in all, " (total.snapshots_per_second) "/s each" } }
                    tr { th { "Deltas" } td { (percent(total.delta_share)) } }
                    tr { th { "Lost" } td { (percent(total.loss)) } }
                    tr { th { "Late" } td { (percent(total.late)) } }
                    tr { th { "Held back by the rate" } td { (percent(total.rate_delayed)) } }
                    tr { th { "Bytes per snapshot" } td {
                        (total.bytes_per_snapshot) ", with headers " (total.bytes_per_snapshot_with_headers) } }
                    @for (name, cost) in [("Server process", total.server), ("Bots' process", total.own)] {
                        @if let Some(cost) = cost {
                            tr { th { (name) } td {
                                (format!("{:.0} ms of processor time, {:.3} ms per client-second, {:.1} MB",
                                    cost.cpu_ms, cost.cpu_ms_per_client_second, cost.memory_mb)) } }
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
                    table {
                        tr { th { "bots" } th { "in the game" } th { "gap p99" } th { "worst gap" } th { "lost" }
                            th { "CPU ms per client-second" } th {} }
                        @for stage in &self.stages {
                            @let Stretch { bots, active, snapshot_gap_ms: gap, loss, server, .. } = &stage.figures;
                            tr {
                                td { (bots) } td { (active) } td { (gap.p99) } td { (gap.max) }
                                td { (format!("{:.2} %", loss * 100.0)) }
                                td { (server.map_or("–".to_owned(), |cost| format!("{:.3}", cost.cpu_ms_per_client_second))) }
                                td { (stage.broken.join("; ")) }
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
                    "green; yellow where the server held snapshots back to keep to the rate, red where messages were lost." }
                @for bot in shown {
                    figure .strip {
                        figcaption { (bot.name) " " small { (describe(bot)) } }
                        (chart::lagometer(&bot.strip, self.asked_gap_ms()))
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

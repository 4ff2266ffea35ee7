//! The figures for people. Bots that fared as they should are not listed one by one.

use std::fmt;

use super::{CostSummary, Outcome, Spread, Stretch, Summary};
use crate::model::text::escaped;

/// Bots with something to tell that are listed.
const MAX_LISTED: usize = 32;

fn spread(spread: &Spread) -> String {
    let Spread { mean, p50, p99, max, .. } = spread;
    format!("mean {mean:.1} ms, half within {p50}, 99 % within {p99}, worst {max}")
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn kilo(bytes: f64) -> String {
    format!("{:.1} kB/s", bytes / 1000.0)
}

fn cost(cost: &CostSummary) -> String {
    let CostSummary { cpu_ms, cpu_ms_per_client_second, memory_mb } = cost;
    format!(
        "{cpu_ms:.0} ms of processor time, {cpu_ms_per_client_second:.3} ms per client-second, {memory_mb:.1} MB"
    )
}

/// The lines of a stretch: what, and its figures.
fn lines(stretch: &Stretch) -> Vec<(&'static str, String)> {
    let Stretch { bots, active, refused, dropped, faults, join_steps_ms: steps, .. } = stretch;
    let mut lines = vec![
        (
            "bots",
            format!(
                "{active} of {bots} in the game, {refused} refused, {dropped} dropped, {faults} faults"
            ),
        ),
        ("time to join", spread(&stretch.join_ms)),
        (
            "  of which",
            format!(
                "challenge {}, connect {}, gamestate {}, first snapshot {} ms (medians)",
                steps.challenge.p50,
                steps.connect.p50,
                steps.gamestate.p50,
                steps.first_snapshot.p50
            ),
        ),
        (
            "snapshots",
            format!(
                "{:.1}/s each, {} in all, {:.1} % deltas, {} discarded",
                stretch.snapshots_per_second,
                stretch.snapshots,
                stretch.delta_share * 100.0,
                stretch.discarded_snapshots
            ),
        ),
        (
            "loss",
            format!(
                "{}, {} messages; {} late, {} held back by the rate",
                percent(stretch.loss),
                stretch.lost_messages,
                percent(stretch.late),
                percent(stretch.rate_delayed)
            ),
        ),
        ("snapshot gap", spread(&stretch.snapshot_gap_ms)),
        ("jitter", spread(&stretch.jitter_ms)),
        ("ping", spread(&stretch.ping_ms)),
        (
            "bytes/snapshot",
            format!(
                "{:.1}, with headers {:.1}",
                stretch.bytes_per_snapshot, stretch.bytes_per_snapshot_with_headers
            ),
        ),
        (
            "received",
            format!(
                "{}, with headers {}",
                kilo(stretch.bytes_in_per_second),
                kilo(stretch.bytes_in_per_second_with_headers)
            ),
        ),
        (
            "sent",
            format!(
                "{}, with headers {}",
                kilo(stretch.bytes_out_per_second),
                kilo(stretch.bytes_out_per_second_with_headers)
            ),
        ),
    ];
    if stretch.command_ms.max > 0 {
        lines.push(("commands", spread(&stretch.command_ms)));
    }
    if let Some(server) = &stretch.server {
        lines.push(("server process", cost(server)));
    }
    if let Some(own) = &stretch.own {
        let late = stretch.own_lateness_ms;
        lines.push((
            "own process",
            format!("{}; late by {} ms at most, 99 % within {}", cost(own), late.max, late.p99),
        ));
    }
    lines
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = &self.total;
        let row =
            |f: &mut fmt::Formatter<'_>, name: &str, value: &str| writeln!(f, "{name:<15} {value}");
        let server = format!(
            "{}, wire {}, {:.1} s, bots {}, seed {}",
            self.server_address, self.wire, total.seconds, self.behaviour, self.seed
        );
        row(f, "server", &server)?;
        for (way, shape) in [("way there", &self.uplink), ("way back", &self.downlink)] {
            if !shape.is_empty() {
                row(f, way, shape)?;
            }
        }
        for (name, value) in lines(total) {
            row(f, name, &value)?;
        }
        if self.queries.sent > 0 {
            let super::QuerySummary { sent, answered, bytes_in } = self.queries;
            row(f, "queries", &format!("{answered} of {sent} answered, {bytes_in} bytes"))?;
        }
        if self.stages.len() > 1 {
            for stage in &self.stages {
                let Stretch { bots, active, snapshot_gap_ms: gap, loss, server, .. } =
                    &stage.figures;
                let cost = server.map_or(String::new(), |cost| {
                    format!(", {:.3} ms CPU per client-second", cost.cpu_ms_per_client_second)
                });
                let verdict = if stage.broken.is_empty() { "" } else { ", BROKEN" };
                let text = format!(
                    "{active}/{bots} in the game, gap p99 {} max {} ms, loss {}{cost}{verdict}",
                    gap.p99,
                    gap.max,
                    percent(*loss)
                );
                row(f, &format!("stage of {bots}"), &text)?;
            }
        }
        self.list_bots(f)?;
        if self.own_process_was_late() {
            writeln!(
                f,
                "warning: the bots' own process was often late; the figures say more of it than of the server"
            )?;
        }
        for broken in &self.broken {
            writeln!(f, "not as expected: {broken}")?;
        }
        Ok(())
    }
}

impl Summary {
    fn list_bots(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let notable =
            self.each.iter().filter(|bot| bot.outcome != Outcome::Played || bot.faults > 0);
        for bot in notable.clone().take(MAX_LISTED) {
            let outcome = match bot.outcome {
                Outcome::Played => "fault",
                Outcome::Refused => "refused",
                Outcome::NeverJoined => "never joined",
                Outcome::Dropped => "dropped",
            };
            let reason = bot.reason.as_deref().unwrap_or("no answer");
            writeln!(f, "{:<15} {outcome}: {}", bot.name, escaped(reason.as_bytes()))?;
        }
        match notable.count().checked_sub(MAX_LISTED) {
            Some(more) if more > 0 => writeln!(f, "and {more} more"),
            _ => Ok(()),
        }
    }
}

//! The figures for people, in lines of 80 columns. Bots that fared as they should are not listed one by one.

use std::fmt;

use super::{CostSummary, Outcome, QuerySummary, Spread, Stretch, Summary};
use crate::model::text::escaped;

/// Bots with something to tell that are listed.
const MAX_LISTED: usize = 16;

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn kilo(bytes: f64) -> String {
    format!("{:.1} kB/s", bytes / 1000.0)
}

/// What a process cost; a second of a client is called by what it is to the process.
fn cost(cost: &CostSummary, second: &str) -> String {
    let CostSummary { cpu_ms, cpu_ms_per_client_second, memory_mb, .. } = cost;
    format!(
        "{:.2} s of CPU, {cpu_ms_per_client_second:.3} ms per {second}, {memory_mb:.1} MB",
        cpu_ms / 1000.0
    )
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    writeln!(f, "{name:<15} {value}")
}

/// How values lie, a line for each kind that there is.
fn spreads(f: &mut fmt::Formatter<'_>, stretch: &Stretch) -> fmt::Result {
    let steps = &stretch.join_steps_ms;
    let all = [
        ("time to join", stretch.join_ms),
        ("  challenge", steps.challenge),
        ("  connect", steps.connect),
        ("  gamestate", steps.gamestate),
        ("  snapshot", steps.first_snapshot),
        ("snapshot gap", stretch.snapshot_gap_ms),
        ("jitter", stretch.jitter_ms),
        ("ping", stretch.ping_ms),
        ("commands", stretch.command_ms),
    ];
    if all.iter().all(|(_, spread)| spread.count == 0) {
        return Ok(());
    }
    let names = ["mean", "p50", "p90", "p99", "worst"].map(|name| format!("{name:>8}"));
    row(f, "milliseconds", &names.concat())?;
    for (name, spread) in all.iter().filter(|(_, spread)| spread.count > 0) {
        let Spread { mean, p50, p90, p99, max, .. } = spread;
        row(f, name, &format!("{mean:8.1}{p50:8}{p90:8}{p99:8}{max:8}"))?;
    }
    Ok(())
}

/// The other figures of a stretch.
fn counts(f: &mut fmt::Formatter<'_>, stretch: &Stretch) -> fmt::Result {
    row(
        f,
        "snapshots",
        &format!(
            "{:.1}/s each, {} in all, {:.1} % deltas, {} discarded",
            stretch.snapshots_per_second,
            stretch.snapshots,
            stretch.delta_share * 100.0,
            stretch.discarded_snapshots
        ),
    )?;
    row(
        f,
        "lost",
        &format!(
            "{} of the messages; {} late, {} held back by rate",
            percent(stretch.loss),
            percent(stretch.late),
            percent(stretch.rate_delayed)
        ),
    )?;
    row(
        f,
        "bytes/snapshot",
        &format!(
            "{:.1}, with headers {:.1}",
            stretch.bytes_per_snapshot, stretch.bytes_per_snapshot_with_headers
        ),
    )?;
    for (name, plain, whole) in [
        ("received", stretch.bytes_in_per_second, stretch.bytes_in_per_second_with_headers),
        ("sent", stretch.bytes_out_per_second, stretch.bytes_out_per_second_with_headers),
    ] {
        row(f, name, &format!("{}, with headers {}", kilo(plain), kilo(whole)))?;
    }
    Ok(())
}

fn costs(f: &mut fmt::Formatter<'_>, stretch: &Stretch) -> fmt::Result {
    if let Some(server) = &stretch.server {
        row(f, "server process", &cost(server, "client-second"))?;
    }
    if let Some(own) = &stretch.own {
        let late = stretch.own_lateness_ms;
        row(f, "own process", &cost(own, "bot-second"))?;
        let each = own.memory_kb_per_bot;
        row(
            f,
            "",
            &format!("{each:.0} kB more per bot; late by {} ms, p99 {} ms", late.max, late.p99),
        )?;
    }
    Ok(())
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = &self.total;
        row(f, "server", &format!("{}, wire {}", self.server_address, self.wire))?;
        for (way, shape) in [("way there", &self.uplink), ("way back", &self.downlink)] {
            if !shape.is_empty() {
                row(f, way, shape)?;
            }
        }
        let Stretch { active, bots, refused, dropped, faults, seconds, .. } = total;
        row(f, "bots", &format!("{}; {seconds:.1} s, seed {}", self.behaviour, self.seed))?;
        let fared = format!(
            "{active} of {bots} in the game, {refused} refused, {dropped} dropped, {faults} faults"
        );
        row(f, "", &fared)?;
        let Stretch { walked_per_second, scored, .. } = total;
        row(f, "", &format!("walked {walked_per_second:.0} units/s each, scored {scored} in all"))?;
        spreads(f, total)?;
        if total.snapshots > 0 {
            counts(f, total)?;
        }
        costs(f, total)?;
        if self.queries.sent > 0 {
            let QuerySummary { sent, answered, bytes_in } = self.queries;
            row(f, "queries", &format!("{answered} of {sent} answered, {bytes_in} bytes"))?;
        }
        self.list_stages(f)?;
        self.list_bots(f)?;
        for broken in &self.broken {
            row(f, "broken", broken)?;
        }
        row(f, "verdict", &self.sentence)?;
        if self.own_process_was_late() {
            let late = total.own_lateness_ms.p99;
            row(
                f,
                "warning",
                &format!("the bots themselves ran late (p99 {late} ms): this machine is too busy"),
            )?;
            row(f, "", "for them, and the figures tell more of it than of the server")?;
        }
        Ok(())
    }
}

impl Summary {
    fn list_stages(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stages.len() < 2 {
            return Ok(());
        }
        row(f, "stages", "  in game   gap p99     worst      lost    CPU ms/s      MB")?;
        for stage in &self.stages {
            let Stretch { bots, active, snapshot_gap_ms: gap, loss, server, .. } = &stage.figures;
            let (cpu, memory) = server.map_or(("-".to_owned(), "-".to_owned()), |cost| {
                let each = cost.cpu_ms_per_client_second;
                (format!("{each:.3}"), format!("{:.1}", cost.memory_mb))
            });
            let verdict = if stage.broken.is_empty() { "" } else { "  broken" };
            let text = format!(
                "{active:9}{:10}{:10}{:>10}{cpu:>12}{memory:>8}{verdict}",
                gap.p99,
                gap.max,
                percent(*loss)
            );
            row(f, &format!("  {bots} bots"), &text)?;
        }
        Ok(())
    }

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
            let shared = if bot.reason_is_shared { " (told to another bot)" } else { "" };
            row(f, &bot.name, &format!("{outcome}: {}{shared}", escaped(reason.as_bytes())))?;
        }
        match notable.count().checked_sub(MAX_LISTED) {
            Some(more) if more > 0 => writeln!(f, "and {more} more"),
            _ => Ok(()),
        }
    }
}

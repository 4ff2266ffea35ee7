//! Text form of the summary, 80 columns wide.
//!
//! Bots that played without an error are not listed.

use std::fmt;

use super::{BotOutcome, IntervalStats, Percentiles, QuerySummary, ResourceSummary, Summary};
use crate::model::text::escaped;

/// Maximum listed bots.
const MAX_LISTED: usize = 16;

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

fn kilo(bytes: f64) -> String {
    format!("{:.1} kB/s", bytes / 1000.0)
}

/// Formats the resources of a process. `second` names the unit of the CPU time.
fn cost(cost: &ResourceSummary, second: &str) -> String {
    let ResourceSummary { cpu_ms, cpu_ms_per_client_second, memory_mb, .. } = cost;
    format!(
        "{:.2} s of CPU, {cpu_ms_per_client_second:.3} ms per {second}, {memory_mb:.1} MB",
        cpu_ms / 1000.0
    )
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    writeln!(f, "{name:<15} {value}")
}

/// Writes one row for each distribution with values.
fn percentile_rows(f: &mut fmt::Formatter<'_>, interval: &IntervalStats) -> fmt::Result {
    let steps = &interval.join_steps_ms;
    let all = [
        ("time to join", interval.join_ms),
        ("  challenge", steps.challenge),
        ("  connect", steps.connect),
        ("  gamestate", steps.gamestate),
        ("  snapshot", steps.first_snapshot),
        ("snapshot gap", interval.snapshot_gap_ms),
        ("jitter", interval.jitter_ms),
        ("ping", interval.ping_ms),
        ("commands", interval.command_ms),
    ];
    if all.iter().all(|(_, percentiles)| percentiles.count == 0) {
        return Ok(());
    }
    let names = ["mean", "p50", "p90", "p99", "max"].map(|name| format!("{name:>8}"));
    row(f, "milliseconds", &names.concat())?;
    for (name, percentiles) in all.iter().filter(|(_, percentiles)| percentiles.count > 0) {
        let Percentiles { mean, p50, p90, p99, max, .. } = percentiles;
        row(f, name, &format!("{mean:8.1}{p50:8}{p90:8}{p99:8}{max:8}"))?;
    }
    Ok(())
}

/// Writes the counters and rates of an interval.
fn counts(f: &mut fmt::Formatter<'_>, interval: &IntervalStats) -> fmt::Result {
    row(
        f,
        "snapshots",
        &format!(
            "{:.1}/s each, {} in total, {:.1}% deltas, {} discarded",
            interval.snapshots_per_second,
            interval.snapshots,
            interval.delta_share * 100.0,
            interval.discarded_snapshots
        ),
    )?;
    row(
        f,
        "lost",
        &format!(
            "{} of messages; {} late, {} rate delayed",
            percent(interval.loss),
            percent(interval.late),
            percent(interval.rate_delayed)
        ),
    )?;
    row(
        f,
        "bytes/snapshot",
        &format!(
            "{:.1}, with headers {:.1}",
            interval.bytes_per_snapshot, interval.bytes_per_snapshot_with_headers
        ),
    )?;
    for (name, plain, whole) in [
        ("received", interval.bytes_in_per_second, interval.bytes_in_per_second_with_headers),
        ("sent", interval.bytes_out_per_second, interval.bytes_out_per_second_with_headers),
    ] {
        row(f, name, &format!("{}, with headers {}", kilo(plain), kilo(whole)))?;
    }
    Ok(())
}

fn costs(f: &mut fmt::Formatter<'_>, interval: &IntervalStats) -> fmt::Result {
    if let Some(server) = &interval.server {
        row(f, "server process", &cost(server, "client-second"))?;
    }
    if let Some(own) = &interval.own {
        let late = interval.loop_lateness_ms;
        row(f, "load generator", &cost(own, "bot-second"))?;
        let each = own.memory_kb_per_bot;
        row(
            f,
            "",
            &format!(
                "{each:.0} kB more per bot; lateness max {} ms, p99 {} ms",
                late.max, late.p99
            ),
        )?;
    }
    Ok(())
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = &self.total;
        row(f, "server", &format!("{}, protocol {}", self.server_address, self.protocol))?;
        for (way, shape) in [("uplink", &self.uplink), ("downlink", &self.downlink)] {
            if !shape.is_empty() {
                row(f, way, shape)?;
            }
        }
        let IntervalStats { active, bots, refused, dropped, protocol_errors, seconds, .. } = total;
        row(f, "bots", &format!("{}; {seconds:.1} s, seed {}", self.behavior, self.seed))?;
        let fared = format!(
            "{active} of {bots} in the game, {refused} refused, {dropped} dropped, {protocol_errors} protocol errors"
        );
        row(f, "", &fared)?;
        let IntervalStats { walked_per_second, scored, .. } = total;
        row(
            f,
            "",
            &format!("walked {walked_per_second:.0} units/s each, scored {scored} in total"),
        )?;
        percentile_rows(f, total)?;
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
        for failed in &self.failed_expectations {
            row(f, "failed", failed)?;
        }
        row(f, "verdict", &self.sentence)?;
        if self.own_process_was_late() {
            let late = total.loop_lateness_ms.p99;
            row(
                f,
                "warning",
                &format!(
                    "load generator overloaded (p99 lateness {late} ms): results are unreliable"
                ),
            )?;
        }
        Ok(())
    }
}

impl Summary {
    fn list_stages(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stages.len() < 2 {
            return Ok(());
        }
        row(f, "stages", "  in game   gap p99   gap max      lost    CPU ms/s      MB")?;
        for stage in &self.stages {
            let IntervalStats { bots, active, snapshot_gap_ms: gap, loss, server, .. } =
                &stage.total;
            let (cpu, memory) = server.map_or(("-".to_owned(), "-".to_owned()), |cost| {
                let each = cost.cpu_ms_per_client_second;
                (format!("{each:.3}"), format!("{:.1}", cost.memory_mb))
            });
            let verdict = if stage.failed_expectations.is_empty() { "" } else { "  failed" };
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
        let notable = self
            .each
            .iter()
            .filter(|bot| bot.outcome != BotOutcome::Played || bot.protocol_errors > 0);
        for bot in notable.clone().take(MAX_LISTED) {
            let outcome = match bot.outcome {
                BotOutcome::Played => "protocol error",
                BotOutcome::Refused => "refused",
                BotOutcome::NeverJoined => "never joined",
                BotOutcome::Dropped => "dropped",
            };
            let reason = bot.reason.as_deref().unwrap_or("no answer");
            let shared = if bot.reason_is_shared { " (reported to another bot)" } else { "" };
            row(f, &bot.name, &format!("{outcome}: {}{shared}", escaped(reason.as_bytes())))?;
        }
        match notable.count().checked_sub(MAX_LISTED) {
            Some(more) if more > 0 => writeln!(f, "and {more} more"),
            _ => Ok(()),
        }
    }
}

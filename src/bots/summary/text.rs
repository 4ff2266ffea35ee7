//! Text form of the summary.
//!
//! Bots that played without an error are not listed.

use std::fmt;

use super::{
    BotOutcome, BotSummary, IntervalStats, Percentiles, ProtocolSummary, QuerySummary,
    ResourceSummary, Summary,
};
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
    let rows = interval.distributions();
    if rows.iter().all(|(_, percentiles)| percentiles.count == 0) {
        return Ok(());
    }
    let names = Percentiles::STATISTICS.map(|(name, _)| format!("{name:>8}"));
    row(f, "milliseconds", &names.concat())?;
    for (name, percentiles) in rows.iter().filter(|(_, percentiles)| percentiles.count > 0) {
        let values = Percentiles::STATISTICS.map(|(name, value)| {
            let decimals = usize::from(name == "mean");
            format!("{:8.decimals$}", value(percentiles))
        });
        row(f, name, &values.concat())?;
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
        "stalls",
        &format!(
            "{} of the time without a snapshot, at most {} ms of one bot",
            percent(interval.time_without_snapshot),
            interval.time_without_snapshot_max_ms
        ),
    )?;
    if let Some(levels) = interval.levels() {
        row(f, "levels", &levels)?;
    }
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
        row(f, "load generator", &cost(own, "bot-second"))?;
        let each = own.memory_kb_per_bot;
        row(f, "", &format!("{each:.0} kB more per bot"))?;
    }
    Ok(())
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = &self.total;
        self.header(f)?;
        for (way, shape) in [("uplink", &self.uplink), ("downlink", &self.downlink)] {
            if !shape.is_empty() {
                row(f, way, shape)?;
            }
        }
        let IntervalStats { active, bots, refused, dropped, protocol_errors, seconds, .. } = total;
        let outside = match total.connected.saturating_sub(*active) {
            0 => String::new(),
            outside => format!("{outside} accepted without entering it, "),
        };
        row(f, "bots", &format!("{}; {seconds:.1} s, seed {}", self.behavior, self.seed))?;
        let fared = format!(
            "{active} of {bots} in the game, {outside}{refused} refused, {dropped} dropped, {protocol_errors} protocol errors"
        );
        row(f, "", &fared)?;
        let IntervalStats { walked_per_second, scored, .. } = total;
        row(
            f,
            "",
            &format!("walked {walked_per_second:.0} units/s each, scored {scored} in total"),
        )?;
        self.quakeworld_rows(f)?;
        percentile_rows(f, total)?;
        if total.snapshots > 0 {
            counts(f, total)?;
        }
        costs(f, total)?;
        if self.queries.sent > 0 {
            let QuerySummary { sent, answered, bytes_in } = self.queries;
            row(f, "queries", &format!("{answered} of {sent} answered, {bytes_in} bytes"))?;
        }
        self.list_protocols(f)?;
        self.list_stages(f)?;
        self.list_bots(f)?;
        self.list_expectations(f)?;
        if let Some(capacity) = self.capacity_text() {
            row(f, "capacity", &capacity)?;
        }
        row(f, "verdict", &self.sentence)?;
        if self.own_process_was_late() {
            let late = total.loop_lateness_ms.p99;
            row(
                f,
                "warning",
                &format!(
                    "load generator late (p99 {late} ms): gaps and pings may be too long by as much"
                ),
            )?;
        }
        Ok(())
    }
}

impl Summary {
    /// Writes what only bots of QuakeWorld measure: predictions and numbered chat lines.
    fn quakeworld_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |of: fn(&BotSummary) -> u64| self.each.iter().map(of).sum::<u64>();
        let [predicted, missed] = [sum(|bot| bot.predicted), sum(|bot| bot.mispredicted)];
        if predicted > 0 {
            let text = format!("{missed} of {predicted} answers at another place than predicted");
            row(f, "", &text)?;
        }
        let [received, missing, repeated] = [
            sum(|bot| bot.chat_received),
            sum(|bot| bot.chat_missing),
            sum(|bot| bot.chat_repeated),
        ];
        if received > 0 {
            let text =
                format!("{received} chat lines received, {missing} missing, {repeated} repeated");
            row(f, "", &text)?;
        }
        Ok(())
    }

    /// Writes program, time, machine, servers and options.
    fn header(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.run.version.is_empty() {
            row(f, "fragd", &format!("{}, started {}", self.run.version, self.started))?;
            row(f, "machine", &self.run.machine.describe())?;
            row(f, "options", &self.run.options)?;
        }
        row(f, "server", &format!("{}, protocol {}", self.server_address, self.protocol))?;
        for server in self.servers.iter().filter(|server| !server.name.is_empty()).take(MAX_LISTED)
        {
            row(f, "", &server.describe())?;
        }
        Ok(())
    }

    /// Returns the capacity as a phrase; `None` for a test of one stage.
    pub(in crate::bots) fn capacity_text(&self) -> Option<String> {
        let capacity = self.capacity?;
        Some(match (capacity, self.is_capacity_limit) {
            (0, true) => "below the smallest stage".to_owned(),
            (0, false) => "unknown: no stage was measured to its end".to_owned(),
            (bots, true) => format!("{bots} bots: the next stage failed"),
            (bots, false) => format!("at least {bots} bots: no larger stage failed by the server"),
        })
    }

    /// Writes the expectations of the stage that failed first, or of the last one.
    fn list_expectations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.stages.iter().find(|stage| !stage.passed);
        let Some(stage) = failed.or(self.stages.last()) else { return Ok(()) };
        let title = match self.stages.len() {
            1 => "expected".to_owned(),
            _ => format!("stage of {}", stage.total.bots),
        };
        row(f, &title, &format!("{:<28}{:>14}{:>16}", "metric", "limit", "value"))?;
        for result in &stage.expectations {
            let verdict = if result.passed { "passed" } else { "FAILED" };
            let default = if result.is_default { " (default)" } else { "" };
            let (allowed, measured) = (result.allowed(), result.measured());
            let text =
                format!("{:<28}{allowed:>14}{measured:>16}  {verdict}{default}", result.metric);
            row(f, "", &text)?;
        }
        Ok(())
    }

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
            let verdict = match (stage.passed, stage.is_interrupted) {
                (true, _) => "",
                (false, true) => "  interrupted",
                (false, false) => "  failed",
            };
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

    fn list_protocols(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.protocols.is_empty() {
            return Ok(());
        }
        let names = ProtocolSummary::COLUMNS.map(|name| format!("{name:>11}"));
        row(f, "protocols", &names.concat())?;
        for protocol in &self.protocols {
            let values = protocol.columns().map(|value| format!("{value:>11}"));
            row(f, &format!("  {}", protocol.protocol), &values.concat())?;
        }
        Ok(())
    }

    fn list_bots(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let notable =
            self.each.iter().filter(|bot| !bot.outcome.is_success() || bot.protocol_errors > 0);
        for bot in notable.clone().take(MAX_LISTED) {
            let outcome = match bot.outcome {
                BotOutcome::Played | BotOutcome::Connected => "protocol error",
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

//! Verdict of a load test: word, cause, exit code and sentence.
//!
//! The earliest failure decides: a bot without an answer cannot be dropped. A late load generator comes before
//! what its lateness can cause: lost bots, long gaps and pings.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

use serde::Serialize;

use super::{
    expect::{ExpectationResult, presence},
    remedy::RefusedBots,
    summary::{BotOutcome, BotSummary, IntervalStats, StageSummary},
};
use crate::model::{Millis, text::escaped};

/// Result of a load test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All expectations hold.
    #[default]
    Passed,
    /// Bots played, but an expectation failed.
    Failed,
    /// Bots got no answer.
    NoAnswer,
    /// The server refused bots.
    Refused,
    /// The server dropped bots or was lost.
    Lost,
    /// The server sent invalid data.
    Unreadable,
    /// The load generator was late, so that the measurements are unreliable.
    GeneratorLate,
    /// The operator stopped the run.
    Interrupted,
}

impl Verdict {
    /// Verdicts with their exit codes and meanings, for help and documentation.
    pub const EXIT_CODES: [(Self, u8, &'static str); 8] = [
        (Self::Passed, 0, "passed"),
        (Self::Failed, 1, "expectation failed"),
        (Self::NoAnswer, 3, "no answer: one or more bots did not join"),
        (Self::Refused, 4, "refused: the server refused one or more bots"),
        (Self::Lost, 5, "dropped: the server dropped bots or stopped"),
        (Self::Unreadable, 6, "protocol error, or not a Quake III server"),
        (Self::GeneratorLate, 7, "load generator too late for reliable results"),
        (Self::Interrupted, 8, "interrupted by a signal"),
    ];

    /// Exit code of the program.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        Self::EXIT_CODES.iter().find(|(verdict, ..)| *verdict == self).map_or(1, |row| row.1)
    }
}

/// Cause of a verdict other than [`Verdict::Passed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// An expectation of `--expect`, or the default limit of the snapshot gaps.
    Expectation,
    /// No bot got an answer.
    NoAnswer,
    /// Bots got no answer, others joined.
    NotJoined,
    /// The server refused bots.
    Refused,
    /// The server dropped bots.
    Dropped,
    /// The server fell silent, so that bots timed out.
    Silent,
    /// The server sent invalid data.
    ProtocolError,
    /// The server does not speak the protocol.
    NotAServer,
    /// The load generator was late.
    GeneratorLateness,
    /// The operator stopped the run.
    Interrupted,
}

impl Cause {
    fn verdict(self) -> Verdict {
        match self {
            Self::Expectation => Verdict::Failed,
            Self::NoAnswer | Self::NotJoined => Verdict::NoAnswer,
            Self::Refused => Verdict::Refused,
            Self::Dropped | Self::Silent => Verdict::Lost,
            Self::ProtocolError | Self::NotAServer => Verdict::Unreadable,
            Self::GeneratorLateness => Verdict::GeneratorLate,
            Self::Interrupted => Verdict::Interrupted,
        }
    }
}

/// Verdict with its cause and sentence.
pub(super) struct Judgment {
    pub(super) verdict: Verdict,
    pub(super) cause: Option<Cause>,
    pub(super) sentence: String,
}

/// Time after which a bot that has not joined counts as missing in an interrupted run.
const JOIN_TIME: Millis = Millis(1500);
/// Silence of a server that explains why no bot has entered the game.
const LONG_SILENCE: Millis = Millis::seconds(3);
/// Metrics that are measured all the time, as the lateness of the generator is.
const CONTINUOUS: [&str; 4] = ["snapshot_gap_", "ping_", "jitter_", "commands_"];

/// Input of the verdict.
pub(super) struct VerdictInput<'a> {
    pub(super) server: &'a str,
    /// Server with the longest silence, of several.
    pub(super) silent_server: Option<SocketAddr>,
    pub(super) total: &'a IntervalStats,
    pub(super) each: &'a [BotSummary],
    /// Stages with their expectations.
    pub(super) stages: &'a [StageSummary],
    /// Whether the bots are expected to enter the game.
    pub(super) enters: bool,
    /// Whether the bots use QuakeWorld's protocol.
    pub(super) is_quakeworld: bool,
    /// Whether the bots are spectators.
    pub(super) spectate: bool,
    /// Played and planned time, if the operator stopped the run.
    pub(super) interrupted: Option<[Millis; 2]>,
}

impl VerdictInput<'_> {
    /// Returns the verdict and its sentence.
    pub(super) fn evaluate(&self) -> Judgment {
        let found = self.failure();
        if let Some([played, planned]) = self.interrupted {
            let [played, planned] = [played, planned].map(|time| time.0 as f64 / 1000.0);
            let until =
                found.map_or(String::new(), |(_, sentence)| format!("; until then: {sentence}"));
            let sentence = format!(
                "interrupted after {played:.1} of {planned:.0} s: the figures are partial{until}"
            );
            let cause = Some(Cause::Interrupted);
            return Judgment { verdict: Verdict::Interrupted, cause, sentence };
        }
        match found {
            Some((cause, sentence)) => {
                Judgment { verdict: cause.verdict(), cause: Some(cause), sentence }
            }
            None => Judgment {
                verdict: Verdict::Passed,
                cause: None,
                sentence: match self.enters {
                    true => {
                        format!("passed: {} of {} bots played", self.total.active, self.each.len())
                    }
                    false => format!(
                        "passed: the server accepted {} of {} bots, which stayed out of the game",
                        self.total.connected,
                        self.each.len()
                    ),
                },
            },
        }
    }

    /// Name of the servers' family.
    const fn family(&self) -> &'static str {
        if self.is_quakeworld { "QuakeWorld" } else { "Quake III" }
    }

    /// Returns the failed expectations of all stages.
    fn failed(&self) -> impl Iterator<Item = &ExpectationResult> {
        self.stages.iter().flat_map(|stage| &stage.expectations).filter(|one| !one.passed)
    }

    /// Returns the failed default expectation of a metric.
    fn failed_default(&self, metric: &str) -> Option<&ExpectationResult> {
        self.failed().find(|one| one.is_default && one.metric == metric)
    }

    /// Returns the earliest failure: its cause and a sentence.
    fn failure(&self) -> Option<(Cause, String)> {
        let presence = presence(self.enters);
        if self.failed_default("protocol_errors").is_some() {
            let has_errors = |bot: &BotSummary| bot.protocol_errors > 0;
            let (server, reason) = (self.servers_of(has_errors), self.reason(has_errors));
            return Some((Cause::ProtocolError, format!("{server} sent invalid data: {reason}")));
        }
        let are_missing = self.failed_default(presence).is_some() && !self.is_still_joining();
        if are_missing && self.present() == 0 {
            return Some(self.no_bot_entered());
        }
        let is_refused = |bot: &BotSummary| bot.outcome == BotOutcome::Refused;
        if are_missing && self.each.iter().any(is_refused) {
            let ((refused, all), reason) = (self.share_of(is_refused), self.refusal(is_refused));
            let (server, more) = (self.servers_of(is_refused), self.silent_servers());
            let sentence = format!("{server} refused {refused} of {all} bots: {reason}{more}");
            return Some((Cause::Refused, sentence));
        }
        if let Some(late) = self.failed().find(|one| one.metric.starts_with("lateness_")) {
            let by_server = |one: &&ExpectationResult| self.exceeds_lateness(one);
            return Some(match self.failed().find(by_server).filter(|_| !are_missing) {
                Some(failed) => (Cause::Expectation, self.failed_beside_lateness(failed, late)),
                None => (Cause::GeneratorLateness, self.generator_was_late(late)),
            });
        }
        if self.has_lost_bots() {
            let is_dropped = |bot: &BotSummary| bot.outcome == BotOutcome::Dropped;
            let ((dropped, all), reason) = (self.share_of(is_dropped), self.reason(is_dropped));
            let (server, more) = (self.servers_of(is_dropped), self.silent_servers());
            if self.each.iter().filter(|bot| is_dropped(bot)).all(|bot| bot.timed_out) {
                let sentence =
                    format!("no message from {server}: {dropped} of {all} bots timed out{more}");
                return Some((Cause::Silent, sentence));
            }
            let sentence = format!("{server} dropped {dropped} of {all} bots: {reason}{more}");
            return Some((Cause::Dropped, sentence));
        }
        // A server that never answers is silent for the whole test, which the missing bots say already.
        let hides_silence = are_missing || !self.silent_servers().is_empty();
        let says_missing =
            |metric: &str| metric == presence || (hides_silence && metric == "server_silence_max");
        let mut failed: Vec<_> =
            self.failed().filter(|one| !(one.is_default && says_missing(&one.metric))).collect();
        // A failure that the generator cannot have caused decides.
        failed.sort_by_key(|one| self.lateness_behind(one).is_some());
        if let Some(&first) = failed.first() {
            if let Some(late_ms) = self.lateness_behind(first) {
                return Some((Cause::GeneratorLateness, self.generator_delayed(first, late_ms)));
            }
            let more = match failed.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            let mut sentence = format!("failed: {}{more}", self.in_stage(first));
            sentence.push_str(&self.server_behind(first));
            // A limit of the bots does not name the server that they are missing on.
            if failed.iter().any(|one| one.metric == presence) || are_missing {
                let missing = self.missing_bots().map(|missing| format!("; {missing}"));
                sentence.push_str(&missing.unwrap_or_default());
            }
            return Some((Cause::Expectation, sentence));
        }
        let missing = self.missing_bots().filter(|_| are_missing)?;
        Some((Cause::NotJoined, missing))
    }

    /// Number of bots that did what they were to do: entered the game, or were accepted.
    fn present(&self) -> usize {
        if self.enters { self.total.active } else { self.total.connected }
    }

    fn is_missing(&self, bot: &BotSummary) -> bool {
        match self.enters {
            true => bot.join_ms.is_none(),
            false => bot.outcome != BotOutcome::Connected,
        }
    }

    /// Returns the bots that did not join, with their servers and the reason; `None` without any.
    fn missing_bots(&self) -> Option<String> {
        let is_missing = |bot: &BotSummary| self.is_missing(bot);
        if !self.each.iter().any(is_missing) {
            return None;
        }
        let server = self.servers_of(is_missing);
        let ((missing, all), reason) = (self.share_of(is_missing), self.reason(is_missing));
        let family = self.family();
        let bots = self.each.iter().filter(|bot| is_missing(bot));
        Some(match heard_and_unreadable(bots) {
            (0, _) => format!("{server} does not answer: {missing} of {all} bots did not join"),
            (heard, unreadable) if unreadable > heard / 2 => format!(
                "{server} is not a {family} server: {unreadable} of {heard} datagrams are invalid"
            ),
            _ => format!("{server}: {missing} of {all} bots did not join: {reason}"),
        })
    }

    /// Returns the servers that no bot has heard from, as the end of a sentence; empty without any.
    fn silent_servers(&self) -> String {
        let heard: BTreeSet<&str> = self
            .each
            .iter()
            .filter(|bot| bot.datagrams_received > 0)
            .map(|bot| bot.server.as_str())
            .collect();
        let is_silent = |bot: &BotSummary| !heard.contains(bot.server.as_str());
        match self.each.iter().any(is_silent) {
            true => format!("; {} does not answer", self.servers_of(is_silent)),
            false => String::new(),
        }
    }

    /// Whether the operator stopped the run while the missing bots had hardly begun to join.
    fn is_still_joining(&self) -> bool {
        let has_waited = |bot: &BotSummary| self.is_missing(bot) && bot.joining_for >= JOIN_TIME;
        self.interrupted.is_some() && !self.each.iter().any(has_waited)
    }

    /// Returns the server that a failed limit of gaps or silence is about, as the end of a sentence.
    ///
    /// It is empty with one server.
    fn server_behind(&self, failed: &ExpectationResult) -> String {
        let Some(silent) = self.silent_server else { return String::new() };
        if failed.metric == "server_silence_max" {
            return format!("; longest silence of {silent}");
        }
        let families = ["snapshot_gap_", "time_without_"];
        let is_gap = families.iter().any(|family| failed.metric.starts_with(family));
        match self.each.iter().filter(|_| is_gap).max_by_key(|bot| bot.worst_gap_ms) {
            Some(bot) => format!("; longest gap {}ms on {}", bot.worst_gap_ms, bot.server),
            None => String::new(),
        }
    }

    /// Returns the servers of the selected bots.
    fn servers_of(&self, selects: impl Fn(&BotSummary) -> bool) -> String {
        let mut servers: Vec<&str> = Vec::new();
        for bot in self.each.iter().filter(|bot| selects(bot)) {
            if !servers.contains(&bot.server.as_str()) {
                servers.push(&bot.server);
            }
        }
        if servers.is_empty() { self.server.to_owned() } else { servers.join(", ") }
    }

    /// Returns the numbers of the selected bots and of all bots of their servers.
    fn share_of(&self, selects: impl Fn(&BotSummary) -> bool) -> (usize, usize) {
        let servers: BTreeSet<&str> =
            self.each.iter().filter(|bot| selects(bot)).map(|bot| bot.server.as_str()).collect();
        let selected = self.each.iter().filter(|bot| selects(bot)).count();
        let all = self.each.iter().filter(|bot| servers.contains(bot.server.as_str())).count();
        (selected, all)
    }

    /// Whether the server dropped bots or has fallen silent, and no expectation allows that.
    ///
    /// Bots of a silent server count as dropped when the test ends, which is after a stage that fails.
    fn has_lost_bots(&self) -> bool {
        let mut all = self.stages.iter().flat_map(|stage| &stage.expectations);
        let has_limit = all.any(|one| one.is_default && one.metric == "drops");
        self.failed_default("drops").is_some()
            || (has_limit && self.total.dropped > 0 && self.failed().next().is_some())
    }

    /// Returns the lateness of the generator in the stage, if it explains a time above its limit.
    ///
    /// It does if it is at least half of the measured time. The silence of a server is measured without it.
    fn lateness_behind(&self, result: &ExpectationResult) -> Option<u64> {
        let stage = &self.stages.get(result.stage.checked_sub(1)?)?.total;
        let value = match result.metric.as_str() {
            "server_silence_max" => return None,
            "time_without_snapshot" => stage.time_without_snapshot_max_ms as f64,
            metric if result.unit == "ms" && !metric.contains("cpu") => result.value?,
            _ => return None,
        };
        let late = &stage.loop_lateness_ms;
        let is_continuous = CONTINUOUS.iter().any(|family| result.metric.starts_with(family));
        // Of each percentile the next one: both are not measured at the same times.
        let late_ms = match result.metric.rsplit('_').next().filter(|_| is_continuous) {
            Some("p50") => late.p90,
            Some("p90") => late.p95,
            Some("p95") => late.p99,
            Some("p99") => late.p99_9,
            _ => late.max,
        };
        let is_above = result.value? >= result.limit;
        (is_above && late_ms > 0 && late_ms as f64 * 2.0 >= value).then_some(late_ms)
    }

    /// Whether a time is above its limit by more than the lateness of the generator explains.
    fn exceeds_lateness(&self, result: &ExpectationResult) -> bool {
        let is_time = result.unit == "ms" && !result.metric.contains("cpu");
        is_time
            && !result.metric.starts_with("lateness_")
            && result.value.is_some_and(|value| value >= result.limit)
            && self.lateness_behind(result).is_none()
    }

    fn failed_beside_lateness(
        &self,
        failed: &ExpectationResult,
        late: &ExpectationResult,
    ) -> String {
        let (failure, server) = (self.in_stage(failed), self.server_behind(failed));
        format!(
            "failed: {failure}{server}; the load generator was late, too, but by less: {}",
            self.in_stage(late)
        )
    }

    fn generator_delayed(&self, result: &ExpectationResult, late_ms: u64) -> String {
        format!(
            "load generator was late by up to {late_ms}ms, at least half of a failed limit: {}: results are unreliable (free the processor or use fewer bots)",
            self.in_stage(result)
        )
    }

    /// Returns a result, with its stage if there are several.
    fn in_stage(&self, result: &ExpectationResult) -> String {
        match self.stages {
            [_, _, ..] => {
                let bots = self.stages.get(result.stage.saturating_sub(1));
                let bots = bots.map_or(0, |stage| stage.total.bots);
                format!("stage {} ({bots} bots): {result}", result.stage)
            }
            _ => result.to_string(),
        }
    }

    fn generator_was_late(&self, late: &ExpectationResult) -> String {
        let others = self.failed().filter(|one| !one.metric.starts_with("lateness_")).count();
        let also = match others {
            0 => String::new(),
            1 => "; another expectation failed, perhaps for this reason".to_owned(),
            others => format!("; {others} other expectations failed, perhaps for this reason"),
        };
        format!(
            "load generator was late: {}: results are unreliable (free the processor or use fewer bots){also}",
            self.in_stage(late)
        )
    }

    fn no_bot_entered(&self) -> (Cause, String) {
        let Self { server, total, each, .. } = self;
        if total.refused > 0 {
            let is_refused = |bot: &BotSummary| bot.outcome == BotOutcome::Refused;
            let (server, reason) = (self.servers_of(is_refused), self.refusal(is_refused));
            let share = match self.share_of(is_refused) {
                (refused, all) if refused == all => format!("all {all}"),
                (refused, all) => format!("{refused} of {all}"),
            };
            let more = self.silent_servers();
            return (Cause::Refused, format!("{server} refused {share} bots: {reason}{more}"));
        }
        let (received, unreadable) = heard_and_unreadable(each.iter());
        let family = self.family();
        if unreadable > received / 2 {
            let sentence = format!(
                "{server} is not a {family} server: {unreadable} of {received} datagrams are invalid"
            );
            return (Cause::NotAServer, sentence);
        }
        if total.dropped > 0 {
            let reason = self.reason(|bot| bot.outcome == BotOutcome::Dropped);
            return (
                Cause::Dropped,
                format!("{server} accepted bots, but none entered the game: {reason}"),
            );
        }
        let silence = total.server_silence_max_ms;
        let sentence = match received {
            0 => format!("{server} does not answer"),
            _ if silence >= LONG_SILENCE.0 => format!(
                "{server} was silent for {:.1} s: no bot entered the game",
                silence as f64 / 1000.0
            ),
            _ => format!("{server} stopped answering: no bot entered the game"),
        };
        (Cause::NoAnswer, sentence)
    }

    /// Returns the most frequent reason of the selected bots, and its remedy.
    fn refusal(&self, selects: impl Fn(&BotSummary) -> bool + Copy) -> String {
        let Self { is_quakeworld, spectate, .. } = *self;
        let count = self.share_of(selects).0;
        RefusedBots { count, is_quakeworld, spectate }.with_remedy(&self.reason(selects))
    }

    /// Returns the most frequent reason of the selected bots.
    fn reason(&self, selects: impl Fn(&BotSummary) -> bool) -> String {
        let mut counts = BTreeMap::new();
        for bot in self.each.iter().filter(|bot| selects(bot)) {
            *counts.entry(bot.reason.as_deref().unwrap_or("no answer")).or_insert(0) += 1;
        }
        let most = counts.iter().max_by_key(|(_, count)| **count).map_or("", |(reason, _)| reason);
        escaped(most.as_bytes()).to_string()
    }
}

/// Returns the datagrams that bots have received, and those that no Quake III server sends.
fn heard_and_unreadable<'a>(bots: impl Iterator<Item = &'a BotSummary>) -> (u64, u64) {
    bots.fold((0, 0), |(heard, unreadable), bot| {
        (heard + bot.datagrams_received, unreadable + bot.unreadable)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_unique_and_complete() {
        let mut codes: Vec<_> = Verdict::EXIT_CODES.iter().map(|row| row.1).collect();
        assert_eq!(codes, [0, 1, 3, 4, 5, 6, 7, 8]);
        codes.dedup();
        assert_eq!(codes.len(), Verdict::EXIT_CODES.len());
        assert_eq!((Verdict::Passed.exit_code(), Verdict::Interrupted.exit_code()), (0, 8));
    }
}

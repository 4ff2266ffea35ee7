//! Verdict of a load test: one word for programs, one sentence for operators.
//!
//! The earliest failure decides: a bot without an answer cannot be dropped. By default all bots must join,
//! none may be dropped and no protocol error may occur. An expectation for the same metric replaces the
//! default.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    expect::Expectations,
    summary::{BotOutcome, BotSummary, IntervalStats},
};
use crate::model::{limits::MAX_CLIENTS, text::escaped};

/// Result of a load test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All expectations hold.
    #[default]
    Passed,
    /// Bots played, but an expectation failed.
    Failed,
    /// No bot got an answer.
    NoAnswer,
    /// The server refused all bots.
    Refused,
    /// The server dropped bots or was lost.
    Lost,
    /// The server sent invalid data.
    Unreadable,
}

/// Input of the verdict.
pub(super) struct VerdictInput<'a> {
    pub(super) server: &'a str,
    pub(super) total: &'a IntervalStats,
    pub(super) each: &'a [BotSummary],
    /// Expectations that do not hold.
    pub(super) failed_expectations: &'a [String],
    pub(super) expectations: &'a Expectations,
    /// Whether the bots are expected to enter the game.
    pub(super) enters: bool,
}

impl VerdictInput<'_> {
    /// Returns the verdict and its sentence.
    pub(super) fn evaluate(&self) -> (Verdict, String) {
        let Self { server, total, each, failed_expectations: failed, expectations, enters } = self;
        let count = each.len();
        let waived = |metric: &str| expectations.name(metric);
        let missing = each.iter().filter(|bot| bot.join_ms.is_none()).count();
        if total.protocol_errors > 0 && !waived("protocol_errors") {
            let reason = self.reason(|bot| bot.protocol_errors > 0);
            return (Verdict::Unreadable, format!("{server} sent invalid data: {reason}"));
        }
        if *enters && total.active == 0 && !waived("in_game") {
            return self.no_bot_entered();
        }
        if total.dropped > 0 && !waived("drops") {
            let dropped = total.dropped;
            let reason = self.reason(|bot| bot.outcome == BotOutcome::Dropped);
            return (
                Verdict::Lost,
                format!("{server} dropped {dropped} of {count} bots: {reason}"),
            );
        }
        if let Some((first, more)) = failed.split_first() {
            let more = match more.len() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            return (Verdict::Failed, format!("failed: {first}{more}"));
        }
        let judged = waived("in_game") || (waived("refused") && missing == total.refused);
        if *enters && missing > 0 && !judged {
            let reason = self.refusal(|bot| bot.join_ms.is_none());
            let sentence = format!("failed: {missing} of {count} bots did not join: {reason}");
            return (Verdict::Failed, sentence);
        }
        (Verdict::Passed, format!("passed: {} of {count} bots played", total.active))
    }

    fn no_bot_entered(&self) -> (Verdict, String) {
        let Self { server, total, each, .. } = self;
        let count = each.len();
        if total.refused > 0 {
            let reason = self.refusal(|bot| bot.outcome == BotOutcome::Refused);
            return (Verdict::Refused, format!("{server} refused all {count} bots: {reason}"));
        }
        let received: u64 = each.iter().map(|bot| bot.datagrams_received).sum();
        let dropped: u64 = each.iter().map(|bot| bot.unreadable).sum();
        if dropped > received / 2 {
            let sentence = format!(
                "{server} is not a Quake III server: {dropped} of {received} datagrams are invalid"
            );
            return (Verdict::Unreadable, sentence);
        }
        if total.dropped > 0 {
            let reason = self.reason(|bot| bot.outcome == BotOutcome::Dropped);
            return (
                Verdict::Lost,
                format!("{server} accepted bots, but none entered the game: {reason}"),
            );
        }
        let sentence = match received {
            0 => format!("{server} does not answer"),
            _ => format!("{server} stopped answering: no bot entered the game"),
        };
        (Verdict::NoAnswer, sentence)
    }

    /// Returns the most frequent reason of the selected bots, and the remedy if the server is full.
    fn refusal(&self, selects: impl Fn(&BotSummary) -> bool) -> String {
        let reason = self.reason(selects);
        if !reason.to_ascii_lowercase().contains("server is full") {
            return reason;
        }
        let slots = self.each.len().min(MAX_CLIENTS);
        let remedy = format!("raise sv_maxclients on the server, e.g. +set sv_maxclients {slots}");
        format!("{reason} ({remedy})")
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

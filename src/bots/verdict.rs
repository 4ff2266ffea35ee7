//! What a load test comes to: one word for programs, one sentence for people.
//!
//! The first thing that went wrong on the way in counts: who is not answered cannot be thrown out. What
//! is expected without being said (everybody gets in, nobody is dropped, nothing is unreadable) gives
//! way to an expectation about the same figure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    expect::Expectations,
    summary::{BotSummary, Outcome, Stretch},
};
use crate::model::{limits::MAX_CLIENTS, text::escaped};

/// What it came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything was as expected.
    #[default]
    AsExpected,
    /// The bots played, but not all was as expected.
    NotAsExpected,
    /// Nobody was answered.
    NoAnswer,
    /// Nobody was let in, and the server said why.
    Refused,
    /// The server threw bots out, or was gone.
    Lost,
    /// The server sent what cannot be read.
    Unreadable,
}

/// What the verdict is made from.
pub(super) struct Case<'a> {
    pub(super) server: &'a str,
    pub(super) total: &'a Stretch,
    pub(super) each: &'a [BotSummary],
    /// What was expected and does not hold.
    pub(super) broken: &'a [String],
    pub(super) expectations: &'a Expectations,
    /// Whether bots are meant to get into the game at all.
    pub(super) enters: bool,
}

impl Case<'_> {
    /// The verdict and its sentence.
    pub(super) fn judge(&self) -> (Verdict, String) {
        let Self { server, total, each, broken, expectations, enters } = self;
        let count = each.len();
        let waived = |figure: &str| expectations.name(figure);
        let missing = each.iter().filter(|bot| bot.join_ms.is_none()).count();
        if total.faults > 0 && !waived("faults") {
            let reason = self.reason(|bot| bot.faults > 0);
            return (Verdict::Unreadable, format!("{server} sends what cannot be read: {reason}"));
        }
        if *enters && total.active == 0 && !waived("in_game") {
            return self.nobody_got_in();
        }
        if total.dropped > 0 && !waived("drops") {
            let dropped = total.dropped;
            let reason = self.reason(|bot| bot.outcome == Outcome::Dropped);
            return (Verdict::Lost, format!("{server} lost {dropped} of {count} bots: {reason}"));
        }
        if let Some((first, more)) = broken.split_first() {
            let more = match more.len() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            return (Verdict::NotAsExpected, format!("not as expected: {first}{more}"));
        }
        let judged = waived("in_game") || (waived("refused") && missing == total.refused);
        if *enters && missing > 0 && !judged {
            let reason = self.refusal(|bot| bot.join_ms.is_none());
            let sentence =
                format!("not as expected: {missing} of {count} bots never got in: {reason}");
            return (Verdict::NotAsExpected, sentence);
        }
        (Verdict::AsExpected, format!("all as expected: {} of {count} bots played", total.active))
    }

    fn nobody_got_in(&self) -> (Verdict, String) {
        let Self { server, total, each, .. } = self;
        let count = each.len();
        if total.refused > 0 {
            let reason = self.refusal(|bot| bot.outcome == Outcome::Refused);
            return (Verdict::Refused, format!("{server} refuses all of {count} bots: {reason}"));
        }
        let heard: u64 = each.iter().map(|bot| bot.heard).sum();
        let dropped: u64 = each.iter().map(|bot| bot.unreadable).sum();
        if dropped > heard / 2 {
            let sentence = format!(
                "{server} answers, but not as a Quake III server does: {dropped} of {heard} \
                 datagrams make no sense"
            );
            return (Verdict::Unreadable, sentence);
        }
        if total.dropped > 0 {
            let reason = self.reason(|bot| bot.outcome == Outcome::Dropped);
            return (
                Verdict::Lost,
                format!("{server} let bots in, but not into its game: {reason}"),
            );
        }
        let sentence = match heard {
            0 => format!("{server} does not answer"),
            _ => format!("{server} answers at first and then no more: no bot got into the game"),
        };
        (Verdict::NoAnswer, sentence)
    }

    /// What most of some bots were told, and the remedy if the server is full.
    fn refusal(&self, who: impl Fn(&BotSummary) -> bool) -> String {
        let reason = self.reason(who);
        if !reason.to_ascii_lowercase().contains("server is full") {
            return reason;
        }
        let slots = self.each.len().min(MAX_CLIENTS);
        let remedy = format!("raise sv_maxclients on the server, e.g. +set sv_maxclients {slots}");
        format!("{reason} ({remedy})")
    }

    /// What most of some bots were told.
    fn reason(&self, who: impl Fn(&BotSummary) -> bool) -> String {
        let mut told = BTreeMap::new();
        for bot in self.each.iter().filter(|bot| who(bot)) {
            *told.entry(bot.reason.as_deref().unwrap_or("no answer")).or_insert(0) += 1;
        }
        let most = told.iter().max_by_key(|(_, count)| **count).map_or("", |(reason, _)| reason);
        escaped(most.as_bytes()).to_string()
    }
}

//! What one bot saw, from which all figures are made.
//!
//! Counting begins when the bot is in the game: the handshake and the level's text would spoil the
//! figures of the game itself.

use std::fmt;

use hdrhistogram::Histogram;

use crate::{
    client::{Ending, Statistics},
    model::Millis,
};

/// Figures of one bot.
pub(super) struct Record {
    pub(super) started: Option<Millis>,
    /// When it was in the game, and what had been counted until then.
    pub(super) entered: Option<(Millis, Statistics)>,
    pub(super) last_snapshot: Option<Millis>,
    pub(super) statistics: Statistics,
    /// Until when it was looked at.
    pub(super) until: Millis,
    /// Round trips, one for each snapshot, in milliseconds.
    pub(super) pings: Histogram<u32>,
    /// Time from one snapshot to the next, in milliseconds.
    pub(super) gaps: Histogram<u32>,
    pub(super) refusal: Option<String>,
    pub(super) fault: Option<String>,
    pub(super) ending: Option<Ending>,
}

/// A histogram of milliseconds up to a minute, to two digits. It takes 5 KB, so
/// thousands of bots may have theirs.
pub(super) fn milliseconds() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 60_000, 2).expect("bounds in order")
}

impl Record {
    pub(super) fn new(now: Millis) -> Self {
        Self {
            started: None,
            entered: None,
            last_snapshot: None,
            statistics: Statistics::default(),
            until: now,
            pings: milliseconds(),
            gaps: milliseconds(),
            refusal: None,
            fault: None,
            ending: None,
        }
    }

    pub(super) fn enter(&mut self, now: Millis, statistics: Statistics) {
        if self.entered.is_none() {
            self.entered = Some((now, statistics));
        }
    }

    /// A snapshot was accepted.
    pub(super) fn snapshot(&mut self, now: Millis, ping_ms: Option<u64>) {
        if self.entered.is_none() {
            return;
        }
        if let Some(before) = self.last_snapshot.replace(now) {
            self.gaps.saturating_record(now.since(before).0);
        }
        if let Some(ping_ms) = ping_ms {
            self.pings.saturating_record(ping_ms);
        }
    }

    /// What was counted in the game.
    pub(super) fn played(&self) -> Statistics {
        self.entered.map_or_else(Statistics::default, |(_, before)| self.statistics - before)
    }

    /// How long the bot was in the game.
    pub(super) fn played_for(&self) -> Millis {
        self.entered.map_or(Millis(0), |(at, _)| self.until.since(at))
    }

    /// Time from the first question to the game.
    pub(super) fn join_time(&self) -> Option<Millis> {
        Some(self.entered?.0.since(self.started?))
    }

    /// Whether the server ended it.
    pub(super) fn was_dropped(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| *ending != Ending::Left)
    }

    pub(super) fn succeeded(&self) -> bool {
        self.entered.is_some() && !self.was_dropped() && self.statistics.faults == 0
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("entered", &self.entered)
            .field("statistics", &self.statistics)
            .field("ending", &self.ending)
            .finish_non_exhaustive()
    }
}

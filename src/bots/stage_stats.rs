//! Statistics of all bots in one interval: a stage, or the whole test.

use std::fmt;

use hdrhistogram::Histogram;

use crate::model::Millis;

use super::gaps::GapStats;

/// Join steps, each measured from the one before.
pub(super) const JOIN_STEPS: [&str; 4] = ["challenge", "connect", "gamestate", "first snapshot"];

/// Statistics of all bots in one interval.
#[derive(Clone)]
pub(super) struct StageStats {
    /// Time to join, and time of each of [`JOIN_STEPS`], in ms.
    pub(super) joins: Histogram<u32>,
    pub(super) steps: [Histogram<u32>; JOIN_STEPS.len()],
    /// Round trips, one for each snapshot.
    pub(super) pings: Histogram<u32>,
    /// Time between consecutive snapshots of a level.
    pub(super) gaps: GapStats,
    /// Difference of each gap to the same interval in server time, in ms.
    pub(super) jitters: Histogram<u32>,
    /// Round trips of reliable commands.
    pub(super) commands: Histogram<u32>,
    /// Time from the last snapshot of a level to the first of the next one.
    pub(super) map_changes: Histogram<u32>,
    /// Map changes and restarts of the servers.
    pub(super) levels: u64,
    pub(super) restarts: u64,
    /// Longest silence of a server while bots joined and none was in the game, in ms.
    pub(super) server_silence_ms: u64,
    /// Snapshots that arrived after the next one was due.
    pub(super) late: u64,
    /// Snapshots with the rate delay flag.
    pub(super) rate_delayed: u64,
    /// The current second.
    pub(super) second: SecondStats,
}

/// Statistics of all bots in the current second.
#[derive(Clone)]
pub(super) struct SecondStats {
    pub(super) began: Millis,
    /// Gaps, each with its whole length and the weight of the part in this second.
    pub(super) gaps: GapStats,
    pub(super) pings: Histogram<u32>,
    /// Map changes and restarts of the servers.
    pub(super) map_changes: u64,
    pub(super) map_restarts: u64,
}

impl SecondStats {
    pub(super) fn new(began: Millis) -> Self {
        Self {
            began,
            gaps: GapStats::default(),
            pings: milliseconds(),
            map_changes: 0,
            map_restarts: 0,
        }
    }
}

impl StageStats {
    pub(super) fn new(now: Millis) -> Self {
        Self {
            joins: milliseconds(),
            steps: std::array::from_fn(|_| milliseconds()),
            pings: milliseconds(),
            gaps: GapStats::default(),
            jitters: milliseconds(),
            commands: milliseconds(),
            map_changes: milliseconds(),
            levels: 0,
            restarts: 0,
            server_silence_ms: 0,
            late: 0,
            rate_delayed: 0,
            second: SecondStats::new(now),
        }
    }

    /// Resets everything and returns it. The current second continues.
    pub(super) fn take(&mut self) -> Self {
        let second = std::mem::replace(&mut self.second, SecondStats::new(Millis(0)));
        std::mem::replace(self, Self { second, ..Self::new(Millis(0)) })
    }

    /// Resets what is measured only after the joins, and returns it.
    ///
    /// Joins, gaps and map changes count for the whole stage: a stall during the joins is a stall.
    pub(super) fn end_joins(&mut self) -> Self {
        let mut before = self.take();
        let Self { joins, steps, gaps, map_changes, .. } = Self::new(Millis(0));
        self.joins = std::mem::replace(&mut before.joins, joins);
        self.steps = std::mem::replace(&mut before.steps, steps);
        self.gaps = std::mem::replace(&mut before.gaps, gaps);
        self.map_changes = std::mem::replace(&mut before.map_changes, map_changes);
        self.levels = std::mem::take(&mut before.levels);
        self.restarts = std::mem::take(&mut before.restarts);
        self.server_silence_ms = std::mem::take(&mut before.server_silence_ms);
        before
    }

    /// Resets everything but joins at the end of the warm-up.
    pub(super) fn end_warmup(&mut self) {
        let before = self.take();
        (self.joins, self.steps) = (before.joins, before.steps);
    }

    /// Adds the statistics of another interval.
    pub(super) fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.joins, &other.joins),
            (&mut self.pings, &other.pings),
            (&mut self.jitters, &other.jitters),
            (&mut self.commands, &other.commands),
            (&mut self.map_changes, &other.map_changes),
        ];
        for (own, others) in pairs.into_iter().chain(self.steps.iter_mut().zip(&other.steps)) {
            own.add(others).expect("the same bounds");
        }
        self.gaps.add(&other.gaps);
        self.levels += other.levels;
        self.restarts += other.restarts;
        self.server_silence_ms = self.server_silence_ms.max(other.server_silence_ms);
        self.late += other.late;
        self.rate_delayed += other.rate_delayed;
    }

    /// Records the part of a gap from `from` on. The gap began at `began`, and a snapshot was due after `due`.
    pub(super) fn record_gap(&mut self, began: Millis, from: Millis, now: Millis, due: Millis) {
        let part = now.since(from);
        self.gaps.record(part, part, due);
        let in_second = now.since(began.max(self.second.began));
        self.second.gaps.record(now.since(began), in_second, due);
    }

    pub(super) fn record_ping(&mut self, ping_ms: u64) {
        self.pings.saturating_record(ping_ms);
        self.second.pings.saturating_record(ping_ms);
    }

    /// Records the map change of a bot. `counts` tells whether it is the first that measures it.
    pub(super) fn record_map_change(&mut self, took: Millis, counts: bool) {
        self.map_changes.saturating_record(took.0);
        self.levels += u64::from(counts);
        self.second.map_changes += u64::from(counts);
    }

    pub(super) fn record_restart(&mut self) {
        self.restarts += 1;
        self.second.map_restarts += 1;
    }

    pub(super) fn record_server_silence(&mut self, length: Millis) {
        self.server_silence_ms = self.server_silence_ms.max(length.0);
    }
}

impl fmt::Debug for StageStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageStats")
            .field("late", &self.late)
            .field("rate_delayed", &self.rate_delayed)
            .finish_non_exhaustive()
    }
}

/// Creates a histogram of milliseconds up to a minute, to two digits.
///
/// It takes 5 KB, so that each of thousands of bots can have one.
pub(super) fn milliseconds() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 60_000, 2).expect("bounds in order")
}

//! Statistics of one bot, and of all bots of a stage.
//!
//! Counting begins when the bot enters the game: handshake and gamestate would distort the metrics of play.
//! The statistics of all connections of a bot are added up.

use std::fmt;

use hdrhistogram::Histogram;

use crate::{
    client::{DisconnectReason, Statistics},
    model::{LevelTime, Millis, Vec3},
};

/// The steps on the way into the game, each from the one before: the challenge granted, the connection
/// granted, the level known, the first snapshot of the game.
pub(super) const JOIN_STEPS: [&str; 4] = ["challenge", "connect", "gamestate", "first snapshot"];

/// Distance between two snapshots that is no walk, in units, and rise of a score between them that is
/// none of the game.
const TELEPORTED: f64 = 200.0;
const MAX_RISE: u64 = 100;
/// Who has not come farther than this halts, in units.
const HALT: f32 = 64.0;
/// Intervals without a snapshot after which a gap counts that has not ended.
const OVERDUE: u64 = 3;

/// What all bots saw in some stretch of time.
#[derive(Clone)]
pub(super) struct StageStats {
    /// Milliseconds to get into the game, and of each of [`JOIN_STEPS`].
    pub(super) joins: Histogram<u32>,
    pub(super) steps: [Histogram<u32>; JOIN_STEPS.len()],
    /// Round trips of usercmds, one for each snapshot.
    pub(super) pings: Histogram<u32>,
    /// Time from one snapshot to the next.
    pub(super) gaps: Histogram<u32>,
    /// How far that was off the same time on the server's clock.
    pub(super) jitters: Histogram<u32>,
    /// Round trips of reliable commands.
    pub(super) commands: Histogram<u32>,
    /// Snapshots that came later than the next was due.
    pub(super) late: u64,
    /// Snapshots that say that the server left some out to keep to the rate.
    pub(super) rate_delayed: u64,
}

impl Default for StageStats {
    fn default() -> Self {
        Self {
            joins: milliseconds(),
            steps: std::array::from_fn(|_| milliseconds()),
            pings: milliseconds(),
            gaps: milliseconds(),
            jitters: milliseconds(),
            commands: milliseconds(),
            late: 0,
            rate_delayed: 0,
        }
    }
}

impl StageStats {
    /// Begins anew but for what was seen of joining; returns all else.
    pub(super) fn keep_joins(&mut self) -> Self {
        let joins = std::mem::replace(&mut self.joins, milliseconds());
        let steps = std::mem::replace(&mut self.steps, std::array::from_fn(|_| milliseconds()));
        std::mem::replace(self, Self { joins, steps, ..Self::default() })
    }

    /// What both saw.
    pub(super) fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.joins, &other.joins),
            (&mut self.pings, &other.pings),
            (&mut self.gaps, &other.gaps),
            (&mut self.jitters, &other.jitters),
            (&mut self.commands, &other.commands),
        ];
        for (own, others) in pairs.into_iter().chain(self.steps.iter_mut().zip(&other.steps)) {
            own.add(others).expect("the same bounds");
        }
        self.late += other.late;
        self.rate_delayed += other.rate_delayed;
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

/// A histogram of milliseconds up to a minute, to two digits. It takes 5 KB, so
/// thousands of bots may have theirs.
pub(super) fn milliseconds() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 60_000, 2).expect("bounds in order")
}

/// One snapshot as it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotArrival {
    pub(super) at: Millis,
    pub(super) server_time: LevelTime,
    pub(super) rate_delayed: bool,
    pub(super) ping_ms: Option<u64>,
}

/// StageStats of one bot.
pub(super) struct BotStats {
    /// When it first tried to join.
    pub(super) started: Option<Millis>,
    /// When it was first in the game.
    pub(super) entered: Option<Millis>,
    /// When its present life began, and the last step of that on the way into the game.
    pub(super) life_began: Millis,
    pub(super) last_step: (usize, Millis),
    /// When its present life was in the game, and what had been counted until then.
    in_game: Option<(Millis, Statistics)>,
    /// What it counted in the game, and for how long, in earlier lives.
    past: Statistics,
    past_ms: u64,
    pub(super) last_snapshot: Option<(Millis, LevelTime)>,
    /// Counts of its present life.
    pub(super) statistics: Statistics,
    /// Faults of earlier lives.
    past_faults: u64,
    /// Until when it was looked at.
    pub(super) until: Millis,
    /// Round trips, one for each snapshot, in milliseconds.
    pub(super) pings: Histogram<u32>,
    /// Time from one snapshot to the next, in milliseconds.
    pub(super) gaps: Histogram<u32>,
    /// Until when the time without a snapshot has been taken for a gap already.
    gap_noted: Millis,
    /// The longest gap of the second in which it ended, and when.
    worst_gap: Option<(Millis, u64)>,
    pub(super) rate_delayed: u64,
    /// Where its body was with the last snapshot, and what score it had.
    body: Option<(Vec3, i32)>,
    /// Where it last began to halt, and when; how long it did at most.
    halt: Option<(Vec3, Millis)>,
    pub(super) longest_halt: Millis,
    /// Units that it walked, ran, swam and fell.
    walked: f64,
    /// By how much its score rose, all in all.
    pub(super) scored: u64,
    pub(super) refusal: Option<String>,
    /// Whether the refusal was told to another bot of the same server.
    pub(super) refusal_is_shared: bool,
    pub(super) protocol_error: Option<String>,
    /// How its last life ended.
    pub(super) ending: Option<DisconnectReason>,
    /// How the first life that the server ended did.
    pub(super) dropped: Option<DisconnectReason>,
    /// Times that it came back.
    pub(super) lives: u32,
}

impl BotStats {
    pub(super) fn new(now: Millis) -> Self {
        Self {
            started: None,
            entered: None,
            life_began: now,
            last_step: (0, now),
            in_game: None,
            past: Statistics::default(),
            past_ms: 0,
            last_snapshot: None,
            statistics: Statistics::default(),
            past_faults: 0,
            until: now,
            pings: milliseconds(),
            gaps: milliseconds(),
            gap_noted: Millis(0),
            worst_gap: None,
            rate_delayed: 0,
            body: None,
            halt: None,
            longest_halt: Millis(0),
            walked: 0.0,
            scored: 0,
            refusal: None,
            refusal_is_shared: false,
            protocol_error: None,
            ending: None,
            dropped: None,
            lives: 0,
        }
    }

    /// Begins to join, for the first time or again.
    pub(super) fn begin_life(&mut self, now: Millis) {
        self.end_life();
        self.started.get_or_insert(now);
        self.life_began = now;
        self.last_step = (0, now);
        self.last_snapshot = None;
        self.body = None;
        self.halt = None;
        self.lives += 1;
        self.ending = None;
    }

    /// Adds up what the present life counted.
    fn end_life(&mut self) {
        self.past = self.played();
        self.past_ms = self.played_for().0;
        self.past_faults += self.statistics.faults;
        self.statistics = Statistics::default();
        self.in_game = None;
    }

    /// A step on the way into the game, by its place in [`JOIN_STEPS`].
    pub(super) fn step(&mut self, now: Millis, step: usize, stage_stats: &mut StageStats) {
        let (due, before) = self.last_step;
        if step < due || self.in_game.is_some() {
            return;
        }
        self.last_step = (step + 1, now);
        if let Some(histogram) = stage_stats.steps.get_mut(step) {
            histogram.saturating_record(now.since(before).0);
        }
    }

    pub(super) fn enter(
        &mut self,
        now: Millis,
        statistics: Statistics,
        stage_stats: &mut StageStats,
    ) {
        if self.in_game.is_some() {
            return;
        }
        self.in_game = Some((now, statistics));
        self.entered.get_or_insert(now);
        self.statistics = statistics;
        self.until = now;
        stage_stats.joins.saturating_record(now.since(self.life_began).0);
    }

    /// A snapshot was accepted; the bot asked for one each `interval`.
    pub(super) fn snapshot(
        &mut self,
        arrival: SnapshotArrival,
        interval: Millis,
        stage_stats: &mut StageStats,
    ) {
        if self.in_game.is_none() {
            return;
        }
        let SnapshotArrival { at, server_time, rate_delayed, ping_ms } = arrival;
        if let Some((before, time_before)) = self.last_snapshot.replace((at, server_time)) {
            let gap = at.since(before.max(self.gap_noted)).0;
            let on_server = u64::try_from(server_time.distance(time_before)).unwrap_or(0);
            self.note_gap(at, gap, stage_stats);
            stage_stats.jitters.saturating_record(gap.abs_diff(on_server));
            stage_stats.late += u64::from(gap > on_server + interval.0);
        }
        if let Some(ping_ms) = ping_ms {
            self.pings.saturating_record(ping_ms);
            stage_stats.pings.saturating_record(ping_ms);
        }
        self.rate_delayed += u64::from(rate_delayed);
        stage_stats.rate_delayed += u64::from(rate_delayed);
    }

    /// The last gap between snapshots, when it ended after `since`, in milliseconds.
    pub(super) fn gap_ending_after(&self, since: Millis) -> Option<u64> {
        self.worst_gap.filter(|(ended, _)| *ended > since).map(|(_, gap)| gap)
    }

    /// What was counted in the game.
    pub(super) fn played(&self) -> Statistics {
        let now =
            self.in_game.map_or_else(Statistics::default, |(_, before)| self.statistics - before);
        self.past + now
    }

    /// How long the bot was in the game.
    pub(super) fn played_for(&self) -> Millis {
        Millis(self.past_ms + self.in_game.map_or(0, |(at, _)| self.until.since(at).0))
    }

    /// Time from the first question to the game.
    pub(super) fn join_time(&self) -> Option<Millis> {
        Some(self.entered?.since(self.started?))
    }

    /// What the server did wrong.
    pub(super) fn protocol_errors(&self) -> u64 {
        self.past_faults + self.statistics.faults
    }

    /// Whether the server ended it.
    pub(super) fn was_dropped(&self) -> bool {
        self.dropped.is_some()
    }

    /// Where the last snapshot has its body, and its score.
    pub(super) fn record_body(&mut self, now: Millis, origin: Vec3, score: i32) {
        match self.halt {
            Some((at, since)) if (origin - at).length() <= HALT => {
                self.longest_halt = self.longest_halt.max(now.since(since));
            }
            _ => self.halt = Some((origin, now)),
        }
        if let Some((before, score_before)) = self.body.replace((origin, score)) {
            let way = f64::from((origin - before).length());
            // Farther than that nobody walks: a teleporter, or a new life.
            if way < TELEPORTED {
                self.walked += way;
            }
            let rise = i64::from(score) - i64::from(score_before);
            self.scored += u64::try_from(rise).unwrap_or(0).min(MAX_RISE);
        }
    }

    /// Whole units that it has walked.
    pub(super) fn walked(&self) -> u64 {
        self.walked as u64
    }

    /// The time since the last snapshot that belongs to no gap yet.
    pub(super) fn open_gap(&self, now: Millis) -> u64 {
        let (Some(_), Some((at, _))) = (self.in_game, self.last_snapshot) else { return 0 };
        now.since(at.max(self.gap_noted)).0
    }

    /// Takes the time since the last snapshot for a gap, when another was due long ago.
    pub(super) fn record_open_gap(
        &mut self,
        now: Millis,
        interval: Millis,
        stage_stats: &mut StageStats,
    ) {
        let gap = self.open_gap(now);
        if gap > interval.0 * OVERDUE {
            self.gap_noted = now;
            self.note_gap(now, gap, stage_stats);
        }
    }

    fn note_gap(&mut self, now: Millis, gap: u64, stage_stats: &mut StageStats) {
        self.gaps.saturating_record(gap);
        stage_stats.gaps.saturating_record(gap);
        let in_same_second = |&(ended, _): &(Millis, u64)| ended.0 / 1000 == now.0 / 1000;
        let worst = self.worst_gap.filter(in_same_second).map_or(0, |(_, gap)| gap);
        self.worst_gap = Some((now, worst.max(gap)));
    }
}

impl fmt::Debug for BotStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BotStats")
            .field("entered", &self.entered)
            .field("statistics", &self.statistics)
            .field("ending", &self.ending)
            .finish_non_exhaustive()
    }
}

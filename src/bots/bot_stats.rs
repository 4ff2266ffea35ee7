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

/// Join steps, each measured from the one before.
pub(super) const JOIN_STEPS: [&str; 4] = ["challenge", "connect", "gamestate", "first snapshot"];

/// Distance between two snapshots above which a player was teleported, in units.
const TELEPORTED: f64 = 200.0;
/// Largest credible rise of a score between two snapshots.
const MAX_RISE: u64 = 100;
/// Radius within which a player counts as halted, in units.
const HALT: f32 = 64.0;
/// Snapshot intervals after which an open gap counts.
const OVERDUE: u64 = 3;

/// Statistics of all bots in one interval.
#[derive(Clone)]
pub(super) struct StageStats {
    /// Time to join, and time of each of [`JOIN_STEPS`], in ms.
    pub(super) joins: Histogram<u32>,
    pub(super) steps: [Histogram<u32>; JOIN_STEPS.len()],
    /// Round trips of usercmds, one for each snapshot.
    pub(super) pings: Histogram<u32>,
    /// Time between consecutive snapshots, in ms.
    pub(super) gaps: Histogram<u32>,
    /// Difference of each gap to the same interval in server time, in ms.
    pub(super) jitters: Histogram<u32>,
    /// Round trips of reliable commands.
    pub(super) commands: Histogram<u32>,
    /// Snapshots that arrived after the next one was due.
    pub(super) late: u64,
    /// Snapshots with the rate delay flag.
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
    /// Resets everything but the join statistics, and returns the rest.
    pub(super) fn keep_joins(&mut self) -> Self {
        let joins = std::mem::replace(&mut self.joins, milliseconds());
        let steps = std::mem::replace(&mut self.steps, std::array::from_fn(|_| milliseconds()));
        std::mem::replace(self, Self { joins, steps, ..Self::default() })
    }

    /// Adds the statistics of another interval.
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

/// Creates a histogram of milliseconds up to a minute, to two digits.
///
/// It takes 5 KB, so that each of thousands of bots can have one.
pub(super) fn milliseconds() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 60_000, 2).expect("bounds in order")
}

/// Arrival of one snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotArrival {
    pub(super) at: Millis,
    pub(super) server_time: LevelTime,
    pub(super) rate_delayed: bool,
    pub(super) ping_ms: Option<u64>,
}

/// Statistics of one bot, over all its connections.
pub(super) struct BotStats {
    /// Start of the first join.
    pub(super) started: Option<Millis>,
    /// Time of the first entry into the game.
    pub(super) entered: Option<Millis>,
    /// Start of the current connection, and its last join step.
    pub(super) connection_began: Millis,
    pub(super) last_step: (usize, Millis),
    /// Time of the current connection's entry into the game, and its counters then.
    in_game: Option<(Millis, Statistics)>,
    /// Counters and time in the game of earlier connections.
    past: Statistics,
    past_ms: u64,
    pub(super) last_snapshot: Option<(Millis, LevelTime)>,
    /// Counters of the current connection.
    pub(super) statistics: Statistics,
    /// Protocol errors of earlier connections.
    past_errors: u64,
    /// Time of the last update.
    pub(super) until: Millis,
    /// Round trips of usercmds, one for each snapshot, in ms.
    pub(super) pings: Histogram<u32>,
    /// Time between consecutive snapshots, in ms.
    pub(super) gaps: Histogram<u32>,
    /// End of the part of the open gap that is recorded already.
    gap_recorded_until: Millis,
    /// End and length of the longest gap of the last second.
    worst_gap: Option<(Millis, u64)>,
    pub(super) rate_delayed: u64,
    /// Position and score in the last snapshot.
    body: Option<(Vec3, i32)>,
    /// Position and start of the current halt, and the longest halt.
    halt: Option<(Vec3, Millis)>,
    pub(super) longest_halt: Millis,
    /// Distance moved, in units.
    walked: f64,
    /// Sum of all rises of the score.
    pub(super) scored: u64,
    pub(super) refusal: Option<String>,
    /// Whether the refusal was sent to another bot of the same server.
    pub(super) refusal_is_shared: bool,
    pub(super) protocol_error: Option<String>,
    /// End of the last connection.
    pub(super) ending: Option<DisconnectReason>,
    /// End of the first connection that the bot did not close itself.
    pub(super) dropped: Option<DisconnectReason>,
    /// Number of connections.
    pub(super) lives: u32,
}

impl BotStats {
    pub(super) fn new(now: Millis) -> Self {
        Self {
            started: None,
            entered: None,
            connection_began: now,
            last_step: (0, now),
            in_game: None,
            past: Statistics::default(),
            past_ms: 0,
            last_snapshot: None,
            statistics: Statistics::default(),
            past_errors: 0,
            until: now,
            pings: milliseconds(),
            gaps: milliseconds(),
            gap_recorded_until: Millis(0),
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

    /// Begins a connection.
    pub(super) fn begin_connection(&mut self, now: Millis) {
        self.end_connection();
        self.started.get_or_insert(now);
        self.connection_began = now;
        self.last_step = (0, now);
        self.last_snapshot = None;
        self.body = None;
        self.halt = None;
        self.lives += 1;
        self.ending = None;
    }

    /// Adds the counters of the current connection to the total.
    fn end_connection(&mut self) {
        self.past = self.played();
        self.past_ms = self.played_for().0;
        self.past_errors += self.statistics.faults;
        self.statistics = Statistics::default();
        self.in_game = None;
    }

    /// Records a join step, by its index in [`JOIN_STEPS`].
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
        stage_stats.joins.saturating_record(now.since(self.connection_began).0);
    }

    /// Records an accepted snapshot. The requested interval is `interval`.
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
            let gap = at.since(before.max(self.gap_recorded_until)).0;
            let on_server = u64::try_from(server_time.distance(time_before)).unwrap_or(0);
            self.record_gap(at, gap, stage_stats);
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

    /// Returns the longest gap of the last second if it ended after `since`, in ms.
    pub(super) fn gap_ending_after(&self, since: Millis) -> Option<u64> {
        self.worst_gap.filter(|(ended, _)| *ended > since).map(|(_, gap)| gap)
    }

    /// Returns the counters of the time in the game.
    pub(super) fn played(&self) -> Statistics {
        let now =
            self.in_game.map_or_else(Statistics::default, |(_, before)| self.statistics - before);
        self.past + now
    }

    /// Returns the time in the game.
    pub(super) fn played_for(&self) -> Millis {
        Millis(self.past_ms + self.in_game.map_or(0, |(at, _)| self.until.since(at).0))
    }

    /// Returns the time from the first request to the game.
    pub(super) fn join_time(&self) -> Option<Millis> {
        Some(self.entered?.since(self.started?))
    }

    /// Returns the number of protocol errors of the server.
    pub(super) fn protocol_errors(&self) -> u64 {
        self.past_errors + self.statistics.faults
    }

    /// Whether the server dropped the bot or was lost.
    pub(super) fn was_dropped(&self) -> bool {
        self.dropped.is_some()
    }

    /// Records position and score of a snapshot.
    pub(super) fn record_body(&mut self, now: Millis, origin: Vec3, score: i32) {
        match self.halt {
            Some((at, since)) if (origin - at).length() <= HALT => {
                self.longest_halt = self.longest_halt.max(now.since(since));
            }
            _ => self.halt = Some((origin, now)),
        }
        if let Some((before, score_before)) = self.body.replace((origin, score)) {
            let distance = f64::from((origin - before).length());
            // A larger distance is a teleporter or a respawn.
            if distance < TELEPORTED {
                self.walked += distance;
            }
            let rise = i64::from(score) - i64::from(score_before);
            self.scored += u64::try_from(rise).unwrap_or(0).min(MAX_RISE);
        }
    }

    /// Returns the distance moved, in whole units.
    pub(super) fn walked(&self) -> u64 {
        self.walked as u64
    }

    /// Returns the time since the last snapshot that is not recorded in a gap yet, in ms.
    pub(super) fn open_gap(&self, now: Millis) -> u64 {
        let (Some(_), Some((at, _))) = (self.in_game, self.last_snapshot) else { return 0 };
        now.since(at.max(self.gap_recorded_until)).0
    }

    /// Records the open gap if it is longer than [`OVERDUE`] intervals.
    pub(super) fn record_open_gap(
        &mut self,
        now: Millis,
        interval: Millis,
        stage_stats: &mut StageStats,
    ) {
        let gap = self.open_gap(now);
        if gap > interval.0 * OVERDUE {
            self.gap_recorded_until = now;
            self.record_gap(now, gap, stage_stats);
        }
    }

    fn record_gap(&mut self, now: Millis, gap: u64, stage_stats: &mut StageStats) {
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

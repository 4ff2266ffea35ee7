//! Statistics of one bot.
//!
//! Counting begins when the bot enters the game: handshake and gamestate would distort the metrics of play.
//! The statistics of all connections of a bot are added up.

use std::fmt;

use hdrhistogram::Histogram;

use crate::{
    client::{DisconnectReason, Statistics},
    model::{LevelTime, Millis, ServerId, Vec3},
};

use super::{
    chat_order::ChatCounts,
    gaps::is_overdue,
    levels::{LevelPlace, Levels},
    protocol::GameProtocol,
    stage_stats::{StageStats, milliseconds},
};

/// Distance between two snapshots above which a player was teleported, in units.
const TELEPORTED: f64 = 200.0;
/// Largest credible rise of a score between two snapshots.
const MAX_RISE: u64 = 100;
/// Radius within which a player counts as halted, in units.
const HALT: f32 = 64.0;

/// Arrival of one snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotArrival {
    pub(super) at: Millis,
    pub(super) server_time: LevelTime,
    pub(super) rate_delayed: bool,
    pub(super) ping_ms: Option<u64>,
    pub(super) is_intermission: bool,
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
    /// Answers of the current connection that were compared with their prediction, and misses among them.
    pub(super) predictions: [u64; 2],
    past_predictions: [u64; 2],
    /// Chat lines that the current connection received.
    pub(super) chat: ChatCounts,
    past_chat: ChatCounts,
    /// Time of the last update.
    pub(super) until: Millis,
    /// Round trips of usercmds, one for each snapshot, in ms.
    pub(super) pings: Histogram<u32>,
    /// Smallest server time between two snapshots of the connection.
    server_interval: Option<Millis>,
    /// End of the part of the open gap that is recorded already.
    gap_recorded_until: Millis,
    /// Longest gap, in ms.
    pub(super) longest_gap_ms: u64,
    /// Sum of the overdue gaps, in ms, and the sum at the start of the running stage.
    without_snapshot_ms: u64,
    without_snapshot_before: u64,
    /// Last snapshot of the level before, while a map change is under way.
    map_change_since: Option<Millis>,
    /// Whether the end of a stage has recorded the map change that is under way.
    is_change_recorded: bool,
    /// Level in the order of its server.
    pub(super) level: LevelPlace,
    /// Sum of the time in intermissions, in ms.
    pub(super) intermission_ms: u64,
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
    /// Protocol of the current or last connection.
    pub(super) protocol: Option<GameProtocol>,
    /// Number of connections.
    pub(super) lives: u32,
    /// Whether the server has accepted a connection.
    pub(super) is_accepted: bool,
    /// Whether the bot is to enter the game.
    pub(super) enters: bool,
}

impl BotStats {
    /// Creates the statistics of a bot that is to enter the game, or not.
    pub(super) fn new(now: Millis, enters: bool) -> Self {
        Self {
            protocol: None,
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
            predictions: [0; 2],
            past_predictions: [0; 2],
            chat: ChatCounts::default(),
            past_chat: ChatCounts::default(),
            until: now,
            pings: milliseconds(),
            server_interval: None,
            gap_recorded_until: Millis(0),
            longest_gap_ms: 0,
            without_snapshot_ms: 0,
            without_snapshot_before: 0,
            map_change_since: None,
            is_change_recorded: false,
            level: LevelPlace::default(),
            intermission_ms: 0,
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
            is_accepted: false,
            enters,
        }
    }

    /// Begins a connection.
    pub(super) fn begin_connection(&mut self, now: Millis) {
        self.end_connection();
        self.started.get_or_insert(now);
        self.connection_began = now;
        self.last_step = (0, now);
        self.last_snapshot = None;
        self.server_interval = None;
        self.map_change_since = None;
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
        self.past_predictions = self.predicted();
        self.predictions = [0; 2];
        self.past_chat = self.received_chat();
        self.chat = ChatCounts::default();
        self.statistics = Statistics::default();
        self.in_game = None;
    }

    /// Records a join step, by its index in `JOIN_STEPS`.
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

    /// Records the entry into the game. Returns whether it is the first of the connection.
    pub(super) fn enter(
        &mut self,
        now: Millis,
        statistics: Statistics,
        stage_stats: &mut StageStats,
    ) -> bool {
        if self.in_game.is_some() {
            return false;
        }
        self.in_game = Some((now, statistics));
        self.entered.get_or_insert(now);
        self.statistics = statistics;
        self.until = now;
        stage_stats.joins.saturating_record(now.since(self.connection_began).0);
        true
    }

    /// Whether the current connection has entered the game.
    pub(super) fn is_in_game(&self) -> bool {
        self.in_game.is_some()
    }

    /// Records an accepted snapshot. The requested interval is `interval`.
    pub(super) fn snapshot(
        &mut self,
        arrival: SnapshotArrival,
        interval: Millis,
        stage_stats: &mut StageStats,
    ) {
        // Before the first snapshot of a new level that shows the bot in the game, none is due.
        if self.in_game.is_none() || self.map_change_since.is_some() {
            return;
        }
        let SnapshotArrival { at, server_time, rate_delayed, ping_ms, is_intermission } = arrival;
        if let Some((before, time_before)) = self.last_snapshot {
            self.record_gap(at, interval, stage_stats);
            let gap = at.since(before).0;
            let on_server = u64::try_from(server_time.distance(time_before)).unwrap_or(0);
            stage_stats.jitters.saturating_record(gap.abs_diff(on_server));
            stage_stats.late += u64::from(gap > on_server + interval.0);
            if on_server > 0 {
                let shortest = self.server_interval.unwrap_or(Millis::NEVER);
                self.server_interval = Some(shortest.min(Millis(on_server)));
            }
            if is_intermission {
                self.intermission_ms += gap;
            }
        }
        self.last_snapshot = Some((at, server_time));
        if let Some(ping_ms) = ping_ms {
            self.pings.saturating_record(ping_ms);
            stage_stats.record_ping(ping_ms);
        }
        self.rate_delayed += u64::from(rate_delayed);
        stage_stats.rate_delayed += u64::from(rate_delayed);
    }

    /// Begins a map change, from the last snapshot of the old level on.
    pub(super) fn begin_map_change(&mut self, now: Millis) {
        if self.in_game.is_some() && self.map_change_since.is_none() {
            let since = self.last_snapshot.take().map_or(now, |(at, _)| at);
            self.map_change_since = Some(since);
            self.is_change_recorded = false;
            (self.body, self.halt) = (None, None);
        }
    }

    /// Records the map change that is under way, once. `level` is the newest known level of the bot.
    pub(super) fn record_map_change(
        &mut self,
        now: Millis,
        level: ServerId,
        levels: &mut Levels,
        stage_stats: &mut StageStats,
    ) {
        if let Some(since) = self.map_change_since
            && !std::mem::replace(&mut self.is_change_recorded, true)
        {
            let counts = levels.change(&mut self.level, level);
            stage_stats.record_map_change(now.since(since), counts);
        }
    }

    /// Ends a map change with the first snapshot in the new level, or with the connection.
    pub(super) fn end_map_change(&mut self) {
        self.map_change_since = None;
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

    /// Returns the counts of received chat lines.
    pub(super) const fn received_chat(&self) -> ChatCounts {
        self.past_chat.and(self.chat)
    }

    /// Returns the number of answers that were compared with their prediction, and that of the misses.
    pub(super) fn predicted(&self) -> [u64; 2] {
        std::array::from_fn(|at| self.past_predictions[at] + self.predictions[at])
    }

    /// Whether the server dropped the bot or was lost.
    pub(super) fn was_dropped(&self) -> bool {
        self.dropped.is_some()
    }

    /// Ends the current halt: the bot cannot move.
    pub(super) fn rest(&mut self) {
        (self.body, self.halt) = (None, None);
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

    /// Returns the time since the last snapshot.
    pub(super) fn open_gap(&self, now: Millis) -> Option<Millis> {
        let (_, (at, _)) = self.in_game.zip(self.last_snapshot)?;
        Some(now.since(at))
    }

    /// Returns the interval after which a snapshot is due: the requested one, or a longer one of the server.
    pub(super) fn due_interval(&self, interval: Millis) -> Millis {
        interval.max(self.server_interval.unwrap_or(interval))
    }

    /// Begins a stage of the time without a snapshot.
    pub(super) fn begin_stage(&mut self) {
        self.without_snapshot_before = self.without_snapshot_ms;
    }

    /// Forgets the gaps of the warm-up.
    pub(super) fn end_warmup(&mut self) {
        (self.without_snapshot_ms, self.without_snapshot_before, self.longest_gap_ms) = (0, 0, 0);
    }

    /// Returns the time without a snapshot: in the running stage, or in the whole test.
    pub(super) fn without_snapshot_ms(&self, in_stage: bool) -> u64 {
        let before = if in_stage { self.without_snapshot_before } else { 0 };
        self.without_snapshot_ms - before
    }

    /// Whether a map change is under way.
    pub(super) fn is_changing_map(&self) -> bool {
        self.map_change_since.is_some()
    }

    /// Records the gap since the last snapshot, without the part that is recorded already.
    pub(super) fn record_gap(
        &mut self,
        now: Millis,
        interval: Millis,
        stage_stats: &mut StageStats,
    ) {
        let (Some(_), Some((began, _))) = (self.in_game, self.last_snapshot) else { return };
        let due = self.due_interval(interval);
        let from = began.max(self.gap_recorded_until);
        stage_stats.record_gap(began, from, now, due);
        self.gap_recorded_until = now;
        self.longest_gap_ms = self.longest_gap_ms.max(now.since(began).0);
        if is_overdue(now.since(from), due) {
            self.without_snapshot_ms += now.since(from).0;
        }
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

//! Client events of one bot: join steps, snapshots, refusals, protocol errors and disconnects.

use rand_pcg::rand_core::Rng as _;

use crate::{
    client::{ConnectionState, DisconnectReason},
    model::{Millis, text::escaped},
};

use super::{
    super::{behavior::Behavior, bot_stats::SnapshotArrival},
    Bot, BotContext, RECONNECT_DELAY, RECONNECT_SPREAD_MS,
    connection::{Connection, Event},
};

impl Bot {
    /// Handles the events of the client and measures the acknowledged commands.
    pub(super) fn handle_events(&mut self, now: Millis, context: &mut BotContext<'_>) {
        while let Some(event) = self.connection.as_mut().and_then(Connection::poll_event) {
            match event {
                Event::Accepted => {
                    self.stats.is_accepted = true;
                    self.stats.step(now, 1, context.stage_stats);
                }
                Event::Level => self.begin_level(now, context),
                Event::Entered => {
                    self.stats.step(now, 3, context.stage_stats);
                    // Counting starts after the first snapshot of the game.
                    let statistics = self.client_statistics();
                    let is_first = self.stats.enter(now, statistics, context.stage_stats);
                    self.enter_level(now, is_first, context);
                }
                Event::Snapshot => self.record_snapshot(now, context),
                Event::Refused(reason) => self.record_refusal(reason),
                Event::ProtocolError(error) => {
                    self.log(&error);
                    self.stats.protocol_error.get_or_insert(error);
                }
                Event::Note(text) => self.log(&text),
                Event::Disconnected(ending) => self.record_disconnect(now, ending, context),
                Event::Restart => self.record_restart(context),
            }
        }
        if self.state() == ConnectionState::Challenging {
            self.stats.step(now, 0, context.stage_stats);
        }
        while let Some(&(command, sent)) = self.commands.front()
            && self.is_acknowledged(command)
        {
            context.stage_stats.commands.saturating_record(now.since(sent).0);
            self.commands.pop_front();
        }
        if self.connection.is_some() {
            self.update_statistics();
            self.stats.until = now;
        }
    }

    /// Records the start of a level, and what the server tells with it.
    fn begin_level(&mut self, now: Millis, context: &mut BotContext<'_>) {
        self.stats.step(now, 2, context.stage_stats);
        let index = context.options.server_index(self.number);
        let Some(connection) = &self.connection else { return };
        if let Some(protocol) = context.detected.get_mut(index) {
            *protocol = Some(connection.protocol());
        }
        self.stats.begin_map_change(now);
        if let Some(record) = context.servers.get_mut(index) {
            record.read(connection.server());
        }
    }

    fn record_refusal(&mut self, reason: String) {
        // The request is repeated every few seconds. A repeated answer is not logged.
        if self.stats.refusal_is_shared || self.stats.refusal.as_ref() != Some(&reason) {
            self.log(&format!("refused: {}", escaped(reason.as_bytes())));
        }
        self.stats.refusal = Some(reason);
        self.stats.refusal_is_shared = false;
    }

    fn record_restart(&mut self, context: &mut BotContext<'_>) {
        let index = context.options.server_index(self.number);
        if self.stats.is_in_game()
            && let Some(record) = context.servers.get_mut(index)
            && record.levels.restart(&mut self.stats.level)
        {
            context.stage_stats.record_restart();
        }
    }

    /// Records the first snapshot of a level: the entry into the game, or the end of a map change.
    fn enter_level(&mut self, now: Millis, is_first: bool, context: &mut BotContext<'_>) {
        let BotContext { options, servers, stage_stats, .. } = context;
        let level = self.connection.as_ref().and_then(Connection::level);
        let record = servers.get_mut(options.server_index(self.number));
        if let Some((record, level)) = record.zip(level) {
            if is_first {
                self.stats.level = record.levels.join(level);
                record.silence.begin_play();
            }
            self.stats.record_map_change(now, level, &mut record.levels, stage_stats);
        }
        self.stats.end_map_change();
    }

    fn record_snapshot(&mut self, now: Millis, context: &mut BotContext<'_>) {
        let Some(snapshot) = self.connection.as_ref().and_then(Connection::snapshot) else {
            return;
        };
        if !snapshot.is_active {
            // A server that has loaded another level sends such snapshots before its gamestate.
            self.stats.begin_map_change(now);
            return;
        }
        let arrival = SnapshotArrival {
            is_intermission: snapshot.is_intermission,
            at: now,
            server_time: snapshot.server_time,
            rate_delayed: snapshot.is_rate_delayed,
            ping_ms: self.ping_ms(),
        };
        // A following spectator receives the playerstate of the followed player. Players cannot move during an
        // intermission.
        if snapshot.is_intermission {
            self.stats.rest();
        } else if !snapshot.is_spectator {
            self.stats.record_body(now, snapshot.origin, snapshot.score);
        }
        let gap = self.stats.last_snapshot.map_or(0, |(before, _)| now.since(before).0);
        let lost = self.client_statistics().lost_messages;
        let newly_lost = lost.saturating_sub(std::mem::replace(&mut self.lost_before, lost));
        let sample = self.lagometer.at(now);
        let short = |value: u64| u16::try_from(value).unwrap_or(u16::MAX);
        sample.gap_ms = sample.gap_ms.max(short(gap));
        sample.ping_ms = short(arrival.ping_ms.unwrap_or(0));
        sample.lost = sample.lost.saturating_add(short(newly_lost));
        sample.rate_delayed = sample.rate_delayed.saturating_add(u16::from(arrival.rate_delayed));
        sample.snapshots = sample.snapshots.saturating_add(1);
        self.stats.snapshot(arrival, context.options.snapshot_interval(), context.stage_stats);
    }

    /// Records the end of a connection and schedules the next one, if any.
    fn record_disconnect(
        &mut self,
        now: Millis,
        ending: DisconnectReason,
        context: &mut BotContext<'_>,
    ) {
        let options = context.options;
        let is_intended = ending == DisconnectReason::Left;
        self.stats.record_gap(now, options.snapshot_interval(), context.stage_stats);
        let level = self.connection.as_ref().and_then(Connection::level);
        if let Some(record) = context.servers.get_mut(options.server_index(self.number)) {
            // A client that has ended has no level.
            if let Some(level) = level.or(record.level) {
                let BotContext { stage_stats, .. } = context;
                self.stats.record_map_change(now, level, &mut record.levels, stage_stats);
            }
            if self.stats.is_in_game() {
                record.silence.end_play();
            }
        }
        context.end_silence(now, self.number);
        context.quakeworld_maps.leave(self.number);
        self.stats.end_map_change();
        if let DisconnectReason::Unpure(reason) = &ending
            && self.stats.entered.is_none()
        {
            self.log(&format!("refused: {}", escaped(reason.as_bytes())));
            self.stats.refusal = Some(reason.clone());
            self.stats.refusal_is_shared = false;
        } else if !is_intended {
            self.log(&format!("dropped: {}", escaped(ending.to_string().as_bytes())));
            self.stats.dropped.get_or_insert_with(|| ending.clone());
        }
        self.update_statistics();
        self.stats.until = now;
        self.stats.ending = Some(ending);
        let storms = is_intended && options.behavior.contains(Behavior::Storm);
        if !self.is_stopped && (storms || (!is_intended && options.reconnects)) {
            self.joins_at =
                now + RECONNECT_DELAY + Millis(self.random.next_u64() % RECONNECT_SPREAD_MS);
            self.leaves_at = Millis::NEVER;
        }
    }
}

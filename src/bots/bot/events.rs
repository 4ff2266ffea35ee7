//! Client events of one bot: join steps, snapshots, refusals, protocol errors and disconnects.

use rand_pcg::rand_core::Rng as _;

use crate::{
    bg::{Persistent, PmType},
    client::{Client, ClientEvent, ConnectionState, DisconnectReason},
    model::{Millis, text::escaped},
    wire::snapshot::SnapFlags,
};

use super::{
    super::{behavior::Behavior, bot_stats::SnapshotArrival},
    Bot, BotContext, RECONNECT_DELAY, RECONNECT_SPREAD_MS,
};

impl Bot {
    /// Handles the events of the client and measures the acknowledged commands.
    pub(super) fn handle_events(&mut self, now: Millis, context: &mut BotContext<'_>) {
        while let Some(event) = self.client.as_mut().and_then(Client::poll_event) {
            match event {
                ClientEvent::Connected => {
                    self.stats.is_accepted = true;
                    self.stats.step(now, 1, context.stage_stats);
                }
                ClientEvent::Gamestate => {
                    self.stats.step(now, 2, context.stage_stats);
                    let index = context.options.server_index(self.number);
                    if let Some(protocol) = context.detected.get_mut(index) {
                        *protocol = self.client.as_ref().map(Client::protocol);
                    }
                    self.stats.begin_map_change(now);
                    if let Some((record, client)) =
                        context.servers.get_mut(index).zip(self.client.as_ref())
                    {
                        record.read(client);
                    }
                }
                ClientEvent::Entered => {
                    self.stats.step(now, 3, context.stage_stats);
                    // Counting starts after the first snapshot of the game.
                    let statistics = self.client_statistics();
                    let is_first = self.stats.enter(now, statistics, context.stage_stats);
                    self.enter_level(now, is_first, context);
                }
                ClientEvent::Snapshot => self.record_snapshot(now, context),
                ClientEvent::Refused(reason) => self.record_refusal(reason),
                ClientEvent::ProtocolError(error) => {
                    self.log(&error.to_string());
                    self.stats.protocol_error.get_or_insert_with(|| error.to_string());
                }
                ClientEvent::Disconnected(ending) => {
                    self.record_disconnect(now, ending, context);
                }
                ClientEvent::MapRestart => self.record_restart(context),
                ClientEvent::Configstring(_)
                | ClientEvent::ProofRequired
                | ClientEvent::ServerCommand(_)
                | ClientEvent::Download(_)
                | ClientEvent::Print(_) => {}
            }
        }
        if self.state() == ConnectionState::Challenging {
            self.stats.step(now, 0, context.stage_stats);
        }
        if let Some(client) = &self.client {
            while let Some(&(number, sent)) = self.commands.front()
                && client.is_acknowledged(number)
            {
                context.stage_stats.commands.saturating_record(now.since(sent).0);
                self.commands.pop_front();
            }
        }
        if self.client.is_some() {
            self.update_statistics();
            self.stats.until = now;
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
        let level = self.client.as_ref().and_then(Client::server_id);
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
        let Some(snapshot) = self.client.as_ref().and_then(Client::snapshot) else { return };
        if !snapshot.is_active() {
            // A server that has loaded another level sends such snapshots before its gamestate.
            self.stats.begin_map_change(now);
            return;
        }
        let pm_type = snapshot.player.pm_type;
        let is_intermission = [PmType::Intermission, PmType::SinglePlayerIntermission]
            .iter()
            .any(|&kind| pm_type == kind as i32);
        let arrival = SnapshotArrival {
            is_intermission,
            at: now,
            server_time: snapshot.head.server_time,
            rate_delayed: snapshot.head.flags.contains(SnapFlags::RATE_DELAYED),
            ping_ms: self.ping_ms(),
        };
        let player = &snapshot.player;
        let (origin, score) = (player.origin, player.persistant[Persistent::Score]);
        // A following spectator receives the playerstate of the followed player. Players cannot move during an
        // intermission.
        if is_intermission {
            self.stats.rest();
        } else if pm_type != PmType::Spectator as i32 {
            self.stats.record_body(now, origin, score);
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
        let level = self.client.as_ref().and_then(Client::server_id);
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

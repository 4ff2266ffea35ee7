//! One simulated client: protocol client, input and statistics.
//!
//! A bot joins once, or again after each disconnect if the options ask for it. Invariants: each packet carries
//! the usercmds of the time since the last one; each event of a bot is one line. Source: Quake III protocol
//! 68, packets of a client; the game's persistent values.

mod connection;
mod events;
mod play;
mod quakeworld;
mod userinfo;

use std::{collections::VecDeque, net::SocketAddr};

use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};

use crate::{
    chart::Lagometer,
    client::{ConnectionState, DisconnectReason, Statistics},
    impairment::Impairment,
    model::{Millis, limits::MAX_PACKET_USERCMDS},
};

use super::{
    ai::BotAi,
    bot_stats::BotStats,
    levels::Levels,
    map_cache::MapCache,
    options::BotsOptions,
    protocol::{BotProtocol, GameProtocol},
    quakeworld_maps::QuakeWorldMaps,
    run_info::ServerRecord,
    stage_stats::StageStats,
};
use connection::Connection;
use play::SentCommand;
pub(super) use quakeworld::QuakeWorldPlayer;

/// Maximum usercmds generated for one packet.
const MAX_NEW_USERCMDS: i32 = 8;
const _: () = assert!(MAX_NEW_USERCMDS as usize <= MAX_PACKET_USERCMDS);
/// Time between attempts to change between players and spectators. Games allow one in 5 seconds.
const TEAM_INTERVAL: Millis = Millis::seconds(6);
/// Maximum log lines of one bot, over all its connections.
const MAX_LINES: u32 = 8;
/// Maximum reliable commands whose round trip is measured at a time.
const MAX_WATCHED: usize = 16;
/// Join steps completed by a bot that received a challenge and no connect response.
const CHALLENGED: usize = 1;
/// Delay before a reconnect: minimum, and random extra in ms.
const RECONNECT_DELAY: Millis = Millis::seconds(1);
const RECONNECT_SPREAD_MS: u64 = 3000;
/// Minimum timeout of a mute bot, which receives nothing.
const MUTE_TIMEOUT: Millis = Millis::seconds(86_400);
/// Silence before the end of the test after which the server counts as lost.
const SILENCE: Millis = Millis::seconds(3);
/// Time in the game of a `storm` bot: minimum, and random extra in ms.
const STAY: Millis = Millis::seconds(3);
const STAY_SPREAD_MS: u64 = 7000;

/// State shared by all bots, borrowed while one of them runs.
pub(super) struct BotContext<'a> {
    pub(super) options: &'a BotsOptions,
    pub(super) maps: &'a mut MapCache,
    /// Statistics of the current stage.
    pub(super) stage_stats: &'a mut StageStats,
    /// QuakeWorld maps of the test.
    pub(super) quakeworld_maps: &'a mut QuakeWorldMaps,
    /// Detected protocol of each server.
    pub(super) detected: &'a mut [Option<GameProtocol>],
    /// Serverinfo and level of each server.
    pub(super) servers: &'a mut [ServerRecord],
}

impl BotContext<'_> {
    /// Ends the silence of a bot's server, while no bot is in its game.
    pub(super) fn end_silence(&mut self, now: Millis, number: u16) {
        if let Some(record) = self.servers.get_mut(self.options.server_index(number)) {
            self.stage_stats.record_server_silence(record.silence.end(now));
        }
    }
}

/// A bot: client, input and statistics.
#[derive(Debug)]
pub(super) struct Bot {
    number: u16,
    name: String,
    /// `None` before the first join and between connections.
    connection: Option<Connection>,
    /// Time of the next join.
    joins_at: Millis,
    /// Time of the next disconnect of a `storm` bot.
    leaves_at: Millis,
    random: Pcg64Mcg,
    ai: BotAi,
    stats: BotStats,
    lagometer: Lagometer,
    /// Lost messages at the last lagometer sample.
    lost_before: u64,
    /// Time of its next scheduled wake-up.
    pub(super) scheduled: Millis,
    /// Whether the test has stopped the bot.
    is_stopped: bool,
    /// Whether the test has counted its end.
    pub(super) is_end_counted: bool,
    next_team_change: Millis,
    /// Unacknowledged commands and the time when each was sent.
    commands: VecDeque<(SentCommand, Millis)>,
    lines: VecDeque<String>,
    lines_left: u32,
}

impl Bot {
    pub(super) fn new(
        options: &BotsOptions,
        number: u16,
        joins_at: Millis,
        lagometer: Lagometer,
    ) -> Self {
        Self {
            number,
            name: format!("{}{:02}", options.name_prefix, u32::from(number) + 1),
            connection: None,
            joins_at,
            leaves_at: Millis::NEVER,
            random: Pcg64Mcg::seed_from_u64(seed_of(options.seed, number) ^ 1),
            ai: BotAi::new(seed_of(options.seed, number), options.behavior),
            stats: BotStats::new(joins_at, options.enters()),
            lagometer,
            lost_before: 0,
            scheduled: Millis::NEVER,
            is_stopped: false,
            is_end_counted: false,
            next_team_change: Millis(0),
            commands: VecDeque::new(),
            lines: VecDeque::new(),
            lines_left: MAX_LINES,
        }
    }

    /// Schedules a join, the first one or a repeated one.
    pub(super) fn schedule_join(&mut self, joins_at: Millis) {
        self.joins_at = joins_at;
        self.is_stopped = false;
        self.is_end_counted = false;
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn stats(&self) -> &BotStats {
        &self.stats
    }

    /// Index of its server in [`BotsOptions::servers`].
    pub(super) fn server_index(&self, options: &BotsOptions) -> usize {
        options.server_index(self.number)
    }

    /// Protocol that it is to use.
    pub(super) fn protocol(&self, options: &BotsOptions) -> BotProtocol {
        options.protocol_of(self.number)
    }

    /// Copies the refusal of another bot of the same server and protocol, unless the server accepted or refused this one.
    pub(super) fn share_refusal(&mut self, reason: &str) {
        let BotStats { started, entered, refusal, last_step: (step, _), .. } = &self.stats;
        let was_asking = started.is_some() && entered.is_none() && *step <= CHALLENGED;
        if was_asking && refusal.is_none() && !self.stats.was_dropped() {
            self.stats.refusal = Some(reason.to_owned());
            self.stats.refusal_is_shared = true;
        }
    }

    pub(super) fn lagometer(&self) -> &Lagometer {
        &self.lagometer
    }

    pub(super) fn state(&self) -> ConnectionState {
        self.connection.as_ref().map_or(ConnectionState::Connecting, Connection::state)
    }

    /// Whether the bot is connected or about to be.
    pub(super) fn has_connection(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(|client| client.state() != ConnectionState::Disconnected)
    }

    /// Whether the server has refused the bot, which asks again.
    pub(super) fn is_refused(&self) -> bool {
        self.has_connection() && !self.stats.is_in_game() && self.stats.refusal.is_some()
    }

    pub(super) fn ping_ms(&self) -> Option<u64> {
        self.connection.as_ref()?.ping_ms()
    }

    /// Whether the bot has disconnected for the last time.
    pub(super) fn has_ended(&self) -> bool {
        self.joins_at == Millis::NEVER && self.connection.is_none()
    }

    /// Whether the bot has been in the game or is on its way.
    ///
    /// A bot with a challenge waits for the connection for at most `timeout`.
    pub(super) fn can_still_join(&self, now: Millis, timeout: Millis) -> bool {
        let is_under_way = match self.state() {
            ConnectionState::Connected | ConnectionState::Primed | ConnectionState::Active => true,
            ConnectionState::Challenging => now.since(self.stats.last_step.1) <= timeout,
            ConnectionState::Connecting | ConnectionState::Disconnected => false,
        };
        self.stats.entered.is_some()
            || (!self.stats.enters && self.stats.is_accepted)
            || (is_under_way && self.stats.protocol_errors() == 0)
    }

    /// Records the snapshot gap or map change that is still open.
    pub(super) fn record_open_gap(
        &mut self,
        now: Millis,
        interval: Millis,
        levels: &mut Levels,
        stage_stats: &mut StageStats,
    ) {
        if let Some(level) = self.connection.as_ref().and_then(Connection::level) {
            self.stats.record_map_change(now, level, levels, stage_stats);
        }
        if self.state() == ConnectionState::Active {
            self.stats.record_gap(now, interval, stage_stats);
        }
    }

    /// Resets the sums of the running stage.
    pub(super) fn begin_stage(&mut self) {
        self.stats.begin_stage();
    }

    /// Resets the sums of the warm-up.
    pub(super) fn end_warmup(&mut self) {
        self.stats.end_warmup();
    }

    /// Returns the time since the last snapshot, if one is due in the game.
    pub(super) fn open_gap(&self, now: Millis) -> Option<Millis> {
        self.stats.open_gap(now).filter(|_| self.state() == ConnectionState::Active)
    }

    /// Whether the end of a stage waits for this bot: a snapshot is late, or a map change under way.
    pub(super) fn awaits_snapshot(&self, now: Millis, interval: Millis) -> bool {
        let due = self.stats.due_interval(interval);
        let is_late = |gap: Millis| gap > due + Millis(due.0 / 2);
        self.open_gap(now).is_some_and(is_late)
            || (self.stats.is_changing_map() && self.connection.is_some())
    }

    pub(super) fn next_frame(&self) -> Millis {
        match &self.connection {
            None => self.joins_at,
            Some(connection) => connection.next_frame().min(self.leaves_at),
        }
    }

    pub(super) fn handle_datagram(
        &mut self,
        now: Millis,
        from: SocketAddr,
        datagram: &[u8],
        context: &mut BotContext<'_>,
    ) {
        self.find_family(now, datagram, context);
        let Some(connection) = &mut self.connection else { return };
        // A mute bot drops everything from the gamestate on, and so acknowledges nothing.
        let is_mute = !context.options.enters()
            && matches!(
                connection.state(),
                ConnectionState::Connected | ConnectionState::Primed | ConnectionState::Active
            );
        if !is_mute {
            connection.handle_datagram(now, from, datagram);
            self.handle_events(now, context);
        }
    }

    pub(super) fn frame(&mut self, now: Millis, context: &mut BotContext<'_>) {
        if self.has_ended() {
            return;
        }
        if self.connection.is_none() {
            if now < self.joins_at {
                return;
            }
            self.start(now, context);
        }
        if now >= self.leaves_at {
            self.leaves_at = Millis::NEVER;
            if let Some(connection) = &mut self.connection {
                connection.disconnect(now);
            }
            self.handle_events(now, context);
            return;
        }
        self.send_input(now, context);
        self.handle_events(now, context);
    }

    /// Disconnects for the last time.
    pub(super) fn leave(&mut self, now: Millis, context: &mut BotContext<'_>) {
        self.is_stopped = true;
        self.joins_at = Millis::NEVER;
        self.leaves_at = Millis::NEVER;
        self.note_silence(now, context.options);
        if let Some(connection) = &mut self.connection {
            connection.disconnect(now);
        }
        self.handle_events(now, context);
        self.stats.ending.get_or_insert(DisconnectReason::Left);
    }

    /// Counts a server that has fallen silent shortly before the end of the test as lost.
    pub(super) fn note_silence(&mut self, now: Millis, options: &BotsOptions) {
        let Impairment { latency, jitter, .. } = options.downlink;
        let max_silence = SILENCE + latency + jitter;
        let is_silent = self.open_gap(now).is_some_and(|gap| gap > max_silence);
        if is_silent && !self.stats.was_dropped() {
            self.log("dropped: the server has fallen silent");
            self.stats.dropped = Some(DisconnectReason::TimedOut);
        }
    }

    pub(super) fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        let remote = self.connection.as_mut()?.poll_transmit(packet)?;
        self.update_statistics();
        Some(remote)
    }

    /// Returns the next log line of the bot.
    pub(super) fn poll_line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// Drops a client that has disconnected and has nothing left to send.
    pub(super) fn drop_finished_client(&mut self) {
        let ended = self
            .connection
            .as_ref()
            .is_some_and(|connection| connection.state() == ConnectionState::Disconnected);
        if ended {
            self.connection = None;
        }
    }

    fn client_statistics(&self) -> Statistics {
        self.connection.as_ref().map(Connection::statistics).unwrap_or_default()
    }

    fn update_statistics(&mut self) {
        if let Some(connection) = &self.connection {
            self.stats.statistics = connection.statistics();
            self.stats.predictions = connection.predictions();
            self.stats.protocol = Some(connection.protocol());
            self.stats.chat = connection.chat();
        }
    }

    fn log(&mut self, text: &str) {
        if let Some(left) = self.lines_left.checked_sub(1) {
            self.lines_left = left;
            self.lines.push_back(text.to_owned());
        }
    }
}

/// Returns the seed of one bot, independent of those of the other bots.
pub(super) fn seed_of(seed: u64, number: u16) -> u64 {
    Pcg64Mcg::seed_from_u64(seed ^ u64::from(number) << 32).next_u64()
}

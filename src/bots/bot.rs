//! One simulated client: protocol client, input and statistics.
//!
//! A bot joins once, or again after each disconnect if asked to. Invariants: each packet carries the usercmds
//! of the time since the last one; each event of a bot is one line. Source: Quake III protocol 68, packets of
//! a client; the game's persistent values.

use std::{collections::VecDeque, net::SocketAddr};

use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};

use crate::{
    bg::{Persistent, PmType},
    client::{
        Client, ClientEvent, ClientOptions, ConnectionState, DisconnectReason, Protocol,
        ProtocolChoice, Statistics,
    },
    model::{CommandNum, LevelTime, Millis, Qport, limits::MAX_PACKET_USERCMDS, text::escaped},
    wire::{
        info::{InfoError, InfoString},
        snapshot::SnapFlags,
    },
};

use super::{
    ai::{BotAi, Perception},
    behavior::Behavior,
    bot_stats::{BotStats, SnapshotArrival, StageStats},
    lagometer::Lagometer,
    map_cache::MapCache,
    options::BotsOptions,
};

/// Most usercmds made for one packet.
const MAX_STEPS: i32 = 8;
const _: () = assert!(MAX_STEPS as usize <= MAX_PACKET_USERCMDS);
/// Time between attempts to change between players and spectators. Games allow one in 5 seconds.
const TEAM_INTERVAL: Millis = Millis::seconds(6);
/// Lines of one bot at most, for all its connections.
const MAX_LINES: u32 = 8;
/// Commands whose round trip is watched at a time.
const MAX_WATCHED: usize = 16;
/// Steps on the way into the game of a bot that was granted a challenge and no place.
const CHALLENGED: usize = 1;
/// Delay before a reconnect: minimum, and random extra in ms.
const RECONNECT_DELAY: Millis = Millis::seconds(1);
const RECONNECT_SPREAD_MS: u64 = 3000;
/// Minimum timeout of a mute bot, which receives nothing.
const MUTE_TIMEOUT: Millis = Millis::seconds(86_400);
/// Silence at the end after which a bot has lost the server.
const SILENCE: Millis = Millis::seconds(3);
/// How long a bot of a storm stays: at least, and so much more by chance.
const STAY: Millis = Millis::seconds(3);
const STAY_SPREAD_MS: u64 = 7000;

/// What all bots share while one of them runs.
pub(super) struct BotContext<'a> {
    pub(super) options: &'a BotsOptions,
    pub(super) maps: &'a mut MapCache,
    /// StageStats of the present stage.
    pub(super) stage_stats: &'a mut StageStats,
    /// What each server was found to speak.
    pub(super) spoken: &'a mut [Option<&'static Protocol>],
}

/// One bot.
#[derive(Debug)]
pub(super) struct Bot {
    number: u16,
    name: String,
    /// `None` until its time has come, and between two lives.
    client: Option<Client>,
    /// When its next life begins.
    starts: Millis,
    /// When it leaves to come back, in a storm.
    leaves: Millis,
    random: Pcg64Mcg,
    ai: BotAi,
    stats: BotStats,
    lagometer: Lagometer,
    /// Messages lost when the strip was last drawn.
    lost_before: u64,
    /// When its owner will run it.
    pub(super) scheduled: Millis,
    /// Whether its owner has told it to go.
    is_dismissed: bool,
    /// Whether its owner knows that it has ended.
    pub(super) is_counted_out: bool,
    asks_for_team: Millis,
    /// Commands under way, and when each was sent.
    commands: VecDeque<(CommandNum, Millis)>,
    lines: VecDeque<String>,
    lines_left: u32,
}

impl Bot {
    pub(super) fn new(
        options: &BotsOptions,
        number: u16,
        starts: Millis,
        lagometer: Lagometer,
    ) -> Self {
        Self {
            number,
            name: format!("{}{:02}", options.name_prefix, u32::from(number) + 1),
            client: None,
            starts,
            leaves: Millis::NEVER,
            random: Pcg64Mcg::seed_from_u64(seed_of(options.seed, number) ^ 1),
            ai: BotAi::new(seed_of(options.seed, number), options.behavior),
            stats: BotStats::new(starts),
            lagometer,
            lost_before: 0,
            scheduled: Millis::NEVER,
            is_dismissed: false,
            is_counted_out: false,
            asks_for_team: Millis(0),
            commands: VecDeque::new(),
            lines: VecDeque::new(),
            lines_left: MAX_LINES,
        }
    }

    /// Has it join at a time, for the first time or again.
    pub(super) fn schedule_join(&mut self, starts: Millis) {
        self.starts = starts;
        self.is_dismissed = false;
        self.is_counted_out = false;
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn stats(&self) -> &BotStats {
        &self.stats
    }

    /// Place of its server in [`BotsOptions::servers`].
    pub(super) fn server_place(&self, options: &BotsOptions) -> usize {
        options.server_place(self.number)
    }

    /// Takes over what another bot of the same server was told, if its own questions were not answered with a
    /// place or a refusal.
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

    pub(super) fn stage(&self) -> ConnectionState {
        self.client.as_ref().map_or(ConnectionState::Connecting, Client::stage)
    }

    pub(super) fn ping_ms(&self) -> Option<u64> {
        self.client.as_ref()?.ping_ms()
    }

    /// Whether it will do nothing more.
    pub(super) fn has_ended(&self) -> bool {
        self.starts == Millis::NEVER && self.client.is_none()
    }

    /// Whether it has been in the game, or has a place and waits for the level.
    pub(super) fn can_still_join(&self) -> bool {
        let is_under_way = matches!(
            self.stage(),
            ConnectionState::Connected | ConnectionState::Primed | ConnectionState::Active
        );
        self.stats.entered.is_some() || (is_under_way && self.stats.protocol_errors() == 0)
    }

    /// See [`BotStats::note_open_gap`].
    pub(super) fn record_open_gap(
        &mut self,
        now: Millis,
        interval: Millis,
        stage_stats: &mut StageStats,
    ) {
        if self.stage() == ConnectionState::Active {
            self.stats.record_open_gap(now, interval, stage_stats);
        }
    }

    /// The longest time without a snapshot that ended after `since`, or has not ended.
    pub(super) fn worst_gap_since(&self, since: Millis, now: Millis) -> Option<u64> {
        let open = self.stats.open_gap(now);
        let open = Some(open).filter(|_| self.stage() == ConnectionState::Active);
        self.stats.gap_ending_after(since).max(open)
    }

    pub(super) fn next_frame(&self) -> Millis {
        match &self.client {
            None => self.starts,
            Some(client) => client.next_frame().min(self.leaves),
        }
    }

    pub(super) fn handle_datagram(
        &mut self,
        now: Millis,
        from: SocketAddr,
        datagram: &[u8],
        context: &mut BotContext<'_>,
    ) {
        let Some(client) = &mut self.client else { return };
        // Who hears nothing from the level's text on has nothing to acknowledge.
        let is_mute = context.options.behavior.contains(Behavior::Mute)
            && matches!(
                client.stage(),
                ConnectionState::Connected | ConnectionState::Primed | ConnectionState::Active
            );
        if !is_mute {
            client.handle_datagram(now, from, datagram);
            self.handle_events(now, context);
        }
    }

    pub(super) fn frame(&mut self, now: Millis, context: &mut BotContext<'_>) {
        if self.has_ended() {
            return;
        }
        if self.client.is_none() {
            if now < self.starts {
                return;
            }
            self.start(now, context);
        }
        if now >= self.leaves {
            self.leaves = Millis::NEVER;
            if let Some(client) = &mut self.client {
                client.disconnect(now);
            }
            self.handle_events(now, context);
            return;
        }
        let before = self.stage();
        let Some(client) = &mut self.client else { return };
        if now >= client.next_frame() {
            match before {
                // The usercmd that asks to be let in carries no time.
                ConnectionState::Primed => client.push_usercmd(self.ai.next_usercmd(0, 0)),
                ConnectionState::Active => self.play(now, context),
                ConnectionState::Connecting
                | ConnectionState::Challenging
                | ConnectionState::Connected
                | ConnectionState::Disconnected => {}
            }
        }
        if let Some(client) = &mut self.client {
            client.frame(now);
        }
        self.handle_events(now, context);
    }

    /// Leaves for good, if it ever came.
    pub(super) fn leave(&mut self, now: Millis, context: &mut BotContext<'_>) {
        self.is_dismissed = true;
        self.starts = Millis::NEVER;
        self.leaves = Millis::NEVER;
        let shape = context.options.downlink;
        let patience = SILENCE + shape.latency + shape.jitter;
        if self.stage() == ConnectionState::Active
            && self.stats.last_snapshot.is_some_and(|(at, _)| now.since(at) > patience)
        {
            self.say("dropped: the server has fallen silent");
            self.stats.dropped.get_or_insert(DisconnectReason::TimedOut);
        }
        if let Some(client) = &mut self.client {
            client.disconnect(now);
        }
        self.handle_events(now, context);
        self.stats.ending.get_or_insert(DisconnectReason::Left);
    }

    pub(super) fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        let remote = self.client.as_mut()?.poll_transmit(packet)?;
        self.update_statistics();
        Some(remote)
    }

    /// The next line about what happened to the bot.
    pub(super) fn poll_line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// Forgets a client that has ended and has nothing left to send.
    pub(super) fn drop_finished_client(&mut self) {
        let ended = self
            .client
            .as_ref()
            .is_some_and(|client| client.stage() == ConnectionState::Disconnected);
        if ended {
            self.client = None;
        }
    }

    fn start(&mut self, now: Millis, context: &BotContext<'_>) {
        let options = context.options;
        self.starts = Millis::NEVER;
        self.stats.begin_life(now);
        self.lost_before = 0;
        self.commands.clear();
        let (high, low) = (self.random.next_u64(), self.random.next_u64());
        let qport = Qport(self.random.next_u32() as u16);
        let seed = self.random.next_u64();
        let is_mute = options.behavior.contains(Behavior::Mute);
        let server = options.server_of(self.number);
        let (wire, detects_protocol) = match options.wire {
            ProtocolChoice::Fixed(wire) => (wire, false),
            ProtocolChoice::Auto => {
                let found = context.spoken.get(options.server_place(self.number)).copied();
                (found.flatten().unwrap_or(Protocol::OA_71), true)
            }
        };
        let made = userinfo(&self.name, options, high, low)
            .map_err(|error| error.to_string())
            .and_then(|userinfo| {
                let client = ClientOptions {
                    packets_per_second: options.packets_per_second,
                    timeout: options.timeout.max(if is_mute { MUTE_TIMEOUT } else { Millis(0) }),
                    detects_protocol,
                    ..ClientOptions::new(server, wire, userinfo, qport, seed)
                };
                Client::new(client, now).map_err(|error| error.to_string())
            });
        match made {
            Ok(client) => self.client = Some(client),
            Err(reason) => {
                self.say(&format!("cannot join: {reason}"));
                self.stats.refusal = Some(reason);
                self.stats.ending = Some(DisconnectReason::Left);
            }
        }
        if options.behavior.contains(Behavior::Storm) {
            self.leaves = now + STAY + Millis(self.random.next_u64() % STAY_SPREAD_MS);
        }
    }

    /// Makes the usercmds since the last packet.
    fn play(&mut self, now: Millis, context: &mut BotContext<'_>) {
        let options = context.options;
        let Some(client) = &mut self.client else { return };
        let Some(player) = client.player() else { return };
        let watches = player.pm_type == PmType::Spectator as i32;
        let time = client.level_time(now);
        let step_ms = (1000 / options.frames_per_second.clamp(15, 250)) as i32;
        // The one that let the bot in had no time. After a pause there is nothing to make up for.
        let last = client.last_usercmd().map_or(0, |last| last.server_time);
        let passed = if last == 0 { step_ms } else { time.distance(LevelTime(last)) };
        let passed = passed.clamp(0, MAX_STEPS * step_ms);
        let count = (passed / step_ms).max(1);
        let map = context.maps.current(client);
        let perception = Perception::of(
            client,
            player,
            map.as_deref(),
            options.behavior.contains(Behavior::Fight),
        );
        self.ai.update(&perception, passed.unsigned_abs());
        let mut made = time - passed;
        for left in (1..=count).rev() {
            let step = time.distance(made) / left;
            made = made + step;
            client.push_usercmd(self.ai.next_usercmd(made.0, step.unsigned_abs()));
        }
        let wants_to_watch = options.behavior.contains(Behavior::Spectate);
        if watches != wants_to_watch && now >= self.asks_for_team {
            self.asks_for_team = now + TEAM_INTERVAL;
            self.command(now, if wants_to_watch { "team spectator" } else { "team free" });
        }
        if let Some(text) = self.ai.next_command() {
            self.command(now, &text);
        }
    }

    /// Sends a reliable command and watches its way.
    fn command(&mut self, now: Millis, text: &str) {
        let Some(client) = &mut self.client else { return };
        // A command that cannot be sent shows in how the connection ended.
        if let Ok(number) = client.send_command(now, text)
            && self.commands.len() < MAX_WATCHED
        {
            self.commands.push_back((number, now));
        }
    }

    /// Takes note of what happened to the client.
    fn handle_events(&mut self, now: Millis, context: &mut BotContext<'_>) {
        while let Some(event) = self.client.as_mut().and_then(Client::poll_event) {
            match event {
                ClientEvent::Connected => {
                    self.stats.step(now, 1, context.stage_stats);
                }
                ClientEvent::Gamestate => {
                    self.stats.step(now, 2, context.stage_stats);
                    let place = context.options.server_place(self.number);
                    if let Some(spoken) = context.spoken.get_mut(place) {
                        *spoken = self.client.as_ref().map(Client::protocol);
                    }
                }
                ClientEvent::Entered => {
                    self.stats.step(now, 3, context.stage_stats);
                    // The snapshot that shows the game is the beginning; counting starts behind it.
                    let statistics = self.client_statistics();
                    self.stats.enter(now, statistics, context.stage_stats);
                }
                ClientEvent::Snapshot => self.record_snapshot(now, context),
                ClientEvent::Refused(reason) => {
                    // The same answer to the same question, every few seconds.
                    if self.stats.refusal_is_shared || self.stats.refusal.as_ref() != Some(&reason)
                    {
                        self.say(&format!("refused: {}", escaped(reason.as_bytes())));
                    }
                    self.stats.refusal = Some(reason);
                    self.stats.refusal_is_shared = false;
                }
                ClientEvent::ProtocolError(fault) => {
                    self.say(&fault.to_string());
                    self.stats.protocol_error.get_or_insert_with(|| fault.to_string());
                }
                ClientEvent::Disconnected(ending) => {
                    self.record_disconnect(now, ending, context.options)
                }
                ClientEvent::Configstring(_)
                | ClientEvent::MapRestart
                | ClientEvent::ServerCommand(_)
                | ClientEvent::Print(_) => {}
            }
        }
        if self.stage() == ConnectionState::Challenging {
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

    fn record_snapshot(&mut self, now: Millis, context: &mut BotContext<'_>) {
        let Some(snapshot) = self.client.as_ref().and_then(Client::snapshot) else { return };
        let arrival = SnapshotArrival {
            at: now,
            server_time: snapshot.head.server_time,
            rate_delayed: snapshot.head.flags.contains(SnapFlags::RATE_DELAYED),
            ping_ms: self.ping_ms(),
        };
        let player = &snapshot.player;
        let (origin, score) = (player.origin, player.persistant[Persistent::Score]);
        // Who watches another one sees that one's body.
        if player.pm_type != PmType::Spectator as i32 {
            self.stats.record_body(now, origin, score);
        }
        let gap = self.stats.last_snapshot.map_or(0, |(before, _)| now.since(before).0);
        let lost = self.client_statistics().lost_messages;
        let newly_lost = lost.saturating_sub(std::mem::replace(&mut self.lost_before, lost));
        if let Some(column) = self.lagometer.at(now) {
            let short = |value: u64| u16::try_from(value).unwrap_or(u16::MAX);
            column.gap_ms = column.gap_ms.max(short(gap));
            column.ping_ms = short(arrival.ping_ms.unwrap_or(0));
            column.lost = column.lost.saturating_add(short(newly_lost));
            column.rate_delayed =
                column.rate_delayed.saturating_add(u16::from(arrival.rate_delayed));
            column.snapshots = column.snapshots.saturating_add(1);
        }
        self.stats.snapshot(arrival, context.options.snapshot_interval(), context.stage_stats);
    }

    /// A life is over; another may follow.
    fn record_disconnect(&mut self, now: Millis, ending: DisconnectReason, options: &BotsOptions) {
        let by_itself = ending == DisconnectReason::Left;
        if !by_itself {
            self.say(&format!("dropped: {}", escaped(ending.to_string().as_bytes())));
            self.stats.dropped.get_or_insert_with(|| ending.clone());
        }
        self.update_statistics();
        self.stats.until = now;
        self.stats.ending = Some(ending);
        let storms = by_itself && options.behavior.contains(Behavior::Storm);
        if !self.is_dismissed && (storms || (!by_itself && options.reconnects)) {
            self.starts =
                now + RECONNECT_DELAY + Millis(self.random.next_u64() % RECONNECT_SPREAD_MS);
            self.leaves = Millis::NEVER;
        }
    }

    fn client_statistics(&self) -> Statistics {
        self.client.as_ref().map(Client::statistics).unwrap_or_default()
    }

    fn update_statistics(&mut self) {
        if let Some(client) = &self.client {
            self.stats.statistics = client.statistics();
        }
    }

    fn say(&mut self, text: &str) {
        if let Some(left) = self.lines_left.checked_sub(1) {
            self.lines_left = left;
            self.lines.push_back(text.to_owned());
        }
    }
}

/// A seed for each bot that has nothing of its neighbours'.
pub(super) fn seed_of(seed: u64, number: u16) -> u64 {
    Pcg64Mcg::seed_from_u64(seed ^ u64::from(number) << 32).next_u64()
}

/// Who a bot is. The two numbers make the identity that some games ask for.
fn userinfo(
    name: &str,
    options: &BotsOptions,
    guid_high: u64,
    guid_low: u64,
) -> Result<InfoString, InfoError> {
    let mut info = InfoString::normal();
    for (key, value) in [
        ("name", name),
        ("rate", &options.rate_bytes_per_sec.to_string()),
        ("snaps", &options.snaps.to_string()),
        ("model", "sarge"),
        ("headmodel", "sarge"),
        ("team_model", "sarge"),
        ("team_headmodel", "sarge"),
        ("color1", "4"),
        ("color2", "5"),
        ("handicap", "100"),
        ("sex", "male"),
        ("cl_anonymous", "0"),
        ("cg_predictItems", "1"),
        ("teamtask", "0"),
        ("cl_guid", &format!("{guid_high:016X}{guid_low:016X}")),
        ("password", &options.password),
    ] {
        info.set(key, value)?;
    }
    Ok(info)
}

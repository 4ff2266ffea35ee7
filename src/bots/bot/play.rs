//! Input of a bot: start of a connection, usercmds, commands.

use rand_pcg::{
    Pcg32,
    rand_core::{Rng as _, SeedableRng as _},
};

use super::{
    Bot, BotContext, MAX_NEW_USERCMDS, MAX_WATCHED, MUTE_TIMEOUT, STAY, STAY_SPREAD_MS,
    TEAM_INTERVAL,
    connection::Connection,
    quakeworld::{PlayerOptions, QuakeWorldPlayer},
    userinfo::userinfo,
};
use crate::{
    bg::PmType,
    bots::{
        BotProtocol, GameProtocol,
        ai::{BotAi, Perception},
        behavior::Behavior,
        options::BotsOptions,
    },
    client::{Client, ClientOptions, ConnectionState, DisconnectReason, Protocol},
    model::{CommandNum, LevelTime, Millis, Qport, UserCmd},
    quakeworld::connectionless::Reply,
};

/// A reliable command whose acknowledgement is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentCommand {
    /// Number in a channel of Quake III.
    Quake3(CommandNum),
    /// In the reliable messages of QuakeWorld, which have no numbers.
    QuakeWorld,
}

/// Random numbers of a connection.
#[derive(Clone, Copy, Debug)]
struct Identity {
    guid: [u64; 2],
    qport: Qport,
    seed: u64,
}

impl Bot {
    pub(super) fn start(&mut self, now: Millis, context: &BotContext<'_>) {
        let options = context.options;
        self.joins_at = Millis::NEVER;
        self.stats.begin_connection(now);
        self.lost_before = 0;
        self.commands.clear();
        let identity = Identity {
            guid: [self.random.next_u64(), self.random.next_u64()],
            qport: Qport(self.random.next_u32() as u16),
            seed: self.random.next_u64(),
        };
        let found = context.detected.get(options.server_index(self.number)).copied().flatten();
        let made = match (options.protocol_of(self.number), found) {
            (BotProtocol::Fixed(GameProtocol::QuakeWorld), _)
            | (BotProtocol::Auto, Some(GameProtocol::QuakeWorld)) => {
                self.quakeworld(now, options, identity)
            }
            (BotProtocol::Fixed(GameProtocol::Quake3(protocol)), _) => {
                self.quake3(now, options, identity, protocol, false)
            }
            (BotProtocol::Auto, Some(GameProtocol::Quake3(protocol))) => {
                self.quake3(now, options, identity, protocol, true)
            }
            (BotProtocol::Auto | BotProtocol::Each, _) => {
                self.quake3(now, options, identity, Protocol::OA_71, true)
            }
        };
        match made {
            Ok(connection) => self.connection = Some(connection),
            Err(reason) => {
                self.log(&format!("cannot join: {reason}"));
                self.stats.refusal = Some(reason);
                self.stats.ending = Some(DisconnectReason::Left);
            }
        }
        if options.behavior.contains(Behavior::Storm) {
            self.leaves_at = now + STAY + Millis(self.random.next_u64() % STAY_SPREAD_MS);
        }
    }

    fn timeout(options: &BotsOptions) -> Millis {
        options.timeout.max(if options.enters() { Millis(0) } else { MUTE_TIMEOUT })
    }

    fn quake3(
        &self,
        now: Millis,
        options: &BotsOptions,
        identity: Identity,
        protocol: &'static Protocol,
        detects_protocol: bool,
    ) -> Result<Connection, String> {
        let server = options.server_of(self.number);
        let [high, low] = identity.guid;
        let userinfo =
            userinfo(&self.name, options, high, low).map_err(|error| error.to_string())?;
        let client = ClientOptions {
            packets_per_second: options.packets_per_second,
            packet_jitter: options.stagger,
            timeout: Self::timeout(options),
            detects_protocol,
            packs: options.packs.clone(),
            ..ClientOptions::new(server, protocol, userinfo, identity.qport, identity.seed)
        };
        let client = Client::new(client, now).map_err(|error| error.to_string())?;
        Ok(Connection::Quake3(Box::new(client)))
    }

    fn quakeworld(
        &self,
        now: Millis,
        options: &BotsOptions,
        identity: Identity,
    ) -> Result<Connection, String> {
        let player = QuakeWorldPlayer::new(
            PlayerOptions {
                server: options.server_of(self.number),
                name: &self.name,
                password: &options.password,
                rate_bytes_per_sec: options.rate_bytes_per_sec,
                spectates: options.behavior.contains(Behavior::Spectate),
                qport: identity.qport,
                timeout: Self::timeout(options),
                interval: options.packet_interval(),
                stagger: options.stagger,
                random: Pcg32::seed_from_u64(identity.seed),
            },
            now,
        );
        let player = player.map_err(|error| error.to_string())?;
        Ok(Connection::QuakeWorld(Box::new(player)))
    }

    /// Changes to QuakeWorld if the server answers the first request with a challenge of QuakeWorld.
    pub(super) fn find_family(
        &mut self,
        now: Millis,
        datagram: &[u8],
        context: &mut BotContext<'_>,
    ) {
        let asks = matches!(&self.connection, Some(Connection::Quake3(client))
            if client.state() == ConnectionState::Connecting);
        if !asks
            || context.options.protocol != BotProtocol::Auto
            || !matches!(Reply::parse(datagram), Ok(Reply::Challenge { .. }))
        {
            return;
        }
        if let Some(found) = context.detected.get_mut(context.options.server_index(self.number)) {
            *found = Some(GameProtocol::QuakeWorld);
        }
        let lives = self.stats.lives;
        self.start(now, context);
        self.stats.lives = lives;
    }

    /// Sends the input that is due.
    pub(super) fn send_input(&mut self, now: Millis, context: &mut BotContext<'_>) {
        match &mut self.connection {
            None => {}
            Some(Connection::Quake3(client)) => {
                if now >= client.next_frame() {
                    match client.state() {
                        // The usercmd that enters the game carries no time.
                        ConnectionState::Primed => {
                            client.push_usercmd(self.ai.next_usercmd(0, 0));
                        }
                        ConnectionState::Active => self.play_quake3(now, context),
                        ConnectionState::Connecting
                        | ConnectionState::Challenging
                        | ConnectionState::Connected
                        | ConnectionState::Disconnected => {}
                    }
                }
                if let Some(Connection::Quake3(client)) = &mut self.connection {
                    client.frame(now);
                }
            }
            Some(Connection::QuakeWorld(player)) => {
                player.provide_map(self.number, context.quakeworld_maps);
                if now >= player.next_frame() {
                    match player.state() {
                        ConnectionState::Active => self.play_quakeworld(now, context),
                        ConnectionState::Connected | ConnectionState::Primed => {
                            player.send(now, None);
                        }
                        ConnectionState::Connecting
                        | ConnectionState::Challenging
                        | ConnectionState::Disconnected => {}
                    }
                }
                if let Some(Connection::QuakeWorld(player)) = &mut self.connection {
                    player.frame(now, context.quakeworld_maps);
                    player.provide_map(self.number, context.quakeworld_maps);
                }
            }
        }
    }

    /// Generates the usercmds since the last packet.
    fn play_quake3(&mut self, now: Millis, context: &mut BotContext<'_>) {
        let options = context.options;
        let Some(Connection::Quake3(client)) = &mut self.connection else { return };
        let Some(player) = client.player() else { return };
        let spectates = player.pm_type == PmType::Spectator as i32;
        let time = client.level_time(now);
        let step_ms = (1000 / options.frames_per_second.clamp(15, 250)) as i32;
        // The usercmd that entered the game had no time. A pause is not made up for.
        let last = client.last_usercmd().map_or(0, |last| last.server_time);
        let passed = if last == 0 { step_ms } else { time.distance(LevelTime(last)) };
        let passed = passed.clamp(0, MAX_NEW_USERCMDS * step_ms);
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
        let wants_to_spectate = options.behavior.contains(Behavior::Spectate);
        if spectates != wants_to_spectate && now >= self.next_team_change {
            self.next_team_change = now + TEAM_INTERVAL;
            self.command(now, if wants_to_spectate { "team spectator" } else { "team free" });
        }
        if let Some(text) = self.ai.next_command() {
            self.command(now, &text);
        }
    }

    /// Sends the usercmd of a packet.
    fn play_quakeworld(&mut self, now: Millis, context: &mut BotContext<'_>) {
        let Some(Connection::QuakeWorld(player)) = &mut self.connection else { return };
        let passed = player.passed_ms(now);
        let fights = context.options.behavior.contains(Behavior::Fight);
        let usercmd = quakeworld_input(player, &mut self.ai, passed, fights);
        player.send(now, Some(usercmd));
        if let Some(text) = self.ai.next_command() {
            // The scoreboard of QuakeWorld asks for pings.
            let text = if text == "score" { "pings" } else { &text };
            self.command(now, text);
        }
    }

    /// Sends a reliable command and measures its round trip.
    fn command(&mut self, now: Millis, text: &str) {
        let sent = match &mut self.connection {
            None => None,
            // A command that cannot be sent ends the connection, and its reason is reported.
            Some(Connection::Quake3(client)) => {
                client.send_command(now, text).ok().map(SentCommand::Quake3)
            }
            Some(Connection::QuakeWorld(player)) => {
                player.command(text).then_some(SentCommand::QuakeWorld)
            }
        };
        if let Some(sent) = sent
            && self.commands.len() < MAX_WATCHED
        {
            self.commands.push_back((sent, now));
        }
    }

    /// Whether a command was acknowledged.
    pub(super) fn is_acknowledged(&self, command: SentCommand) -> bool {
        match (&self.connection, command) {
            (Some(Connection::Quake3(client)), SentCommand::Quake3(number)) => {
                client.is_acknowledged(number)
            }
            (Some(Connection::QuakeWorld(player)), SentCommand::QuakeWorld) => {
                player.has_delivered_commands()
            }
            (_, _) => false,
        }
    }
}

/// Returns the usercmd of a player of QuakeWorld, who sees the level from his predicted place.
fn quakeworld_input(
    player: &mut QuakeWorldPlayer,
    ai: &mut BotAi,
    passed_ms: u32,
    fights: bool,
) -> UserCmd {
    let predicted = player.predicted();
    let state = predicted.as_ref().map(|(state, _)| *state);
    let map = predicted.as_ref().map(|(_, map)| &**map);
    let perception = Perception::of_quakeworld(player, state, map, fights);
    ai.update(&perception, passed_ms);
    ai.next_usercmd(0, passed_ms)
}

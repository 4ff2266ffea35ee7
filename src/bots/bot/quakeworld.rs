//! QuakeWorld player of a load test: client, prediction, and one usercmd per packet.
//!
//! A server answers each packet, so the interval of packets is that of snapshots. Invariants: the map of a level is taken
//! from the game data, or downloaded once for all bots; a bot enters the level when its map is known or cannot be had.
//! Source: QuakeWorld protocol 28, duties of a client.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use rand_pcg::{Pcg32, rand_core::Rng as _};

use super::connection::{Event, SnapshotView};
use crate::{
    bots::{
        GameProtocol,
        chat_order::{ChatCounts, ChatOrder},
        quakeworld_maps::QuakeWorldMaps,
        run_info::ServerDescription,
    },
    bsp29::Bsp29,
    client::{ConnectionState, DisconnectReason, Statistics},
    model::{Buttons, LevelTime, Millis, Qport, ServerId, UserCmd, Vec3},
    quakeworld::{
        Usercmd,
        bytes::Angle,
        client::{
            Client, ClientEvent, ClientOptions, ClientState, DisconnectReason as QuakeWorldReason,
        },
        info::{self, Info, InfoError},
        players::{MoveType, flag},
        usercmd::button,
    },
    qwgame::{movement::MoveState, prediction::Predictor},
};

/// Time between two looks at the timers of the handshake.
const HANDSHAKE_STEP: Millis = Millis(100);
/// Time after which a question of the handshake is repeated. Real clients wait for five seconds, as long as the time after
/// which a load test gives up allows for two questions.
const HANDSHAKE_RETRY: Millis = Millis::seconds(2);
/// Longest time of a usercmd, in ms.
const MAX_MSEC: u64 = 100;
/// Speed of a pressed key, in units per second; that of usercmds of Quake III is 127.
const KEY_SPEED: i32 = 400;
/// Level of prints with chat.
const PRINT_CHAT: u8 = 3;
/// Health in the stats.
const HEALTH: usize = 0;
/// CRC-16 of the publisher's player model and eyes.
const MODEL_CHECKSUMS: [u16; 2] = [33_168, 6967];

/// Settings of a player.
#[derive(Debug)]
pub(super) struct PlayerOptions<'a> {
    pub(super) server: SocketAddr,
    pub(super) name: &'a str,
    pub(super) password: &'a str,
    pub(super) rate_bytes_per_sec: u32,
    pub(super) spectates: bool,
    pub(super) qport: Qport,
    pub(super) timeout: Millis,
    /// Time between two packets, and its longest random addition.
    pub(super) interval: Millis,
    pub(super) stagger: Millis,
    pub(super) random: Pcg32,
}

impl PlayerOptions<'_> {
    fn userinfo(&self) -> Result<Info, InfoError> {
        let mut userinfo = Info::new(info::MAX_INFO_LEN);
        let (password, player_password) =
            if self.spectates { (self.password, "") } else { ("", self.password) };
        let spectator = if password.is_empty() { "1" } else { password };
        for (key, value) in [
            ("name", self.name),
            ("rate", &self.rate_bytes_per_sec.to_string()),
            ("msg", "1"),
            ("topcolor", "4"),
            ("bottomcolor", "4"),
            ("team", "red"),
            ("noaim", "1"),
            ("password", player_password),
            ("spectator", if self.spectates { spectator } else { "" }),
        ] {
            userinfo.set(key.as_bytes(), value.as_bytes())?;
        }
        // Moves are predicted with the state of the jump button and of the ground.
        userinfo.set_any(b"*z_ext", b"323")?;
        Ok(userinfo)
    }
}

/// A player.
#[derive(Debug)]
pub(in crate::bots) struct QuakeWorldPlayer {
    client: Client,
    predictor: Predictor,
    /// Whether the last prediction had a player to begin with.
    is_predicted: bool,
    map: Option<Arc<Bsp29>>,
    /// Path of the map whose checksum the client waits for.
    wanted_map: Option<String>,
    interval: Millis,
    stagger: Millis,
    random: Pcg32,
    /// Regular time of the next packet, and its time with the random addition.
    regular: Millis,
    next: Millis,
    last_usercmd: Millis,
    frames: u64,
    choked: u64,
    is_choked: bool,
    faults: u64,
    chat: ChatOrder,
    snapshot_at: Millis,
    events: VecDeque<Event>,
    /// Name and content of a file that the server sent, or refused.
    downloaded: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

impl QuakeWorldPlayer {
    pub(super) fn new(options: PlayerOptions<'_>, now: Millis) -> Result<Self, InfoError> {
        let userinfo = options.userinfo()?;
        let client = ClientOptions {
            retry: HANDSHAKE_RETRY,
            timeout: options.timeout,
            model_checksums: Some(MODEL_CHECKSUMS),
            ..ClientOptions::new(options.server, options.qport, userinfo)
        };
        let PlayerOptions { interval, stagger, random, .. } = options;
        Ok(Self {
            client: Client::new(client, now),
            predictor: Predictor::default(),
            is_predicted: false,
            map: None,
            wanted_map: None,
            interval,
            stagger,
            random,
            regular: now,
            next: now,
            last_usercmd: now,
            frames: 0,
            choked: 0,
            is_choked: false,
            faults: 0,
            chat: ChatOrder::default(),
            snapshot_at: now,
            events: VecDeque::new(),
            downloaded: None,
        })
    }

    pub(super) fn state(&self) -> ConnectionState {
        match self.client.state() {
            ClientState::Challenging => ConnectionState::Connecting,
            ClientState::Connecting => ConnectionState::Challenging,
            ClientState::Connected
            | ClientState::Lists
            | ClientState::Map
            | ClientState::Spawning => ConnectionState::Connected,
            ClientState::Entering => ConnectionState::Primed,
            ClientState::Active => ConnectionState::Active,
            ClientState::Disconnected => ConnectionState::Disconnected,
        }
    }

    pub(super) fn ping_ms(&self) -> Option<u64> {
        self.client.timing().latency_ms().map(|ms| ms as u64)
    }

    pub(super) fn level(&self) -> Option<ServerId> {
        let count = self.client.level().server_count;
        (count != 0).then_some(ServerId(count))
    }

    pub(super) fn next_frame(&self) -> Millis {
        if self.client.state() == ClientState::Disconnected { Millis::NEVER } else { self.next }
    }

    pub(super) fn handle_datagram(&mut self, now: Millis, from: SocketAddr, datagram: &[u8]) {
        self.client.handle_datagram(now, from, datagram);
        self.take_events();
        let statistics = self.client.statistics();
        if std::mem::replace(&mut self.frames, statistics.frames) != statistics.frames
            && self.client.state() == ClientState::Active
        {
            self.snapshot_at = now;
            self.is_choked =
                std::mem::replace(&mut self.choked, statistics.choked) != statistics.choked;
            self.events.push_back(Event::Snapshot);
        }
    }

    pub(super) fn disconnect(&mut self, now: Millis) {
        self.client.disconnect(now);
        self.take_events();
    }

    pub(super) fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        self.client.poll_transmit(packet)
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns the counters. Answers that the server left out for lack of rate are not lost.
    pub(super) fn statistics(&self) -> Statistics {
        let counted = self.client.statistics();
        Statistics {
            datagrams_in: counted.received + counted.ignored,
            bytes_in: counted.received_bytes,
            datagrams_out: counted.sent,
            bytes_out: counted.sent_bytes,
            dropped_datagrams: counted.ignored,
            messages: counted.received,
            lost_messages: counted.missing.saturating_sub(counted.choked),
            snapshots: counted.frames,
            delta_snapshots: counted.deltas,
            discarded_snapshots: counted.rejected,
            faults: self.faults,
            ..Statistics::default()
        }
    }

    /// Returns the newest answer. Its time is that of the packet that it answers.
    pub(super) fn snapshot(&self) -> Option<SnapshotView> {
        let frame = self.client.frames().newest()?;
        let level = self.client.level();
        let own = frame.player(level.player)?;
        let answered = self.client.timing().sent_at(frame.sequence);
        let score = level.players.get(usize::from(level.player)).map_or(0, |player| player.frags);
        Some(SnapshotView {
            server_time: LevelTime(answered.0 as i32),
            is_rate_delayed: self.is_choked,
            is_active: self.client.state() == ClientState::Active,
            is_intermission: level.is_intermission,
            is_spectator: level.is_spectator,
            origin: Vec3(own.origin),
            score: i32::from(score),
        })
    }

    pub(super) fn server(&self) -> ServerDescription {
        let level = self.client.level();
        let value = |key| {
            let value = info::value(level.serverinfo.as_bytes(), key).unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        };
        ServerDescription {
            level: self.level(),
            name: value("hostname"),
            version: value("*version"),
            map: value("map"),
            game_type: if value("teamplay").trim().trim_start_matches('0').is_empty() {
                "Free For All".to_owned()
            } else {
                "Team Deathmatch".to_owned()
            },
            protocol: GameProtocol::QuakeWorld.to_string(),
        }
    }

    /// Whether all reliable commands have arrived.
    pub(super) fn has_delivered_commands(&self) -> bool {
        !self.client.has_unacknowledged()
    }

    /// Sends a reliable command, unless the queue is full.
    pub(super) fn command(&mut self, text: &str) -> bool {
        let is_queued = self.client.command(self.chat.numbered(text).as_bytes()).is_ok();
        if is_queued {
            self.chat.sent(text);
        }
        is_queued
    }

    /// Counts of received chat lines.
    pub(super) const fn chat(&self) -> ChatCounts {
        self.chat.counts()
    }

    /// Number of answers that were compared with their prediction, and of those at another place.
    pub(super) fn predictions(&self) -> [u64; 2] {
        [self.predictor.checked(), self.predictor.misses()]
    }

    /// Gives the client the map that it waits for, as soon as it is known.
    pub(super) fn provide_map(&mut self, bot: u16, maps: &mut QuakeWorldMaps) {
        let Some(path) = &self.wanted_map else { return };
        if let Some(map) = maps.find(path) {
            self.client.map_ready(map.checksums().second);
            self.map = Some(map);
        } else if maps.may_download(path, bot) {
            if self.client.download(path).is_ok() {
                return;
            }
            maps.give_up(path, bot);
            return;
        } else if maps.is_missing(path) {
            // Some servers do not compare maps.
            self.client.map_ready(0);
        } else {
            return;
        }
        self.wanted_map = None;
    }

    /// Returns the predicted player and the map, in a level whose map is known.
    pub(super) fn predicted(&mut self) -> Option<(MoveState, Arc<Bsp29>)> {
        let map = self.map.clone()?;
        let state = self.predictor.predict(&self.client, &map);
        self.is_predicted = state.is_some();
        Some((state?, map))
    }

    /// Position in the newest answer.
    pub(in crate::bots) fn own_origin(&self) -> Vec3 {
        self.client.own_state().map_or(Vec3::ZERO, |(_, info)| Vec3(info.origin))
    }

    /// Positions of the living players in sight, without the own one.
    pub(in crate::bots) fn living_others(&self) -> impl Iterator<Item = Vec3> {
        let own = self.client.level().player;
        let players = self.client.frames().newest().map_or(&[][..], |frame| frame.players());
        let living = players.iter().filter(move |info| info.player != own && !info.has(flag::DEAD));
        living.map(|info| Vec3(info.origin))
    }

    /// Whether the player is alive.
    pub(in crate::bots) fn is_alive(&self) -> bool {
        self.client.level().stats[HEALTH] > 0
            && self.client.own_state().is_some_and(|(_, info)| !info.has(flag::DEAD))
    }

    /// Whether the player moves by usercmds.
    pub(in crate::bots) fn plays(&self) -> bool {
        let moves = |kind| !matches!(kind, MoveType::None | MoveType::Lock);
        self.client.own_state().is_some_and(|(_, info)| moves(info.move_type()))
            && !self.client.level().is_spectator
    }

    /// Time since the last usercmd, in ms.
    pub(super) fn passed_ms(&self, now: Millis) -> u32 {
        now.since(self.last_usercmd).0.clamp(1, MAX_MSEC) as u32
    }

    /// Sends a packet with a usercmd of the time since the last one; an empty one outside of the game.
    pub(super) fn send(&mut self, now: Millis, usercmd: Option<UserCmd>) {
        let msec = self.passed_ms(now) as u8;
        self.last_usercmd = now;
        let usercmd = usercmd.map_or(Usercmd::ZERO, |usercmd| quakeworld_usercmd(&usercmd));
        let usercmd = Usercmd { msec, ..usercmd };
        let sequence = self.client.next_sequence();
        self.client.push_usercmd(usercmd, now);
        if let Some(map) = self.map.as_deref().filter(|_| self.is_predicted) {
            self.predictor.run(map, sequence, &usercmd);
        }
    }

    /// Runs the timers, and schedules the next packet.
    pub(super) fn frame(&mut self, now: Millis, maps: &mut QuakeWorldMaps) {
        self.client.frame(now);
        self.take_events();
        if let Some((name, content)) = self.downloaded.take()
            && let Err(reason) = maps.store(&String::from_utf8_lossy(&name), content.as_deref())
        {
            self.events.push_back(Event::Note(reason));
        }
        if now < self.next {
            return;
        }
        let is_handshake = self.client.state() < ClientState::Connected;
        self.regular += if is_handshake { HANDSHAKE_STEP } else { self.interval };
        if self.regular <= now {
            // A pause is not made up for.
            self.regular = now + self.interval;
        }
        let jitter = match self.stagger.0 {
            0 => 0,
            most => u64::from(self.random.next_u32()) % (most + 1),
        };
        self.next = self.regular + Millis(jitter);
    }

    fn take_events(&mut self) {
        while let Some(event) = self.client.poll_event() {
            let event = match event {
                ClientEvent::Accepted => Event::Accepted,
                ClientEvent::LevelStarted { .. } => {
                    self.map = None;
                    self.predictor.forget();
                    self.is_predicted = false;
                    Event::Level
                }
                ClientEvent::MapNeeded { path } => {
                    self.wanted_map = Some(path);
                    continue;
                }
                ClientEvent::Entered => Event::Entered,
                ClientEvent::Refused(text) => Event::Refused(line(&text)),
                ClientEvent::Downloaded { name, content } => {
                    self.downloaded = Some((name, content));
                    continue;
                }
                ClientEvent::Disconnected(reason) => {
                    let (error, reason) = ending(&reason);
                    if let Some(error) = error {
                        self.faults += 1;
                        self.events.push_back(Event::ProtocolError(error));
                    }
                    Event::Disconnected(reason)
                }
                ClientEvent::Print { level: PRINT_CHAT, text } => {
                    self.chat.receive(&text);
                    continue;
                }
                ClientEvent::LevelEnded
                | ClientEvent::Print { .. }
                | ClientEvent::CenterPrint(_)
                | ClientEvent::Command(_) => continue,
            };
            self.events.push_back(event);
        }
    }
}

/// Returns the protocol error and the reason of an ending.
fn ending(reason: &QuakeWorldReason) -> (Option<String>, DisconnectReason) {
    match reason {
        QuakeWorldReason::Client => (None, DisconnectReason::Left),
        QuakeWorldReason::Server => (None, DisconnectReason::ServerSaid(String::new())),
        QuakeWorldReason::TimedOut => (None, DisconnectReason::TimedOut),
        QuakeWorldReason::Overflowed => (None, DisconnectReason::CommandOverflow),
        QuakeWorldReason::Message(_) | QuakeWorldReason::Content(_) => {
            (Some(reason.to_string()), DisconnectReason::ServerSaid(reason.to_string()))
        }
    }
}

/// Returns a text of a server as one line.
fn line(text: &[u8]) -> String {
    let plain: String = text.iter().map(|&byte| char::from(byte & 0x7f)).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a usercmd of Quake III as one of QuakeWorld, without its time.
fn quakeworld_usercmd(usercmd: &UserCmd) -> Usercmd {
    let speed = |key: i8| (i32::from(key) * KEY_SPEED / 127) as i16;
    let jumps = usercmd.upmove > 0;
    let attacks = usercmd.buttons.contains(Buttons::ATTACK);
    let pressed = |is_pressed, button| if is_pressed { button } else { 0 };
    Usercmd {
        msec: 0,
        angles: usercmd.angles.map(|angle| Angle(angle as u16)),
        forward: speed(usercmd.forwardmove),
        side: speed(usercmd.rightmove),
        up: speed(usercmd.upmove),
        buttons: pressed(attacks, button::ATTACK) | pressed(jumps, button::JUMP),
        impulse: 0,
    }
}

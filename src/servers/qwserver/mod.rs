//! QuakeWorld server: admission, signon, game packets, chat, downloads, console.
//!
//! ```text
//! datagram ┬ connectionless: challenge, connect, status, rcon
//!          └ client by address and qport ─ Channel ─ string commands, usercmds ─ QuakeWorldGame
//!                                             └ answer: players and entities in sight, effects, reliable messages
//! ```
//!
//! Each accepted packet runs at once, then the physics if a frame of it is due, then the packet is answered. A server
//! sends nothing else to clients, so that the sequence of an answer is that of its packet.
//!
//! Invariants: no input of one client changes what another one is sent but by the rules of the game; memory is
//! bounded; a refusal is not longer than its request, or limited.
//!
//! Source: QuakeWorld protocol 28, duties of a server. Engine names: `SV_ReadPackets`, `SV_ExecuteClientMessage`,
//! `SV_SendClientMessages`.

mod admission;
mod answer;
mod bans;
mod chat;
mod client;
mod commands;
mod console;
mod counters;
mod download;
mod drain;
mod drop;
mod encoded_player;
mod events;
mod files;
mod frag_log;
mod guards;
mod intermission;
mod level;
mod masters;
mod moves;
mod names;
mod pause;
mod players;
mod queries;
mod rcon;
mod rotation;
pub mod settings;
mod signon;
mod view;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use thiserror::Error;

pub use counters::{QwCounter, QwCounters};
pub use level::MapError;
pub use settings::Settings;

use client::{Client, MAX_CLIENTS};
use console::Console;
use frag_log::FragLog;
use guards::Guards;
use level::Level;
use masters::Masters;
use settings::key;

use crate::{
    bans::{BanStore, EntryKind, Moderated as _},
    bsp29::LeafSet,
    model::{
        Millis, Qport, UnixMillis,
        assets::{Assets, MemoryAssets},
        state_folder::StateFolder,
    },
    node::{
        Completion, Drain, Hosted, Input, LoopCounters, Node, NodeState, Outbox, Output,
        OutputKind, Route,
    },
    observe::{LogLimiter, Sample, Value},
    quakeworld::{
        Extensions, ServerMessage,
        bytes::Writer,
        channel::{MAX_MESSAGE_LEN, header::CONNECTIONLESS, peer::AddressMatch},
    },
};

/// Everything that a server is made from.
pub struct ServerOptions {
    /// Settings, from the command line and the config file.
    pub settings: Settings,
    /// Game data.
    pub assets: Box<dyn Assets>,
    /// Random bytes.
    pub entropy: [u8; 32],
    /// Calendar time at the zero of the server's time.
    pub began: UnixMillis,
    /// Console lines that run before the first map, such as those of the command line.
    pub lines: Vec<String>,
}

/// Reasons why a server does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The first map.
    #[error("{error}")]
    Map {
        /// Reason.
        error: MapError,
        /// Console output so far, e.g. of the start script, which may tell the cause.
        output: String,
    },
}

/// A QuakeWorld server.
pub struct QwServer {
    settings: Settings,
    assets: Box<dyn Assets>,
    began: UnixMillis,
    level: Level,
    clients: [Option<Box<Client>>; MAX_CLIENTS],
    last_user_id: i32,
    /// Map that is to be loaded in the next frame.
    next_map: Option<String>,
    guards: Guards,
    bans: BanStore,
    masters: Masters,
    drain: Drain,
    console: Console,
    frag_log: FragLog,
    outbox: Outbox,
    counters: QwCounters,
    loop_counters: LoopCounters,
    log: LogLimiter,
    /// Memory of one message.
    scratch: Vec<u8>,
    /// Memory of the unreliable message of an answer.
    message: Vec<u8>,
    visible: LeafSet,
    next_frame: Millis,
    /// Time of the call that is processed.
    now: Millis,
    is_stopping: bool,
}

impl std::fmt::Debug for QwServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QwServer").field("level", &self.level).finish_non_exhaustive()
    }
}

/// Time between two frames without packets.
const FRAME: Millis = Millis(50);
/// Number of clients whose packets are always answered at once.
const FEW_CLIENTS: usize = 4;
/// Script of the game folders that runs at the start.
const START_SCRIPT: &str = "server.cfg";
/// Start of a connection request of NetQuake: a control packet of big-endian length.
const NETQUAKE: &[u8] = &[0x80, 0];

impl QwServer {
    /// Starts a server with its first map.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(options: ServerOptions, now: Millis) -> Result<Self, StartError> {
        let ServerOptions { settings, assets, entropy, began, lines } = options;
        // Scripts choose the settings of the first map; until they have run, the map of the program takes its place.
        let name = crate::bsp29::compiler::FRAGQW1;
        let level = Level::start(name, &MemoryAssets::default(), &settings, 0, now)
            .map_err(|error| StartError::Map { error, output: String::new() })?;
        let mut server = Self {
            settings,
            assets,
            began,
            level,
            clients: [const { None }; MAX_CLIENTS],
            last_user_id: 0,
            next_map: None,
            guards: Guards::new(entropy),
            bans: BanStore::default(),
            masters: Masters::default(),
            drain: Drain::default(),
            console: Console::default(),
            frag_log: FragLog::default(),
            outbox: Outbox::default(),
            counters: QwCounters::default(),
            loop_counters: LoopCounters::default(),
            log: LogLimiter::default(),
            scratch: Vec::new(),
            message: Vec::with_capacity(MAX_MESSAGE_LEN),
            visible: LeafSet::default(),
            next_frame: now,
            now,
            is_stopping: false,
        };
        server.settings.tell("*gamedir", &server.game_folder());
        server.settings.choose_game();
        if server.assets.find(START_SCRIPT).is_some() {
            server.run_line(now, &format!("exec {START_SCRIPT}"));
        }
        for line in &lines {
            server.run_line(now, line);
        }
        let chosen = server.next_map.take();
        let name = chosen.unwrap_or_else(|| server.settings.values().text(key::MAP).to_owned());
        if let Err(error) = rotation::load_map(&mut server, now, &name) {
            let output = server.console.take().unwrap_or_default();
            return Err(StartError::Map { error, output });
        }
        server.settings.begin();
        Ok(server)
    }

    /// Settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reads bans and mutes from a folder, which takes their changes from now on.
    pub fn keep_bans(&mut self, folder: Option<Rc<dyn StateFolder>>) {
        let now = self.calendar();
        self.bans.attach(folder, now);
        self.apply(EntryKind::Ban);
    }

    /// Name of the running map.
    #[must_use]
    pub fn map_name(&self) -> &str {
        &self.level.name
    }

    /// Value of a counter.
    #[must_use]
    pub const fn counter(&self, counter: QwCounter) -> u64 {
        self.counters.get(counter)
    }

    /// Counters, for the metrics endpoint.
    pub fn samples(&self) -> impl Iterator<Item = Sample> {
        let (players, spectators) = self.population();
        let gauge = |name: std::borrow::Cow<'static, str>, help, value: usize| Sample {
            name,
            help,
            value: Value::Gauge(i64::try_from(value).unwrap_or(i64::MAX)),
        };
        // A label has neither quotes nor commas.
        let map: String = self
            .map_name()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "_-.".contains(*c))
            .collect();
        let map = format!("qw_map_info{{map=\"{map}\"}}");
        self.counters.samples().chain([
            gauge("qw_clients{kind=\"player\"}".into(), "Connected clients.", players),
            gauge("qw_clients{kind=\"spectator\"}".into(), "Connected clients.", spectators),
            gauge(map.into(), "Map of the level.", 1),
            gauge("qw_draining".into(), "1 while the server drains.", self.drain.is_on().into()),
        ])
    }

    /// Number of players and of spectators that are connected.
    #[must_use]
    pub fn population(&self) -> (usize, usize) {
        let connected = || self.clients.iter().flatten().filter(|client| client.is_connected());
        let spectators = connected().filter(|client| client.is_spectator).count();
        (connected().count() - spectators, spectators)
    }

    /// Folder of the game that clients are told.
    fn game_folder(&self) -> String {
        let name = self.settings.values().text(key::GAMEDIR);
        if name.is_empty() { "qw".to_owned() } else { name.to_owned() }
    }

    /// Calendar time.
    const fn unix(&self, now: Millis) -> UnixMillis {
        UnixMillis(self.began.0.saturating_add(now.0))
    }

    /// Queues a reliable message of one client.
    fn queue_message(&mut self, slot: usize, message: &ServerMessage<'_>) {
        let Some(client) = &mut self.clients[slot] else { return };
        write_message(&mut self.scratch, message);
        client.queue(&self.scratch);
    }

    /// Queues a reliable message of all clients that are told of changes.
    fn broadcast(&mut self, message: &ServerMessage<'_>) {
        write_message(&mut self.scratch, message);
        for client in self.clients.iter_mut().flatten().filter(|client| client.is_told()) {
            client.queue(&self.scratch);
        }
    }

    /// Handles a packet of a channel.
    fn handle_packet(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        if bytes.starts_with(NETQUAKE)
            && bytes.get(2..4) == Some(&(bytes.len() as u16).to_be_bytes())
        {
            return self.counters.bump(QwCounter::NetQuake);
        }
        let Some(qport) = bytes.get(8..10) else {
            return self.counters.bump(QwCounter::Runts);
        };
        let qport = Qport(u16::from_le_bytes([qport[0], qport[1]]));
        let is_sender = |client: &Client| {
            client.local == route.local
                && client.peer.matches(route.remote, qport) != AddressMatch::Other
        };
        let found = self.clients.iter().position(|one| one.as_deref().is_some_and(is_sender));
        let Some(slot) = found else { return self.counters.bump(QwCounter::UnknownSenders) };
        if moves::receive(self, now, slot, route, bytes) {
            self.run_physics(now);
            self.answer(now, slot);
        }
    }

    /// Runs a frame of the physics, if it is due.
    fn run_physics(&mut self, now: Millis) {
        let values = self.settings.values();
        let passed = now.since(self.level.physics_at).0 as f32 / 1000.0;
        let is_due = passed >= values.float(key::SV_MINTIC) && passed > 0.0;
        if !is_due || self.level.is_still() {
            return;
        }
        let step = passed.min(values.float(key::SV_MAXTIC));
        self.level.physics_at = now;
        self.level.game.advance(step);
        self.level.update_entities();
        events::handle_events(self, now);
    }
}

/// Replaces the content of `out` with one message.
fn write_message(out: &mut Vec<u8>, message: &ServerMessage<'_>) {
    out.clear();
    Writer::new(out, MAX_MESSAGE_LEN, Extensions::NONE).write(message);
}

impl Node for QwServer {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.counters.bump(QwCounter::Datagrams);
        let ip = route.remote.ip().to_canonical();
        let remote = std::net::SocketAddr::new(ip, route.remote.port());
        let route = Route { remote, ..route };
        if self.is_stopping || remote.port() == 0 {
            return;
        }
        self.now = now;
        if bans::refuses(self, remote, bytes) {
            return admission::refuse_banned(self, now, route, bytes.len());
        }
        if bytes.starts_with(CONNECTIONLESS) {
            queries::handle_connectionless(self, now, route, bytes);
        } else if matches!(bytes, b"l" | b"k" | b"k\0") {
            // Masters acknowledge and ask without a mark.
            queries::handle_bare(self, route, bytes);
        } else {
            self.handle_packet(now, route, bytes);
        }
        drop::drop_overflowed(self, now);
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        if self.is_stopping {
            return;
        }
        self.next_frame = now + FRAME;
        self.now = now;
        drop::check_timeouts(self, now);
        self.run_physics(now);
        commands::tell_changed_infos(self, now);
        rotation::check_limits(self, now);
        drain::step(self, now);
        if self.is_stopping {
            return;
        }
        self.bans.save(now);
        masters::send_heartbeats(self, now);
        drop::drop_overflowed(self, now);
        if let Some(name) = self.next_map.take() {
            rotation::change_map(self, now, &name);
        }
    }

    fn next_frame(&self) -> Millis {
        if self.is_stopping { Millis::NEVER } else { self.next_frame }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.is_stopping
    }
}

impl Hosted for QwServer {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        self.now = now;
        match input {
            Input::ConsoleLine(line) => {
                self.run_line(now, line);
                if let Some(name) = self.next_map.take() {
                    rotation::change_map(self, now, &name);
                }
            }
            Input::LoopCounters(counters) => self.loop_counters = *counters,
            Input::Lookup(answer) => masters::take_lookup(self, now, answer),
            Input::Stop(reason) => drop::stop(self, now, reason),
            Input::Oversize(_) => self.counters.bump(QwCounter::Oversize),
            Input::Calendar(to) => {
                let before = self.calendar();
                self.began = UnixMillis(to.0.saturating_sub(now.0));
                self.bans.set_calendar(before, to.0 / 1000);
            }
            Input::PortFailed(_) => {}
        }
    }

    fn complete(&self, line: &str) -> Completion {
        self.complete_line(line)
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        match kind {
            OutputKind::Console => self.console.take().map(Output::Console),
            OutputKind::Lookup => self.masters.poll_lookup().map(Output::Lookup),
            _ => None,
        }
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn state(&self) -> NodeState {
        let (players, spectators) = self.population();
        let text = self.drain.line(self.now).unwrap_or_else(|| {
            format!("map {}, {players} players, {spectators} spectators", self.map_name())
        });
        let obstacles = [(self.drain.is_on(), "draining"), (self.is_stopping, "stopping")];
        NodeState {
            text,
            obstacles: obstacles.into_iter().filter(|one| one.0).map(|one| one.1).collect(),
            is_draining: self.drain.is_on(),
        }
    }

    fn drain_line(&self) -> Option<&'static str> {
        let drains = drain::usual_time(self) > Millis(0) && !self.drain.is_on();
        drains.then_some("drain")
    }

    /// Packets of few clients are answered at once. With more of them, packets that follow each other are answered
    /// together.
    fn receive_coalescing(&self) -> Millis {
        if self.clients.iter().flatten().nth(FEW_CLIENTS).is_none() {
            return Millis(0);
        }
        Millis(self.settings.values().int(key::SV_ANSWERWAIT).unsigned_abs().into())
    }
}

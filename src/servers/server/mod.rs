//! Dedicated server: client slots, level and snapshots of one game.
//!
//! ```text
//! datagram ─ connection ─┬ connectionless: query, admission, rcon
//!                        └ message of a client: commands, usercmds ─ game
//! frame ─ level time ─ game ─ frame ring ─ send: snapshots ─ outbox
//! ```
//!
//! A [`Server`] is a [`Node`]: it is fed datagrams and time and polled for datagrams. It asks the
//! game only through [`Game`](crate::game::Game). Invariants: nothing is stored for an unproven address; no client can
//! delay or drop another one; level time never decreases.
//!
//! The state of each part is in a file that imports neither [`Server`] nor its core; `tests/it/coupling.rs` checks it.
//! What acts on the whole is in files that no state imports, such as `gate` to the game, `level`, `schedule` of frames,
//! `send`, `service` and the console. They pass other functions the parts that these change.

mod admins;
mod archive;
mod audience;
mod audit;
mod authorization;
mod bots;
mod challenge_requests;
mod client;
mod client_commands;
mod console;
mod core;
mod current_level;
mod downloads;
mod frames;
mod game_code;
mod game_faults;
mod game_log;
mod gate;
mod heartbeat;
mod host;
mod host_name;
mod info_strings;
mod invariants;
mod lan;
mod level;
mod local_ports;
mod map_loader;
mod match_recording;
mod moderation;
mod protocols;
mod pure;
mod quality;
mod rate;
mod rcon;
mod recording;
mod restricted;
mod schedule;
mod send;
mod sender;
mod service;
mod start;
mod state;
mod state_values;
mod status;
mod usercmds;
mod visibility;

use std::{borrow::Cow, rc::Rc};

pub(crate) use self::game_code::has_mod;
pub use self::{
    admins::{MAX_FILE_LEN as MAX_ADMIN_FILE_LEN, SALT_LEN, check_admins, hashed_secret},
    archive::ARCHIVE_FILE,
    audit::AUDIT_FILE,
    console::{command_names, ends_with_start, script_text, state_script},
    game_code::{CodeOrigin, GameFactory, GameRequest, Geometry},
    invariants::{check_frame_ring, check_newest_frame, entity_of},
    start::{ServerStart, start_error},
    state::Server,
};
use self::{
    archive::Archive,
    audit::Audit,
    console::{budget::ConsoleBudget, start_state::Startup, texts::ConsoleTexts},
    core::{Core, ServerKeys},
    game_faults::GameFaults,
    map_loader::MapLoader,
    schedule::frame_length,
    state_values::StateValues,
};
use rand_pcg::Pcg32;

use crate::{
    bans::BanStore,
    game::{FileLimits, GameFiles},
    model::{ClientNum, ConfigIndex, EntityState, Millis, PlayerState, Sequence, assets::Assets},
    netchan::peek_client_header,
    node::{Completion, Hosted, Input, Node, NodeState, Output, OutputKind, Route},
    observe::{Counters, Sample, Value},
    serving::{
        connection::{Service as _, receive},
        guards::GuardKeys,
    },
    settings::{GameCode, Settings, key},
    wire::{Protocol, snapshot::SnapshotView},
};

/// With few clients, received datagrams are coalesced for at most 1/[`COALESCE_DIVISOR`] of a frame,
/// and at most [`COALESCE_MAX`]. They take effect in the next frame.
const COALESCE_DIVISOR: u64 = 5;
const COALESCE_MAX: Millis = Millis(10);
/// Clients whose datagrams cost less than the wake-ups that a longer wait saves.
const FEW_CLIENTS: usize = 4;

/// Time whose frames run together while no client is connected, since a wake-up costs more than a frame.
/// A client that connects still finds a correct level time.
const IDLE_INTERVAL: Millis = Millis(900);

impl Server {
    /// Creates a server that runs the map of its settings, loaded from `assets`, with the game of
    /// `games`. A map that cannot be loaded runs in open space, and the log names the error.
    #[must_use]
    pub fn new(
        settings: Settings,
        assets: Box<dyn Assets>,
        games: GameFactory,
        start: impl Into<ServerStart>,
    ) -> Self {
        let ServerStart { entropy, epoch, overrides, lines, is_strict, state } = start.into();
        let assets: Rc<dyn Assets> = Rc::from(assets);
        let maps = MapLoader::new(Rc::clone(&assets));
        let (key, rest) = entropy.split_at(16);
        let word = |at: usize| {
            u64::from_le_bytes(rest[at..at + 8].try_into().expect("eight bytes of sixteen"))
        };
        let challenges = key.try_into().expect("sixteen bytes");
        let keys = ServerKeys { guards: GuardKeys { challenges, limits: word(0) }, rcon: !word(0) };
        let mut core = Core::new(settings, maps.names(), keys);
        core.epoch = epoch;
        core.archive = Archive::open(state.clone(), &mut core.settings, &overrides);
        core.audit = Audit::open(state.as_deref());
        core.values = StateValues::open(state.clone());
        core.bans = BanStore::open(state, moderation::calendar(&core));
        core.files = GameFiles::new(assets, file_limits(&core.settings));
        core.recordings.set_epoch(epoch);
        let (request, errors) = game_code::first_request(&mut core.settings, maps.assets());
        let game = games(request);
        let mut server = Self {
            core,
            maps,
            games,
            fallback: None,
            game,
            faults: GameFaults::default(),
            request,
            due: None,
            finished: false,
            console_budget: ConsoleBudget::default(),
            texts: ConsoleTexts::default(),
            startup: Startup::new(is_strict),
            restarted_at: None,
            random: Pcg32::new(word(8), 0),
            receive_buffer: None,
        };
        if !is_strict {
            errors.iter().for_each(|error| log::warn!("{error}; the default is used"));
        }
        if !errors.is_empty() {
            server.startup.fail(errors.join("; "));
        }
        console::startup::run(&mut server, &overrides, &lines);
        server
    }

    /// Sets the rules that replace a game after repeated faults, if `sv_gameFault` is `native`.
    #[must_use]
    pub fn with_fallback_rules(mut self, rules: GameFactory) -> Self {
        self.fallback = Some(rules);
        self
    }

    /// Whether the level has the geometry of its map.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.request.geometry
    }

    /// Settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.core.settings
    }

    /// Counters since the start.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.core.stats.counters()
    }

    /// Samples for `counters` and for monitoring: counters of the server, of the event loop, and
    /// gauges.
    pub fn samples(&self) -> impl Iterator<Item = Sample> {
        let gauge = |name, help, value: usize| {
            let value = Value::Gauge(i64::try_from(value).unwrap_or(i64::MAX));
            Sample { name: Cow::Borrowed(name), help, value }
        };
        let settings = &self.core.settings;
        let (map, gametype) = (&self.core.level.map, settings.int(key::G_GAMETYPE));
        let map_info = Sample {
            name: format!("q3_map_info{{map=\"{map}\",gametype=\"{gametype}\"}}").into(),
            help: "Map and g_gametype of the level.",
            value: Value::Gauge(1),
        };
        let gauges = [
            gauge("q3_clients", "Clients in the game.", self.active_clients()),
            gauge("q3_max_clients", "Client slots.", self.core.slots()),
            gauge("q3_downloads_active", "Clients that download.", downloading_clients(&self.core)),
            gauge("q3_draining", "1 while the server drains.", self.core.drain.is_on().into()),
        ];
        self.core.stats.samples().chain(gauges).chain(self.core.quality.samples()).chain([map_info])
    }

    /// Number of clients in the game.
    #[must_use]
    pub fn active_clients(&self) -> usize {
        self.core.clients.iter().filter(|(_, client)| client.is_active()).count()
    }

    /// Returns a configstring of the level in force; empty if unset.
    #[must_use]
    pub fn configstring(&self, index: ConfigIndex) -> &str {
        self.core.level.configstrings.get(index)
    }

    /// Playerstate that a client in the game views.
    #[must_use]
    pub fn player(&self, number: ClientNum) -> Option<&PlayerState> {
        self.core.clients.get(number).filter(|client| client.is_active())?;
        Some(self.game.player(number))
    }

    /// Snapshot that message `sequence` carried to a client, while it is in the snapshot ring.
    #[must_use]
    pub fn sent_view(
        &self,
        number: ClientNum,
        sequence: Sequence,
    ) -> Option<SnapshotView<'_, impl Iterator<Item = &EntityState>>> {
        let sent = self.core.clients.get(number)?.snapshots()?.history.get(sequence)?;
        let entities = self.core.frames.entities(sent.frame, &sent.view.seen)?;
        Some(SnapshotView { player: &sent.view.player, entities })
    }
}

/// Whether clients of a protocol are accepted with the level that is loaded.
#[must_use]
pub fn accepts_protocol(server: &Server, protocol: &Protocol) -> bool {
    server.protocol_of(protocol.number).is_ok()
        && (protocol.numbers.is_current() || protocols::has_numbers(&server.core))
}

/// Number of clients that download a file over UDP.
fn downloading_clients(core: &Core) -> usize {
    core.clients.iter().filter(|(_, client)| client.own.downloads.is_active()).count()
}

/// Limits of the files that a game module writes.
fn file_limits(settings: &Settings) -> FileLimits {
    let limit = |key| usize::try_from(settings.int(key)).unwrap_or(0);
    FileLimits { bytes: limit(key::SV_MODULE_SIZE) << 20, files: limit(key::SV_MODULE_FILES) }
}

impl Node for Server {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.core.now = now;
        receive(self, route, bytes);
    }

    fn expect_datagram(&self, bytes: &[u8]) {
        if let Some((_, qport)) = peek_client_header(bytes) {
            self.core.clients.expect_datagram(qport);
        }
    }

    fn frame(&mut self, now: Millis) {
        self.core.now = now;
        self.core.connections().send_queued_fragments();
        self.resend_gamestates();
        let frames = schedule::schedule_frames(self);
        if frames > 0 {
            schedule::run_frames(self, frames);
        }
        // A start that ends the server, as a check of its configuration, saves nothing.
        if !self.finished {
            self.core.save_state();
        }
        // Behind the snapshots, which are never late for a download.
        downloads::send::send_blocks(self);
    }

    fn next_frame(&self) -> Millis {
        let due = self.due.unwrap_or_default();
        let is_idle = self.core.clients.is_empty() && self.core.bots.is_empty();
        let is_idle = is_idle && !self.texts.waits() && !self.core.drain.is_on();
        if self.due.is_some() && is_idle {
            let idle = IDLE_INTERVAL.0.saturating_sub(frame_length(&self.core.settings).0);
            return (due + Millis(idle)).min(self.core.save_due());
        }
        due.min(self.core.next_send_time()).min(self.core.save_due())
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.core.sender.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Server {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        match input {
            Input::ConsoleLine(line) => {
                self.core.now = now;
                console::run_line(self, line);
            }
            Input::LoopCounters(counters) => {
                self.core.now = now;
                let before = self.core.stats.set_loop_counters(*counters);
                if counters.slow_runs > before.slow_runs {
                    gate::end_slow_game(self);
                }
            }
            Input::Calendar(to) => {
                self.core.now = now;
                moderation::set_calendar(&mut self.core, to);
            }
            Input::Lookup(answer) => {
                self.core.now = now;
                self.core.announcer.handle_lookup(now, answer);
                self.core.authorizer.handle_lookup(now, answer);
            }
            // Its only port is open from the start, and the event loop counts long datagrams.
            Input::PortFailed(_) | Input::Oversize(_) => {}
            Input::Stop(reason) => {
                self.core.now = now;
                self.stop(reason);
            }
        }
    }

    fn complete(&self, line: &str) -> Completion {
        console::completion::complete(self, line)
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        let core = &mut self.core;
        match kind {
            OutputKind::PortChange => None,
            OutputKind::GameLog => core.game_log.take().map(Output::GameLog),
            OutputKind::Audit => core.audit.take().map(Output::Audit),
            OutputKind::Recording => core.recordings.poll().map(Output::Recording),
            OutputKind::FileWrite => core.files.poll_write().map(Output::FileWrite),
            OutputKind::Stream => core.recordings.poll_stream().map(Output::Stream),
            OutputKind::Lookup => {
                let lookup = core.announcer.poll_lookup();
                lookup.or_else(|| core.authorizer.poll_lookup(core.now)).map(Output::Lookup)
            }
            OutputKind::Console => core.console.poll().map(Output::Console),
        }
    }

    fn local_ports(&self) -> u16 {
        local_ports::count(&self.core.settings)
    }

    fn receive_coalescing(&self) -> Millis {
        if self.core.clients.iter().nth(FEW_CLIENTS).is_some() {
            return frame_length(&self.core.settings);
        }
        Millis(frame_length(&self.core.settings).0 / COALESCE_DIVISOR).min(COALESCE_MAX)
    }

    fn runs_foreign_code(&self) -> bool {
        self.game.code() != GameCode::Native
    }

    fn state(&self) -> NodeState {
        let core = &self.core;
        let obstacles = [
            (core.level.map.is_empty(), "no map"),
            (self.faults.has_ended_level(), "game fault"),
            (core.drain.is_on(), "draining"),
            (self.finished, "stopping"),
        ];
        let text = core.drain.line(core.now).unwrap_or_else(|| {
            let (clients, slots) = (core.clients.present().count(), core.slots());
            format!("map {}, {clients} of {slots} clients", core.level.map)
        });
        NodeState {
            text,
            obstacles: obstacles.into_iter().filter(|one| one.0).map(|one| one.1).collect(),
            is_draining: core.drain.is_on(),
        }
    }

    fn drain_line(&self) -> Option<&'static str> {
        let drains = self.core.settings.int(key::SV_DRAIN_TIME) > 0 && !self.core.drain.is_on();
        drains.then_some("drain")
    }
}

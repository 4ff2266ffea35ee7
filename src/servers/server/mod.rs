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

mod admission;
mod audience;
mod authorization;
mod bots;
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
mod map_loader;
mod match_recording;
mod pure;
mod rate;
mod rcon;
mod recording;
mod restricted;
mod send;
mod sender;
mod service;
mod start;
mod state;
mod status;
mod usercmds;
mod visibility;

use std::rc::Rc;

pub(crate) use self::game_code::has_mod;
use self::{
    console::{budget::ConsoleBudget, start_state::Startup, texts::ConsoleTexts},
    core::{Core, ServerKeys},
    game_faults::GameFaults,
    map_loader::MapLoader,
    match_recording::StoredFrame,
};
pub use self::{
    game_code::{CodeOrigin, GameFactory, GameRequest, Geometry},
    invariants::{check_newest_frame, entity_of},
    start::ServerStart,
    state::Server,
};
use rand_pcg::Pcg32;

use crate::{
    game::{FileLimits, GameFiles},
    model::{ClientNum, ConfigIndex, EntityState, Millis, PlayerState, Sequence, assets::Assets},
    netchan::peek_client_header,
    node::{Hosted, Input, Node, Output, OutputKind, Route},
    observe::{Counter, Counters, Sample, Value},
    serving::{
        connection::{Service as _, check_timeouts, receive},
        guards::GuardKeys,
    },
    settings::{Settings, key},
    wire::snapshot::SnapshotView,
};

/// Longest time whose frames run after a stall. Older frames are skipped, since a burst of frames
/// would stall the server again. A shorter time would lose usercmds: clients advance during a
/// stall, and usercmds too far ahead of level time are ignored.
const MAX_CATCH_UP: Millis = Millis(1000);

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
        let ServerStart { entropy, epoch, overrides, lines, is_strict } = start.into();
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
            published: (0, 0),
            finished: false,
            console_budget: ConsoleBudget::default(),
            texts: ConsoleTexts::default(),
            startup: Startup::new(is_strict),
            restarted_at: None,
            random: Pcg32::new(word(8), 0),
            receive_buffer: None,
        };
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
            Sample { name, help, value }
        };
        let gauges = [
            gauge("q3_clients", "Clients in the game.", self.active_clients()),
            gauge("q3_max_clients", "Client slots.", self.core.slots()),
            gauge("q3_downloads_active", "Clients that download.", self.downloading_clients()),
        ];
        self.core.stats.samples().chain(gauges)
    }

    /// Number of clients in the game.
    #[must_use]
    pub fn active_clients(&self) -> usize {
        self.core.clients.iter().filter(|(_, client)| client.is_active()).count()
    }

    /// Number of clients that download a file over UDP.
    #[must_use]
    pub fn downloading_clients(&self) -> usize {
        self.core.clients.iter().filter(|(_, client)| client.own.downloads.is_active()).count()
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

    fn frame_length(&self) -> Millis {
        Millis(1000 / u64::from(self.core.settings.int(key::SV_FPS).max(1).unsigned_abs()))
    }

    /// Returns the number of frames due and schedules the next one.
    fn schedule_frames(&mut self) -> u64 {
        let now = self.core.now;
        let length = self.frame_length();
        let due = *self.due.get_or_insert(now);
        if now < due {
            return 0;
        }
        let owed = now.since(due).0 / length.0 + 1;
        let most = MAX_CATCH_UP.0 / length.0;
        if owed > most {
            self.core.stats.add(Counter::FramesSkipped, owed - most);
        }
        // Frames stay on a fixed grid and do not drift.
        self.due = Some(due + Millis(owed * length.0));
        owed.min(most)
    }

    fn run_frames(&mut self, frames: u64) {
        let scaled =
            self.frame_length().0 as f64 * f64::from(self.core.settings.float(key::TIMESCALE));
        let step = Millis((scaled as u64).max(1));
        self.publish_settings();
        for (number, client) in self.core.clients.iter().filter(|(_, client)| client.is_active()) {
            self.game.set_ping(number, client.ping_ms());
        }
        let time = self.core.level.time;
        self.enter_game(|game, host| game.run_bot_frame(host, time));
        for _ in 0..frames {
            self.core.level.time = self.core.level.time + step.0 as i32;
            self.core.frame_time += step;
            let time = self.core.level.time;
            self.enter_game(|game, host| game.run_frame(host, time));
            self.core.stats.bump(Counter::Frames);
        }
        self.process_pending_drops();
        if self.core.level.restart_at.is_some_and(|at| self.core.level.time >= at) {
            console::commands::restart_or_reload(self);
        }
        console::run_queued_lines(self, frames);
        level::continue_after_fault(self);
        check_timeouts(self);
        self.core.connections().resend_connect_responses();
        level::restart_before_clock_wrap(self);
        self.record_frame();
        self.send_snapshots();
        self.process_pending_drops();
        if !self.finished {
            let (mut connections, _, announcer) = self.core.services();
            announcer.announce(&mut connections);
        }
        let length = self.frame_length();
        self.core.connections().begin_frame(length);
    }

    /// Records the states of all entities that clients may be sent.
    fn record_frame(&mut self) {
        if self.core.clients.is_empty() && self.core.bots.is_empty() {
            return;
        }
        let Self { core, game, .. } = self;
        let Core { clients, frames, level, stats, .. } = core;
        let newest = frames.newest();
        let bases = clients.iter().filter_map(|(_, client)| client.oldest_base(newest));
        frames.release_unneeded(bases);
        let replaced = frames.record(&mut **game, level.world.as_mut());
        stats.add(Counter::StatesSanitized, replaced);
        let Core { bots, clients, frames, level, recordings, settings, now, epoch, .. } = core;
        bots::record_views(bots, frames, level.world.as_ref(), &**game);
        recordings.frame_stored(&StoredFrame {
            clients,
            frames,
            game: &**game,
            level,
            settings,
            now: *now,
            epoch: *epoch,
        });
    }

    /// Publishes serverinfo and systeminfo if a setting in them has changed.
    fn publish_settings(&mut self) {
        let settings = &self.core.settings;
        let versions = (settings.serverinfo_version(), settings.systeminfo_version());
        if versions == self.published && !self.core.level.configstrings.is_empty() {
            return;
        }
        self.published = versions;
        let serverinfo = info_strings::serverinfo(settings);
        let systeminfo = info_strings::systeminfo(settings);
        self.core.publish(ConfigIndex::SYSTEMINFO, systeminfo.as_str());
        self.core.publish(ConfigIndex::SERVERINFO, serverinfo.as_str());
    }
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
        let frames = self.schedule_frames();
        if frames > 0 {
            self.run_frames(frames);
        }
        // Behind the snapshots, which are never late for a download.
        downloads::send::send_blocks(self);
    }

    fn next_frame(&self) -> Millis {
        let due = self.due.unwrap_or_default();
        let is_idle = self.core.clients.is_empty() && self.core.bots.is_empty();
        if self.due.is_some() && is_idle && !self.texts.waits() {
            return due + Millis(IDLE_INTERVAL.0.saturating_sub(self.frame_length().0));
        }
        due.min(self.core.next_send_time())
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
            Input::LoopCounters(counters) => self.core.stats.set_loop_counters(*counters),
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

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        let core = &mut self.core;
        match kind {
            OutputKind::PortChange => None,
            OutputKind::GameLog => core.game_log.take().map(Output::GameLog),
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
        1
    }

    fn receive_coalescing(&self) -> Millis {
        if self.core.clients.iter().nth(FEW_CLIENTS).is_some() {
            return self.frame_length();
        }
        Millis(self.frame_length().0 / COALESCE_DIVISOR).min(COALESCE_MAX)
    }
}

//! The server: who is connected, and what each is told.
//!
//! ```text
//! datagram ─ receive ─┬ connectionless: query, admission, rcon
//!                     └ a client's message: commands, moves ─ game ─┐
//! frame ─ level clock ─ game ─ frame ring ─ send: snapshots ────────┴ outbox
//! ```
//!
//! A [`Server`] is a [`Node`]: it is handed datagrams and time and drained of datagrams. It knows the
//! rules only as a [`Game`]. Invariants: nothing is kept of an address that has not proven itself; no
//! client can make another one wait, lag or leave; the level clock never goes back.

mod admission;
mod challenge;
mod client;
mod client_commands;
mod command_queue;
mod configstrings;
mod connect_backoff;
mod connect_budget;
mod console;
mod core;
mod delta_cache;
mod disconnect;
mod frames;
mod game_log;
mod guards;
mod invariants;
mod level;
mod load_shedding;
mod map_loader;
mod message_reader;
mod proof;
mod query;
mod rate;
mod rate_limiter;
mod rate_limits;
mod rcon;
mod receive;
mod send;
mod snapshot;
mod stats;
mod status;
mod visibility;

use self::{core::Core, guards::GuardKeys, map_loader::MapLoader};
use rand_pcg::Pcg32;

use crate::{
    game::Game,
    model::{
        ClientNum, ConfigIndex, EntityState, Millis, PlayerState, Sequence, UnixMillis,
        assets::Assets,
    },
    node::{Hosted, LoopCounters, Node, Route},
    observe::{Counter, Counters, Sample, Value},
    settings::{Settings, key},
    wire::snapshot::View,
};

/// Time whose frames are made up for after a stall. What is longer ago is forfeited: a burst of frames would
/// only stall everybody again. Less would not do: players' own clocks run on while the server is held up,
/// and what they do too far ahead of the level's clock is lost.
const MAX_CATCH_UP: Millis = Millis(1000);

/// Datagrams may wait for others a frame's so manieth part, but no longer than that: what they tell is seen
/// with the next frame, and the pings that players and browsers measure are off by a client's own frame at most.
const COALESCE_DIVISOR: u64 = 5;
const COALESCE_MAX: Millis = Millis(10);

/// Frames that are run at once while nobody is there to see them one by one: to wake costs more than to run
/// them. Who comes finds the level's clock where it should be.
const IDLE_FRAMES: u64 = 4;

/// Makes the rules of a level, which has geometry or has not.
pub type GameFactory = Box<dyn Fn(Geometry) -> Box<dyn Game>>;

/// Whether a level's map is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// It is: things collide.
    Map,
    /// It is not: there is only open space.
    None,
}

/// A dedicated server of one level at a time.
pub struct Server {
    core: Core,
    maps: MapLoader,
    rules: GameFactory,
    game: Box<dyn Game>,
    /// What the game was made for.
    geometry: Geometry,
    /// When the next frame runs; `None` before the first.
    due: Option<Millis>,
    /// Serverinfo and systeminfo as last published.
    published: (u32, u32),
    finished: bool,
    /// Commands that the console line being run may still lead to.
    commands_left: u32,
    /// The level began anew in this frame, and does so once.
    restarted: bool,
    /// Random numbers of the server. Each level of the game is seeded from them.
    random: Pcg32,
    /// Calendar time at the zero of the clock, if known.
    began: Option<UnixMillis>,
    /// Message that is processed; its memory is reused.
    receive_buffer: Vec<u8>,
}

impl Server {
    /// A server that plays the map of its settings, from `assets`, by `rules`. A map that is not there
    /// or not sound is played without geometry, and the log says why. `entropy` comes from the
    /// operating system's random source: challenges depend on nobody knowing it.
    #[must_use]
    pub fn new(
        settings: Settings,
        assets: Box<dyn Assets>,
        rules: GameFactory,
        entropy: [u8; 32],
    ) -> Self {
        Self::begun(settings, assets, rules, entropy, None)
    }

    /// The same, with the calendar time at the zero of the clock that it is given, for `g_timestamp`.
    #[must_use]
    pub fn begun(
        settings: Settings,
        assets: Box<dyn Assets>,
        rules: GameFactory,
        entropy: [u8; 32],
        at: Option<UnixMillis>,
    ) -> Self {
        let map = settings.text(key::MAP).to_owned();
        let maps = MapLoader::new(assets);
        let (key, rest) = entropy.split_at(16);
        let word = |at: usize| {
            u64::from_le_bytes(rest[at..at + 8].try_into().expect("eight bytes of sixteen"))
        };
        let keys = GuardKeys {
            challenges: key.try_into().expect("sixteen bytes"),
            limits: word(0),
            rcon: !word(0),
        };
        let core = Core::new(settings, maps.names(), keys);
        let (geometry, due) = (Geometry::None, None);
        let game = rules(geometry);
        let mut server = Self {
            core,
            maps,
            rules,
            game,
            geometry,
            due,
            published: (0, 0),
            finished: false,
            commands_left: 0,
            restarted: false,
            random: Pcg32::new(word(8), 0),
            began: at,
            receive_buffer: Vec::new(),
        };
        server.load_first_level(&map);
        server
    }

    /// Whether the level's map is at hand.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.core.settings
    }

    /// What the server has counted.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.core.stats.counters()
    }

    /// Every number that the console shows and monitoring reads: what the server has counted, what the
    /// loop had counted when it told last, and how many play.
    pub fn samples(&self) -> impl Iterator<Item = Sample> {
        let gauge = |name, help, value: usize| {
            let value = Value::Gauge(i64::try_from(value).unwrap_or(i64::MAX));
            Sample { name, help, value }
        };
        let gauges = [
            gauge("q3_players", "Players in the game.", self.active_clients()),
            gauge("q3_slots", "Players that there is room for.", self.core.slots()),
        ];
        self.core.stats.samples().chain(gauges)
    }

    /// ClientSlots that are in the game.
    #[must_use]
    pub fn active_clients(&self) -> usize {
        self.core.clients.iter().filter(|(_, client)| client.is_active()).count()
    }

    /// The state that a client in the game views from.
    #[must_use]
    pub fn player(&self, number: ClientNum) -> Option<&PlayerState> {
        self.core.clients.get(number).filter(|client| client.is_active())?;
        Some(self.game.player(number))
    }

    /// What the snapshot in message `sequence` told a client, while it is remembered.
    #[must_use]
    pub fn sent_view(
        &self,
        number: ClientNum,
        sequence: Sequence,
    ) -> Option<View<'_, impl Iterator<Item = &EntityState>>> {
        let sent = self.core.clients.get(number)?.snapshots()?.history.get(sequence)?;
        let entities = self.core.frames.entities(sent.frame, &sent.seen)?;
        Some(View { player: &sent.player, entities })
    }

    fn frame_length(&self) -> Millis {
        Millis(1000 / u64::from(self.core.settings.int(key::SV_FPS).max(1).unsigned_abs()))
    }

    /// How many frames are due, and notes when the next one will be.
    fn take_due_frames(&mut self) -> u64 {
        let now = self.core.now;
        let length = self.frame_length();
        let due = *self.due.get_or_insert(now);
        if now < due {
            return 0;
        }
        let owed = now.since(due).0 / length.0 + 1;
        let most = MAX_CATCH_UP.0 / length.0;
        if owed > most {
            self.core.stats.add(Counter::FramesForfeited, owed - most);
        }
        // The grid of frames stays where it is, so they do not drift.
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
        for _ in 0..frames {
            self.core.level.time = self.core.level.time + step.0 as i32;
            self.core.frame_time += step;
            let time = self.core.level.time;
            self.game.run_frame(&mut self.core, time);
            self.core.stats.bump(Counter::Frames);
        }
        self.process_pending_drops();
        self.restarted = false;
        if self.core.level.restart_at.is_some_and(|at| self.core.level.time >= at) {
            self.restart_or_reload();
        }
        // What these lines lead to has its turn in the next frame.
        for _ in 0..self.core.console.queued() {
            let Some(line) = self.core.console.next_queued() else { break };
            self.run_line(&line);
        }
        self.check_timeouts();
        self.repeat_connect_responses();
        self.restart_before_clock_wrap();
        self.record_frame();
        self.send_snapshots();
        self.process_pending_drops();
        let length = self.frame_length();
        if self.core.guards.begin_frame(length) {
            self.core.log_overload();
        }
    }

    /// Keeps the states of all entities that anybody may be told of.
    fn record_frame(&mut self) {
        if self.core.clients.is_empty() {
            return;
        }
        let Core { frames, level, stats, .. } = &mut self.core;
        let replaced = frames.record(&*self.game, level.world.as_mut());
        stats.add(Counter::StatesMended, replaced);
    }

    /// Puts serverinfo and systeminfo into their configstrings, if a setting in them has changed.
    fn publish_settings(&mut self) {
        let settings = &self.core.settings;
        let versions = (settings.serverinfo_version(), settings.systeminfo_version());
        if versions == self.published && !self.core.level.configstrings.is_empty() {
            return;
        }
        self.published = versions;
        let serverinfo = self.core.serverinfo();
        let systeminfo = self.core.systeminfo();
        self.core.publish(ConfigIndex::SYSTEMINFO, systeminfo.as_str());
        self.core.publish(ConfigIndex::SERVERINFO, serverinfo.as_str());
    }
}

impl Node for Server {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.core.now = now;
        self.receive(route, bytes);
    }

    fn frame(&mut self, now: Millis) {
        self.core.now = now;
        self.core.send_queued_fragments();
        self.resend_gamestates();
        let frames = self.take_due_frames();
        if frames > 0 {
            self.run_frames(frames);
        }
    }

    fn next_frame(&self) -> Millis {
        let due = self.due.unwrap_or_default();
        if self.due.is_some() && self.core.clients.is_empty() {
            return due + Millis(self.frame_length().0 * (IDLE_FRAMES - 1));
        }
        due.min(self.core.next_send_time())
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.core.sender.poll(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Server {
    fn handle_console_line(&mut self, now: Millis, line: &str) {
        self.core.now = now;
        self.run_line(line);
    }

    fn set_loop_counters(&mut self, _: Millis, counters: &LoopCounters) {
        self.core.stats.set_loop_counters(*counters);
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(self.frame_length().0 / COALESCE_DIVISOR).min(COALESCE_MAX)
    }

    fn poll_console(&mut self) -> Option<String> {
        self.core.console.poll()
    }

    fn poll_game_log(&mut self) -> Option<String> {
        self.core.game_log.take()
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn stop(&mut self, now: Millis, reason: &str) {
        if self.finished {
            return;
        }
        self.core.now = now;
        self.disconnect_all(reason);
        self.game.shutdown(&mut self.core, false);
        self.finished = true;
    }
}

//! Load test: simulated clients that join, play and measure a server.
//!
//! ```text
//! Bots (a node) ─ ports 0..N ─ BotLink (impairment, rebinding) ─ Bot ┬ Client: the whole protocol
//!                ├ stages: which bots join when                      ├ BotAi: walk, turn, fight, chat
//!                ├ Flood: queries beside the players                 └ BotStats, Lagometer ─┐
//!                └ Measurement: seconds, stages, resources ──────────────────────── Summary ┘
//! ```
//!
//! Bots join one after the other at the ramp-up rate, play for a time and disconnect. Invariants: the same
//! seed gives the same bots with the same usercmds; work at a wake-up is proportional to the bots that are
//! due. Source: Quake III protocol 68, duties of a client.

mod ai;
mod behavior;
mod bot;
mod bot_link;
mod bot_stats;
mod capacity;
mod chat_order;
mod event_log;
pub mod expect;
mod flood;
mod gaps;
mod lateness;
mod levels;
mod map_cache;
mod measurement;
mod options;
mod protocol;
mod quakeworld_maps;
mod remedy;
mod report;
mod run_info;
mod server_silence;
mod stage_stats;
mod stages;
mod summary;
mod time_weighted;
mod verdict;

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    chart::Lagometer,
    client::ConnectionState,
    model::Millis,
    node::{Hosted, Input, LocalPort, Node, Outbox, Output, OutputKind, Route},
};

use self::{
    bot::{Bot, BotContext},
    bot_link::BotLink,
    event_log::EventLog,
    flood::Flood,
    map_cache::MapCache,
    measurement::{Measurement, RunState},
    quakeworld_maps::QuakeWorldMaps,
    run_info::ServerRecord,
};

pub use behavior::{Behavior, Behaviors, UnknownBehavior};
pub use expect::{Conditions, ExpectError, ExpectationResult, Expectations};
pub use map_cache::FindMap;
pub use measurement::ResourceMeter;
pub use options::{BotsOptions, QueryFlood, Stage, StageError, Stages, duration};
pub use protocol::{BotProtocol, GameProtocol, UnknownBotProtocol};
pub use quakeworld_maps::FindQuakeWorldMap;
pub use run_info::{Machine, RunInfo, ServerInfo};
pub use summary::{
    BotOutcome, BotSummary, IntervalStats, Percentiles, ProtocolSummary, QuerySummary,
    ResourceSummary, ResourceUsage, Sample, StageSummary, Steps, Summary,
};
pub use verdict::{Cause, Verdict};

/// Maximum bots of one node. Each owns one port, or two with NAT rebinding.
pub const MAX_BOTS: u16 = 4096;
/// Maximum wait for disconnect messages on links with latency.
const DRAIN_TIMEOUT: Millis = Millis::seconds(2);
/// Maximum wait at the end of a stage for a late snapshot. A stall then counts with its whole length.
const LATE_SNAPSHOT_WAIT: Millis = Millis::seconds(2);
/// Time between two looks for a late snapshot.
const LATE_SNAPSHOT_STEP: Millis = Millis(25);

/// Number of bots whose answers are read at once.
const FEW_BOTS: usize = 8;
/// Longest wait of answers to more bots.
const COALESCE_MAX: Millis = Millis(5);

/// Load test node. It owns one port per bot, or two with NAT rebinding, and one for queries.
#[derive(Debug)]
pub struct Bots {
    options: BotsOptions,
    bots: Vec<Bot>,
    /// Link of each bot; empty without impairment and rebinding.
    links: Vec<BotLink>,
    flood: Flood,
    maps: MapCache,
    quakeworld_maps: QuakeWorldMaps,
    measurement: Measurement,
    /// Detected protocol of each server.
    detected: Vec<Option<GameProtocol>>,
    /// Serverinfo and level of each server.
    servers: Vec<ServerRecord>,
    /// Wake-up times of the bots. An entry is stale when its bot is scheduled for another time.
    wakeups: BinaryHeap<Reverse<(Millis, u16)>>,
    began: Millis,
    now: Millis,
    /// Index of the running stage, and the time of its end.
    stage: usize,
    stage_ends: Millis,
    /// Time until which the running stage waits for late snapshots.
    late_until: Option<Millis>,
    /// Played and planned time, if the operator stopped the run.
    interrupted: Option<[Millis; 2]>,
    /// Bots of the running stage.
    wanted: u16,
    /// Bots that have been started and have not ended.
    living: usize,
    /// Time since which all bots disconnect.
    leaving_since: Option<Millis>,
    /// Progress line and bots in the game at that time.
    last_progress: Option<(String, usize)>,
    finished: bool,
    outbox: Outbox,
    event_log: EventLog,
    packet: Vec<u8>,
}

impl Bots {
    /// Creates bots that begin to join at `now`. Bot count and join rate are clamped to their ranges.
    #[must_use]
    pub fn new(options: BotsOptions, now: Millis) -> Self {
        Self::with_maps_and_meter(options, now, None, None)
    }

    /// Creates bots that navigate by the maps of `find_map` and a test that measures process resources.
    #[must_use]
    pub fn with_maps_and_meter(
        mut options: BotsOptions,
        now: Millis,
        find_map: Option<FindMap>,
        meter: Option<Box<dyn ResourceMeter>>,
    ) -> Self {
        options.joins_per_second = options.joins_per_second.max(1);
        for stage in &mut options.stages {
            stage.bots = stage.bots.clamp(1, MAX_BOTS);
        }
        let most = options.most_bots();
        let whole = options.stages.iter().map(|stage| stage.duration.0).sum();
        let lagometer = Lagometer::new(now, Millis(whole));
        let bots =
            (0..most).map(|number| Bot::new(&options, number, Millis::NEVER, lagometer.clone()));
        let mut this = Self {
            bots: bots.collect(),
            links: BotLink::for_all(&options, now),
            flood: Flood::new(options.queries, options.servers.clone(), now),
            maps: MapCache::new(find_map),
            quakeworld_maps: QuakeWorldMaps::default(),
            measurement: Measurement::new(now, options.warmup, meter),
            detected: vec![None; options.servers.len()],
            servers: ServerRecord::for_all(&options.servers),
            wakeups: BinaryHeap::new(),
            began: now,
            now,
            stage: 0,
            stage_ends: now,
            late_until: None,
            interrupted: None,
            wanted: 0,
            living: 0,
            leaving_since: None,
            last_progress: None,
            finished: false,
            outbox: Outbox::default(),
            event_log: EventLog::default(),
            packet: Vec::new(),
            options,
        };
        this.begin_stage(now);
        this
    }

    /// Sets the source of QuakeWorld maps. Maps that it does not have are downloaded from the server.
    #[must_use]
    pub fn with_quakeworld_maps(mut self, find: FindQuakeWorldMap) -> Self {
        self.quakeworld_maps = QuakeWorldMaps::new(Some(find));
        self
    }

    /// Returns the progress line: time, bots in the game, rates and ping. It freezes when the bots disconnect.
    #[must_use]
    pub fn progress(&self) -> String {
        if let Some((line, _)) = &self.last_progress {
            return line.clone();
        }
        let last = self.measurement.samples().last().copied().unwrap_or_default();
        let pings: Vec<_> = self.bots.iter().filter_map(Bot::ping_ms).collect();
        let ping = match pings.len() {
            0 => "-".to_owned(),
            count => format!("{} ms", pings.iter().sum::<u64>() / count as u64),
        };
        format!(
            "{:>4} s  {}/{} in the game  {} snapshots/s  {:.1} kB/s in  ping {ping}  worst gap {} ms",
            self.elapsed().0 / 1000,
            self.in_game(),
            self.wanted,
            last.snapshots,
            last.bytes_in as f64 / 1000.0,
            last.worst_gap_ms.unwrap_or(0),
        )
    }

    /// Time since the start of the test.
    #[must_use]
    pub fn elapsed(&self) -> Millis {
        self.now.since(self.began)
    }

    /// Index of the running stage, number of stages, and remaining time of the stage.
    #[must_use]
    pub fn stage(&self) -> (usize, usize, Millis) {
        (self.stage, self.options.stages.len(), self.stage_ends.since(self.now))
    }

    /// Bots in the game, and bots of the running stage.
    #[must_use]
    pub fn in_game_and_wanted(&self) -> (usize, usize) {
        (self.in_game(), usize::from(self.wanted))
    }

    /// One sample for each second of the test.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        self.measurement.samples()
    }

    /// Returns all metrics up to now.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let run = RunState {
            detected: &self.detected,
            servers: &self.servers,
            queries: self.flood.summary(),
            interrupted: self.interrupted,
        };
        self.measurement.summary(&self.options, &self.bots, &run, self.now)
    }

    fn in_game(&self) -> usize {
        if let Some((_, in_game)) = self.last_progress {
            return in_game;
        }
        self.bots.iter().filter(|bot| bot.state() == ConnectionState::Active).count()
    }

    /// Delivers a datagram to a bot.
    fn deliver(&mut self, now: Millis, number: u16, bytes: &[u8]) {
        let Self { options, maps, quakeworld_maps, measurement, bots, detected, servers, .. } =
            self;
        let stage_stats = measurement.stage_stats();
        let mut context =
            BotContext { options, maps, quakeworld_maps, stage_stats, detected, servers };
        if let Some(bot) = bots.get_mut(usize::from(number)) {
            let server = context.options.server_of(number);
            bot.handle_datagram(now, server, bytes, &mut context);
            if bot.is_refused()
                && let Some(record) = context.servers.get_mut(context.options.server_index(number))
            {
                record.silence.refuse();
            }
        }
    }

    /// Collects a bot's datagrams and log lines, and schedules its next wake-up.
    fn after(&mut self, now: Millis, number: u16) {
        let place = usize::from(number);
        let mut packet = std::mem::take(&mut self.packet);
        let bot = &mut self.bots[place];
        let mut link = self.links.get_mut(place);
        let mut asks = false;
        while let Some(remote) = bot.poll_transmit(&mut packet) {
            match &mut link {
                Some(link) => link.up.send(now, &packet),
                None => {
                    asks = true;
                    self.outbox.push(Route::new(LocalPort(number), remote), &packet);
                }
            }
        }
        if let Some(link) = &mut link {
            while link.up.receive(now, &mut packet) {
                asks |= !link.up.has_damaged();
                let local = link.port(number, self.options.most_bots());
                let remote = self.options.server_of(number);
                self.outbox.push(Route::new(local, remote), &packet);
            }
        }
        if asks
            && bot.has_connection()
            && let Some(record) = self.servers.get_mut(self.options.server_index(number))
        {
            record.silence.ask(now);
        }
        self.packet = packet;
        bot.drop_finished_client();
        while let Some(line) = bot.poll_line() {
            self.event_log.add(bot.name(), &line);
        }
        if bot.has_ended() && !std::mem::replace(&mut bot.is_end_counted, true) {
            self.living = self.living.saturating_sub(1);
        }
        let next = bot.next_frame().min(link.map_or(Millis::NEVER, |link| link.next_event()));
        if next != bot.scheduled {
            bot.scheduled = next;
            if next != Millis::NEVER {
                self.wakeups.push(Reverse((next, number)));
            }
        }
    }

    /// Runs a bot that is due, after its link has delivered what arrived.
    fn run(&mut self, now: Millis, number: u16) {
        let place = usize::from(number);
        self.bots[place].scheduled = Millis::NEVER;
        if let Some(link) = self.links.get_mut(place) {
            link.rebind_if_due(now);
            let mut packet = std::mem::take(&mut self.packet);
            while self.links[place].down.receive(now, &mut packet) {
                self.deliver(now, number, &packet);
            }
            self.packet = packet;
        }
        let Self { options, maps, quakeworld_maps, measurement, bots, detected, servers, .. } =
            self;
        let stage_stats = measurement.stage_stats();
        let mut context =
            BotContext { options, maps, quakeworld_maps, stage_stats, detected, servers };
        bots[place].frame(now, &mut context);
        self.after(now, number);
    }

    /// Removes stale wake-ups from the front, so that the first entry is valid.
    fn drop_stale_wakeups(&mut self) {
        while let Some(Reverse((at, number))) = self.wakeups.peek() {
            if self.bots[usize::from(*number)].scheduled == *at {
                break;
            }
            self.wakeups.pop();
        }
    }
}

impl Node for Bots {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.now = now;
        let most = self.options.most_bots();
        let LocalPort(port) = route.local;
        if self.flood.is_on() && port + 1 == self.local_ports() {
            self.flood.handle_answer(route.remote, bytes);
            return;
        }
        let number = port % most;
        let is_known = port < most * BotLink::ports(&self.options);
        if !is_known || route.remote != self.options.server_of(number) {
            return;
        }
        if self.leaving_since.is_none() {
            self.end_warmup_if_over(now);
        }
        let lateness = now.since(self.next_frame());
        if let Some(record) = self.servers.get_mut(self.options.server_index(number)) {
            record.silence.leave_out(lateness, now);
            let silence = record.silence.end(now);
            self.measurement.stage_stats().record_server_silence(silence);
        }
        match self.links.get_mut(usize::from(number)) {
            Some(link) => {
                link.down.send(now, bytes);
                if link.down.next_arrival() <= now {
                    self.run(now, number);
                }
            }
            None => self.deliver(now, number, bytes),
        }
        self.after(now, number);
        self.drop_stale_wakeups();
        self.finish_if_no_bot_is_left(now);
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        self.now = now;
        if self.finished {
            return;
        }
        if self.leaving_since.is_none() {
            let due = self.next_frame();
            self.end_warmup_if_over(now);
            self.measurement.record_wakeup(due, now);
            for record in &mut self.servers {
                record.silence.leave_out(now.since(due), now);
            }
            if now >= self.stage_ends && !self.waits_for_snapshots(now) {
                self.end_stage(now);
            }
            if self.finished {
                return;
            }
        }
        if self.sample_if_due(now) && self.no_bot_can_join() {
            self.end_stage_early(now);
            return;
        }
        if self.flood.is_on() && self.leaving_since.is_none() {
            let local = LocalPort(self.local_ports() - 1);
            let Self { flood, options, detected, outbox, .. } = self;
            let is_quakeworld =
                |at: usize| options.protocol.is_quakeworld(detected.get(at).copied().flatten());
            flood.frame(now, local, is_quakeworld, outbox);
        }
        // A bot that is due again at once runs in the next frame.
        for _ in 0..self.wakeups.len() {
            self.drop_stale_wakeups();
            let number = match self.wakeups.peek() {
                Some(Reverse((at, number))) if *at <= now => *number,
                _ => break,
            };
            self.wakeups.pop();
            self.run(now, number);
        }
        self.drop_stale_wakeups();
        self.finish_if_no_bot_is_left(now);
        self.finish_if_silent(now);
    }

    fn next_frame(&self) -> Millis {
        if self.finished {
            return Millis::NEVER;
        }
        let wakeup = self.wakeups.peek().map_or(Millis::NEVER, |Reverse((at, _))| *at);
        match self.leaving_since {
            Some(since) => wakeup.min(since + DRAIN_TIMEOUT),
            None => {
                let ends =
                    self.late_until.map_or(self.stage_ends, |_| self.now + LATE_SNAPSHOT_STEP);
                let measured = self.measurement.next_sample();
                wakeup.min(ends).min(measured).min(self.flood.next_frame())
            }
        }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Bots {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        if let Input::Oversize(route) = input {
            // Invalid like an empty one, and counted as such for the bot.
            return self.handle_datagram(now, route, &[]);
        }
        let Input::Stop(_) = input else { return };
        self.now = now;
        if self.leaving_since.is_none() {
            let planned = self.options.stages.iter().map(|stage| stage.duration.0).sum();
            self.interrupted = Some([self.elapsed(), Millis(planned)]);
            self.end_stage_early(now);
            self.measurement.mark_interrupted();
        }
        self.finished = true;
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        if kind == OutputKind::Console { self.event_log.take().map(Output::Console) } else { None }
    }

    fn local_ports(&self) -> u16 {
        self.options.most_bots() * BotLink::ports(&self.options) + u16::from(self.flood.is_on())
    }

    /// Answers to many bots are read together, when the next bot is due. They count with the time of their arrival.
    fn receive_coalescing(&self) -> Millis {
        let are_few = self.bots.len() <= FEW_BOTS || self.flood.is_on();
        if are_few { Millis(0) } else { COALESCE_MAX }
    }
}

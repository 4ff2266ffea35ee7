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
mod event_log;
pub mod expect;
mod flood;
mod lagometer;
mod map_cache;
mod measurement;
mod options;
mod report;
mod summary;
mod verdict;

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    client::{ConnectionState, Protocol},
    impairment::Impairment,
    model::Millis,
    node::{Hosted, LocalPort, LoopCounters, Node, Outbox, Route},
};

use self::{
    bot::{Bot, BotContext},
    bot_link::BotLink,
    event_log::EventLog,
    flood::Flood,
    lagometer::Lagometer,
    map_cache::MapCache,
    measurement::Measurement,
};

pub use behavior::{Behavior, Behaviors, UnknownBehavior};
pub use expect::{ExpectError, Expectations, FailedExpectation};
pub use lagometer::LagometerSample;
pub use map_cache::FindMap;
pub use measurement::ResourceMeter;
pub use options::{BotsOptions, QueryFlood, Stage, StageError, Stages, duration};
pub use summary::{
    BotOutcome, BotSummary, IntervalStats, Percentiles, QuerySummary, ResourceSummary,
    ResourceUsage, Sample, StageSummary, Steps, Summary,
};
pub use verdict::Verdict;

/// Most bots of one node: each owns a port, or two.
pub const MAX_BOTS: u16 = 4096;
/// How long the last words of bots whose way is long are waited for.
const DRAIN_TIMEOUT: Millis = Millis::seconds(2);

/// The role that runs bots. Owns one port for each, or two when their routers change them, and one for
/// queries.
#[derive(Debug)]
pub struct Bots {
    options: BotsOptions,
    bots: Vec<Bot>,
    /// By bot; empty when nothing happens to datagrams.
    wires: Vec<BotLink>,
    flood: Flood,
    maps: MapCache,
    measurement: Measurement,
    /// What each server was found to speak.
    spoken: Vec<Option<&'static Protocol>>,
    /// Bots and when they want to run; an entry whose bot is scheduled otherwise is old.
    wakes: BinaryHeap<Reverse<(Millis, u16)>>,
    began: Millis,
    now: Millis,
    /// The stage that runs, and when it ends.
    stage: usize,
    stage_ends: Millis,
    /// How many bots are meant to be there.
    wanted: u16,
    /// Bots that have been called and have not ended.
    living: usize,
    /// Since when everybody has been told to go.
    leaving_since: Option<Millis>,
    /// Progress and bots in the game when everybody was told to go.
    last_progress: Option<(String, usize)>,
    finished: bool,
    outbox: Outbox,
    event_log: EventLog,
    packet: Vec<u8>,
}

impl Bots {
    /// Bots that begin to join at `now`. A count or pace out of range is drawn into it.
    #[must_use]
    pub fn new(options: BotsOptions, now: Millis) -> Self {
        Self::with_maps_and_meter(options, now, None, None)
    }

    /// Bots that know the maps that `find_map` finds, and a load test that knows what processes cost.
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
            wires: BotLink::for_all(&options, now),
            flood: Flood::new(options.queries, options.servers.clone(), now),
            maps: MapCache::new(find_map),
            measurement: Measurement::new(now, meter),
            spoken: vec![None; options.servers.len()],
            wakes: BinaryHeap::new(),
            began: now,
            now,
            stage: 0,
            stage_ends: now,
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

    /// One line for people who wait: how far it is, and what goes on. Once everybody has been told to go, it
    /// stays as it was.
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
            last.worst_gap_ms,
        )
    }

    /// Time since the beginning.
    #[must_use]
    pub fn elapsed(&self) -> Millis {
        self.now.since(self.began)
    }

    /// The stage that runs, from 0, of how many, and how much of it is left.
    #[must_use]
    pub fn stage(&self) -> (usize, usize, Millis) {
        (self.stage, self.options.stages.len(), self.stage_ends.since(self.now))
    }

    /// Bots in the game, and bots that are meant to be there.
    #[must_use]
    pub fn in_game_and_wanted(&self) -> (usize, usize) {
        (self.in_game(), usize::from(self.wanted))
    }

    /// Each second up to now.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        self.measurement.samples()
    }

    /// All figures up to now.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.measurement.summary(
            &self.options,
            &self.bots,
            &self.spoken,
            self.now,
            self.flood.summary(),
        )
    }

    fn in_game(&self) -> usize {
        if let Some((_, in_game)) = self.last_progress {
            return in_game;
        }
        self.bots.iter().filter(|bot| bot.stage() == ConnectionState::Active).count()
    }

    /// Calls in, or sends away, as many bots as the stage wants.
    fn begin_stage(&mut self, now: Millis) {
        let Some(&stage) = self.options.stages.get(self.stage) else { return };
        self.stage_ends = now + stage.duration;
        let before = std::mem::replace(&mut self.wanted, stage.bots);
        for number in before..stage.bots {
            let place = u64::from(number - before);
            let starts = now + Millis(place * 1000 / u64::from(self.options.joins_per_second));
            self.bots[usize::from(number)].schedule_join(starts);
            self.living += 1;
            self.after(now, number);
        }
        for number in stage.bots..before {
            self.stop_bot(now, number);
        }
        let joins = u64::from(stage.bots.saturating_sub(before));
        let joined = now + Millis(joins * 1000 / u64::from(self.options.joins_per_second));
        // Joining is not what a stage measures, unless there is nothing else.
        self.measurement.begin_stage(joined.min(now + Millis(stage.duration.0 / 2)));
    }

    /// A stage is over: judges it, and begins the next one or ends.
    fn end_stage(&mut self, now: Millis) {
        self.record_open_gaps(now);
        self.share_refusals();
        let failed =
            self.measurement.end_stage(&self.options, &self.bots, usize::from(self.wanted), now);
        self.stage += 1;
        if failed || self.stage >= self.options.stages.len() {
            self.leave(now);
        } else {
            self.begin_stage(now);
        }
    }

    fn stop_bot(&mut self, now: Millis, number: u16) {
        let Self { options, maps, measurement, bots, spoken, .. } = self;
        let mut context =
            BotContext { options, maps, stage_stats: measurement.stage_stats(), spoken };
        bots[usize::from(number)].leave(now, &mut context);
        self.after(now, number);
    }

    /// Everybody goes.
    fn leave(&mut self, now: Millis) {
        self.last_progress = Some((self.progress(), self.in_game()));
        self.leaving_since = Some(now);
        for number in 0..self.wanted {
            self.stop_bot(now, number);
        }
        self.finish_if_silent(now);
    }

    fn finish_if_silent(&mut self, now: Millis) {
        let Some(since) = self.leaving_since else { return };
        let speaks = self.wires.iter().any(BotLink::is_speaking);
        self.finished |= !speaks || now >= since + DRAIN_TIMEOUT;
    }

    /// Hands a bot what has come for it.
    fn hear(&mut self, now: Millis, number: u16, bytes: &[u8]) {
        let Self { options, maps, measurement, bots, spoken, .. } = self;
        let mut context =
            BotContext { options, maps, stage_stats: measurement.stage_stats(), spoken };
        if let Some(bot) = bots.get_mut(usize::from(number)) {
            let server = context.options.server_of(number);
            bot.handle_datagram(now, server, bytes, &mut context);
        }
    }

    /// Takes over what a bot has to send and to say, and schedules it.
    fn after(&mut self, now: Millis, number: u16) {
        let place = usize::from(number);
        let mut packet = std::mem::take(&mut self.packet);
        let bot = &mut self.bots[place];
        let mut wire = self.wires.get_mut(place);
        while let Some(remote) = bot.poll_transmit(&mut packet) {
            match &mut wire {
                Some(wire) => wire.up.send(now, &packet),
                None => self.outbox.push(Route { local: LocalPort(number), remote }, &packet),
            }
        }
        if let Some(wire) = &mut wire {
            while wire.up.receive(now, &mut packet) {
                let local = wire.port(number, self.options.most_bots());
                let remote = self.options.server_of(number);
                self.outbox.push(Route { local, remote }, &packet);
            }
        }
        self.packet = packet;
        bot.drop_finished_client();
        while let Some(line) = bot.poll_line() {
            self.event_log.say(bot.name(), &line);
        }
        if bot.has_ended() && !std::mem::replace(&mut bot.is_counted_out, true) {
            self.living = self.living.saturating_sub(1);
        }
        let next = bot.next_frame().min(wire.map_or(Millis::NEVER, |wire| wire.next_event()));
        if next != bot.scheduled {
            bot.scheduled = next;
            if next != Millis::NEVER {
                self.wakes.push(Reverse((next, number)));
            }
        }
    }

    /// Runs a bot that is due, and its wire.
    fn run(&mut self, now: Millis, number: u16) {
        let place = usize::from(number);
        self.bots[place].scheduled = Millis::NEVER;
        if let Some(wire) = self.wires.get_mut(place) {
            wire.rebind_if_due(now);
            let mut packet = std::mem::take(&mut self.packet);
            while self.wires[place].down.receive(now, &mut packet) {
                self.hear(now, number, &packet);
            }
            self.packet = packet;
        }
        let Self { options, maps, measurement, bots, spoken, .. } = self;
        let mut context =
            BotContext { options, maps, stage_stats: measurement.stage_stats(), spoken };
        bots[place].frame(now, &mut context);
        self.after(now, number);
    }

    /// Forgets wake-ups that were overtaken, so that the first one is true.
    fn drop_old_wakes(&mut self) {
        while let Some(Reverse((at, number))) = self.wakes.peek() {
            if self.bots[usize::from(*number)].scheduled == *at {
                break;
            }
            self.wakes.pop();
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
        match self.wires.get_mut(usize::from(number)) {
            Some(wire) => {
                wire.down.send(now, bytes);
                if wire.down.next_arrival() <= now {
                    self.run(now, number);
                }
            }
            None => self.hear(now, number, bytes),
        }
        self.after(now, number);
        self.drop_old_wakes();
        self.finish_if_no_bot_is_left(now);
    }

    fn frame(&mut self, now: Millis) {
        self.now = now;
        if self.finished {
            return;
        }
        if self.leaving_since.is_none() && now >= self.stage_ends {
            self.end_stage(now);
            if self.finished {
                return;
            }
        }
        if self.measurement.frame(&self.bots, self.flood.summary(), now) && self.no_bot_can_join() {
            self.end_stage_early(now);
            return;
        }
        if self.flood.is_on() && self.leaving_since.is_none() {
            let local = LocalPort(self.local_ports() - 1);
            self.flood.frame(now, local, &mut self.outbox);
        }
        // A bot that wants to run again at once does so with the next frame.
        for _ in 0..self.wakes.len() {
            self.drop_old_wakes();
            let (at, number) = match self.wakes.peek() {
                Some(Reverse((at, number))) if *at <= now => (*at, *number),
                _ => break,
            };
            self.wakes.pop();
            self.measurement.record_lateness(now.since(at));
            self.run(now, number);
        }
        self.drop_old_wakes();
        self.finish_if_no_bot_is_left(now);
        self.finish_if_silent(now);
    }

    fn next_frame(&self) -> Millis {
        if self.finished {
            return Millis::NEVER;
        }
        let wake = self.wakes.peek().map_or(Millis::NEVER, |Reverse((at, _))| *at);
        match self.leaving_since {
            Some(since) => wake.min(since + DRAIN_TIMEOUT),
            None => wake.min(self.stage_ends).min(self.flood.next_frame()),
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
    fn handle_console_line(&mut self, _: Millis, _: &str) {}

    fn set_loop_counters(&mut self, _: Millis, _: &LoopCounters) {}

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }

    fn poll_console(&mut self) -> Option<String> {
        self.event_log.take()
    }

    fn poll_game_log(&mut self) -> Option<String> {
        None
    }

    fn local_ports(&self) -> u16 {
        self.options.most_bots() * BotLink::ports(&self.options) + u16::from(self.flood.is_on())
    }

    fn stop(&mut self, now: Millis, _reason: &str) {
        self.now = now;
        if self.leaving_since.is_none() {
            self.end_stage_early(now);
        }
        self.finished = true;
    }
}

impl Bots {
    fn finish_if_no_bot_is_left(&mut self, now: Millis) {
        if self.living == 0 && self.leaving_since.is_none() {
            self.end_stage_early(now);
        }
    }

    /// Whether nobody has got in for so long that nobody will.
    fn no_bot_can_join(&self) -> bool {
        let Self { options, .. } = self;
        let way = |shape: &Impairment| shape.latency.0 + shape.jitter.0;
        // Two questions, and each may have to be asked again.
        let round_trips = 4 * (way(&options.uplink) + way(&options.downlink));
        !options.reconnects
            && self.leaving_since.is_none()
            && self.elapsed() > options.timeout + Millis(round_trips)
            && !options.behavior.contains(Behavior::Mute)
            && !self.bots.iter().any(Bot::can_still_join)
    }

    /// Gives each server's refusal to the bots that it did not answer: servers tell an address only now and
    /// then why they refuse its clients, whatever the number of clients there.
    fn share_refusals(&mut self) {
        let mut told = vec![None; self.options.servers.len()];
        for bot in &self.bots {
            let refusal = bot.stats().refusal.as_ref().filter(|_| bot.stats().entered.is_none());
            if let Some((place, refusal)) =
                told.get_mut(bot.server_place(&self.options)).zip(refusal)
            {
                *place = Some(refusal.clone());
            }
        }
        for bot in &mut self.bots {
            if let Some(Some(refusal)) = told.get(bot.server_place(&self.options)) {
                bot.share_refusal(refusal);
            }
        }
    }

    /// The time without a snapshot that has not ended counts as well.
    fn record_open_gaps(&mut self, now: Millis) {
        let interval = self.options.snapshot_interval();
        for bot in &mut self.bots {
            bot.record_open_gap(now, interval, self.measurement.stage_stats());
        }
    }

    /// Nobody is left, or nobody wants to wait any longer.
    fn end_stage_early(&mut self, now: Millis) {
        self.record_open_gaps(now);
        self.share_refusals();
        self.measurement.end_stage(&self.options, &self.bots, usize::from(self.wanted), now);
        self.leave(now);
    }
}

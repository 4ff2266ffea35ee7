//! Clients with simple minds: the load test.
//!
//! ```text
//! Bots (a node) ─ ports 0..N ─ Bot ┬ Client: the whole protocol, as a player's game speaks it
//!                                  ├ Mind: fly about, turn, now and then jump, shoot, talk
//!                                  └ Record ─┐
//!                                            └ Summary: what the servers' keepers want to know
//! ```
//!
//! Bots join one after the other, so that a server meets players, not a flood; they play for a time,
//! leave politely, and tell what they saw. Invariants: the same seed makes the same bots with the same
//! usercmds; a bot that has ended stays ended; work at a wake-up is in proportion to the bots that are
//! due, not to all of them. Source: Quake III protocol 68, what a client must do.

mod bot;
mod mind;
mod record;
mod summary;

use std::{cmp::Reverse, collections::BinaryHeap, net::SocketAddr};

use crate::{
    client::{ClientWire, Stage},
    model::Millis,
    node::{LocalPort, Node, Outbox, Route},
};

use bot::Bot;
pub use summary::{BotSummary, Outcome, Spread, Summary};

/// Most bots of one node: each owns a port.
pub const MAX_BOTS: u16 = 4096;
/// Lines that wait for an operator who does not read them.
const MAX_LINES: usize = 256;

/// A load test.
#[derive(Clone, Debug)]
pub struct BotsOptions {
    /// The server.
    pub server: SocketAddr,
    /// What the bots speak with it.
    pub wire: ClientWire,
    /// How many bots, 1 to [`MAX_BOTS`].
    pub count: u16,
    /// Time from the first bot's start to everybody's goodbye.
    pub duration: Millis,
    /// What the bots' behaviour, names and numbers grow from.
    pub seed: u64,
    /// Bots that begin to join in a second, at least 1.
    pub joins_per_second: u32,
    /// Packets a second of each bot, 15 to 125.
    pub packets_per_second: u32,
    /// Bytes a second that each bot asks for.
    pub rate_bytes_per_sec: u32,
    /// Snapshots a second that each bot asks for.
    pub snaps: u32,
    /// What the bots' names begin with; a number follows.
    pub name_prefix: String,
    /// Whether bots say something now and then.
    pub chat: bool,
    /// The server's password; empty for none.
    pub password: String,
}

impl BotsOptions {
    /// `count` bots join `server` for `duration`, with the values that players use.
    #[must_use]
    pub fn new(server: SocketAddr, wire: ClientWire, count: u16, duration: Millis) -> Self {
        Self {
            server,
            wire,
            count,
            duration,
            seed: 0,
            joins_per_second: 20,
            packets_per_second: 30,
            rate_bytes_per_sec: 25_000,
            snaps: 20,
            name_prefix: "bot".to_owned(),
            chat: false,
            password: String::new(),
        }
    }
}

/// The role that runs bots. Owns one port for each.
#[derive(Debug)]
pub struct Bots {
    options: BotsOptions,
    bots: Vec<Bot>,
    /// Bots and when they want to run; an entry whose bot is scheduled otherwise is old.
    wakes: BinaryHeap<Reverse<(Millis, u16)>>,
    began: Millis,
    now: Millis,
    /// Bots that have not ended.
    left: usize,
    finished: bool,
    outbox: Outbox,
    lines: Vec<String>,
    packet: Vec<u8>,
    /// What was seen within the last whole second.
    pace: Pace,
}

/// Snapshots and bytes of the last second, for the progress line.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    since: Millis,
    snapshots: u64,
    bytes: u64,
    snapshots_per_second: u64,
    bytes_per_second: u64,
}

impl Bots {
    /// Bots that begin to join at `now`. A count or pace out of range is drawn into it.
    #[must_use]
    pub fn new(mut options: BotsOptions, now: Millis) -> Self {
        options.count = options.count.clamp(1, MAX_BOTS);
        options.joins_per_second = options.joins_per_second.max(1);
        let bots: Vec<_> = (0..options.count)
            .map(|number| {
                let wait = u64::from(number) * 1000 / u64::from(options.joins_per_second);
                Bot::new(&options, number, now + Millis(wait))
            })
            .collect();
        let wakes = (0..).zip(&bots).map(|(number, bot)| Reverse((bot.scheduled, number)));
        Self {
            wakes: wakes.collect(),
            left: bots.len(),
            bots,
            began: now,
            now,
            finished: false,
            outbox: Outbox::default(),
            lines: Vec::new(),
            packet: Vec::new(),
            pace: Pace { since: now, ..Pace::default() },
            options,
        }
    }

    /// One line for people who wait: how far it is, and what goes on.
    #[must_use]
    pub fn progress(&self) -> String {
        let on = self.bots.iter().filter(|bot| bot.stage() == Stage::Active).count();
        let pings: Vec<_> = self.bots.iter().filter_map(Bot::ping_ms).collect();
        let ping = match pings.len() {
            0 => "-".to_owned(),
            count => format!("{} ms", pings.iter().sum::<u64>() / count as u64),
        };
        let Pace { snapshots_per_second, bytes_per_second, .. } = self.pace;
        format!(
            "{:>4} s  {on}/{} in the game  {snapshots_per_second} snapshots/s  {:.1} kB/s in  ping {ping}",
            self.now.since(self.began).0 / 1000,
            self.bots.len(),
            bytes_per_second as f64 / 1000.0,
        )
    }

    /// All figures up to now.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let bots = self.bots.iter().map(|bot| (bot.name(), bot.record()));
        Summary::new(&self.options, self.now.since(self.began), bots)
    }

    /// Whether every bot got into the game and was in it until it left by itself, and the server sent
    /// nothing that could not be read.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.bots.iter().all(|bot| bot.record().succeeded())
    }

    /// Takes over what a bot has to send and to say, and schedules it.
    fn after(&mut self, number: u16) {
        let bot = &mut self.bots[usize::from(number)];
        while let Some(remote) = bot.poll_transmit(&mut self.packet) {
            self.outbox.push(Route { local: LocalPort(number), remote }, &self.packet);
        }
        while let Some(line) = bot.poll_line() {
            if self.lines.len() < MAX_LINES {
                self.lines.push(line);
            }
        }
        if bot.has_ended() && !std::mem::replace(&mut bot.is_counted_out, true) {
            self.left -= 1;
            self.finished |= self.left == 0;
        }
        let next = bot.next_frame();
        if next != bot.scheduled {
            bot.scheduled = next;
            if next != Millis::NEVER {
                self.wakes.push(Reverse((next, number)));
            }
        }
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

    fn leave(&mut self, now: Millis) {
        self.finished = true;
        for number in 0..self.options.count {
            self.bots[usize::from(number)].leave(now);
            self.after(number);
        }
    }

    fn keep_pace(&mut self, now: Millis) {
        let passed = now.since(self.pace.since).0;
        if passed < 1000 {
            return;
        }
        let sum = |count: fn(&Bot) -> u64| self.bots.iter().map(count).sum::<u64>();
        let snapshots = sum(|bot| bot.statistics().snapshots);
        let bytes = sum(|bot| bot.statistics().bytes_in);
        self.pace = Pace {
            since: now,
            snapshots,
            bytes,
            snapshots_per_second: (snapshots - self.pace.snapshots) * 1000 / passed,
            bytes_per_second: (bytes - self.pace.bytes) * 1000 / passed,
        };
    }
}

impl Node for Bots {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.now = now;
        let LocalPort(number) = route.local;
        if let Some(bot) = self.bots.get_mut(usize::from(number)) {
            bot.handle_datagram(now, route.remote, bytes);
            self.after(number);
            self.drop_old_wakes();
        }
    }

    fn frame(&mut self, now: Millis) {
        self.now = now;
        if self.finished {
            return;
        }
        if now >= self.began + self.options.duration {
            self.leave(now);
            return;
        }
        self.keep_pace(now);
        // A bot that wants to run again at once does so with the next frame.
        for _ in 0..self.wakes.len() {
            self.drop_old_wakes();
            match self.wakes.peek() {
                Some(Reverse((at, _))) if *at <= now => {}
                _ => break,
            }
            let Some(Reverse((_, number))) = self.wakes.pop() else { break };
            let bot = &mut self.bots[usize::from(number)];
            bot.scheduled = Millis::NEVER;
            bot.frame(now, &self.options);
            self.after(number);
        }
        self.drop_old_wakes();
    }

    fn next_frame(&self) -> Millis {
        if self.finished {
            return Millis::NEVER;
        }
        let end = self.began + self.options.duration;
        self.wakes.peek().map_or(end, |Reverse((at, _))| end.min(*at))
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn poll_output(&mut self) -> Option<String> {
        (!self.lines.is_empty()).then(|| self.lines.drain(..).collect())
    }

    fn local_ports(&self) -> u16 {
        self.options.count
    }

    fn stop(&mut self, now: Millis, _reason: &str) {
        self.now = now;
        if !self.finished {
            self.leave(now);
        }
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

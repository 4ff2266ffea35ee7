//! Trial of a QuakeWorld server: bots of the load test on impaired links, and injected faults.
//!
//! The server stalls, changes its map, and receives damaged and forged datagrams. Invariants of a passed trial: no bot
//! meets an invalid message or is dropped; all are in the game again after each fault phase; the server keeps the size of
//! datagrams and the number of slots. The same seed gives the same run, datagram for datagram.
//! Source: QuakeWorld protocol 28, duties of both sides.

use std::{
    collections::VecDeque,
    hash::Hasher as _,
    net::{Ipv4Addr, SocketAddr},
};

use siphasher::sip::SipHasher13;

use super::report::Violation;
use crate::{
    bots::{Behavior, Behaviors, Bots, BotsOptions, GameProtocol},
    impairment::{Impairment, SeededRng},
    model::Millis,
    node::{Hosted as _, Input, LocalPort, Node, Route},
    quakeworld::channel::MAX_DATAGRAM_LEN,
    qwserver::QwServer,
};

/// Address of the server.
const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(198, 18, 0, 1)), 27_500);
/// Address of the first bot, as a number.
const FIRST_BOT: u32 = 0xc612_0101;
/// First port of bots.
const FIRST_PORT: u16 = 27_001;
/// Time before the first fault, and until all bots play again after one.
const RECOVERY: Millis = Millis::seconds(30);
/// Longest calm behind the recovery, in seconds. Three minutes have room for each kind of fault.
const MOST_CALM: u64 = 20;
/// Share of bots that leave and join again all the time: one of this many.
const RESTLESS: u16 = 4;
/// Most predictions of another position, in thousandths. Players of a small map ride its lift, use its teleporter, and
/// collide with players whose newest position they do not know.
const MOST_MISPREDICTED: u64 = 250;
/// Length of the longest injected datagram.
const MAX_INJECTED: u64 = 1600;

/// Plan of a trial.
#[derive(Clone, Debug)]
pub struct QuakeWorldTrialOptions {
    /// Seed of everything.
    pub seed: u64,
    /// Virtual time of the trial.
    pub span: Millis,
    /// Number of bots, at most 32.
    pub players: u16,
    /// Whether nothing but joins and leaves happens.
    pub is_calm: bool,
}

/// Counts of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuakeWorldReport {
    /// Virtual time.
    pub time: Millis,
    /// Datagrams of both directions, and their bytes.
    pub datagrams: u64,
    /// Bytes of those datagrams.
    pub bytes: u64,
    /// Length of the longest datagram of the server.
    pub longest_datagram: usize,
    /// Fault phases: stalls, map changes, floods of hostile datagrams.
    pub stalls: u32,
    /// Map changes.
    pub maps: u32,
    /// Hostile datagrams.
    pub injected_datagrams: u64,
    /// Connections of bots.
    pub joins: u64,
    /// Answers with players and entities.
    pub answers: u64,
    /// Answers that were compared with their prediction.
    pub predicted: u64,
    /// Answers among them with another position.
    pub mispredicted: u64,
    /// Checksum over every datagram.
    pub transcript: u64,
}

/// A group of bots with one behavior.
#[derive(Debug)]
struct Group {
    bots: Bots,
    /// Number of its first bot.
    first: u16,
    count: u16,
    is_restless: bool,
}

/// A fault.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Stall(Millis),
    Map,
    Flood(u64),
}

/// A running trial.
#[derive(Debug)]
pub struct QuakeWorldTrial {
    options: QuakeWorldTrialOptions,
    server: QwServer,
    groups: Vec<Group>,
    rng: SeededRng,
    now: Millis,
    began: Millis,
    next_fault: Millis,
    /// Time by which all bots must play.
    recovered_by: Option<Millis>,
    fault_phase: u32,
    kinds_left: Vec<Fault>,
    stalled_until: Millis,
    /// Datagrams that wait for a stalled server.
    waiting: VecDeque<(SocketAddr, Vec<u8>)>,
    report: QuakeWorldReport,
    transcript: SipHasher13,
    packet: Vec<u8>,
    /// Newest datagram of a bot, for forged copies.
    sample: Option<(SocketAddr, Vec<u8>)>,
}

impl QuakeWorldTrial {
    /// Prepares a trial of a server at `now`.
    #[must_use]
    pub fn new(options: QuakeWorldTrialOptions, server: QwServer, now: Millis) -> Self {
        let mut rng = SeededRng::new(options.seed);
        let restless = options.players / RESTLESS;
        let player = Behaviors::PLAYER.with(Behavior::Chat);
        let parts = [
            (options.players - restless, player, false),
            (restless, player.with(Behavior::Storm), true),
        ];
        let mut first = 0;
        let mut groups = Vec::new();
        for (count, behavior, is_restless) in parts.into_iter().filter(|(count, ..)| *count > 0) {
            let mut link = || Impairment {
                latency: Millis(rng.below(60)),
                jitter: Millis(rng.below(20)),
                loss: rng.below(60) as u32,
                duplication: rng.below(20) as u32,
                reordering: rng.below(20) as u32,
                ..Impairment::default()
            };
            let (uplink, downlink) = (link(), link());
            let bots = BotsOptions {
                seed: options.seed ^ u64::from(first),
                behavior,
                name_prefix: if is_restless { "guest" } else { "bot" }.to_owned(),
                packets_per_second: 30 + rng.below(47) as u32,
                joins_per_second: 5,
                rebind: Millis::seconds(60 + rng.below(120)),
                timeout: Millis::seconds(30),
                reconnects: is_restless,
                uplink,
                downlink,
                ..BotsOptions::new(SERVER, GameProtocol::QuakeWorld, count, options.span)
            };
            groups.push(Group { bots: Bots::new(bots, now), first, count, is_restless });
            first += count;
        }
        Self {
            server,
            groups,
            rng,
            now,
            began: now,
            next_fault: now + RECOVERY,
            recovered_by: Some(now + RECOVERY),
            fault_phase: 0,
            kinds_left: Vec::new(),
            stalled_until: now,
            waiting: VecDeque::new(),
            report: QuakeWorldReport::default(),
            transcript: SipHasher13::new(),
            packet: Vec::new(),
            sample: None,
            options,
        }
    }

    /// Runs to the end. `look` sees the time passed, about once a second.
    ///
    /// # Errors
    /// The first violation.
    pub fn run_watched(&mut self, mut look: impl FnMut(Millis)) -> Result<(), Violation> {
        let end = self.began + Millis(self.options.span.0.saturating_sub(1));
        let mut next_look = self.began;
        while self.now < end {
            self.step().map_err(|what| self.violation(what))?;
            if self.now >= next_look {
                next_look = self.now + Millis::seconds(1);
                look(self.now.since(self.began));
            }
        }
        self.check_bots().map_err(|what| self.violation(what))
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn report(&self) -> QuakeWorldReport {
        let summaries = self.groups.iter().map(|group| group.bots.summary());
        let each: Vec<_> = summaries.flat_map(|summary| summary.each).collect();
        let sum = |of: fn(&crate::bots::BotSummary) -> u64| each.iter().map(of).sum();
        QuakeWorldReport {
            time: self.now.since(self.began),
            joins: sum(|bot| bot.lives.into()),
            answers: sum(|bot| bot.snapshots),
            predicted: sum(|bot| bot.predicted),
            mispredicted: sum(|bot| bot.mispredicted),
            transcript: self.transcript.finish(),
            ..self.report
        }
    }

    fn violation(&self, what: String) -> Violation {
        Violation { at: self.now.since(self.began), fault_phase: self.fault_phase, what }
    }

    /// Runs what is due next.
    fn step(&mut self) -> Result<(), String> {
        let nodes = self.groups.iter().map(|group| group.bots.next_frame());
        let server = self.server.next_frame().max(self.stalled_until);
        let due = nodes.chain([server]).min().unwrap_or(self.now);
        self.now = due.max(self.now);
        let now = self.now;
        if now >= self.next_fault && !self.options.is_calm {
            self.begin_fault();
        }
        if now >= self.stalled_until {
            while let Some((from, bytes)) = self.waiting.pop_front() {
                self.deliver_to_server(from, &bytes);
            }
            if now >= self.server.next_frame() {
                self.server.frame(now);
            }
        }
        for number in 0..self.groups.len() {
            if now >= self.groups[number].bots.next_frame() {
                self.groups[number].bots.frame(now);
            }
        }
        self.exchange()?;
        if self.recovered_by.is_some_and(|by| now >= by) {
            self.recovered_by = None;
            self.check_bots()?;
            self.check_all_play()?;
        }
        Ok(())
    }

    /// Delivers datagrams until neither side has more.
    fn exchange(&mut self) -> Result<(), String> {
        let mut packet = std::mem::take(&mut self.packet);
        let mut result = Ok(());
        loop {
            let mut is_quiet = true;
            for number in 0..self.groups.len() {
                while let Some(route) = self.groups[number].bots.poll_transmit(&mut packet) {
                    is_quiet = false;
                    let from = address_of(&self.groups[number], route.local);
                    self.record(&packet);
                    self.sample = Some((from, packet.clone()));
                    if self.now < self.stalled_until {
                        self.waiting.push_back((from, packet.clone()));
                    } else {
                        self.deliver_to_server(from, &packet);
                    }
                }
            }
            while let Some(route) = self.server.poll_transmit(&mut packet) {
                is_quiet = false;
                self.record(&packet);
                self.report.longest_datagram = self.report.longest_datagram.max(packet.len());
                if packet.len() > MAX_DATAGRAM_LEN {
                    result =
                        Err(format!("datagram of {} bytes (max {MAX_DATAGRAM_LEN})", packet.len()));
                }
                self.deliver_to_bot(route.remote, &packet);
            }
            if is_quiet || result.is_err() {
                break;
            }
        }
        self.packet = packet;
        result.and_then(|()| self.check_population())
    }

    /// Checks the number of clients. A bot that rejoins has two slots until the server drops the first one.
    fn check_population(&self) -> Result<(), String> {
        let (players, spectators) = self.server.population();
        let most = usize::from(self.options.players) * 2;
        if players + spectators > most {
            return Err(format!("{players} players and {spectators} spectators (max {most})"));
        }
        Ok(())
    }

    fn record(&mut self, bytes: &[u8]) {
        self.report.datagrams += 1;
        self.report.bytes += bytes.len() as u64;
        self.transcript.write_u64(self.now.0);
        self.transcript.write(bytes);
    }

    fn deliver_to_server(&mut self, from: SocketAddr, bytes: &[u8]) {
        self.server.handle_datagram(self.now, Route::new(LocalPort(0), from), bytes);
    }

    fn deliver_to_bot(&mut self, to: SocketAddr, bytes: &[u8]) {
        let now = self.now;
        for group in &mut self.groups {
            for port in 0..group.count * 2 {
                if address_of(group, LocalPort(port)) == to {
                    group.bots.handle_datagram(now, Route::new(LocalPort(port), SERVER), bytes);
                    return;
                }
            }
        }
    }

    fn begin_fault(&mut self) {
        self.fault_phase += 1;
        // Each kind comes once in three phases.
        if self.kinds_left.is_empty() {
            self.kinds_left = vec![
                Fault::Stall(Millis(200 + self.rng.below(2000))),
                Fault::Map,
                Fault::Flood(50 + self.rng.below(500)),
            ];
        }
        let at = self.rng.below(self.kinds_left.len() as u64) as usize;
        let fault = self.kinds_left.swap_remove(at);
        match fault {
            Fault::Stall(time) => {
                self.report.stalls += 1;
                self.stalled_until = self.now + time;
            }
            Fault::Map => {
                self.report.maps += 1;
                let line = format!("map {}", self.server.map_name());
                self.server.handle_input(self.now, Input::ConsoleLine(&line));
            }
            Fault::Flood(count) => (0..count).for_each(|_| self.inject()),
        }
        self.recovered_by = Some(self.now + RECOVERY);
        self.next_fault = self.now + RECOVERY + Millis::seconds(1 + self.rng.below(MOST_CALM));
    }

    /// Sends a hostile datagram to the server: noise, a request, or a damaged copy of a bot's.
    fn inject(&mut self) {
        self.report.injected_datagrams += 1;
        let noise = |rng: &mut SeededRng| -> Vec<u8> {
            let len = rng.below(MAX_INJECTED);
            (0..len).map(|_| rng.below(256) as u8).collect()
        };
        let stranger = SocketAddr::from((
            Ipv4Addr::from_bits(0xc000_0200 | self.rng.below(256) as u32),
            1024 + self.rng.below(60_000) as u16,
        ));
        let (from, bytes) = match (self.rng.below(4), &self.sample) {
            (0, Some((from, _))) => (*from, noise(&mut self.rng)),
            (1, Some((_, bytes))) => {
                let mut bytes = bytes.clone();
                let at = self.rng.below(bytes.len().max(1) as u64) as usize;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.rng.below(8);
                }
                (stranger, bytes)
            }
            (2, _) => {
                let words: [&[u8]; 5] = [
                    b"\xff\xff\xff\xffgetchallenge\n",
                    b"\xff\xff\xff\xffstatus\n",
                    b"\xff\xff\xff\xffconnect 28 1 2 \"\\name\\x\"\n",
                    b"\xff\xff\xff\xffrcon wrong status",
                    b"\x80\x00\x00\x0c\x01QUAKE\x00\x03",
                ];
                (stranger, words[self.rng.below(5) as usize].to_vec())
            }
            _ => (stranger, noise(&mut self.rng)),
        };
        self.deliver_to_server(from, &bytes);
    }

    /// Checks what no fault may cause.
    fn check_bots(&self) -> Result<(), String> {
        for group in &self.groups {
            let summary = group.bots.summary();
            let total = &summary.total;
            if total.protocol_errors > 0 {
                return Err(format!(
                    "{} protocol errors: {}",
                    total.protocol_errors, summary.sentence
                ));
            }
            if total.dropped > 0 && !group.is_restless {
                let reasons = summary.each.iter().filter_map(|bot| bot.reason.as_deref());
                return Err(format!(
                    "{} bots dropped: {}",
                    total.dropped,
                    reasons.collect::<Vec<_>>().join(", ")
                ));
            }
        }
        let report = self.report();
        if report.mispredicted * 1000 > report.predicted * MOST_MISPREDICTED {
            return Err(format!(
                "{} of {} answers mispredicted",
                report.mispredicted, report.predicted
            ));
        }
        Ok(())
    }

    fn check_all_play(&self) -> Result<(), String> {
        for group in self.groups.iter().filter(|group| !group.is_restless) {
            let (in_game, wanted) = group.bots.in_game_and_wanted();
            if in_game < wanted {
                return Err(format!(
                    "{in_game} of {wanted} bots in the game {RECOVERY} after a fault"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the address of a port of a group. The ports of rebound bots follow the first ones.
fn address_of(group: &Group, LocalPort(port): LocalPort) -> SocketAddr {
    let (bot, turn) = (group.first + port % group.count, port / group.count);
    SocketAddr::from((Ipv4Addr::from_bits(FIRST_BOT + u32::from(bot)), FIRST_PORT + turn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{UnixMillis, assets::MemoryAssets},
        qwserver::{ServerOptions, Settings},
    };

    #[test]
    fn three_minutes_have_each_kind_of_fault() {
        let server = ServerOptions {
            settings: Settings::default(),
            assets: Box::new(MemoryAssets::default()),
            entropy: [7; 32],
            began: UnixMillis(0),
            lines: Vec::new(),
        };
        let server = QwServer::start(server, Millis(0)).expect("map of the program");
        let span = Millis::seconds(180);
        let plan = QuakeWorldTrialOptions { seed: 1, span, players: 1, is_calm: false };
        let mut trial = QuakeWorldTrial::new(plan, server, Millis(0));
        trial.run_watched(|_| {}).expect("no violation");
        let QuakeWorldReport { stalls, maps, injected_datagrams, .. } = trial.report();
        assert!(stalls > 0 && maps > 0 && injected_datagrams > 0, "{:?}", trial.report());
    }
}

//! The master as a node: dispatch of datagrams, timers, counters.

use std::net::SocketAddr;

use crate::{
    discovery::{Family, MasterRequest},
    limits::{Half, is_this_machine},
    model::Millis,
    node::{
        Completion, Hosted, Input, LoopCounters, Node, NodeState, Outbox, Output, OutputKind, Route,
    },
    observe::{LogEvent, LogLimiter, Sample, Value},
};

use super::{
    authorization::Authorization,
    challenge::Challenges,
    console::{self, Console},
    counters::{Counters, MasterCounter},
    flood::{AnswerBudget, ChallengeGuard, QuestionGuard},
    games::{Games, GamesError},
    hosts::HashKey,
    options::MasterOptions,
    registry::{Due, Limits, Registry},
};

/// Interval of the master's own timers.
const TIMER_INTERVAL: Millis = Millis(1000);
/// Interval of timers while more servers are due than one frame handles.
const BACKLOG_INTERVAL: Millis = Millis(10);
/// Servers handled by one frame.
const DUE_PER_FRAME: usize = 256;
/// Interval of the probes of Enemy Territory servers.
pub(super) const PROBE_INTERVAL: Millis = Millis::seconds(240);
/// Challenges per second and host, besides one for each server that the host may list.
const CHALLENGES_PER_SECOND: u32 = 64;
/// Longest datagram that is read, in bytes.
const MAX_DATAGRAM: usize = 2048;

/// Master server.
#[derive(Debug)]
pub struct Master {
    pub(super) options: MasterOptions,
    pub(super) games: Games,
    pub(super) registry: Registry,
    pub(super) challenges: Challenges,
    pub(super) questions: QuestionGuard,
    pub(super) challenge_guard: ChallengeGuard,
    pub(super) budget: AnswerBudget,
    pub(super) authorization: Option<Authorization>,
    pub(super) counters: Counters,
    pub(super) outbox: Outbox,
    pub(super) console: Console,
    pub(super) key: HashKey,
    /// List answers so far, which select the next start in a list.
    pub(super) answers: u64,
    loop_counters: LoopCounters,
    log: LogLimiter,
    next_timer: Millis,
    /// End of a drain.
    pub(super) ends_at: Option<Millis>,
    stopped: bool,
}

impl Master {
    /// Creates a master with an empty list. `secret` must come from the system's random source.
    ///
    /// # Errors
    /// Games that cannot be declared.
    pub fn new(options: MasterOptions, secret: [u8; 32], now: Millis) -> Result<Self, GamesError> {
        let mut halves = [[0; 16]; 2];
        halves[0].copy_from_slice(&secret[..16]);
        halves[1].copy_from_slice(&secret[16..]);
        // Hashes of tables decide about time only; the key of the challenges is never shared with them.
        let [table_key, challenge_key] = halves.map(HashKey::new);
        let limits = Limits {
            servers: options.max_servers.max(1),
            per_host: options.max_servers_per_address,
        };
        let challenges_per_second = match limits.per_host {
            0 => 0,
            servers => CHALLENGES_PER_SECOND.max(u32::try_from(servers).unwrap_or(u32::MAX)),
        };
        Ok(Self {
            games: Games::new(&options.games)?,
            registry: Registry::new(limits, table_key, now),
            challenges: Challenges::new(challenge_key),
            questions: QuestionGuard::new(options.flood_protection, table_key),
            challenge_guard: ChallengeGuard::new(challenges_per_second, table_key),
            budget: AnswerBudget::new(options.answer_bytes_per_second, table_key),
            authorization: options
                .authorization
                .clone()
                .map(|policy| Authorization::new(policy, challenge_key)),
            counters: Counters::default(),
            outbox: Outbox::default(),
            console: Console::default(),
            key: table_key,
            answers: 0,
            loop_counters: LoopCounters::default(),
            log: LogLimiter::default(),
            next_timer: now + TIMER_INTERVAL,
            ends_at: None,
            stopped: false,
            options,
        })
    }

    /// Number of listed servers.
    #[must_use]
    pub fn servers(&self) -> usize {
        self.registry.len()
    }

    /// Returns the value of a counter.
    #[must_use]
    pub const fn counter(&self, counter: MasterCounter) -> u64 {
        self.counters.get(counter)
    }

    /// Iterates over the counters and the number of listed servers, for the metrics endpoint.
    pub fn samples(&self) -> impl Iterator<Item = Sample> {
        let gauge = |name: &'static str, help, value: usize| Sample {
            name: name.into(),
            help,
            value: Value::Gauge(i64::try_from(value).unwrap_or(i64::MAX)),
        };
        let of = |family| self.registry.len_of(family);
        let count = |name: &'static str, help, value| Sample {
            name: name.into(),
            help,
            value: Value::Counter(value),
        };
        self.counters.samples().chain([
            gauge("q3_master_servers{family=\"quake3\"}", "Listed servers.", of(Family::Quake3)),
            gauge("q3_master_servers{family=\"quake4\"}", "Listed servers.", of(Family::Quake4)),
            gauge(
                "q3_master_servers{family=\"quakeworld\"}",
                "Listed servers.",
                of(Family::QuakeWorld),
            ),
            count(
                "q3_master_sends_failed_total",
                "Datagrams that the system did not send.",
                self.loop_counters.no_socket,
            ),
            count(
                "q3_master_servers_displaced_total",
                "Servers of the largest network displaced from a full list.",
                self.registry.displaced(),
            ),
        ])
    }

    /// Whether a server of this address may be listed, as far as networks decide.
    pub(super) fn may_list(&self, source: SocketAddr) -> bool {
        let is_mapped = || self.options.mappings.iter().any(|one| one.map(source).is_some());
        let ip = source.ip().to_canonical();
        (self.options.allow_loopback || !ip.is_loopback() || is_mapped())
            && self.options.allow.as_ref().is_none_or(|networks| networks.contains(ip))
    }

    /// Address that clients get for a source address.
    pub(super) fn public_address(&self, source: SocketAddr) -> SocketAddr {
        self.options.mappings.iter().find_map(|one| one.map(source)).unwrap_or(source)
    }

    /// Whether an address has a listed server or is on this machine, so that it is not forged.
    pub(super) fn is_proven(&self, address: SocketAddr) -> bool {
        is_this_machine(address.ip()) || self.registry.has_host(address.ip())
    }

    /// Queues a reply to a request. A longer reply to an unproven address needs room in the budget.
    pub(super) fn reply(
        &mut self,
        now: Millis,
        route: Route,
        request_len: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let Some(half) = self.budget_half(now, route.remote) else { return false };
        let sent = self.outbox.push_with(route, write);
        self.counters.add(MasterCounter::BytesOut, sent as u64);
        self.budget.charge(half, request_len, sent);
        true
    }

    /// Half of the budget that an answer takes from. `None` without room, which is counted; `Some(None)` for an
    /// answer that is free, to a proven address.
    pub(super) fn budget_half(&mut self, now: Millis, to: SocketAddr) -> Option<Option<Half>> {
        if self.is_proven(to) {
            return Some(None);
        }
        let half = self.budget.room(now, to);
        if half.is_none() {
            self.counters.bump(MasterCounter::AnswersOverBudget);
            self.note(now, "answers to unproven addresses exceed the budget");
        }
        half.map(Some)
    }

    /// Logs an event that remote peers can cause, once a second at most.
    pub(super) fn note(&mut self, now: Millis, what: &str) {
        if let Some(suppressed) = self.log.allows(LogEvent::Overload, now) {
            log::warn!("master: {what}{suppressed}");
        }
    }

    fn dispatch(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        let request = match MasterRequest::parse(bytes) {
            Ok(request) => request,
            Err(error) => {
                self.counters.bump(MasterCounter::Malformed);
                log::debug!("{}: datagram dropped: {error}", route.remote);
                return;
            }
        };
        match request {
            MasterRequest::Heartbeat(word) => self.heartbeat(now, route, word),
            MasterRequest::InfoResponse(info) => self.info_response(now, route, info),
            MasterRequest::GetServers(request) => {
                self.answer_list(now, route, bytes.len(), &request)
            }
            MasterRequest::StatusResponse(_) | MasterRequest::ChallengeResponse(_) => {
                self.expect_listed(route, None);
            }
            MasterRequest::GameComplete(_) => {
                self.expect_listed(route, Some(MasterCounter::GamesCompleted));
            }
            MasterRequest::Quake4(packet) => self.quake4(now, route, bytes.len(), packet),
            MasterRequest::QuakeWorld(packet) => self.quakeworld(now, route, bytes.len(), packet),
            MasterRequest::GetMotd(info) => self.motd(now, route, bytes.len(), info),
            MasterRequest::GetUpdateInfo(request) => self.update(now, route, bytes.len(), request),
            // No list of blocked servers is kept, and an empty one has no known form.
            MasterRequest::GetBlockedServers(_) => self.counters.bump(MasterCounter::Unexpected),
            MasterRequest::GetKeyAuthorize(request) => self.announce_key(now, route, request),
            MasterRequest::GetIpAuthorize(request) => {
                self.authorize(now, route, bytes.len(), request);
            }
        }
    }

    /// Counts a datagram that only listed servers send.
    fn expect_listed(&mut self, route: Route, counter: Option<MasterCounter>) {
        let counter = match self.registry.find(route.remote) {
            Some(_) => counter,
            None => Some(MasterCounter::Unexpected),
        };
        counter.into_iter().for_each(|counter| self.counters.bump(counter));
    }

    /// Removes expired servers and queries those whose probe is due.
    fn run_due(&mut self, now: Millis) -> bool {
        for _ in 0..DUE_PER_FRAME {
            match self.registry.poll_due(now, PROBE_INTERVAL) {
                None => return true,
                Some(Due::Nothing) => {}
                Some(Due::Expired(source)) => {
                    self.counters.bump(MasterCounter::ServersExpired);
                    log::debug!("{source} expired");
                }
                Some(Due::Probe(route, tag)) => self.probe(now, route, tag),
            }
        }
        false
    }
}

impl Node for Master {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.counters.bump(MasterCounter::Datagrams);
        let remote = SocketAddr::new(route.remote.ip().to_canonical(), route.remote.port());
        if bytes.len() > MAX_DATAGRAM || remote.port() == 0 {
            self.counters.bump(MasterCounter::Malformed);
        } else if self.options.deny.contains(remote.ip()) {
            self.counters.bump(MasterCounter::Denied);
        } else {
            self.dispatch(now, Route { remote, ..route }, bytes);
        }
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        while let Some(deferred) = self.challenges.poll_deferred(now) {
            self.challenge_deferred(now, deferred);
        }
        if now >= self.next_timer {
            self.stopped |= self.ends_at.is_some_and(|end| end <= now);
            let is_done = self.run_due(now);
            self.next_timer = now + if is_done { TIMER_INTERVAL } else { BACKLOG_INTERVAL };
        }
    }

    fn next_frame(&self) -> Millis {
        self.next_timer.min(self.challenges.next_due())
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }
}

impl Hosted for Master {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        match input {
            Input::LoopCounters(counters) => self.loop_counters = *counters,
            Input::Stop(_) => self.stopped = true,
            Input::ConsoleLine(line) => self.stopped |= console::run(self, now, line),
            Input::Calendar(_) | Input::Lookup(_) | Input::PortFailed(_) | Input::Oversize(_) => {}
        }
    }

    fn complete(&self, line: &str) -> Completion {
        console::complete(line)
    }

    fn state(&self) -> NodeState {
        console::node_state(self)
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        if kind == OutputKind::Console { self.console.take().map(Output::Console) } else { None }
    }

    fn local_ports(&self) -> u16 {
        self.options.ports
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(1)
    }
}

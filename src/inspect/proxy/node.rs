//! The proxy as a node: dispatch of datagrams between clients, sessions and server.

use std::{
    collections::VecDeque,
    net::{IpAddr, SocketAddr},
};

use super::{
    counters::{Counters, ProxyCounter},
    family::Family,
    guards::Guards,
    options::{MAX_SESSIONS, ProxyOptions},
    queries::Queries,
    session::SessionState,
    sessions::Sessions,
    shadow::Seen,
    status_queries::StatusQueries,
    timers::CHECK_INTERVAL,
};
use crate::{
    limits::Reach,
    model::Millis,
    netchan::{is_connectionless, peek_client_header},
    node::{
        Hosted, Input, LocalPort, LoopCounters, Node, Outbox, Output, OutputKind, PortChange, Route,
    },
    observe::{LogEvent, LogLimiter, Sample, Value},
    quakeworld::channel::header::{Header, Sender},
    trace::Direction,
    wire::connectionless::Message,
};

/// Port for clients.
pub(super) const LISTEN: LocalPort = LocalPort(0);
/// Port for questions to the server.
pub(super) const QUESTIONS: LocalPort = LocalPort(1);
/// Port of session 0.
const FIRST_SESSION: u16 = 2;
/// Silence of a client's port before a message from another port can be its own.
const REBIND_SILENCE: Millis = Millis(500);
/// Minimum time between two port changes of a client.
const REBIND_INTERVAL: Millis = Millis::seconds(1);

/// Proxy between clients and one server.
#[derive(Debug)]
pub struct Proxy {
    pub(super) options: ProxyOptions,
    pub(super) sessions: Sessions,
    pub(super) counters: Counters,
    pub(super) outbox: Outbox,
    pub(super) console: VecDeque<String>,
    pub(super) loop_counters: LoopCounters,
    pub(super) began: Millis,
    /// Time of the next [`Node::frame`].
    pub(super) due: Millis,
    /// End of the time in which clients may answer to their disconnect.
    pub(super) stopping: Option<Millis>,
    pub(super) finished: bool,
    /// Time of the next check of all sessions.
    pub(super) next_check: Millis,
    /// Scratch memory of links.
    pub(super) packet: Vec<u8>,
    /// Scratch memory: sessions with an arrival.
    pub(super) arrived: Vec<usize>,
    pub(super) port_changes: VecDeque<PortChange>,
    pub(super) guards: Guards,
    pub(super) queries: Queries,
    pub(super) status_queries: StatusQueries,
    /// Whether the port for questions is open.
    pub(super) asks: bool,
    pub(super) log: LogLimiter,
    /// Family of the last accepted connection, for packets that both families have.
    pub(super) last_family: Family,
    /// Sessions opened so far.
    pub(super) opened: u64,
    /// Key of session addresses.
    session_key: u64,
}

impl Proxy {
    /// Creates a proxy. `secret` must come from the system's random source.
    #[must_use]
    pub fn new(mut options: ProxyOptions, secret: u64, now: Millis) -> Self {
        options.sessions = options.sessions.clamp(1, MAX_SESSIONS);
        let session_key = options.session_key.unwrap_or(secret.rotate_left(16));
        Self {
            options,
            sessions: Sessions::default(),
            counters: Counters::default(),
            outbox: Outbox::default(),
            console: VecDeque::new(),
            loop_counters: LoopCounters::default(),
            began: now,
            due: Millis::NEVER,
            stopping: None,
            finished: false,
            next_check: now,
            packet: Vec::new(),
            arrived: Vec::new(),
            port_changes: VecDeque::new(),
            guards: Guards::new(secret),
            queries: Queries::new(secret.rotate_left(32)),
            status_queries: StatusQueries::default(),
            asks: false,
            log: LogLimiter::default(),
            last_family: Family::default(),
            opened: 0,
            session_key,
        }
    }

    /// Returns the value of a counter.
    #[must_use]
    pub const fn counter(&self, counter: ProxyCounter) -> u64 {
        self.counters.get(counter)
    }

    /// Number of sessions, with and without a connection.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Iterates over the counters and the number of sessions, for the metrics endpoint.
    pub fn samples(&self) -> impl Iterator<Item = Sample> {
        let count = |name: &'static str, help, value| Sample {
            name: name.into(),
            help,
            value: Value::Counter(value),
        };
        let sessions = i64::try_from(self.sessions.len()).unwrap_or(i64::MAX);
        self.counters
            .samples()
            .chain([Sample {
                name: "q3_proxy_sessions".into(),
                help: "Sessions now.",
                value: Value::Gauge(sessions),
            }])
            .chain(
                self.loop_counters.rows().map(move |(name, help, value)| count(name, help, value)),
            )
    }

    fn handle_client(&mut self, now: Millis, from: Route, bytes: &[u8]) {
        self.counters.bump(ProxyCounter::DatagramsFromClients);
        self.counters.add(ProxyCounter::BytesFromClients, bytes.len() as u64);
        let number = if is_connectionless(bytes) {
            self.request(now, from, bytes)
        } else {
            let remote = from.remote;
            let known = self.sessions.of_client(remote);
            let known = known.or_else(|| self.follow(now, remote, bytes));
            self.count_unmatched(known)
        };
        if let Some(number) = number {
            self.forward(now, number, Direction::ToServer, bytes);
        }
    }

    /// Address that the sessions of a client have towards the server.
    pub(super) fn session_address(&self, client: SocketAddr) -> Option<IpAddr> {
        let network = self.options.session_network?;
        Some(network.address_of(client.ip(), self.session_key))
    }

    /// Sends a text that the client shows.
    pub(super) fn print(&mut self, to: Route, family: Family, text: &str) {
        self.outbox.push_with(to, |out| family.write_print(text, out));
    }

    /// Ends a session and closes its port.
    pub(super) fn close(&mut self, number: usize) {
        if let Some(session) = self.sessions.remove(number) {
            self.port_changes.push_back(PortChange::Close(session.port));
            log::debug!("{} closed session {number}", session.title());
        }
    }

    /// Counts a datagram without a session.
    pub(super) fn count_unmatched(&mut self, number: Option<usize>) -> Option<usize> {
        if number.is_none() {
            self.counters.bump(ProxyCounter::Unmatched);
        }
        number
    }

    /// Follows a client whose port changed. Its datagram must be a complete message of the connection.
    fn follow(&mut self, now: Millis, from: SocketAddr, bytes: &[u8]) -> Option<usize> {
        let number = self.number_of_qport(from, bytes)?;
        let session = self.sessions.get_mut(number)?;
        let recent = session.rebound_at.is_some_and(|at| now.since(at) < REBIND_INTERVAL);
        if recent
            || !session.is_connected()
            || now.since(session.last_from_client) < REBIND_SILENCE
            || !session.shadow.proves(now, bytes)
        {
            return None;
        }
        session.rebound_at = Some(now);
        log::info!("{} address changed to {from}", session.title());
        if let Some(displaced) = self.sessions.rebind(number, from) {
            self.port_changes.push_back(PortChange::Close(displaced.port));
        }
        self.counters.bump(ProxyCounter::PortsFollowed);
        Some(number)
    }

    /// Session of the host with the qport of a datagram. Its place depends on the family.
    fn number_of_qport(&self, from: SocketAddr, bytes: &[u8]) -> Option<usize> {
        let quake3 = peek_client_header(bytes).map(|(_, qport)| qport);
        let quakeworld =
            Header::parse(bytes, Sender::Client).ok().and_then(|(header, _)| header.qport);
        let known = [(quake3, Family::Quake3), (quakeworld, Family::QuakeWorld)];
        known.into_iter().find_map(|(qport, family)| {
            let number = self.sessions.of_qport(from, qport?)?;
            (self.sessions.family_of(number)? == family).then_some(number)
        })
    }

    /// Passes a datagram through the link of its direction.
    fn forward(&mut self, now: Millis, number: usize, direction: Direction, bytes: &[u8]) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let traffic = &mut session.traffic[direction as usize];
        traffic.datagrams += 1;
        traffic.bytes += bytes.len() as u64;
        match direction {
            Direction::ToServer => {
                session.last_from_client = now;
                session.unanswered_since.get_or_insert(now);
                // The client's side of the line is decoded: before the link here, behind it the other way.
                self.decode(now, number, direction, bytes);
            }
            Direction::ToClient => {
                session.unanswered_since = None;
                session.notices = 0;
            }
        }
        let Some(session) = self.sessions.get_mut(number) else { return };
        match session.link(direction) {
            None => self.deliver(now, number, direction, bytes),
            Some(link) => {
                link.send(now, bytes);
                self.due = self.due.min(session.next_arrival());
            }
        }
    }

    /// Sends a datagram that has passed its link.
    pub(super) fn deliver(
        &mut self,
        now: Millis,
        number: usize,
        direction: Direction,
        bytes: &[u8],
    ) {
        if direction == Direction::ToClient {
            self.decode(now, number, direction, bytes);
        }
        let Some(session) = self.sessions.get_mut(number) else { return };
        let route = match direction {
            Direction::ToServer => Route::new(session.port, session.server),
            Direction::ToClient => session.client_route(),
        };
        self.outbox.push(route, bytes);
    }

    /// Decodes a datagram on the client's side of the line, and follows what it means for the session.
    fn decode(&mut self, now: Millis, number: usize, direction: Direction, bytes: &[u8]) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        match session.shadow.decode(now, direction, bytes) {
            Seen::Nothing | Seen::Message => {}
            Seen::Accepted => self.accept(number),
            Seen::Disconnect if session.is_connected() => {
                session.state = SessionState::Leaving(now);
                log::info!("{} disconnected", session.title());
            }
            Seen::Disconnect => {}
            Seen::Undecoded => self.note_undecoded(now, number, direction),
        }
    }

    /// Starts the connection that the server accepted. A repeated `connect` is accepted again.
    fn accept(&mut self, number: usize) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        session.state = SessionState::Connected;
        self.last_family = session.family();
        let Some(attempt) = session.attempt.take() else { return };
        let is_repeated = !session.shadow.connect(attempt.challenge, attempt.qport);
        session.name = attempt.name;
        if !is_repeated {
            log::info!("{} connected to {}", session.title(), session.upstream());
            self.counters.bump(ProxyCounter::Connections);
        }
        self.sessions.set_qport(number, attempt.qport);
    }

    /// Counts a datagram that was not decoded, and logs the first of each session.
    fn note_undecoded(&mut self, now: Millis, number: usize, direction: Direction) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        session.traffic[direction as usize].undecoded += 1;
        self.counters.bump(match direction {
            Direction::ToServer => ProxyCounter::UndecodedFromClients,
            Direction::ToClient => ProxyCounter::UndecodedFromServer,
        });
        if session.has_warned {
            return;
        }
        if let Some(suppressed) = self.log.allows(LogEvent::ClientFault, now) {
            session.has_warned = true;
            let reason = session.shadow.fault().unwrap_or_else(|| "unknown reason".to_owned());
            let direction = direction.name().replace('_', " ");
            log::warn!(
                "{} {direction} passed on without decoding: {reason}{suppressed}",
                session.title()
            );
        }
    }

    fn handle_server(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        let number = usize::from(route.local.0 - FIRST_SESSION);
        if !self.is_from_server(now, number, route.remote, bytes) {
            self.counters.bump(ProxyCounter::WrongSource);
            return;
        }
        self.counters.bump(ProxyCounter::DatagramsFromServer);
        self.counters.add(ProxyCounter::BytesFromServer, bytes.len() as u64);
        self.forward(now, number, Direction::ToClient, bytes);
    }

    /// Whether a datagram is from the server of a session.
    ///
    /// A server with several addresses may answer a challenge request from another one. Clients then use that
    /// address, and so does the session, if the answer repeats the number of the request. A client knows that number and
    /// could forge the answer, so the address must have the port and the reach of the server: no client talks to
    /// others on the network of the proxy.
    fn is_from_server(
        &mut self,
        now: Millis,
        number: usize,
        from: SocketAddr,
        bytes: &[u8],
    ) -> bool {
        let Some(session) = self.sessions.get_mut(number) else { return false };
        if session.server == from {
            return true;
        }
        let Ok(Message::ChallengeResponse(response)) = Message::parse(bytes) else { return false };
        let repeats =
            session.asked_with.is_some() && response.client_challenge == session.asked_with;
        if !repeats || session.state != SessionState::Handshake {
            return false;
        }
        if !is_other_address(session.server, from) {
            if let Some(suppressed) = self.log.allows(LogEvent::Refusal, now) {
                log::warn!(
                    "{} not redirected from {} to {from}: another port, or a {} address; name that address with --to \
                     if it is the server's{suppressed}",
                    session.title(),
                    session.server,
                    Reach::of(from.ip()).name(),
                );
            }
            return false;
        }
        log::info!("{} redirected from {} to {from}", session.title(), session.server);
        session.server = from;
        self.counters.bump(ProxyCounter::ServersFollowed);
        true
    }

    /// Ends the session of a port that could not be opened.
    fn handle_port_failure(&mut self, now: Millis, port: LocalPort) {
        let Some(number) = port.0.checked_sub(FIRST_SESSION).map(usize::from) else {
            self.asks = false;
            return;
        };
        if let Some(session) = self.sessions.remove(number) {
            self.counters.bump(ProxyCounter::SessionsFailed);
            if self.guards.allows_refusal(now, session.client) {
                self.print(session.client_route(), session.family(), "Proxy is full.\n");
            }
        }
    }
}

/// Whether an address may be another one of the server.
fn is_other_address(server: SocketAddr, from: SocketAddr) -> bool {
    from.port() == server.port() && Reach::of(from.ip()) == Reach::of(server.ip())
}

/// Port of a session.
pub(super) fn port_of(number: usize) -> LocalPort {
    LocalPort(FIRST_SESSION + u16::try_from(number).unwrap_or(MAX_SESSIONS))
}

impl Node for Proxy {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        let remote = SocketAddr::new(route.remote.ip().to_canonical(), route.remote.port());
        match route.local {
            LISTEN => self.handle_client(now, Route { remote, ..route }, bytes),
            QUESTIONS if remote == self.options.server => {
                for (browser, answer) in self.queries.handle_answer(now, bytes) {
                    self.answer(browser, &answer);
                }
                for browser in self.status_queries.handle_answer(now, bytes) {
                    self.answer(browser, bytes);
                }
            }
            QUESTIONS => self.counters.bump(ProxyCounter::WrongSource),
            _ => self.handle_server(now, Route { remote, ..route }, bytes),
        }
        // Observers write what they collected when a frame begins.
        self.due = self.due.min(now + CHECK_INTERVAL);
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        self.run_timers(now);
    }

    fn next_frame(&self) -> Millis {
        self.due
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Proxy {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        match input {
            Input::ConsoleLine(line) => self.run_command(now, line),
            Input::LoopCounters(counters) => self.loop_counters = *counters,
            Input::PortFailed(port) => self.handle_port_failure(now, port),
            Input::Stop(_) => self.disconnect_all(now, "Proxy was stopped"),
            Input::Calendar(_) | Input::Lookup(_) | Input::Oversize(_) => {}
        }
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        match kind {
            OutputKind::PortChange => self.port_changes.pop_front().map(Output::PortChange),
            OutputKind::Console => self.console.pop_front().map(Output::Console),
            _ => None,
        }
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}

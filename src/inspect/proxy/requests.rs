//! Requests of clients: queries, challenge requests, connects, rcon.
//!
//! | command | reaction |
//! |---|---|
//! | `getinfo`, `getstatus`; of QuakeWorld `status`, `ping` | answered from the cache |
//! | `getchallenge`, `connect` | passed on |
//! | `rcon` | refused; passed on by option |
//! | unknown commands, such as the remote consoles of other engines | dropped; with the same option passed on for clients with a session |
//! | commands of servers, masters and services: `heartbeat`, `infoResponse`, `ipAuthorize`, … | dropped |
//!
//! A server takes the last three kinds from addresses that it trusts, and it may trust that of the proxy.
//! Invariants: an address without a session gets a port only within all limits; a refusal of rcon is no longer than the
//! request.

use super::{
    counters::ProxyCounter,
    family::Family,
    node::{Proxy, QUESTIONS, port_of},
    queries::{Browser, Reply, Topic},
    session::{Attempt, MAX_NAME_LEN, Session, SessionState},
    shadow::Shadow,
    status_queries::{Question, Reaction},
};
use crate::{
    model::{Challenge, Millis, text},
    node::{PortChange, Route},
    observe::LogEvent,
    quakeworld::{connectionless as quakeworld, info as quakeworld_info},
    trace::quakeworld::is_request,
    wire::{
        connect::Connect,
        connectionless::{CommandKind, Message, OUT_OF_BAND, Query},
        info::InfoString,
    },
};

/// Length of a `print` packet without its text.
const PRINT_LEN: usize = OUT_OF_BAND.len() + "print\n".len();
/// Answers to rcon that is not passed on, longest first.
const RCON_REFUSALS: [&str; 3] =
    ["Rcon does not pass this proxy.\n", "No rcon by proxy.\n", "No rcon.\n"];

impl Proxy {
    /// Handles a connectionless packet of a client. Returns the session that passes it on.
    pub(super) fn request(&mut self, now: Millis, from: Route, bytes: &[u8]) -> Option<usize> {
        let known = self.sessions.of_client(from.remote);
        if self.family_of(known, bytes) == Family::QuakeWorld {
            return self.quakeworld_request(now, from, bytes);
        }
        let message = match Message::parse(bytes) {
            Ok(Message::GetInfo(query)) => return self.query(now, from, Topic::Info, query),
            Ok(Message::GetStatus(query)) => return self.query(now, from, Topic::Status, query),
            Ok(message) => message,
            Err(_) => return self.refuse_command(now, from, "invalid"),
        };
        match message.kind() {
            CommandKind::GetChallenge | CommandKind::Connect => {}
            CommandKind::Rcon if self.options.passes_rcon => {}
            CommandKind::Rcon => return self.refuse_rcon(now, from, Family::Quake3, bytes.len()),
            CommandKind::Unknown if self.options.passes_rcon => return self.count_unmatched(known),
            kind => return self.refuse_command(now, from, kind.name()),
        }
        let number = self.admit(now, from, Family::Quake3)?;
        let session = self.sessions.get_mut(number)?;
        match message {
            Message::GetChallenge(request) => {
                session.asked_with = request.client_challenge;
                // Other addresses of the server and of the proxy are used for one connection.
                if session.state == SessionState::Handshake {
                    session.server = self.options.server;
                    session.local_ip = from.local_ip;
                }
            }
            Message::Connect(connect) => session.attempt = attempt(connect),
            _ => {}
        }
        Some(number)
    }

    /// Family of the sender of a connectionless packet.
    ///
    /// The first of these decides: the options, its connection, the packet, its session, the last connection.
    fn family_of(&mut self, known: Option<usize>, bytes: &[u8]) -> Family {
        let session = known.and_then(|number| self.sessions.get_mut(number));
        let known = session.map(|session| (session.family(), session.is_connected()));
        match (self.options.family, known) {
            (Some(family), _) | (None, Some((family, true))) => return family,
            _ if is_request(bytes) => return Family::QuakeWorld,
            _ => {}
        }
        // Commands that only clients of Quake III send.
        let is_own = matches!(
            Message::parse(bytes).map(|message| message.kind()),
            Ok(CommandKind::Connect | CommandKind::GetInfo | CommandKind::GetStatus)
        );
        let known = known.map(|(family, _)| family);
        if is_own { Family::Quake3 } else { known.unwrap_or(self.last_family) }
    }

    /// Handles a connectionless packet of a client of QuakeWorld. Returns the session that passes it on.
    fn quakeworld_request(&mut self, now: Millis, from: Route, bytes: &[u8]) -> Option<usize> {
        use quakeworld::Request;
        let request = match Request::parse(bytes) {
            Ok(Request::Status { parts }) => {
                return self.status_query(now, from, Question::Status(parts));
            }
            Ok(Request::Ping) => return self.status_query(now, from, Question::Ping),
            Ok(request) => request,
            Err(_) => return self.refuse_command(now, from, "invalid"),
        };
        match request {
            Request::Rcon { .. } if !self.options.passes_rcon => {
                return self.refuse_rcon(now, from, Family::QuakeWorld, bytes.len());
            }
            // Acknowledgment of a server's ping.
            Request::Ack => {
                let known = self.sessions.of_client(from.remote);
                return self.count_unmatched(known);
            }
            Request::Log { .. } => return self.refuse_command(now, from, "log"),
            _ => {}
        }
        let number = self.admit(now, from, Family::QuakeWorld)?;
        let session = self.sessions.get_mut(number)?;
        if session.state == SessionState::Handshake {
            session.local_ip = from.local_ip;
        }
        if let Request::Connect(connect) = request {
            session.attempt = Some(quakeworld_attempt(&connect));
        }
        Some(number)
    }

    /// Answers a query of a browser of QuakeWorld from the cache, or asks the server.
    fn status_query(&mut self, now: Millis, from: Route, question: Question) -> Option<usize> {
        let Some(share) = self.guards.admit_query(now, from.remote) else {
            self.record_limit(now, ProxyCounter::QueriesLimited, "queries");
            return None;
        };
        let browser = Browser { route: from, share };
        match self.status_queries.handle(now, browser, question) {
            Reaction::Answer(answer) => self.answer(browser, &answer),
            Reaction::Ask(question) => self.ask(&question),
            Reaction::Wait => {}
        }
        None
    }

    /// Returns the session of a client whose request is passed on, within the limits.
    fn admit(&mut self, now: Millis, from: Route, family: Family) -> Option<usize> {
        if !self.guards.allows_request(now, from.remote) {
            self.record_limit(now, ProxyCounter::RequestsLimited, "requests");
            return None;
        }
        let known = self.sessions.of_client(from.remote);
        let number = known.or_else(|| self.open(now, from, family))?;
        let server = self.options.server;
        let session = self.sessions.get_mut(number)?;
        if matches!(session.state, SessionState::Leaving(_)) {
            session.state = SessionState::Handshake;
        }
        if session.family() != family && session.state == SessionState::Handshake {
            session.shadow = Shadow::new(family, server, from.remote);
        }
        Some(number)
    }

    /// Sends a question of the proxy to the server.
    fn ask(&mut self, question: &[u8]) {
        if !std::mem::replace(&mut self.asks, true) {
            let (local, peer) = (QUESTIONS, self.options.server);
            self.port_changes.push_back(PortChange::Open { local, peer, source: None });
        }
        self.counters.bump(ProxyCounter::QueriesAsked);
        self.outbox.push(Route::new(QUESTIONS, self.options.server), question);
    }

    /// Opens a session for an address, if limits allow.
    fn open(&mut self, now: Millis, from: Route, family: Family) -> Option<usize> {
        if self.stopping.is_some() {
            return None;
        }
        if self.sessions.of_host(from.remote) >= self.options.sessions_per_address {
            // Forgers of other ports hold sessions in the name of the host.
            let Some(oldest) = self.sessions.evictable(now, Some(from.remote)) else {
                return self.refuse(now, from, family, "Too many connections from your address.\n");
            };
            self.counters.bump(ProxyCounter::SessionsEvicted);
            self.close(oldest);
        }
        if !self.guards.allows_opening(now, from.remote) {
            self.record_limit(now, ProxyCounter::RequestsLimited, "requests");
            return None;
        }
        if self.sessions.len() >= usize::from(self.options.sessions) {
            let Some(oldest) = self.sessions.evictable(now, None) else {
                return self.refuse(now, from, family, "Proxy is full.\n");
            };
            self.counters.bump(ProxyCounter::SessionsEvicted);
            self.close(oldest);
        }
        self.opened += 1;
        let seed = self.options.seed.wrapping_mul(0x1_0001).wrapping_add(self.opened);
        let options = &self.options;
        let source = self.session_address(from.remote);
        let number = self.sessions.insert(|number| {
            let mut session = Session::new(now, options, from, port_of(number), family, seed);
            session.source = source;
            session
        });
        self.counters.bump(ProxyCounter::SessionsOpened);
        let (local, peer) = (port_of(number), self.options.server);
        self.port_changes.push_back(PortChange::Open { local, peer, source });
        log::debug!("client {} opened session {number}", from.remote);
        self.schedule(now);
        Some(number)
    }

    /// Tells an address why it gets no session.
    fn refuse(&mut self, now: Millis, to: Route, family: Family, text: &str) -> Option<usize> {
        self.counters.bump(ProxyCounter::SessionsRefused);
        if let Some(suppressed) = self.log.allows(LogEvent::Refusal, now) {
            log::warn!("client {} refused: {}{suppressed}", to.remote, text.trim_end());
        }
        if self.guards.allows_refusal(now, to.remote) {
            self.print(to, family, text);
        }
        None
    }

    /// Tells an address that rcon is not passed on, with a text that fits into the length of its request.
    fn refuse_rcon(
        &mut self,
        now: Millis,
        to: Route,
        family: Family,
        request_len: usize,
    ) -> Option<usize> {
        self.counters.bump(ProxyCounter::RconRefused);
        if let Some(suppressed) = self.log.allows(LogEvent::BadRcon, now) {
            log::warn!("client {} refused: rcon passes with --rcon only{suppressed}", to.remote);
        }
        let longest = request_len.saturating_sub(PRINT_LEN);
        if let Some(text) = RCON_REFUSALS.iter().find(|text| text.len() <= longest)
            && self.guards.allows_refusal(now, to.remote)
        {
            self.print(to, family, text);
        }
        None
    }

    /// Counts a command that is not passed on, and logs one a second.
    fn refuse_command(&mut self, now: Millis, from: Route, name: &str) -> Option<usize> {
        self.counters.bump(ProxyCounter::CommandsRefused);
        if let Some(suppressed) = self.log.allows(LogEvent::ConnectionlessFault, now) {
            log::info!("client {} sent no request of a client: {name}{suppressed}", from.remote);
        }
        None
    }

    /// Counts a request beyond a limit, and logs one a second.
    fn record_limit(&mut self, now: Millis, counter: ProxyCounter, what: &str) {
        self.counters.bump(counter);
        if let Some(suppressed) = self.log.allows(LogEvent::Limit, now) {
            log::info!("{what} of unproven addresses exceed their limits{suppressed}");
        }
    }

    /// Answers a query from the cache, or asks the server.
    fn query(&mut self, now: Millis, from: Route, topic: Topic, query: Query<'_>) -> Option<usize> {
        let Some(share) = self.guards.admit_query(now, from.remote) else {
            self.record_limit(now, ProxyCounter::QueriesLimited, "queries");
            return None;
        };
        let browser = Browser { route: from, share };
        match self.queries.handle(now, browser, topic, query) {
            Reply::Answer(answer) => self.answer(browser, &answer),
            Reply::Ask(question) => self.ask(&question),
            Reply::Wait | Reply::Nothing => {}
        }
        None
    }

    pub(super) fn answer(&mut self, browser: Browser, answer: &[u8]) {
        self.counters.bump(ProxyCounter::QueriesAnswered);
        self.guards.charge_answer(browser.share, answer.len());
        self.outbox.push(browser.route, answer);
    }
}

/// Returns the parameters of a `connect`. A server rejects one that cannot be read, and says so.
fn attempt(connect: Connect<'_>) -> Option<Attempt> {
    let text = connect.text().ok()?;
    let claim = text.claim();
    let info = text.userinfo().unwrap_or_else(|_| InfoString::normal());
    let name = text::strip_colors(info.get("name").unwrap_or_default());
    let name = text::escaped(name.as_bytes());
    Some(Attempt {
        challenge: claim.challenge?,
        qport: claim.qport?,
        name: text::truncated(&name, MAX_NAME_LEN).to_owned(),
    })
}

/// Returns the parameters of a `connect` of QuakeWorld.
fn quakeworld_attempt(connect: &quakeworld::Connect<'_>) -> Attempt {
    let name = quakeworld_info::value(connect.userinfo.bytes(), "name").unwrap_or_default();
    Attempt {
        challenge: Challenge(connect.challenge),
        qport: connect.qport,
        name: text::truncated(&text::escaped(name), MAX_NAME_LEN).to_owned(),
    }
}

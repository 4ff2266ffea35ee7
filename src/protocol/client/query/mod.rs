//! Server query: state and players of one server of any game.
//!
//! The server is asked in the words of each family at once, and the first response decides. Each request of
//! the Quake III family and of Quake 4 has its own challenge, which identifies its response and gives the
//! round-trip time. Invariants: responses from other addresses or without our challenge are ignored; a query
//! ends with every response of one family or at its timeout.
//! Source: Quake III protocol 68, connectionless queries; documented packets of Quake 4 and QuakeWorld.

mod result;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, net::SocketAddr};

use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};

use crate::{
    discovery::{Family, quake4, quakeworld},
    model::Millis,
    node::{Hosted, Input, LocalPort, Node, Outbox, Output, OutputKind, Route},
    wire::{
        connectionless::{self, Message},
        info::InfoString,
        text::WireText,
    },
};

pub use result::{QueryPlayer, QueryResult};

/// Parts of a QuakeWorld status: settings, players, spectators, teams.
const QUAKEWORLD_PARTS: u32 = 1 + 2 + 4 + 16;

/// Options of a query.
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions {
    /// Address to ask as a server of the Quake III family, if any.
    pub quake3: Option<SocketAddr>,
    /// Address to ask as a Quake 4 server, if any.
    pub quake4: Option<SocketAddr>,
    /// Address to ask as a QuakeWorld server, if any.
    pub quakeworld: Option<SocketAddr>,
    /// Seed of the challenges; must be secret.
    pub seed: u64,
    /// Interval between retries.
    pub retry: Millis,
    /// Timeout of the query.
    pub timeout: Millis,
}

impl QueryOptions {
    /// Creates options for a server of the Quake III family.
    ///
    /// The query is repeated every second and ends after four.
    #[must_use]
    pub const fn new(server: SocketAddr, seed: u64) -> Self {
        let (retry, timeout) = (Millis(1000), Millis(4000));
        let quake3 = Some(server);
        Self { quake3, quake4: None, quakeworld: None, seed, retry, timeout }
    }
}

/// Kind of a request.
#[derive(Clone, Copy, Debug)]
enum RequestKind {
    Info,
    Status,
}

/// One request, repeated until its response arrives.
#[derive(Debug)]
struct PendingRequest {
    asks: RequestKind,
    /// Challenge and time of each attempt.
    asked: Vec<(String, Millis)>,
    answered: bool,
}

/// Node that queries one server. It owns one port.
#[derive(Debug)]
pub struct Query {
    options: QueryOptions,
    challenges: Pcg64Mcg,
    info: PendingRequest,
    status: PendingRequest,
    /// Challenge and time of each request as Quake 4.
    quake4: Vec<(u32, Millis)>,
    /// Time of the latest request as QuakeWorld, which has no challenge.
    quakeworld: Option<Millis>,
    /// Family of the first response. Others are ignored.
    family: Option<Family>,
    /// Result so far, with the shortest round-trip time.
    result: Option<QueryResult>,
    next_ask: Millis,
    give_up: Millis,
    finished: bool,
    rejected: Rejected,
    outbox: Outbox,
}

/// Datagrams of the server that answer no request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    /// Datagrams that are longer than any message of the protocol.
    pub oversize: u64,
    /// Others: random bytes, packets of another kind, answers without our challenge.
    pub invalid: u64,
}

impl Query {
    /// Creates a query that starts at `now`.
    #[must_use]
    pub fn new(options: QueryOptions, now: Millis) -> Self {
        let question = |asks| PendingRequest { asks, asked: Vec::new(), answered: false };
        Self {
            challenges: Pcg64Mcg::seed_from_u64(options.seed),
            info: question(RequestKind::Info),
            status: question(RequestKind::Status),
            quake4: Vec::new(),
            quakeworld: None,
            family: None,
            result: None,
            next_ask: now,
            give_up: now + options.timeout,
            finished: false,
            rejected: Rejected::default(),
            outbox: Outbox::default(),
            options,
        }
    }

    /// Returns the result so far. `None` without a response; once the query is finished that is
    /// final.
    #[must_use]
    pub fn result(&self) -> Option<&QueryResult> {
        self.result.as_ref()
    }

    /// Returns the counts of datagrams of the server that answer no request.
    #[must_use]
    pub const fn rejected(&self) -> Rejected {
        self.rejected
    }

    /// Whether the address was asked.
    fn is_asked(&self, server: SocketAddr) -> bool {
        let families = [Family::Quake3, Family::Quake4, Family::QuakeWorld];
        families.into_iter().any(|family| self.target(family) == Some(server))
    }

    /// Returns the address to ask as a server of `family`, unless another family has answered.
    fn target(&self, family: Family) -> Option<SocketAddr> {
        let is_open = self.family.is_none_or(|answered| answered == family);
        let target = match family {
            Family::Quake3 => self.options.quake3,
            Family::Quake4 => self.options.quake4,
            Family::QuakeWorld => self.options.quakeworld,
        };
        target.filter(|_| is_open)
    }

    fn ask(&mut self, now: Millis) {
        let route = |remote| Route::new(LocalPort(0), remote);
        if let Some(remote) = self.target(Family::Quake3) {
            self.ask_quake3(now, route(remote));
        }
        if let Some(remote) = self.target(Family::Quake4) {
            let challenge = self.challenges.next_u32();
            let request = quake4::Packet::GetInfo(challenge);
            self.outbox.push_with(route(remote), |out| request.write(out));
            self.quake4.push((challenge, now));
        }
        if let Some(remote) = self.target(Family::QuakeWorld) {
            let request = quakeworld::Packet::GetStatus(Some(QUAKEWORLD_PARTS));
            self.outbox.push_with(route(remote), |out| request.write(out));
            self.quakeworld = Some(now);
        }
    }

    fn ask_quake3(&mut self, now: Millis, route: Route) {
        for question in [&mut self.info, &mut self.status] {
            if question.answered {
                continue;
            }
            let challenge = format!("{:016x}", self.challenges.next_u64());
            let query = connectionless::Query { challenge: WireText::from(challenge.as_str()) };
            let message = match question.asks {
                RequestKind::Info => Message::GetInfo(query),
                RequestKind::Status => Message::GetStatus(query),
            };
            self.outbox.push_with(route, |out| message.write(out));
            question.asked.push((challenge, now));
        }
    }

    /// Returns the send time of a response's request and stores the response's pairs. `None` for a
    /// response without our challenge.
    fn pairs(
        question: &PendingRequest,
        info: WireText<'_>,
    ) -> Option<(BTreeMap<String, String>, Millis)> {
        let info = InfoString::from_wire(info);
        let echoed = info.get("challenge")?;
        let (_, asked) = question.asked.iter().find(|(challenge, _)| challenge == echoed)?;
        let pairs = info.iter().filter(|(key, _)| !key.eq_ignore_ascii_case("challenge"));
        let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Some((pairs.collect(), *asked))
    }

    fn answered(
        &mut self,
        now: Millis,
        asked: Millis,
        family: Family,
        server: SocketAddr,
    ) -> &mut QueryResult {
        self.family = Some(family);
        let ping_ms = now.since(asked).0;
        let address = server.to_string();
        let result = self.result.get_or_insert_with(|| QueryResult {
            address,
            ping_ms,
            ..QueryResult::default()
        });
        result.ping_ms = result.ping_ms.min(ping_ms);
        result
    }

    fn read_quake3(&mut self, now: Millis, server: SocketAddr, bytes: &[u8]) {
        match Message::parse(bytes) {
            Ok(Message::InfoResponse(info)) if !self.info.answered => {
                let Some((pairs, asked)) = Self::pairs(&self.info, info) else { return };
                self.info.answered = true;
                let result = self.answered(now, asked, Family::Quake3, server);
                result.info = pairs;
                result.name_quake3();
            }
            Ok(Message::StatusResponse(status)) if !self.status.answered => {
                let Some((pairs, asked)) = Self::pairs(&self.status, status.info) else { return };
                self.status.answered = true;
                let result = self.answered(now, asked, Family::Quake3, server);
                result.status = pairs;
                result.set_quake3_players(status);
                result.name_quake3();
            }
            _ => {}
        }
        self.finished = self.info.answered && self.status.answered;
    }

    fn read_quake4(&mut self, now: Millis, server: SocketAddr, bytes: &[u8]) {
        let Ok(quake4::Packet::InfoResponse(response)) = quake4::Packet::parse(bytes) else {
            return;
        };
        let asked = self.quake4.iter().find(|(challenge, _)| *challenge == response.challenge);
        let Some(&(_, asked)) = asked else { return };
        self.answered(now, asked, Family::Quake4, server).set_quake4(response);
        self.finished = true;
    }

    fn read_quakeworld(&mut self, now: Millis, server: SocketAddr, bytes: &[u8]) {
        let Some(asked) = self.quakeworld else { return };
        if let Ok(quakeworld::Packet::Status(status)) = quakeworld::Packet::parse(bytes) {
            self.answered(now, asked, Family::QuakeWorld, server).set_quakeworld(status);
            self.finished = true;
        }
    }
}

impl Node for Query {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        let server = route.remote;
        for (family, read) in [
            (Family::Quake3, Self::read_quake3 as fn(&mut Self, Millis, SocketAddr, &[u8])),
            (Family::Quake4, Self::read_quake4),
            (Family::QuakeWorld, Self::read_quakeworld),
        ] {
            if !self.finished && self.target(family) == Some(server) {
                read(self, now, server, bytes);
            }
        }
        // Late copies come after the first answer, too, and need no mention.
        self.rejected.invalid += u64::from(self.result.is_none() && self.is_asked(server));
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        if now >= self.give_up {
            self.finished = true;
        } else if now >= self.next_ask && !self.finished {
            self.next_ask = now + self.options.retry;
            self.ask(now);
        }
    }

    fn next_frame(&self) -> Millis {
        if self.finished { Millis::NEVER } else { self.next_ask.min(self.give_up) }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Query {
    fn handle_input(&mut self, _: Millis, input: Input<'_>) {
        match input {
            Input::Oversize(route) => {
                self.rejected.oversize += u64::from(self.is_asked(route.remote));
            }
            Input::Stop(_) => self.finished = true,
            Input::ConsoleLine(_)
            | Input::LoopCounters(_)
            | Input::Calendar(_)
            | Input::Lookup(_)
            | Input::PortFailed(_) => {}
        }
    }

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}

//! Table of lines: finds the line of each datagram, and which side is the server.
//!
//! Invariants: a bounded number of lines; only `connect` and sequenced datagrams occupy one, so that
//! queries of many addresses evict no connection. Source: Quake III protocol 68, qport.

use std::{collections::HashMap, net::SocketAddr};

use crate::{
    netchan::{is_connectionless, peek_client_header},
    wire::connectionless::{CommandKind, Message},
};

use super::{
    line::Line,
    record::{Direction, Record},
};

/// Usual ports of servers and masters.
const SERVER_PORTS: std::ops::RangeInclusive<u16> = 27_940..=27_999;

/// Sender of a datagram, as far as the observer knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The server sent it.
    Server,
    /// The client sent it.
    Client,
    /// To be derived from content and ports.
    Unknown,
}

/// Addresses of a line: server, client.
type Pair = (SocketAddr, SocketAddr);

/// Decoder of all connections that an observer sees.
#[derive(Debug)]
pub struct Lines {
    lines: HashMap<Pair, Entry>,
    limit: usize,
    clock: u64,
    /// Line of packets that occupy none.
    passing: Line,
}

#[derive(Debug)]
struct Entry {
    line: Line,
    /// Value of the clock at its last datagram.
    used: u64,
}

impl Lines {
    /// Creates a table of at most `limit` lines.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let passing = Line::new(nowhere, nowhere);
        Self { lines: HashMap::new(), limit: limit.max(1), clock: 0, passing }
    }

    /// Number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether no line exists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Decodes a datagram. `time_us` is calendar time.
    pub fn decode(
        &mut self,
        time_us: u64,
        from: SocketAddr,
        to: SocketAddr,
        sender: Role,
        datagram: &[u8],
    ) -> &Record {
        self.clock += 1;
        let (pair, direction) = match sender {
            Role::Server => ((from, to), Direction::ToClient),
            Role::Client => ((to, from), Direction::ToServer),
            Role::Unknown => self.guess(from, to, datagram),
        };
        if !self.lines.contains_key(&pair) {
            if is_connectionless(datagram) && !datagram.starts_with(b"\xff\xff\xff\xffconnect ") {
                self.passing.readdress(pair.0, pair.1);
                return self.passing.decode(time_us, direction, datagram);
            }
            self.add(pair, direction, datagram);
        }
        let used = self.clock;
        let new = || Entry { line: Line::new(pair.0, pair.1), used };
        let entry = self.lines.entry(pair).or_insert_with(new);
        entry.used = used;
        entry.line.decode(time_us, direction, datagram)
    }

    /// Returns pair and direction of a datagram whose sender's role is unknown.
    fn guess(&self, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> (Pair, Direction) {
        let from_server = ((from, to), Direction::ToClient);
        let from_client = ((to, from), Direction::ToServer);
        if self.lines.contains_key(&from_server.0) {
            return from_server;
        }
        if self.lines.contains_key(&from_client.0) {
            return from_client;
        }
        if let Some(direction) = direction_of_packet(datagram) {
            return if direction == Direction::ToClient { from_server } else { from_client };
        }
        let serves = |address| self.lines.keys().any(|(server, _)| *server == address);
        let usual = |address: SocketAddr| SERVER_PORTS.contains(&address.port());
        let sent_by_server = match (serves(from), serves(to)) {
            (true, false) => true,
            (false, true) => false,
            _ if usual(from) != usual(to) => usual(from),
            _ => from.port() < to.port(),
        };
        if sent_by_server { from_server } else { from_client }
    }

    /// Adds the line of a pair, or moves that of a client whose port has changed.
    fn add(&mut self, pair: Pair, direction: Direction, datagram: &[u8]) {
        let (server, client) = pair;
        if direction == Direction::ToServer
            && let Some((_, qport)) = peek_client_header(datagram)
        {
            let same = |(key, entry): &(&Pair, &Entry)| {
                key.0 == server && key.1.ip() == client.ip() && entry.line.has_qport(qport)
            };
            if let Some(old) = self.lines.iter().find(same).map(|(key, _)| *key)
                && let Some(mut entry) = self.lines.remove(&old)
            {
                entry.line.readdress(server, client);
                self.lines.insert(pair, entry);
                return;
            }
        }
        if self.lines.len() >= self.limit {
            let value = |entry: &Entry| (entry.line.protocol().is_some(), entry.used);
            let oldest = self.lines.iter().min_by_key(|(_, entry)| value(entry));
            if let Some(key) = oldest.map(|(key, _)| *key) {
                self.lines.remove(&key);
            }
        }
        self.lines.insert(pair, Entry { line: Line::new(server, client), used: self.clock });
    }
}

/// Returns the direction of a connectionless packet by its command.
fn direction_of_packet(datagram: &[u8]) -> Option<Direction> {
    if !is_connectionless(datagram) {
        return None;
    }
    match Message::parse(datagram).ok()?.kind() {
        CommandKind::GetInfo
        | CommandKind::GetStatus
        | CommandKind::GetChallenge
        | CommandKind::Connect
        | CommandKind::Rcon
        | CommandKind::GetServers
        | CommandKind::GetServersExt => Some(Direction::ToServer),
        CommandKind::ChallengeResponse
        | CommandKind::ConnectResponse
        | CommandKind::InfoResponse
        | CommandKind::StatusResponse
        | CommandKind::Print
        | CommandKind::Heartbeat
        | CommandKind::GetServersResponse
        | CommandKind::GetServersExtResponse => Some(Direction::ToClient),
        CommandKind::Echo
        | CommandKind::Disconnect
        | CommandKind::ObsoleteCommand(_)
        | CommandKind::Unknown => None,
    }
}

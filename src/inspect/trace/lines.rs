//! Table of lines: finds the line of each datagram, and which side is the server.
//!
//! Invariants: a bounded number of lines; only `connect` and sequenced datagrams occupy one, so that
//! queries of many addresses evict no connection. Source: Quake III protocol 68, QuakeWorld protocol 28, qport.

use std::{collections::HashMap, net::SocketAddr};

use crate::{
    netchan::is_connectionless,
    wire::connectionless::{CommandKind, Message},
};

use super::{
    family::{AnyLine, Traced, is_quakeworld},
    quakeworld,
    record::Direction,
};

/// Usual ports of servers and masters, by family.
const SERVER_PORTS: [std::ops::RangeInclusive<u16>; 2] = [27_940..=27_999, 27_500..=27_599];

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

/// Maximum pairs of one line.
const MAX_PAIRS: usize = 8;

/// Addresses of a line: server, client.
type Pair = (SocketAddr, SocketAddr);

/// Decoder of all connections that an observer sees.
#[derive(Debug)]
pub struct Lines {
    /// Line of each pair. After NAT rebinding several pairs have one line, because late datagrams still
    /// use the old port.
    pairs: HashMap<Pair, u64>,
    lines: HashMap<u64, Entry>,
    limit: usize,
    /// Number of datagrams so far, and of the next line.
    clock: u64,
    /// Lines of packets that occupy none, by family.
    passing: [AnyLine; 2],
}

#[derive(Debug)]
struct Entry {
    line: AnyLine,
    /// Pairs of the line, newest last.
    pairs: Vec<Pair>,
    /// Value of the clock at its last datagram.
    used: u64,
}

impl Lines {
    /// Creates a table of at most `limit` lines.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let passing = [false, true].map(|family| AnyLine::new(family, nowhere, nowhere));
        let (pairs, lines) = (HashMap::new(), HashMap::new());
        Self { pairs, lines, limit: limit.max(1), clock: 0, passing }
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
    ) -> Traced<'_> {
        self.clock += 1;
        let (pair, direction) = match sender {
            Role::Server => ((from, to), Direction::ToClient),
            Role::Client => ((to, from), Direction::ToServer),
            Role::Unknown => self.guess(from, to, datagram),
        };
        let occupies = datagram.starts_with(b"\xff\xff\xff\xffconnect ")
            || !is_connectionless(datagram) && !quakeworld::is_unmarked_reply(datagram);
        let known = self.pairs.get(&pair).copied();
        let line = known.and_then(|id| self.lines.get(&id)).map(|entry| &entry.line);
        let is_quakeworld = is_quakeworld(line, pair.0, direction, datagram);
        let found = match known.filter(|id| self.lines.contains_key(id)) {
            Some(id) if direction == Direction::ToServer => Some(self.moved(id, pair, datagram)),
            None if occupies => Some(self.add(pair, direction, is_quakeworld, datagram)),
            known => known,
        };
        let line = match found.and_then(|id| self.lines.get_mut(&id)) {
            Some(entry) => {
                entry.used = self.clock;
                if entry.line.is_quakeworld() != is_quakeworld && occupies {
                    entry.line = AnyLine::new(is_quakeworld, pair.0, pair.1);
                }
                &mut entry.line
            }
            None => &mut self.passing[usize::from(is_quakeworld)],
        };
        line.decode(time_us, pair, direction, datagram)
    }

    /// Returns pair and direction of a datagram whose sender's role is unknown.
    fn guess(&self, from: SocketAddr, to: SocketAddr, datagram: &[u8]) -> (Pair, Direction) {
        let from_server = ((from, to), Direction::ToClient);
        let from_client = ((to, from), Direction::ToServer);
        if self.pairs.contains_key(&from_server.0) {
            return from_server;
        }
        if self.pairs.contains_key(&from_client.0) {
            return from_client;
        }
        if let Some(direction) = direction_of_packet(datagram) {
            return if direction == Direction::ToClient { from_server } else { from_client };
        }
        let serves = |address| self.pairs.keys().any(|(server, _)| *server == address);
        let usual =
            |address: SocketAddr| SERVER_PORTS.iter().any(|ports| ports.contains(&address.port()));
        let sent_by_server = match (serves(from), serves(to)) {
            (true, false) => true,
            (false, true) => false,
            _ if usual(from) != usual(to) => usual(from),
            _ => from.port() < to.port(),
        };
        if sent_by_server { from_server } else { from_client }
    }

    /// Adds the line of a pair, or gives it that of a client whose port has changed.
    fn add(
        &mut self,
        pair: Pair,
        direction: Direction,
        is_quakeworld: bool,
        datagram: &[u8],
    ) -> u64 {
        if direction == Direction::ToServer
            && let Some(id) = self.rebound(pair, datagram)
        {
            self.assign(pair, id);
            return id;
        }
        if self.lines.len() >= self.limit {
            let value = |entry: &Entry| (entry.line.has_connection(), entry.used);
            let oldest = self.lines.iter().min_by_key(|(_, entry)| value(entry));
            if let Some(id) = oldest.map(|(id, _)| *id) {
                self.remove(id);
            }
        }
        let id = self.clock;
        let line = AnyLine::new(is_quakeworld, pair.0, pair.1);
        self.lines.insert(id, Entry { line, pairs: vec![pair], used: self.clock });
        self.pairs.insert(pair, id);
        id
    }

    /// Returns the line of a client's datagram. If its own has no connection, another may.
    fn moved(&mut self, id: u64, pair: Pair, datagram: &[u8]) -> u64 {
        let has_connection = self.lines.get(&id).is_none_or(|entry| entry.line.has_connection());
        if has_connection || is_connectionless(datagram) {
            return id;
        }
        let Some(other) = self.rebound(pair, datagram) else { return id };
        self.remove(id);
        self.assign(pair, other);
        other
    }

    /// Finds the line of a client with the same address and qport.
    fn rebound(&self, (server, client): Pair, datagram: &[u8]) -> Option<u64> {
        let same = |entry: &Entry| {
            let here = |pair: &Pair| pair.0 == server && pair.1.ip() == client.ip();
            entry.line.has_qport_of(datagram) && entry.pairs.iter().any(here)
        };
        let found = self.lines.iter().filter(|(_, entry)| same(entry));
        found.max_by_key(|(_, entry)| entry.used).map(|(id, _)| *id)
    }

    /// Gives a pair the line `id`.
    fn assign(&mut self, pair: Pair, id: u64) {
        let Some(entry) = self.lines.get_mut(&id) else { return };
        entry.pairs.push(pair);
        if entry.pairs.len() > MAX_PAIRS {
            let oldest = entry.pairs.remove(0);
            self.pairs.remove(&oldest);
        }
        self.pairs.insert(pair, id);
    }

    fn remove(&mut self, id: u64) {
        if let Some(entry) = self.lines.remove(&id) {
            for pair in entry.pairs {
                self.pairs.remove(&pair);
            }
        }
    }
}

/// Returns the direction of a connectionless packet by its command.
fn direction_of_packet(datagram: &[u8]) -> Option<Direction> {
    if !is_connectionless(datagram) {
        return quakeworld::is_unmarked_reply(datagram).then_some(Direction::ToClient);
    }
    let found = quakeworld::direction_of_packet(datagram);
    if found.is_some() {
        return found;
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

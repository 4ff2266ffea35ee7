//! Families of protocols: records and lines of Quake III and of QuakeWorld under one type.
//!
//! The family of a pair of addresses is found by its handshake, then by header and messages of one datagram.

use std::{fmt, net::SocketAddr};

use super::{
    line::Line,
    quakeworld,
    record::{Direction, Record},
};
use crate::{
    netchan::{is_connectionless, peek_client_header},
    wire::connectionless::{CommandKind, Message},
};

/// Usual ports of QuakeWorld servers.
const QUAKEWORLD_PORTS: std::ops::RangeInclusive<u16> = 27_500..=27_599;

/// Record of either family.
#[derive(Clone, Copy, Debug)]
pub enum Traced<'a> {
    /// Datagram of Quake III.
    Quake3(&'a Record),
    /// Datagram of QuakeWorld.
    QuakeWorld(&'a quakeworld::Record),
}

impl<'a> From<&'a Record> for Traced<'a> {
    fn from(record: &'a Record) -> Self {
        Self::Quake3(record)
    }
}

impl<'a> From<&'a quakeworld::Record> for Traced<'a> {
    fn from(record: &'a quakeworld::Record) -> Self {
        Self::QuakeWorld(record)
    }
}

impl fmt::Display for Traced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quake3(record) => record.fmt(f),
            Self::QuakeWorld(record) => record.fmt(f),
        }
    }
}

impl<'a> Traced<'a> {
    /// Appends the record as one JSON line.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Quake3(record) => record.write_json(out),
            Self::QuakeWorld(record) => record.write_json(out),
        }
    }

    /// Whether the observer could not decode the datagram.
    #[must_use]
    pub fn is_undecoded(&self) -> bool {
        match self {
            Self::Quake3(record) => record.is_undecoded(),
            Self::QuakeWorld(record) => record.is_undecoded(),
        }
    }

    /// Reason why the datagram is not decoded, or why its receiver drops it.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Quake3(record) => record.fault.as_ref().map(ToString::to_string),
            Self::QuakeWorld(record) => record.fault.as_ref().map(ToString::to_string),
        }
    }

    /// Messages of this direction missing before this one.
    #[must_use]
    pub const fn lost(&self) -> u32 {
        match self {
            Self::Quake3(record) => record.lost,
            Self::QuakeWorld(record) => record.lost,
        }
    }

    /// Returns the record if it is one of Quake III.
    #[must_use]
    pub const fn quake3(self) -> Option<&'a Record> {
        match self {
            Self::Quake3(record) => Some(record),
            Self::QuakeWorld(_) => None,
        }
    }

    /// Returns the record if it is one of QuakeWorld.
    #[must_use]
    pub const fn quakeworld(self) -> Option<&'a quakeworld::Record> {
        match self {
            Self::Quake3(_) => None,
            Self::QuakeWorld(record) => Some(record),
        }
    }
}

/// Line of either family.
#[derive(Debug)]
pub(super) enum AnyLine {
    Quake3(Box<Line>),
    QuakeWorld(Box<quakeworld::Line>),
}

impl AnyLine {
    /// Creates the line of a pair.
    pub(super) fn new(is_quakeworld: bool, server: SocketAddr, client: SocketAddr) -> Self {
        if is_quakeworld {
            Self::QuakeWorld(Box::new(quakeworld::Line::new(server, client)))
        } else {
            Self::Quake3(Box::new(Line::new(server, client)))
        }
    }

    pub(super) const fn is_quakeworld(&self) -> bool {
        matches!(self, Self::QuakeWorld(_))
    }

    /// Whether a connection was observed.
    pub(super) fn has_connection(&self) -> bool {
        match self {
            Self::Quake3(line) => line.protocol().is_some(),
            Self::QuakeWorld(line) => line.has_connection(),
        }
    }

    /// Whether a packet of a client may belong to this connection after NAT rebinding.
    pub(super) fn has_qport_of(&self, datagram: &[u8]) -> bool {
        match self {
            Self::Quake3(line) => {
                peek_client_header(datagram).is_some_and(|(_, qport)| line.has_qport(qport))
            }
            Self::QuakeWorld(line) => line.has_qport_of(datagram),
        }
    }

    /// Decodes the next datagram of these addresses.
    pub(super) fn decode(
        &mut self,
        time_us: u64,
        (server, client): (SocketAddr, SocketAddr),
        direction: Direction,
        datagram: &[u8],
    ) -> Traced<'_> {
        match self {
            Self::Quake3(line) => {
                line.readdress(server, client);
                line.decode(time_us, direction, datagram).into()
            }
            Self::QuakeWorld(line) => {
                line.readdress(server, client);
                line.decode(time_us, direction, datagram).into()
            }
        }
    }
}

/// Whether a datagram is one of QuakeWorld. `known` is the line of its addresses.
pub(super) fn is_quakeworld(
    known: Option<&AnyLine>,
    server: SocketAddr,
    direction: Direction,
    datagram: &[u8],
) -> bool {
    let has_own_kind = || {
        let kind = Message::parse(datagram).map(|message| message.kind());
        // Both families have these two.
        let is_shared = matches!(kind, Ok(CommandKind::GetChallenge | CommandKind::Rcon));
        is_connectionless(datagram)
            && !is_shared
            && kind.is_ok_and(|kind| kind != CommandKind::Unknown)
    };
    let is_usual = QUAKEWORLD_PORTS.contains(&server.port());
    match known {
        // A connection stays what it is.
        Some(line) if line.has_connection() => line.is_quakeworld(),
        _ if quakeworld::is_likely(direction, datagram) => true,
        Some(line) if line.is_quakeworld() => !has_own_kind(),
        _ => is_usual && !has_own_kind(),
    }
}

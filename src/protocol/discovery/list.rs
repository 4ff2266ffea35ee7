//! Server lists of masters: packets of every family, written and read.
//!
//! ```text
//! Quake III      FF FF FF FF getserversResponse     { \ IPv4 port }  \EOT 0 0 0
//! Quake III, 6   FF FF FF FF getserversExtResponse  { \ IPv4 port | / IPv6 port }  \EOT 0 0 0
//! Quake 4        FF FF servers 0                    { IPv4 port }    port little-endian
//! QuakeWorld     FF FF FF FF d 0A                   { IPv4 port }
//! ```

use std::{
    iter::Peekable,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use crate::wire::connectionless::{Message, OUT_OF_BAND, ServerList, write_server_list};

use super::{Family, quake4, quakeworld};

/// Largest list packet, in bytes. It fits one frame of an Ethernet with its headers.
const MAX_PACKET: usize = 1400;
/// Bytes of a record without separator.
const RECORD_LEN: usize = 6;
/// Most records of a Quake 4 packet, as the publisher's master sends them.
const MAX_QUAKE4_RECORDS: usize = 231;

/// Form of a list packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListFormat {
    /// Response to `getservers`.
    Quake3,
    /// Response to `getserversExt`.
    Quake3Ext,
    /// Response to Quake 4's `getServers`.
    Quake4,
    /// Response to QuakeWorld's list request.
    QuakeWorld,
}

impl ListFormat {
    /// Returns the family of the format.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::Quake3 | Self::Quake3Ext => Family::Quake3,
            Self::Quake4 => Family::Quake4,
            Self::QuakeWorld => Family::QuakeWorld,
        }
    }

    /// Appends one packet to `out` and returns whether it is the last of the response. It takes servers from
    /// the iterator while they fit. Only [`ListFormat::Quake3Ext`] contains IPv6.
    pub fn write(
        self,
        out: &mut Vec<u8>,
        servers: &mut Peekable<impl Iterator<Item = SocketAddr>>,
    ) -> bool {
        match self {
            Self::Quake3 => write_server_list(out, false, servers, MAX_PACKET),
            Self::Quake3Ext => write_server_list(out, true, servers, MAX_PACKET),
            Self::Quake4 => {
                out.extend_from_slice(quake4::SERVERS_PREFIX);
                write_records(out, servers, MAX_QUAKE4_RECORDS, u16::to_le_bytes)
            }
            Self::QuakeWorld => {
                out.extend_from_slice(quakeworld::LIST_PREFIX);
                let most = (MAX_PACKET - quakeworld::LIST_PREFIX.len()) / RECORD_LEN;
                write_records(out, servers, most, u16::to_be_bytes)
            }
        }
    }
}

/// Appends at most `most` records and returns whether no server is left.
fn write_records(
    out: &mut Vec<u8>,
    servers: &mut Peekable<impl Iterator<Item = SocketAddr>>,
    most: usize,
    port_bytes: fn(u16) -> [u8; 2],
) -> bool {
    let mut written = 0;
    while let Some(server) = servers.peek() {
        if let IpAddr::V4(ip) = server.ip().to_canonical() {
            if written == most {
                return false;
            }
            written += 1;
            out.extend_from_slice(&ip.octets());
            out.extend_from_slice(&port_bytes(server.port()));
        }
        servers.next();
    }
    true
}

/// One list packet of any family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPacket<'a>(Records<'a>);

/// Records of a list packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Records<'a> {
    Quake3(ServerList<'a>),
    Quake4(&'a [u8]),
    QuakeWorld(&'a [u8]),
}

impl<'a> ListPacket<'a> {
    /// Reads a datagram, if it is a list.
    #[must_use]
    pub fn parse(datagram: &'a [u8]) -> Option<Self> {
        if let Some(records) = datagram.strip_prefix(quake4::SERVERS_PREFIX) {
            return Some(Self(Records::Quake4(records)));
        }
        if let Some(records) = datagram.strip_prefix(quakeworld::LIST_PREFIX) {
            return Some(Self(Records::QuakeWorld(records)));
        }
        if !datagram.starts_with(OUT_OF_BAND) {
            return None;
        }
        match Message::parse(datagram) {
            Ok(Message::ServerList(list)) => Some(Self(Records::Quake3(list))),
            _ => None,
        }
    }

    /// Returns the form of the packet.
    #[must_use]
    pub const fn format(self) -> ListFormat {
        match self.0 {
            Records::Quake3(list) if list.is_extended() => ListFormat::Quake3Ext,
            Records::Quake3(_) => ListFormat::Quake3,
            Records::Quake4(_) => ListFormat::Quake4,
            Records::QuakeWorld(_) => ListFormat::QuakeWorld,
        }
    }

    /// Iterates over the servers, up to the end mark or the first incomplete record. Servers without a port
    /// are skipped.
    pub fn servers(self) -> impl Iterator<Item = SocketAddr> + 'a {
        // One of the three is not empty; all have one type.
        let (list, records, is_little_endian) = match self.0 {
            Records::Quake3(list) => (Some(list), &[][..], false),
            Records::Quake4(records) => (None, records, true),
            Records::QuakeWorld(records) => (None, records, false),
        };
        let port_of = if is_little_endian { u16::from_le_bytes } else { u16::from_be_bytes };
        let record = move |record: &[u8; RECORD_LEN]| {
            let [a, b, c, d, port @ ..] = *record;
            SocketAddr::from((Ipv4Addr::new(a, b, c, d), port_of(port)))
        };
        let plain = records.as_chunks().0.iter().map(record).filter(|server| server.port() != 0);
        list.into_iter().flat_map(ServerList::servers).chain(plain)
    }

    /// Whether the packet carries an end mark. Only the Quake III family has one, and some masters put it in
    /// every packet, others in none.
    #[must_use]
    pub fn has_end_mark(self) -> bool {
        matches!(self.0, Records::Quake3(list) if list.has_end_mark())
    }
}

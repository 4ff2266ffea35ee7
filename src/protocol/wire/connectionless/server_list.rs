//! Server lists of master servers: request, filter, response.
//!
//! ```text
//! getserversResponse                   22 bytes with the prefix
//!   { \ a.b.c.d port }                 7 bytes, numbers in network order
//!   \EOT 0 0 0                         in the last packet of a response
//! ```
//!
//! The extended form mixes in IPv6: `/`, 16 bytes, port. A backslash is a legal byte of an address,
//! so records are counted and never searched for. Clients drop a record at the end of the data:
//! each packet ends with the end mark or with a lone backslash.

use std::{
    iter::Peekable,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use crate::wire::text::WireText;

use super::{CommandKind, ConnectionlessError, OUT_OF_BAND, push_argument, push_number};

const END_MARK: &[u8] = b"\\EOT\0\0\0";
/// Longest name of a game or game type that masters compare, in bytes.
const MAX_TOKEN_LEN: usize = 63;

/// Request to a master for servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListRequest<'a> {
    /// Whether it is `getserversExt`: IPv6 is supported.
    pub extended: bool,
    /// Game; with `None` the master derives it from the protocol.
    pub game: Option<WireText<'a>>,
    /// Protocol number.
    pub protocol: i32,
    /// Filter.
    pub filter: ListFilter<'a>,
}

/// Filter of a server list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListFilter<'a> {
    /// Whether to include empty servers.
    pub empty: bool,
    /// Whether to include full servers.
    pub full: bool,
    /// Required `gametype`, if any.
    pub gametype: Option<WireText<'a>>,
    /// Whether to include IPv4. With neither family, both are included.
    pub ipv4: bool,
    /// Whether to include IPv6.
    pub ipv6: bool,
}

/// Words for game types.
const GAMETYPE_WORDS: [(&str, &str); 4] =
    [("ffa", "0"), ("tourney", "1"), ("team", "3"), ("ctf", "4")];

impl<'a> ListRequest<'a> {
    pub(super) fn parse(
        mut words: impl Iterator<Item = WireText<'a>>,
        extended: bool,
    ) -> Result<Self, ConnectionlessError> {
        let kind = if extended { CommandKind::GetServersExt } else { CommandKind::GetServers };
        let bad = |argument| ConnectionlessError::Argument { command: kind.name(), argument };
        let first = words.next().ok_or(bad("protocol"))?;
        let (game, protocol) = match first.to_integer() {
            Some(protocol) => (None, protocol),
            None => {
                let protocol = words.next().and_then(WireText::to_integer);
                (Some(first), protocol.ok_or(bad("protocol"))?)
            }
        };
        if game.is_some_and(|game| !is_token(game)) {
            return Err(bad("game name"));
        }
        let mut request = Self { extended, game, protocol, filter: Default::default() };
        for word in words {
            request.filter.read(word);
        }
        if request.filter.gametype.is_some_and(|gametype| !is_token(gametype)) {
            return Err(bad("game type"));
        }
        Ok(request)
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        if let Some(game) = self.game {
            push_argument(out, game);
        }
        push_number(out, self.protocol);
        let filter = self.filter;
        for (wanted, word) in [
            (filter.ipv4, " ipv4"),
            (filter.ipv6, " ipv6"),
            (filter.empty, " empty"),
            (filter.full, " full"),
        ] {
            if wanted {
                out.extend_from_slice(word.as_bytes());
            }
        }
        if let Some(gametype) = filter.gametype {
            out.extend_from_slice(b" gametype=");
            gametype.push_to(out);
        }
    }
}

impl<'a> ListFilter<'a> {
    /// Parses one word; unknown words are ignored.
    fn read(&mut self, word: WireText<'a>) {
        if let Some(gametype) = word.strip_prefix("gametype=") {
            self.gametype = Some(gametype);
        } else if let Some((_, number)) = GAMETYPE_WORDS.iter().find(|(name, _)| word == *name) {
            self.gametype = Some(WireText::from(*number));
        }
        self.empty |= word == "empty";
        self.full |= word == "full";
        self.ipv4 |= word == "ipv4";
        self.ipv6 |= word == "ipv6";
    }
}

/// Whether the text is valid as a game or game type.
fn is_token(text: WireText<'_>) -> bool {
    let legal = |byte| (0x21..0x7f).contains(&byte) && !b"\\/;\"%".contains(&byte);
    (1..=MAX_TOKEN_LEN).contains(&text.len()) && text.bytes().all(legal)
}

/// One packet of a master's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerList<'a> {
    extended: bool,
    /// Everything after the command name.
    records: &'a [u8],
}

impl<'a> ServerList<'a> {
    /// Parses the text after the prefix, if it is a list.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        [(CommandKind::GetServersResponse, false), (CommandKind::GetServersExtResponse, true)]
            .iter()
            .find_map(|(kind, extended)| {
                let records = text.strip_prefix(kind.name().as_bytes())?;
                Some(Self { extended: *extended, records })
            })
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.records);
    }

    /// Whether it is a response to `getserversExt`.
    #[must_use]
    pub const fn is_extended(self) -> bool {
        self.extended
    }

    /// Iterates over the servers, up to the end mark or the first incomplete record. Servers
    /// without a port are skipped.
    pub fn servers(self) -> impl Iterator<Item = SocketAddr> + 'a {
        let begins = self.records.iter().position(|&byte| self.is_separator(byte));
        let mut rest = begins.map_or(&self.records[..0], |at| &self.records[at..]);
        std::iter::from_fn(move || {
            let (address, behind) = self.record(rest)?;
            rest = behind;
            Some(address)
        })
        .filter(|address| address.port() != 0)
    }

    /// Whether this is the last packet of the response. Some old masters mark every packet, others
    /// none.
    #[must_use]
    pub fn has_end_mark(self) -> bool {
        let zeros = self.records.iter().rev().take(3).take_while(|&&byte| byte == 0).count();
        self.records[..self.records.len() - zeros].ends_with(&END_MARK[..4])
    }

    /// Splits off the first record of `bytes`.
    fn record(self, bytes: &'a [u8]) -> Option<(SocketAddr, &'a [u8])> {
        if bytes == END_MARK || bytes == &END_MARK[..4] {
            return None;
        }
        let (ip, behind): (IpAddr, _) = match bytes {
            [b'\\', bytes @ ..] => {
                let (ip, behind) = bytes.split_first_chunk::<4>()?;
                (Ipv4Addr::from(*ip).into(), behind)
            }
            [b'/', bytes @ ..] if self.extended => {
                let (ip, behind) = bytes.split_first_chunk::<16>()?;
                (Ipv6Addr::from(*ip).into(), behind)
            }
            _ => return None,
        };
        let (port, behind) = behind.split_first_chunk::<2>()?;
        // A valid record is followed by another or by nothing.
        if behind.first().is_some_and(|&byte| !self.is_separator(byte)) {
            return None;
        }
        Some((SocketAddr::new(ip, u16::from_be_bytes(*port)), behind))
    }

    const fn is_separator(self, byte: u8) -> bool {
        byte == b'\\' || self.extended && byte == b'/'
    }
}

/// Appends one packet of a response to `out` and returns whether it was the last. It takes
/// `servers` from the iterator while they fit `limit` bytes, without IPv6 unless `extended` is set.
///
/// # Panics
/// When `limit` is too small for a single server.
pub fn write_server_list(
    out: &mut Vec<u8>,
    extended: bool,
    servers: &mut Peekable<impl Iterator<Item = SocketAddr>>,
    limit: usize,
) -> bool {
    assert!(limit >= 64, "a packet of {limit} bytes holds no server");
    let start = out.len();
    let kind =
        if extended { CommandKind::GetServersExtResponse } else { CommandKind::GetServersResponse };
    out.extend_from_slice(OUT_OF_BAND);
    out.extend_from_slice(kind.name().as_bytes());
    while let Some(server) = servers.peek() {
        let (ip, port) = (server.ip().to_canonical(), server.port());
        let before = out.len();
        match ip {
            IpAddr::V4(ip) => {
                out.push(b'\\');
                out.extend_from_slice(&ip.octets());
                out.extend_from_slice(&port.to_be_bytes());
            }
            IpAddr::V6(ip) if extended => {
                out.push(b'/');
                out.extend_from_slice(&ip.octets());
                out.extend_from_slice(&port.to_be_bytes());
            }
            IpAddr::V6(_) => {}
        }
        if out.len() - start + END_MARK.len() > limit {
            out.truncate(before);
            out.push(b'\\');
            return false;
        }
        servers.next();
    }
    out.extend_from_slice(END_MARK);
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(records: &[u8], extended: bool) -> Vec<String> {
        ServerList { extended, records }.servers().map(|server| server.to_string()).collect()
    }

    #[test]
    fn server_list_records_are_counted_not_searched() {
        assert_eq!(list(b"\\\\\\\\\\\x01\x00\\EOT", false), ["92.92.92.92:256"]);
        assert_eq!(list(b"\\\x01\x02\x03\x04\x00\x05", false), ["1.2.3.4:5"]);
        assert_eq!(list(b"\\EOTx\x6d\x38\\EOT", false), ["69.79.84.120:27960"]);
        assert_eq!(list(b"junk\\\x01\x02\x03\x04\x00\x05\\", false), ["1.2.3.4:5"]);
        assert_eq!(list(b"\\\x01\x02\x03\x04\x00\x05x\\\x01\x02\x03\x04\x00\x05", false), [""; 0]);
        assert_eq!(
            list(b"\\\x01\x02\x03\x04\x00\x00\\\x01\x02\x03\x04\x00\x05", false),
            ["1.2.3.4:5"]
        );
        assert_eq!(list(b"/\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x05/", true), ["[::1]:5"]);
        assert_eq!(list(b"/\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x05/", false), [""; 0]);
    }

    #[test]
    fn server_list_end_mark_is_recognized() {
        let ends = |records| ServerList { extended: false, records }.has_end_mark();
        assert!(ends(b"\\EOT") && ends(b"\\EOT\0\0\0") && ends(b"\\\x01\x02\x03\x04\x00\x05\\EOT"));
        assert!(!ends(b"\\") && !ends(b"") && !ends(b"\0") && !ends(b"EOT"));
    }

    fn address() -> impl Strategy<Value = SocketAddr> {
        let ip = prop_oneof![
            any::<Ipv4Addr>().prop_map(IpAddr::from),
            any::<Ipv6Addr>().prop_map(IpAddr::from)
        ];
        (ip, 1..=u16::MAX).prop_map(|(ip, port)| SocketAddr::new(ip.to_canonical(), port))
    }

    proptest! {
        #[test]
        fn server_list_packets_contain_every_server(
            servers in prop::collection::vec(address(), 0..80), limit in 64_usize..1400, extended: bool
        ) {
            let mut left = servers.iter().copied().peekable();
            let mut read = Vec::new();
            for _ in 0..100 {
                let mut packet = Vec::new();
                let last = write_server_list(&mut packet, extended, &mut left, limit);
                prop_assert!(packet.len() <= limit);
                let list = ServerList::parse(&packet[4..]).expect("a list");
                prop_assert_eq!(list.has_end_mark(), last);
                read.extend(list.servers());
                if last {
                    break;
                }
            }
            let expected: Vec<_> =
                servers.into_iter().filter(|server| extended || server.is_ipv4()).collect();
            prop_assert_eq!(read, expected);
        }
    }
}

//! SOCKS5 client: handshake for UDP relaying, and the header of relayed datagrams.
//!
//! ```text
//! client: version 5, methods ─ server: method ─ [user and password ─ status] ─ UDP ASSOCIATE ─ relay address
//! datagram: 0 0 | fragment 0 | address type | address | port | payload
//! ```
//!
//! No I/O: bytes received are arguments, bytes to send are results. Crates for SOCKS5 either block or need an
//! asynchronous runtime, so the few messages are encoded here. Invariants: a server's reply costs at most
//! `MAX_REPLY` bytes of memory; passwords appear in no log and no debug output.
//! Source: RFC 1928 and RFC 1929.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use thiserror::Error;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;
const LOGIN_VERSION: u8 = 1;
const UDP_ASSOCIATE: u8 = 3;
const IP4: u8 = 1;
const DOMAIN: u8 = 3;
const IP6: u8 = 4;
/// Longest user name and password, in bytes.
pub const MAX_LOGIN_LEN: usize = 255;
/// Longest reply, in bytes: one with a domain name.
const MAX_REPLY: usize = 262;

/// User name and password of a SOCKS5 server.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    user: String,
    password: String,
}

impl Login {
    /// Creates a login. `None` if a part is empty or longer than [`MAX_LOGIN_LEN`].
    #[must_use]
    pub fn new(user: &str, password: &str) -> Option<Self> {
        let fits = |text: &str| (1..=MAX_LOGIN_LEN).contains(&text.len());
        (fits(user) && fits(password))
            .then(|| Self { user: user.to_owned(), password: password.to_owned() })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// SOCKS5 server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socks5 {
    /// Address of its TCP port.
    pub address: SocketAddr,
    /// Login, if it asks for one.
    pub login: Option<Login>,
}

/// Reasons why a SOCKS5 server relays nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum Socks5Error {
    #[error("not a SOCKS5 server: version {0} (expected 5)")]
    Version(u8),
    #[error("login required (expected a user name and a password)")]
    LoginRequired,
    #[error("authentication method not supported: {0}")]
    Method(u8),
    #[error("user name or password refused")]
    LoginRefused,
    #[error("UDP association refused: {}", refusal(*.0))]
    Refused(u8),
    #[error("relay address not supported: type {0} (expected an IP address)")]
    AddressType(u8),
    #[error("relay port 0")]
    NoPort,
}

/// Reason of a reply code.
fn refusal(code: u8) -> &'static str {
    match code {
        1 => "general failure",
        2 => "not allowed by the rules of the server",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => "unknown reason",
    }
}

/// Reply that the handshake waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Method,
    LoginStatus,
    Relay,
}

/// Handshake up to the address of the relay.
#[derive(Debug)]
pub(super) struct Handshake {
    step: Step,
    login: Option<Login>,
    received: Vec<u8>,
}

impl Handshake {
    /// Starts a handshake and appends its first message to `out`.
    pub(super) fn start(login: Option<Login>, out: &mut Vec<u8>) -> Self {
        match login {
            None => out.extend([VERSION, 1, NO_LOGIN]),
            Some(_) => out.extend([VERSION, 2, NO_LOGIN, USER_AND_PASSWORD]),
        }
        Self { step: Step::Method, login, received: Vec::new() }
    }

    /// Handles bytes of the server, and appends the next messages to `out`. Returns the relay's address.
    ///
    /// # Errors
    /// [`Socks5Error`]: the connection is of no more use.
    pub(super) fn handle_bytes(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<SocketAddr>, Socks5Error> {
        let room = MAX_REPLY - self.received.len();
        self.received.extend_from_slice(&bytes[..bytes.len().min(room)]);
        loop {
            match self.step {
                Step::Method => {
                    let Some(&[version, method]) = self.received.first_chunk() else {
                        return Ok(None);
                    };
                    self.received.drain(..2);
                    self.take_method(version, method, out)?;
                }
                Step::LoginStatus => {
                    let Some(&[_, status]) = self.received.first_chunk() else { return Ok(None) };
                    self.received.drain(..2);
                    if status != 0 {
                        return Err(Socks5Error::LoginRefused);
                    }
                    self.associate(out);
                }
                Step::Relay => return self.relay(),
            }
        }
    }

    fn take_method(
        &mut self,
        version: u8,
        method: u8,
        out: &mut Vec<u8>,
    ) -> Result<(), Socks5Error> {
        if version != VERSION {
            return Err(Socks5Error::Version(version));
        }
        match (method, &self.login) {
            (NO_LOGIN, _) => self.associate(out),
            (USER_AND_PASSWORD, Some(Login { user, password })) => {
                out.push(LOGIN_VERSION);
                for text in [user, password] {
                    out.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
                    out.extend_from_slice(text.as_bytes());
                }
                self.step = Step::LoginStatus;
            }
            (USER_AND_PASSWORD | NO_METHOD, None) => return Err(Socks5Error::LoginRequired),
            _ => return Err(Socks5Error::Method(method)),
        }
        Ok(())
    }

    /// Asks for an association. The address of zeros means one that the server takes from the first datagram.
    fn associate(&mut self, out: &mut Vec<u8>) {
        out.extend([VERSION, UDP_ASSOCIATE, 0, IP4, 0, 0, 0, 0, 0, 0]);
        self.step = Step::Relay;
    }

    fn relay(&self) -> Result<Option<SocketAddr>, Socks5Error> {
        let Some(&[version, code, _, kind]) = self.received.first_chunk() else { return Ok(None) };
        if version != VERSION {
            return Err(Socks5Error::Version(version));
        }
        if code != 0 {
            return Err(Socks5Error::Refused(code));
        }
        match read_address(&self.received[3..]) {
            Ok(Some((relay, _))) if relay.port() == 0 => Err(Socks5Error::NoPort),
            Ok(found) => Ok(found.map(|(relay, _)| relay)),
            Err(()) => Err(Socks5Error::AddressType(kind)),
        }
    }
}

/// Reads an address with its type and port, and returns the bytes behind it. `None` if bytes are missing.
///
/// # Errors
/// A type other than IPv4 and IPv6.
fn read_address(bytes: &[u8]) -> Result<Option<(SocketAddr, &[u8])>, ()> {
    fn split<const N: usize>(bytes: &[u8]) -> Option<([u8; N], u16, &[u8])> {
        let (ip, rest) = bytes.split_first_chunk::<N>()?;
        let (port, rest) = rest.split_first_chunk::<2>()?;
        Some((*ip, u16::from_be_bytes(*port), rest))
    }
    let Some((kind, rest)) = bytes.split_first() else { return Ok(None) };
    match *kind {
        IP4 => Ok(split::<4>(rest).map(|(ip, port, rest)| ((ip, port).into(), rest))),
        IP6 => Ok(split::<16>(rest).map(|(ip, port, rest)| ((ip, port).into(), rest))),
        DOMAIN | 0 | 2 | 5.. => Err(()),
    }
}

/// Longest header of a relayed datagram, in bytes.
const MAX_HEADER: usize = 22;

/// Puts the header for `to` in front of a datagram.
pub(super) fn wrap(to: SocketAddr, packet: &mut Vec<u8>) {
    let mut header = [0; MAX_HEADER];
    let len = match to.ip() {
        IpAddr::V4(ip) => {
            header[3] = IP4;
            header[4..8].copy_from_slice(&ip.octets());
            8
        }
        IpAddr::V6(ip) => {
            header[3] = IP6;
            header[4..20].copy_from_slice(&ip.octets());
            20
        }
    };
    header[len..len + 2].copy_from_slice(&to.port().to_be_bytes());
    packet.splice(..0, header[..len + 2].iter().copied());
}

/// Splits a relayed datagram into its sender and its payload. `None` for an invalid or fragmented one.
pub(super) fn unwrap(datagram: &[u8]) -> Option<(SocketAddr, &[u8])> {
    // A fragment is dropped, as RFC 1928 asks of clients without reassembly.
    let [0, 0, 0, ..] = *datagram else { return None };
    read_address(&datagram[3..]).ok().flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RELAY: &[u8] = &[5, 0, 0, 1, 10, 0, 0, 9, 0x12, 0x34];

    fn login() -> Option<Login> {
        Login::new("user", "secret")
    }

    /// Feeds the replies byte by byte, and returns the messages sent and the result.
    fn run(
        login: Option<Login>,
        replies: &[u8],
    ) -> (Vec<u8>, Result<Option<SocketAddr>, Socks5Error>) {
        let mut out = Vec::new();
        let mut handshake = Handshake::start(login, &mut out);
        for byte in replies {
            match handshake.handle_bytes(&[*byte], &mut out) {
                Ok(None) => {}
                end => return (out, end),
            }
        }
        (out, Ok(None))
    }

    #[test]
    fn handshake_ends_with_relay_address() {
        let (sent, relay) = run(None, &[&[5, 0], RELAY].concat());
        assert_eq!(sent, [5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(relay, Ok(Some("10.0.0.9:4660".parse().unwrap())));

        let (sent, relay) = run(login(), &[&[5, 2, 1, 0], RELAY].concat());
        let expected = [&[5, 2, 0, 2, 1, 4][..], b"user", &[6], b"secret", &[5, 3, 0, 1]].concat();
        assert_eq!(sent[..expected.len()], expected);
        assert!(relay.is_ok_and(|relay| relay.is_some()));

        let six = [&[5, 0, 5, 0, 0, 4][..], &[0; 15], &[1, 0, 9]].concat();
        assert_eq!(run(login(), &six).1, Ok(Some("[::1]:9".parse().unwrap())));
        assert_eq!(run(None, &six[..six.len() - 1]).1, Ok(None), "a byte is missing");
    }

    #[test]
    fn refusals_name_their_reason() {
        for (login, replies, reason) in [
            (None, &[4, 0][..], "not a SOCKS5 server"),
            (None, &[5, 0xff], "login required"),
            (None, &[5, 2], "login required"),
            (login(), &[5, 1], "not supported: 1"),
            (login(), &[5, 2, 1, 1], "refused"),
            (None, &[5, 0, 5, 7, 0, 1], "command not supported"),
            (None, &[5, 0, 5, 0, 0, 3], "type 3"),
            (None, &[5, 0, 5, 0, 0, 1, 10, 0, 0, 9, 0, 0], "port 0"),
        ] {
            let error = run(login, replies).1.unwrap_err().to_string();
            assert!(error.contains(reason), "{replies:?}: {error}");
        }
    }

    #[test]
    fn password_is_not_in_debug_output() {
        let config = Socks5 { address: "127.0.0.1:1080".parse().unwrap(), login: login() };
        assert!(!format!("{config:?}").contains("secret"));
        assert_eq!(Login::new("", "x"), None);
        assert_eq!(Login::new("x", &"y".repeat(256)), None);
    }

    #[test]
    fn datagrams_round_trip_with_their_address() {
        for address in ["192.0.2.7:27960", "[2001:db8::7]:1"] {
            let address = address.parse().unwrap();
            let mut packet = b"payload".to_vec();
            wrap(address, &mut packet);
            assert_eq!(unwrap(&packet), Some((address, &b"payload"[..])));
            packet[2] = 1;
            assert_eq!(unwrap(&packet), None, "a fragment");
        }
        assert_eq!(unwrap(&[0, 0, 0, 3, 1, b'x', 0, 1]), None, "a domain name");
    }

    proptest! {
        #[test]
        fn any_bytes_are_handled(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = unwrap(&bytes);
            let mut out = Vec::new();
            let mut handshake = Handshake::start(login(), &mut out);
            for part in bytes.chunks(7) {
                if handshake.handle_bytes(part, &mut out).is_err() {
                    break;
                }
                prop_assert!(handshake.received.len() <= MAX_REPLY && out.len() < 600);
            }
        }
    }
}

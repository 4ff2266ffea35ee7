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
    #[error("login required (expected a user name and a password in the file of --socks5-login)")]
    LoginRequired,
    #[error(
        "no authentication method accepted (offered 0, no login, and 2, user name and password)"
    )]
    NoMethod,
    #[error("authentication method {0} not supported (expected one that was offered)")]
    Method(u8),
    #[error("invalid version {0} of the login status (expected 1)")]
    LoginVersion(u8),
    #[error("user name or password of --socks5-login refused: status {0}")]
    LoginRefused(u8),
    #[error("UDP association refused: {reason} (reply {0})", reason = refusal(*.0))]
    Refused(u8),
    #[error("invalid type {0} of the relay address (expected 1, 3 or 4)")]
    AddressType(u8),
    #[error("invalid name of the relay (expected 1 to 255 letters, digits, dots and hyphens)")]
    Name,
    #[error("invalid port 0 of the relay")]
    NoPort,
}

/// Address of a relay as its server names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Relay {
    /// An IP address. A zero one means the address of the server itself.
    Address(SocketAddr),
    /// A host name and a port.
    Name(String, u16),
}

/// Host in the header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host<'a> {
    Ip(IpAddr),
    Name(&'a [u8]),
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
        _ => "unassigned code",
    }
}

/// Reply that the handshake waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandshakeState {
    Method,
    LoginStatus,
    Relay,
}

/// Handshake up to the address of the relay.
#[derive(Debug)]
pub(super) struct Handshake {
    state: HandshakeState,
    login: Option<Login>,
    /// Whether the server is reached over IPv4.
    is_ip4: bool,
    received: Vec<u8>,
}

impl Handshake {
    /// Starts a handshake and appends its first message to `out`.
    pub(super) fn start(login: Option<Login>, is_ip4: bool, out: &mut Vec<u8>) -> Self {
        match login {
            None => out.extend([VERSION, 1, NO_LOGIN]),
            Some(_) => out.extend([VERSION, 2, NO_LOGIN, USER_AND_PASSWORD]),
        }
        Self { state: HandshakeState::Method, login, is_ip4, received: Vec::new() }
    }

    /// Handles bytes of the server, and appends the next messages to `out`. Returns the relay's address.
    ///
    /// # Errors
    /// [`Socks5Error`]: the connection is of no more use.
    pub(super) fn handle_bytes(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Relay>, Socks5Error> {
        let room = MAX_REPLY - self.received.len();
        self.received.extend_from_slice(&bytes[..bytes.len().min(room)]);
        loop {
            match self.state {
                HandshakeState::Method => {
                    let Some(&[version, method]) = self.received.first_chunk() else {
                        return Ok(None);
                    };
                    self.received.drain(..2);
                    self.take_method(version, method, out)?;
                }
                HandshakeState::LoginStatus => {
                    let Some(&[version, status]) = self.received.first_chunk() else {
                        return Ok(None);
                    };
                    self.received.drain(..2);
                    // Some servers write the version of the protocol instead.
                    if ![LOGIN_VERSION, VERSION].contains(&version) {
                        return Err(Socks5Error::LoginVersion(version));
                    }
                    if status != 0 {
                        return Err(Socks5Error::LoginRefused(status));
                    }
                    self.associate(out);
                }
                HandshakeState::Relay => return self.relay(),
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
                self.state = HandshakeState::LoginStatus;
            }
            (USER_AND_PASSWORD | NO_METHOD, None) => return Err(Socks5Error::LoginRequired),
            (NO_METHOD, Some(_)) => return Err(Socks5Error::NoMethod),
            _ => return Err(Socks5Error::Method(method)),
        }
        Ok(())
    }

    /// Asks for an association. The address of zeros means one that the server takes from the first datagram.
    fn associate(&mut self, out: &mut Vec<u8>) {
        let (kind, ip_len) = if self.is_ip4 { (IP4, 4) } else { (IP6, 16) };
        out.extend([VERSION, UDP_ASSOCIATE, 0, kind]);
        out.resize(out.len() + ip_len + 2, 0);
        self.state = HandshakeState::Relay;
    }

    fn relay(&self) -> Result<Option<Relay>, Socks5Error> {
        // A refusal may end behind its code.
        let Some(&[version, code]) = self.received.first_chunk() else { return Ok(None) };
        if version != VERSION {
            return Err(Socks5Error::Version(version));
        }
        if code != 0 {
            return Err(Socks5Error::Refused(code));
        }
        let Some((host, port, _)) = read_address(self.received.get(3..).unwrap_or_default())?
        else {
            return Ok(None);
        };
        if port == 0 {
            return Err(Socks5Error::NoPort);
        }
        match host {
            Host::Ip(ip) => Ok(Some(Relay::Address(SocketAddr::new(ip.to_canonical(), port)))),
            Host::Name(name) => {
                let name = host_name(name).ok_or(Socks5Error::Name)?;
                match name.parse::<IpAddr>() {
                    Ok(ip) => Ok(Some(Relay::Address(SocketAddr::new(ip.to_canonical(), port)))),
                    Err(_) => Ok(Some(Relay::Name(name.to_owned(), port))),
                }
            }
        }
    }
}

/// Returns a host name, or an address as text.
fn host_name(bytes: &[u8]) -> Option<&str> {
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_:".contains(byte);
    let name = std::str::from_utf8(bytes).ok()?;
    (!bytes.is_empty() && bytes.iter().all(legal)).then_some(name)
}

/// Host, port and the bytes behind them.
type Addressed<'a> = (Host<'a>, u16, &'a [u8]);

/// Reads an address with its type and port, and returns the bytes behind it. `None` if bytes are missing.
///
/// # Errors
/// An unknown type.
fn read_address(bytes: &[u8]) -> Result<Option<Addressed<'_>>, Socks5Error> {
    fn split(bytes: &[u8], len: usize) -> Option<(&[u8], u16, &[u8])> {
        let (host, rest) = bytes.split_at_checked(len)?;
        let (port, rest) = rest.split_first_chunk::<2>()?;
        Some((host, u16::from_be_bytes(*port), rest))
    }
    fn ip<const N: usize>(bytes: &[u8]) -> Option<Addressed<'_>>
    where
        IpAddr: From<[u8; N]>,
    {
        let (host, port, rest) = split(bytes, N)?;
        Some((Host::Ip(IpAddr::from(*host.first_chunk::<N>()?)), port, rest))
    }
    let Some((kind, rest)) = bytes.split_first() else { return Ok(None) };
    match *kind {
        IP4 => Ok(ip::<4>(rest)),
        IP6 => Ok(ip::<16>(rest)),
        DOMAIN => {
            let Some((len, rest)) = rest.split_first() else { return Ok(None) };
            let named = split(rest, usize::from(*len));
            Ok(named.map(|(name, port, rest)| (Host::Name(name), port, rest)))
        }
        kind => Err(Socks5Error::AddressType(kind)),
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
///
/// Some servers name the sender by its host name, or leave the address or the port zero. Such a datagram is from `peer`,
/// to which all datagrams of the association go, unless its port or its address differs.
pub(super) fn unwrap(datagram: &[u8], peer: SocketAddr) -> Option<(SocketAddr, &[u8])> {
    // A fragment is dropped, as RFC 1928 asks of clients without reassembly.
    let [0, 0, 0, ..] = *datagram else { return None };
    let (host, port, payload) = read_address(&datagram[3..]).ok().flatten()?;
    let ip = match host {
        Host::Ip(ip) if !ip.is_unspecified() => Some(ip.to_canonical()),
        Host::Ip(_) | Host::Name(_) => None,
    };
    match (ip, port) {
        (Some(ip), 1..) => Some((SocketAddr::new(ip, port), payload)),
        (Some(ip), 0) if ip != peer.ip().to_canonical() => None,
        (None, 1..) if port != peer.port() => None,
        _ => Some((peer, payload)),
    }
}

#[cfg(test)]
mod tests;

//! UDP association with a SOCKS5 server: TCP control connection, relay address, retries.
//!
//! A port that is opened on demand has an association of its own, so that the server on the other side sees one
//! source address for each client. The association lasts as long as its control connection; a lost one is made
//! again after a pause that doubles. A relay that is named by its host is looked up in a thread. Invariants: no call
//! blocks; at most `WAITING_MAX` datagrams wait for the relay; at most one lookup runs for an association.
//! Source: RFC 1928.

use std::{
    io::{self, Read as _, Write as _},
    net::SocketAddr,
    sync::{
        Arc,
        mpsc::{Receiver, TryRecvError, channel},
    },
    thread,
};

use mio::{Interest, Registry, Token, net::TcpStream};

use super::{
    resolve::resolve_families,
    socks5::{Handshake, Relay, Socks5, unwrap, wrap},
};
use crate::model::Millis;

/// Datagrams that wait for the relay: the handshake of a client.
const WAITING_MAX: usize = 8;
/// Longest handshake.
const HANDSHAKE_MAX: Millis = Millis::seconds(10);
/// First pause before another attempt.
const FIRST_PAUSE: Millis = Millis::seconds(1);
/// Longest pause, as a number of doublings.
const DOUBLINGS_MAX: u32 = 4;
/// Interval between two looks at a lookup.
const LOOKUP_INTERVAL: Millis = Millis(20);
/// Reads of one event. A SOCKS5 server sends nothing after its reply.
const READS_MAX: usize = 8;

/// Control connection.
struct Control {
    stream: TcpStream,
    handshake: Handshake,
    /// Bytes that the system did not accept yet.
    out: Vec<u8>,
}

/// Answer to a lookup.
type Found = Result<Vec<SocketAddr>, String>;

/// Reasons why a datagram at the port of an association is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelayFault {
    /// Sent by another address than the relay's.
    Source,
    /// Header invalid, fragmented, or of another peer.
    Header,
}

impl RelayFault {
    /// Reason for the log.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Source => "not of the SOCKS5 relay",
            Self::Header => {
                "invalid SOCKS5 header (expected 0 0 0, the server's address and its port)"
            }
        }
    }
}

/// One UDP association.
pub(super) struct Association {
    server: Arc<Socks5>,
    /// Address to which all datagrams go.
    peer: SocketAddr,
    control: Option<Control>,
    /// Lookup of the relay's name, and its longest time.
    lookup: Option<(Receiver<Found>, Millis)>,
    relay: Option<SocketAddr>,
    /// Datagrams with their header.
    waiting: Vec<Vec<u8>>,
    /// End of the handshake, or time of the next attempt.
    due: Millis,
    failures: u32,
}

impl Association {
    /// Creates an association for datagrams to and from `peer`, to be started by [`Self::run_due`].
    pub(super) fn new(server: Arc<Socks5>, peer: SocketAddr) -> Self {
        Self {
            server,
            peer: SocketAddr::new(peer.ip().to_canonical(), peer.port()),
            control: None,
            lookup: None,
            relay: None,
            waiting: Vec::new(),
            due: Millis(0),
            failures: 0,
        }
    }

    /// Time of the next [`Self::run_due`].
    pub(super) fn due(&self) -> Millis {
        self.due
    }

    /// Connects when an attempt is due, ends a handshake that takes too long, and looks at a lookup. Returns the
    /// waiting datagrams once the relay is known.
    pub(super) fn run_due(&mut self, now: Millis, poll: (&Registry, Token)) -> Vec<Vec<u8>> {
        if now < self.due {
            return Vec::new();
        }
        let result = match self.found_relay(now) {
            Some(Ok(relay)) => return self.begin(relay),
            Some(Err(error)) => Err(error),
            None if self.lookup.is_some() => Ok(()),
            None if self.control.is_some() => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"))
            }
            None => self.connect(now, poll),
        };
        if let Err(error) = result {
            self.fail(now, poll.0, &error);
        }
        Vec::new()
    }

    /// Returns the relay when its lookup has ended.
    fn found_relay(&mut self, now: Millis) -> Option<io::Result<SocketAddr>> {
        let (answer, end) = self.lookup.as_ref()?;
        let found = match answer.try_recv() {
            Err(TryRecvError::Empty) if now < *end => {
                self.due = now + LOOKUP_INTERVAL;
                return None;
            }
            Err(TryRecvError::Empty) => Err("host of the relay not found in time".to_owned()),
            Err(TryRecvError::Disconnected) => Err("lookup of the relay ended".to_owned()),
            Ok(found) => found,
        };
        self.lookup = None;
        let is_ours = |relay: &&SocketAddr| relay.is_ipv4() == self.server.address.is_ipv4();
        Some(match found {
            Ok(found) => {
                let relay = found.iter().find(is_ours).or(found.first()).copied();
                relay.map_or_else(
                    || Err(io::Error::other("no address")),
                    |relay| self.checked(relay),
                )
            }
            Err(error) => Err(io::Error::other(format!("relay: {error}"))),
        })
    }

    /// Starts the lookup of a relay's name.
    fn look_up(&mut self, now: Millis, name: String, port: u16) -> io::Result<()> {
        let (sender, answer) = channel();
        thread::Builder::new().name("relay name".to_owned()).spawn(move || {
            // An association that has ended needs no answer.
            let _ = sender.send(resolve_families(&name, port));
        })?;
        self.lookup = Some((answer, now + HANDSHAKE_MAX));
        self.due = now + LOOKUP_INTERVAL;
        Ok(())
    }

    /// Returns the relay's address, completed by the server's.
    fn checked(&self, mut relay: SocketAddr) -> io::Result<SocketAddr> {
        // An unspecified address means the host of the control connection.
        if relay.ip().is_unspecified() {
            relay.set_ip(self.server.address.ip());
        }
        if relay.is_ipv4() != self.server.address.is_ipv4() {
            return Err(io::Error::other(format!(
                "relay {relay} not of the address family of the server"
            )));
        }
        Ok(relay)
    }

    /// Begins to relay. Returns the waiting datagrams.
    fn begin(&mut self, relay: SocketAddr) -> Vec<Vec<u8>> {
        if self.failures > 0 {
            log::info!("SOCKS5 server {} relays again", self.server.address);
        }
        self.failures = 0;
        self.due = Millis::NEVER;
        self.relay = Some(relay);
        std::mem::take(&mut self.waiting)
    }

    fn connect(&mut self, now: Millis, (registry, token): (&Registry, Token)) -> io::Result<()> {
        let mut stream = TcpStream::connect(self.server.address)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let mut out = Vec::new();
        let is_ip4 = self.server.address.ip().to_canonical().is_ipv4();
        let handshake = Handshake::start(self.server.login.clone(), is_ip4, &mut out);
        self.control = Some(Control { stream, handshake, out });
        self.due = now + HANDSHAKE_MAX;
        Ok(())
    }

    /// Handles an event of the control connection. Returns the waiting datagrams once the relay is known.
    pub(super) fn handle_event(&mut self, now: Millis, registry: &Registry) -> Vec<Vec<u8>> {
        let relay = match self.advance() {
            Ok(Some(Relay::Name(name, port))) => self.look_up(now, name, port).map(|()| None),
            Ok(Some(Relay::Address(relay))) => self.checked(relay).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match relay {
            Ok(None) => Vec::new(),
            Ok(Some(relay)) => self.begin(relay),
            Err(error) => {
                self.fail(now, registry, &error);
                Vec::new()
            }
        }
    }

    /// Sends and receives what is possible. Returns the relay when the handshake ends.
    fn advance(&mut self) -> io::Result<Option<Relay>> {
        let Some(control) = &mut self.control else { return Ok(None) };
        if let Some(error) = control.stream.take_error()? {
            return Err(error);
        }
        control.flush()?;
        let mut found = None;
        let mut buffer = [0; 512];
        for _ in 0..READS_MAX {
            match control.stream.read(&mut buffer) {
                Ok(0) => {
                    let closed = "connection closed by the server";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, closed));
                }
                Ok(len) if self.relay.is_none() && self.lookup.is_none() && found.is_none() => {
                    found = control
                        .handshake
                        .handle_bytes(&buffer[..len], &mut control.out)
                        .map_err(io::Error::other)?;
                    control.flush()?;
                }
                Ok(_) => {}
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected => break,
                    _ => return Err(error),
                },
            }
        }
        Ok(found)
    }

    fn fail(&mut self, now: Millis, registry: &Registry, error: &io::Error) {
        if let Some(mut control) = self.control.take() {
            // The descriptor closes right after this.
            let _ = registry.deregister(&mut control.stream);
        }
        self.relay = None;
        self.lookup = None;
        let pause = FIRST_PAUSE.0 << self.failures.min(DOUBLINGS_MAX);
        self.due = now + Millis(pause);
        self.failures = self.failures.saturating_add(1);
        let level = if self.failures == 1 { log::Level::Warn } else { log::Level::Debug };
        log::log!(level, "SOCKS5 server {} failed: {error}", self.server.address);
    }

    /// Adds the header to a datagram and returns the relay's address. `None`: it waits for the relay, or is dropped.
    pub(super) fn wrap(&mut self, to: SocketAddr, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        wrap(to, packet);
        if self.relay.is_none() && self.waiting.len() < WAITING_MAX {
            self.waiting.push(packet.clone());
        }
        self.relay
    }

    /// Returns sender and payload of a datagram that came from `from`.
    ///
    /// # Errors
    /// It is not of the relay, or its header is invalid.
    pub(super) fn unwrap<'a>(
        &self,
        from: SocketAddr,
        datagram: &'a [u8],
    ) -> Result<(SocketAddr, &'a [u8]), RelayFault> {
        if self.relay != Some(from) {
            return Err(RelayFault::Source);
        }
        unwrap(datagram, self.peer).ok_or(RelayFault::Header)
    }

    /// Address of the relay, once it is known.
    pub(super) fn relay(&self) -> Option<SocketAddr> {
        self.relay
    }
}

impl Control {
    /// Sends as much as the system accepts.
    fn flush(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            match self.stream.write(&self.out) {
                Ok(0) => break,
                Ok(sent) => drop(self.out.drain(..sent)),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected => break,
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }
}

//! UDP association with a SOCKS5 server: TCP control connection, relay address, retries.
//!
//! A port that is opened on demand has an association of its own, so that the server on the other side sees one
//! source address for each client. The association lasts as long as its control connection; a lost one is made
//! again after a pause that doubles. Invariants: no call blocks; at most `WAITING_MAX` datagrams wait for the
//! relay. Source: RFC 1928.

use std::{
    io::{self, Read as _, Write as _},
    net::SocketAddr,
    sync::Arc,
};

use mio::{Interest, Registry, Token, net::TcpStream};

use super::socks5::{Handshake, Socks5, unwrap, wrap};
use crate::model::Millis;

/// Datagrams that wait for the relay: the handshake of a client.
const WAITING_MAX: usize = 8;
/// Longest handshake.
const HANDSHAKE_MAX: Millis = Millis::seconds(10);
/// First pause before another attempt.
const FIRST_PAUSE: Millis = Millis::seconds(1);
/// Longest pause, as a number of doublings.
const DOUBLINGS_MAX: u32 = 4;
/// Reads of one event. A SOCKS5 server sends nothing after its reply.
const READS_MAX: usize = 8;

/// Control connection.
struct Control {
    stream: TcpStream,
    handshake: Handshake,
    /// Bytes that the system did not accept yet.
    out: Vec<u8>,
}

/// One UDP association.
pub(super) struct Association {
    server: Arc<Socks5>,
    control: Option<Control>,
    relay: Option<SocketAddr>,
    /// Datagrams with their header.
    waiting: Vec<Vec<u8>>,
    /// End of the handshake, or time of the next attempt.
    due: Millis,
    failures: u32,
}

impl Association {
    /// Creates an association, to be started by [`Self::run_due`].
    pub(super) fn new(server: Arc<Socks5>) -> Self {
        Self {
            server,
            control: None,
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

    /// Connects when an attempt is due, and ends a handshake that takes too long.
    pub(super) fn run_due(&mut self, now: Millis, poll: (&Registry, Token)) {
        if now < self.due {
            return;
        }
        if self.control.is_some() {
            let error = io::Error::new(io::ErrorKind::TimedOut, "no answer");
            return self.fail(now, poll.0, &error);
        }
        if let Err(error) = self.connect(now, poll) {
            self.fail(now, poll.0, &error);
        }
    }

    fn connect(&mut self, now: Millis, (registry, token): (&Registry, Token)) -> io::Result<()> {
        let mut stream = TcpStream::connect(self.server.address)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let mut out = Vec::new();
        let handshake = Handshake::start(self.server.login.clone(), &mut out);
        self.control = Some(Control { stream, handshake, out });
        self.due = now + HANDSHAKE_MAX;
        Ok(())
    }

    /// Handles an event of the control connection. Returns the waiting datagrams once the relay is known.
    pub(super) fn handle_event(&mut self, now: Millis, registry: &Registry) -> Vec<Vec<u8>> {
        match self.advance() {
            Ok(None) => Vec::new(),
            Ok(Some(relay)) => {
                if self.failures > 0 {
                    log::info!("SOCKS5 server {} relays again", self.server.address);
                }
                self.failures = 0;
                self.due = Millis::NEVER;
                self.relay = Some(relay);
                std::mem::take(&mut self.waiting)
            }
            Err(error) => {
                self.fail(now, registry, &error);
                Vec::new()
            }
        }
    }

    /// Sends and receives what is possible. Returns the relay when the handshake ends.
    fn advance(&mut self) -> io::Result<Option<SocketAddr>> {
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
                Ok(len) if self.relay.is_none() && found.is_none() => {
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
        let Some(mut relay) = found else { return Ok(None) };
        // An unspecified address means the host of the control connection.
        if relay.ip().is_unspecified() {
            relay.set_ip(self.server.address.ip());
        }
        if relay.is_ipv4() != self.server.address.is_ipv4() {
            return Err(io::Error::other("relay of another address family"));
        }
        Ok(Some(relay))
    }

    fn fail(&mut self, now: Millis, registry: &Registry, error: &io::Error) {
        if let Some(mut control) = self.control.take() {
            // The descriptor closes right after this.
            let _ = registry.deregister(&mut control.stream);
        }
        self.relay = None;
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

    /// Returns sender and payload of a datagram that came from `from`. `None` if it is not the relay's.
    pub(super) fn unwrap<'a>(
        &self,
        from: SocketAddr,
        datagram: &'a [u8],
    ) -> Option<(SocketAddr, &'a [u8])> {
        if self.relay == Some(from) { unwrap(datagram) } else { None }
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

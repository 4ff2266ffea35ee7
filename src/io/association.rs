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
        Arc, Mutex, MutexGuard, PoisonError,
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
/// Longest wait for the first byte. A login may take longer.
const PATIENCE: Millis = Millis::seconds(3);
/// Reason of a handshake that takes too long.
const NO_ANSWER: &str = "no answer";
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
    /// End of the handshake.
    end: Millis,
    /// Whether the server has sent anything.
    has_answered: bool,
}

/// Answer to a lookup.
type Found = Result<Vec<SocketAddr>, String>;

/// Reasons why a datagram at the port of an association is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelayFault {
    /// Sent by another address than the relay's.
    Source,
    /// Header invalid, or of another peer.
    Header,
    /// Part of a datagram.
    Fragment,
}

impl RelayFault {
    /// Reason for the log.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Source => "not of the SOCKS5 relay",
            Self::Header => {
                "invalid SOCKS5 header (expected 0 0 0, the server's address and its port)"
            }
            Self::Fragment => "SOCKS5 fragment, not supported (expected whole datagrams, FRAG 0)",
        }
    }
}

/// SOCKS5 server of all associations.
#[derive(Debug)]
pub(super) struct Socks5Server {
    config: Socks5,
    state: Mutex<ServerState>,
}

/// Findings of all associations about their server.
#[derive(Debug, Default)]
struct ServerState {
    /// Reason that was logged, until the server relays.
    reason: Option<String>,
    counts: AttemptCounts,
}

/// Results of the attempts of all associations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AttemptCounts {
    pub(super) begun: u64,
    pub(super) failed: u64,
}

impl Socks5Server {
    pub(super) fn new(config: Socks5) -> Self {
        Self { config, state: Mutex::default() }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.config.address
    }

    pub(super) fn counts(&self) -> AttemptCounts {
        self.state().counts
    }

    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs the reason of a failure once for all associations, until the server relays or another reason follows. Returns
    /// whether it is new.
    fn complain(&self, reason: &str) -> bool {
        let mut state = self.state();
        let is_new = state.reason.as_deref() != Some(reason);
        let level = if is_new { log::Level::Warn } else { log::Level::Debug };
        log::log!(level, "SOCKS5 server {} failed: {reason}", self.config.address);
        state.reason = Some(reason.to_owned());
        is_new
    }

    fn begin(&self) {
        let mut state = self.state();
        state.counts.begun += 1;
        if state.reason.take().is_some() {
            log::info!("SOCKS5 server {} relays again", self.config.address);
        }
    }
}

/// One UDP association.
pub(super) struct Association {
    server: Arc<Socks5Server>,
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
    pub(super) fn new(server: Arc<Socks5Server>, peer: SocketAddr) -> Self {
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
            None => match &self.control {
                Some(control) if control.has_answered && now < control.end => {
                    self.due = control.end;
                    Ok(())
                }
                Some(_) => Err(io::Error::new(io::ErrorKind::TimedOut, NO_ANSWER)),
                None => self.connect(now, poll),
            },
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
        let is_ours = |relay: &&SocketAddr| relay.is_ipv4() == self.server.config.address.is_ipv4();
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
            relay.set_ip(self.server.config.address.ip());
        }
        if relay.is_ipv4() != self.server.config.address.is_ipv4() {
            return Err(io::Error::other(format!(
                "relay {relay} not of the address family of the server"
            )));
        }
        Ok(relay)
    }

    /// Begins to relay. Returns the waiting datagrams.
    fn begin(&mut self, relay: SocketAddr) -> Vec<Vec<u8>> {
        self.server.begin();
        self.failures = 0;
        self.due = Millis::NEVER;
        self.relay = Some(relay);
        std::mem::take(&mut self.waiting)
    }

    fn connect(&mut self, now: Millis, (registry, token): (&Registry, Token)) -> io::Result<()> {
        let mut stream = TcpStream::connect(self.server.config.address)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let mut out = Vec::new();
        let is_ip4 = self.server.config.address.ip().to_canonical().is_ipv4();
        let handshake = Handshake::start(self.server.config.login.clone(), is_ip4, &mut out);
        self.control =
            Some(Control { stream, handshake, out, end: now + HANDSHAKE_MAX, has_answered: false });
        self.due = now + PATIENCE;
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
                    control.has_answered = true;
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
        // The loss of an association does not count as a failed attempt.
        let was_relaying = self.relay.take().is_some();
        self.lookup = None;
        let pause = FIRST_PAUSE.0 << self.failures.min(DOUBLINGS_MAX);
        self.due = now + Millis(pause);
        self.failures = self.failures.saturating_add(1);
        self.server.state().counts.failed += u64::from(!was_relaying);
        self.server.complain(&error.to_string());
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
        unwrap(datagram, self.peer).ok_or(match datagram {
            [0, 0, fragment, ..] if *fragment != 0 => RelayFault::Fragment,
            _ => RelayFault::Header,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Arc<Socks5Server> {
        let address = "192.0.2.9:1080".parse().unwrap();
        Arc::new(Socks5Server::new(Socks5 { address, login: None }))
    }

    #[test]
    fn fragments_are_told_from_invalid_headers() {
        let (peer, relay) = ("192.0.2.7:27960".parse().unwrap(), "192.0.2.9:5".parse().unwrap());
        let mut association = Association::new(server(), peer);
        association.relay = Some(relay);
        let datagram = |fragment| [0, 0, fragment, 1, 192, 0, 2, 7, 0x6d, 0x38, b'x'];
        assert_eq!(association.unwrap(relay, &datagram(0)), Ok((peer, &b"x"[..])));
        for fragment in [1, 0x81] {
            let fault = association.unwrap(relay, &datagram(fragment)).unwrap_err();
            assert_eq!(fault, RelayFault::Fragment);
            assert!(fault.reason().contains("fragment, not supported"));
        }
        assert_eq!(association.unwrap(relay, &[0, 1, 0]), Err(RelayFault::Header));
        assert_eq!(association.unwrap(peer, &datagram(1)), Err(RelayFault::Source));
    }

    #[test]
    fn refusal_is_news_once_for_all_associations() {
        let server = server();
        assert!(server.complain("login required"));
        assert!(!server.complain("login required"), "of another association");
        assert!(server.complain("no answer"), "another reason");
        server.begin();
        assert!(server.complain("no answer"), "after it relayed");
        assert_eq!(server.counts(), AttemptCounts { begun: 1, failed: 0 });
    }

    #[test]
    fn silent_server_fails_after_three_seconds() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Arc::new(Socks5Server::new(Socks5 { address, login: None }));
        let poll = mio::Poll::new().unwrap();
        let mut association = Association::new(Arc::clone(&server), address);
        for (now, reason, failed) in [(0, None, 0), (2999, None, 0), (3000, Some(NO_ANSWER), 1)] {
            assert!(association.run_due(Millis(now), (poll.registry(), Token(1))).is_empty());
            let state = server.state();
            assert_eq!((state.reason.as_deref(), state.counts.failed), (reason, failed), "{now}");
        }
    }
}

//! Publisher: the server's side of all connections.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use hmac::Mac as _;
use slab::Slab;

use super::{
    ALIVE_INTERVAL, MAGIC, MAX_NAME, Nonce, SILENCE, StreamError, StreamSide, VERSION,
    backlog::{Backlog, Packed},
    mac,
    message::{MessageKind, MessageReader, content_of, put_message},
    printable,
    seal::{SEALS_ASKED, Seals},
};
use crate::{
    limits::{AddressKey, AddressLimiter, BucketLimit, crowded, same_host},
    model::Millis,
};

/// Time in which a relay must log in.
const LOGIN_TIME: Millis = Millis(5_000);
/// Time after which a connection without login gives way to a new one. A relay answers the hello at once.
const PATIENCE: Millis = Millis(1_000);
/// Most connections before login, and those of one host.
const MAX_LOGINS: usize = 16;
const MAX_LOGINS_PER_HOST: usize = 4;
/// Connections of one host: four at once, one more every 2 s. Limits guesses of the password.
const CONNECTS: BucketLimit = BucketLimit { burst: 4, period: Millis(2_000) };
/// Most bytes that wait for a relay.
const MAX_QUEUE: usize = 8 << 20;
/// Longest message of a relay.
const MAX_LOGIN_LEN: u32 = (16 + 32 + MAX_NAME) as u32;

/// Number of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionId(pub usize);

/// Options of a publisher.
#[derive(Clone, Debug)]
pub struct PublisherOptions {
    /// Password of the relays, not empty.
    pub password: String,
    /// Time between a frame and its release.
    pub delay: Millis,
    /// Most relays.
    pub max_relays: usize,
    /// Seed of the address table.
    pub seed: u64,
}

/// Reason to close a connection before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too many connections of the host in a short time.
    Rate,
    /// Too many connections wait for their login.
    Logins,
}

#[derive(Clone, Debug)]
enum PublisherState {
    /// The login is awaited.
    Login(Nonce),
    /// A relay with its name.
    Relay(String),
    /// The connection closes when everything is sent.
    Closing,
}

/// A connection.
struct Connection {
    from: SocketAddr,
    state: PublisherState,
    since: Millis,
    heard: Millis,
    said: Millis,
    reader: MessageReader,
    /// Seals, if the relay asked for them.
    seals: Option<Seals>,
    queue: VecDeque<Packed>,
    /// Bytes of the queue, and those of its first entry that were sent.
    queued: usize,
    sent: usize,
    is_broken: bool,
}

impl Connection {
    fn send(&mut self, now: Millis, packed: Packed) {
        self.said = now;
        self.queued += packed.len();
        self.queue.push_back(packed);
    }

    fn say(&mut self, now: Millis, kind: MessageKind, content: &[&[u8]]) {
        let mut message = Vec::new();
        put_message(&mut message, kind, content);
        self.send(now, message.into());
    }

    /// Sends the seal of the next message, if the relay asked for it.
    fn seal(&mut self, now: Millis, kind: MessageKind, content: &[u8]) {
        if let Some(seal) = self.seals.as_mut().map(|seals| seals.seal(kind, content)) {
            self.say(now, MessageKind::Seal, &[&seal]);
        }
    }

    /// Sends a message of pieces, which all relays share, behind its seal.
    fn send_pieces(&mut self, now: Millis, packed: Packed) {
        self.seal(now, MessageKind::Pieces, content_of(&packed));
        self.send(now, packed);
    }

    /// Sends a last message and closes.
    fn close(&mut self, now: Millis, kind: MessageKind, reason: &str) {
        self.seal(now, kind, reason.as_bytes());
        self.say(now, kind, &[reason.as_bytes()]);
        self.since = now;
        self.state = PublisherState::Closing;
    }
}

/// Refused connections since the last warning.
#[derive(Debug, Default)]
struct Refusals {
    count: u64,
    warned: Option<Millis>,
}

impl Refusals {
    /// Records a refusal, and warns once a second at most.
    fn record(&mut self, now: Millis, refusal: Refusal) -> Refusal {
        self.count += 1;
        if self.warned.is_none_or(|last| now.since(last) >= Millis(1_000)) {
            log::warn!("live stream: {} connections refused before login", self.count);
            *self = Self { count: 0, warned: Some(now) };
        }
        refusal
    }
}

/// Server's side of the stream: connections, logins, queues.
pub struct Publisher {
    options: PublisherOptions,
    backlog: Backlog,
    connects: AddressLimiter,
    refusals: Refusals,
    connections: Slab<Connection>,
}

impl Publisher {
    /// Creates a publisher without connections.
    #[must_use]
    pub fn new(options: PublisherOptions) -> Self {
        Self {
            backlog: Backlog::new(options.delay),
            connects: AddressLimiter::new(options.seed),
            refusals: Refusals::default(),
            connections: Slab::new(),
            options,
        }
    }

    /// Starts a connection. `nonce` is random.
    ///
    /// # Errors
    /// Limits of connections; the caller closes it.
    pub fn accept(
        &mut self,
        now: Millis,
        from: SocketAddr,
        nonce: Nonce,
    ) -> Result<ConnectionId, Refusal> {
        if !self.connects.allows(now, AddressKey::host(from.ip()), CONNECTS) {
            return Err(self.refusals.record(now, Refusal::Rate));
        }
        self.make_room(now, from).map_err(|refusal| self.refusals.record(now, refusal))?;
        let mut connection = Connection {
            from,
            state: PublisherState::Login(nonce),
            since: now,
            heard: now,
            said: now,
            reader: MessageReader::new(MAX_LOGIN_LEN),
            seals: None,
            queue: VecDeque::new(),
            queued: 0,
            sent: 0,
            is_broken: false,
        };
        connection.say(now, MessageKind::Hello, &[&MAGIC, &VERSION.to_le_bytes(), &nonce]);
        Ok(ConnectionId(self.connections.insert(connection)))
    }

    /// Makes room for one more login. On full places the oldest connection that waits for its login gives way, or else
    /// one of the network with most of them.
    fn make_room(&mut self, now: Millis, from: SocketAddr) -> Result<(), Refusal> {
        let logins = self.connections.iter().filter(|(_, connection)| {
            !connection.is_broken && !matches!(connection.state, PublisherState::Relay(_))
        });
        let mut logins: Vec<_> =
            logins.map(|(number, one)| (one.since, number, one.from)).collect();
        let of_host = logins.iter().filter(|(.., other)| same_host(*other, from)).count();
        if of_host >= MAX_LOGINS_PER_HOST {
            return Err(Refusal::Logins);
        }
        if logins.len() < MAX_LOGINS {
            return Ok(());
        }
        logins.sort_unstable_by_key(|&(since, number, _)| (since, number));
        let is_late = |&(since, ..): &(Millis, usize, SocketAddr)| now.since(since) >= PATIENCE;
        let at = logins
            .iter()
            .position(is_late)
            .or_else(|| crowded(Some(from.ip()), logins.iter().map(|(.., other)| other.ip())));
        let (_, number, other) = logins[at.ok_or(Refusal::Logins)?];
        log::debug!("live stream: connection of {other} gives way before its login");
        self.connections[number].is_broken = true;
        Ok(())
    }

    /// Takes bytes that a connection received.
    pub fn receive(&mut self, now: Millis, id: ConnectionId, bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(id.0) else { return };
        connection.heard = now;
        connection.reader.receive(bytes);
        loop {
            let connection = &mut self.connections[id.0];
            let message = connection
                .reader
                .next()
                .map(|message| message.map(|(kind, content)| (kind, content.to_vec())));
            let result = match message {
                Ok(None) => return,
                Ok(Some((kind, content))) => self.message(now, id, kind, &content),
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                let connection = &mut self.connections[id.0];
                log::debug!("live stream: connection of {} closed: {error}", connection.from);
                connection.is_broken = true;
                return;
            }
        }
    }

    fn message(
        &mut self,
        now: Millis,
        id: ConnectionId,
        kind: MessageKind,
        content: &[u8],
    ) -> Result<(), StreamError> {
        let connection = &self.connections[id.0];
        let fault = |what| StreamError::Message { at: connection.reader.position(), what };
        match (kind, &connection.state) {
            (MessageKind::Login, PublisherState::Login(nonce)) => {
                let (theirs, rest) =
                    content.split_first_chunk::<16>().ok_or_else(|| fault("a login too short"))?;
                let (proof, name) =
                    rest.split_first_chunk::<32>().ok_or_else(|| fault("a login too short"))?;
                let (nonce, theirs, proof) = (*nonce, *theirs, *proof);
                let name = name.to_vec();
                self.login(now, id, (&nonce, &theirs), &proof, &name);
                Ok(())
            }
            (MessageKind::Alive, PublisherState::Relay(_) | PublisherState::Closing) => Ok(()),
            _ => Err(fault("a message that is not allowed now")),
        }
    }

    fn login(
        &mut self,
        now: Millis,
        id: ConnectionId,
        nonces: (&Nonce, &Nonce),
        proof: &[u8; 32],
        name: &[u8],
    ) {
        let password = &self.options.password;
        let is_right =
            mac(password, StreamSide::Subscriber, nonces, name).verify_slice(proof).is_ok();
        let delay = u32::try_from(self.options.delay.0).unwrap_or(u32::MAX).to_le_bytes();
        // The proof covers the name, so the wish for seals is the relay's own.
        let seals = name.last() == Some(&SEALS_ASKED);
        let seals = seals.then(|| Seals::new(password, nonces));
        let answer = match seals {
            Some(_) => mac(password, StreamSide::SealingPublisher, nonces, &delay),
            None => mac(password, StreamSide::Publisher, nonces, &[]),
        };
        let answer = answer.finalize().into_bytes();
        let is_full = self.relays() >= self.options.max_relays;
        let connection = &mut self.connections[id.0];
        let from = connection.from;
        let name = printable(name);
        if password.is_empty() || !is_right {
            log::warn!("live stream: relay {name:?} of {from} refused: wrong password");
            return connection.close(
                now,
                MessageKind::Refused,
                "wrong password (sv_relayPassword)",
            );
        }
        if is_full {
            log::warn!("live stream: relay {name:?} of {from} refused: too many relays");
            return connection.close(now, MessageKind::Refused, "too many relays");
        }
        log::info!("live stream: relay {name:?} of {from} connected");
        connection.say(now, MessageKind::Welcome, &[&answer, &delay]);
        connection.state = PublisherState::Relay(name);
        connection.seals = seals;
        for packed in self.backlog.start() {
            connection.send_pieces(now, Arc::clone(packed));
        }
    }

    /// Takes whole pieces of the recording, at its start with the head of the file.
    pub fn publish(&mut self, now: Millis, bytes: &[u8]) {
        self.backlog.take(now, bytes);
        self.frame(now);
    }

    /// Reports that pieces were lost in front of the publisher.
    pub fn gap(&mut self) {
        self.backlog.gap();
    }

    /// Runs everything that is due: pieces, keep-alive messages, timeouts.
    pub fn frame(&mut self, now: Millis) {
        while let Some(packed) = self.backlog.release(now) {
            for (_, connection) in &mut self.connections {
                if matches!(connection.state, PublisherState::Relay(_)) {
                    connection.send_pieces(now, Arc::clone(&packed));
                }
            }
        }
        for (_, connection) in &mut self.connections {
            let from = connection.from;
            match &connection.state {
                PublisherState::Login(_) | PublisherState::Closing => {
                    connection.is_broken |= now.since(connection.since) >= LOGIN_TIME;
                }
                PublisherState::Relay(name) if connection.queued > MAX_QUEUE => {
                    log::warn!("live stream: relay {name:?} of {from} disconnected: too slow");
                    connection.is_broken = true;
                }
                PublisherState::Relay(name) if now.since(connection.heard) >= SILENCE => {
                    log::warn!("live stream: relay {name:?} of {from} disconnected: silent");
                    connection.is_broken = true;
                }
                PublisherState::Relay(_) if now.since(connection.said) >= ALIVE_INTERVAL => {
                    connection.say(now, MessageKind::Alive, &[]);
                }
                PublisherState::Relay(_) => {}
            }
        }
    }

    /// Returns the time of the next [`Self::frame`].
    #[must_use]
    pub fn next_frame(&self, now: Millis) -> Millis {
        let idle = if self.connections.is_empty() { Millis::NEVER } else { now + Millis(1000) };
        self.backlog.next_due().min(idle)
    }

    /// Ends the stream for all relays.
    pub fn end(&mut self, now: Millis, reason: &str) {
        for (_, connection) in &mut self.connections {
            if !matches!(connection.state, PublisherState::Closing) {
                connection.close(now, MessageKind::End, reason);
            }
        }
    }

    /// Returns bytes to send on a connection; empty if there are none.
    #[must_use]
    pub fn output(&self, id: ConnectionId) -> &[u8] {
        let connection = self.connections.get(id.0);
        connection
            .and_then(|connection| Some(&connection.queue.front()?[connection.sent..]))
            .unwrap_or_default()
    }

    /// Reports that the first `len` bytes of the output were sent.
    pub fn sent(&mut self, id: ConnectionId, len: usize) {
        let Some(connection) = self.connections.get_mut(id.0) else { return };
        connection.sent += len;
        connection.queued -= len;
        if connection.queue.front().is_some_and(|first| connection.sent >= first.len()) {
            connection.queue.pop_front();
            connection.sent = 0;
        }
    }

    /// Whether the caller should close a connection now.
    #[must_use]
    pub fn is_done(&self, id: ConnectionId) -> bool {
        self.connections.get(id.0).is_none_or(|connection| {
            connection.is_broken
                || matches!(connection.state, PublisherState::Closing)
                    && connection.queue.is_empty()
        })
    }

    /// Forgets a connection that was closed.
    pub fn closed(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.try_remove(id.0)
            && let PublisherState::Relay(name) = &connection.state
        {
            log::info!("live stream: relay {name:?} of {} left", connection.from);
        }
    }

    /// Returns the connections.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.connections.iter().map(|(number, _)| ConnectionId(number))
    }

    /// Returns the number of relays.
    #[must_use]
    pub fn relays(&self) -> usize {
        let is_relay =
            |connection: &Connection| matches!(connection.state, PublisherState::Relay(_));
        self.connections.iter().filter(|(_, connection)| is_relay(connection)).count()
    }
}

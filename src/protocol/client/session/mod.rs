//! Client state machine: owns handshake and connection.
//!
//! Invariants: datagrams from other addresses than the server's change nothing, except a challenge
//! that repeats our number; after [`ClientEvent::Disconnected`] only queued datagrams are sent.
//! Source: Quake III protocol 68, duties of a client.

mod ending;

use std::{net::SocketAddr, sync::Arc};

use thiserror::Error;

use crate::{
    model::{
        Challenge, ClientNum, CommandNum, ConfigIndex, EntityState, LevelTime, Millis, PlayerState,
        Sequence, ServerId, UserCmd,
    },
    netchan::{AddError, OutgoingCommands, is_connectionless},
    node::Outbox,
    wire::{
        connect::ConnectError,
        connectionless::{ConnectResponse, Message, OUT_OF_BAND},
        info::InfoString,
        protocol::Protocol,
        text::WireText,
    },
};

use super::{
    connection::{Connection, ReceiveOutcome},
    event::{ClientEvent, DisconnectReason, Events},
    handshake::{self, Granted, Handshake, ProtocolGuess},
    history::Snapshot,
    level::LevelState,
    options::ClientOptions,
    statistics::Statistics,
    userinfo,
};

/// Number of copies of the disconnect command.
const DISCONNECT_RESENDS: usize = 3;

/// Connection state of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// Requesting a challenge.
    Connecting,
    /// Requesting a slot.
    Challenging,
    /// Connected, waiting for the gamestate.
    Connected,
    /// Gamestate received; the first usercmd enters the game.
    Primed,
    /// In the game.
    Active,
    /// Disconnected; [`Client::disconnect_reason`] has the reason.
    Disconnected,
}

/// State data of each phase.
#[derive(Debug)]
enum Phase {
    Handshake(Handshake),
    Connection(Box<Connection>),
    Ended(DisconnectReason),
}

/// Reasons why a command was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// No connection.
    #[error("not connected")]
    NotConnected,
    /// See [`AddError`]. Overflow ends the connection.
    #[error(transparent)]
    Refused(#[from] AddError),
}

/// One client of one server. It uses one port, which its owner chooses.
#[derive(Debug)]
pub struct Client {
    options: ClientOptions,
    /// Address of the server, as found by the handshake.
    server: SocketAddr,
    protocol: &'static Protocol,
    phase: Phase,
    outbox: Outbox,
    events: Events,
    statistics: Statistics,
}

/// Client's own challenge: a positive number, which every server parses and repeats.
fn challenge_of(seed: u64) -> Challenge {
    Challenge((seed ^ seed >> 32) as i32 & i32::MAX)
}

impl Client {
    /// Creates a client that starts to connect at `now`.
    ///
    /// # Errors
    /// Userinfo too long for `connect`.
    pub fn new(options: ClientOptions, now: Millis) -> Result<Self, ConnectError> {
        handshake::check_userinfo(&options.userinfo)?;
        let client_challenge = challenge_of(options.seed);
        Ok(Self {
            server: options.server,
            protocol: options.protocol,
            phase: Phase::Handshake(Handshake::new(client_challenge, now)),
            outbox: Outbox::default(),
            events: Events::default(),
            statistics: Statistics::default(),
            options,
        })
    }

    /// Handles one datagram received from `from`.
    pub fn handle_datagram(&mut self, now: Millis, from: SocketAddr, datagram: &[u8]) {
        let from_server = from == self.server;
        if from_server {
            self.statistics.datagrams_in += 1;
            self.statistics.bytes_in += datagram.len() as u64;
        }
        let taken = if is_connectionless(datagram) {
            let message = Message::parse(datagram);
            let is_readable = message.as_ref().is_ok_and(handshake::is_of_server);
            self.statistics.unreadable_datagrams += u64::from(!is_readable);
            message.is_ok_and(|message| self.handle_connectionless(now, from, message))
        } else {
            // Before the gamestate, a server has no reason to send messages that are dropped.
            let has_level = self.level().is_some();
            let taken = from_server && self.handle_sequenced(now, datagram);
            self.statistics.unreadable_datagrams += u64::from(!taken && !has_level);
            taken
        };
        if !taken {
            self.statistics.dropped_datagrams += 1;
        }
    }

    fn handle_sequenced(&mut self, now: Millis, datagram: &[u8]) -> bool {
        let Phase::Connection(connection) = &mut self.phase else { return false };
        let outcome = connection.receive(now, datagram, &mut self.events, &mut self.statistics);
        self.protocol = connection.channel().protocol();
        match outcome {
            ReceiveOutcome::Dropped => return false,
            ReceiveOutcome::Taken => {}
            ReceiveOutcome::Ended(reason) => self.end(reason),
            ReceiveOutcome::Left(reason) => self.leave(now, reason),
            ReceiveOutcome::OtherFraming(spoken) => self.refuse_framing(now, spoken),
        }
        true
    }

    /// Handles a connectionless packet and returns whether it was expected.
    fn handle_connectionless(
        &mut self,
        now: Millis,
        from: SocketAddr,
        message: Message<'_>,
    ) -> bool {
        let from_server = from == self.server;
        if matches!(self.phase, Phase::Ended(_)) {
            return false;
        }
        match message {
            Message::ChallengeResponse(response) => {
                let Phase::Handshake(handshake) = &mut self.phase else { return false };
                let ClientOptions { protocol, falls_back, detects_protocol, .. } = self.options;
                let guess = ProtocolGuess { falls_back, detects: detects_protocol };
                let taken =
                    handshake.challenge_response(now, response, from_server, protocol, guess);
                if let Some(granted) = handshake.granted().filter(|_| taken) {
                    self.server = from;
                    self.protocol = granted.protocol;
                }
                taken
            }
            Message::ConnectResponse(response) if from_server => {
                self.connect_response(now, response)
            }
            Message::Print(text) if from_server => {
                let text = text.to_string();
                if let Phase::Handshake(handshake) = &mut self.phase {
                    if self.options.detects_protocol && handshake.follow_protocol(now, &text) {
                        return true;
                    }
                    handshake.refused();
                    self.events.push(ClientEvent::Refused(text.trim().to_owned()));
                } else {
                    self.events.push(ClientEvent::Print(text));
                }
                true
            }
            Message::Echo(text) if from_server => {
                self.echo(text);
                true
            }
            Message::Disconnect if from_server => self.handle_disconnect(now),
            _ => false,
        }
    }

    fn connect_response(&mut self, now: Millis, response: ConnectResponse) -> bool {
        let Phase::Handshake(handshake) = &self.phase else { return false };
        let Some(granted) = handshake.connect_response(response) else { return false };
        self.phase = Phase::Connection(Box::new(self.connection(now, granted)));
        self.events.push(ClientEvent::Connected);
        true
    }

    fn connection(&self, now: Millis, granted: Granted) -> Connection {
        let mut connection = Connection::new(now, granted, &self.options);
        let (protocol, detects) = (granted.protocol, self.options.detects_protocol);
        let has_others = protocol.next_with_number() != protocol;
        match protocol.has_checksummed_sibling() {
            true if detects && has_others => connection.detect_protocol(),
            true => connection.watch_framing(),
            false if has_others => {
                connection.detect_scrambling(detects || protocol.is_scrambling_open);
            }
            false => {}
        }
        connection
    }

    /// Returns an `echo` text to the server.
    fn echo(&mut self, text: WireText<'_>) {
        self.outbox.push_with(handshake::route_to(self.server), |out| {
            out.extend_from_slice(OUT_OF_BAND);
            text.push_to(out);
        });
    }

    /// Runs the timers that are due.
    pub fn frame(&mut self, now: Millis) {
        let route = handshake::route_to(self.server);
        match &mut self.phase {
            Phase::Handshake(handshake) => {
                let ClientOptions { qport, gamename, userinfo, .. } = &self.options;
                let asked = (self.options.protocol, gamename.as_str());
                let sent = handshake.frame(now, route, &mut self.outbox, asked, |granted| {
                    handshake::connect_userinfo(userinfo, *qport, granted)
                });
                debug_assert!(sent.is_ok(), "userinfo is checked when it is set");
            }
            Phase::Connection(connection) => {
                if now.since(connection.received_at) > self.options.timeout {
                    self.end(DisconnectReason::TimedOut);
                } else if connection.channel().outgoing_exhausted() {
                    self.leave(now, DisconnectReason::Exhausted);
                } else if connection.frame(now, route, &mut self.outbox).is_err() {
                    self.end(DisconnectReason::Exhausted);
                }
            }
            Phase::Ended(_) => {}
        }
    }

    /// Returns the time of the next [`Client::frame`]; usercmds for the next packet must be pushed
    /// before.
    #[must_use]
    pub fn next_frame(&self) -> Millis {
        match &self.phase {
            Phase::Handshake(handshake) => handshake.next_send(),
            Phase::Connection(connection) => connection.next_packet(),
            Phase::Ended(_) => Millis::NEVER,
        }
    }

    /// Fills `packet` and returns its destination, or `None` when none is queued.
    pub fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<SocketAddr> {
        let route = self.outbox.pop(packet)?;
        self.statistics.datagrams_out += 1;
        self.statistics.bytes_out += packet.len() as u64;
        Some(route.remote)
    }

    /// Returns the oldest queued event, or `None`.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop()
    }

    /// Sends a reliable command, e.g. `say hello`, with the next packets.
    ///
    /// # Errors
    /// [`CommandError`]; an overflow has ended the connection.
    pub fn send_command(&mut self, now: Millis, text: &str) -> Result<CommandNum, CommandError> {
        let Phase::Connection(connection) = &mut self.phase else {
            return Err(CommandError::NotConnected);
        };
        let added = connection.add_command(Arc::from(text));
        if added == Err(AddError::Overflow) {
            self.leave(now, DisconnectReason::CommandOverflow);
        }
        Ok(added?)
    }

    /// Changes the userinfo.
    ///
    /// # Errors
    /// Userinfo too long for `connect`; the old one is kept.
    pub fn set_userinfo(&mut self, now: Millis, userinfo: InfoString) -> Result<(), ConnectError> {
        handshake::check_userinfo(&userinfo)?;
        let command = format!("userinfo \"{}\"", userinfo::sent(self.protocol, &userinfo));
        self.options.userinfo = userinfo;
        // Without a connection, `connect` sends it; an overflow has ended the connection.
        let _ = self.send_command(now, &command);
        Ok(())
    }

    /// Adds a usercmd to the next packet. Without effect before a gamestate; a usercmd older than
    /// the last gets the last one's time.
    pub fn push_usercmd(&mut self, usercmd: UserCmd) {
        if let Phase::Connection(connection) = &mut self.phase {
            connection.push_usercmd(usercmd);
        }
    }

    /// Disconnects and sends the disconnect command at once, three times.
    pub fn disconnect(&mut self, now: Millis) {
        if !matches!(self.phase, Phase::Ended(_)) {
            self.leave(now, DisconnectReason::Left);
        }
    }

    fn end(&mut self, reason: DisconnectReason) {
        self.phase = Phase::Ended(reason.clone());
        self.events.push(ClientEvent::Disconnected(reason));
    }

    /// Connection state.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        match &self.phase {
            Phase::Handshake(handshake) if handshake.granted().is_none() => {
                ConnectionState::Connecting
            }
            Phase::Handshake(_) => ConnectionState::Challenging,
            Phase::Connection(connection) => match connection.level() {
                None => ConnectionState::Connected,
                Some(level) if level.entered => ConnectionState::Active,
                Some(_) => ConnectionState::Primed,
            },
            Phase::Ended(_) => ConnectionState::Disconnected,
        }
    }

    /// Reason for the end of the connection, if it has ended.
    #[must_use]
    pub fn disconnect_reason(&self) -> Option<&DisconnectReason> {
        match &self.phase {
            Phase::Ended(reason) => Some(reason),
            Phase::Handshake(_) | Phase::Connection(_) => None,
        }
    }

    /// Address of the server, as found by the handshake.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// Returns the protocol: final once a challenge was granted, or with
    /// [`ClientOptions::detects_protocol`] once a gamestate was received.
    #[must_use]
    pub fn protocol(&self) -> &'static Protocol {
        self.protocol
    }

    /// Challenge of the connection, once granted.
    #[must_use]
    pub fn challenge(&self) -> Option<Challenge> {
        Some(self.connected()?.channel().challenge())
    }

    /// Userinfo as sent to the server.
    #[must_use]
    pub fn userinfo(&self) -> &InfoString {
        &self.options.userinfo
    }

    pub(super) fn connected(&self) -> Option<&Connection> {
        if let Phase::Connection(connection) = &self.phase { Some(connection) } else { None }
    }

    pub(super) fn connection_mut(&mut self) -> Option<&mut Connection> {
        match &mut self.phase {
            Phase::Connection(connection) => Some(connection),
            Phase::Handshake(_) | Phase::Ended(_) => None,
        }
    }

    /// Newest snapshot of the level.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.connected()?.history().current()
    }

    /// Playerstate of the newest snapshot.
    #[must_use]
    pub fn player(&self) -> Option<&PlayerState> {
        self.snapshot().map(|snapshot| &snapshot.player)
    }

    /// Entities of the newest snapshot, ascending by number.
    pub fn entities(&self) -> impl Iterator<Item = &EntityState> {
        self.connected().into_iter().flat_map(|connection| connection.history().entities())
    }

    /// Returns the snapshot of a message and its entities, ascending by number, if stored.
    #[must_use]
    pub fn view(
        &self,
        sequence: Sequence,
    ) -> Option<(&Snapshot, impl Iterator<Item = &EntityState>)> {
        self.connected()?.history().view(sequence)
    }

    /// Checks the internal consistency, for simulations.
    ///
    /// # Errors
    /// A sentence with the violated invariant.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.connected().map_or(Ok(()), Connection::check_invariants)
    }

    /// Returns a configstring of the level; empty where none is set.
    #[must_use]
    pub fn configstring(&self, index: ConfigIndex) -> &str {
        self.connected().map_or("", |connection| connection.configstring(index))
    }

    /// Level, once a gamestate was received.
    #[must_use]
    pub fn level(&self) -> Option<&LevelState> {
        self.connected()?.level()
    }

    /// Client number in the level.
    #[must_use]
    pub fn client_num(&self) -> Option<ClientNum> {
        self.connected()?.level()?.client_num
    }

    /// Server id of the client's level.
    #[must_use]
    pub fn server_id(&self) -> Option<ServerId> {
        Some(self.connected()?.level()?.server_id)
    }

    /// Returns the server time at `now` for a usercmd. 0 until a snapshot shows the client in the
    /// game: the usercmd that enters the game has no time.
    #[must_use]
    pub fn level_time(&self, now: Millis) -> LevelTime {
        self.connected().map_or(LevelTime(0), |connection| connection.level_time(now))
    }

    /// Newest usercmd of the level.
    #[must_use]
    pub fn last_usercmd(&self) -> Option<&UserCmd> {
        self.connected()?.last_usercmd()
    }

    /// Time from the packet that first acknowledged a snapshot's delta base to that snapshot, in ms.
    #[must_use]
    pub fn ping_ms(&self) -> Option<u64> {
        self.connected()?.ping().map(|ping| ping.0)
    }

    /// Number of the newest reliable command of the server.
    #[must_use]
    pub fn last_server_command(&self) -> CommandNum {
        self.connected().map_or(CommandNum(0), Connection::last_server_command)
    }

    /// Number of the client's reliable commands that the server has not acknowledged.
    #[must_use]
    pub fn unacknowledged_commands(&self) -> usize {
        self.connected().map_or(0, |connection| connection.commands().outstanding())
    }

    /// Whether the server has acknowledged a reliable command.
    #[must_use]
    pub fn is_acknowledged(&self, command: CommandNum) -> bool {
        let acknowledged =
            self.connected().map(Connection::commands).map(OutgoingCommands::acknowledged);
        acknowledged.is_some_and(|acknowledged| command.distance(acknowledged) <= 0)
    }

    /// Counters.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}

//! Record of a datagram of QuakeWorld. A line reuses one record for its memory.

use std::{fmt, net::SocketAddr};

use thiserror::Error;

use crate::{
    quakeworld::{
        ClientMessage, Extensions, MessageError, ServerMessage,
        bytes::Text,
        channel::{DropReason, header::Header},
        connectionless::ConnectionlessError,
        describe::Visit,
        packet::{ClientMessages, ServerMessages},
    },
    trace::{
        parts::PartBits,
        record::{Direction, RecordKind},
    },
};

/// Reason why a datagram is not decoded, or why its receiver drops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Invalid connectionless packet.
    #[error(transparent)]
    Connectionless(#[from] ConnectionlessError),
    /// Dropped by the channel.
    #[error(transparent)]
    Dropped(#[from] DropReason),
    /// Message that cannot be read.
    #[error(transparent)]
    Message(#[from] MessageError),
}

/// Reliable message of a packet, as the observer sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reliable {
    /// None.
    #[default]
    None,
    /// New message.
    Sent,
    /// Repetition of a message that was lost.
    Repeated,
}

/// Message of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message<'a> {
    /// Message of a server.
    Server(ServerMessage<'a>),
    /// Message of a client.
    Client(ClientMessage<'a>),
}

impl<'a> Message<'a> {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let name = match self {
            Self::Server(message) => ServerMessage::name_of(message.number()),
            Self::Client(message) => ClientMessage::name_of(message.number()),
        };
        name.unwrap_or("message")
    }

    /// Calls `visit` with name and value of each part.
    pub fn describe(&self, visit: Visit<'_, 'a>) {
        match self {
            Self::Server(message) => message.describe(visit),
            Self::Client(message) => message.describe(visit),
        }
    }
}

/// Description of one datagram.
#[derive(Clone, Debug)]
pub struct Record {
    /// Calendar time, in µs since 1970.
    pub time_us: u64,
    /// Direction.
    pub direction: Direction,
    /// Address of the server.
    pub server: SocketAddr,
    /// Address of the client.
    pub client: SocketAddr,
    /// UDP payload, in bytes.
    pub bytes: usize,
    /// Kind. Messages of a level's start are a gamestate, entities and players a snapshot.
    pub kind: RecordKind,
    /// Header of a channel packet.
    pub header: Option<Header>,
    /// Packets of this direction missing before this one, without choked answers.
    pub lost: u32,
    /// Answers that the server left out for lack of rate.
    pub choked: u32,
    /// Reliable message in the packet.
    pub reliable: Reliable,
    /// Whether the packet acknowledges the reliable message of the other side.
    pub delivers: bool,
    /// Sequence of the delta base of the entities.
    pub base: Option<u32>,
    /// Whether that base was not observed.
    pub is_base_missing: bool,
    /// Sequence of the delta base that a client asks for.
    pub asked_base: Option<u32>,
    /// Usercmds of the packet that the server runs, and repetitions of the last one before them.
    pub runs: Option<(u8, u32)>,
    /// Whether the checksum of a move is wrong.
    pub has_bad_checksum: bool,
    /// Number of entity changes.
    pub entities: u32,
    /// Number of players.
    pub players: u32,
    /// Messages without the header, in bytes.
    pub message_bytes: usize,
    /// Sizes of their parts.
    pub bits: PartBits,
    /// Name of a connectionless packet.
    pub command: Option<&'static str>,
    /// Its text, one character per byte. Of `connect` the userinfo, of `rcon` the command.
    pub text: String,
    /// Reason why it is not decoded, or why its receiver drops it.
    pub fault: Option<Fault>,
    /// Payload, if its messages are decoded.
    payload: Vec<u8>,
    /// Extensions in force at its start.
    extensions: Extensions,
}

impl Record {
    /// Creates an empty record of a connection.
    #[must_use]
    pub fn new(server: SocketAddr, client: SocketAddr) -> Self {
        Self {
            time_us: 0,
            direction: Direction::ToServer,
            server,
            client,
            bytes: 0,
            kind: RecordKind::Undecoded,
            header: None,
            lost: 0,
            choked: 0,
            reliable: Reliable::None,
            delivers: false,
            base: None,
            is_base_missing: false,
            asked_base: None,
            runs: None,
            has_bad_checksum: false,
            entities: 0,
            players: 0,
            message_bytes: 0,
            bits: PartBits::default(),
            command: None,
            text: String::new(),
            fault: None,
            payload: Vec::new(),
            extensions: Extensions::NONE,
        }
    }

    /// Whether the observer could not decode the datagram.
    #[must_use]
    pub fn is_undecoded(&self) -> bool {
        self.kind == RecordKind::Undecoded
    }

    /// Iterates over the messages with their lengths in bytes.
    pub fn messages(&self) -> impl Iterator<Item = (usize, Message<'_>)> {
        let mut server = ServerMessages::new(&self.payload, self.extensions);
        let mut client = ClientMessages::new(&self.payload, self.extensions);
        std::iter::from_fn(move || match self.direction {
            Direction::ToClient => {
                let start = server.offset();
                let message = server.next()?.ok()?;
                Some((server.offset() - start, Message::Server(message)))
            }
            Direction::ToServer => {
                let start = client.offset();
                let message = client.next()?.ok()?;
                Some((client.offset() - start, Message::Client(message)))
            }
        })
    }

    /// Whether a client leaves, or the server ends the session.
    #[must_use]
    pub fn is_farewell(&self) -> bool {
        self.messages().any(|(_, message)| match message {
            Message::Server(ServerMessage::Disconnect) => true,
            Message::Client(ClientMessage::StringCommand { text }) => is_drop(text),
            _ => false,
        })
    }

    /// Whether the datagram shows a loss: missing, choked, repeated, ignored or undecoded data.
    #[must_use]
    pub fn is_drop(&self) -> bool {
        self.lost > 0
            || self.choked > 0
            || self.reliable == Reliable::Repeated
            || self.is_base_missing
            || matches!(self.kind, RecordKind::Ignored | RecordKind::Undecoded)
    }

    /// Clears everything but the addresses, and starts the next datagram.
    pub(super) fn begin(&mut self, time_us: u64, direction: Direction, bytes: usize) {
        let (payload, text) = (std::mem::take(&mut self.payload), std::mem::take(&mut self.text));
        *self = Self::new(self.server, self.client);
        (self.payload, self.text) = (payload, text);
        self.payload.clear();
        self.text.clear();
        (self.time_us, self.direction, self.bytes) = (time_us, direction, bytes);
    }

    /// Stores the messages.
    pub(super) fn set_payload(&mut self, payload: &[u8], extensions: Extensions) {
        self.payload.extend_from_slice(payload);
        self.message_bytes = payload.len();
        self.extensions = extensions;
    }
}

/// Whether a string command leaves the server.
fn is_drop(text: Text<'_>) -> bool {
    text.words().next().is_some_and(|word| word == "drop")
}

/// One line for people: sequence, kind and delta base, as in comments of packet captures.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(header) = &self.header {
            write!(f, "{} ", header.sequence)?;
        }
        write!(f, "{}", self.command.unwrap_or(self.kind.name()))?;
        self.write_marks(f)?;
        match &self.fault {
            Some(fault) => write!(f, ": {fault}"),
            None => Ok(()),
        }
    }
}

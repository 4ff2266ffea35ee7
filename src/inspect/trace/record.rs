//! Trace record: typed description of one datagram. A line reuses one record for its memory.
//!
//! Sizes are in bits of the message, by part. Source: Quake III protocol 68, messages.

use std::{fmt, net::SocketAddr};

use thiserror::Error;

use super::{parts::PartBits, snapshot_content::SnapshotContent};
use crate::{
    model::{CommandNum, Sequence, UserCmd},
    netchan::{DropReason, header::FragmentRange},
    wire::{
        Protocol, WireError,
        client_message::ClientHeader,
        connect::ConnectError,
        connectionless::{CommandKind, ConnectionlessError},
        gamestate::Gamestate,
        protocol::Encoding,
    },
};

/// Direction of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

impl Direction {
    /// Name in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToServer => "to_server",
            Self::ToClient => "to_client",
        }
    }
}

/// Kind of a datagram: its most important content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// Packet outside a connection.
    Connectionless,
    /// Fragment of a message that is not complete.
    Fragment,
    /// Message with a gamestate.
    Gamestate,
    /// Message with a snapshot.
    Snapshot,
    /// Message with download blocks.
    Download,
    /// Message with usercmds.
    Usercmds,
    /// Message with voice packets and nothing above.
    Voice,
    /// Message with reliable commands and nothing above.
    Commands,
    /// Message that only acknowledges.
    Empty,
    /// Datagram that its receiver drops, too: a duplicate, late, or a fragment out of order.
    Ignored,
    /// Datagram that the observer cannot decode.
    Undecoded,
}

impl RecordKind {
    /// Name in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connectionless => "connectionless",
            Self::Fragment => "fragment",
            Self::Gamestate => "gamestate",
            Self::Snapshot => "snapshot",
            Self::Download => "download",
            Self::Usercmds => "usercmds",
            Self::Voice => "voice",
            Self::Commands => "commands",
            Self::Empty => "empty",
            Self::Ignored => "ignored",
            Self::Undecoded => "undecoded",
        }
    }
}

/// Knowledge that a decoded message lacks, because it was not observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Delta base of the snapshot. Changed fields are right, full states are not known.
    pub delta_base: bool,
    /// Gamestate or command that the key of the usercmds is made of. Their values are not known.
    pub usercmd_key: bool,
}

/// Reason why a datagram is not decoded, or why its receiver drops it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Invalid connectionless packet.
    #[error(transparent)]
    Connectionless(#[from] ConnectionlessError),
    /// Invalid `connect` packet.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Dropped by the sequenced channel.
    #[error(transparent)]
    Dropped(#[from] DropReason),
    /// Message without a known connection.
    #[error("handshake not captured: challenge and commands unknown")]
    NoHandshake,
    /// Key that was not observed.
    #[error("scrambled with command {0} (low byte), which was not captured")]
    UnknownCommand(u8),
    /// Value that cannot be decoded.
    #[error("bit {at_bit} of {bits}: {error}")]
    Unreadable {
        /// Bit position in the message.
        at_bit: usize,
        /// Length of the message in bits.
        bits: usize,
        /// Decoding error.
        error: WireError,
    },
    /// Second gamestate or snapshot in one message.
    #[error("second gamestate or snapshot at bit {at_bit}")]
    RepeatedPart {
        /// Bit position in the message.
        at_bit: usize,
    },
    /// Data behind the end of a message.
    #[error("{0} bits behind the end of the message")]
    Trailing(usize),
}

/// A reliable command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Command number.
    pub number: CommandNum,
    /// Command text.
    pub text: String,
    /// Whether an earlier message had it, too.
    pub repeated: bool,
}

/// A download operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Download {
    /// Part of the file.
    Data {
        /// Low 16 bits of the block number.
        number: u16,
        /// File size in bytes, with the first block.
        file_size: Option<u32>,
        /// Length in bytes; 0 at the end of the file.
        len: usize,
    },
    /// Refusal with its reason.
    Refused(String),
}

/// A voice packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// Client number of the speaker, in server messages.
    pub sender: Option<i16>,
    /// Generation.
    pub generation: u8,
    /// Number of the first frame.
    pub sequence: i32,
    /// Frames in the packet.
    pub frames: u8,
}

/// Content of a server message.
#[derive(Clone, Debug, Default)]
pub struct ServerContent {
    /// Acknowledged client command.
    pub acknowledge: CommandNum,
    /// Gamestate.
    pub gamestate: Option<Gamestate>,
    /// Whether `snapshot` is present.
    pub has_snapshot: bool,
    /// Snapshot.
    pub snapshot: SnapshotContent,
    /// Download blocks in wire order.
    pub downloads: Vec<Download>,
}

/// Content of a client message.
#[derive(Clone, Debug, Default)]
pub struct ClientContent {
    /// Header.
    pub head: ClientHeader,
    /// Whether the acknowledged message may be a delta base.
    pub delta: bool,
    /// Usercmds, oldest first. Without their key only the times are right.
    pub usercmds: Vec<UserCmd>,
}

/// Content of a connectionless packet.
#[derive(Clone, Debug, Default)]
pub struct Connectionless {
    /// Command; `None` for an invalid packet.
    pub command: Option<CommandKind>,
    /// Text behind the prefix, one character per byte. Of `connect` the userinfo.
    pub text: String,
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
    /// Kind.
    pub kind: RecordKind,
    /// Protocol, if known.
    pub protocol: Option<&'static Protocol>,
    /// Number of the message.
    pub sequence: Option<Sequence>,
    /// Range of the fragment, if it is one.
    pub fragment: Option<FragmentRange>,
    /// Messages of this direction missing before this one.
    pub lost: u32,
    /// Complete message in bytes; 0 without one.
    pub message_bytes: usize,
    /// Sizes of its parts.
    pub bits: PartBits,
    /// Reliable commands in wire order, of either direction.
    pub commands: Vec<Command>,
    /// Voice packets in wire order, of either direction.
    pub voice: Vec<Voice>,
    /// Content of a connectionless packet.
    pub connectionless: Connectionless,
    /// Content of a server message.
    pub from_server: ServerContent,
    /// Content of a client message.
    pub from_client: ClientContent,
    /// Unknown parts of the content.
    pub missing: Missing,
    /// Reason why it is not decoded, or why its receiver drops it.
    pub fault: Option<Fault>,
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
            protocol: None,
            sequence: None,
            fragment: None,
            lost: 0,
            message_bytes: 0,
            bits: PartBits::default(),
            commands: Vec::new(),
            voice: Vec::new(),
            connectionless: Connectionless::default(),
            from_server: ServerContent::default(),
            from_client: ClientContent::default(),
            missing: Missing::default(),
            fault: None,
        }
    }

    /// Whether the observer could not decode the datagram.
    #[must_use]
    pub fn is_undecoded(&self) -> bool {
        self.kind == RecordKind::Undecoded
    }

    /// Delta base of the snapshot, as a message number.
    #[must_use]
    pub fn delta_base(&self) -> Option<Sequence> {
        let snapshot = self.from_server.has_snapshot.then_some(&self.from_server.snapshot)?;
        let back = Some(u32::from(snapshot.head.delta_num)).filter(|back| *back > 0)?;
        self.sequence?.0.checked_sub(back).map(Sequence)
    }

    /// Encoding of its message.
    pub(super) fn encoding(&self) -> &'static Encoding {
        self.protocol.unwrap_or(Protocol::Q3_68).encoding
    }

    /// Clears what was decoded of the message behind its header.
    pub(super) fn clear_message(&mut self) {
        let (sequence, fragment, lost) = (self.sequence, self.fragment, self.lost);
        let (protocol, message_bytes) = (self.protocol, self.message_bytes);
        self.clear_content();
        (self.sequence, self.fragment, self.lost) = (sequence, fragment, lost);
        (self.protocol, self.message_bytes) = (protocol, message_bytes);
    }

    /// Clears everything but the addresses, and starts the next datagram.
    pub(super) fn begin(&mut self, time_us: u64, direction: Direction, bytes: usize) {
        self.time_us = time_us;
        self.direction = direction;
        self.bytes = bytes;
        self.clear_content();
    }

    /// Clears the decoded content.
    pub(super) fn clear_content(&mut self) {
        self.kind = RecordKind::Undecoded;
        self.protocol = None;
        self.sequence = None;
        self.fragment = None;
        self.lost = 0;
        self.message_bytes = 0;
        self.bits = PartBits::default();
        self.commands.clear();
        self.voice.clear();
        self.connectionless.command = None;
        self.connectionless.text.clear();
        self.from_server.acknowledge = CommandNum(0);
        self.from_server.gamestate = None;
        self.from_server.has_snapshot = false;
        self.from_server.snapshot.clear();
        self.from_server.downloads.clear();
        self.from_client.head = ClientHeader::default();
        self.from_client.delta = false;
        self.from_client.usercmds.clear();
        self.missing = Missing::default();
        self.fault = None;
    }
}

/// One line for people: sequence, kind, size and delta base, as in comments of packet captures.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(sequence) = self.sequence {
            write!(f, "{sequence} ")?;
        }
        match self.connectionless.command {
            Some(command) => write!(f, "{}", command.name())?,
            None => write!(f, "{}", self.kind.name())?,
        }
        if let Some(span) = self.fragment {
            write!(f, " fragment {}+{}", span.start, span.len)?;
        }
        if self.from_server.has_snapshot {
            match self.delta_base() {
                Some(base) => write!(f, " delta {base}")?,
                None => write!(f, " full")?,
            }
        }
        match &self.fault {
            Some(fault) => write!(f, ": {fault}"),
            None => Ok(()),
        }
    }
}

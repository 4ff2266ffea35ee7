//! Options, events, statistics and disconnect reasons of a client.

use std::net::SocketAddr;

use thiserror::Error;

use super::super::{extensions::Extensions, info::Info, packet::MessageError};
use crate::model::{Millis, Qport};

/// Settings of a client.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Server.
    pub server: SocketAddr,
    /// Number of the client behind its address. Clients behind one address need different ones.
    pub qport: Qport,
    /// Settings of the player. Spectators have `spectator 1`.
    pub userinfo: Info,
    /// Extensions to use if the server offers them.
    pub extensions: Extensions,
    /// CRC-16 of the player model and of the eyes, for servers that check them.
    pub model_checksums: Option<[u16; 2]>,
    /// Time after which a question of the handshake is repeated.
    pub retry: Millis,
    /// Time without packets after which a connected client gives up. A handshake repeats its question without end.
    pub timeout: Millis,
}

impl ClientOptions {
    /// Creates the options of a client with the usual extensions.
    #[must_use]
    pub const fn new(server: SocketAddr, qport: Qport, userinfo: Info) -> Self {
        Self {
            server,
            qport,
            userinfo,
            extensions: Extensions::SUPPORTED,
            model_checksums: None,
            retry: Millis::seconds(5),
            timeout: Millis::seconds(60),
        }
    }
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientState {
    /// Waiting for a challenge.
    Challenging,
    /// Waiting for the answer to `connect`.
    Connecting,
    /// Waiting for the start of a level.
    Connected,
    /// Receiving lists of sounds and models.
    Lists,
    /// Waiting for the owner's checksum of the map.
    Map,
    /// Receiving statics, baselines and players.
    Spawning,
    /// Waiting for the first entities.
    Entering,
    /// In the game.
    Active,
    /// Disconnected.
    Disconnected,
}

/// Reason of a disconnect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DisconnectReason {
    /// The owner disconnected.
    #[error("disconnected by the client")]
    Client,
    /// The server ended the session.
    #[error("disconnected by the server")]
    Server,
    /// No packets.
    #[error("timed out")]
    TimedOut,
    /// Invalid message.
    #[error("protocol error: {0}")]
    Message(#[from] MessageError),
    /// Valid message with an impossible content.
    #[error("protocol error: {0}")]
    Content(ContentError),
    /// More reliable commands than fit.
    #[error("reliable commands overflowed")]
    Overflowed,
}

/// Impossible content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ContentError {
    /// Slot out of range.
    #[error("slot out of range: {0}")]
    Slot(u8),
    /// Stat out of range.
    #[error("stat out of range: {0}")]
    Stat(u8),
    /// Entity out of range.
    #[error("entity out of range: {0}")]
    Entity(i32),
    /// Too many names in a list.
    #[error("too many names in a list: {0}")]
    Names(usize),
    /// Too many entities in a packet.
    #[error("too many entities in a packet: {0}")]
    Entities(usize),
    /// Too many static entities or sounds.
    #[error("too many static entities: {0}")]
    Statics(usize),
    /// The same player twice in a packet.
    #[error("player {0} twice in a packet")]
    Player(u8),
}

/// Event of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The server printed a text before the connection: mostly a refusal.
    Refused(Vec<u8>),
    /// The server granted a slot.
    Accepted,
    /// A level starts.
    LevelStarted {
        /// Number of the level.
        server_count: i32,
    },
    /// The names of sounds and models are complete. The owner calls
    /// [`Client::map_ready`](super::Client::map_ready) with the checksum of this map.
    MapNeeded {
        /// Path of the map.
        path: String,
    },
    /// The client is in the game.
    Entered,
    /// The server leaves the level.
    LevelEnded,
    /// Text for the console.
    Print {
        /// Kind of text; 3 for chat.
        level: u8,
        /// Text.
        text: Vec<u8>,
    },
    /// Text in the center of the screen.
    CenterPrint(Vec<u8>),
    /// Console command of the server without an effect here.
    Command(Vec<u8>),
    /// A download ended.
    Downloaded {
        /// Name.
        name: Vec<u8>,
        /// Content; `None` when the server refused it.
        content: Option<Vec<u8>>,
    },
    /// The connection ended.
    Disconnected(DisconnectReason),
}

/// Counters of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets sent.
    pub sent: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Datagrams accepted, connectionless ones included.
    pub received: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Answers that never arrived or whose question was lost, choked ones included.
    pub missing: u64,
    /// Answers that the server left out for lack of rate.
    pub choked: u64,
    /// Entity updates against a base that the client does not have.
    pub rejected: u64,
    /// Entity updates.
    pub frames: u64,
    /// Entity updates among them that were changes of an earlier one.
    pub deltas: u64,
    /// Datagrams that were ignored.
    pub ignored: u64,
    /// Reliable messages sent again.
    pub repeated: u64,
    /// Sum of measured latencies in ms, and their number.
    pub latency_sum: u64,
    /// Number of measured latencies.
    pub latency_count: u64,
}

/// Reasons to refuse a command of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// Not connected.
    #[error("not connected")]
    NotConnected,
    /// Too many unacknowledged commands.
    #[error("reliable commands full")]
    Full,
    /// Command with a line feed or a zero.
    #[error("command with control character")]
    Character,
}

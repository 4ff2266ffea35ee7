//! Wire format: encoding and decoding of every message of the protocol.
//!
//! [`protocol`] is the table of protocols. Readers and writers carry the encoding of their
//! protocol, so that server and client name none.
//! Source: Quake III protocol 68, those before it and its descendants.

pub mod bits;
pub mod client_message;
pub mod connect;
pub mod connectionless;
pub mod delta_sink;
pub mod demo_file;
pub mod download;
pub mod encoded;
pub mod entity;
mod field;
pub mod field_tables;
pub mod fields;
pub mod gamestate;
pub mod huffman;
pub mod info;
pub mod legacy_fields;
pub mod login;
mod number_tables;
pub mod numbers;
pub mod player;
pub mod protocol;
pub mod quake_live;
#[cfg(feature = "server")]
pub mod secure_rcon;
pub mod server_message;
pub mod snapshot;
pub mod text;
pub mod usercmd;
pub mod userinfo;

pub use protocol::Protocol;

use thiserror::Error;

/// Decoding errors. Each variant is a protocol error of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// Message that ends inside a value.
    #[error("message ends inside a value")]
    Truncated,
    /// Huffman code that no encoder produces.
    #[error("unassigned Huffman code")]
    BadCode,
    /// More changed fields announced than the struct has.
    #[error("too many changed fields announced: {0}")]
    FieldCount(u8),
    /// Operation that this message kind does not have.
    #[error("unknown operation {0}")]
    Operation(u8),
    /// Number of usercmds outside 1..=32.
    #[error("{0} usercmds announced")]
    UsercmdCount(u8),
    /// An index out of range.
    #[error("{what} {number} is out of range")]
    OutOfRange {
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        number: i64,
    },
    /// Entity numbers that do not ascend.
    #[error("entity {0} out of order")]
    EntityOrder(u16),
    /// More text than a gamestate may hold.
    #[error("configstrings exceed the memory of a client")]
    GamestateOverflow,
    /// Datagram too short for a header.
    #[error("too short for a header: {0} bytes")]
    Short(usize),
}

/// Result of decoding untrusted bytes.
pub type Result<T> = std::result::Result<T, WireError>;

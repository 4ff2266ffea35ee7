//! Bytes to values and back, both directions of every message of the protocol.
//!
//! [`protocol`] is the table of protocols. Readers and writers carry the encoding of their protocol, so
//! that server and client name none.
//! Source: Quake III protocol 68 and its descendants.

pub mod bits;
pub mod client_message;
pub mod connect;
pub mod connectionless;
pub mod download;
pub mod encoded;
pub mod entity;
pub mod field_tables;
pub mod fields;
pub mod gamestate;
pub mod huffman;
pub mod info;
pub mod player;
pub mod protocol;
pub mod server_message;
pub mod snapshot;
pub mod text;
pub mod usercmd;
pub mod userinfo;

pub use protocol::Protocol;

use thiserror::Error;

/// Why bytes could not be read. Variants say what the sender did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The message ended inside a value.
    #[error("the message ends inside a value")]
    Truncated,
    /// A code that no encoder produces.
    #[error("a Huffman code that stands for nothing")]
    BadCode,
    /// More changed fields announced than the struct has.
    #[error("{0} changed fields announced, more than there are")]
    FieldCount(u8),
    /// An operation this message kind does not have.
    #[error("unknown operation {0}")]
    Operation(u8),
    /// Number of usercmds outside 1..=32.
    #[error("{0} usercmds announced")]
    UsercmdCount(u8),
    /// An index out of range.
    #[error("{what} {number} is out of range")]
    OutOfRange {
        /// What the number should have named.
        what: &'static str,
        /// The number.
        number: i64,
    },
    /// Entity numbers must ascend.
    #[error("entity {0} out of order")]
    EntityOrder(u16),
    /// More text than a gamestate may hold.
    #[error("more configstring text than a client can hold")]
    GamestateOverflow,
    /// A header that is too short to be one.
    #[error("{0} bytes are too short for a header")]
    Short(usize),
}

/// Result of reading outside bytes.
pub type Result<T> = std::result::Result<T, WireError>;

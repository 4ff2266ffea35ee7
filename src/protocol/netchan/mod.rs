//! Sequenced channel to one peer: headers, fragments, scrambling, reliable commands.
//!
//! ```text
//! datagram ─ header ─ fragments ─ Channel ─ scramble ─ message (read and written by `wire`)
//!                                    └──── reliable commands: their texts are the scrambling key
//! ```
//!
//! A [`Channel`] is one side of a connection and has one [`Protocol`]. It reads no more of a
//! message than the header numbers that the key is made of. Messages arrive in order or not at all:
//! a message may be lost, none is delivered twice or after a newer one. Reliable commands are
//! repeated in every message until they are acknowledged.
//!
//! Invariants: a received message changes a channel's state only after the caller has decoded it
//! and calls [`Channel::commit`]; memory beyond a few hundred bytes is held only while a message is
//! reassembled or queued, and is bounded.
//! Source: Quake III protocol 68, ioquake3 protocol 71: netchan, scrambling, reliable commands.
//!
//! [`Protocol`]: crate::wire::protocol::Protocol

pub mod channel;
mod datagram_scramble;
mod fragments;
pub mod header;
pub mod peer_address;
pub mod rate;
pub mod reliable;
pub mod scramble;
mod unscramble;

pub use channel::{Channel, DropReason, ReceivedMessage, SendError, Transmitted};
pub use datagram_scramble::opened;
pub use header::{ChannelSide, detect_protocol, is_connectionless, peek_client_header};
pub use peer_address::{AddressMatch, PeerAddress};
pub use rate::transmission_ms;
pub use reliable::{AckError, AddError, CommandOrder, IncomingCommands, OutgoingCommands};
pub use scramble::{command_hash, usercmd_key};
pub use unscramble::UnscrambleError;

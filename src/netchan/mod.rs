//! One peer's numbered messages, at either end: headers, fragments, scrambling, reliable commands.
//!
//! ```text
//! datagram ─ header ─ fragments ─ Channel ─ scramble ─ message (what `wire` reads and writes)
//!                                    └──── commands: whose texts are the scrambling's key
//! ```
//!
//! A [`Channel`] stands at each end of a connection and speaks one [`Protocol`]. It knows nothing of
//! what messages say beyond the numbers that begin them, for the key is made of those. It promises
//! order, not arrival: a message may be lost, none comes twice or after a newer one. What must arrive
//! is a reliable command, repeated in every message until it is acknowledged.
//!
//! Invariants: nothing received changes where a channel stands until the caller has found the whole
//! message good and says so with [`Channel::commit`]; memory beyond a few hundred bytes is held only
//! while a message is assembled or waits to be sent, and is bounded.
//! Source: Quake III protocol 68, ioquake3 protocol 71: netchan, scrambling, reliable commands.
//!
//! [`Protocol`]: crate::wire::protocol::Protocol

pub mod channel;
mod fragments;
pub mod header;
pub mod peer_address;
pub mod rate;
pub mod reliable;
pub mod scramble;
mod unscramble;

pub use channel::{Channel, DropReason, ReceivedMessage, SendError, Transmitted};
pub use header::{ChannelSide, detect_protocol, is_connectionless, peek_client_header};
pub use peer_address::{AddressMatch, PeerAddress};
pub use rate::transmission_ms;
pub use reliable::{AckError, AddError, CommandOrder, IncomingCommands, OutgoingCommands};
pub use scramble::usercmd_key;
pub use unscramble::UnscrambleError;

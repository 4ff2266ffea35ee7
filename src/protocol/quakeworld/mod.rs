//! QuakeWorld protocol 28: packets, channel, messages of both sides.
//!
//! ```text
//! datagram ┬ connectionless: challenge, connect, status, rcon
//!          └ Channel ─ payload ─ Messages ┬ ServerMessage: level, players, entities, effects
//!                                         └ ClientMessage: moves, string commands, delta requests
//! ```
//!
//! One table for each side describes the messages; reader, writer and names follow from it. A packet is read to its
//! end before anything of it is used, see [`packet::Messages::checked`].
//!
//! Invariants: no input panics, allocates without bound or changes state before it is valid. Messages borrow from
//! their datagram.
//! Source: QuakeWorld protocol 28; extensions of FTE, MVDSV and ZQuake as ezQuake and MVDSV use them.

pub mod bytes;
pub mod channel;
pub mod checksum;
pub mod client;
pub mod client_message;
pub mod connectionless;
pub mod describe;
pub mod effects;
pub mod entities;
pub mod extensions;
pub mod info;
pub mod level;
pub mod moves;
pub mod packet;
pub mod players;
#[cfg(feature = "server")]
pub mod rcon;
pub mod server_message;
mod table;
pub mod usercmd;

#[cfg(test)]
mod tests;

pub use channel::{Channel, End};
pub use client::Client;
pub use client_message::ClientMessage;
pub use entities::{EntityDelta, EntityState};
pub use extensions::Extensions;
pub use packet::{ClientMessages, MessageError, ServerMessages};
pub use players::PlayerInfo;
pub use server_message::ServerMessage;
pub use usercmd::Usercmd;

//! Traces of QuakeWorld connections: records, decoder of a line, JSON, recognition.
//!
//! ```text
//! datagram ─ Line ─┬ connectionless: handshake
//!                  └ Connection (sequences, reliable messages, extensions, delta bases) ─ Record
//! ```
//!
//! A record keeps the payload of its datagram; messages are read from it again when they are shown.
//!
//! Invariants: a record describes one datagram; an undecodable datagram changes no state; memory and work are bounded
//! for any input. Source: QuakeWorld protocol 28, channel and messages; extensions of FTE and MVDSV.

mod connection;
mod json;
mod line;
mod masked;
mod payload;
mod recognition;
mod record;
mod text;

pub use line::Line;
pub(super) use recognition::{direction_of_packet, is_likely, is_unmarked_reply};
pub use recognition::{is_netquake, is_request};
pub use record::{Fault, Message, Record, Reliable};
pub(super) use text::{write_net, write_packet};

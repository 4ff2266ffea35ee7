//! Traces: decoder of both directions of client-server connections, as typed records and JSON lines.
//!
//! ```text
//! datagram ─ Lines (pairs of addresses, roles) ─ Line ─┬ connectionless: handshake parameters
//!                                                      └ Session: netchan, shadow commands, history
//!                                                           └ Record ─ JSON line, comment
//! ```
//!
//! An observer between both ends knows the acknowledged commands of each direction, which are the
//! scrambling keys. A connection whose start was not observed is decoded as far as its keys are
//! known: protocol 71 of ioquake3 reveals its challenge, scrambled protocols do not. Connections of QuakeWorld have
//! lines and records of their own, see [`quakeworld`].
//!
//! Invariants: a record describes one datagram; an undecodable datagram changes no state; memory and
//! work are bounded for any input. Source: Quake III protocol 68, ioquake3 protocol 71, QuakeWorld protocol 28.

mod client_message;
mod command_texts;
mod family;
mod json;
mod line;
mod lines;
mod masked;
mod parts;
pub mod quakeworld;
mod record;
mod recovery;
mod report;
mod server_message;
mod session;
mod snapshot_content;
mod view;

pub use family::Traced;
pub use line::Line;
pub use lines::{Lines, Role};
pub use parts::{Part, PartBits};
pub use record::{
    ClientContent, Command, Connectionless, Direction, Download, Fault, Missing, Record,
    RecordKind, ServerContent, Voice,
};
pub use report::Report;
pub use snapshot_content::{ElementChange, EntityRecord, FieldChange, SnapshotContent};
pub use view::View;

//! The other end of a connection: what a player's game does on the network, without the game.
//!
//! ```text
//! datagrams ─ Client ┬ Handshake ── getchallenge, connect ── Connection
//!                    └ Connection ─┬ inbound: a message taken apart, nothing believed yet
//!                                  ├ LevelState: configstrings, baselines, which level it is
//!                                  ├ SnapshotHistory: snapshots, each a delta of an earlier one
//!                                  └ UsercmdHistory: usercmds, sent again until a packet surely had them
//! ```
//!
//! A [`Client`] is fed and drained: datagrams and time go in, datagrams and [`ClientEvent`]s come out.
//! Its owner makes the usercmds and says what a player would type; everything a server can demand of
//! the network side it does by itself. A server is not trusted: what it sends wrong is a [`ProtocolError`] with
//! the place where it stands, and memory is bounded whatever it sends.
//!
//! [`Query`] is the role that asks one server for its info and status.
//!
//! Source: Quake III protocol 68, ioquake3 protocol 71: what a client must do.

mod connection;
pub mod demo;
mod event;
mod handshake;
mod history;
mod inbound;
mod level;
mod level_clock;
mod options;
pub mod query;
mod session;
mod statistics;
mod usercmds;

pub use event::{ClientEvent, DisconnectReason, ProtocolError, ProtocolErrorKind};
pub use history::Snapshot;
pub use options::{ClientOptions, ProtocolChoice, UnknownProtocol};
pub use query::{Query, QueryOptions, QueryResult};

pub use session::{Client, CommandError, ConnectionState};
pub use statistics::Statistics;

pub use crate::wire::Protocol;

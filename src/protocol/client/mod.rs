//! Client side of a connection: the network part of a player's client, without the game.
//!
//! ```text
//! datagrams ─ Client ┬ Handshake ── getchallenge, connect ── Connection
//!                    └ Connection ─┬ Inbound: decoded message, applied only as a whole
//!                                  ├ LevelState: configstrings, baselines, server id
//!                                  ├ SnapshotHistory: snapshots, each a delta base for later ones
//!                                  └ UsercmdHistory: usercmds, resent with the next packets
//! ```
//!
//! A [`Client`] takes datagrams and time and returns datagrams and [`ClientEvent`]s. Its owner
//! provides usercmds and reliable commands; the client answers every request of the server on its
//! own. A server is not trusted: a protocol error is reported as [`ProtocolError`] with its
//! position, and memory is bounded for any input.
//!
//! [`Query`] requests info and status of one server.
//!
//! Source: Quake III protocol 68, ioquake3 protocol 71: duties of a client.

mod connection;
mod download;
mod event;
mod handshake;
pub(crate) mod history;
mod inbound;
mod level;
mod level_clock;
mod options;
pub mod query;
mod session;
mod statistics;
mod usercmds;
mod userinfo;

pub use download::{DownloadEvent, ReferencedPack};
pub use event::{ClientEvent, DisconnectReason, ProtocolError, ProtocolErrorKind};
pub use history::Snapshot;
pub use level::{CommandEffect, LevelState};
pub use options::{ClientOptions, ProtocolChoice, UnknownProtocol};
pub use query::{Query, QueryOptions, QueryResult};

pub use session::{Client, CommandError, ConnectionState};
pub use statistics::Statistics;

pub use crate::wire::Protocol;

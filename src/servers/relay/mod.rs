//! Broadcast: a node that shows one source to hundreds of unmodified clients as spectators.
//!
//! ```text
//! Source ─ delay ─ CurrentLevel: level, frames ─ body cache ─┐
//! datagram ─ connection ─ viewers ─ commands ───────────┴ snapshots ─ outbox
//! ```
//!
//! A [`Broadcast`] is fed datagrams and time like a server. The source is anything that implements
//! [`Source`]: a demo, a connection to a server, a multi-view file, a stream. The body of a snapshot
//! (playerstate and entities) is encoded once for each view and base frame and appended for every
//! viewer with the same two; a viewer's own part is a few bytes.
//!
//! Invariants: nothing is stored for an unproven address; no viewer can delay another one; server time
//! never decreases for a viewer within one gamestate; memory is bounded for any source and viewers.
//! Source: Quake III protocol 68, duties of a server.

mod bans;
mod body_cache;
mod commands;
mod console;
mod current_level;
mod delay;
mod demo_source;
mod join_watch;
mod match_decoder;
mod match_source;
mod node;
mod options;
mod playback;
mod scores;
mod send;
mod server_source;
mod service;
mod source;
mod state;
mod stream_source;
mod viewer;

pub use demo_source::DemoSource;
pub use match_source::MatchSource;
pub use node::Broadcast;
pub use options::{BroadcastOptions, MAX_DELAY, MAX_VIEWERS};
pub use playback::DemoEnd;
pub use server_source::{ServerSource, ServerSourceOptions};
pub use source::{Audience, Control, Frame, Level, Sink, Source, Timeline, View, Visible};
pub use state::BroadcastCounts;
pub use stream_source::{StreamInput, StreamSource};

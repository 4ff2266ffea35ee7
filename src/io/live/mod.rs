//! Live streams over TCP: listener of a server, connection of a relay.
//!
//! The protocol is in [`crate::stream`]; each side runs in a thread of its own.
//! Invariant: the event loop never waits for a thread of a stream.

mod listener;
mod receiver;

pub use listener::LiveListener;
pub use receiver::LiveReceiver;

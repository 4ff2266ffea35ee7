//! Connection of a client to a server or relay, with its guards, queues and caches.
//!
//! ```text
//!            connection: states, admission, receive, send, drops, queries
//! datagram ─ guards ─ message reader ─ proof            send: command queue, delta cache, pacing
//! ```
//!
//! Invariants: nothing is stored for an unproven address; every table has a bound; a message takes
//! effect only after it was read to its end.

pub(crate) mod challenge;
pub(crate) mod command_queue;
pub(crate) mod configstrings;
mod connect_backoff;
mod connect_budget;
pub(crate) mod connection;
pub(crate) mod delta_cache;
mod entity_records;
pub(crate) mod gamestate_message;
pub(crate) mod guards;
pub(crate) mod load_shedding;
pub(crate) mod message_limit;
pub(crate) mod message_reader;
pub(crate) mod pacing;
pub(crate) mod proof;
pub(crate) mod rejection;
pub(crate) mod scrambling;
pub(crate) mod stats;

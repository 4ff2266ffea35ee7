//! Proxy: node between unmodified clients and one server, for any number of clients.
//!
//! ```text
//! client ─ port 0 ─┬ queries ─ cache ─ port 1 ─────────────────────────────┐
//!                  └ Sessions ─ Session: shadow decoder, impaired links ─ port 2.. ─ server
//! ```
//!
//! Every client has a session with a port of its own towards the server, which therefore sees one address for each
//! client. Both directions are decoded and passed on as they are.
//!
//! Invariants: a datagram is passed on unchanged, whether it can be decoded or not, unless the impairment
//! changes it; of connectionless packets, only those of joining clients are passed on, and those of the remote console if
//! the options allow it; a datagram without commands allocates no memory on a clear line; sessions, ports and answers to
//! unproven addresses are bounded. Source: Quake III protocol 68 and its descendants, QuakeWorld protocol 28.

mod counters;
mod family;
mod guards;
mod node;
mod options;
mod queries;
mod requests;
mod session;
mod session_address;
mod sessions;
mod shadow;
mod status;
mod status_queries;
mod timers;

pub use counters::ProxyCounter;
pub use family::Family;
pub use node::Proxy;
pub use options::{
    IDLE, MAX_SESSIONS, ProxyOptions, SERVER_TIMEOUT, SESSIONS, SESSIONS_PER_ADDRESS,
};
pub use session_address::{SessionNetwork, session_key};

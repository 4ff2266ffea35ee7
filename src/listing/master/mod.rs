//! Master server: registry of announced servers, list answers, probes, services beside them.
//!
//! A server announces itself with a heartbeat, gets a challenge, echoes it in `infoResponse` and is listed
//! for 15 minutes. [`Master`] is a sans-I/O node for the Quake III family, Quake 4 and QuakeWorld on any number
//! of ports, which all answer everything.
//!
//! Invariants: a datagram costs constant time, a list request time for its answer; an unproven address
//! takes no memory beyond fixed tables; answers to unproven addresses exceed their requests only within a byte
//! budget; a reply keyword never causes a reply.
//! Source: public master servers of the five games, observed behavior and documentation.

mod answers;
mod authorization;
mod challenge;
mod console;
mod counters;
mod flood;
mod games;
mod hosts;
mod node;
mod options;
mod page;
mod registration;
mod registry;
mod services;
mod state;
mod wheel;

#[cfg(test)]
mod tests;

pub use authorization::{Answer, AuthorizationPolicy, AuthorizationRule};
pub use counters::MasterCounter;
pub use games::{GamePolicy, GamesError};
pub use node::Master;
pub use options::{
    ANSWER_BYTES_PER_SECOND, AddressMapping, FLOOD_PROTECTION, MAX_SERVERS,
    MAX_SERVERS_PER_ADDRESS, MappingError, MasterOptions, MotdRule, UpdateRule,
};
pub use page::{RowFilter, json, page};
pub use state::{ServerRow, StateError};

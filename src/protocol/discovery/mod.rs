//! Discovery packets of five games: servers, masters and browsers, in both directions.
//!
//! Each family of games has a mark and a module: [`quake3`](crate::wire::connectionless) with the additions in
//! [`services`], [`quake4`], [`quakeworld`]. [`MasterRequest`] is everything that a master receives,
//! [`ListPacket`] any list that a master sends, [`GAMES`] what differs from game to game.
//!
//! Invariants: readers borrow the datagram, allocate nothing and end after one pass, for any input; each
//! written packet is read back as the same value.
//! Source: documented and captured packets of the five games; golden packets
//! `tests/vectors/discovery_vectors.csv`.

mod games;
mod info;
mod list;
mod master_request;
pub mod quake4;
pub mod quakeworld;
pub mod services;

#[cfg(test)]
mod tests;

use thiserror::Error;

pub use games::{Family, GAMES, Game, HEARTBEAT_INTERVAL};
pub use info::{InfoText, MAX_INFO_PART, integer};
pub use list::{ListFormat, ListPacket};
pub use master_request::{MAX_MASTER_DATAGRAM, MasterRequest};

/// Reasons to drop a datagram of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DiscoveryError {
    /// Fewer bytes than any packet has.
    #[error("datagram too short: {0} bytes")]
    Short(usize),
    /// More bytes than any packet of its kind has.
    #[error("datagram too long: {0} bytes")]
    Long(usize),
    /// No mark of a known family of games.
    #[error("datagram without a known mark")]
    Mark,
    /// Command that the receiver does not have.
    #[error("unknown command")]
    Command,
    /// Required argument that is missing or invalid.
    #[error("{command}: missing or invalid {argument}")]
    Argument {
        /// Command.
        command: &'static str,
        /// Argument.
        argument: &'static str,
    },
}

/// Result of reading an untrusted datagram.
pub type Result<T> = std::result::Result<T, DiscoveryError>;

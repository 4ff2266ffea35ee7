//! A network in one thread under a virtual clock: nodes talk, datagrams are lost, doubled, delayed and
//! overtake each other as the seed says, and time passes as fast as the processor goes.
//!
//! Invariants: the same nodes, seed and faults give the same run, datagram for datagram; the clock moves
//! to the next arrival or frame and nowhere else.

mod actor;
mod network;
mod player;

pub use actor::Actor;
pub use network::{Network, NodeId};
pub use player::{Player, SeenView};

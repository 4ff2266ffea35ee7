//! A network in one thread under a virtual clock: nodes talk, datagrams are lost, doubled, delayed and
//! overtake each other as the seed says, and time passes as fast as the processor goes.
//!
//! Invariants: the same nodes, seed and faults give the same run, datagram for datagram; the clock moves
//! to the next arrival or frame and nowhere else. [`Trial`] is a server and players in drawn weather,
//! with all that must hold checked at every step.

mod actor;
mod bandwidth;
mod ears;
mod figures;
mod harm;
mod network;
mod player;
mod trial;
mod views;
mod weather;

pub use actor::Actor;
pub use ears::{Ears, Said};
pub use figures::{Failure, Figures};
pub use harm::{Harm, Harms};
pub use network::{Network, NodeId, Passage};
pub use player::Player;
pub use trial::{HEALING, Plan, SETTINGS, Trial};
pub use views::compare_views;
pub use weather::Weather;

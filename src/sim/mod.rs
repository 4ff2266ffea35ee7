//! A network in one thread under a virtual clock: nodes talk, datagrams are lost, doubled, delayed and
//! overtake each other as the seed says, and time passes as fast as the processor goes.
//!
//! Invariants: the same nodes, seed and faults give the same run, datagram for datagram; the clock moves
//! to the next arrival or frame and nowhere else. [`Trial`] is a server and players in drawn weather,
//! with all that must hold checked at every step.

mod actor;
mod command_order;
mod fault_rates;
mod faults;
mod network;
mod player;
mod rate_checker;
mod report;
mod snapshot_check;
mod trial;

pub use actor::Actor;
pub use command_order::{CommandOrderChecker, NumberedLine};
pub use fault_rates::FaultRates;
pub use faults::{Fault, FaultCounts};
pub use network::{Network, NodeId, SentDatagram};
pub use player::Player;
pub use report::{TrialReport, Violation};
pub use snapshot_check::check_snapshots;
pub use trial::{RECOVERY_LIMIT, SETTINGS, Trial, TrialOptions};

//! Deterministic simulation: nodes, network and clocks in one thread.
//!
//! Datagrams are lost, duplicated, delayed and reordered by a seeded generator. Virtual time passes as fast as
//! the processor allows. [`Trial`] is a server and players under injected faults, checked at every step.
//!
//! Invariants: the same nodes, seed and faults give the same run, datagram for datagram. The clock advances to
//! the next arrival or frame and to no other time.

mod actor;
mod command_order;
pub mod comparison;
mod fault_rates;
mod faults;
mod network;
mod player;
mod quakeworld;
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
pub use quakeworld::{QuakeWorldReport, QuakeWorldTrial, QuakeWorldTrialOptions};
pub use report::{TrialReport, Violation};
pub use snapshot_check::check_snapshots;
pub use trial::{RECOVERY_LIMIT, SETTINGS, Trial, TrialOptions};

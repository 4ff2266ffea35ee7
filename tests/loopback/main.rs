//! Attacks over the loopback interface, with sockets, threads and the kernel.
//!
//! The simulation proves the same in virtual time. Each attack is bounded in load and time. Three
//! players, one per protocol, play beside it and may miss nothing.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod costly;
mod course;
mod fixture;
mod floods;
mod forged;
mod neighbours;
mod overload;
mod proxied;
mod raw_client;
mod sched;

use fragd::testing::{costly_connects, sample_maps};

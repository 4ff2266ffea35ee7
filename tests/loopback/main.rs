//! Attacks over the loopback interface: what the simulation promises in its own time, with sockets,
//! threads and a kernel between. Each is bounded in load and time, and three players, one of each wire,
//! play beside it and may miss nothing.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod costly;
#[path = "../it/attacks/costly_connects.rs"]
mod costly_connects;
mod fixture;
mod floods;
mod forged;
mod neighbours;
mod overload;
mod raw_client;
#[path = "../../src/world/bsp/sample.rs"]
mod sample;
mod sched;

//! The public surface, tested from outside in one binary.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

mod bots;
mod client;
mod client_sessions;
mod connect_vectors;
mod connectionless;
mod discovery_vectors;
mod scripted_server;
mod snapshot_vectors;
mod vectors;

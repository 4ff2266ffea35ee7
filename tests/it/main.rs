//! The public surface, tested from outside in one binary.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

mod collision_vectors;
mod connect_vectors;
mod connectionless;
mod discovery_vectors;
mod hostile;
mod huffman_vectors;
mod maps;
mod message_vectors;
mod netchan_vectors;
mod session_vectors;
mod snapshot_vectors;
mod states;
mod vectors;
mod world_vectors;

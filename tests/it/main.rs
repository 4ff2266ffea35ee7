//! The public surface, tested from outside in one binary.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

mod netchan_vectors;
mod snapshot_vectors;
mod vectors;

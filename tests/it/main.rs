//! The public surface, tested from outside in one binary.

mod snapshot_vectors;
mod vectors;

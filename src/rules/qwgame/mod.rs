//! QuakeWorld game rules: player moves.
//!
//! Invariants: no clock and no random numbers; every result is the same on every machine and equal to that of a
//! client that predicts it.
//!
//! Source: QuakeWorld protocol 28.

pub mod movement;

//! QuakeWorld game rules: player moves, and levels with movers, triggers and players.
//!
//! A server drives a level by the trait [`QuakeWorldGame`], which other rules can implement too.
//!
//! Invariants: no clock and no random numbers; every result is the same on every machine. A move equals that of a
//! client that predicts it, bit for bit.
//!
//! Source: QuakeWorld protocol 28.

mod game;
pub mod level;
pub mod movement;

pub use game::{Cause, EntityView, GameEvent, Look, PlayerView, QuakeWorldGame};

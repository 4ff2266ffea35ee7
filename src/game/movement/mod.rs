//! The rules that turn a player state and a usercmd into the next player state, as the client's game
//! predicts them.
//!
//! Pure functions on plain values and a [`Surroundings`]. All arithmetic is single precision, one
//! rounding per operation, in the documented order, so that a client arrives at the same bits. What a
//! step does, in which order, is in `mover`; each kind of movement and each thing that goes with it is
//! one module beside it.
//!
//! Invariants: a command runs a bounded number of steps; nothing allocates; the state's command time
//! never goes back. Source: the base game's player movement, release 1.32, and OpenArena 0.8.8.

pub mod angles;
mod animation;
mod command;
pub mod events;
mod fly;
mod footsteps;
mod ground;
mod mover;
mod noclip;
mod pace;
pub mod pickup;
mod publish;
pub mod push;
mod rules;
mod slide;
mod stance;
mod surroundings;
mod torso;
pub mod trajectory;
pub mod velocity;
mod walk;
mod water;
mod weapons;

pub use command::{LONGEST_LAG_MS, LONGEST_STEP_MS};
pub use mover::{Conditions, Outcome, Touched, move_player};
pub use noclip::fly_through;
pub use pace::{Timely, timely};
pub use publish::{Publication, player_entity};
pub use rules::{Headroom, Rules, Settings, Variant};
pub use surroundings::{OpenSpace, Surroundings};
pub use velocity::{Acceleration, Length};

use mover::Mover;

/// Index of the health statistic, the same in every game.
const HEALTH: usize = 0;

fn set(flags: &mut i32, flag: i32, on: bool) {
    if on {
        *flags |= flag;
    } else {
        *flags &= !flag;
    }
}

#[cfg(test)]
mod tests;

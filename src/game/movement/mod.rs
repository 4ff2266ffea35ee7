//! Pmove: computes the next player state from a player state and a usercmd, as clients predict it.
//!
//! Pure functions on plain values and a [`PmoveWorld`]. All arithmetic is single precision, one
//! rounding per operation, in the documented order, so that a client arrives at the same bits. What a
//! step does, in which order, is in `pmove`; each kind of movement and each thing that goes with it is
//! one module beside it.
//!
//! Invariants: a command runs a bounded number of steps; nothing allocates; the state's command time
//! never goes back. Source: the base game's player movement, release 1.32, and OpenArena 0.8.8.

pub mod angles;
mod animation;
mod command;
mod command_time;
mod duck;
mod entity_state;
pub mod events;
mod fly;
mod footsteps;
mod ground;
mod noclip;
pub mod pickup;
mod pmove;
pub mod push;
mod rules;
mod slide;
mod surroundings;
mod torso;
pub mod trajectory;
pub mod velocity;
mod walk;
mod water;
mod weapons;

pub use command::{LONGEST_LAG_MS, LONGEST_STEP_MS};
pub use command_time::{ClampedCommand, clamp_command_time};
pub use entity_state::{Publication, player_entity};
pub use noclip::noclip_move;
pub use pmove::{PmoveInput, PmoveResult, TouchList, move_player};
pub use rules::{Headroom, PmoveRules, PmoveSettings, PmoveVariant};
pub use surroundings::{OpenSpace, PmoveWorld};
pub use velocity::{Acceleration, Length};

use pmove::Pmove;

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

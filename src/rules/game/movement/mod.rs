//! Pmove: player movement, computed from a player state and a usercmd as clients predict it.
//!
//! Pure functions on plain values and a [`PmoveWorld`]. All arithmetic is single precision, with one
//! rounding per operation and in the order of the engine, so that clients compute the same bits. Where
//! native game code computes in double precision, [`Arithmetic`] has both. The order of a sub-step is in
//! `pmove`; each kind of movement has its own module.
//!
//! Invariants: a usercmd runs a bounded number of sub-steps; nothing allocates; the command time never
//! decreases. Source: the base game's player movement, release 1.32, and OpenArena 0.8.8.

pub mod angles;
mod animation;
mod arithmetic;
mod command;
mod command_time;
mod duck;
mod entity_state;
pub mod events;
mod extrapolate;
mod fly;
mod footsteps;
mod ground;
pub mod impulses;
mod noclip;
pub mod pickup;
mod pmove;
mod pmove_world;
mod rules;
mod slide;
mod torso;
pub mod trajectory;
pub mod velocity;
mod walk;
mod water;
mod weapons;

pub use arithmetic::Arithmetic;
pub use command::{LONGEST_LAG_MS, LONGEST_STEP_MS};
pub use command_time::{ClampedCommand, clamp_command_time};
pub use entity_state::{EntityStateOptions, player_entity};
pub use extrapolate::{Extrapolation, extrapolate};
pub use noclip::noclip_move;
pub use pmove::{PmoveInput, PmoveResult, TouchList, move_player};
pub use pmove_world::{OpenSpace, PmoveWorld};
pub use rules::{Headroom, PmoveRules, PmoveSettings, PmoveVariant};
pub use velocity::{Acceleration, Length};

use pmove::Pmove;

/// Index of the health stat, the same in every game.
pub(in crate::game) const HEALTH: usize = 0;
/// Health at or below which a body is gibbed.
pub(in crate::game) const GIB_HEALTH: i32 = -40;
/// Minimum health.
pub(in crate::game) const LEAST_HEALTH: i32 = -999;

fn set(flags: &mut i32, flag: i32, on: bool) {
    if on {
        *flags |= flag;
    } else {
        *flags &= !flag;
    }
}

#[cfg(test)]
mod tests;

//! Frames of the player model, by speed, life and level time.

use super::super::movement::{MoveKind, MoveState};

/// Frames of running and of standing: first and count.
const RUN: (u8, u8) = (6, 6);
const STAND: (u8, u8) = (12, 5);
/// Last frame of a death.
const DEAD: u8 = 60;
/// Frames per second.
const RATE: f64 = 10.0;
/// Flat speed from which a player runs, in units per second.
const RUN_SPEED: f32 = 10.0;

/// Returns the frame of a player at a level time, in seconds.
pub(super) fn player_frame(state: &MoveState, seconds: f64) -> u8 {
    if state.kind == MoveKind::Dead {
        return DEAD;
    }
    let [x, y, _] = state.velocity.0;
    let (first, count) = if x * x + y * y > RUN_SPEED * RUN_SPEED { RUN } else { STAND };
    first + ((seconds * RATE) as u64 % u64::from(count)) as u8
}

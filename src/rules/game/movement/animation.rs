//! Animation of legs and torso (`PM_StartLegsAnim`).
//!
//! Every start flips a toggle bit, so that clients can see the same animation start again. A running
//! timer blocks replacement. Source: the base game's movement.

use crate::bg::{PmType, animation::TOGGLE};
use crate::model::PlayerState;

/// Returns the animation number without the toggle bit.
const fn shown(animation: i32) -> i32 {
    animation & !TOGGLE
}

/// Returns the animation with the toggle bit opposite to that of `old`.
const fn restarted(old: i32, animation: i32) -> i32 {
    (old & TOGGLE ^ TOGGLE) | animation
}

fn is_still(state: &PlayerState) -> bool {
    state.pm_type >= PmType::Dead as i32
}

/// Starts a torso animation, even while the torso timer runs.
pub(super) fn start_torso(state: &mut PlayerState, animation: i32) {
    if !is_still(state) {
        state.torso_anim = restarted(state.torso_anim, animation);
    }
}

/// Starts a leg animation, unless the leg timer runs.
pub(super) fn start_legs(state: &mut PlayerState, animation: i32) {
    if !is_still(state) && state.legs_timer <= 0 {
        state.legs_anim = restarted(state.legs_anim, animation);
    }
}

/// Starts a torso animation if another one is active and the torso timer does not run.
pub(super) fn continue_torso(state: &mut PlayerState, animation: i32) {
    if shown(state.torso_anim) != animation && state.torso_timer <= 0 {
        start_torso(state, animation);
    }
}

/// Starts a leg animation if another one is active and the leg timer does not run.
pub(super) fn continue_legs(state: &mut PlayerState, animation: i32) {
    if shown(state.legs_anim) != animation && state.legs_timer <= 0 {
        start_legs(state, animation);
    }
}

/// Starts a leg animation and clears the leg timer.
pub(super) fn force_legs(state: &mut PlayerState, animation: i32) {
    state.legs_timer = 0;
    start_legs(state, animation);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bg::animation::{LEGS_IDLE, LEGS_JUMP, LEGS_LAND, TORSO_ATTACK};

    #[test]
    fn animation_start_flips_toggle_bit() {
        let mut state = PlayerState::default();
        start_torso(&mut state, TORSO_ATTACK);
        assert_eq!(state.torso_anim, TORSO_ATTACK | TOGGLE);
        start_torso(&mut state, TORSO_ATTACK);
        assert_eq!(state.torso_anim, TORSO_ATTACK);
        continue_torso(&mut state, TORSO_ATTACK);
        assert_eq!(state.torso_anim, TORSO_ATTACK);
    }

    #[test]
    fn leg_animation_finishes_unless_forced() {
        let mut state = PlayerState { legs_timer: 10, legs_anim: LEGS_LAND, ..Default::default() };
        continue_legs(&mut state, LEGS_IDLE);
        start_legs(&mut state, LEGS_IDLE);
        assert_eq!(state.legs_anim, LEGS_LAND);
        force_legs(&mut state, LEGS_JUMP);
        assert_eq!((state.legs_anim, state.legs_timer), (LEGS_JUMP | TOGGLE, 0));
    }

    #[test]
    fn dead_player_starts_no_animation() {
        let mut state = PlayerState { pm_type: PmType::Dead as i32, ..PlayerState::default() };
        force_legs(&mut state, LEGS_JUMP);
        start_torso(&mut state, TORSO_ATTACK);
        assert_eq!((state.legs_anim, state.torso_anim), (0, 0));
    }
}

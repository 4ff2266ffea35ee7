//! Animation of legs and torso (`PM_StartLegsAnim`).
//!
//! A toggle bit flips with every start, so that clients see one animation start twice; timers keep one
//! from being replaced. Source: the base game's movement.

use crate::bg::{PmType, animation::TOGGLE};
use crate::model::PlayerState;

/// The animation without its toggle bit.
const fn shown(animation: i32) -> i32 {
    animation & !TOGGLE
}

/// What `old` becomes when `animation` starts.
const fn restarted(old: i32, animation: i32) -> i32 {
    (old & TOGGLE ^ TOGGLE) | animation
}

fn is_still(state: &PlayerState) -> bool {
    state.pm_type >= PmType::Dead as i32
}

/// Starts an animation of the torso, whatever its timer says.
pub(super) fn start_torso(state: &mut PlayerState, animation: i32) {
    if !is_still(state) {
        state.torso_anim = restarted(state.torso_anim, animation);
    }
}

/// Starts an animation of the legs unless the present one has to end first.
pub(super) fn start_legs(state: &mut PlayerState, animation: i32) {
    if !is_still(state) && state.legs_timer <= 0 {
        state.legs_anim = restarted(state.legs_anim, animation);
    }
}

/// Shows an animation of the torso, starting it if another was shown.
pub(super) fn continue_torso(state: &mut PlayerState, animation: i32) {
    if shown(state.torso_anim) != animation && state.torso_timer <= 0 {
        start_torso(state, animation);
    }
}

/// Shows an animation of the legs, starting it if another was shown.
pub(super) fn continue_legs(state: &mut PlayerState, animation: i32) {
    if shown(state.legs_anim) != animation && state.legs_timer <= 0 {
        start_legs(state, animation);
    }
}

/// Starts an animation of the legs now.
pub(super) fn force_legs(state: &mut PlayerState, animation: i32) {
    state.legs_timer = 0;
    start_legs(state, animation);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bg::animation::{LEGS_IDLE, LEGS_JUMP, LEGS_LAND, TORSO_ATTACK};

    #[test]
    fn every_start_flips_the_toggle() {
        let mut state = PlayerState::default();
        start_torso(&mut state, TORSO_ATTACK);
        assert_eq!(state.torso_anim, TORSO_ATTACK | TOGGLE);
        start_torso(&mut state, TORSO_ATTACK);
        assert_eq!(state.torso_anim, TORSO_ATTACK);
        continue_torso(&mut state, TORSO_ATTACK);
        assert_eq!(state.torso_anim, TORSO_ATTACK);
    }

    #[test]
    fn legs_finish_what_they_do_unless_forced() {
        let mut state = PlayerState { legs_timer: 10, legs_anim: LEGS_LAND, ..Default::default() };
        continue_legs(&mut state, LEGS_IDLE);
        start_legs(&mut state, LEGS_IDLE);
        assert_eq!(state.legs_anim, LEGS_LAND);
        force_legs(&mut state, LEGS_JUMP);
        assert_eq!((state.legs_anim, state.legs_timer), (LEGS_JUMP | TOGGLE, 0));
    }

    #[test]
    fn the_dead_keep_lying() {
        let mut state = PlayerState { pm_type: PmType::Dead as i32, ..PlayerState::default() };
        force_legs(&mut state, LEGS_JUMP);
        start_torso(&mut state, TORSO_ATTACK);
        assert_eq!((state.legs_anim, state.torso_anim), (0, 0));
    }
}

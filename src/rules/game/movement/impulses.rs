//! Impulses: jump pads, teleporters and knockback.
//!
//! Clients predict jump pads only. Source: the base game's triggers and combat.

use super::{
    Arithmetic, angles,
    events::queue,
    velocity::{Length, normalized},
};
use crate::bg::{Event, PmType, Powerup, entity_flag, pm_flag};
use crate::model::{PlayerState, UserCmd, Vec3};

/// Pitch from which on a jump pad uses the sound of steep pads, in degrees.
const STEEP: f32 = 45.0;
/// Exit speed of a teleporter, in units per second.
const EXIT_SPEED: f32 = 400.0;
/// Movement timer after a teleport, in ms.
const EXIT_MS: i32 = 160;
/// Mass of a player; knockback is divided by it.
const MASS: f32 = 200.0;
/// Minimum and maximum of the knockback timer, in ms.
const KNOCKBACK_MS: (i32, i32) = (50, 200);

/// Touches jump pad `pad` (an entity number), which sets `velocity`. The sound is played once per contact.
pub fn touch_jump_pad(state: &mut PlayerState, pad: i32, velocity: Vec3) {
    if state.pm_type != PmType::Normal || state.powerups[Powerup::Flight] != 0 {
        return;
    }
    if state.jumppad_ent != pad {
        let pitch = angles::normalized_180(angles::of_direction(velocity)[0]);
        queue(state, Event::JumpPad, i32::from(pitch.abs() >= STEEP));
    }
    state.jumppad_ent = pad;
    state.jumppad_frame = state.pmove_framecount;
    state.velocity = velocity;
}

/// Clears the jump pad if the last usercmd did not touch it. Call it after all triggers.
pub fn leave_jump_pad(state: &mut PlayerState) {
    if state.jumppad_frame != state.pmove_framecount {
        state.jumppad_frame = 0;
        state.jumppad_ent = 0;
    }
}

/// Returns the launch velocity of a jump pad from `center` to `target`, the apex of the arc. `None` if
/// the target is not above the pad or gravity is zero. `length` is that of the pmove variant.
#[must_use]
pub fn pad_velocity(center: Vec3, target: Vec3, gravity: f32, length: Length) -> Option<Vec3> {
    let height = target[2] - center[2];
    let time = (height / (0.5 * gravity)).sqrt();
    if !time.is_finite() || time <= 0.0 {
        return None;
    }
    let mut way = target - center;
    way[2] = 0.0;
    let (direction, distance) = normalized(way, length, Arithmetic::Bytecode);
    let mut velocity = direction * (distance / time);
    velocity[2] = time * gravity;
    Some(velocity)
}

/// Teleports a player with exit speed along the angles `view`. `last` is the client's last usercmd.
pub fn teleport(state: &mut PlayerState, origin: Vec3, view: Vec3, last: &UserCmd) {
    state.origin = origin;
    state.origin[2] += 1.0;
    state.velocity = angles::axes(view).forward * EXIT_SPEED;
    state.pm_time = EXIT_MS;
    state.pm_flags |= pm_flag::TIME_KNOCKBACK;
    state.e_flags ^= entity_flag::TELEPORT;
    angles::look(state, view, last);
}

/// Adds the knockback of `points` damage along a unit direction. `knockback` is the setting
/// `g_knockback`.
pub fn knock_back(state: &mut PlayerState, direction: Vec3, points: i32, knockback: f32) {
    let speed = knockback * points as f32 / MASS;
    state.velocity = state.velocity.add_scaled(direction, speed);
    if state.pm_time == 0 {
        state.pm_time = points.saturating_mul(2).clamp(KNOCKBACK_MS.0, KNOCKBACK_MS.1);
        state.pm_flags |= pm_flag::TIME_KNOCKBACK;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jump_pad_reaches_height_of_target() {
        let center = Vec3::new(10.0, 0.0, 0.0);
        let v = pad_velocity(center, Vec3::new(410.0, 0.0, 400.0), 800.0, Length::Root)
            .expect("it throws");
        // √(400 / 400) = 1 s up at 800.
        assert_eq!(v, Vec3::new(400.0, 0.0, 800.0));
        for (target, gravity) in
            [(Vec3::ZERO, 800.0), (Vec3::new(0.0, 0.0, -9.0), 800.0), (Vec3([0.0, 0.0, 9.0]), 0.0)]
        {
            assert_eq!(
                pad_velocity(Vec3::ZERO, target, gravity, Length::Root),
                None,
                "{target:?} {gravity}"
            );
        }
    }

    #[test]
    fn jump_pad_is_cleared_one_usercmd_later() {
        let mut state = PlayerState { pmove_framecount: 9, ..PlayerState::default() };
        touch_jump_pad(&mut state, 70, Vec3::new(0.0, 0.0, 500.0));
        touch_jump_pad(&mut state, 70, Vec3::new(0.0, 0.0, 500.0));
        leave_jump_pad(&mut state);
        assert_eq!((state.event_sequence, state.event_parms[0], state.jumppad_ent), (1, 1, 70));
        state.pmove_framecount = 10;
        leave_jump_pad(&mut state);
        assert_eq!((state.jumppad_ent, state.jumppad_frame), (0, 0));
    }

    #[test]
    fn teleport_sets_angles_and_exit_speed() {
        let mut state = PlayerState::default();
        let last = UserCmd { angles: [0, 100, 0], ..UserCmd::default() };
        teleport(&mut state, Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 90.0, 0.0), &last);
        assert_eq!(state.origin, Vec3::new(1.0, 2.0, 4.0));
        assert_eq!((state.velocity[1], state.delta_angles[1]), (400.0, 16_384 - 100));
        assert_eq!((state.e_flags, state.pm_time), (entity_flag::TELEPORT, 160));
    }

    #[test]
    fn knockback_adds_velocity_and_starts_timer() {
        let mut state = PlayerState::default();
        knock_back(&mut state, Vec3::new(0.0, 1.0, 0.0), 100, 1000.0);
        assert_eq!((state.velocity[1], state.pm_time), (500.0, 200));
        state.pm_time = 7;
        knock_back(&mut state, Vec3::new(0.0, 1.0, 0.0), 1, 1000.0);
        assert_eq!(state.pm_time, 7);
    }
}

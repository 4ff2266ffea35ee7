//! Impulses: jump pads, teleporters and knockback.
//!
//! Clients predict jump pads, and nothing else of this. Source: the base game's triggers and combat.

use super::{angles, events::queue, velocity::direction};
use crate::bg::{Event, PmType, Powerup, entity_flag, pm_flag};
use crate::model::{PlayerState, UserCmd, Vec3};

/// Steepness, in degrees, from which on a pad sounds like one that throws upward.
const STEEP: f32 = 45.0;
/// Speed at which a teleporter spits players out, units per second, and how long they then keep it.
const EXIT_SPEED: f32 = 400.0;
const EXIT_MS: i32 = 160;
/// What a hit's knockback is divided by: the mass of a player.
const MASS: f32 = 200.0;
/// Limits of how long a hit player slips, in milliseconds.
const SLIP_MS: (i32, i32) = (50, 200);

/// Touches jump pad `pad` (an entity number), which throws at `velocity`. Heard once per contact.
pub fn touch_jump_pad(state: &mut PlayerState, pad: i32, velocity: Vec3) {
    if state.pm_type != PmType::Normal || state.powerups[Powerup::Flight] != 0 {
        return;
    }
    if state.jumppad_ent != pad {
        let pitch = angles::normalised_180(angles::of_direction(velocity)[0]);
        queue(state, Event::JumpPad, i32::from(pitch.abs() >= STEEP));
    }
    state.jumppad_ent = pad;
    state.jumppad_frame = state.pmove_framecount;
    state.velocity = velocity;
}

/// Forgets the pad that the last command did not touch. To be called after all triggers were handled.
pub fn leave_jump_pad(state: &mut PlayerState) {
    if state.jumppad_frame != state.pmove_framecount {
        state.jumppad_frame = 0;
        state.jumppad_ent = 0;
    }
}

/// The velocity at which a pad throws from `center` to `target`: the target is the top of the arc. None
/// where the target is not above the pad, or there is no gravity: such a pad cannot throw.
#[must_use]
pub fn pad_velocity(center: Vec3, target: Vec3, gravity: f32) -> Option<Vec3> {
    let height = target[2] - center[2];
    let time = (height / (0.5 * gravity)).sqrt();
    if !time.is_finite() || time <= 0.0 {
        return None;
    }
    let mut way = target - center;
    way[2] = 0.0;
    let speed = way.length() / time;
    let mut velocity = direction(way) * speed;
    velocity[2] = time * gravity;
    Some(velocity)
}

/// Puts a player elsewhere, looking along `view` and thrown that way. `last` is the client's last
/// command.
pub fn teleport(state: &mut PlayerState, origin: Vec3, view: Vec3, last: &UserCmd) {
    state.origin = origin;
    state.origin[2] += 1.0;
    state.velocity = angles::axes(view).forward * EXIT_SPEED;
    state.pm_time = EXIT_MS;
    state.pm_flags |= pm_flag::TIME_KNOCKBACK;
    state.e_flags ^= entity_flag::TELEPORT;
    angles::look(state, view, last);
}

/// Pushes a player who was hit for `points` along a direction of length 1. `knockback` is the setting
/// `g_knockback`.
pub fn knock_back(state: &mut PlayerState, direction: Vec3, points: i32, knockback: f32) {
    let speed = knockback * points as f32 / MASS;
    state.velocity = state.velocity.add_scaled(direction, speed);
    if state.pm_time == 0 {
        state.pm_time = points.saturating_mul(2).clamp(SLIP_MS.0, SLIP_MS.1);
        state.pm_flags |= pm_flag::TIME_KNOCKBACK;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pad_throws_to_its_targets_height() {
        let center = Vec3::new(10.0, 0.0, 0.0);
        let v = pad_velocity(center, Vec3::new(410.0, 0.0, 400.0), 800.0).expect("it throws");
        // √(400 / 400) = 1 s up at 800.
        assert_eq!(v, Vec3::new(400.0, 0.0, 800.0));
        for (target, gravity) in
            [(Vec3::ZERO, 800.0), (Vec3::new(0.0, 0.0, -9.0), 800.0), (Vec3([0.0, 0.0, 9.0]), 0.0)]
        {
            assert_eq!(pad_velocity(Vec3::ZERO, target, gravity), None, "{target:?} {gravity}");
        }
    }

    #[test]
    fn a_pad_is_forgotten_a_command_later() {
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
    fn teleporters_turn_and_throw() {
        let mut state = PlayerState::default();
        let last = UserCmd { angles: [0, 100, 0], ..UserCmd::default() };
        teleport(&mut state, Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 90.0, 0.0), &last);
        assert_eq!(state.origin, Vec3::new(1.0, 2.0, 4.0));
        assert_eq!((state.velocity[1], state.delta_angles[1]), (400.0, 16_384 - 100));
        assert_eq!((state.e_flags, state.pm_time), (entity_flag::TELEPORT, 160));
    }

    #[test]
    fn hits_push_and_make_slip_for_a_while() {
        let mut state = PlayerState::default();
        knock_back(&mut state, Vec3::new(0.0, 1.0, 0.0), 100, 1000.0);
        assert_eq!((state.velocity[1], state.pm_time), (500.0, 200));
        state.pm_time = 7;
        knock_back(&mut state, Vec3::new(0.0, 1.0, 0.0), 1, 1000.0);
        assert_eq!(state.pm_time, 7);
    }
}

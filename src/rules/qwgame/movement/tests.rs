//! Tests of moves: limits of commands, culling, hostile numbers.

// Compiled once for all cases.
#[cfg(test)]
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::bsp29::{Bsp29, compiler::fragqw1};
use crate::model::Millis;

static MAP: LazyLock<Bsp29> = LazyLock::new(|| Bsp29::load(&fragqw1()).expect("own map"));

fn parts(msec: u8) -> Vec<(u8, bool)> {
    let mut parts = Vec::new();
    let command = MoveCommand { msec, ..MoveCommand::default() };
    command.for_each_part(&mut |part: MoveCommand, is_first| parts.push((part.msec, is_first)));
    parts
}

#[test]
fn long_command_runs_in_halves() {
    assert_eq!(parts(50), [(50, true)]);
    assert_eq!(parts(51), [(25, true), (25, false)]);
    // 255, 127 twice, 63 four times, 31 eight times.
    assert_eq!(parts(255), [vec![(31, true)], vec![(31, false); 7]].concat());
}

#[test]
fn commands_do_not_outrun_the_clock() {
    let mut check = SpeedCheck::new(Millis(1000));
    let command = MoveCommand { msec: 200, ..MoveCommand::default() };
    let allowed: Vec<_> = (0..4).map(|_| check.allowed(Millis(1000), command).msec).collect();
    assert_eq!(allowed, [200, 200, 100, 0]);
    assert_eq!(check.allowed(Millis(1030), command).msec, 30);
    // A pause saves half a second, and a clock that goes back saves nothing.
    assert_eq!(check.allowed(Millis(60_000), command).msec, 200);
    let rest: u32 = (0..4).map(|_| u32::from(check.allowed(Millis(5), command).msec)).sum();
    assert_eq!(rest, 300);
}

#[test]
fn move_of_dead_player_falls_without_control() {
    let scene = Scene { map: &MAP, entities: &[] };
    let mut state = MoveState {
        origin: Vec3::new(-64.0, 64.0, 100.0),
        kind: MoveKind::Dead,
        ..MoveState::default()
    };
    let command = MoveCommand {
        moves: [400, 0, 0],
        buttons: BUTTON_JUMP,
        msec: 50,
        ..MoveCommand::default()
    };
    for _ in 0..30 {
        let _ = player_move(&scene, &MoveVars::default(), &mut state, &command);
    }
    assert_eq!(state.origin, Vec3::new(-64.0, 64.0, 24.03125));
    assert!(state.on_ground && state.jump_held);
}

/// A move from a place near entities that may overlap.
fn state() -> impl Strategy<Value = MoveState> {
    let origin = (-500.0_f32..740.0, -370.0_f32..370.0, -100.0_f32..230.0);
    let velocity = (-900.0_f32..900.0, -900.0_f32..900.0, -900.0_f32..400.0);
    (origin, velocity, 0..3_usize).prop_map(|(origin, velocity, kind)| MoveState {
        origin: Vec3::new(origin.0, origin.1, origin.2),
        velocity: Vec3::new(velocity.0, velocity.1, velocity.2),
        kind: [MoveKind::Normal, MoveKind::Fly, MoveKind::Dead][kind],
        ..MoveState::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn move_stays_finite_and_out_of_solid(
        mut state in state(),
        yaw: i16,
        moves in prop::array::uniform3(-500..500_i16),
        buttons in 0..4_u8,
        offset in -40.0_f32..40.0,
    ) {
        let near = state.origin + Vec3::new(offset, 50.0, -offset);
        let entities = [SolidEntity::model(1, Vec3::new(0.0, 0.0, offset)), SolidEntity::player(near)];
        let scene = Scene { map: &MAP, entities: &entities };
        let command = MoveCommand { angles: [0, yaw, 0], moves, buttons, msec: 30 };
        let was_free = scene.has_room(state.origin);
        for _ in 0..10 {
            let _ = player_move(&scene, &MoveVars::default(), &mut state, &command);
            prop_assert!(state.origin.is_finite() && state.velocity.is_finite());
            if was_free {
                // The next move corrects a place that rounding left in solid.
                let mut next = state;
                let still = MoveCommand::default();
                let _ = player_move(&scene, &MoveVars::default(), &mut next, &still);
                prop_assert!(scene.has_room(next.origin), "{state:?}");
                prop_assert!((next.origin - state.origin).length() < 1.2, "{state:?}");
            }
        }
    }

    #[test]
    fn far_entities_do_not_change_a_move(mut state in state(), yaw: i16, buttons in 0..4_u8) {
        let command = MoveCommand { angles: [0, yaw, 0], moves: [400, 0, 0], buttons, msec: 30 };
        let far = Vec3::new(0.0, 0.0, 2000.0);
        let entities = [SolidEntity::model(2, far), SolidEntity::player(state.origin + far)];
        let mut other = state;
        let near = Scene { map: &MAP, entities: &[] };
        let with_far = Scene { map: &MAP, entities: &entities };
        let first = player_move(&near, &MoveVars::default(), &mut state, &command);
        let second = player_move(&with_far, &MoveVars::default(), &mut other, &command);
        prop_assert_eq!((first, state), (second, other));
    }

    #[test]
    fn crowd_in_reach_is_the_whole_crowd(
        mut state in state(),
        yaw: i16,
        moves in prop::array::uniform3(-500..500_i16),
        buttons in 0..4_u8,
        msec in 1..=50_u8,
        crowd in prop::collection::vec(prop::array::uniform3(-180.0_f32..180.0), 40),
    ) {
        let player = |offset: [f32; 3]| SolidEntity::player(state.origin + Vec3(offset));
        let mut entities: Vec<_> = crowd.into_iter().map(player).collect();
        entities.insert(7, SolidEntity::model(1, Vec3::new(0.0, 0.0, 12.0)));
        let scene = Scene { map: &MAP, entities: &entities };
        let command = MoveCommand { angles: [0, yaw, 0], moves, buttons, msec };
        let vars = MoveVars::default();
        for _ in 0..4 {
            let mut other = state;
            let first = player_move(&scene, &vars, &mut state, &command);
            let seconds = (f64::from(msec) * 0.001) as f32;
            let second = move_among(Nearby::all(&scene), &vars, &mut other, &command, seconds);
            prop_assert_eq!((first, state), (second, other));
        }
    }

    #[test]
    fn hostile_numbers_end_a_move(bits in prop::array::uniform6(any::<u32>()), msec: u8) {
        let [a, b, c, d, e, f] = bits.map(f32::from_bits);
        let entities = [SolidEntity::model(99, Vec3::new(d, e, f)), SolidEntity::player(Vec3::new(f, a, b))];
        let scene = Scene { map: &MAP, entities: &entities };
        for kind in [MoveKind::Normal, MoveKind::Fly, MoveKind::OldSpectator, MoveKind::Locked] {
            let (origin, velocity) = (Vec3::new(a, b, c), Vec3::new(d, e, f));
            let mut state = MoveState { origin, velocity, kind, ..MoveState::default() };
            let command = MoveCommand { msec, ..MoveCommand::default() };
            let _ = player_move(&scene, &MoveVars::default(), &mut state, &command);
        }
    }
}

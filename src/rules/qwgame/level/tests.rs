//! Tests of levels: movers, triggers, damage, spawns.

// Compiled once for all cases.
#[cfg(test)]
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::*;
use crate::bsp29::compiler::fragqw1;
use crate::qwgame::movement::{BUTTON_JUMP, MoveKind};
use crate::qwgame::{Cause, GameEvent, QuakeWorldGame};

static MAP: LazyLock<Arc<Bsp29>> =
    LazyLock::new(|| Arc::new(Bsp29::load(&fragqw1()).expect("own map")));

/// Length of a frame and of a command.
const MSEC: u8 = 13;

fn level() -> Level {
    Level::new("maps/fragqw1.bsp", MAP.clone(), MoveVars::default()).expect("level")
}

/// A level with one player at a place.
fn with_player(origin: Vec3) -> Level {
    let mut level = level();
    level.begin(0, false);
    level.place_for_test(0, origin);
    while level.poll_event().is_some() {}
    level
}

impl Level {
    fn place_for_test(&mut self, slot: usize, origin: Vec3) {
        if let Some(player) = &mut self.players[slot] {
            player.state.origin = origin;
        }
    }
}

fn run(level: &mut Level, seconds: f32, command: MoveCommand) {
    let frames = (seconds * 1000.0 / f32::from(MSEC)) as usize;
    for _ in 0..frames {
        level.run_command(0, &MoveCommand { msec: MSEC, ..command }, 0);
        level.advance(f32::from(MSEC) * 0.001);
    }
}

fn events(level: &mut Level) -> Vec<GameEvent> {
    std::iter::from_fn(|| level.poll_event()).collect()
}

fn z(level: &Level) -> f32 {
    level.player(0).expect("player").state.origin[2]
}

/// Distances by which the next move corrects a place that rounding left in solid.
fn nudges() -> impl Iterator<Item = Vec3> {
    let steps = [0.0, -0.125, 0.125];
    let all = move |part: usize| steps[part % 3];
    (0..27).map(move |n| Vec3::new(all(n), all(n / 3), all(n / 9)))
}

#[test]
fn lift_carries_player_up_and_down() {
    let mut level = with_player(Vec3::new(700.0, 320.0, 40.5));
    let heights: Vec<f32> = (0..100)
        .map(|_| {
            run(&mut level, 0.1, MoveCommand::default());
            z(&level)
        })
        .collect();
    let highest = heights.iter().copied().fold(0.0, f32::max);
    assert!((highest - 152.0).abs() < 0.1, "{highest}");
    assert!(heights.iter().any(|height| (100.0..140.0).contains(height)));
    // Two seconds up, two pauses of two seconds, two seconds down.
    assert!(heights[60..].iter().any(|height| (height - 40.0).abs() < 0.1), "{heights:?}");
    assert!(level.player(0).expect("player").health == START_HEALTH);
}

#[test]
fn blocked_door_hurts_player_and_stays_above() {
    let mut level = with_player(Vec3::new(-64.0, 64.0, 33.0));
    // The door is open after a second, for four.
    for _ in 0..30 {
        level.advance(0.05);
    }
    let mut lowest = f32::INFINITY;
    for _ in 0..120 {
        level.place_for_test(0, Vec3::new(128.0, 0.0, 24.1));
        level.advance(0.05);
        if level.movers()[1].velocity[2] < 0.0 {
            lowest = lowest.min(level.movers()[1].offset[2]);
        }
    }
    // The top of the player is at 56.1; a step of the door is 5.6 units.
    assert!((56.0..62.0).contains(&lowest), "{lowest}");
    let hurts = events(&mut level);
    let hurts = hurts.iter().filter(|event| {
        matches!(event, GameEvent::Hurt { slot: 0, damage: 2, cause: Cause::Crushed })
    });
    assert!(hurts.count() >= 1);
}

#[test]
fn teleporter_moves_player_to_platform() {
    let mut level = with_player(Vec3::new(330.0, 320.0, 152.1));
    // West.
    run(
        &mut level,
        0.5,
        MoveCommand { angles: [0, i16::MIN, 0], moves: [320, 0, 0], ..MoveCommand::default() },
    );
    let origin = level.player(0).expect("player").state.origin;
    assert!(origin[0] < -440.0 && origin[2] > 100.0, "{origin:?}");
    let events = events(&mut level);
    assert!(matches!(events[0], GameEvent::Vanished { .. }), "{events:?}");
    assert!(matches!(events[1], GameEvent::Appeared { slot: 0, .. }), "{events:?}");
}

#[test]
fn jump_pad_throws_player_to_its_speed() {
    let mut level = with_player(Vec3::new(704.0, -320.0, 24.1));
    run(&mut level, 0.1, MoveCommand::default());
    assert!(level.player(0).expect("player").state.velocity[2] > 400.0);
}

#[test]
fn lava_kills_player_who_respawns_on_button() {
    let mut level = with_player(Vec3::new(384.0, -256.0, -39.0));
    run(&mut level, 2.0, MoveCommand::default());
    let player = level.player(0).expect("player");
    assert_eq!((player.state.kind, player.frags), (MoveKind::Dead, -1));
    let events = events(&mut level);
    assert!(events.contains(&GameEvent::Died { slot: 0, cause: Cause::Lava }), "{events:?}");
    run(&mut level, 0.1, MoveCommand { buttons: BUTTON_JUMP, ..MoveCommand::default() });
    let player = level.player(0).expect("player");
    assert_eq!((player.state.kind, player.health, player.frags), (MoveKind::Normal, 100, -1));
}

#[test]
fn held_button_does_not_respawn() {
    let mut level = with_player(Vec3::new(-64.0, 64.0, 33.0));
    level.kill(0);
    run(&mut level, 0.5, MoveCommand { buttons: BUTTON_JUMP, ..MoveCommand::default() });
    let player = level.player(0).expect("player");
    assert_eq!((player.state.kind, player.frags), (MoveKind::Dead, -2));
}

#[test]
fn dead_player_waits_before_the_respawn() {
    let mut level = with_player(Vec3::new(-64.0, 64.0, 33.0));
    level.kill(0);
    let died_at = level.seconds;
    while level.player(0).expect("player").health <= 0 {
        run(&mut level, 0.02, MoveCommand::default());
        run(&mut level, 0.02, MoveCommand { buttons: BUTTON_JUMP, ..MoveCommand::default() });
        assert!(level.seconds < died_at + 2.0, "no respawn");
    }
    let passed = level.seconds - died_at;
    assert!((0.6..0.7).contains(&passed), "{passed}");
}

#[test]
fn spawn_without_free_place_spares_others() {
    let mut level = level();
    let count = level.spots.len();
    for slot in 0..count {
        level.begin(slot, false);
        // Near each spawn point, but not in its place.
        level.place_for_test(slot, level.spots[slot].origin + Vec3::new(40.0, 0.0, 0.0));
    }
    level.begin(count, false);
    assert!((0..=count).all(|slot| level.player(slot).is_some_and(|player| player.health > 0)));
}

#[test]
fn diver_drowns_after_twelve_seconds() {
    let mut level = with_player(Vec3::new(-420.0, -200.0, -90.0));
    run(&mut level, 11.5, MoveCommand::default());
    assert_eq!(level.player(0).expect("player").health, 100);
    run(&mut level, 3.0, MoveCommand::default());
    let health = level.player(0).expect("player").health;
    assert!((80..100).contains(&health), "{health}");
}

#[test]
fn telefrag_kills_and_scores() {
    let mut level = level();
    level.begin(0, false);
    level.begin(1, false);
    let spot = level.spots[level.next_spot].origin;
    // Every other spawn point is occupied too, so that the next one is taken.
    level.spots.truncate(level.next_spot + 1);
    level.place_for_test(0, spot);
    level.spots = vec![level.spots[level.next_spot]];
    level.next_spot = 0;
    level.begin(2, false);
    assert_eq!(level.player(0).expect("player").health, 0);
    assert_eq!(level.player(2).expect("player").frags, 1);
}

#[test]
fn views_number_models_from_the_map() {
    let mut level = level();
    level.begin(3, false);
    let names: Vec<_> = level.models().iter().map(|name| &**name).collect();
    assert_eq!(names, ["maps/fragqw1.bsp", "*1", "*2", "*3", "*4", "progs/player.mdl"]);
    let player = level.player(3).expect("player");
    assert_eq!((player.look.model, player.look.colormap, player.view_height), (6, 4, 22.0));
    let mut views = Vec::new();
    level.entities(&mut views);
    let numbers: Vec<_> = views.iter().map(|view| (view.number, view.look.model)).collect();
    assert_eq!(numbers, [(33, 2), (34, 3)]);
    assert_eq!(views[1].map_model, Some(2));
}

#[test]
fn players_spawn_apart() {
    let mut level = level();
    for slot in 0..12 {
        level.begin(slot, false);
    }
    let origins: Vec<_> =
        (0..12).map(|slot| level.player(slot).expect("player").state.origin).collect();
    for (index, origin) in origins.iter().enumerate() {
        assert!(origins[..index].iter().all(|other| (*other - *origin).length() > 80.0));
    }
}

#[test]
fn spectator_passes_walls_and_triggers_nothing() {
    let mut level = level();
    level.begin(0, true);
    level.place_for_test(0, Vec3::new(384.0, -256.0, -39.0));
    run(&mut level, 1.0, MoveCommand { moves: [400, 0, 0], ..MoveCommand::default() });
    let player = level.player(0).expect("spectator");
    assert_eq!((player.health, player.is_solid), (100, false));
    assert_eq!(events(&mut level), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn living_players_stay_out_of_solid(
        spot in 0..12_usize,
        inputs in prop::collection::vec((any::<i16>(), -400..400_i16, 0..4_u8, 1..60_u8), 100),
    ) {
        let mut level = level();
        level.next_spot = spot;
        for slot in 0..3 {
            level.begin(slot, false);
        }
        for (yaw, side, buttons, times) in inputs {
            for step in 0..times / 4 + 1 {
                for slot in 0..3_usize {
                    let turn = (slot as i16).wrapping_mul(20_000);
                    let command = MoveCommand {
                        angles: [0, yaw.wrapping_add(turn), 0],
                        moves: [400, side, 0],
                        buttons,
                        msec: MSEC,
                    };
                    level.run_command(slot, &command, 0);
                }
                level.advance(0.013 * f32::from(1 + step % 3));
                for slot in 0..3 {
                    let player = level.player(slot).expect("player");
                    if player.is_solid {
                        let origin = player.state.origin;
                        prop_assert!(nudges().any(|by| level.has_room(slot, origin + by)), "{player:?}");
                    }
                }
                while level.poll_event().is_some() {}
            }
        }
    }

    #[test]
    fn player_of_the_same_revision_is_the_same(
        steps in prop::collection::vec((0..3_usize, 0..6_u8, any::<i16>()), 300),
    ) {
        let mut level = level();
        // Players meet at one spawn point.
        level.spots.truncate(1);
        level.next_spot = 0;
        let mut seen = [(0, None); 3];
        for (slot, kind, yaw) in steps {
            match kind {
                0 => level.begin(slot, yaw % 5 == 0),
                1 => level.kill(slot),
                2 => level.place(slot, Vec3::new(f32::from(yaw % 300), 0.0, 40.0)),
                3 => level.advance(0.013),
                _ => {
                    let angles = [0, yaw, 0];
                    let buttons = if kind == 4 { BUTTON_JUMP } else { 0 };
                    let moves = [400, 0, 0];
                    level.run_command(slot, &MoveCommand { angles, moves, buttons, msec: 50 }, 0);
                }
            }
            for (slot, seen) in seen.iter_mut().enumerate() {
                let new = (level.revision(slot), level.player(slot));
                prop_assert!(new.0 != seen.0 || new.1 == seen.1, "slot {slot}: {new:?}");
                *seen = new;
            }
            while level.poll_event().is_some() {}
        }
    }
}

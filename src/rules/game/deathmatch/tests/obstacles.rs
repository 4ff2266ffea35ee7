//! Blocked movers: entities are pushed, crushed or removed, or the mover waits.

use crate::bg::{MeansOfDeath, contents};
use crate::game::deathmatch::projectiles::missiles::launch;
use crate::game::deathmatch::tests::movers::{DOOR, SPOT, mover_state};
use crate::game::deathmatch::tests::test_level::{Corners, STANDING, TestLevel};
use crate::game::deathmatch::{damage::damage_player, think::respawn};
use crate::game::deathmatch::{entity_kinds::MoverState, hit::Hit};
use crate::game::{Host as _, Ruleset};
use crate::model::{EntityNum, Vec3};

/// Creates a door, open above the center of the hall, that shuts in 2000 ms.
fn raised(flags: i32, damage: i32) -> TestLevel {
    raised_in(Ruleset::BASEQ3, flags, damage)
}

fn raised_in(ruleset: &'static Ruleset, flags: i32, damage: i32) -> TestLevel {
    let keys = format!("angle -1 spawnflags {flags} dmg {damage} targetname d");
    let text = format!("{{ classname func_door model *1 {keys} }}\n{SPOT}");
    let mut level = TestLevel::of(ruleset, &[DOOR], &text);
    level.use_entity(64, None);
    level.run(400);
    assert_eq!(mover_state(&level, 64), MoverState::At(1));
    level
}

fn health(level: &TestLevel) -> i32 {
    level.game.clients.players[0].as_ref().expect("a player").state.stats[0]
}

#[test]
fn blocked_door_damages_player_and_reverses() {
    let mut level = raised(0, 5);
    level.join(0, [0.0, 0.0, STANDING]);
    let before = health(&level);
    level.run(2150);
    assert_eq!((health(&level), mover_state(&level, 64)), (before, MoverState::To(0)));
    // It comes down from 122 at 400 units per second, and reaches a head at 56.
    level.run(50);
    assert_eq!((health(&level), mover_state(&level, 64)), (before - 5, MoverState::To(1)));
    level.run(200);
    assert_eq!((health(&level), mover_state(&level, 64)), (before - 5, MoverState::At(1)));
}

#[test]
fn crusher_damages_without_reversing() {
    let mut level = raised(4, 10);
    level.join(0, [0.0, 0.0, STANDING]);
    let before = health(&level);
    level.run(2200);
    let place = level.entity(64).shared.current_origin;
    let time = level.entity(64).state.pos.time;
    assert_eq!((health(&level), mover_state(&level, 64)), (before - 10, MoverState::To(0)));
    level.run(150);
    assert_eq!(health(&level), before - 40, "ten points each frame");
    assert_eq!(level.entity(64).shared.current_origin, place, "it stops while blocked");
    assert_eq!(level.entity(64).state.pos.time, time + 150, "and its trajectory is delayed");
    let bodies =
        |level: &TestLevel| level.temp_entities().iter().filter(|event| event.0 == 60).count();
    level.run(1000);
    assert!(health(&level) <= 0);
    assert_eq!(bodies(&level), 0, "obituaries expire after 300 ms");
}

#[test]
fn plat_reverses_above_player() {
    let lift: Corners = [[-64.0, -64.0, 100.0], [64.0, 64.0, 116.0]];
    let plat = "{ classname func_plat model *1 height 100 targetname p }\n";
    let mut level = TestLevel::new(&[lift], &format!("{plat}{SPOT}"));
    level.use_entity(64, None);
    level.run(600);
    level.join(0, [0.0, 0.0, STANDING]);
    let before = health(&level);
    level.run(1250);
    assert_eq!((health(&level), mover_state(&level, 64)), (before - 2, MoverState::To(1)));
}

#[test]
fn corpse_blocking_door_is_removed() {
    let mut level = raised(0, 2);
    let client = level.join(0, [0.0, 0.0, STANDING]);
    let deadly = Hit::by_world(health(&level) + 1, MeansOfDeath::Falling);
    level.game.with(&mut level.host, |cx, sys| damage_player(cx, &mut sys.fight, client, &deadly));
    level.game.with(&mut level.host, |cx, sys| respawn(cx, sys, client));
    let corpse = level.game.systems.body_queue.slots()[0].index();
    assert!(level.entity(corpse).shared.is_linked());
    level.run(2250);
    assert!(level.entity(corpse).shared.is_linked(), "the door is still above it");
    level.run(50);
    assert!(!level.entity(corpse).shared.is_linked());
    assert!(level.temp_entities().iter().any(|event| event.0 == 41));
    assert_eq!(
        mover_state(&level, 64),
        MoverState::To(0),
        "the door does not reverse for a corpse"
    );
    level.run(100);
    assert_eq!(mover_state(&level, 64), MoverState::At(0));
}

#[test]
fn bobbing_mover_kills_stuck_player() {
    let slab: Corners = [[-64.0, -64.0, 0.0], [64.0, 64.0, 16.0]];
    let bobbing = "{ classname func_bobbing model *1 height 60 speed 4 origin \"0 0 100\" }\n";
    let mut level = TestLevel::new(&[slab], &format!("{bobbing}{SPOT}"));
    level.join(0, [0.0, 0.0, STANDING]);
    level.run(1500);
    let events = level.temp_entities();
    let obituary = events.iter().find(|event| event.0 == 60).map(|event| event.1);
    assert!(obituary.is_none() || obituary == Some(MeansOfDeath::Crush as i32), "{events:?}");
    let player = level.game.clients.players[0].as_ref().expect("a player");
    assert_eq!((player.state.stats[0], player.shared.contents), (-999, 0), "the body is gibbed");
    assert!((level.entity(64).shared.current_origin[2] - 61.0).abs() < 25.0, "it does not stop");
}

#[test]
fn door_pushes_movable_player() {
    let mut level = TestLevel::new(
        &[DOOR],
        &format!("{{ classname func_door model *1 angle 90 targetname d }}{SPOT}"),
    );
    level.join(0, [0.0, 90.0, STANDING]);
    let before = health(&level);
    level.use_entity(64, None);
    level.run(400);
    assert_eq!((health(&level), mover_state(&level, 64)), (before, MoverState::At(1)));
    let origin = level.game.clients.players[0].as_ref().expect("a player").state.origin;
    // Its side is at 64 + 122 now.
    assert!(origin[1] >= 186.0 + 15.0 && origin[1] < 230.0, "{origin:?}");
}

#[test]
fn train_waits_for_blocking_player() {
    // A train comes down onto a player.
    let cube: Corners = [[-16.0, -16.0, -16.0], [16.0, 16.0, 16.0]];
    let way = "{ classname func_train model *1 target a }\n\
        { classname path_corner targetname a target b origin \"0 0 200\" }\n\
        { classname path_corner targetname b target a origin \"0 0 20\" }\n";
    let mut level = TestLevel::new(&[cube], &format!("{way}{SPOT}"));
    let client = level.join(0, [0.0, 0.0, STANDING]);
    let before = health(&level);
    level.run(5000);
    let height = level.entity(64).shared.current_origin[2];
    assert!((72.0..78.0).contains(&height), "{height}");
    assert_eq!(health(&level), before);
    level.put(client, [600.0, 0.0, STANDING]);
    let time = level.entity(64).state.pos.time;
    level.run(600);
    let origin = level.entity(64).shared.current_origin;
    assert!(
        origin[2] <= 20.1 || level.entity(64).state.pos.time != time,
        "it moves again: {origin:?}"
    );
    assert_eq!(level.entity(64).shared.contents & contents::SOLID, contents::SOLID);
    assert_ne!(origin, Vec3::ZERO);
}

#[test]
fn crush_is_credited_to_activator_in_openarena() {
    for (ruleset, killer) in [(Ruleset::BASEOA, 1), (Ruleset::BASEQ3, 1022)] {
        let mut level = raised_in(ruleset, 4, 999);
        level.join(0, [0.0, 0.0, STANDING]);
        let other = level.join(1, [500.0, 0.0, STANDING]);
        level.host.set_setting("g_spawnprotect", "0");
        level.use_entity(64, Some(other));
        level.run(2300);
        assert!(health(&level) <= 0);
        let mut kills = level.host.logged.iter().filter(|(_, line)| line.starts_with("Kill:"));
        let line = format!("Kill: {killer} 0 17: ");
        assert!(kills.next_back().is_some_and(|(_, last)| last.starts_with(&line)), "{line}");
    }
}

/// Launches a mine from a point downward. Returns its number.
fn drop_mine(level: &mut TestLevel, from: [f32; 3]) -> EntityNum {
    let down = Vec3::new(0.0, 0.0, -1.0);
    let weapon = crate::bg::Weapon::ProxLauncher as i32;
    let mine = level.game.with(&mut level.host, |cx, _| {
        let mine = launch(cx, EntityNum::WORLD, weapon, Vec3(from), down);
        if let Some(entity) = mine.and_then(|mine| cx.entities.get_mut(mine)) {
            entity.state.pos.delta = down * 400.0;
        }
        mine
    });
    mine.expect("a mine")
}

/// Returns the height of a mine; `None` after its explosion.
fn height(level: &TestLevel, mine: EntityNum) -> Option<f32> {
    let (entity, _) = level.game.entities.missile(mine)?;
    assert_eq!(entity.shared.current_origin, entity.state.pos.base);
    Some(entity.state.pos.base[2])
}

#[test]
fn mine_rides_on_mover() {
    let lift: Corners = [[-64.0, -64.0, 100.0], [64.0, 64.0, 116.0]];
    let plat = "{ classname func_plat model *1 height 90 targetname p }\n";
    let mut level = TestLevel::of(Ruleset::BASEOA, &[lift], &format!("{plat}{SPOT}"));
    // It rests 90 units lower.
    let mine = drop_mine(&mut level, [20.0, 20.0, 80.0]);
    level.run(500);
    let before = height(&level, mine).expect("it sticks");
    assert!((26.0..28.0).contains(&before), "{before}");
    level.use_entity(64, None);
    level.run(300);
    let moved = level.entity(64).shared.current_origin[2] - -90.0;
    assert!(moved > 20.0, "{moved}");
    let after = height(&level, mine).expect("it rides");
    assert!((after - before - moved).abs() < 1.0, "{before} {after} {moved}");
}

#[test]
fn mine_below_closing_door_explodes() {
    let mut level = raised_in(Ruleset::BASEOA, 0, 2);
    let mine = drop_mine(&mut level, [0.0, 20.0, 60.0]);
    level.run(1500);
    assert!(height(&level, mine).is_some_and(|height| height < 3.0), "it lies on the floor");
    level.run(1200);
    assert_eq!(height(&level, mine), None, "crushed");
    assert_eq!(mover_state(&level, 64), MoverState::At(0), "the door is not blocked");
}

//! Blocked movers: entities pushed, crushed or removed; or the mover waits.

use super::{
    super::{combat::Hit, movers::Leg},
    movers::{DOOR, SPOT, leg},
    stage::{Corners, STANDING, Stage},
};
use crate::bg::{MeansOfDeath, contents};
use crate::game::deathmatch::{combat::damage::damage_player, think::respawn};
use crate::model::Vec3;

/// A door that is open, above the middle of the hall, and shuts in 2000 ms.
fn raised(flags: i32, damage: i32) -> Stage {
    let keys = format!("angle -1 spawnflags {flags} dmg {damage} targetname d");
    let mut stage =
        Stage::new(&[DOOR], &format!("{{ classname func_door model *1 {keys} }}\n{SPOT}"));
    stage.use_entity(64, None);
    stage.run(400);
    assert_eq!(leg(&stage, 64), Leg::At(1));
    stage
}

fn health(stage: &Stage) -> i32 {
    stage.game.clients.players[0].as_ref().expect("a player").state.stats[0]
}

#[test]
fn a_door_hurts_who_is_in_its_way_and_turns_around() {
    let mut stage = raised(0, 5);
    stage.join(0, [0.0, 0.0, STANDING]);
    let before = health(&stage);
    stage.run(2150);
    assert_eq!((health(&stage), leg(&stage, 64)), (before, Leg::To(0)));
    // It comes down from 122 at 400 units per second, and meets a head at 56.
    stage.run(50);
    assert_eq!((health(&stage), leg(&stage, 64)), (before - 5, Leg::To(1)));
    stage.run(200);
    assert_eq!((health(&stage), leg(&stage, 64)), (before - 5, Leg::At(1)));
}

#[test]
fn a_crusher_goes_on() {
    let mut stage = raised(4, 10);
    stage.join(0, [0.0, 0.0, STANDING]);
    let before = health(&stage);
    stage.run(2200);
    let place = stage.entity(64).shared.current_origin;
    let time = stage.entity(64).state.pos.time;
    assert_eq!((health(&stage), leg(&stage, 64)), (before - 10, Leg::To(0)));
    stage.run(150);
    assert_eq!(health(&stage), before - 40, "ten points each frame");
    assert_eq!(stage.entity(64).shared.current_origin, place, "it stands still meanwhile");
    assert_eq!(stage.entity(64).state.pos.time, time + 150, "and its time with it");
    let bodies = |stage: &Stage| stage.temp_entities().iter().filter(|event| event.0 == 60).count();
    stage.run(1000);
    assert!(health(&stage) <= 0);
    assert_eq!(bodies(&stage), 0, "obituaries are gone after 300 ms");
}

#[test]
fn a_lift_turns_around_above_who_stands_under_it() {
    let lift: Corners = [[-64.0, -64.0, 100.0], [64.0, 64.0, 116.0]];
    let plat = "{ classname func_plat model *1 height 100 targetname p }\n";
    let mut stage = Stage::new(&[lift], &format!("{plat}{SPOT}"));
    stage.use_entity(64, None);
    stage.run(600);
    stage.join(0, [0.0, 0.0, STANDING]);
    let before = health(&stage);
    stage.run(1250);
    assert_eq!((health(&stage), leg(&stage, 64)), (before - 2, Leg::To(1)));
}

#[test]
fn a_body_in_the_way_of_a_door_is_removed() {
    let mut stage = raised(0, 2);
    let client = stage.join(0, [0.0, 0.0, STANDING]);
    let deadly = Hit::by_world(health(&stage) + 1, MeansOfDeath::Falling);
    stage.game.with(&mut stage.host, |cx, sys| damage_player(cx, sys, client, &deadly));
    stage.game.with(&mut stage.host, |cx, sys| respawn(cx, sys, client));
    let corpse = stage.game.systems.body_queue.slots()[0].index();
    assert!(stage.entity(corpse).shared.is_linked());
    stage.run(2250);
    assert!(stage.entity(corpse).shared.is_linked(), "the door is still above it");
    stage.run(50);
    assert!(!stage.entity(corpse).shared.is_linked());
    assert!(stage.temp_entities().iter().any(|event| event.0 == 41));
    assert_eq!(leg(&stage, 64), Leg::To(0), "the door does not turn around for it");
    stage.run(100);
    assert_eq!(leg(&stage, 64), Leg::At(0));
}

#[test]
fn what_swings_kills_who_cannot_give_way() {
    let slab: Corners = [[-64.0, -64.0, 0.0], [64.0, 64.0, 16.0]];
    let bobbing = "{ classname func_bobbing model *1 height 60 speed 4 origin \"0 0 100\" }\n";
    let mut stage = Stage::new(&[slab], &format!("{bobbing}{SPOT}"));
    stage.join(0, [0.0, 0.0, STANDING]);
    stage.run(1500);
    let events = stage.temp_entities();
    let obituary = events.iter().find(|event| event.0 == 60).map(|event| event.1);
    assert!(obituary.is_none() || obituary == Some(MeansOfDeath::Crush as i32), "{events:?}");
    let player = stage.game.clients.players[0].as_ref().expect("a player");
    assert_eq!((player.state.stats[0], player.shared.contents), (-999, 0), "nothing is left");
    assert!((stage.entity(64).shared.current_origin[2] - 61.0).abs() < 25.0, "it does not wait");
}

#[test]
fn a_door_pushes_who_can_give_way() {
    let mut stage = Stage::new(
        &[DOOR],
        &format!("{{ classname func_door model *1 angle 90 targetname d }}{SPOT}"),
    );
    stage.join(0, [0.0, 90.0, STANDING]);
    let before = health(&stage);
    stage.use_entity(64, None);
    stage.run(400);
    assert_eq!((health(&stage), leg(&stage, 64)), (before, Leg::At(1)));
    let origin = stage.game.clients.players[0].as_ref().expect("a player").state.origin;
    // Its side is at 64 + 122 now.
    assert!(origin[1] >= 186.0 + 15.0 && origin[1] < 230.0, "{origin:?}");
}

#[test]
fn others_wait_for_who_is_in_their_way() {
    // A train from above: it would be at the floor, and somebody stands there.
    let cube: Corners = [[-16.0, -16.0, -16.0], [16.0, 16.0, 16.0]];
    let way = "{ classname func_train model *1 target a }\n\
        { classname path_corner targetname a target b origin \"0 0 200\" }\n\
        { classname path_corner targetname b target a origin \"0 0 20\" }\n";
    let mut stage = Stage::new(&[cube], &format!("{way}{SPOT}"));
    let client = stage.join(0, [0.0, 0.0, STANDING]);
    let before = health(&stage);
    stage.run(5000);
    let height = stage.entity(64).shared.current_origin[2];
    assert!((72.0..78.0).contains(&height), "{height}");
    assert_eq!(health(&stage), before);
    stage.put(client, [600.0, 0.0, STANDING]);
    let time = stage.entity(64).state.pos.time;
    stage.run(600);
    let origin = stage.entity(64).shared.current_origin;
    assert!(origin[2] <= 20.1 || stage.entity(64).state.pos.time != time, "it goes on: {origin:?}");
    assert_eq!(stage.entity(64).shared.contents & contents::SOLID, contents::SOLID);
    assert_ne!(origin, Vec3::ZERO);
}

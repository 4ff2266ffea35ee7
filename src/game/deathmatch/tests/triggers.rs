//! Triggers: their activators and their rates.

use super::{
    super::movers::Leg,
    movers::{SPOT, leg},
    stage::{Corners, STANDING, Stage},
};
use crate::bg::Persistent;

/// A space in the middle of the hall.
pub(super) const SPACE: Corners = [[-32.0, -32.0, 0.0], [32.0, 32.0, 64.0]];
/// Something whose event tells that it was used: entity 65 after a trigger.
const SPEAKER: &str = "{ classname target_speaker noise a targetname s }\n";

/// How often the speaker was used, as far as its event counts: modulo 4, and 0 for never.
fn plays(stage: &Stage, number: usize) -> i32 {
    stage.entity(number).state.event >> 8
}

fn of_trigger(keys: &str) -> Stage {
    let trigger = format!("{{ classname trigger_multiple model *1 target s {keys} }}\n");
    Stage::new(&[SPACE], &format!("{trigger}{SPEAKER}{SPOT}"))
}

#[test]
fn a_trigger_fires_rests_and_fires_again() {
    let mut stage = of_trigger("");
    let client = stage.join(0, [0.0, 0.0, STANDING]);
    stage.stand(client);
    assert_eq!(plays(&stage, 65), 1);
    // Commands run in the time of the frame before them.
    stage.stand_for(client, 450);
    assert_eq!(stage.entity(65).state.event, 0, "it rests for half a second");
    stage.stand(client);
    assert_eq!(stage.entity(65).state.event & 0xff, 45);
}

#[test]
fn a_trigger_without_a_rest_fires_once_and_is_gone() {
    let mut stage = of_trigger("wait -1");
    let client = stage.join(0, [0.0, 0.0, STANDING]);
    stage.stand(client);
    assert_eq!(plays(&stage, 65), 1);
    assert!(stage.exists(64));
    stage.stand_for(client, 100);
    assert!(!stage.exists(64));
}

#[test]
fn a_trigger_of_one_team_ignores_the_others() {
    for (flags, team, fires) in [(1, 1, 1), (1, 2, 0), (1, 0, 0), (2, 2, 1), (2, 1, 0), (0, 0, 1)] {
        let mut stage = of_trigger(&format!("spawnflags {flags}"));
        let client = stage.join(0, [600.0, 600.0, STANDING]);
        let player = stage.game.clients.players[0].as_mut().expect("a player");
        player.state.persistant[Persistent::Team] = team;
        stage.use_entity(64, Some(client));
        assert_eq!(plays(&stage, 65), fires, "flags {flags}, team {team}");
    }
}

#[test]
fn trigger_always_fires_once_300_milliseconds_after_the_load() {
    let text = format!("{{ classname trigger_always target s }}\n{SPEAKER}");
    let mut stage = Stage::fresh(crate::game::Ruleset::BASEQ3, &[], &text);
    stage.frame(250);
    assert_eq!(plays(&stage, 65), 0);
    stage.frame(50);
    assert_eq!((plays(&stage, 65), stage.exists(64)), (1, false));
}

#[test]
fn a_timer_fires_by_itself_and_use_toggles_it() {
    let timer = |keys: &str| {
        let text = format!("{{ classname func_timer target s {keys} }}\n{SPEAKER}");
        Stage::fresh(crate::game::Ruleset::BASEQ3, &[], &text)
    };
    let mut stage = timer("spawnflags 1 wait 2 random 0.001");
    stage.frame(50);
    assert_eq!(plays(&stage, 65), 0);
    stage.frame(50);
    assert_eq!(plays(&stage, 65), 1, "100 ms after the load");
    stage.run(1950);
    assert_eq!(stage.entity(65).state.event, 0, "the event is over");
    stage.run(100);
    assert_ne!(stage.entity(65).state.event, 0, "two seconds later");
    stage.use_entity(64, None);
    assert_eq!(stage.entity(64).think_at, None, "off");
    stage.run(4000);
    assert_eq!(stage.entity(65).state.event, 0);
    stage.use_entity(64, None);
    assert_ne!(stage.entity(65).state.event, 0, "on, and at once");
    // Without a chance below the wait, the chance is 100 seconds less than it.
    let stage = timer("wait 5 random 5");
    assert!(stage.host.printed.iter().any(|line| line.contains("below the wait")));
}

#[test]
fn relays_fire_all_or_one() {
    let two = "{ classname target_speaker noise a targetname s }\n\
        { classname target_speaker noise b targetname s }\n";
    let mut stage = Stage::new(&[], &format!("{{ classname target_relay target s }}\n{two}"));
    stage.use_entity(64, None);
    assert_eq!([plays(&stage, 65), plays(&stage, 66)], [1, 1]);
    let relay = "{ classname target_relay target s spawnflags 4 }\n";
    let mut stage = Stage::new(&[], &format!("{relay}{two}"));
    stage.use_entity(64, None);
    assert_eq!(plays(&stage, 65) + plays(&stage, 66), 1);
    let relay = "{ classname target_relay target s spawnflags 1 }\n";
    let mut stage = Stage::new(&[], &format!("{relay}{two}{SPOT}"));
    let client = stage.join(0, [600.0, 600.0, STANDING]);
    stage.use_entity(64, Some(client));
    assert_eq!(plays(&stage, 65), 0, "for the red team only");
    stage.use_entity(64, None);
    assert_eq!(plays(&stage, 65), 1, "nobody has no team");
}

#[test]
fn a_delay_fires_later() {
    for (keys, ms) in [("", 1000), ("wait 2", 2000), ("delay 3 wait 2", 3000)] {
        let text = format!("{{ classname target_delay target s {keys} }}\n{SPEAKER}");
        let mut stage = Stage::new(&[], &text);
        stage.use_entity(64, None);
        stage.run(ms - 50);
        assert_eq!(plays(&stage, 65), 0, "{keys}");
        stage.run(50);
        assert_eq!(plays(&stage, 65), 1, "{keys}");
    }
}

#[test]
fn what_fires_itself_in_circles_ends() {
    // Each of 40 relays fires the 39 others, 16 links deep.
    let text = "{ classname target_relay targetname a target a }\n".repeat(40);
    let speaker = SPEAKER.replace("targetname s", "targetname a");
    let mut stage = Stage::new(&[], &format!("{text}{speaker}"));
    stage.use_entity(64, None);
    assert_eq!(stage.game.systems.targets.uses_left(), 0, "and no more in this frame");
    stage.frame(50);
    stage.use_entity(104, None);
    assert_eq!(stage.entity(104).state.event & 0xff, 45, "the next frame goes on");
    let circle = "{ classname target_relay targetname a target b }\n\
        { classname target_relay targetname b target a }\n";
    let mut stage = Stage::new(&[], circle);
    let before = stage.game.systems.targets.uses_left();
    stage.use_entity(64, None);
    assert_eq!(
        before - stage.game.systems.targets.uses_left(),
        17,
        "sixteen links after the first"
    );
}

fn health(stage: &Stage) -> i32 {
    stage.game.clients.players[0].as_ref().expect("a player").state.stats[0]
}

#[test]
fn places_hurt_every_100_milliseconds_or_every_second() {
    for (keys, points, ms) in [("", 5, 100), ("dmg 7", 7, 100), ("spawnflags 16", 5, 1000)] {
        let place = format!("{{ classname trigger_hurt model *1 targetname h {keys} }}\n");
        let mut stage = Stage::new(&[SPACE], &format!("{place}{SPOT}"));
        let client = stage.join(0, [0.0, 0.0, STANDING]);
        // Above 100 one point is lost each second as well.
        let before = 100;
        stage.game.clients.players[0].as_mut().expect("a player").state.stats[0] = before;
        stage.stand(client);
        assert_eq!(health(&stage), before - points, "{keys}");
        stage.stand_for(client, ms - 50);
        assert_eq!(health(&stage), before - points, "{keys}");
        stage.stand(client);
        assert_eq!(health(&stage), before - 2 * points, "{keys}");
        let sound = stage.sound("sound/world/electro.wav");
        let heard =
            stage.temp_entities().iter().filter(|event| (event.0, event.1) == (45, sound)).count();
        assert!(heard > 0, "{keys}");
        stage.use_entity(64, None);
        let before = health(&stage);
        stage.stand_for(client, 100);
        assert_eq!(health(&stage), before, "used, it stops");
    }
}

#[test]
fn places_that_hurt_may_start_off_and_be_unheard() {
    let place = "{ classname trigger_hurt model *1 targetname h spawnflags 5 }\n";
    let mut stage = Stage::new(&[SPACE], &format!("{place}{SPOT}"));
    let client = stage.join(0, [0.0, 0.0, STANDING]);
    let before = health(&stage);
    stage.stand_for(client, 200);
    assert_eq!(health(&stage), before);
    stage.use_entity(64, None);
    stage.stand(client);
    assert_eq!(health(&stage), before - 5);
    assert!(stage.temp_entities().iter().all(|event| event.0 != 45));
}

#[test]
fn some_places_hurt_whatever_protects() {
    for (flags, lost) in [(0, 0), (8, 5)] {
        let place = format!("{{ classname trigger_hurt model *1 spawnflags {flags} }}\n");
        let mut stage = Stage::new(&[SPACE], &format!("{place}{SPOT}"));
        let client = stage.join(0, [0.0, 0.0, STANDING]);
        stage.game.clients.players[0].as_mut().expect("a player").cheats.god = true;
        let before = health(&stage);
        stage.stand(client);
        assert_eq!(health(&stage), before - lost);
    }
}

#[test]
fn who_watches_opens_no_door_and_fires_nothing() {
    let mut stage = of_trigger("");
    let client = stage.watch(0, [0.0, 0.0, STANDING]);
    stage.stand_for(client, 200);
    assert_eq!(plays(&stage, 65), 0);
    let button = "{ classname func_button model *1 }\n";
    let mut stage = Stage::new(&[SPACE], &format!("{button}{SPOT}"));
    let client = stage.watch(0, [-60.0, 0.0, STANDING]);
    stage.stand(client);
    assert_eq!(leg(&stage, 64), Leg::At(0));
}

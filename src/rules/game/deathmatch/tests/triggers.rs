//! Triggers: activators and intervals.

use crate::bg::Persistent;
use crate::game::deathmatch::tests::test_level::{Corners, STANDING, TestLevel};
use crate::game::deathmatch::{
    entity_kinds::MoverState, tests::movers::SPOT, tests::movers::mover_state,
};

/// Trigger box in the center of the hall.
pub(super) const SPACE: Corners = [[-32.0, -32.0, 0.0], [32.0, 32.0, 64.0]];
/// Speaker whose event shows its use: entity 65 after a trigger.
const SPEAKER: &str = "{ classname target_speaker noise a targetname s }\n";

/// Returns the number of uses of a speaker, modulo 4, by its event counter.
fn plays(level: &TestLevel, number: usize) -> i32 {
    level.entity(number).state.event >> 8
}

fn of_trigger(keys: &str) -> TestLevel {
    let trigger = format!("{{ classname trigger_multiple model *1 target s {keys} }}\n");
    TestLevel::new(&[SPACE], &format!("{trigger}{SPEAKER}{SPOT}"))
}

#[test]
fn trigger_fires_again_after_its_wait() {
    let mut level = of_trigger("");
    let client = level.join(0, [0.0, 0.0, STANDING]);
    level.stand(client);
    assert_eq!(plays(&level, 65), 1);
    // Usercmds run at the time of the previous frame.
    level.stand_for(client, 450);
    assert_eq!(level.entity(65).state.event, 0, "it waits for half a second");
    level.stand(client);
    assert_eq!(level.entity(65).state.event & 0xff, 45);
}

#[test]
fn trigger_without_wait_fires_once() {
    let mut level = of_trigger("wait -1");
    let client = level.join(0, [0.0, 0.0, STANDING]);
    level.stand(client);
    assert_eq!(plays(&level, 65), 1);
    assert!(level.exists(64));
    level.stand_for(client, 100);
    assert!(!level.exists(64));
}

#[test]
fn team_trigger_ignores_other_teams() {
    for (flags, team, fires) in [(1, 1, 1), (1, 2, 0), (1, 0, 0), (2, 2, 1), (2, 1, 0), (0, 0, 1)] {
        let mut level = of_trigger(&format!("spawnflags {flags}"));
        let client = level.join(0, [600.0, 600.0, STANDING]);
        let player = level.game.clients.players[0].as_mut().expect("a player");
        player.state.persistant[Persistent::Team] = team;
        level.use_entity(64, Some(client));
        assert_eq!(plays(&level, 65), fires, "flags {flags}, team {team}");
    }
}

#[test]
fn trigger_always_fires_once_300_ms_after_load() {
    let text = format!("{{ classname trigger_always target s }}\n{SPEAKER}");
    let mut level = TestLevel::fresh(crate::game::Ruleset::BASEQ3, &[], &text);
    level.frame(250);
    assert_eq!(plays(&level, 65), 0);
    level.frame(50);
    assert_eq!((plays(&level, 65), level.exists(64)), (1, false));
}

#[test]
fn timer_repeats_and_use_toggles_it() {
    let timer = |keys: &str| {
        let text = format!("{{ classname func_timer target s {keys} }}\n{SPEAKER}");
        TestLevel::fresh(crate::game::Ruleset::BASEQ3, &[], &text)
    };
    let mut level = timer("spawnflags 1 wait 2 random 0.001");
    level.frame(50);
    assert_eq!(plays(&level, 65), 0);
    level.frame(50);
    assert_eq!(plays(&level, 65), 1, "100 ms after the load");
    level.run(1950);
    assert_eq!(level.entity(65).state.event, 0, "the event is over");
    level.run(100);
    assert_ne!(level.entity(65).state.event, 0, "two seconds later");
    level.use_entity(64, None);
    assert_eq!(level.entity(64).think_at, None, "off");
    level.run(4000);
    assert_eq!(level.entity(65).state.event, 0);
    level.use_entity(64, None);
    assert_ne!(level.entity(65).state.event, 0, "on, with an immediate firing");
    // A random time of at least the wait becomes the wait less 100 s.
    let level = timer("wait 5 random 5");
    assert!(level.host.printed.iter().any(|line| line.contains("less than \"wait\"")));
}

#[test]
fn relays_fire_all_or_one_target() {
    let two = "{ classname target_speaker noise a targetname s }\n\
        { classname target_speaker noise b targetname s }\n";
    let mut level = TestLevel::new(&[], &format!("{{ classname target_relay target s }}\n{two}"));
    level.use_entity(64, None);
    assert_eq!([plays(&level, 65), plays(&level, 66)], [1, 1]);
    let relay = "{ classname target_relay target s spawnflags 4 }\n";
    let mut level = TestLevel::new(&[], &format!("{relay}{two}"));
    level.use_entity(64, None);
    assert_eq!(plays(&level, 65) + plays(&level, 66), 1);
    let relay = "{ classname target_relay target s spawnflags 1 }\n";
    let mut level = TestLevel::new(&[], &format!("{relay}{two}{SPOT}"));
    let client = level.join(0, [600.0, 600.0, STANDING]);
    level.use_entity(64, Some(client));
    assert_eq!(plays(&level, 65), 0, "for the red team only");
    level.use_entity(64, None);
    assert_eq!(plays(&level, 65), 1, "no activator, no team filter");
}

#[test]
fn delay_fires_after_its_wait() {
    for (keys, ms) in [("", 1000), ("wait 2", 2000), ("delay 3 wait 2", 3000)] {
        let text = format!("{{ classname target_delay target s {keys} }}\n{SPEAKER}");
        let mut level = TestLevel::new(&[], &text);
        level.use_entity(64, None);
        level.run(ms - 50);
        assert_eq!(plays(&level, 65), 0, "{keys}");
        level.run(50);
        assert_eq!(plays(&level, 65), 1, "{keys}");
    }
}

#[test]
fn circular_targets_terminate() {
    // Each of 40 relays fires the 39 others, 16 links deep.
    let text = "{ classname target_relay targetname a target a }\n".repeat(40);
    let speaker = SPEAKER.replace("targetname s", "targetname a");
    let mut level = TestLevel::new(&[], &format!("{text}{speaker}"));
    level.use_entity(64, None);
    assert_eq!(level.game.systems.targets.use_budget(), 0, "the budget of the frame is spent");
    level.frame(50);
    level.use_entity(104, None);
    assert_eq!(level.entity(104).state.event & 0xff, 45, "the next frame has a new budget");
    let circle = "{ classname target_relay targetname a target b }\n\
        { classname target_relay targetname b target a }\n";
    let mut level = TestLevel::new(&[], circle);
    let before = level.game.systems.targets.use_budget();
    level.use_entity(64, None);
    assert_eq!(
        before - level.game.systems.targets.use_budget(),
        17,
        "sixteen links after the first"
    );
}

fn health(level: &TestLevel) -> i32 {
    level.game.clients.players[0].as_ref().expect("a player").state.stats[0]
}

#[test]
fn hurt_trigger_damages_every_100_ms_or_second() {
    for (keys, points, ms) in [("", 5, 100), ("dmg 7", 7, 100), ("spawnflags 16", 5, 1000)] {
        let place = format!("{{ classname trigger_hurt model *1 targetname h {keys} }}\n");
        let mut level = TestLevel::new(&[SPACE], &format!("{place}{SPOT}"));
        let client = level.join(0, [0.0, 0.0, STANDING]);
        // Health above 100 also decays by one point per second.
        let before = 100;
        level.game.clients.players[0].as_mut().expect("a player").state.stats[0] = before;
        level.stand(client);
        assert_eq!(health(&level), before - points, "{keys}");
        let player = level.game.clients.player(client).expect("a player");
        assert_eq!(player.state.persistant[Persistent::Attacker], 64, "the trigger");
        level.stand_for(client, ms - 50);
        assert_eq!(health(&level), before - points, "{keys}");
        level.stand(client);
        assert_eq!(health(&level), before - 2 * points, "{keys}");
        let sound = level.sound("sound/world/electro.wav");
        let heard =
            level.temp_entities().iter().filter(|event| (event.0, event.1) == (45, sound)).count();
        assert!(heard > 0, "{keys}");
        level.use_entity(64, None);
        let before = health(&level);
        level.stand_for(client, 100);
        assert_eq!(health(&level), before, "use turns it off");
    }
}

#[test]
fn hurt_trigger_can_start_off_and_silent() {
    let place = "{ classname trigger_hurt model *1 targetname h spawnflags 5 }\n";
    let mut level = TestLevel::new(&[SPACE], &format!("{place}{SPOT}"));
    let client = level.join(0, [0.0, 0.0, STANDING]);
    let before = health(&level);
    level.stand_for(client, 200);
    assert_eq!(health(&level), before);
    level.use_entity(64, None);
    level.stand(client);
    assert_eq!(health(&level), before - 5);
    assert!(level.temp_entities().iter().all(|event| event.0 != 45));
}

#[test]
fn hurt_trigger_can_ignore_protection() {
    for (flags, lost) in [(0, 0), (8, 5)] {
        let place = format!("{{ classname trigger_hurt model *1 spawnflags {flags} }}\n");
        let mut level = TestLevel::new(&[SPACE], &format!("{place}{SPOT}"));
        let client = level.join(0, [0.0, 0.0, STANDING]);
        level.game.clients.players[0].as_mut().expect("a player").cheats.god = true;
        let before = health(&level);
        level.stand(client);
        assert_eq!(health(&level), before - lost);
    }
}

#[test]
fn spectator_activates_no_mover_or_trigger() {
    let mut level = of_trigger("");
    let client = level.watch(0, [0.0, 0.0, STANDING]);
    level.stand_for(client, 200);
    assert_eq!(plays(&level, 65), 0);
    let button = "{ classname func_button model *1 }\n";
    let mut level = TestLevel::new(&[SPACE], &format!("{button}{SPOT}"));
    let client = level.watch(0, [-60.0, 0.0, STANDING]);
    level.stand(client);
    assert_eq!(mover_state(&level, 64), MoverState::At(0));
}

//! Targets: effects on the activator, and their configstrings and events.

use crate::game::deathmatch::tests::test_level::{Corners, STANDING, TestLevel};
use crate::game::deathmatch::{
    entity_kinds::MoverState, tests::movers::SPOT, tests::movers::mover_state,
};
use crate::model::{ClientNum, SvFlags, Vec3};
use crate::{bg::MeansOfDeath, game::Ruleset};

/// Creates a target and a player away from it.
fn with_player(target: &str) -> (TestLevel, ClientNum) {
    let mut level = TestLevel::new(&[], &format!("{{ {target} }}\n{SPOT}"));
    let client = level.join(0, [100.0, 200.0, STANDING]);
    (level, client)
}

#[test]
fn push_sets_velocity_and_sounds_every_1500_ms() {
    let (mut level, client) = with_player("classname target_push angle -1 speed 700");
    level.use_entity(64, Some(client));
    assert_eq!(level.state(client).velocity, Vec3::new(0.0, 0.0, 700.0));
    let wind = level.sound("sound/misc/windfly.wav");
    let heard = |level: &TestLevel, sound: i32| {
        level.temp_entities().iter().filter(|event| (event.0, event.1) == (45, sound)).count()
    };
    assert_eq!(heard(&level, wind), 1);
    level.run(1450);
    level.use_entity(64, Some(client));
    assert_eq!(heard(&level, wind), 0);
    level.run(50);
    level.use_entity(64, Some(client));
    assert_eq!(heard(&level, wind), 0, "not within 1500 ms");
    level.run(50);
    level.use_entity(64, Some(client));
    assert_eq!(heard(&level, wind), 1);
}

#[test]
fn push_target_is_apex_of_flight() {
    let text = "{ classname target_push target t origin \"0 0 100\" spawnflags 1 }\n\
        { classname target_position targetname t origin \"400 0 500\" }\n\
        { classname target_push target t origin \"0 0 600\" }\n";
    let mut level = TestLevel::new(&[], &format!("{text}{SPOT}"));
    assert!(!level.exists(66), "its target is below it");
    let client = level.join(0, [600.0, 0.0, STANDING]);
    level.use_entity(64, Some(client));
    // √(2 · 400 / 800) = 1 s.
    assert_eq!(level.state(client).velocity, Vec3::new(400.0, 0.0, 800.0));
    assert!(level.sound("sound/world/jumppad.wav") > 0);
}

#[test]
fn target_print_reaches_its_recipients() {
    let told = |flags: i32, team: i32, nobody: bool| {
        let text = format!("classname target_print message \"a \\n b\" spawnflags {flags}");
        let (mut level, client) = with_player(&text);
        let player = level.game.clients.players[0].as_mut().expect("a player");
        player.state.persistant[3] = team;
        level.host.sent.clear();
        level.use_entity(64, (!nobody).then_some(client));
        level.host.sent.clone()
    };
    let text = "cp \"a \n b\"".to_owned();
    let (all, one) = (vec![(None, text.clone())], vec![(ClientNum::new(0), text)]);
    assert_eq!(told(0, 0, false), all);
    assert_eq!(told(4, 0, false), one);
    assert_eq!(told(4, 0, true), all);
    assert_eq!((told(1, 1, false), told(1, 2, false)), (one.clone(), Vec::new()));
    assert_eq!(
        (told(2, 2, true), told(3, 1, true), told(3, 0, true)),
        (one.clone(), one, Vec::new())
    );
}

#[test]
fn target_score_adds_points_and_shows_plum() {
    let (mut level, client) = with_player("classname target_score count 5 origin \"1 2 3\"");
    level.use_entity(64, Some(client));
    assert_eq!(level.state(client).persistant[0], 5);
    assert!(
        level.temp_entities().contains(&(65, 0, Vec3::new(1.0, 2.0, 3.0))),
        "{:?}",
        level.temp_entities()
    );
    let (mut level, client) = with_player("classname target_score");
    level.use_entity(64, Some(client));
    level.use_entity(64, None);
    assert_eq!(level.state(client).persistant[0], 1);
}

#[test]
fn target_remove_powerups_clears_powerups() {
    let (mut level, client) = with_player("classname target_remove_powerups");
    level.game.clients.players[0].as_mut().expect("a player").state.powerups = [9999; 16];
    level.use_entity(64, Some(client));
    assert_eq!(level.state(client).powerups, [0; 16]);
}

#[test]
fn target_kill_telefrags_as_world() {
    let (mut level, client) = with_player("classname target_kill");
    level.use_entity(64, Some(client));
    assert!(level.state(client).stats[0] <= 0);
    let obituary = level.temp_entities().into_iter().find(|event| event.0 == 60);
    assert_eq!(obituary.map(|event| event.1), Some(MeansOfDeath::Telefrag as i32));
    assert!(level.host.printed.iter().any(|line| line.starts_with("Kill: 1022 0 18:")));
}

#[test]
fn laser_damages_every_100_ms() {
    let laser = "classname target_laser angle 0 dmg 3 origin \"0 200 24\" spawnflags 1";
    let (mut level, client) = with_player(laser);
    let state = level.entity(64).state;
    assert_eq!((state.e_type, state.pos.base), (5, Vec3::new(0.0, 200.0, 24.0)));
    // The hall ends at 1024.
    assert!((state.origin2[0] - 1024.0).abs() < 0.5, "{:?}", state.origin2);
    let before = level.state(client).stats[0];
    level.run(100);
    assert_eq!(level.state(client).stats[0], before - 3);
    level.run(100);
    assert_eq!(level.state(client).stats[0], before - 6);
    assert!((level.entity(64).state.origin2[0] - 85.0).abs() < 0.5, "it ends at the player");
    level.use_entity(64, None);
    assert!(!level.entity(64).shared.is_linked());
    level.run(500);
    assert_eq!(level.state(client).stats[0], before - 6);
    level.use_entity(64, Some(client));
    assert_eq!(level.state(client).stats[0], before - 7, "half of three for the activator");
    level.run(20_000);
    assert!(level.host.printed.iter().any(|line| line.ends_with("by MOD_TARGET_LASER")));
}

#[test]
fn laser_reaches_2048_units_and_activates_shootable_movers() {
    let button: Corners = [[300.0, -16.0, 0.0], [316.0, 16.0, 64.0]];
    let text = "{ classname target_laser target b origin \"-100 0 32\" spawnflags 1 }\n\
        { classname func_button model *1 targetname b health 1 }\n";
    let level = TestLevel::new(&[button], text);
    assert_eq!(mover_state(&level, 65), MoverState::To(1));
    let text = "{ classname target_laser angle -1 origin \"0 0 20000\" spawnflags 1 }\n";
    let level = TestLevel::new(&[], text);
    assert_eq!(level.entity(64).state.origin2, Vec3::new(0.0, 0.0, 22_048.0));
}

#[test]
fn speakers_publish_sounds_and_play_when_used() {
    let text = "{ classname target_speaker noise sound/a wait 2.5 random 1 origin \"9 0 0\" }\n\
        { classname target_speaker noise sound/b.wav spawnflags 1 }\n\
        { classname target_speaker noise sound/b.wav spawnflags 2 }\n\
        { classname target_speaker noise sound/c spawnflags 4 }\n\
        { classname target_speaker noise *falling1 }\n\
        { classname target_speaker }\n";
    let mut level = TestLevel::new(&[], &format!("{text}{SPOT}"));
    let client = level.join(0, [600.0, 0.0, STANDING]);
    let [a, b, c] = ["a", "b", "c"].map(|name| level.sound(&format!("sound/{name}.wav")));
    let falling = level.sound("*falling1.wav");
    let state = level.entity(64).state;
    assert_eq!((state.e_type, state.event_parm, state.frame, state.client_num), (7, a, 25, 10));
    assert_eq!([65, 66].map(|at| level.entity(at).state.loop_sound), [b, 0]);
    for number in 64..69 {
        level.use_entity(number, Some(client));
    }
    assert_eq!([65, 66].map(|at| level.entity(at).state.loop_sound), [0, b]);
    let event =
        |at: usize| (level.entity(at).state.event & 0xff, level.entity(at).state.event_parm);
    assert_eq!((event(64), event(67)), ((45, a), (46, c)));
    assert!(level.entity(67).shared.sv_flags.contains(SvFlags::BROADCAST));
    let state = level.state(client);
    assert_eq!((state.external_event & 0xff, state.external_event_parm), (45, falling));
    assert_eq!(event(68).0, 0, "player model sounds play on the activator");
    assert!(level.host.printed.iter().any(|line| line.contains("without a noise")));
}

#[test]
fn locations_are_published_200_ms_after_load() {
    let text = "{ classname target_location message \"Red Base\" }\n{ classname light }\n\
        { classname target_location message Bridge count 3 }\n";
    let mut level = TestLevel::fresh(Ruleset::BASEQ3, &[], text);
    level.frame(150);
    assert_eq!(level.text(608), "");
    level.frame(50);
    let told = [608, 609, 610, 611].map(|index| level.text(index).to_owned());
    assert_eq!(told, ["unknown", "Red Base", "Bridge", ""]);
    let many = "{ classname target_location message x }\n".repeat(100);
    let level = TestLevel::new(&[], &many);
    assert_eq!((level.text(671), level.text(672)), ("x", ""));
}

#[test]
fn portals_use_their_cameras() {
    let text = "{ classname misc_portal_surface target c origin \"1 2 3\" }\n\
        { classname misc_portal_camera targetname c target p origin \"10 20 30\" roll 90 spawnflags 6 }\n\
        { classname target_position targetname p origin \"10 20 90\" }\n\
        { classname misc_portal_surface origin \"7 8 9\" }\n\
        { classname misc_portal_surface target nothing }\n";
    let level = TestLevel::new(&[], text);
    let portal = &level.entity(64).state;
    assert_eq!((portal.e_type, portal.origin2), (6, Vec3::new(10.0, 20.0, 30.0)));
    // Up is byte 5; a quarter of a turn is 64 of 256.
    assert_eq!(
        (portal.event_parm, portal.frame, portal.powerups, portal.client_num),
        (5, 75, 0, 64)
    );
    assert!(level.entity(64).shared.sv_flags.contains(SvFlags::PORTAL));
    assert_eq!(level.entity(67).state.origin2, Vec3::new(7.0, 8.0, 9.0), "a mirror");
    assert!(!level.exists(68), "no camera");
}

#[test]
fn shooters_fire_when_used_and_register_weapons() {
    let text = "{ classname shooter_rocket }\n{ classname shooter_plasma }\n{ classname shooter_grenade }\n";
    let mut level = TestLevel::new(&[], text);
    assert_eq!([64, 65, 66].map(|at| level.entity(at).state.weapon), [5, 8, 4]);
    let marked: Vec<usize> = level.text(27).match_indices('1').map(|(at, _)| at).collect();
    assert_eq!(marked, [8, 10, 11, 12, 15]);
    level.use_entity(64, None);
    assert_eq!([64, 65].map(|at| level.entity(at).state.event & 0xff), [23, 0]);
    let mut flying = (64..128).filter(|&at| level.exists(at)).map(|at| level.entity(at).state);
    let rocket = flying.find(|state| state.e_type == 3).expect("a rocket");
    assert_eq!((rocket.e_type, rocket.weapon, rocket.pos.kind), (3, 5, 2));
    assert!(rocket.pos.delta[0] > 898.0, "one degree to each side: {:?}", rocket.pos);
}

#[test]
fn shooter_fires_at_origin_of_one_target_with_spread() {
    let text = "{ classname shooter_rocket target t random 45 origin \"0 0 100\" angle 90 }\n\
        { classname info_notnull targetname t origin \"600 0 100\" }\n";
    let fired = |level: &mut TestLevel| {
        level.use_entity(64, None);
        let mut states = (64..128).filter(|&at| level.exists(at)).map(|at| level.entity(at).state);
        let rocket = states.find(|state| state.e_type == 3).expect("a rocket");
        let delta = rocket.pos.delta;
        level.run(2000);
        delta
    };
    let mut level = TestLevel::fresh(Ruleset::BASEQ3, &[], text);
    assert_eq!(level.entity(64).state.angles, Vec3::ZERO, "not sent");
    assert!(fired(&mut level)[1] > 600.0, "along its angle for 500 ms");
    let shots: Vec<Vec3> = (0..20).map(|_| fired(&mut level)).collect();
    assert!(shots.iter().all(|delta| delta[0] > 400.0), "at its target: {shots:?}");
    // Up to sin 45° of the forward direction, although the target is 600 units away.
    assert!(shots.iter().any(|delta| delta[1].abs().max(delta[2].abs()) > 200.0), "{shots:?}");
}

#[test]
fn target_use_remaps_shaders() {
    let text = "{ classname target_relay targetShaderName a/old targetShaderNewName a/new }\n\
        { classname target_relay targetShaderName b targetShaderNewName c }\n\
        { classname target_relay targetShaderName A/OLD targetShaderNewName d }\n";
    let mut level = TestLevel::new(&[], text);
    level.run(200);
    level.use_entity(64, None);
    assert_eq!(level.text(24), "a/old=a/new: 1.50@");
    level.run(10_000);
    level.use_entity(65, None);
    assert_eq!(level.text(24), "a/old=a/new: 1.50@b=c:11.50@");
    level.use_entity(66, None);
    assert_eq!(level.text(24), "A/OLD=d:11.50@b=c:11.50@");
}

#[test]
fn target_teleporter_moves_activator() {
    let text = "{ classname target_teleporter target t }\n\
        { classname misc_teleporter_dest targetname t origin \"300 300 30\" angle 90 }\n";
    let mut level = TestLevel::new(&[], &format!("{text}{SPOT}"));
    let client = level.join(0, [0.0, 0.0, STANDING]);
    level.use_entity(64, Some(client));
    assert_eq!(level.state(client).origin, Vec3::new(300.0, 300.0, 31.0));
    assert!((level.state(client).velocity[1] - 400.0).abs() < 0.01);
}

#[test]
fn unknown_classes_are_logged_once() {
    let text = "{ classname target_nonsense }\n{ classname target_nonsense }\n{ classname item_what }\n\
        { classname item_scout }\n{ classname team_redobelisk }\n{ classname weapon_railgun }\n\
        { classname team_CTF_redspawn }\n{ classname info_x }\n{ classname ITEM_Health }\n";
    let unknown = |ruleset| {
        let level = TestLevel::of(ruleset, &[], text);
        let lines = level.host.printed.into_iter().filter(|line| line.ends_with("unknown class"));
        lines.filter_map(|line| line.split(' ').nth(4).map(str::to_owned)).collect::<Vec<_>>()
    };
    let common = ["info_x", "item_what", "target_nonsense"];
    assert_eq!(unknown(Ruleset::BASEOA), common);
    let own = ["info_x", "item_scout", "item_what", "target_nonsense", "team_redobelisk"];
    assert_eq!(unknown(Ruleset::BASEQ3), own);
    let counted = TestLevel::of(Ruleset::BASEQ3, &[], text).host.printed;
    assert!(counted.iter().any(|line| line.contains("2 entities of class target_nonsense")));
}

#[test]
fn laser_hit_has_direction() {
    let laser = "classname target_laser angle 0 dmg 20 origin \"0 200 24\" spawnflags 1";
    let (mut level, client) = with_player(laser);
    level.run(100);
    let state = level.state(client);
    assert_eq!(state.damage_count, 20);
    // It comes from the west, and does not push.
    assert_eq!(state.velocity[0], 0.0);
    assert_ne!((state.damage_pitch, state.damage_yaw), (255, 255), "the hit has a direction");
}

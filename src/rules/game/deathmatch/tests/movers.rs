//! Movers: start, duration, distance and carried entities.

use crate::bg::entity_flag;
use crate::game::Ruleset;
use crate::game::deathmatch::entity_kinds::MoverState;
use crate::game::deathmatch::movers::{bump_mover, shoot_mover};
use crate::game::deathmatch::tests::test_level::{Corners, STANDING, TestLevel, entity};
use crate::model::{LevelTime, SvFlags, TrajectoryKind, Vec3};

/// Door between the halves of the hall. Its linked bounds are a unit larger on each side.
pub(super) const DOOR: Corners = [[-8.0, -64.0, 0.0], [8.0, 64.0, 128.0]];
const SLAB: Corners = [[-128.0, -128.0, 0.0], [128.0, 128.0, 16.0]];
const CUBE: Corners = [[-16.0, -16.0, -16.0], [16.0, 16.0, 16.0]];
/// Spawn point away from the movers.
pub(super) const SPOT: &str = "\n{ classname info_player_deathmatch origin \"600 600 16\" }\n";

pub(super) fn mover_state(level: &TestLevel, number: usize) -> MoverState {
    level.game.entities.mover(entity(number)).expect("a mover").1.state
}

fn event_of(level: &TestLevel, number: usize) -> (i32, i32) {
    let state = &level.entity(number).state;
    (state.event & 0xff, state.event_parm)
}

#[test]
fn door_opens_waits_and_closes() {
    let door = "{ classname func_door model *1 angle 90 targetname d }";
    let mut level = TestLevel::new(&[DOOR], door);
    let used = level.now;
    assert!(!level.is_open(), "a closed door closes its area portal");
    level.use_entity(64, None);
    let pos = level.entity(64).state.pos;
    // 130 units of travel less a lip of 8, at 400 units per second.
    assert_eq!((pos.kind, pos.time, pos.duration), (3, used.0 + 50, 305));
    assert!((pos.delta[1] - 400.0).abs() < 0.01 && pos.base == Vec3::ZERO, "{pos:?}");
    let (start, end) = (
        level.sound("sound/movers/doors/dr1_strt.wav"),
        level.sound("sound/movers/doors/dr1_end.wav"),
    );
    assert_eq!(event_of(&level, 64), (45, start));
    assert!(level.is_open());
    level.run(350);
    assert_eq!(mover_state(&level, 64), MoverState::To(1));
    level.run(50);
    assert_eq!(mover_state(&level, 64), MoverState::At(1));
    assert!((level.entity(64).state.pos.base[1] - 122.0).abs() < 0.01);
    assert_eq!((level.entity(64).state.pos.kind, event_of(&level, 64)), (0, (45, end)));
    level.run(1950);
    assert_eq!(mover_state(&level, 64), MoverState::At(1), "the wait of two seconds is not over");
    level.run(50);
    let pos = level.entity(64).state.pos;
    assert_eq!((pos.kind, pos.time, pos.duration), (3, level.now.0, 305));
    assert_eq!(event_of(&level, 64), (45, start));
    level.run(300);
    assert!(level.is_open());
    level.run(50);
    assert_eq!((mover_state(&level, 64), level.is_open()), (MoverState::At(0), false));
    assert_eq!(event_of(&level, 64), (45, end));
}

#[test]
fn used_door_reverses_in_motion_and_restarts_its_wait() {
    let door = "{ classname func_door model *1 angle 90 targetname d }";
    let mut level = TestLevel::new(&[DOOR], door);
    let used = level.now;
    level.use_entity(64, None);
    level.run(200);
    level.use_entity(64, None);
    let pos = level.entity(64).state.pos;
    // 150 of 305 ms have passed: the trajectory starts as if it had left the other position 155 ms ago.
    assert_eq!((pos.time, pos.duration), (used.0 + 200 - 155, 305));
    assert!((level.entity(64).shared.current_origin[1] - 60.0).abs() < 0.1);
    level.run(150);
    assert_eq!(mover_state(&level, 64), MoverState::At(0));
    assert!(!level.is_open());
    level.use_entity(64, None);
    level.run(400 + 1500);
    level.use_entity(64, None);
    level.run(1950);
    assert_eq!(mover_state(&level, 64), MoverState::At(1), "the wait restarted");
    level.run(50);
    assert_eq!(mover_state(&level, 64), MoverState::To(0));
}

#[test]
fn negative_wait_ends_at_once_and_zero_is_default() {
    let door =
        |wait| format!("{{ classname func_door model *1 angle 90 targetname d wait {wait} }}");
    let mut level = TestLevel::new(&[DOOR], &door(-1));
    level.use_entity(64, None);
    level.run(400);
    assert_eq!(
        mover_state(&level, 64),
        MoverState::To(0),
        "it returns in the frame of its arrival"
    );
    let mut level = TestLevel::new(&[DOOR], &door(0));
    level.use_entity(64, None);
    level.run(400 + 1950);
    assert_eq!(mover_state(&level, 64), MoverState::At(1));
}

#[test]
fn door_that_starts_open_closes_when_used() {
    let door = "{ classname func_door model *1 angle 90 targetname d spawnflags 1 }";
    let mut level = TestLevel::new(&[DOOR], door);
    assert!((level.entity(64).state.pos.base[1] - 122.0).abs() < 0.01);
    level.use_entity(64, None);
    level.run(400);
    assert!(level.entity(64).shared.current_origin[1].abs() < 0.01);
}

#[test]
fn door_opens_for_nearby_player_without_reversing() {
    let mut level =
        TestLevel::new(&[DOOR], &format!("{SPOT}{{ classname func_door model *1 angle 90 }}"));
    let client = level.join(0, [-160.0, 0.0, STANDING]);
    level.stand(client);
    assert_eq!(mover_state(&level, 65), MoverState::At(0), "120 units beyond it nothing opens");
    level.put(client, [-140.0, 0.0, STANDING]);
    level.stand(client);
    let set_out = level.entity(65).state.pos.time;
    for _ in 0..6 {
        level.stand(client);
        assert_eq!(
            (mover_state(&level, 65), level.entity(65).state.pos.time),
            (MoverState::To(1), set_out)
        );
    }
    level.stand_for(client, 4000);
    assert_eq!(
        mover_state(&level, 65),
        MoverState::At(1),
        "a player in the trigger box keeps it open"
    );
}

#[test]
fn spectator_passes_closed_door() {
    let mut level =
        TestLevel::new(&[DOOR], &format!("{SPOT}{{ classname func_door model *1 angle 90 }}"));
    let client = level.watch(0, [-60.0, 0.0, 64.0]);
    level.stand(client);
    assert_eq!(level.state(client).origin[0], -60.0, "too far away");
    level.put(client, [-24.5, 0.0, 64.0]);
    let flags = level.state(client).e_flags;
    level.stand(client);
    // The trigger box ends 131 units from the center; a spectator appears 10 units deep in the margin of 100.
    assert_eq!(level.state(client).origin, Vec3::new(41.0, 0.0, 65.0));
    assert_eq!(level.state(client).e_flags ^ flags, entity_flag::TELEPORT);
    assert_eq!(mover_state(&level, 65), MoverState::At(0), "it does not open for spectators");
}

#[test]
fn damage_activates_shootable_movers_only() {
    let shoot = |keys: &str| {
        let mut level = TestLevel::new(&[DOOR], &format!("{SPOT}{{ model *1 angle 90 {keys} }}"));
        let client = level.join(0, [-100.0, 0.0, STANDING]);
        level.stand(client);
        let touched = mover_state(&level, 65);
        level.put(client, [600.0, 0.0, STANDING]);
        level.game.with(&mut level.host, |cx, _| shoot_mover(cx, entity(65), Some(client)));
        (touched, mover_state(&level, 65))
    };
    let (shut, opening) = (MoverState::At(0), MoverState::To(1));
    assert_eq!(shoot("classname func_door health 1"), (shut, opening));
    assert_eq!(shoot("classname func_door health 1 targetname d"), (shut, opening));
    assert_eq!(shoot("classname func_door targetname d"), (shut, shut));
    assert_eq!(shoot("classname func_button health 1"), (shut, opening));
    assert_eq!(shoot("classname func_button"), (shut, shut));
    assert_eq!(shoot("classname func_static"), (shut, shut));
    // A door with a trigger box opens to damage as well; a moving one does not reverse.
    let mut level = TestLevel::new(&[DOOR], "{ classname func_door model *1 angle 90 }");
    for _ in 0..2 {
        level.game.with(&mut level.host, |cx, _| shoot_mover(cx, entity(64), None));
        assert_eq!(mover_state(&level, 64), opening);
    }
}

#[test]
fn button_moves_fires_and_returns_silently() {
    let button = "{ classname func_button model *1 angle 0 target s }\n\
        { classname target_speaker noise a targetname s }\n";
    let mut level = TestLevel::new(&[DOOR], &format!("{button}{SPOT}"));
    let client = level.join(0, [-300.0, 0.0, STANDING]);
    level.game.with(&mut level.host, |cx, _| bump_mover(cx, entity(64), client));
    // 18 units less a lip of 4, at 40 units per second.
    assert_eq!(level.entity(64).state.pos.duration, 350);
    let heard = level.entity(64).state.event;
    assert_eq!(event_of(&level, 64), (45, level.sound("sound/movers/switches/butn2.wav")));
    level.run(350);
    assert_eq!(level.entity(65).state.event, 0);
    level.run(50);
    assert_eq!(event_of(&level, 65).0, 45, "its targets fire on arrival");
    assert_eq!(heard & 0xff, 45);
    level.run(1000);
    assert_eq!((mover_state(&level, 64), level.entity(64).state.event), (MoverState::To(0), 0));
    level.run(350);
    assert_eq!(mover_state(&level, 64), MoverState::At(0));
}

#[test]
fn mover_team_moves_together_under_its_master() {
    let other: Corners = [[-8.0, 200.0, 0.0], [8.0, 264.0, 128.0]];
    let doors = "{ classname func_door model *1 angle 90 team t }\n\
        { classname func_door model *2 angle 90 team t targetname x target s }\n\
        { classname target_relay target x targetname go }\n\
        { classname target_speaker noise a targetname s }\n";
    let mut level = TestLevel::new(&[DOOR, other], &format!("{doors}{SPOT}"));
    assert_eq!((&*level.entity(64).targetname, &*level.entity(65).targetname), ("x", ""));
    let client = level.join(0, [-100.0, 0.0, STANDING]);
    level.stand(client);
    assert_eq!(mover_state(&level, 64), MoverState::At(0), "a targeted team has no trigger box");
    level.use_entity(66, None);
    let starts = [64, 65].map(|number| level.entity(number).state.pos.time);
    assert_eq!(starts, [level.now.0 + 50; 2]);
    level.run(400);
    assert_eq!([mover_state(&level, 64), mover_state(&level, 65)], [MoverState::At(1); 2]);
    assert_eq!(event_of(&level, 67).0, 45, "each member fires its own targets");
    level.run(2000);
    assert_eq!([mover_state(&level, 64), mover_state(&level, 65)], [MoverState::To(0); 2]);
}

#[test]
fn plat_waits_for_player_on_it() {
    let lift: Corners = [[-64.0, -64.0, 0.0], [64.0, 64.0, 16.0]];
    let plat = "{ classname func_plat model *1 height 100 origin \"0 0 120\" }\n";
    let mut level = TestLevel::new(&[lift], &format!("{plat}{SPOT}"));
    assert_eq!(
        level.entity(64).state.pos.base,
        Vec3::new(0.0, 0.0, 20.0),
        "it starts at the bottom"
    );
    let client = level.join(0, [0.0, 0.0, 20.0 + 16.0 + STANDING]);
    level.stand(client);
    level.stand(client);
    let pos = level.entity(64).state.pos;
    assert_eq!((pos.kind, pos.duration), (3, 500), "100 units at 200 per second");
    level.stand_for(client, 3000);
    assert_eq!(mover_state(&level, 64), MoverState::At(1), "a player is on it");
    let height = level.state(client).origin[2];
    assert!((height - (120.0 + 16.0 + STANDING)).abs() < 0.2, "{height}");
    level.put(client, [600.0, 0.0, STANDING]);
    level.run(1000);
    assert_eq!(mover_state(&level, 64), MoverState::To(0), "a second after the player left");
}

const WAY: &str = "{ classname func_train model *1 target a speed 200 }\n\
    { classname path_corner targetname a target b origin \"200 0 100\" }\n\
    { classname path_corner targetname b target c origin \"200 400 100\" wait 1 speed 50 }\n\
    { classname path_corner targetname c target d origin \"200 500 100\" speed 9000000 }\n\
    { classname path_corner targetname d target b origin \"200 0 200\" }\n\
    { classname target_speaker noise a targetname c }\n";

#[test]
fn train_follows_its_corners() {
    let mut level = TestLevel::fresh(crate::game::Ruleset::BASEQ3, &[CUBE], WAY);
    assert_eq!(level.entity(64).shared.current_origin, Vec3::ZERO);
    level.frame(100);
    let first = level.now;
    let course = |level: &TestLevel| {
        let pos = level.entity(64).state.pos;
        (pos.kind, pos.time, pos.duration, pos.base)
    };
    // 400 units at the train's own 200 per second.
    assert_eq!(course(&level), (3, first.0, 2000, Vec3::new(200.0, 0.0, 100.0)));
    level.run(1950);
    assert_eq!(event_of(&level, 69).0, 0);
    level.run(50);
    // It waits a second at the second corner, whose targets fire.
    assert_eq!(event_of(&level, 69).0, 45);
    assert_eq!(course(&level).0, 0);
    assert_eq!(level.entity(64).shared.current_origin, Vec3::new(200.0, 400.0, 100.0));
    level.run(1000);
    // 100 units at the corner's 50 per second.
    assert_eq!(course(&level), (3, first.0 + 3000, 2000, Vec3::new(200.0, 400.0, 100.0)));
    level.run(2000);
    let hidden = |level: &TestLevel| level.entity(64).shared.sv_flags.contains(SvFlags::NO_CLIENT);
    assert_eq!((course(&level).2, hidden(&level)), (1, true), "it jumps and is hidden");
    level.run(50);
    // From the last corner to the second: a loop need not include the first.
    assert_eq!(course(&level).3, Vec3::new(200.0, 0.0, 200.0));
    let distance = (400.0_f32 * 400.0 + 100.0 * 100.0).sqrt();
    assert_eq!((course(&level).2, hidden(&level)), ((distance * 5.0) as i32, false));
}

#[test]
fn train_without_loop_stays() {
    let way = "{ classname func_train model *1 target a }\n\
        { classname path_corner targetname a target b }\n{ classname path_corner targetname b }\n";
    let mut level = TestLevel::new(&[CUBE], way);
    assert!(level.host.printed.iter().any(|line| line.contains("train")));
    level.run(1000);
    assert_eq!(level.entity(64).state.pos.kind, TrajectoryKind::Stationary as i32);
}

#[test]
fn bobbing_mover_carries_player() {
    let bobbing =
        "{ classname func_bobbing model *1 height 40 speed 2 phase 0.25 origin \"0 0 100\" }\n";
    let mut level = TestLevel::new(&[SLAB], &format!("{bobbing}{SPOT}"));
    let pos = level.entity(64).state.pos;
    assert_eq!((pos.kind, pos.time, pos.duration), (4, 500, 2000));
    assert_eq!((pos.base, pos.delta), (Vec3::new(0.0, 0.0, 100.0), Vec3::new(0.0, 0.0, 40.0)));
    level.run(200);
    assert_eq!(level.now, LevelTime(1500));
    let height = |level: &TestLevel| level.entity(64).shared.current_origin[2];
    assert!((height(&level) - 100.0).abs() < 0.1, "half a period after the start");
    let client = level.join(0, [0.0, 0.0, height(&level) + 16.0 + STANDING]);
    // It falls until it has caught up with the descending slab.
    level.stand_for(client, 500);
    let mut reached = [f32::MAX, f32::MIN];
    for _ in 0..60 {
        level.stand(client);
        let above = level.state(client).origin[2] - height(&level) - 16.0;
        assert!((24.0..25.0).contains(&above), "{above} above it");
        reached = [reached[0].min(height(&level)), reached[1].max(height(&level))];
    }
    assert!((reached[0] - 60.0).abs() < 0.1 && (reached[1] - 140.0).abs() < 0.1, "{reached:?}");
}

#[test]
fn mover_without_step_links_rider_at_its_exact_place() {
    let lift = "{ classname func_door model *1 angle -1 targetname d }\n";
    let mut level = TestLevel::new(&[SLAB], &format!("{lift}{SPOT}"));
    let client = level.join(0, [10.5, 0.0, 16.0 + STANDING]);
    level.stand_for(client, 200);
    let left =
        |level: &TestLevel| level.game.clients.player(client).expect("a player").shared.absmin[0];
    assert_eq!(left(&level), -6.0, "bounds of the truncated place");
    level.use_entity(64, None);
    level.run(50);
    let (z, pos) = (level.entity(64).shared.current_origin[2], level.entity(64).state.pos);
    assert_eq!((z, pos.time), (0.0, level.now.0), "the move begins");
    assert_eq!(left(&level), -5.5);
}

#[test]
fn rotating_mover_carries_and_turns_player() {
    let mut level =
        TestLevel::new(&[SLAB], &format!("{{ classname func_rotating model *1 speed 90 }}{SPOT}"));
    let apos = level.entity(64).state.apos;
    assert_eq!((apos.kind, apos.delta), (2, Vec3::new(0.0, 90.0, 0.0)));
    let client = level.join(0, [64.0, 0.0, 16.0 + STANDING]);
    let player = level.game.clients.players[0].as_mut().expect("a player");
    player.entity.ground_entity_num = 64;
    let before = level.state(client).delta_angles[1];
    level.frame(50);
    // 4.5 degrees: 819 of 65536 of a turn.
    assert_eq!(level.state(client).delta_angles[1] - before, 819);
    let (sin, cos) = 4.5_f32.to_radians().sin_cos();
    let origin = level.state(client).origin;
    assert!(
        (origin[0] - 64.0 * cos).abs() < 0.01 && (origin[1] - 64.0 * sin).abs() < 0.01,
        "{origin:?}"
    );
    for (flags, axis) in [(4, 2), (8, 0)] {
        let text = format!("{{ classname func_rotating model *1 spawnflags {flags} }}");
        let level = TestLevel::new(&[SLAB], &text);
        assert_eq!(level.entity(64).state.apos.delta[axis], 100.0);
    }
}

#[test]
fn pendulum_period_depends_on_length_and_gravity() {
    let rod: Corners = [[-8.0, -8.0, -48.0], [8.0, 8.0, 0.0]];
    let pendulum = "{ classname func_pendulum model *1 origin \"0 0 300\" angle 90 phase 0.5 }";
    let level = TestLevel::new(&[rod], pendulum);
    let apos = level.entity(64).state.apos;
    // √(800 / (3 · 49)) / 2π swings in a second.
    assert_eq!((apos.kind, apos.duration, apos.time), (4, 2693, 1346));
    assert_eq!((apos.base, apos.delta), (Vec3::new(0.0, 90.0, 0.0), Vec3::new(0.0, 0.0, 30.0)));
    let short: Corners = [[-8.0, -8.0, -2.0], [8.0, 8.0, 40.0]];
    let level = TestLevel::new(&[short], "{ classname func_pendulum model *1 origin \"0 0 300\" }");
    // Eight units at least.
    assert_eq!(level.entity(64).state.apos.duration, 1088);
}

#[test]
fn mover_light_model_and_sound_reach_entity_state() {
    let keys = "model2 models/a.md3 noise sound/b.wav light 200 color \"1 0.5 0\"";
    let level = TestLevel::new(&[DOOR], &format!("{{ classname func_static model *1 {keys} }}"));
    let state = &level.entity(64).state;
    assert_eq!(state.constant_light, 255 | 127 << 8 | 50 << 24);
    assert_eq!((state.modelindex, state.modelindex2, state.solid), (1, 1, 0xff_ffff));
    assert_eq!((level.text(33), state.loop_sound), ("models/a.md3", level.sound("sound/b.wav")));
    let level = TestLevel::new(&[DOOR], "{ classname func_static model *1 color \"0 0 1\" }");
    assert_eq!(level.entity(64).state.constant_light, 255 << 16 | 25 << 24);
}

#[test]
fn omitted_door_opens_its_area_portal() {
    let level = TestLevel::new(&[DOOR], "{ classname func_door model *1 notfree 1 }");
    assert_ne!(level.entity(64).state.e_type, 4);
    assert!(level.is_open());
}

#[test]
fn filtered_entities_are_not_spawned() {
    for (key, for_base, for_openarena) in
        [("notq3a", false, false), ("notta", true, false), ("notteam", true, true)]
    {
        for (ruleset, there) in [(Ruleset::BASEQ3, for_base), (Ruleset::BASEOA, for_openarena)] {
            let text = format!("{{ classname func_door model *1 {key} 1 }}");
            let level = TestLevel::of(ruleset, &[DOOR], &text);
            assert_eq!(level.entity(64).state.e_type == 4, there, "{key}, {}", ruleset.folder);
        }
    }
}

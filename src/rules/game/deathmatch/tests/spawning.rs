//! Tests of spawns: occupied spawn points, weapons, views, synchronous clients, map keys.

use super::room::{STANDING, TestRoom};
use crate::bg::{MeansOfDeath, Weapon};
use crate::game::Ruleset;
use crate::game::deathmatch::{damage::damage_player, hit::Hit, teleport::teleport, think::spawn};
use crate::game::{Deathmatch, Game as _, Host as _, LevelStart, conformance::TestHost};
use crate::model::{CommandArgs, EntityNum, LevelTime, Vec3};
use crate::testing::{Block, TestMap};
use crate::world::{Bsp, TracePrecision, World};

#[test]
fn arriving_player_gibs_dead_body() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    let dead = room.join(1, 500.0, 0.0, 0.0);
    let hit = Hit::by_world(110, MeansOfDeath::Lava);
    room.game.with(&mut room.host, |cx, sys| {
        damage_player(cx, &mut sys.fight, dead, &hit);
        assert!(!sys.fight.combat.players[1].gibbed);
        teleport(
            cx,
            &mut sys.fight,
            one,
            Vec3::new(500.0, 0.0, STANDING),
            Vec3::new(0.0, 90.0, 0.0),
        );
        assert!(sys.fight.combat.players[1].gibbed);
    });
    assert_eq!(room.player(one).entity.angles, Vec3::new(0.0, 90.0, 0.0));
}

#[test]
fn dead_body_occupies_spawn_point() {
    for ruleset in Ruleset::ALL {
        let mut room = TestRoom::new(ruleset);
        let one = room.join(0, 0.0, 0.0, 0.0);
        // Bodies on all spawn points but the last, x = 1500.
        for number in 1..16 {
            let x = 200.0 * (number - 1) as f32 - 1500.0;
            let client = room.join(number, x, -1900.0, 0.0);
            let hit = Hit::by_world(110, MeansOfDeath::Lava);
            room.game
                .with(&mut room.host, |cx, sys| damage_player(cx, &mut sys.fight, client, &hit));
        }
        for _ in 0..8 {
            room.game.with(&mut room.host, |cx, sys| spawn(cx, sys, one, false));
            assert_eq!(room.state(one).origin[0], 1500.0, "{}", ruleset.folder);
        }
    }
}

#[test]
fn spawn_links_player_at_its_exact_place_in_openarena() {
    for ruleset in Ruleset::ALL {
        let mut room = TestRoom::new(ruleset);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.host.usercmds[0].server_time = room.now.0;
        room.game.with(&mut room.host, |cx, sys| spawn(cx, sys, one, false));
        let player = room.player(one);
        let [z, bottom] = [player.state.origin[2], player.shared.absmin[2]];
        assert_ne!(z.fract(), 0.0);
        let linked = if ruleset.spawning.links_exactly { z } else { z.trunc() };
        // Mins of the box are -24, and links add a unit.
        assert_eq!(bottom, linked - 25.0, "{}", ruleset.folder);
    }
}

#[test]
fn spawn_raises_highest_weapon() {
    for (ruleset, weapons, raised) in [
        (Ruleset::BASEQ3, vec![Weapon::Railgun, Weapon::RocketLauncher], Weapon::Railgun),
        (Ruleset::BASEQ3, vec![Weapon::Grapple], Weapon::Grapple),
        (Ruleset::BASEOA, vec![Weapon::Grapple], Weapon::Machinegun),
        (Ruleset::BASEOA, vec![], Weapon::Machinegun),
    ] {
        let gifts: String = weapons
            .iter()
            .map(|weapon| {
                let items = &ruleset.items;
                let kind = crate::bg::items::ItemKind::Weapon;
                let class = items.by_tag(kind, *weapon as i32).expect("an item").1.class;
                format!("{{ classname {class} targetname w origin \"0 900 100\" }}\n")
            })
            .collect();
        let text = format!(
            "{{ classname target_give target w targetname g }}\n{gifts}\
             {{ classname info_player_deathmatch origin \"0 0 16\" target g }}\n"
        );
        let mut room = TestRoom::of(ruleset, &[], &[], &text);
        let one = room.join(0, 0.0, 500.0, 0.0);
        let at = |room: &TestRoom| room.state(one).origin;
        let there = (0..200).any(|_| {
            room.put(one, Vec3::new(0.0, -1900.0, STANDING), Vec3::ZERO);
            room.game.with(&mut room.host, |cx, sys| spawn(cx, sys, one, false));
            at(&room)[1] == 0.0
        });
        assert!(there, "the spawn point is chosen");
        assert_eq!(room.state(one).weapon, raised as i32, "{} {weapons:?}", ruleset.folder);
    }
}

#[test]
fn synchronous_clients_run_before_entities() {
    let mut room = TestRoom::with(Ruleset::BASEQ3, &[], &[("g_synchronousClients", "1")]);
    let one = room.join(0, 0.0, 0.0, 0.0);
    room.arm(one, Weapon::RocketLauncher, 10);
    let now = room.now.0;
    room.player(one).state.command_time = now;
    room.think(one, crate::model::Buttons::ATTACK);
    room.frame();
    let rocket = room.missiles()[0];
    let number = EntityNum::new(rocket.number as usize).expect("a number");
    let entity = room.game.entities.get(number).expect("the rocket");
    let flown = entity.shared.current_origin;
    assert_ne!(flown, rocket.pos.base, "the rocket flies in the frame of its launch");
}

/// Starts a game in a hall without an intermission point.
fn level(ruleset: &'static Ruleset, settings: &[(&str, &str)]) -> TestRoom {
    TestRoom::with(ruleset, &[], settings)
}

#[test]
fn view_without_intermission_point_is_far_spawn_point() {
    let mut seen = std::collections::BTreeSet::new();
    for ruleset in [Ruleset::BASEQ3, Ruleset::BASEOA] {
        let mut room = level(ruleset, &[]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        for _ in 0..20 {
            room.game.with(&mut room.host, |cx, sys| {
                let view = sys.spawn_points.select_view(cx);
                assert_eq!(sys.spawn_points.view(), view);
                seen.insert(view.origin[0] as i32);
                // In the farther half of the 16 points; OpenArena leaves out the nearest.
                let nearest = if cx.clients.ruleset == Ruleset::BASEQ3 { 900.0 } else { 100.0 };
                assert!(view.origin[0].abs() >= nearest, "{view:?}");
            });
        }
        room.game.with(&mut room.host, |cx, sys| {
            crate::game::deathmatch::match_frame::begin_intermission(cx, sys);
        });
        let view = room.game.systems.spawn_points.view();
        assert_eq!(room.state(one).origin, view.origin);
    }
    assert!(seen.len() > 4, "{seen:?}");
}

#[test]
fn team_without_spawn_points_starts_far_from_map_origin() {
    let mut room = level(Ruleset::BASEQ3, &[("g_gametype", "4")]);
    let one = room.join(0, 0.0, 0.0, 0.0);
    let words = CommandArgs::parse("team red");
    room.game.client_command(&mut room.host, one, &words).expect("no fault");
    let mut sides = [false; 2];
    for _ in 0..40 {
        room.put(one, Vec3::new(1500.0, -1900.0, STANDING), Vec3::ZERO);
        room.game.with(&mut room.host, |cx, sys| spawn(cx, sys, one, false));
        let x = room.state(one).origin[0];
        assert!(x.abs() >= 900.0, "{x}");
        sides[usize::from(x > 0.0)] = true;
    }
    assert_eq!(sides, [true, true], "the player's own place is not avoided");
}

#[test]
fn map_keys_set_dust_and_breath() {
    for (ruleset, keys, values) in [
        (Ruleset::BASEOA, "enableDust 1 enableBreath 1", ["1", "1"]),
        (Ruleset::BASEOA, "enableDust 0 enableBreath 1", ["0", "1"]),
        (Ruleset::BASEOA, "", ["0", "0"]),
    ] {
        let text = format!(
            "{{ classname worldspawn {keys} }}\n{{ classname info_player_start origin \"0 0 24\" }}\0"
        );
        let floor = Block {
            mins: [-512.0, -512.0, -64.0],
            maxs: [512.0, 512.0, 0.0],
            contents: 1,
            surface_flags: 0,
        };
        let map = Bsp::load(&TestMap::from_boxes(&text, &[floor], &[]).file()).expect("a map");
        let mut host = TestHost::of_ruleset(ruleset);
        host.world = Some(World::new(map, TracePrecision::Single).expect("a world"));
        host.set_setting("g_enableDust", "1");
        let mut game = Deathmatch::new(ruleset);
        let start = LevelStart { time: LevelTime(1000), seed: 1, restart: false };
        game.init(&mut host, start).expect("no fault");
        assert_eq!(["g_enableDust", "g_enableBreath"].map(|name| host.setting(name)), values);
    }
}

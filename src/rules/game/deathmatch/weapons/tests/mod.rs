//! Tests of weapons: damage, events and flight.

mod projectiles;

use crate::game::deathmatch::{damage::damage_entity, weapons::kamikaze_blast::start_kamikaze};
use crate::model::{Buttons, ClientNum, CommandArgs, Vec3};
use crate::{
    bg::{Event, Persistent, Powerup, Weapon, pm_flag},
    game::{
        BaseGame, Game, Host, Ruleset,
        deathmatch::tests::room::{Block, FRAME_MS, STANDING, Stuff, TestRoom},
    },
};

/// Muzzle height of a standing player: 24 and the view height.
const MUZZLE_Z: f32 = 50.0;

/// Starts a level with an armed shooter that faces east and a player 300 units in front.
fn duel(
    ruleset: &'static Ruleset,
    number: impl Into<i32>,
    blocks: &[Block],
) -> (TestRoom, ClientNum, ClientNum) {
    let mut room = TestRoom::with(ruleset, blocks, &[]);
    let one = room.join(0, 0.0, 0.0, 0.0);
    let other = room.join(1, 300.0, 0.0, 180.0);
    room.arm(one, number, 10);
    (room, one, other)
}

#[test]
fn bullet_hits_player_in_front() {
    for (ruleset, number, means) in
        [(Ruleset::BASEQ3, 2, 3), (Ruleset::BASEOA, 2, 3), (Ruleset::BASEOA, 13, 24)]
    {
        let (mut room, one, other) = duel(ruleset, number, &[]);
        room.put(other, Vec3::new(60.0, 0.0, 24.125), Vec3::ZERO);
        room.fire(one);
        assert_eq!(room.health(other), 93, "{} {number}", ruleset.folder);
        assert_eq!(room.state(one).ammo[number as usize], 9);
        let shown = room.event(Event::BulletHitFlesh);
        assert_eq!((shown.event_parm, shown.other_entity_num), (1, 0));
        assert_eq!(shown.pos.base[0], 44.0, "in front of the box");
        assert_eq!(room.player(one).accuracy.of(number), (1, 1));
        assert_eq!(room.player(one).accuracy.percent(), 100);
        room.player(other).state.stats[0] = 7;
        room.player(one).state.weapon_time = 0;
        room.fire(one);
        assert_eq!(room.obituaries(), [means]);
    }
}

#[test]
fn bullet_spread_is_seeded_by_usercmd_time() {
    let hits = |ruleset: &'static Ruleset, skip: i32| {
        let mut room = TestRoom::new(ruleset);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.arm(one, Weapon::Machinegun, 50);
        room.run_for(skip);
        room.fire(one);
        let mark = room.event(Event::BulletHitWall);
        assert_eq!(mark.event_parm, 143, "the wall faces west");
        mark.pos.base
    };
    let first = hits(Ruleset::BASEOA, 0);
    assert_eq!(first, hits(Ruleset::BASEOA, 0));
    assert_ne!(first, hits(Ruleset::BASEOA, 50));
    // The usercmd time gives the seed: 1150 modulo 256 = 126.
    let mut seed: u32 = 126;
    let mut draw = || {
        seed = seed.wrapping_mul(69_069).wrapping_add(1);
        (seed & 0xffff) as f32 / 65_536.0
    };
    let angle = draw() * std::f32::consts::PI * 2.0;
    let up = angle.sin() * 2.0 * (draw() - 0.5) * 3200.0;
    let right = angle.cos() * 2.0 * (draw() - 0.5) * 3200.0;
    let part = (2048.0 - 14.0) / 131_072.0;
    let expected = [-right * part, MUZZLE_Z + up * part];
    assert!((first[1] - expected[0]).abs() <= 1.0, "{first:?} {expected:?}");
    assert!((first[2] - expected[1]).abs() <= 1.0, "{first:?} {expected:?}");
}

#[test]
fn quad_and_doubler_multiply_damage() {
    let (mut room, one, other) = duel(Ruleset::BASEOA, Weapon::Lightning, &[]);
    room.player(one).state.powerups[Powerup::Quad] = i32::MAX;
    room.fire(one);
    assert_eq!(room.health(other), 100 - 24);
    let rune = Ruleset::BASEOA.stats.rune.expect("a place");
    room.player(one).state.stats[rune] = 44;
    room.player(one).state.weapon_time = 0;
    room.fire(one);
    assert_eq!(room.health(other), 100 - 24 - 48);
}

#[test]
fn shotgun_event_carries_direction_and_seed() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, other) = duel(ruleset, Weapon::Shotgun, &[]);
        room.put(other, Vec3::new(60.0, 0.0, 24.125), Vec3::ZERO);
        room.player(other).state.stats[0] = 200;
        room.fire(one);
        assert_eq!(room.health(other), 200 - 110, "{}: every pellet", ruleset.folder);
        let shown = room.event(Event::Shotgun);
        assert_eq!(shown.pos.base, Vec3::new(14.0, 0.0, MUZZLE_Z));
        assert_eq!((shown.origin2, shown.other_entity_num), (Vec3::new(4096.0, 0.0, 0.0), 0));
        assert!((0..256).contains(&shown.event_parm));
        if ruleset.base == BaseGame::OpenArena {
            assert_eq!(shown.event_parm, room.now.0 % 256);
        }
        assert_eq!(room.player(one).accuracy.of(Weapon::Shotgun as i32), (1, 1), "one shot");
        assert_eq!(room.state(one).weapon_time, 1000);
    }
}

#[test]
fn lightning_range_is_768_units() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, other) = duel(ruleset, Weapon::Lightning, &[]);
        room.put(other, Vec3::new(14.0 + 768.0 + 14.0, 0.0, 24.125), Vec3::ZERO);
        room.fire(one);
        assert_eq!(room.health(other), 92, "{}", ruleset.folder);
        let shown = room.event(Event::MissileHit);
        assert_eq!((shown.weapon, shown.other_entity_num, shown.event_parm), (6, 1, 143));
        room.put(other, Vec3::new(14.0 + 768.0 + 16.0, 0.0, 24.125), Vec3::ZERO);
        room.player(one).state.weapon_time = 0;
        room.fire(one);
        assert_eq!(room.health(other), 92);
    }
    let wall = ([200.0, -100.0, 0.0], [220.0, 100.0, 200.0], Stuff::Wall);
    let (mut room, one, _) = duel(Ruleset::BASEQ3, Weapon::Lightning, &[wall]);
    room.fire(one);
    let shown = room.event(Event::MissileMiss);
    assert_eq!((shown.weapon, shown.event_parm), (0, 143));
    let sky = ([200.0, -100.0, 0.0], [220.0, 100.0, 200.0], Stuff::Sky);
    let (mut room, one, _) = duel(Ruleset::BASEQ3, Weapon::Lightning, &[sky]);
    room.fire(one);
    assert!(room.events(Event::MissileMiss).is_empty());
}

#[test]
fn rail_penetrates_four_players_and_earns_impressive() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, _) = duel(ruleset, Weapon::Railgun, &[]);
        let others: Vec<ClientNum> =
            (2..6).map(|n| room.join(n, 300.0 + n as f32 * 100.0, 0.0, 0.0)).collect();
        for client in (1..6).filter_map(ClientNum::new) {
            room.player(client).state.stats[0] = 150;
        }
        room.fire(one);
        let left: Vec<i32> =
            (1..6).filter_map(ClientNum::new).map(|client| room.health(client)).collect();
        assert_eq!(left, [50, 50, 50, 50, 150], "{}", ruleset.folder);
        let trail = room.event(Event::RailTrail);
        assert_eq!(trail.origin2, Vec3::new(14.0, -4.0, MUZZLE_Z - 1.0));
        assert_eq!((trail.client_num, trail.event_parm), (0, 143));
        let state = room.state(one);
        assert_eq!(state.persistant[Persistent::Impressive], 1);
        assert_eq!(room.player(one).accuracy.of(Weapon::Railgun as i32), (1, 1));
        assert_eq!(room.game.systems.fight.combat.players[0].streak, 2);
        // A penetrated player stays linked.
        assert!(room.game.clients.player(others[0]).expect("it").shared.is_linked());
        assert_eq!(room.state(one).weapon_time, 1500);
    }
}

#[test]
fn two_consecutive_rail_hits_earn_impressive() {
    let (mut room, one, other) = duel(Ruleset::BASEQ3, Weapon::Railgun, &[]);
    let shoot = |room: &mut TestRoom, hits: bool| {
        let y = if hits { 0.0 } else { 500.0 };
        room.put(other, Vec3::new(300.0, y, 24.125), Vec3::ZERO);
        room.player(other).state.stats[0] = 200;
        room.player(one).state.weapon_time = 0;
        room.fire(one);
        room.state(one).persistant[Persistent::Impressive]
    };
    let counts = [true, false, true, true].map(|hits| shoot(&mut room, hits));
    assert_eq!(counts, [0, 0, 0, 1]);
    // A rail shot that ends in the sky leaves no mark.
    let sky = ([200.0, -800.0, 0.0], [220.0, 800.0, 200.0], Stuff::Sky);
    let (mut room, one, _) = duel(Ruleset::BASEQ3, Weapon::Railgun, &[sky]);
    room.fire(one);
    assert_eq!(room.event(Event::RailTrail).event_parm, 255);
}

#[test]
fn gauntlet_hits_player_in_reach() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, other) = duel(ruleset, Weapon::Gauntlet, &[]);
        room.player(one).state.ammo[1] = -1;
        room.fire(one);
        assert_eq!((room.health(other), room.state(one).weapon_time), (100, 0));
        room.put(other, Vec3::new(60.0, 0.0, 24.125), Vec3::ZERO);
        room.fire(one);
        assert_eq!(room.health(other), 50, "{}", ruleset.folder);
        assert_eq!(room.state(one).weapon_time, 400);
        let shown = room.event(Event::MissileHit);
        assert_eq!((shown.weapon, shown.other_entity_num), (1, 1));
        room.player(one).state.weapon_time = 0;
        room.player(one).state.powerups[Powerup::Quad] = i32::MAX;
        room.fire(one);
        assert_eq!(room.obituaries(), [2]);
        assert_eq!(room.state(one).external_event & 0xff, Event::PowerupQuad);
        assert_eq!(room.state(one).persistant[Persistent::Gauntlet], 1);
        assert_eq!(room.player(one).accuracy.of(1), (0, 0));
    }
}

#[test]
fn invulnerability_deflects_shots() {
    let (mut room, one, other) = duel(Ruleset::BASEOA, Weapon::Railgun, &[]);
    room.player(other).state.powerups[Powerup::Invulnerability] = i32::MAX;
    room.fire(one);
    assert_eq!(room.health(other), 100);
    assert!(!room.events(Event::InvulnerabilityImpact).is_empty());
    room.arm(one, Weapon::RocketLauncher, 10);
    room.fire(one);
    room.run_for(500);
    assert_eq!(room.health(other), 100);
}

#[test]
fn weapon_fire_rate_matches_table() {
    for (number, interval) in [(2, 100), (3, 1000), (5, 800), (6, 50), (8, 100), (9, 200)] {
        let mut room = TestRoom::new(Ruleset::BASEQ3);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.arm(one, number, 200);
        let start = room.now.0 - FRAME_MS;
        room.player(one).state.command_time = start;
        for _ in 0..40 {
            room.frame();
            room.think(one, Buttons::ATTACK);
            room.player(one).state.origin = Vec3::new(0.0, 0.0, 24.125);
            room.player(one).state.stats[0] = 100;
        }
        let shots = 200 - room.state(one).ammo[number as usize];
        assert_eq!(shots, (2000 + interval - 1) / interval, "weapon {number}");
    }
}

#[test]
fn loadout_follows_settings() {
    let (gauntlet, gun, rail, rockets) = (1 << 1, 1 << 2, 1 << 7, 1 << 5);
    for (settings, weapons, in_hand, rounds, items) in [
        (&[("g_instantgib", "1")][..], rail, Weapon::Railgun, 999, &[14][..]),
        (&[("g_instantgib", "2")], gauntlet | rail, Weapon::Railgun, 999, &[8, 14]),
        (&[("g_rockets", "1")], rockets, Weapon::RocketLauncher, 999, &[12]),
        (&[], gauntlet | gun, Weapon::Machinegun, 100, &[8, 10]),
    ] {
        let mut room = TestRoom::with(Ruleset::BASEOA, &[], settings);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let state = room.state(one);
        assert_eq!(state.stats[Ruleset::BASEOA.stats.weapons], weapons, "{settings:?}");
        assert_eq!((state.weapon, state.ammo[in_hand]), (in_hand as i32, rounds), "{settings:?}");
        let bits = room.host.configstring(crate::bg::configstring::ITEMS);
        let loaded: Vec<_> = bits.match_indices('1').map(|(at, _)| at).collect();
        assert_eq!(loaded, items, "{settings:?}");
    }
    // The base game does not have these settings.
    let mut room = TestRoom::with(Ruleset::BASEQ3, &[], &[("g_instantgib", "1")]);
    let one = room.join(0, 0.0, 0.0, 0.0);
    assert_eq!(room.state(one).weapon, Weapon::Machinegun);
}

#[test]
fn instagib_rail_leaves_no_drops() {
    let mut room = TestRoom::with(Ruleset::BASEOA, &[], &[("g_instantgib", "1")]);
    let one = room.join(0, 0.0, 0.0, 0.0);
    let other = room.join(1, 300.0, 0.0, 180.0);
    room.player(other).state.stats[Ruleset::BASEOA.stats.armor] = 200;
    room.fire(one);
    // 800 damage, of which armor absorbs up to 200.
    assert_eq!(room.health(other), 100 - 600);
    assert_eq!(
        room.entities().filter(|state| state.e_type == 2).count(),
        0,
        "no weapon lies there"
    );
}

#[test]
fn gravity_follows_its_modifier() {
    for (ruleset, gravity) in [(Ruleset::BASEOA, 400), (Ruleset::BASEQ3, 800)] {
        let mut room = TestRoom::with(ruleset, &[], &[("g_gravityModifier", "0.5")]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.think(one, crate::model::Buttons::default());
        assert_eq!(room.state(one).gravity, gravity, "{}", ruleset.folder);
    }
}

#[test]
fn flag_stand_is_visible_to_all_clients() {
    let stands = "{ classname team_redobelisk origin \"0 400 200\" }\n\
        { classname team_blueobelisk origin \"0 -400 200\" spawnflags 1 }\n";
    for (ruleset, game_type, expected) in [
        (Ruleset::BASEOA, "4", vec![(1, 0.125), (2, 200.0)]),
        (Ruleset::BASEOA, "0", vec![]),
        (Ruleset::BASEQ3, "4", vec![]),
    ] {
        let room = TestRoom::of(ruleset, &[], &[("g_gametype", game_type)], stands);
        let shown: Vec<_> = room
            .entities()
            .filter(|state| state.e_type == 12)
            .map(|state| (state.modelindex, state.pos.base[2]))
            .collect();
        assert_eq!(shown, expected, "{} in {game_type}", ruleset.folder);
    }
}

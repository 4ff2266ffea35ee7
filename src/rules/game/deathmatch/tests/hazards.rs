//! Tests of hazards and protections: mines, invulnerability, deaths by the level, bodies that fall.

use super::room::{STANDING, Stuff, TestRoom};
use crate::bg::{Event, MeansOfDeath, Persistent, Powerup, Weapon};
use crate::game::Ruleset;
use crate::game::deathmatch::{
    context::Context, damage::damage_player, hit::Hit, pickups::give_new_item,
    projectiles::missiles::launch, think::respawn, world_effects::apply_world_effects,
};
use crate::model::{ClientNum, EntityNum, LevelTime, TrajectoryKind, Vec3};

fn teams(settings: &[(&str, &str)]) -> (TestRoom, [ClientNum; 3]) {
    let settings = [&[("g_gametype", "3")], settings].concat();
    let mut room = TestRoom::with(Ruleset::BASEOA, &[], &settings);
    let clients = [0, 1, 2].map(|n| room.join(n, 300.0 * n as f32, 0.0, 0.0));
    for (client, team) in clients.into_iter().zip(["red", "red", "blue"]) {
        let words = crate::model::CommandArgs::parse(&format!("team {team}"));
        crate::game::Game::client_command(&mut room.game, &mut room.host, client, &words)
            .expect("no fault");
        room.player(client).state.stats[0] = 100;
    }
    (room, clients)
}

fn apply(room: &mut TestRoom, victim: ClientNum, hit: &Hit) {
    room.game.with(&mut room.host, |cx, sys| damage_player(cx, &mut sys.fight, victim, hit));
}

fn hit(by: ClientNum, damage: i32, means: MeansOfDeath) -> Hit {
    Hit { attacker: Some(by), ..Hit::by_world(damage, means) }
}

#[test]
fn mines_spare_owner_and_team() {
    let (mut room, [one, mate, enemy]) = teams(&[("g_friendlyFire", "1")]);
    for (victim, health) in [(one, 100), (mate, 100), (enemy, 80)] {
        apply(&mut room, victim, &hit(one, 20, MeansOfDeath::ProximityMine));
        assert_eq!(room.health(victim), health, "{victim}");
    }
}

#[test]
fn kamikaze_and_crushed_sphere_damage_teammates() {
    for (means, health) in
        [(MeansOfDeath::Kamikaze, 80), (MeansOfDeath::Juiced, 80), (MeansOfDeath::Rocket, 100)]
    {
        let (mut room, [one, mate, _]) = teams(&[("g_friendlyFire", "0")]);
        apply(&mut room, mate, &hit(one, 20, means));
        assert_eq!(room.health(mate), health, "{means:?}");
    }
}

#[test]
fn invulnerability_protects_from_telefrags() {
    let (mut room, [one, mate, _]) = teams(&[]);
    room.player(mate).state.powerups[Powerup::Invulnerability] = i32::MAX;
    apply(&mut room, mate, &Hit::telefrag(one));
    assert_eq!(room.health(mate), 100);
}

#[test]
fn death_by_level_rewards_others_in_small_games() {
    let score = |room: &TestRoom, client| room.state(client).persistant[Persistent::Score];
    for (count, scores) in [(2, [0, 1]), (3, [0, 0])] {
        let mut room = TestRoom::new(Ruleset::BASEOA);
        let clients: Vec<_> =
            (0..count).map(|n| room.join(n, 300.0 * n as f32, 0.0, 0.0)).collect();
        apply(&mut room, clients[0], &Hit::by_world(200, MeansOfDeath::Lava));
        assert_eq!([0, 1].map(|n| score(&room, clients[n])), scores, "{count} players");
    }
}

#[test]
fn landing_ends_credit_of_pusher() {
    for (waits, killer) in [(0, 0), (20, 1022)] {
        let mut room = TestRoom::new(Ruleset::BASEOA);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let other = room.join(1, 300.0, 0.0, 0.0);
        let east = Some(Vec3::new(1.0, 0.0, 0.0));
        apply(&mut room, other, &Hit { direction: east, ..hit(one, 10, MeansOfDeath::Rocket) });
        for _ in 0..waits {
            room.think(other, crate::model::Buttons::default());
            room.frame();
        }
        apply(&mut room, other, &Hit::by_world(999, MeansOfDeath::Lava));
        assert_eq!(room.event(Event::Obituary).other_entity_num2, killer);
    }
}

#[test]
fn noclip_does_not_drown() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    room.player(one).cheats.noclip = true;
    room.game.with(&mut room.host, |cx, sys| {
        sys.fight.combat.players[0].water_level = 3;
        sys.fight.combat.players[0].air_until = LevelTime(0);
        apply_world_effects(cx, &mut sys.fight, one);
        assert!(sys.fight.combat.players[0].air_until.distance(cx.clients.now) > 0);
    });
    assert_eq!(room.health(one), 100);
}

#[test]
fn hurt_trigger_counts_as_attacker() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    for (means, number) in [(MeansOfDeath::Crush, 70), (MeansOfDeath::Lava, 1022)] {
        let by = EntityNum::new(70);
        apply(&mut room, one, &Hit { inflictor: by, ..Hit::by_world(1, means) });
        assert_eq!(room.state(one).persistant[Persistent::Attacker], number);
    }
}

#[test]
fn bullet_pushes_along_view() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    let other = room.join(1, 100.0, 0.0, 180.0);
    room.fire(one);
    let velocity = room.state(other).velocity;
    assert!(velocity[0] > 0.0 && velocity[1] == 0.0 && velocity[2] == 0.0, "{velocity:?}");
}

#[test]
fn resting_grenade_has_a_time() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    room.game.with(&mut room.host, |cx, _| {
        let weapon = Weapon::GrenadeLauncher as i32;
        let grenade = launch(cx, one.into(), weapon, Vec3::new(500.0, 0.0, 2.0), Vec3::ZERO);
        let entity = cx.entities.get_mut(grenade.expect("it")).expect("it");
        entity.state.pos.delta = Vec3::new(0.0, 0.0, -10.0);
    });
    for _ in 0..45 {
        room.frame();
        if let Some(state) = room.missiles().first()
            && state.pos.kind == TrajectoryKind::Stationary as i32
        {
            assert_eq!(state.time, room.now.0 / 4);
            return;
        }
    }
    panic!("it does not rest");
}

fn corpse(cx: &Context<'_>) -> Option<(Vec3, i32)> {
    let bodies = cx.entities.numbers().filter_map(|number| cx.entities.get(number));
    let mut linked = bodies.filter(|body| {
        matches!(body.kind, crate::game::deathmatch::entity_kinds::EntityKind::Corpse(_))
            && body.shared.is_linked()
    });
    linked.next().map(|body| (body.shared.current_origin, body.state.ground_entity_num))
}

#[test]
fn corpse_slides_down_walls_and_falls_off_ledges() {
    let wall = ([100.0, -100.0, 0.0], [200.0, 100.0, 512.0], Stuff::Wall);
    let mut room = TestRoom::with(Ruleset::BASEQ3, &[wall], &[]);
    let one = room.join(0, 60.0, 0.0, 0.0);
    room.put(one, Vec3::new(60.0, 0.0, 200.0), Vec3::ZERO);
    apply(&mut room, one, &Hit::by_world(110, MeansOfDeath::Lava));
    let player = room.player(one);
    player.entity.ground_entity_num = EntityNum::NONE.index() as i32;
    player.entity.pos.delta = Vec3::new(500.0, 0.0, 0.0);
    room.game.with(&mut room.host, |cx, sys| respawn(cx, sys, one));
    room.run_for(2000);
    let (at, ground) = room.game.with(&mut room.host, |cx, _| corpse(cx)).expect("a corpse");
    assert!(at[2] <= STANDING + 1.0, "it lies on the floor: {at:?}");
    assert!((60.0..100.0).contains(&at[0]), "{at:?}");
    assert_eq!(ground, EntityNum::WORLD.index() as i32);
    // Its ground is gone.
    room.game.with(&mut room.host, |cx, _| {
        for number in cx.entities.numbers() {
            let Some(body) = cx.entities.get_mut(number) else { continue };
            if body.shared.is_linked() {
                body.set_origin(Vec3::new(0.0, 500.0, 300.0));
                body.state.ground_entity_num = EntityNum::NONE.index() as i32;
            }
        }
    });
    room.run_for(1500);
    let (at, _) = room.game.with(&mut room.host, |cx, _| corpse(cx)).expect("a corpse");
    assert!(at[2] <= STANDING + 1.0, "{at:?}");
    assert!(room.events(Event::GibPlayer).is_empty());
}

#[test]
fn corpse_vanishes_in_nodrop() {
    let area = ([-100.0, -100.0, 0.0], [100.0, 100.0, 64.0], Stuff::Nodrop);
    for (blocks, lies) in [(&[area][..], false), (&[], true)] {
        let mut room = TestRoom::with(Ruleset::BASEQ3, blocks, &[]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.put(one, Vec3::new(0.0, 0.0, 200.0), Vec3::ZERO);
        room.player(one).entity.origin = Vec3::new(0.0, 0.0, 200.0);
        apply(&mut room, one, &Hit::by_world(110, MeansOfDeath::Lava));
        room.player(one).entity.ground_entity_num = EntityNum::NONE.index() as i32;
        room.game.with(&mut room.host, |cx, sys| respawn(cx, sys, one));
        assert!(room.game.with(&mut room.host, |cx, _| corpse(cx)).is_some(), "it falls");
        room.run_for(1500);
        assert_eq!(room.game.with(&mut room.host, |cx, _| corpse(cx)).is_some(), lies);
    }
}

#[test]
fn nodrop_at_origin_of_entity_leaves_no_corpse() {
    let area = ([-100.0, -100.0, 0.0], [100.0, 100.0, 100.0], Stuff::Nodrop);
    for (origin, is_left) in
        [(Vec3::new(0.0, 0.0, 24.0), false), (Vec3::new(0.0, 0.0, 500.0), true)]
    {
        let mut room = TestRoom::with(Ruleset::BASEQ3, &[area], &[]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.player(one).entity.origin = origin;
        apply(&mut room, one, &Hit::by_world(110, MeansOfDeath::Lava));
        room.game.with(&mut room.host, |cx, sys| respawn(cx, sys, one));
        assert_eq!(room.game.with(&mut room.host, |cx, _| corpse(cx)).is_some(), is_left);
    }
}

#[test]
fn event_parameter_of_player_outlives_its_event() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    apply(&mut room, one, &Hit::by_world(10, MeansOfDeath::Lava));
    room.frame();
    let entity = room.player(one).entity;
    assert_eq!((entity.event & 0xff, entity.event_parm), (Event::Pain as i32, 90));
    room.run_for(400);
    let entity = room.player(one).entity;
    assert_eq!((entity.event, entity.event_parm), (0, 90));
}

#[test]
fn predictable_event_between_usercmds_lasts_one_frame() {
    let mut room = TestRoom::new(Ruleset::BASEQ3);
    let one = room.join(0, 0.0, 0.0, 0.0);
    room.run_for(1000);
    room.host.userinfos[0].push_str("\\cg_predictItems\\1");
    let shard = Ruleset::BASEQ3.items.by_class("item_armor_shard").expect("an item").0;
    room.game.with(&mut room.host, |cx, sys| give_new_item(cx, &mut sys.fight, one, shard));
    let mut seen = Vec::new();
    for _ in 0..4 {
        room.frame();
        seen.push(room.player(one).entity.event & 0xff);
    }
    assert_eq!(seen, [Event::ItemPickup as i32, 0, 0, 0]);
}

#[test]
fn grenade_that_gibs_player_ends_as_on_wall() {
    for (health, event) in [(20, Event::MissileMiss), (900, Event::MissileHit)] {
        let mut room = TestRoom::new(Ruleset::BASEQ3);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let other = room.join(1, 100.0, 0.0, 180.0);
        room.player(other).state.stats[0] = health;
        room.arm(one, Weapon::GrenadeLauncher, 10);
        room.put(one, Vec3::new(0.0, 0.0, STANDING), Vec3::new(25.0, 0.0, 0.0));
        room.fire(one);
        room.run_for(200);
        let end = room.entities().find(|state| state.weapon == 4 && state.e_type == 0);
        assert_eq!(end.expect("its end").event & 0xff, event as i32, "{health}");
        assert_eq!(room.game.systems.fight.combat.players[1].gibbed, health == 20);
    }
}

#[test]
fn kamikaze_of_dead_carrier_explodes_unless_gibbed() {
    for (damage, respawns, explodes) in [(110, false, true), (110, true, true), (200, false, false)]
    {
        let mut room = TestRoom::new(Ruleset::BASEOA);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let near = room.join(1, 300.0, 0.0, 0.0);
        room.player(one).state.e_flags |= crate::bg::entity_flag::KAMIKAZE;
        apply(&mut room, one, &Hit::by_world(damage, MeansOfDeath::Lava));
        if respawns {
            room.run_for(2000);
            room.game.with(&mut room.host, |cx, sys| respawn(cx, sys, one));
            room.run_for(2900);
        } else {
            room.run_for(4900);
        }
        assert!(room.events(Event::Kamikaze).is_empty());
        room.run_for(100);
        assert_eq!(!room.events(Event::Kamikaze).is_empty(), explodes, "{damage}");
        room.run_for(2100);
        assert_eq!(room.health(near) <= 0, explodes, "{damage}");
    }
}

#[test]
fn missed_frames_are_extrapolated_in_openarena() {
    let wall = ([30.0, -100.0, 0.0], [60.0, 100.0, 200.0], Stuff::Wall);
    let step = ([20.0, -100.0, 0.0], [60.0, 100.0, 16.0], Stuff::Wall);
    for (ruleset, smooth, blocks, places) in [
        (Ruleset::BASEOA, "1", &[][..], [0.0, 16.0, 32.0, 32.0]),
        (Ruleset::BASEOA, "0", &[], [0.0; 4]),
        (Ruleset::BASEQ3, "1", &[], [0.0; 4]),
        (Ruleset::BASEOA, "1", &[wall], [0.0, 14.0, 14.0, 14.0]),
        (Ruleset::BASEOA, "1", &[step], [0.0, 16.0, 32.0, 32.0]),
    ] {
        let mut room = TestRoom::with(ruleset, blocks, &[("g_smoothClients", smooth)]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.player(one).state.velocity = Vec3::new(320.0, 0.0, 0.0);
        let seen = [0; 4].map(|_| {
            room.frame();
            room.player(one).entity.pos.base[0]
        });
        assert_eq!(seen, places, "{} {smooth} {blocks:?}", ruleset.folder);
        assert_eq!(room.state(one).origin[0], 0.0, "the player itself stays");
    }
}

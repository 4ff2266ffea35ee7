//! Tests of damage, splash damage and death.

use crate::game::deathmatch::{
    damage::damage_entity, damage::damage_player, damage::death::suicide,
    damage::splash::splash_damage, think::respawn, world_effects::set_player_sound,
};
use crate::game::deathmatch::{damage::splash::SplashDamage, hit::Hit};
use crate::model::{ClientNum, EntityNum, Vec3};
use crate::{
    bg::{Event, MeansOfDeath, Persistent, PmType, Powerup, Weapon, contents, entity_flag},
    game::{
        Host, Ruleset,
        deathmatch::tests::room::{STANDING, Stuff, TestRoom},
    },
};

const EAST: Vec3 = Vec3::new(1.0, 0.0, 0.0);

fn hit(by: ClientNum, points: i32) -> Hit {
    Hit { attacker: Some(by), direction: Some(EAST), ..Hit::by_world(points, MeansOfDeath::Rocket) }
}

fn two_players(
    ruleset: &'static Ruleset,
    settings: &[(&str, &str)],
) -> (TestRoom, ClientNum, ClientNum) {
    let mut room = TestRoom::with(ruleset, &[], settings);
    let one = room.join(0, 0.0, 0.0, 0.0);
    let other = room.join(1, 300.0, 0.0, 180.0);
    (room, one, other)
}

fn apply_hit(room: &mut TestRoom, victim: ClientNum, hit: &Hit) {
    room.game.with(&mut room.host, |cx, sys| damage_player(cx, &mut sys.fight, victim, hit));
}

#[test]
fn hit_damages_pushes_and_sends_feedback() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, other) = two_players(ruleset, &[]);
        room.player(other).state.stats[ruleset.stats.armor] = 50;
        apply_hit(&mut room, other, &hit(one, 40));
        // Armor absorbs 27 of 40.
        assert_eq!(room.health(other), 100 - 13, "{}", ruleset.folder);
        let state = room.state(other);
        assert_eq!(state.stats[ruleset.stats.armor], 50 - 27);
        assert_eq!((state.velocity, state.pm_time), (EAST * 200.0, 80));
        assert_eq!(state.persistant[Persistent::Attacker], 0);
        let told = room.state(one).persistant;
        assert_eq!(told[Persistent::Hits], 1);
        assert_eq!(told[Persistent::AttackeeArmor], 100 << 8 | 50);
        room.frame();
        let state = room.state(other);
        assert_eq!((state.damage_count, state.damage_event), (40, 1));
        assert_eq!((state.damage_pitch, state.damage_yaw), (0, 0));
        assert_eq!((state.external_event & 0xff, state.external_event_parm), (56, 87));
        let stats = &mut room.player(other).state.stats;
        (stats[0], stats[ruleset.stats.armor]) = (193, 191);
        apply_hit(&mut room, other, &hit(one, 1));
        assert_eq!(room.state(one).persistant[Persistent::AttackeeArmor], 193 << 8 | 191);
    }
}

#[test]
fn knockback_is_limited_and_follows_its_setting() {
    let (mut room, one, other) = two_players(Ruleset::BASEQ3, &[("g_knockback", "500")]);
    room.frame();
    room.player(other).state.stats[0] = 999;
    apply_hit(&mut room, other, &hit(one, 400));
    assert_eq!(room.state(other).velocity, EAST * 500.0);
    let still = Hit { no_knockback: true, ..hit(one, 10) };
    apply_hit(&mut room, other, &still);
    assert_eq!(room.state(other).velocity, EAST * 500.0);
}

#[test]
fn handicap_and_self_damage_reduce_damage() {
    let (mut room, one, other) = two_players(Ruleset::BASEQ3, &[]);
    room.player(one).max_health = 50;
    apply_hit(&mut room, other, &hit(one, 40));
    assert_eq!(room.health(other), 80);
    apply_hit(&mut room, one, &hit(one, 41));
    assert_eq!(room.health(one), 80, "half, and no handicap");
    assert_eq!(room.state(one).persistant[Persistent::Hits], 1);
    apply_hit(&mut room, other, &Hit { damage: 0, ..hit(one, 0) });
    assert_eq!(room.health(other), 79, "at least 1");
    apply_hit(&mut room, other, &hit(one, i32::MAX));
    assert!(room.health(other) >= -999);
    assert_eq!(room.obituaries(), [6]);
}

#[test]
fn battle_suit_halves_damage_and_blocks_splash() {
    let (mut room, one, other) = two_players(Ruleset::BASEQ3, &[]);
    room.player(other).state.powerups[Powerup::BattleSuit] = i32::MAX;
    apply_hit(&mut room, other, &hit(one, 40));
    assert_eq!(room.health(other), 80);
    assert_eq!(room.state(other).external_event & 0xff, Event::PowerupBattleSuit);
    apply_hit(&mut room, other, &Hit { is_splash: true, ..hit(one, 40) });
    apply_hit(&mut room, other, &Hit::by_world(10, MeansOfDeath::Falling));
    assert_eq!(room.health(other), 80);
}

#[test]
fn spawn_protection_blocks_damage_in_openarena() {
    let (mut room, one, other) = two_players(Ruleset::BASEOA, &[("g_spawnprotect", "500")]);
    apply_hit(&mut room, other, &hit(one, 40));
    assert_eq!(room.health(other), 100);
    apply_hit(&mut room, other, &Hit::by_world(5, MeansOfDeath::Falling));
    assert_eq!(room.health(other), 95);
    room.run_for(600);
    apply_hit(&mut room, other, &hit(one, 40));
    assert_eq!(room.health(other), 55);
}

#[test]
fn openarena_settings_change_damage() {
    let settings =
        [("g_damageModifier", "2"), ("g_vampire", "0.5"), ("g_vampire_max_health", "130")];
    let (mut room, one, other) = two_players(Ruleset::BASEOA, &settings);
    apply_hit(&mut room, other, &hit(one, 20));
    assert_eq!((room.health(other), room.health(one)), (60, 120));
    apply_hit(&mut room, other, &hit(one, 15));
    assert_eq!((room.health(other), room.health(one)), (30, 130), "at most 130");
    let (mut room, one, other) = two_players(Ruleset::BASEOA, &[("g_catchup", "10")]);
    for (lead, damage) in [(5, 40), (7, 32), (99, 20), (-20, 40)] {
        room.player(one).state.persistant[Persistent::Score] = lead;
        room.player(other).state.stats[0] = 100;
        apply_hit(&mut room, other, &hit(one, 40));
        assert_eq!(room.health(other), 100 - damage, "10% for each point above 5, half at most");
    }
    let (mut room, one, _) = two_players(Ruleset::BASEOA, &[("dmflags", "1024")]);
    apply_hit(&mut room, one, &hit(one, 40));
    assert_eq!(room.health(one), 100);
}

#[test]
fn splash_damage_falls_with_distance() {
    // The box starts at 285 − 1, the explosion is 60 units in front: half of 100 at radius 120.
    for ruleset in Ruleset::ALL {
        let (mut room, one, other) = two_players(ruleset, &[]);
        let splash = SplashDamage {
            center: Vec3::new(284.0 - 60.0, 0.0, 20.0),
            damage: 100.0,
            radius: 120.0,
            means: MeansOfDeath::RocketSplash,
            attacker: Some(one),
            spared: None,
        };
        assert!(room.game.with(&mut room.host, |cx, sys| splash_damage(
            cx,
            &mut sys.fight,
            &splash
        )));
        assert_eq!(room.health(other), 50, "{}", ruleset.folder);
        let thrown = room.state(other).velocity;
        // Away and 24 units up: 50 damage, 250 units/s.
        assert!((thrown.length() - 250.0).abs() < 0.1, "{thrown:?}");
        let slope = (STANDING.trunc() - 20.0 + 24.0) / 76.0;
        assert!((thrown[2] / thrown[0] - slope).abs() < 1e-3, "{thrown:?}");
        let far = SplashDamage { center: Vec3::new(284.0 - 120.0, 0.0, 20.0), ..splash };
        assert!(!room.game.with(&mut room.host, |cx, sys| splash_damage(cx, &mut sys.fight, &far)));
        let spared = SplashDamage { spared: Some(other.into()), ..splash };
        assert!(!room.game.with(&mut room.host, |cx, sys| splash_damage(
            cx,
            &mut sys.fight,
            &spared
        )));
        assert_eq!(room.health(other), 50);
    }
}

#[test]
fn splash_damage_is_blocked_by_walls_except_corners() {
    // A wall in front of the box. Only the upper trace points are visible, which exist with eight corners.
    let wall = ([240.0, -100.0, 0.0], [260.0, 100.0, 29.0], Stuff::Wall);
    for (ruleset, health) in [(Ruleset::BASEQ3, 67), (Ruleset::BASEOA, 100)] {
        let mut room = TestRoom::with(ruleset, &[wall], &[]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let other = room.join(1, 300.0, 0.0, 180.0);
        let splash = SplashDamage {
            center: Vec3::new(204.0, 0.0, 28.0),
            damage: 100.0,
            radius: 120.0,
            means: MeansOfDeath::RocketSplash,
            attacker: Some(one),
            spared: None,
        };
        room.game.with(&mut room.host, |cx, sys| splash_damage(cx, &mut sys.fight, &splash));
        assert_eq!(room.health(other), health, "{}", ruleset.folder);
    }
}

#[test]
fn frag_is_announced_scored_and_awarded() {
    for ruleset in Ruleset::ALL {
        let (mut room, one, other) = two_players(ruleset, &[]);
        apply_hit(&mut room, other, &hit(one, 110));
        let obituary = room.event(Event::Obituary);
        assert_eq!(
            (obituary.event_parm, obituary.other_entity_num, obituary.other_entity_num2),
            (6, 1, 0)
        );
        assert_eq!(room.state(one).persistant[Persistent::Score], 1);
        assert_eq!(room.state(other).persistant[Persistent::Deaths], 1);
        let plum = room.event(Event::ScorePlum);
        assert_eq!((plum.time, plum.other_entity_num), (1, 0));
        assert_eq!(room.state(one).persistant[Persistent::Excellent], 0);
        let third = room.join(2, 0.0, 300.0, 0.0);
        room.run_for(2900);
        apply_hit(&mut room, third, &Hit { means: MeansOfDeath::Gauntlet, ..hit(one, 110) });
        let state = room.state(one);
        let awards = [Persistent::Excellent, Persistent::Gauntlet].map(|n| state.persistant[n]);
        assert_eq!(awards, [1, 1], "{}", ruleset.folder);
        let shown = entity_flag::AWARD_EXCELLENT | entity_flag::AWARD_GAUNTLET;
        assert_eq!(state.e_flags & shown, entity_flag::AWARD_EXCELLENT, "only the last");
        assert_eq!(room.state(third).persistant[Persistent::PlayerEvents], 2);
        room.run_for(2100);
        room.think(one, crate::model::Buttons::default());
        assert_eq!(room.state(one).e_flags & shown, 0);
    }
}

#[test]
fn suicide_penalty_follows_ruleset() {
    let (mut room, one, _) = two_players(Ruleset::BASEQ3, &[]);
    room.game.with(&mut room.host, |cx, sys| suicide(cx, &mut sys.fight, one));
    assert_eq!(room.state(one).persistant[Persistent::Score], -1);
    assert_eq!(room.obituaries(), [20]);

    let (mut room, one, other) = two_players(Ruleset::BASEOA, &[]);
    room.game.with(&mut room.host, |cx, sys| suicide(cx, &mut sys.fight, one));
    let score = |room: &TestRoom, client| room.state(client).persistant[Persistent::Score];
    assert_eq!((score(&room, one), score(&room, other)), (0, 1));
    let plum = room.event(Event::ScorePlum);
    assert_eq!((plum.time, plum.other_entity_num), (1, 0));

    let (mut room, one, other) = two_players(Ruleset::BASEOA, &[]);
    room.join(2, 0.0, 300.0, 0.0);
    room.player(one).state.persistant[Persistent::Score] = 1;
    room.game.with(&mut room.host, |cx, sys| suicide(cx, &mut sys.fight, one));
    room.game.with(&mut room.host, |cx, sys| suicide(cx, &mut sys.fight, other));
    assert_eq!((score(&room, one), score(&room, other)), (0, 0), "no negative score");
}

#[test]
fn pusher_is_credited_with_frag_in_openarena() {
    for (ruleset, killer, score) in [(Ruleset::BASEOA, 0, 1), (Ruleset::BASEQ3, 1022, 0)] {
        let (mut room, one, other) = two_players(ruleset, &[]);
        apply_hit(&mut room, other, &hit(one, 10));
        room.run_for(4000);
        apply_hit(&mut room, other, &Hit::by_world(999, MeansOfDeath::Lava));
        assert_eq!(room.event(Event::Obituary).other_entity_num2, killer);
        assert_eq!(room.state(one).persistant[Persistent::Score], score);
    }
    let mut alone = TestRoom::with(Ruleset::BASEOA, &[], &[]);
    let one = alone.join(0, 0.0, 0.0, 0.0);
    alone.game.with(&mut alone.host, |cx, sys| suicide(cx, &mut sys.fight, one));
    assert!(alone.events(Event::ScorePlum).is_empty(), "no player gains");

    let (mut room, one, other) = two_players(Ruleset::BASEOA, &[]);
    apply_hit(&mut room, other, &hit(one, 10));
    room.game.with(&mut room.host, |cx, sys| suicide(cx, &mut sys.fight, other));
    assert_eq!(room.obituaries(), [MeansOfDeath::Falling as i32]);
    assert_eq!(room.state(one).persistant[Persistent::Score], 1);
}

#[test]
fn dead_player_faces_killer() {
    let dead_yaw = |x: f32, y: f32, hit: &dyn Fn(ClientNum, ClientNum) -> Hit| {
        let mut room = TestRoom::with(Ruleset::BASEQ3, &[], &[]);
        let one = room.join(0, 0.0, -200.0, 0.0);
        let other = room.join(1, x, y, 45.0);
        let hit = hit(one, other);
        room.player(other).entity.angles = Vec3::new(10.0, 30.0, 5.0);
        apply_hit(&mut room, other, &hit);
        assert_eq!(room.state(other).viewangles, Vec3::new(0.0, 30.0, 0.0), "of the last spawn");
        room.state(other).stats[Ruleset::BASEQ3.stats.dead_yaw]
    };
    let by_world = Hit::by_world(999, MeansOfDeath::Rocket);
    let by_other = |one, _| Hit { attacker: Some(one), ..by_world };
    assert_eq!(dead_yaw(0.0, 200.0, &by_other), 270);
    // An explosion has no position of its own: the map origin counts.
    let own_blast = |_, other| Hit { attacker: Some(other), ..by_world };
    assert_eq!(dead_yaw(0.0, 200.0, &own_blast), 270);
    assert_eq!(dead_yaw(300.0, 0.0, &|_, _| by_world), 180);
    let by_command = |_, other: ClientNum| Hit {
        attacker: Some(other),
        inflictor: Some(other.into()),
        ..by_world
    };
    assert_eq!(dead_yaw(300.0, 0.0, &by_command), 30, "the yaw of the last spawn");
}

#[test]
fn corpse_is_gibbed_at_minus_40_health() {
    let (mut room, one, other) = two_players(Ruleset::BASEQ3, &[]);
    apply_hit(&mut room, other, &hit(one, 110));
    let body = room.game.clients.player(other).expect("it").shared;
    assert_eq!((body.contents, body.maxs[2]), (contents::CORPSE, -8.0));
    assert_eq!(room.state(other).pm_type, PmType::Dead as i32, "before the next usercmd");
    assert_eq!(room.state(other).weapon, Weapon::Machinegun, "until the next usercmd");
    assert_eq!(room.state(other).external_event & 0xff, Event::Death1);
    assert_eq!(room.state(other).velocity, EAST * 550.0, "the lethal hit has knockback");
    assert_eq!(room.state(other).stats[Ruleset::BASEQ3.stats.dead_yaw], 180, "faces the killer");
    apply_hit(&mut room, other, &hit(one, 29));
    assert_eq!(room.health(other), -39);
    assert_eq!(room.state(other).velocity, EAST * 550.0, "no knockback on corpses");
    apply_hit(&mut room, other, &hit(one, 1));
    let state = room.state(other);
    assert_eq!(
        (state.external_event & 0xff, state.external_event_parm),
        (Event::GibPlayer as i32, 0)
    );
    apply_hit(&mut room, other, &hit(one, 100));
    assert_eq!(room.health(other), -40, "a gibbed body takes no damage");

    for (blood, health, shown) in [("1", -45, Event::GibPlayer), ("0", -39, Event::Death1)] {
        let (mut room, one, other) = two_players(Ruleset::BASEQ3, &[("com_blood", blood)]);
        apply_hit(&mut room, other, &hit(one, 145));
        let state = room.state(other);
        assert_eq!(
            (state.stats[0], state.external_event & 0xff),
            (health, shown as i32),
            "{blood}"
        );
        assert_eq!(state.external_event_parm, 0, "the killer");
    }
}

#[test]
fn corpse_in_body_queue_can_be_gibbed() {
    let (mut room, one, other) = two_players(Ruleset::BASEQ3, &[]);
    apply_hit(&mut room, other, &hit(one, 110));
    let seen_at = room.player(other).entity.pos.base;
    room.player(other).shared.current_origin = seen_at + EAST * 0.5;
    room.game.with(&mut room.host, |cx, sys| respawn(cx, sys, other));
    let corpse = room.game.with(&mut room.host, |cx, sys| {
        let mut slots = sys.body_queue.slots().iter().copied();
        slots.find(|&slot| sys.fight.combat.is_damageable(cx, slot)).expect("a corpse")
    });
    assert_eq!(room.game.entities.get(corpse).expect("it").state.pos.base, seen_at);
    room.game
        .with(&mut room.host, |cx, sys| damage_entity(cx, &mut sys.fight, corpse, &hit(one, 39)));
    assert!(room.game.with(&mut room.host, |cx, sys| sys.fight.combat.is_damageable(cx, corpse)));
    room.game
        .with(&mut room.host, |cx, sys| damage_entity(cx, &mut sys.fight, corpse, &hit(one, 1)));
    assert!(!room.game.with(&mut room.host, |cx, sys| sys.fight.combat.is_damageable(cx, corpse)));
    let state = room.game.entities.get(corpse).expect("it").state;
    assert_eq!(
        (state.e_type, state.event & 0xff, state.event_parm),
        (10, Event::GibPlayer as i32, 0)
    );
}

#[test]
fn gibbed_body_blocks_shots_without_damage() {
    let (mut room, one, other) = two_players(Ruleset::BASEQ3, &[]);
    apply_hit(&mut room, other, &hit(one, 500));
    room.frame();
    room.game.with(&mut room.host, |cx, sys| respawn(cx, sys, other));
    let body = room.game.with(&mut room.host, |cx, sys| {
        let slot = sys.body_queue.slots()[0];
        assert!(!sys.fight.combat.is_damageable(cx, slot));
        damage_entity(cx, &mut sys.fight, slot, &hit(one, 10));
        cx.entities.get(slot).expect("a body").clone()
    });
    assert_eq!((body.state.e_type, body.state.legs_anim), (10, 5));
    assert_eq!((body.shared.contents, body.shared.owner_num), (contents::CORPSE, 1));
    assert!(body.shared.is_linked());
}

#[test]
fn player_that_dies_in_lava_burns_on() {
    let (mut room, _, other) = two_players(Ruleset::BASEOA, &[]);
    room.game.with(&mut room.host, |cx, sys| {
        let combat = &mut sys.fight.combat.players[other.index()];
        (combat.water_level, combat.water_type) = (1, contents::LAVA);
        damage_player(cx, &mut sys.fight, other, &Hit::by_world(110, MeansOfDeath::Lava));
        set_player_sound(cx, &sys.fight.combat, other);
    });
    assert_eq!(room.state(other).loop_sound, 1);
    room.game.with(&mut room.host, |cx, sys| {
        if let Some(player) = cx.clients.players[other.index()].as_mut() {
            player.entity.e_flags |= entity_flag::TICKING;
        }
        set_player_sound(cx, &sys.fight.combat, other);
    });
    assert!(room.state(other).loop_sound > 1, "the sound of a mine");
}

#[test]
fn dead_player_respawns_after_delay_or_wave() {
    let respawn = |ruleset, settings: &[(&str, &str)]| {
        let (mut room, one, other) = two_players(ruleset, settings);
        apply_hit(&mut room, other, &hit(one, 110));
        room.game.systems.fight.combat.players[other.index()].respawn_at.distance(room.now)
    };
    assert_eq!(respawn(Ruleset::BASEQ3, &[]), 1700);
    assert_eq!(respawn(Ruleset::BASEOA, &[]), 1708, "plus 1 ms per slot");
    // A death at 1150 ms respawns at the next multiple of 10 s.
    assert_eq!(respawn(Ruleset::BASEOA, &[("g_respawntime", "10")]), 10_000 - 1150);
    assert_eq!(respawn(Ruleset::BASEQ3, &[("g_respawntime", "10")]), 1700);
}

#[test]
fn obituary_carries_means_of_death_number() {
    let means = [
        MeansOfDeath::Shotgun,
        MeansOfDeath::Gauntlet,
        MeansOfDeath::Machinegun,
        MeansOfDeath::Grenade,
        MeansOfDeath::GrenadeSplash,
        MeansOfDeath::Rocket,
        MeansOfDeath::RocketSplash,
        MeansOfDeath::Plasma,
        MeansOfDeath::PlasmaSplash,
        MeansOfDeath::Railgun,
        MeansOfDeath::Lightning,
        MeansOfDeath::Bfg,
        MeansOfDeath::BfgSplash,
        MeansOfDeath::Water,
        MeansOfDeath::Slime,
        MeansOfDeath::Lava,
        MeansOfDeath::Crush,
        MeansOfDeath::Telefrag,
        MeansOfDeath::Falling,
        MeansOfDeath::Suicide,
        MeansOfDeath::TargetLaser,
        MeansOfDeath::TriggerHurt,
        MeansOfDeath::Nail,
        MeansOfDeath::Chaingun,
        MeansOfDeath::ProximityMine,
        MeansOfDeath::Kamikaze,
        MeansOfDeath::Juiced,
        MeansOfDeath::Grapple,
    ];
    for (number, means) in (1..).zip(means) {
        let (mut room, one, other) = two_players(Ruleset::BASEOA, &[]);
        apply_hit(&mut room, other, &Hit { attacker: Some(one), ..Hit::by_world(200, means) });
        assert_eq!(room.obituaries(), [number], "{}", means.name());
    }
    let (mut room, one, other) = two_players(Ruleset::BASEQ3, &[]);
    apply_hit(
        &mut room,
        other,
        &Hit { attacker: Some(one), ..Hit::by_world(200, MeansOfDeath::Grapple) },
    );
    assert_eq!(room.obituaries(), [23]);
}

#[test]
fn hostile_numbers_damage_players_only() {
    let (mut room, one, other) = two_players(Ruleset::BASEOA, &[]);
    for number in (0..1024).filter_map(EntityNum::new) {
        let strange =
            Hit { direction: Some(Vec3::new(f32::NAN, f32::INFINITY, 0.0)), ..hit(one, i32::MIN) };
        room.game
            .with(&mut room.host, |cx, sys| damage_entity(cx, &mut sys.fight, number, &strange));
    }
    for client in [one, other] {
        assert!(room.health(client) >= 98, "{}", room.health(client));
    }
    let splash = SplashDamage {
        center: Vec3::new(1e30, 0.0, 0.0),
        damage: f32::INFINITY,
        radius: f32::MAX,
        means: MeansOfDeath::Unknown,
        attacker: None,
        spared: None,
    };
    room.game.with(&mut room.host, |cx, sys| splash_damage(cx, &mut sys.fight, &splash));
    room.host.set_setting("g_knockback", "1e39");
    room.frame();
}

//! Tests of powerups, runes and holdable items.

use super::*;

#[test]
fn rune_works_until_its_holder_dies() {
    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    let guard = level.lay("item_guard", |_| {});
    let scout = level.lay("item_scout", |_| {});
    level.touch(client, guard);
    level.touch(client, scout);
    assert!(!level.is_there(guard) && level.is_there(scout), "one at a time");
    let state = level.state(client);
    assert_eq!((state.stats[0], state.stats[4], state.stats[7]), (200, 200, 200));
    // Fast regeneration ends at half of the raised maximum plus 10%, slow regeneration at all of it.
    state.stats[0] = 30;
    level.game.with(&mut level.host, |cx, sys| {
        run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 1000)
    });
    assert_eq!(level.state(client).stats[0], 45);
    level.state(client).stats[0] = 100;
    level.game.with(&mut level.host, |cx, sys| {
        run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 2000)
    });
    assert_eq!(level.state(client).stats[0], 110);
    level.frames(50);
    let now = level.now.0;
    assert_eq!(level.state(client).powerups[Powerup::Guard], now, "visible to other clients");
    level.game.with(&mut level.host, |cx, sys| suicide(cx, &mut sys.fight, client));
    assert!(level.is_there(guard));
    assert_eq!(level.state(client).stats[2], 0);
    assert_eq!(level.dropped(), []);
}

#[test]
fn ammunition_rune_restores_ammo() {
    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    let rune = level.lay("item_ammoregen", |_| {});
    level.touch(client, rune);
    level.state(client).ammo = [0; 16];
    for _ in 0..60 {
        level.game.with(&mut level.host, |cx, sys| {
            run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 100)
        });
    }
    let ammo = level.state(client).ammo;
    assert_eq!(ammo[2..10], [24, 4, 3, 3, 20, 3, 20, 1], "six seconds");
    assert_eq!(ammo[11..14], [4, 3, 30]);
    for _ in 0..600 {
        level.game.with(&mut level.host, |cx, sys| {
            run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 200)
        });
    }
    let ammo = level.state(client).ammo;
    assert_eq!(ammo[2..10], [50, 10, 10, 10, 50, 10, 50, 10]);
    assert_eq!(ammo[11..14], [10, 5, 100]);
}

#[test]
fn health_and_armor_decay_above_their_maximum() {
    for ruleset in Ruleset::ALL {
        let stats = ruleset.stats;
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        let state = level.state(client);
        (state.stats[stats.health], state.stats[stats.armor]) = (150, 120);
        level.game.with(&mut level.host, |cx, sys| {
            run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 999)
        });
        assert_eq!(level.state(client).stats[stats.health], 150);
        level.game.with(&mut level.host, |cx, sys| {
            run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 1)
        });
        level.game.with(&mut level.host, |cx, sys| {
            run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 30_000)
        });
        let state = level.state(client);
        assert_eq!((state.stats[stats.health], state.stats[stats.armor]), (119, 100));
        state.powerups[Powerup::Regeneration] = i32::MAX;
        state.external_event = 0;
        level.game.with(&mut level.host, |cx, sys| {
            run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 1000)
        });
        let state = level.state(client);
        assert_eq!(state.stats[stats.health], 124);
        assert_eq!(state.external_event & 0xff, Event::PowerupRegen);
        state.powerups[Powerup::Regeneration] = 0;
        state.stats[stats.health] = 90;
        level.host.set_setting("g_regen", "8");
        level.game.with(&mut level.host, |cx, sys| {
            run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, 1000)
        });
        let expected = if ruleset.equipment.has_settings { 98 } else { 90 };
        assert_eq!(level.state(client).stats[stats.health], expected);
    }
}

#[test]
fn holdable_takes_effect_on_use() {
    for ruleset in Ruleset::ALL {
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        level.state(client).stats[0] = 3;
        level.game.with(&mut level.host, |cx, sys| {
            use_holdable(cx, &mut sys.fight, &mut sys.spawn_points, client, 2)
        });
        assert_eq!(level.state(client).stats[0], 125);
        let flags = level.state(client).e_flags;
        level.state(client).origin = Vec3::new(500.0, 0.0, 0.0);
        level.game.with(&mut level.host, |cx, sys| {
            use_holdable(cx, &mut sys.fight, &mut sys.spawn_points, client, 1)
        });
        assert_eq!(level.state(client).origin, Vec3::new(0.0, 0.0, 1.0), "the only spawn point");
        assert_eq!(level.state(client).e_flags ^ flags, entity_flag::TELEPORT);
        level.game.with(&mut level.host, |cx, sys| {
            use_holdable(cx, &mut sys.fight, &mut sys.spawn_points, client, 5)
        });
        let until = level.state(client).powerups[Powerup::Invulnerability];
        assert_eq!(until, level.now.0 + 10_000);
    }
}

#[test]
fn battle_suit_protects_from_drowning_and_lava() {
    // Without the suit a submerged player drowns, and one in shallow lava burns.
    for (suited, level_of_lava, health) in
        [(true, 3, 125), (true, 2, 125), (false, 3, 121), (false, 2, 65)]
    {
        let mut level = Level::new(Ruleset::BASEQ3);
        let client = level.join(0);
        level.frames(1000);
        let now = level.now;
        let state = level.state(client);
        state.stats[0] = 125;
        state.external_event = 0;
        state.powerups[Powerup::BattleSuit] = if suited { i32::MAX } else { 0 };
        let body = &mut level.game.systems.fight.combat.players[0];
        (body.water_level, body.water_type) = (level_of_lava, contents::LAVA);
        body.air_until = now + -1;
        body.pain_debounce_until = now;
        level.game.with(&mut level.host, |cx, sys| apply_world_effects(cx, &mut sys.fight, client));
        let shown = level.state(client).external_event & 0xff;
        let state = *level.state(client);
        assert_eq!(state.stats[0], health, "{suited} {level_of_lava}");
        assert_eq!(shown == Event::PowerupBattleSuit, suited);
        if suited && level_of_lava == 3 {
            assert_eq!(level.game.systems.fight.combat.players[0].air_until.distance(now), 10_000);
        }
    }
}

//! Tests of dropped items and flags.

use super::*;

#[test]
fn dead_player_drops_weapon_and_powerups() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let client = level.join(0);
    let now = level.now;
    {
        let player = level.game.clients.players[0].as_mut().unwrap();
        let state = &mut player.state;
        state.stats[2] |= 1 << 5;
        state.ammo[5] = 1;
        state.powerups[Powerup::Quad] = now.0 + 12_700;
        state.powerups[Powerup::Flight] = now.0 + 400;
        state.powerups[Powerup::Haste] = now.0;
        player.entity.weapon = Weapon::RocketLauncher as i32;
        player.entity.pos.base = Vec3::new(8.0, 16.0, 24.0);
        player.entity.apos.base = Vec3::new(70.0, 90.0, 0.0);
    }
    level.game.with(&mut level.host, |cx, sys| sys.fight.items.drop_at_death(cx, client));
    let dropped = level.dropped();
    let kinds: Vec<(i32, i32)> = dropped.iter().map(|&(_, item, count)| (item, count)).collect();
    assert_eq!(kinds, [(12, 0), (28, 12), (33, 1)]);
    for (&(number, ..), yaw) in dropped.iter().zip([90.0_f32, 135.0, 180.0]) {
        let entity = level.game.entities.get(number).unwrap();
        let (pos, state) = (entity.state.pos, &entity.state);
        assert_eq!(pos.base, Vec3::new(8.0, 16.0, 24.0));
        assert_eq!((pos.kind, pos.time), (5, now.0));
        assert!((pos.delta[0] - 150.0 * yaw.to_radians().cos()).abs() < 0.01, "{pos:?}");
        assert!((pos.delta[1] - 150.0 * yaw.to_radians().sin()).abs() < 0.01, "{pos:?}");
        assert!((150.0..=250.0).contains(&pos.delta[2]), "{pos:?}");
        assert_eq!((state.modelindex2, state.e_flags), (1, entity_flag::BOUNCE_HALF));
    }
    // Dropped items expire after 30 seconds.
    level.frames(29_950);
    assert_eq!(level.dropped().len(), 3);
    level.frames(100);
    assert_eq!(level.dropped().len(), 0);
}

#[test]
fn dropped_items_depend_on_weapon_and_game_type() {
    let weapon_of = |weapon_in_hand: i32, rounds: i32, state: i32, wanted: u8| {
        let mut level = Level::new(Ruleset::BASEOA);
        let client = level.join(0);
        let player = level.game.clients.players[0].as_mut().unwrap();
        player.state.stats[3] = 0x3ffe;
        player.state.ammo = [rounds; 16];
        player.state.weaponstate = state;
        player.command = UserCmd { weapon: wanted, ..UserCmd::default() };
        player.entity.weapon = weapon_in_hand;
        level.game.with(&mut level.host, |cx, sys| sys.fight.items.drop_at_death(cx, client));
        level.dropped().first().map(|&(_, number, _)| number)
    };
    assert_eq!(weapon_of(Weapon::Gauntlet as i32, 9, 0, 5), None);
    assert_eq!(weapon_of(Weapon::Machinegun as i32, 9, 0, 5), None);
    assert_eq!(weapon_of(Weapon::Grapple as i32, 9, 0, 5), None);
    assert_eq!(weapon_of(Weapon::Railgun as i32, 0, 0, 0), None, "no ammunition");
    assert_eq!(weapon_of(Weapon::Railgun as i32, 9, 0, 0), Some(14));
    assert_eq!(weapon_of(Weapon::Chaingun as i32, 9, 0, 0), Some(51));
    assert_eq!(weapon_of(Weapon::Machinegun as i32, 9, 2, 5), Some(12), "the weapon being raised");
    assert_eq!(weapon_of(Weapon::Machinegun as i32, 9, 2, 200), None);

    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    level.game.set_game_type(GameType::TeamDeathmatch);
    level.state(client).powerups[Powerup::Quad] = 99_000;
    level.game.with(&mut level.host, |cx, sys| sys.fight.items.drop_at_death(cx, client));
    assert_eq!(level.dropped(), [], "no powerup drops in team deathmatch");
}

#[test]
fn dropped_item_rests_at_truncated_position() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let place = level.lay("weapon_railgun", |pickup| pickup.is_dropped = true);
    let mut trace = crate::model::Trace::free(Vec3::new(-10.7, 10.7, -20.8));
    trace.fraction = 0.5;
    trace.plane.normal = Vec3::new(0.0, 0.0, 1.0);
    level.game.with(&mut level.host, |cx, sys| sys.fight.items.land(cx, place, &trace));
    let rest = level.game.entities.get(place).expect("it").state.pos.base;
    assert_eq!(rest, Vec3::new(-10.0, 10.0, -19.0));
}

#[test]
fn item_times_are_whole_seconds() {
    for (wait, seconds) in [(1.5, 1), (7.9, 7)] {
        let mut level = Level::new(Ruleset::BASEQ3);
        let client = level.join(0);
        let place = level.lay("weapon_railgun", |pickup| pickup.wait = wait);
        level.game.with(&mut level.host, |cx, sys| touch_item(cx, sys, client, place));
        let due = level.game.entities.get(place).and_then(|entity| entity.think_at);
        assert_eq!(due.expect("it respawns").distance(level.now), seconds * 1000, "{wait}");
    }
}

#[test]
fn lost_flag_returns_to_its_base() {
    for ruleset in Ruleset::ALL {
        let (mut level, [red, _], [_, blue_flag]) = flags(ruleset);
        let status = |level: &Level| level.host.configstring(configstring::FLAG_STATUS).to_owned();
        let carry = |level: &mut Level| {
            level.state(red).powerups[Powerup::BlueFlag] = UNTIL_LOST;
            level.game.with(&mut level.host, |cx, _| hide_item(cx, blue_flag));
        };
        carry(&mut level);
        level.game.with(&mut level.host, |cx, sys| sys.fight.items.drop_at_death(cx, red));
        assert_eq!(status(&level), "02");
        let dropped = level.dropped();
        assert_eq!((dropped.len(), dropped[0].1), (1, 35));
        level.frames(29_900);
        assert!(!level.is_there(blue_flag));
        level.frames(200);
        assert_eq!(status(&level), "00");
        assert!(level.is_there(blue_flag) && level.dropped().is_empty());
        let sounds = level.shown(Event::GlobalTeamSound);
        assert_eq!((sounds.len(), sounds[0].0.event_parm), (1, 2), "the blue flag returned");
        let told = |level: &Level| {
            let line = "print \"The BLUE flag has returned!\n\"";
            level.host.sent_to_all().iter().filter(|&&sent| sent == line).count()
        };
        assert_eq!(told(&level), 0, "no printed line");

        // A suicide returns it at once and prints the line.
        carry(&mut level);
        level.game.with(&mut level.host, |cx, sys| suicide(cx, &mut sys.fight, red));
        assert!(level.is_there(blue_flag) && level.dropped().is_empty());
        assert_eq!(told(&level), 1);

        // So does a door that crushes it.
        let (mut level, [red, _], [_, blue_flag]) = flags(ruleset);
        level.state(red).powerups[Powerup::BlueFlag] = UNTIL_LOST;
        level.game.with(&mut level.host, |cx, _| hide_item(cx, blue_flag));
        level.game.with(&mut level.host, |cx, sys| {
            use_holdable(cx, &mut sys.fight, &mut sys.spawn_points, red, 1)
        });
        assert_eq!(level.state(red).powerups[Powerup::BlueFlag], 0, "the flag was dropped");
        let dropped = level.dropped();
        level.game.with(&mut level.host, |cx, sys| sys.fight.items.crush_item(cx, dropped[0].0));
        assert!(level.is_there(blue_flag) && level.dropped().is_empty());
    }
}

#[test]
fn flag_is_carried_and_returned() {
    let (mut level, [red, _], [red_flag, blue_flag]) = flags(Ruleset::BASEQ3);
    let touch = |level: &mut Level, flag, dropped| {
        level.game.with(&mut level.host, |cx, sys| {
            touch_team_item(cx, &mut sys.fight, red, flag, dropped, Vec3::ZERO)
        })
    };
    assert!(touch(&mut level, TeamColor::Blue, false), "the player carries it");
    assert_eq!(level.state(red).powerups[Powerup::BlueFlag], UNTIL_LOST);
    assert_eq!(level.host.configstring(configstring::FLAG_STATUS), "01");
    level.game.with(&mut level.host, |cx, sys| {
        sys.fight.items.return_flag(cx, TeamColor::Blue, flags::ReturnAnnouncement::None)
    });
    assert_eq!(level.state(red).powerups[Powerup::BlueFlag], 0);
    assert!(level.is_there(blue_flag) && level.is_there(red_flag));
    assert_eq!(level.host.configstring(configstring::FLAG_STATUS), "00");
}

#[test]
fn flag_ends_spawn_protection_and_other_items_do_not() {
    let (mut level, [red, _], [_, blue_flag]) = flags(Ruleset::BASEOA);
    let shard = level.lay("item_armor_shard", |_| {});
    let until = |level: &mut Level| {
        level
            .game
            .with(&mut level.host, |_, sys| sys.fight.combat.players[red.index()].protected_until)
    };
    level.game.with(&mut level.host, |cx, sys| {
        sys.fight.combat.players[red.index()].protected_until = Some(cx.clients.now + 5000);
    });
    level.touch(red, shard);
    assert!(until(&mut level).is_some());
    level.touch(red, blue_flag);
    assert_eq!(until(&mut level), None);
}

#[test]
fn full_entity_table_loses_drops_but_no_flag() {
    let (mut level, [red, _], [_, blue_flag]) = flags(Ruleset::BASEOA);
    level.game.with(&mut level.host, |cx, _| hide_item(cx, blue_flag));
    level.state(red).powerups[Powerup::BlueFlag] = UNTIL_LOST;
    level.state(red).powerups[Powerup::Quad] = 90_000;
    let (now, started) = level.game.with(&mut level.host, |cx, _| cx.clock());
    while level
        .game
        .entities
        .add(Entity::new(EntityKind::TargetPosition, HERE), now, started)
        .is_some()
    {}
    level.game.with(&mut level.host, |cx, sys| sys.fight.items.drop_at_death(cx, red));
    assert_eq!(level.dropped(), []);
    assert!(level.is_there(blue_flag));
    let shard = EntityNum::new(64).unwrap();
    level.touch(red, shard);
    level.frames(1000);
}

#[test]
fn disconnecting_player_drops_powerups() {
    for (ruleset, expected) in [(Ruleset::BASEQ3, 1), (Ruleset::BASEOA, 1)] {
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        level.state(client).powerups[Powerup::Quad] = 90_000;
        level.game.client_disconnect(&mut level.host, client).expect("no fault");
        assert_eq!(level.dropped().len(), expected, "{}", ruleset.folder);
        level.frames(31_000);
        assert_eq!(level.dropped().len(), 0);
    }
}

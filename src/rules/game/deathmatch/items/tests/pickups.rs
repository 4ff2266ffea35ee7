//! Tests of pickup effects and respawn times.

use super::*;

#[test]
fn item_has_its_effect_and_respawns() {
    for ruleset in Ruleset::ALL {
        for &row in BASE {
            check(ruleset, row);
        }
    }
    for &row in OPEN {
        check(Ruleset::BASEOA, row);
    }
    // The loops cover every item of the table except the placeholder, the gauntlet and team items.
    let others = |ruleset: &Ruleset| {
        (1..ruleset.items.len())
            .map(|number| &ITEMS[number])
            .filter(|item| item.kind != ItemKind::Team && item.class != "weapon_gauntlet")
            .count()
    };
    assert_eq!(others(Ruleset::BASEQ3), BASE.len());
    assert_eq!(others(Ruleset::BASEOA), BASE.len() + OPEN.len());
}

#[test]
fn pickup_respects_item_maximums() {
    for ruleset in Ruleset::ALL {
        let stats = ruleset.stats;
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        for (class, stat, before, after) in [
            ("item_health", stats.health, 90, 100),
            ("item_health_mega", stats.health, 150, 200),
            ("item_health_small", stats.health, 198, 200),
            ("item_armor_body", stats.armor, 150, 200),
        ] {
            let place = level.lay(class, |_| {});
            level.state(client).stats[stat] = before;
            level.touch(client, place);
            assert_eq!(level.state(client).stats[stat], after, "{class}");
        }
        let place = level.lay("ammo_bullets", |pickup| pickup.count = 86_400);
        level.state(client).ammo[2] = 199;
        level.touch(client, place);
        assert_eq!(level.state(client).ammo[2], 200);
        // An item stays if the player is full.
        let place = level.lay("ammo_bullets", |_| {});
        level.touch(client, place);
        assert!(level.is_there(place));
        // The rounds of a cheat are cut to the maximum; unlimited ammunition stays.
        for (before, after) in [(999, 200), (UNLIMITED_AMMO, UNLIMITED_AMMO)] {
            let place = level.lay("weapon_machinegun", |_| {});
            level.state(client).ammo[2] = before;
            level.touch(client, place);
            assert_eq!(level.state(client).ammo[2], after);
        }
    }
}

#[test]
fn weapon_pickup_adds_missing_or_full_ammo() {
    for (count, dropped, game_type, before, after) in [
        (0, false, GameType::FreeForAll, 0, 10),
        (0, false, GameType::FreeForAll, 4, 10),
        (0, false, GameType::FreeForAll, 10, 11),
        (25, false, GameType::FreeForAll, 4, 25),
        (-1, false, GameType::FreeForAll, 4, 4),
        (0, true, GameType::FreeForAll, 4, 14),
        (0, false, GameType::TeamDeathmatch, 4, 14),
        (0, false, GameType::TeamDeathmatch, 195, 200),
    ] {
        let mut level = Level::new(Ruleset::BASEQ3);
        let client = level.join(0);
        level.game.set_game_type(game_type);
        level.state(client).ammo[5] = before;
        let place = level.lay("weapon_rocketlauncher", |pickup| {
            (pickup.count, pickup.is_dropped) = (count, dropped);
        });
        level.touch(client, place);
        assert_eq!(level.state(client).ammo[5], after, "{count} {dropped} {game_type:?} {before}");
        assert_eq!(level.game.entities.get(place).is_none(), dropped, "dropped ones are gone");
        if !dropped {
            let seconds = if game_type == GameType::TeamDeathmatch { 30 } else { 5 };
            let due = level.game.entities.get(place).unwrap().think_at;
            assert_eq!(due, Some(level.now + seconds * 1000));
        }
    }
}

#[test]
fn weapon_stays_with_respawn_time_zero() {
    let mut level = Level::new(Ruleset::BASEOA);
    level.host.set_setting("g_weaponrespawn", "0");
    let client = level.join(0);
    let place = level.lay("weapon_bfg", |_| {});
    level.touch(client, place);
    assert!(level.is_there(place));
    assert_eq!((level.state(client).ammo[9], level.state(client).event_sequence), (20, 0));
}

#[test]
fn map_keys_change_count_and_respawn_time() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let client = level.join(0);
    let now = level.now;
    let due = |level: &mut Level, fill: &dyn Fn(&mut ItemState)| {
        level.state(client).powerups = [0; 16];
        let place = level.lay("item_quad", fill);
        level.touch(client, place);
        let until = level.state(client).powerups[Powerup::Quad];
        (level.game.entities.get(place).unwrap().think_at.map(|at| at.distance(now)), until)
    };
    assert_eq!(due(&mut level, &|pickup| pickup.wait = 7.0), (Some(7000), 31_000));
    assert_eq!(due(&mut level, &|pickup| pickup.wait = -1.0), (None, 31_000));
    assert_eq!(due(&mut level, &|pickup| pickup.count = 5), (Some(120_000), 6000));
    let times: Vec<i32> = (0..40)
        .filter_map(|_| due(&mut level, &|pickup| (pickup.wait, pickup.random) = (10.0, 9.5)).0)
        .collect();
    assert!(times.iter().all(|ms| (1000..=19_500).contains(ms)), "{times:?}");
    assert!(times.iter().any(|&ms| ms < 6000) && times.iter().any(|&ms| ms > 14_000));
    level.frames(400);
    level.state(client).powerups = [0; 16];
    let place = level.lay("item_quad", |pickup| pickup.is_silent = true);
    level.touch(client, place);
    let heard = level.shown(Event::GlobalItemPickup);
    assert!(heard[0].1.sv_flags.contains(SvFlags::SINGLE_CLIENT));
    assert_eq!(heard[0].1.single_client, 0);
}

#[test]
fn second_powerup_extends_first_until_expiry() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let client = level.join(0);
    for expected in [31_000, 61_000] {
        let place = level.lay("item_haste", |_| {});
        level.touch(client, place);
        assert_eq!(level.state(client).powerups[Powerup::Haste], expected);
    }
    level.state(client).powerups[Powerup::RedFlag] = UNTIL_LOST;
    level.now = LevelTime(60_950);
    level.frames(50);
    assert_eq!(level.state(client).powerups[Powerup::Haste], 61_000, "its last frame");
    level.frames(50);
    assert_eq!(level.state(client).powerups[Powerup::Haste], 0);
    assert_eq!(level.state(client).powerups[Powerup::RedFlag], UNTIL_LOST);
}

#[test]
fn pickup_event_reaches_clients_without_prediction() {
    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    for userinfo in ["\\name\\a\\cg_predictItems\\0", "\\name\\a"] {
        userinfo.clone_into(&mut level.host.userinfos[0]);
        level.state(client).external_event = 0;
        let place = level.lay("item_armor_shard", |_| {});
        level.touch(client, place);
        let state = level.state(client);
        assert_eq!(
            (state.event_sequence, state.external_event & 0xff),
            (0, Event::ItemPickup as i32)
        );
        assert_eq!(state.external_event_parm, 1);
    }
}

#[test]
fn item_chain_shows_one_member() {
    let mut level = Level::new(Ruleset::BASEOA);
    let client = level.join(0);
    let classes = ["item_health", "item_armor_body", "weapon_bfg"];
    let members = classes.map(|class| level.lay(class, |pickup| pickup.chain = "a".into()));
    let lonely = level.lay("item_health_mega", |_| {});
    level.game.entities.get_mut(members[2]).unwrap().targetname = "called".into();
    level.game.entities.join_item_chains();
    assert_eq!(level.game.entities.chain_of(members[0]).collect::<Vec<_>>(), members);
    assert_eq!(&*level.game.entities.get(members[0]).unwrap().targetname, "called");
    assert_eq!(&*level.game.entities.get(members[2]).unwrap().targetname, "");
    for &member in &members[1..] {
        level.game.with(&mut level.host, |cx, _| hide_item(cx, member));
    }
    let mut seen = [0; 3];
    for _ in 0..60 {
        let there: Vec<usize> = (0..3).filter(|&at| level.is_there(members[at])).collect();
        assert_eq!(there.len(), 1);
        seen[there[0]] += 1;
        level.state(client).stats[0] = 1;
        level.state(client).stats[4] = 0;
        level.touch(client, members[there[0]]);
        level.frames(40_000);
    }
    assert!(seen.iter().all(|&count| count > 8), "{seen:?}");
    assert!(level.is_there(lonely));
    // The next member leads the chain after the first is removed.
    level.game.with(&mut level.host, |cx, _| remove_item(cx, members[0]));
    assert_eq!(level.game.entities.chain_of(members[1]).collect::<Vec<_>>(), members[1..]);
}

#[test]
fn quad_waits_while_its_factor_is_one() {
    for (ruleset, comes) in [(Ruleset::BASEOA, false), (Ruleset::BASEQ3, true)] {
        let mut level = Level::new(ruleset);
        let client = level.join(0);
        level.host.set_setting("g_quadfactor", "1");
        let place = level.lay("item_quad", |_| {});
        level.touch(client, place);
        level.now = level.now + 120_000;
        level.frames(2000);
        assert_eq!(level.is_there(place), comes, "{}", ruleset.folder);
        level.host.set_setting("g_quadfactor", "3");
        level.frames(2000);
        assert!(level.is_there(place));
    }
}

#[test]
fn enemy_in_front_of_powerup_is_denied() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let taker = level.join(0);
    let cases = [
        (Vec3::new(-100.0, 0.0, 0.0), 0.0, 1),
        (Vec3::new(-193.0, 0.0, 0.0), 0.0, 0),
        (Vec3::new(-100.0, 0.0, 0.0), 180.0, 0),
        (Vec3::new(-100.0, 0.0, 0.0), 66.0, 1),
        (Vec3::new(-100.0, 0.0, 0.0), 67.0, 0),
    ];
    let others: Vec<ClientNum> = (1..=cases.len()).map(|number| level.join(number)).collect();
    for (&other, (origin, yaw, _)) in others.iter().zip(cases) {
        level.state(other).origin = origin;
        level.state(other).viewangles = Vec3::new(0.0, yaw, 0.0);
    }
    let place = level.lay("item_quad", |_| {});
    level.touch(taker, place);
    for (&other, (origin, yaw, denied)) in others.iter().zip(cases) {
        let bits = level.state(other).persistant[Persistent::PlayerEvents];
        assert_eq!(bits, denied, "{origin:?} {yaw}");
    }
    assert_eq!(level.state(taker).persistant[Persistent::PlayerEvents], 0);
    // A dead player picks up nothing.
    level.state(others[0]).stats[0] = 0;
    level.frames(121_000);
    assert!(level.is_there(place));
    level.touch(others[0], place);
    assert!(level.is_there(place));
}

#[test]
fn hidden_item_is_shown_and_given_by_targets() {
    let mut level = Level::new(Ruleset::BASEQ3);
    let client = level.join(0);
    let place = level.lay("weapon_bfg", |_| {});
    level.game.with(&mut level.host, |cx, _| hide_item(cx, place));
    level.touch(client, place);
    assert_eq!(level.state(client).ammo[9], 0, "a hidden item has no touch");
    level.game.with(&mut level.host, |cx, _| use_item(cx, place));
    assert!(level.is_there(place));
    level.game.with(&mut level.host, |cx, _| hide_item(cx, place));
    level.game.with(&mut level.host, |cx, sys| give_item(cx, &mut sys.fight, client, place));
    assert_eq!(level.state(client).ammo[9], 20);
    assert_eq!(level.game.entities.get(place).unwrap().think_at, None, "no respawn");
    assert!(!level.game.entities.get(place).unwrap().shared.is_linked());
}

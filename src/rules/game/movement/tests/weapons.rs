//! Unit tests of weapon timing, runes and holdables in pmove.

use super::*;

#[test]
fn weapon_change_takes_time_or_is_instant() {
    let change = |dmflags| {
        let mut scene = openarena(dmflags);
        scene.command.weapon = 5;
        let events = scene.events(1, 8);
        let mut ms = 8;
        while scene.state.weaponstate != WeaponState::Ready && ms < 1000 {
            scene.step(8);
            ms += 8;
        }
        assert_eq!(scene.state.weapon, 5);
        (events, ms)
    };
    let (events, ms) = change(0);
    // 200 down, 250 up, in whole steps.
    assert_eq!((events.as_slice(), ms), ([Event::ChangeWeapon].as_slice(), 8 + 200 + 256));
    // Down, up and ready are a step each.
    assert_eq!(change(64), (vec![], 16));
}

#[test]
fn weapon_not_owned_cannot_be_selected() {
    for wanted in [0, 14, 200, 255] {
        let mut scene = openarena(0);
        scene.command.weapon = wanted;
        scene.step(8);
        assert_eq!((scene.state.weapon, scene.state.weaponstate), (2, WeaponState::Ready as i32));
    }
    // The base game's last weapon is the hook; higher bits are ignored.
    let mut scene = quake3(Floor::with(0));
    scene.command.weapon = 11;
    scene.step(8);
    assert_eq!(scene.state.weaponstate, WeaponState::Ready);
}

/// Counts the shots within two seconds.
fn shots(scene: &mut Scene) -> usize {
    scene.command.buttons = Buttons::ATTACK;
    scene.events(1000, 2).into_iter().filter(|event| *event == Event::FireWeapon).count()
}

#[test]
fn runes_and_haste_shorten_fire_interval() {
    let with = |item, haste| {
        let mut scene = openarena(0);
        let rune = scene.rules.variant.stats.rune.expect("OpenArena has runes");
        scene.state.stats[rune] = item;
        scene.state.powerups[Powerup::Haste] = haste;
        let shots = shots(&mut scene);
        (scene.state.weapon_time, shots)
    };
    // 100 ms; 76 ms with haste; 66 ms with scout, which haste does not add to; 100 ms without a rune.
    assert_eq!(with(0, 0).1, 20);
    assert_eq!(with(0, 1).1, 27);
    assert_eq!(with(42, 1).1, 31);
    assert_eq!(with(45, 0).1, 27);
    assert_eq!(with(43, 0).1, 20);
}

#[test]
fn gauntlet_fires_only_when_it_hits() {
    let mut scene = quake3(Floor::with(0));
    scene.state.weapon = Weapon::Gauntlet as i32;
    scene.command.weapon = 1;
    assert_eq!(shots(&mut scene), 0);
    scene.conditions.gauntlet_hit = true;
    assert_eq!(shots(&mut scene), 5);
    assert_eq!(scene.state.ammo[1], UNLIMITED_AMMO);
    assert_eq!(scene.state.torso_anim & !animation::TOGGLE, animation::TORSO_ATTACK2);
}

#[test]
fn ammo_runs_out_unless_unlimited() {
    for (variant, ammo, left) in [
        (PmoveVariant::QUAKE3, 999, 979),
        (PmoveVariant::OPENARENA, 999, 999),
        (PmoveVariant::OPENARENA, -1, -1),
    ] {
        let mut scene = Scene::new(variant, SETTINGS, Floor::with(0));
        scene.state.ammo[2] = ammo;
        shots(&mut scene);
        assert_eq!(scene.state.ammo[2], left, "{}", variant.name);
    }
    let mut scene = quake3(Floor::with(0));
    scene.state.ammo[2] = 1;
    scene.command.buttons = Buttons::ATTACK;
    let clicks = scene.events(1000, 2);
    // The shot, 100 ms, then a click every 500 ms.
    assert_eq!(clicks, [vec![Event::FireWeapon], vec![Event::NoAmmo; 4]].concat());
}

#[test]
fn weapons_are_disabled_in_elimination_warmup() {
    let mut scene = openarena(0);
    scene.state.pm_flags |= pm_flag::ELIMINATION_WARMUP;
    assert_eq!(shots(&mut scene), 0);
}

#[test]
fn healthy_player_keeps_medkit() {
    for (health, used) in [(125, vec![]), (124, vec![Event::UseItem2])] {
        let mut scene = quake3(Floor::with(0));
        scene.state.stats[HEALTH] = health;
        scene.state.stats[scene.rules.variant.stats.holdable] = 27;
        scene.command.buttons = Buttons::USE_HOLDABLE;
        assert_eq!(scene.events(3, 8), used, "at {health}");
    }
    // OpenArena's invulnerability is item 38, tag 5.
    let mut scene = openarena(0);
    scene.state.stats[scene.rules.variant.stats.holdable] = 38;
    scene.command.buttons = Buttons::USE_HOLDABLE;
    assert_eq!(scene.events(1, 8), [Event::UseItem5]);
    assert_eq!(scene.state.stats[scene.rules.variant.stats.holdable], 0);
}

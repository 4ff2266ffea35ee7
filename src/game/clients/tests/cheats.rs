//! Cheats.

use super::*;
use crate::bg::{Event, PmType};
use crate::game::BaseGame;
use crate::model::Vec3;

const ON: &[(&str, &str)] = &[("sv_cheats", "1")];

#[test]
fn nobody_cheats_unless_the_setting_allows_it() {
    for (ruleset, refusal) in [
        (Ruleset::BASEQ3, "print \"Cheats are not enabled on this server.\n\""),
        (Ruleset::BASEOA, "print \"Cheats are not enabled on this server\n\""),
    ] {
        let mut hall = Hall::with(ruleset, &[], &["alpha"]);
        let before = *hall.state(0);
        for line in ["give all", "god", "notarget", "noclip", "setviewpos 1 2 3 4", "levelshot"] {
            assert_eq!(hall.ask(0, line), refusal, "{line}");
        }
        assert_eq!(*hall.state(0), before);
        assert_eq!(hall.configstring(20), ruleset.version);
    }
}

#[test]
fn switches_say_where_they_stand() {
    let mut hall = Hall::with(Ruleset::BASEQ3, ON, &["alpha"]);
    for name in ["god", "notarget", "noclip"] {
        let shown = if name == "god" { "godmode" } else { name };
        assert_eq!(hall.ask(0, name), format!("print \"{shown} ON\n\""));
        assert_eq!(hall.ask(0, name), format!("print \"{shown} OFF\n\""));
    }
}

#[test]
fn noclip_is_a_kind_of_movement_that_ends_with_life() {
    let mut hall = Hall::with(Ruleset::BASEOA, ON, &["alpha"]);
    hall.ask(0, "noclip");
    hall.wait(100);
    hall.think(0, UserCmd::default());
    assert_eq!(hall.state(0).pm_type, PmType::Noclip as i32);
    hall.say(0, "kill");
    hall.wait(3000);
    hall.press(0, Buttons::ATTACK);
    hall.wait(100);
    hall.think(0, UserCmd::default());
    assert_eq!(hall.state(0).pm_type, PmType::Normal as i32);
}

#[test]
fn gifts_are_counted() {
    for ruleset in Ruleset::ALL {
        let mut hall = Hall::with(ruleset, ON, &["alpha"]);
        assert_eq!(hall.ask(0, "give all"), "");
        assert_eq!(hall.stat(0, |p| p.stats.health), 100);
        assert_eq!(hall.stat(0, |p| p.stats.armor), 200);
        let all = if ruleset.base == BaseGame::Quake3 { 0x3fe } else { 0x3bfe };
        assert_eq!(hall.stat(0, |p| p.stats.weapons), all, "all but the hook");
        assert!(hall.state(0).ammo[1..].iter().all(|&rounds| rounds == 999));
        hall.ask(0, "give Quad Damage");
        assert_eq!(hall.state(0).powerups[1], 31_000);
        hall.ask(0, "give medkit");
        assert_eq!(hall.stat(0, |p| p.stats.holdable), 27);
        hall.ask(0, "give mega health");
        assert_eq!(hall.stat(0, |p| p.stats.health), 200);
        hall.ask(0, "give excellent");
        hall.ask(0, "give impressive");
        assert_eq!((hall.state(0).persistant[9], hall.state(0).persistant[10]), (1, 1));
        let before = *hall.state(0);
        for nonsense in ["", "the moon", "Red Flag", "\x1b[2J", &"x".repeat(900)] {
            assert_eq!(hall.ask(0, &format!("give {nonsense}")), "");
        }
        assert_eq!(*hall.state(0), before);
    }
}

#[test]
fn a_weapon_is_given_with_its_rounds() {
    let mut hall = Hall::with(Ruleset::BASEQ3, ON, &["alpha"]);
    hall.ask(0, "give rocket launcher");
    assert_eq!(hall.stat(0, |p| p.stats.weapons), 1 << 1 | 1 << 2 | 1 << 5);
    assert_eq!(hall.state(0).ammo[5], 10);
    hall.ask(0, "give rockets");
    assert_eq!(hall.state(0).ammo[5], 15);
    hall.ask(0, "give grappling hook");
    assert_eq!(hall.state(0).ammo[10], -1);
}

#[test]
fn the_view_goes_where_it_is_set() {
    let mut hall = Hall::with(Ruleset::BASEQ3, ON, &["alpha"]);
    assert_eq!(hall.ask(0, "setviewpos 1 2"), "print \"usage: setviewpos x y z yaw\n\"");
    hall.say(0, "setviewpos 100 -200 300 90");
    assert_eq!(hall.state(0).origin, Vec3::new(100.0, -200.0, 301.0));
    assert!((hall.state(0).viewangles[1] - 90.0).abs() < 0.01);
    let types: Vec<i32> = (64..80)
        .filter_map(|n| hall.game.entity(crate::model::EntityNum::new(n)?))
        .map(|entity| entity.state.e_type - 13)
        .collect();
    assert!(types.contains(&(Event::PlayerTeleportOut as i32)), "{types:?}");
    for wild in ["nan inf -inf 1e38", "x y z w", "1e99 -1e99 0 1e30"] {
        hall.say(0, &format!("setviewpos {wild}"));
        assert!(hall.state(0).origin.0.iter().all(|along| along.abs() <= 65_537.0), "{wild}");
    }
}

#[test]
fn the_dead_do_not_cheat() {
    for (ruleset, refusal) in [
        (Ruleset::BASEQ3, "print \"You must be alive to use this command.\n\""),
        (Ruleset::BASEOA, "print \"Must be alive to use this command\n\""),
    ] {
        let mut hall = Hall::with(ruleset, ON, &["alpha"]);
        hall.say(0, "kill");
        assert_eq!(hall.ask(0, "god"), refusal);
        let again = if ruleset.base == BaseGame::OpenArena { refusal } else { "" };
        assert_eq!(hall.ask(0, "kill"), again);
    }
}

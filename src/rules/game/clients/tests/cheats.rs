//! Unit tests of cheat commands.

use super::*;
use crate::bg::{Event, PmType};
use crate::game::BaseGame;
use crate::model::Vec3;

const ON: &[(&str, &str)] = &[("sv_cheats", "1")];

#[test]
fn cheats_are_refused_without_sv_cheats() {
    for (ruleset, refusal) in [
        (Ruleset::BASEQ3, "print \"Cheats are not enabled on this server.\n\""),
        (Ruleset::BASEOA, "print \"Cheats are not enabled on this server\n\""),
    ] {
        let mut fixture = Fixture::with(ruleset, &[], &["alpha"]);
        let before = *fixture.state(0);
        for line in ["give all", "god", "notarget", "noclip", "setviewpos 1 2 3 4", "levelshot"] {
            assert_eq!(fixture.ask(0, line), refusal, "{line}");
        }
        assert_eq!(*fixture.state(0), before);
        assert_eq!(fixture.configstring(20), ruleset.version);
    }
}

#[test]
fn cheat_switches_report_their_state() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, ON, &["alpha"]);
    for name in ["god", "notarget", "noclip"] {
        let shown = if name == "god" { "godmode" } else { name };
        assert_eq!(fixture.ask(0, name), format!("print \"{shown} ON\n\""));
        assert_eq!(fixture.ask(0, name), format!("print \"{shown} OFF\n\""));
    }
}

#[test]
fn noclip_ends_with_death() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, ON, &["alpha"]);
    fixture.ask(0, "noclip");
    fixture.wait(100);
    fixture.think(0, UserCmd::default());
    assert_eq!(fixture.state(0).pm_type, PmType::Noclip as i32);
    fixture.say(0, "kill");
    fixture.wait(3000);
    fixture.press(0, Buttons::ATTACK);
    fixture.wait(100);
    fixture.think(0, UserCmd::default());
    assert_eq!(fixture.state(0).pm_type, PmType::Normal as i32);
}

#[test]
fn give_sets_items_and_counters() {
    for ruleset in Ruleset::ALL {
        let mut fixture = Fixture::with(ruleset, ON, &["alpha"]);
        assert_eq!(fixture.ask(0, "give all"), "");
        assert_eq!(fixture.stat(0, |p| p.stats.health), 100);
        assert_eq!(fixture.stat(0, |p| p.stats.armor), 200);
        let all = if ruleset.base == BaseGame::Quake3 { 0x3fe } else { 0x3bfe };
        assert_eq!(fixture.stat(0, |p| p.stats.weapons), all, "all but the hook");
        assert!(fixture.state(0).ammo[1..].iter().all(|&rounds| rounds == 999));
        fixture.ask(0, "give Quad Damage");
        assert_eq!(fixture.state(0).powerups[1], 31_000);
        fixture.ask(0, "give medkit");
        assert_eq!(fixture.stat(0, |p| p.stats.holdable), 27);
        fixture.ask(0, "give mega health");
        assert_eq!(fixture.stat(0, |p| p.stats.health), 200);
        fixture.ask(0, "give excellent");
        fixture.ask(0, "give impressive");
        assert_eq!((fixture.state(0).persistant[9], fixture.state(0).persistant[10]), (1, 1));
        let before = *fixture.state(0);
        for nonsense in ["", "the moon", "Red Flag", "\x1b[2J", &"x".repeat(900)] {
            assert_eq!(fixture.ask(0, &format!("give {nonsense}")), "");
        }
        assert_eq!(*fixture.state(0), before);
    }
}

#[test]
fn give_weapon_adds_its_ammo() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, ON, &["alpha"]);
    fixture.ask(0, "give rocket launcher");
    assert_eq!(fixture.stat(0, |p| p.stats.weapons), 1 << 1 | 1 << 2 | 1 << 5);
    assert_eq!(fixture.state(0).ammo[5], 10);
    fixture.ask(0, "give rockets");
    assert_eq!(fixture.state(0).ammo[5], 15);
    fixture.ask(0, "give grappling hook");
    assert_eq!(fixture.state(0).ammo[10], -1);
}

#[test]
fn setviewpos_teleports_and_clamps() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, ON, &["alpha"]);
    assert_eq!(fixture.ask(0, "setviewpos 1 2"), "print \"usage: setviewpos x y z yaw\n\"");
    fixture.say(0, "setviewpos 100 -200 300 90");
    assert_eq!(fixture.state(0).origin, Vec3::new(100.0, -200.0, 301.0));
    assert!((fixture.state(0).viewangles[1] - 90.0).abs() < 0.01);
    let types: Vec<i32> = (64..80)
        .filter_map(|n| fixture.game.entity(crate::model::EntityNum::new(n)?))
        .map(|entity| entity.state.e_type - 13)
        .collect();
    assert!(types.contains(&(Event::PlayerTeleportOut as i32)), "{types:?}");
    for wild in ["nan inf -inf 1e38", "x y z w", "1e99 -1e99 0 1e30"] {
        fixture.say(0, &format!("setviewpos {wild}"));
        assert!(fixture.state(0).origin.0.iter().all(|along| along.abs() <= 65_537.0), "{wild}");
    }
}

#[test]
fn dead_player_cannot_cheat() {
    for (ruleset, refusal) in [
        (Ruleset::BASEQ3, "print \"You must be alive to use this command.\n\""),
        (Ruleset::BASEOA, "print \"Must be alive to use this command\n\""),
    ] {
        let mut fixture = Fixture::with(ruleset, ON, &["alpha"]);
        fixture.say(0, "kill");
        assert_eq!(fixture.ask(0, "god"), refusal);
        let again = if ruleset.base == BaseGame::OpenArena { refusal } else { "" };
        assert_eq!(fixture.ask(0, "kill"), again);
    }
}

#[test]
fn levelshot_shows_scoreboard_to_local_client() {
    for (ruleset, is_local, game_type, told, ends) in [
        (Ruleset::BASEQ3, false, "0", REMOTE, false),
        (Ruleset::BASEQ3, true, "3", "clientLevelShot", true),
        (Ruleset::BASEOA, true, "3", "print \"Must be in g_gametype 0 for levelshot\n\"", false),
        (Ruleset::BASEOA, true, "0", "clientLevelShot", true),
    ] {
        let settings = [("sv_cheats", "1"), ("g_gametype", game_type)];
        let mut fixture = Fixture::with(ruleset, &settings, &["alpha"]);
        fixture.say(0, "team red");
        fixture.host.local = is_local;
        let sent = fixture.say(0, "levelshot");
        assert_eq!(sent.last().map(|(_, text)| text.as_str()), Some(told), "{}", ruleset.folder);
        assert_eq!(fixture.game.clients().intermission, ends);
    }
}

/// Answer of `levelshot` to a client of another machine.
const REMOTE: &str = "print \"The levelshot command must be executed by a local client\n\"";

//! Unit tests of other client commands and of console commands about clients.

use super::*;
use crate::game::{ConnectError, clients::Role};

#[test]
fn openarena_sends_accuracy_and_map_pages() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, &[], &["alpha"]);
    let player = fixture.game.clients().players[0].as_mut().expect("there");
    for weapon in [2, 5] {
        player.accuracy.fire(weapon, 100 + weapon as usize);
        player.accuracy.hit(weapon);
    }
    assert_eq!(fixture.ask(0, "acc"), "accs 1 1 0 0 0 0 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ");
    fixture.host.maps = (0..23).map(|n| format!("map{n:02}")).collect();
    let page = |from: usize, to: usize| {
        (from..from + 10)
            .map(|n| if n < to { format!(" \"map{n:02}\"") } else { " \"\"".to_owned() })
            .collect::<String>()
    };
    assert_eq!(fixture.ask(0, "getmappage 0"), format!("mappage 0{}", page(0, 23)));
    assert_eq!(fixture.ask(0, "getmappage 2"), format!("mappage 2{}", page(20, 23)));
    for absurd in ["99", "-1", "x", "99999999999999999999"] {
        assert!(
            fixture.ask(0, &format!("getmappage {absurd}")).starts_with("mappage "),
            "{absurd}"
        );
    }
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &[], &["alpha"]);
    assert_eq!(fixture.ask(0, "acc"), "print \"unknown cmd acc\n\"");
    assert_eq!(fixture.ask(0, "stats"), "");
}

#[test]
fn openarena_commands_exist_in_all_its_rulesets() {
    for ruleset in [Ruleset::BASEOA, Ruleset::BASEOA_NEXT] {
        let mut fixture = Fixture::with(ruleset, &[], &["alpha"]);
        for line in ["acc", "getmappage 0", "vsay_local yes", "vosay_local yes", "freespectator"] {
            let sent = fixture.say(0, line);
            assert!(!sent.iter().any(|(_, text)| text.contains("Unknown command")), "{sent:?}");
        }
        let refusal = fixture.ask(0, "callvote shuffle");
        assert!(refusal.contains("only be used in team games"), "{refusal}");
        assert_eq!(fixture.ask(0, "stats"), "print \"Unknown command stats\n\"");
    }
}

#[test]
fn openarena_lists_custom_votes() {
    for (ruleset, count) in [(Ruleset::BASEOA, 1), (Ruleset::BASEQ3, 0)] {
        let mut fixture = Fixture::set_up(ruleset, &[("g_customVotes", "insta night bad#name")]);
        fixture.enter(0, "\\name\\a");
        let told = fixture.host.sent_to(client(0));
        let lists = told.iter().filter(|text| **text == "customvotes insta night").count();
        assert_eq!(lists, count, "{told:?}");
    }
}

#[test]
fn commands_are_refused_by_role() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, &[("g_gametype", "3")], &["alpha", "beta"]);
    for line in ["kill", "callteamvote leader", "teamvote yes", "teamtask 1"] {
        assert_eq!(fixture.ask(0, line), "print \"Join a team first\n\"", "{line}");
    }
    fixture.say(0, "team red");
    for line in ["follow beta", "follownext", "followprev", "freespectator"] {
        let refusal = "print \"Cannot use this command when on a team\n\"";
        assert_eq!(fixture.ask(0, line), refusal, "{line}");
    }
}

#[test]
fn follow_takes_number_name_and_direction() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &[], &["alpha", "^4Beta", "gamma", "eye"]);
    fixture.say(3, "team spectator");
    for (line, seen) in [
        ("follow 0", 0),
        ("follow beta", 1),
        ("follownext", 2),
        ("follownext", 0),
        ("followprev", 2),
        ("follow 99", 2),
        ("follow nobody", 2),
        ("follow eye", 2),
        ("follow", 3),
    ] {
        fixture.say(3, line);
        assert_eq!(fixture.state(3).client_num, seen, "{line}");
    }
}

#[test]
fn inactive_player_is_warned_and_dropped() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &[("g_inactivity", "20")], &["alpha"]);
    for _ in 0..230 {
        fixture.wait(50);
        fixture.think(0, UserCmd::default());
    }
    assert_eq!(fixture.host.sent_to(client(0)), ["cp \"Ten seconds until inactivity drop!\n\""]);
    assert!(fixture.host.dropped.is_empty());
    for _ in 0..200 {
        fixture.wait(50);
        fixture.think(0, UserCmd::default());
    }
    assert_eq!(fixture.host.dropped[0], (client(0), "Dropped due to inactivity".to_owned()));
}

#[test]
fn team_task_is_published_in_player_entry() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &[("g_gametype", "3")], &["alpha"]);
    for (task, shown) in [("3", "3"), ("-99999999999", "0"), ("99", "9"), ("x", "0")] {
        fixture.say(0, &format!("teamtask {task}"));
        let entry = fixture.configstring(544);
        assert!(entry.contains(&format!("\\tt\\{shown}\\")), "{entry}");
    }
}

fn console(fixture: &mut Fixture, line: &str) -> bool {
    fixture.host.replies.clear();
    let words = CommandArgs::parse(line);
    fixture.game.console_command(&mut fixture.host, &words).expect("no fault")
}

#[test]
fn forceteam_moves_players() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &[("g_gametype", "4")], &["alpha", "beta"]);
    for (line, role) in [
        ("forceteam alpha red", Role::Playing(Some(crate::bg::TeamColor::Red))),
        ("forceteam 0 BLUE", Role::Playing(Some(crate::bg::TeamColor::Blue))),
        ("forceteam 0 spectator", Role::Spectating),
        ("forceteam 0 green", Role::Spectating),
        ("forceteam nobody red", Role::Spectating),
        ("forceteam", Role::Spectating),
    ] {
        assert!(console(&mut fixture, line), "{line}");
        assert_eq!(fixture.game.clients().role(client(0)), role, "{line}");
    }
    console(&mut fixture, "forceteam nobody red");
    assert_eq!(fixture.host.replies, ["User nobody is not on the server"]);
    assert!(!console(&mut fixture, "fortceam 0 red"), "an unknown line is not the game's");
}

#[test]
fn banned_address_is_refused() {
    let mut fixture = Fixture::set_up(Ruleset::BASEOA, &[]);
    assert!(console(&mut fixture, "addip 10.1.2"));
    console(&mut fixture, "listip");
    assert_eq!(fixture.host.replies, ["10.1.2.*", "1 mask in g_banIPs: they may not come in"]);
    let try_from = |fixture: &mut Fixture, ip: &str| {
        fixture.host.userinfos[5] = format!("\\name\\x\\ip\\{ip}");
        fixture.game.client_connect(&mut fixture.host, client(5), true, false)
    };
    let refusal = "You are banned from this server.".to_owned();
    let refusal = Err(ConnectError::Refused(refusal));
    assert_eq!(try_from(&mut fixture, "10.1.2.99"), refusal);
    assert_eq!(try_from(&mut fixture, "10.1.3.99"), Ok(()));
    console(&mut fixture, "removeip 10.1.2.*");
    assert_eq!(try_from(&mut fixture, "10.1.2.99"), Ok(()));
}

//! The other commands of clients, and the console's.

use super::*;
use crate::game::clients::Role;

#[test]
fn openarena_tells_accuracy_and_maps() {
    let mut hall = Hall::with(Ruleset::BASEOA, &[], &["alpha"]);
    let player = hall.game.clients().players[0].as_mut().expect("there");
    for weapon in [2, 5] {
        player.accuracy.fire(weapon, 100 + weapon as usize);
        player.accuracy.hit(weapon);
    }
    assert_eq!(hall.ask(0, "acc"), "accs 102 1 0 0 0 0 105 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ");
    hall.host.maps = (0..23).map(|n| format!("map{n:02}")).collect();
    let page = |from: usize, to: usize| {
        (from..from + 10)
            .map(|n| if n < to { format!(" \"map{n:02}\"") } else { " \"\"".to_owned() })
            .collect::<String>()
    };
    assert_eq!(hall.ask(0, "getmappage 0"), format!("mappage 0{}", page(0, 23)));
    assert_eq!(hall.ask(0, "getmappage 2"), format!("mappage 2{}", page(20, 23)));
    for absurd in ["99", "-1", "x", "99999999999999999999"] {
        assert!(hall.ask(0, &format!("getmappage {absurd}")).starts_with("mappage "), "{absurd}");
    }
    let mut hall = Hall::with(Ruleset::BASEQ3, &[], &["alpha"]);
    assert_eq!(hall.ask(0, "acc"), "print \"unknown cmd acc\n\"");
    assert_eq!(hall.ask(0, "stats"), "");
}

#[test]
fn openarena_commands_are_known_to_each_of_its_rulesets() {
    for ruleset in [Ruleset::BASEOA, Ruleset::BASEOA_NEXT] {
        let mut hall = Hall::with(ruleset, &[], &["alpha"]);
        for line in ["acc", "getmappage 0", "vsay_local yes", "vosay_local yes", "freespectator"] {
            let sent = hall.say(0, line);
            assert!(!sent.iter().any(|(_, text)| text.contains("Unknown command")), "{sent:?}");
        }
        let refusal = hall.ask(0, "callvote shuffle");
        assert!(refusal.contains("no teams to shuffle"), "{refusal}");
    }
}

#[test]
fn openarena_lists_the_operators_votes() {
    for (ruleset, count) in [(Ruleset::BASEOA, 1), (Ruleset::BASEQ3, 0)] {
        let mut hall = Hall::set_up(ruleset, &[("g_customVotes", "insta night bad#name")]);
        hall.enter(0, "\\name\\a");
        let told = hall.host.sent_to(client(0));
        let lists = told.iter().filter(|text| **text == "customvotes insta night").count();
        assert_eq!(lists, count, "{told:?}");
    }
}

#[test]
fn roles_are_refused_as_the_game_says() {
    let mut hall = Hall::with(Ruleset::BASEOA, &[("g_gametype", "3")], &["alpha", "beta"]);
    for line in ["kill", "callteamvote leader", "teamvote yes", "teamtask 1"] {
        assert_eq!(hall.ask(0, line), "print \"Join a team first\n\"", "{line}");
    }
    hall.say(0, "team red");
    for line in ["follow beta", "follownext", "followprev", "freespectator"] {
        let refusal = "print \"Cannot use this command when on a team\n\"";
        assert_eq!(hall.ask(0, line), refusal, "{line}");
    }
}

#[test]
fn players_are_followed_by_number_name_and_turn() {
    let mut hall = Hall::with(Ruleset::BASEQ3, &[], &["alpha", "^4Beta", "gamma", "eye"]);
    hall.say(3, "team spectator");
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
        hall.say(3, line);
        assert_eq!(hall.state(3).client_num, seen, "{line}");
    }
}

#[test]
fn who_does_nothing_is_dropped() {
    let mut hall = Hall::with(Ruleset::BASEQ3, &[("g_inactivity", "20")], &["alpha"]);
    for _ in 0..230 {
        hall.wait(50);
        hall.think(0, UserCmd::default());
    }
    assert_eq!(hall.host.sent_to(client(0)), ["cp \"Ten seconds until inactivity drop!\n\""]);
    assert!(hall.host.dropped.is_empty());
    for _ in 0..200 {
        hall.wait(50);
        hall.think(0, UserCmd::default());
    }
    assert_eq!(hall.host.dropped[0], (client(0), "Dropped due to inactivity".to_owned()));
}

#[test]
fn a_task_is_told_to_everybody() {
    let mut hall = Hall::with(Ruleset::BASEQ3, &[("g_gametype", "3")], &["alpha"]);
    for (task, shown) in [("3", "3"), ("-99999999999", "0"), ("99", "9"), ("x", "0")] {
        hall.say(0, &format!("teamtask {task}"));
        let entry = hall.configstring(544);
        assert!(entry.contains(&format!("\\tt\\{shown}\\")), "{entry}");
    }
}

fn console(hall: &mut Hall, line: &str) -> bool {
    hall.host.replies.clear();
    hall.game.console_command(&mut hall.host, &Words::parse(line))
}

#[test]
fn operators_move_people() {
    let mut hall = Hall::with(Ruleset::BASEQ3, &[("g_gametype", "4")], &["alpha", "beta"]);
    for (line, role) in [
        ("forceteam alpha red", Role::Playing(Some(crate::bg::TeamColor::Red))),
        ("forceteam 0 BLUE", Role::Playing(Some(crate::bg::TeamColor::Blue))),
        ("forceteam 0 spectator", Role::Spectating),
        ("forceteam 0 green", Role::Spectating),
        ("forceteam nobody red", Role::Spectating),
        ("forceteam", Role::Spectating),
    ] {
        assert!(console(&mut hall, line), "{line}");
        assert_eq!(hall.game.clients().role(client(0)), role, "{line}");
    }
    console(&mut hall, "forceteam nobody red");
    assert_eq!(hall.host.replies, ["User nobody is not on the server"]);
    assert!(!console(&mut hall, "fortceam 0 red"), "an unknown line is not the game's");
}

#[test]
fn addresses_are_kept_out() {
    let mut hall = Hall::set_up(Ruleset::BASEOA, &[]);
    assert!(console(&mut hall, "addip 10.1.2"));
    console(&mut hall, "listip");
    assert_eq!(hall.host.replies, ["10.1.2.*", "1 addresses: they may not come in"]);
    let try_from = |hall: &mut Hall, ip: &str| {
        hall.host.userinfos[5] = format!("\\name\\x\\ip\\{ip}");
        hall.game.client_connect(&mut hall.host, client(5), true, false)
    };
    let refusal = Err("You are banned from this server.".to_owned());
    assert_eq!(try_from(&mut hall, "10.1.2.99"), refusal);
    assert_eq!(try_from(&mut hall, "10.1.3.99"), Ok(()));
    console(&mut hall, "removeip 10.1.2.*");
    assert_eq!(try_from(&mut hall, "10.1.2.99"), Ok(()));
}

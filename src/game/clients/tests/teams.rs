//! Teams: joining, balance, leaders and announcements.

use super::*;
use crate::bg::Persistent;

const TEAMS: &[(&str, &str)] = &[("g_gametype", "3")];

/// The part of a player entry behind a key.
fn entry(hall: &Hall, number: u16, key: &str) -> String {
    let text = hall.configstring(544 + number);
    let mut parts = text.split('\\');
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        if name == key {
            return value.to_owned();
        }
    }
    String::new()
}

fn told(hall: &mut Hall, number: usize, line: &str) -> Vec<String> {
    hall.say(number, line).iter().map(|(_, text)| text.clone()).collect()
}

#[test]
fn newcomers_watch_until_they_choose() {
    for ruleset in Ruleset::ALL {
        let mut hall = Hall::with(ruleset, TEAMS, &["alpha", "beta"]);
        assert_eq!(entry(&hall, 0, "t"), "3");
        assert_eq!(hall.ask(0, "team"), "print \"Spectator team\n\"");
        let lines = told(&mut hall, 0, "team red");
        assert!(lines.contains(&"cp \"alpha^7 joined the red team.\n\"".to_owned()), "{lines:?}");
        assert_eq!((entry(&hall, 0, "t"), entry(&hall, 0, "tl")), ("1".into(), "1".into()));
        assert_eq!(hall.state(0).persistant[Persistent::Team], 1);
        assert_eq!(hall.ask(0, "team"), "print \"Red team\n\"");
        assert_eq!(
            hall.ask(0, "team b"),
            "print \"May not switch teams more than once per 5 seconds.\n\""
        );
        hall.wait(5000);
        let lines = told(&mut hall, 0, "team B");
        assert!(lines.contains(&"cp \"alpha^7 joined the blue team.\n\"".to_owned()), "{lines:?}");
        assert!(hall.host.printed.iter().any(|line| line.starts_with("Kill: 0 0 ")), "dies first");
        assert_eq!(hall.state(0).persistant[Persistent::Deaths], 0, "counts begin anew");
        assert_eq!(hall.state(0).persistant[Persistent::SpawnCount], 1);
        assert_eq!(hall.ask(0, "team"), "print \"Blue team\n\"");
        hall.wait(5000);
        let lines = told(&mut hall, 0, "team s");
        assert!(lines.contains(&"cp \"alpha^7 joined the spectators.\n\"".to_owned()), "{lines:?}");
        assert_eq!((entry(&hall, 0, "t"), entry(&hall, 0, "tl")), ("3".into(), "0".into()));
    }
}

/// As seen on the release's own server: the sentence for everybody, then, for the client alone, the message
/// of the day, which is empty and clears the screen's middle.
#[test]
fn openarena_clears_the_center_print_of_a_client_on_entry() {
    for (ruleset, clears) in [(Ruleset::BASEOA, 1), (Ruleset::BASEQ3, 0)] {
        let mut hall = Hall::with(ruleset, TEAMS, &["alpha", "beta"]);
        for line in ["team red", "team blue", "team s"] {
            let sent = hall.say(0, line);
            let place = |text: &str| sent.iter().position(|(_, sent)| sent.starts_with(text));
            let cleared: Vec<_> = (0..sent.len()).filter(|&at| sent[at].1 == "cp \"\"").collect();
            assert_eq!(cleared.len(), clears, "{ruleset:?} {line}: {sent:?}");
            for &at in &cleared {
                assert_eq!(sent[at].0, Some(client(0)), "{line}");
                assert!(place("cp \"alpha^7 joined the ").is_some_and(|joined| joined < at));
                assert!(place("print \"alpha^7 entered").is_none_or(|entered| entered < at));
                assert!(place("team \"").is_none_or(|list| at < list), "{line}: {sent:?}");
            }
            hall.wait(5000);
        }
    }
}

#[test]
fn openarena_gives_who_changes_teams_or_returns_its_counts_again() {
    for (ruleset, deaths) in [(Ruleset::BASEOA, 2), (Ruleset::BASEQ3, 0)] {
        let mut hall = Hall::with(ruleset, TEAMS, &["alpha", "beta"]);
        let identity = format!("\\cl_guid\\{}", "7".repeat(32));
        hall.host.userinfos[0].push_str(&identity);
        hall.say(0, "team red");
        hall.wait(5000);
        hall.say(0, "team blue");
        let count = |hall: &Hall, what: Persistent| hall.state(0).persistant[what];
        assert_eq!(count(&hall, Persistent::Deaths), deaths / 2, "{ruleset:?}");
        assert_eq!(count(&hall, Persistent::Team), 2);
        assert_eq!(count(&hall, Persistent::Score), 0, "not below");
        hall.wait(5000);
        hall.say(0, "team s");
        assert_eq!(count(&hall, Persistent::Deaths), 0, "who watches has none");
        hall.wait(5000);
        hall.say(0, "team red");
        assert_eq!(count(&hall, Persistent::Deaths), deaths);
    }
}

#[test]
fn outside_games_of_teams_colours_mean_playing() {
    for (ruleset, free) in [(Ruleset::BASEQ3, "Free team"), (Ruleset::BASEOA, "Deathmatch-Playing")]
    {
        let mut hall = Hall::with(ruleset, &[], &["alpha"]);
        assert_eq!(hall.ask(0, "team"), format!("print \"{free}\n\""));
        hall.say(0, "team spectator");
        hall.wait(5000);
        let lines = told(&mut hall, 0, "team red");
        assert!(lines.contains(&"cp \"alpha^7 joined the battle.\n\"".to_owned()), "{lines:?}");
        assert_eq!(entry(&hall, 0, "t"), "0");
    }
}

#[test]
fn the_weaker_team_is_smaller_or_behind() {
    let mut hall = Hall::with(Ruleset::BASEQ3, TEAMS, &["a", "b", "c", "d"]);
    hall.say(0, "team free");
    assert_eq!(entry(&hall, 0, "t"), "2", "blue when all is equal");
    hall.say(1, "team auto");
    assert_eq!(entry(&hall, 1, "t"), "1");
    hall.game.clients().team_scores = [-1, 4];
    hall.say(2, "team f");
    assert_eq!(entry(&hall, 2, "t"), "1", "red is behind");
}

#[test]
fn balance_is_forced_when_asked_for() {
    let settings = &[("g_gametype", "4"), ("g_teamForceBalance", "1")];
    let mut hall = Hall::with(Ruleset::BASEOA, settings, &["a", "b", "c"]);
    hall.say(0, "team red");
    hall.say(1, "team red");
    assert_eq!(entry(&hall, 1, "t"), "1", "one ahead is no imbalance");
    assert_eq!(hall.ask(2, "team red"), "cp \"Red team has too many players.\n\"");
    assert_eq!(entry(&hall, 2, "t"), "3");
    hall.say(2, "team blue");
    assert_eq!(entry(&hall, 2, "t"), "2", "a refusal costs no time");
}

#[test]
fn newcomers_join_by_themselves_when_asked_for() {
    let settings = &[("g_gametype", "3"), ("g_teamAutoJoin", "1")];
    let hall = Hall::with(Ruleset::BASEQ3, settings, &["a", "b", "c"]);
    assert_eq!([0, 1, 2].map(|n| entry(&hall, n, "t")), ["2", "1", "2"]);
    for (ruleset, team) in [(Ruleset::BASEQ3, "2"), (Ruleset::BASEOA, "3")] {
        let mut hall = Hall::set_up(ruleset, TEAMS);
        hall.enter(0, "\\name\\a\\teampref\\blue\\team\\blue");
        assert_eq!(entry(&hall, 0, "t"), team);
    }
}

#[test]
fn whom_there_is_no_room_for_watches() {
    let settings = &[("g_gametype", "3"), ("g_maxGameClients", "1")];
    let mut hall = Hall::with(Ruleset::BASEQ3, settings, &["a", "b"]);
    hall.say(0, "team red");
    hall.say(1, "team blue");
    assert_eq!([0, 1].map(|n| entry(&hall, n, "t")), ["1", "3"]);
    let hall = Hall::with(Ruleset::BASEQ3, &[("g_gametype", "1")], &["a", "b", "c"]);
    assert_eq!([0, 1, 2].map(|n| entry(&hall, n, "t")), ["0", "0", "3"], "two play a tournament");
}

#[test]
fn a_team_has_one_leader() {
    let mut hall = Hall::with(Ruleset::BASEQ3, TEAMS, &["a", "b", "c"]);
    hall.say(0, "team red");
    hall.say(1, "team red");
    hall.say(2, "team blue");
    assert_eq!([0, 1, 2].map(|n| entry(&hall, n, "tl")), ["1", "0", "1"]);
    hall.forget();
    hall.game.client_disconnect(&mut hall.host, client(0));
    assert_eq!([1, 2].map(|n| entry(&hall, n, "tl")), ["1", "1"]);
    assert_eq!(hall.host.sent_to(client(1)), ["print \"b is the new team leader\n\""]);
    assert!(hall.host.sent_to(client(2)).is_empty());
}

#[test]
fn teams_last_over_levels_and_end_with_the_game_type() {
    let mut hall = Hall::with(Ruleset::BASEQ3, TEAMS, &["a", "b"]);
    hall.say(0, "team red");
    for (game_type, team) in [("3", "1"), ("4", "3"), ("0", "0")] {
        hall.host.set_setting("g_gametype", game_type);
        hall.game.shutdown(&mut hall.host, false);
        hall.start(false);
        for number in 0..2 {
            hall.game.client_connect(&mut hall.host, client(number), false, false).expect("room");
            hall.game.client_begin(&mut hall.host, client(number));
        }
        assert_eq!(entry(&hall, 0, "t"), team, "game type {game_type}");
    }
}

#[test]
fn what_is_not_played_is_said_and_set_back() {
    for (asked, played) in
        [("0", "0"), ("1", "1"), ("2", "0"), ("3", "3"), ("4", "4"), ("5", "0"), ("99", "0")]
    {
        let hall = Hall::set_up(Ruleset::BASEOA, &[("g_gametype", asked)]);
        assert_eq!(hall.host.setting("g_gametype"), played);
    }
}

#[test]
fn team_games_have_models_of_their_own_and_fewer_bullets() {
    for (game_type, model, bullets) in
        [("0", "sarge", 100), ("3", "grunt", 50), ("4", "grunt", 100)]
    {
        let mut hall = Hall::set_up(Ruleset::BASEQ3, &[("g_gametype", game_type)]);
        hall.enter(
            0,
            "\\name\\a\\model\\sarge\\headmodel\\sarge\\team_model\\grunt\\team_headmodel\\bones",
        );
        hall.say(0, "team red");
        assert_eq!(entry(&hall, 0, "model"), model);
        assert_eq!(hall.state(0).ammo[2], bullets, "game type {game_type}");
    }
}

#[test]
fn a_team_that_does_not_exist_changes_nothing() {
    let mut hall = Hall::with(Ruleset::BASEQ3, TEAMS, &["alpha", "beta"]);
    for (word, shown) in [("green", "green"), ("\x1b[2J;quit", "[2J;quit"), ("1", "1")] {
        let answer = hall.ask(0, &format!("team {word}"));
        assert_eq!(
            answer,
            format!("print \"Unknown team {shown}: red, blue, spectator, follow1, follow2\n\"")
        );
        assert_eq!(entry(&hall, 0, "t"), "3");
    }
    assert!(hall.ask(0, &format!("team {}", "x".repeat(900))).len() < 120);
    hall.say(0, "team red");
    assert_eq!(entry(&hall, 0, "t"), "1", "no time was lost");
}

#[test]
fn openarena_lists_teams() {
    let mut hall = Hall::with(Ruleset::BASEOA, TEAMS, &["a", "b", "c"]);
    hall.say(0, "team red");
    hall.say(2, "team red");
    assert!(hall.host.sent_to(client(0)).contains(&"team \"0,2\""));
    assert!(!hall.host.sent_to(client(1)).iter().any(|text| text.starts_with("team ")));
    hall.wait(5000);
    hall.say(0, "team s");
    assert!(hall.host.sent_to(client(0)).contains(&"team \"all\""));
    assert!(hall.host.sent_to(client(2)).contains(&"team \"2\""));
}

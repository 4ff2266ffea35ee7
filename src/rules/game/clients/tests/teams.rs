//! Unit tests of teams: joining, balance, leaders and announcements.

use super::*;
use crate::bg::Persistent;

const TEAMS: &[(&str, &str)] = &[("g_gametype", "3")];

/// Returns the value of a key in a player entry.
fn entry(fixture: &Fixture, number: u16, key: &str) -> String {
    let text = fixture.configstring(544 + number);
    let mut parts = text.split('\\');
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        if name == key {
            return value.to_owned();
        }
    }
    String::new()
}

fn told(fixture: &mut Fixture, number: usize, line: &str) -> Vec<String> {
    fixture.say(number, line).iter().map(|(_, text)| text.clone()).collect()
}

#[test]
fn operator_speaks_to_one_team() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, TEAMS, &["alpha", "beta", "gamma"]);
    told(&mut fixture, 0, "team red");
    told(&mut fixture, 1, "team blue");
    fixture.forget();
    for command in ["say_team RED hold \"the base\"", "say_team green x", "say_team red"] {
        let words = CommandArgs::parse(command);
        assert_eq!(fixture.game.console_command(&mut fixture.host, &words), Ok(true));
    }
    let line = "tchat \"console: hold the base\"".to_owned();
    assert_eq!(fixture.host.sent, [(Some(client(0)), line)]);
}

#[test]
fn joining_clients_are_spectators_until_they_choose() {
    for ruleset in Ruleset::ALL {
        let mut fixture = Fixture::with(ruleset, TEAMS, &["alpha", "beta"]);
        assert_eq!(entry(&fixture, 0, "t"), "3");
        assert_eq!(fixture.ask(0, "team"), "print \"Spectator team\n\"");
        let lines = told(&mut fixture, 0, "team red");
        assert!(lines.contains(&"cp \"alpha^7 joined the red team.\n\"".to_owned()), "{lines:?}");
        assert_eq!((entry(&fixture, 0, "t"), entry(&fixture, 0, "tl")), ("1".into(), "1".into()));
        assert_eq!(fixture.state(0).persistant[Persistent::Team], 1);
        assert_eq!(fixture.ask(0, "team"), "print \"Red team\n\"");
        assert_eq!(
            fixture.ask(0, "team b"),
            "print \"May not switch teams more than once per 5 seconds.\n\""
        );
        fixture.wait(5000);
        let lines = told(&mut fixture, 0, "team B");
        assert!(lines.contains(&"cp \"alpha^7 joined the blue team.\n\"".to_owned()), "{lines:?}");
        assert!(
            fixture.host.printed.iter().any(|line| line.starts_with("Kill: 0 0 ")),
            "dies first"
        );
        assert_eq!(fixture.state(0).persistant[Persistent::Deaths], 0, "counts begin anew");
        assert_eq!(fixture.state(0).persistant[Persistent::SpawnCount], 1);
        assert_eq!(fixture.ask(0, "team"), "print \"Blue team\n\"");
        fixture.wait(5000);
        let lines = told(&mut fixture, 0, "team s");
        assert!(lines.contains(&"cp \"alpha^7 joined the spectators.\n\"".to_owned()), "{lines:?}");
        assert_eq!((entry(&fixture, 0, "t"), entry(&fixture, 0, "tl")), ("3".into(), "0".into()));
    }
}

/// Recorded on the release's server: the announcement to all clients, then the empty message of the
/// day to the client. The message clears the center print.
#[test]
fn openarena_clears_center_print_on_entry() {
    for (ruleset, clears) in [(Ruleset::BASEOA, 1), (Ruleset::BASEQ3, 0)] {
        let mut fixture = Fixture::with(ruleset, TEAMS, &["alpha", "beta"]);
        for line in ["team red", "team blue", "team s"] {
            let sent = fixture.say(0, line);
            let place = |text: &str| sent.iter().position(|(_, sent)| sent.starts_with(text));
            let cleared: Vec<_> = (0..sent.len()).filter(|&at| sent[at].1 == "cp \"\"").collect();
            assert_eq!(cleared.len(), clears, "{ruleset:?} {line}: {sent:?}");
            for &at in &cleared {
                assert_eq!(sent[at].0, Some(client(0)), "{line}");
                assert!(place("cp \"alpha^7 joined the ").is_some_and(|joined| joined < at));
                assert!(place("print \"alpha^7 entered").is_none_or(|entered| entered < at));
                assert!(place("team \"").is_none_or(|list| at < list), "{line}: {sent:?}");
            }
            fixture.wait(5000);
        }
    }
}

#[test]
fn openarena_restores_score_on_team_change_and_rejoin() {
    for (ruleset, deaths) in [(Ruleset::BASEOA, 2), (Ruleset::BASEQ3, 0)] {
        let mut fixture = Fixture::with(ruleset, TEAMS, &["alpha", "beta"]);
        let identity = format!("\\cl_guid\\{}", "7".repeat(32));
        fixture.host.userinfos[0].push_str(&identity);
        fixture.say(0, "team red");
        fixture.wait(5000);
        fixture.say(0, "team blue");
        let count = |fixture: &Fixture, what: Persistent| fixture.state(0).persistant[what];
        assert_eq!(count(&fixture, Persistent::Deaths), deaths / 2, "{ruleset:?}");
        assert_eq!(count(&fixture, Persistent::Team), 2);
        assert_eq!(count(&fixture, Persistent::Score), 0, "not below");
        fixture.wait(5000);
        fixture.say(0, "team s");
        assert_eq!(count(&fixture, Persistent::Deaths), 0, "who watches has none");
        fixture.wait(5000);
        fixture.say(0, "team red");
        assert_eq!(count(&fixture, Persistent::Deaths), deaths);
    }
}

#[test]
fn team_colors_mean_free_outside_team_games() {
    for (ruleset, free) in [(Ruleset::BASEQ3, "Free team"), (Ruleset::BASEOA, "Deathmatch-Playing")]
    {
        let mut fixture = Fixture::with(ruleset, &[], &["alpha"]);
        assert_eq!(fixture.ask(0, "team"), format!("print \"{free}\n\""));
        fixture.say(0, "team spectator");
        fixture.wait(5000);
        let lines = told(&mut fixture, 0, "team red");
        assert!(lines.contains(&"cp \"alpha^7 joined the battle.\n\"".to_owned()), "{lines:?}");
        assert_eq!(entry(&fixture, 0, "t"), "0");
    }
}

#[test]
fn weaker_team_is_smaller_or_behind() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, TEAMS, &["a", "b", "c", "d"]);
    fixture.say(0, "team free");
    assert_eq!(entry(&fixture, 0, "t"), "2", "blue when all is equal");
    fixture.say(1, "team auto");
    assert_eq!(entry(&fixture, 1, "t"), "1");
    fixture.game.clients().team_scores = [-1, 4];
    fixture.say(2, "team f");
    assert_eq!(entry(&fixture, 2, "t"), "1", "red is behind");
}

#[test]
fn forced_balance_refuses_larger_team() {
    let settings = &[("g_gametype", "4"), ("g_teamForceBalance", "1")];
    let mut fixture = Fixture::with(Ruleset::BASEOA, settings, &["a", "b", "c"]);
    fixture.say(0, "team red");
    fixture.say(1, "team red");
    assert_eq!(entry(&fixture, 1, "t"), "1", "one ahead is no imbalance");
    assert_eq!(fixture.ask(2, "team red"), "cp \"Red team has too many players.\n\"");
    assert_eq!(entry(&fixture, 2, "t"), "3");
    fixture.say(2, "team blue");
    assert_eq!(entry(&fixture, 2, "t"), "2", "a refusal costs no time");
}

#[test]
fn auto_join_and_preference_choose_team_on_connect() {
    let settings = &[("g_gametype", "3"), ("g_teamAutoJoin", "1")];
    let fixture = Fixture::with(Ruleset::BASEQ3, settings, &["a", "b", "c"]);
    assert_eq!([0, 1, 2].map(|n| entry(&fixture, n, "t")), ["2", "1", "2"]);
    for (ruleset, team) in [(Ruleset::BASEQ3, "2"), (Ruleset::BASEOA, "3")] {
        let mut fixture = Fixture::set_up(ruleset, TEAMS);
        fixture.enter(0, "\\name\\a\\teampref\\blue\\team\\blue");
        assert_eq!(entry(&fixture, 0, "t"), team);
    }
}

#[test]
fn player_beyond_limit_becomes_spectator() {
    let settings = &[("g_gametype", "3"), ("g_maxGameClients", "1")];
    let mut fixture = Fixture::with(Ruleset::BASEQ3, settings, &["a", "b"]);
    fixture.say(0, "team red");
    fixture.say(1, "team blue");
    assert_eq!([0, 1].map(|n| entry(&fixture, n, "t")), ["1", "3"]);
    let fixture = Fixture::with(Ruleset::BASEQ3, &[("g_gametype", "1")], &["a", "b", "c"]);
    assert_eq!(
        [0, 1, 2].map(|n| entry(&fixture, n, "t")),
        ["0", "0", "3"],
        "two play a tournament"
    );
}

#[test]
fn team_has_one_leader() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, TEAMS, &["a", "b", "c"]);
    fixture.say(0, "team red");
    fixture.say(1, "team red");
    fixture.say(2, "team blue");
    assert_eq!([0, 1, 2].map(|n| entry(&fixture, n, "tl")), ["1", "0", "1"]);
    fixture.forget();
    fixture.game.client_disconnect(&mut fixture.host, client(0)).expect("no fault");
    assert_eq!([1, 2].map(|n| entry(&fixture, n, "tl")), ["0", "1"]);
    assert!(fixture.host.sent_to(client(1)).is_empty());
    fixture.enter(0, "\\name\\a");
    fixture.wait(5000);
    fixture.say(0, "team red");
    assert_eq!([0, 1].map(|n| entry(&fixture, n, "tl")), ["1", "0"], "the next player leads");
}

#[test]
fn teams_survive_levels_but_not_game_type_changes() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, TEAMS, &["a", "b"]);
    fixture.say(0, "team red");
    for (game_type, team) in [("3", "1"), ("4", "3"), ("0", "0")] {
        fixture.host.set_setting("g_gametype", game_type);
        fixture.game.shutdown(&mut fixture.host, false).expect("no fault");
        fixture.start(false);
        for number in 0..2 {
            fixture
                .game
                .client_connect(&mut fixture.host, client(number), false, false)
                .expect("room");
            fixture.game.client_begin(&mut fixture.host, client(number)).expect("no fault");
        }
        assert_eq!(entry(&fixture, 0, "t"), team, "game type {game_type}");
    }
}

#[test]
fn unsupported_game_type_is_reported_and_reset() {
    for (asked, played) in
        [("0", "0"), ("1", "1"), ("2", "0"), ("3", "3"), ("4", "4"), ("5", "0"), ("99", "0")]
    {
        let fixture = Fixture::set_up(Ruleset::BASEOA, &[("g_gametype", asked)]);
        assert_eq!(fixture.host.setting("g_gametype"), played);
    }
}

#[test]
fn team_games_use_team_models_and_fewer_bullets() {
    for (game_type, model, bullets) in
        [("0", "sarge", 100), ("3", "grunt", 50), ("4", "grunt", 100)]
    {
        let mut fixture = Fixture::set_up(Ruleset::BASEQ3, &[("g_gametype", game_type)]);
        fixture.enter(
            0,
            "\\name\\a\\model\\sarge\\headmodel\\sarge\\team_model\\grunt\\team_headmodel\\bones",
        );
        fixture.say(0, "team red");
        assert_eq!(entry(&fixture, 0, "model"), model);
        assert_eq!(fixture.state(0).ammo[2], bullets, "game type {game_type}");
    }
}

#[test]
fn unknown_team_changes_nothing() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, TEAMS, &["alpha", "beta"]);
    for (word, shown) in [("green", "green"), ("\x1b[2J;quit", "[2J;quit"), ("1", "1")] {
        let answer = fixture.ask(0, &format!("team {word}"));
        assert_eq!(
            answer,
            format!("print \"Unknown team {shown}: red, blue, spectator, follow1, follow2\n\"")
        );
        assert_eq!(entry(&fixture, 0, "t"), "3");
    }
    assert!(fixture.ask(0, &format!("team {}", "x".repeat(900))).len() < 120);
    fixture.say(0, "team red");
    assert_eq!(entry(&fixture, 0, "t"), "1", "no time was lost");
}

#[test]
fn openarena_sends_team_lists() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, TEAMS, &["a", "b", "c"]);
    fixture.say(0, "team red");
    fixture.say(2, "team red");
    assert!(fixture.host.sent_to(client(0)).contains(&"team \"0,2\""));
    assert!(!fixture.host.sent_to(client(1)).iter().any(|text| text.starts_with("team ")));
    fixture.wait(5000);
    fixture.say(0, "team s");
    assert!(!fixture.host.sent_to(client(0)).iter().any(|text| text.starts_with("team ")));
    assert!(fixture.host.sent_to(client(2)).contains(&"team \"2\""));
    fixture.forget();
    fixture.say(1, "team blue");
    assert!(fixture.host.sent_to(client(1)).contains(&"team \"1\""));
    let told = fixture.host.sent_to(client(2));
    assert!(!told.iter().any(|text| text.starts_with("team ")), "its list is the same");
}

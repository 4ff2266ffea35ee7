//! Unit tests of votes.

use super::*;
use crate::bg::Persistent;
use crate::bg::entity_flag;
use crate::game::{BaseGame, FileLimits, GameFiles};
use crate::model::assets::MemoryAssets;
use std::rc::Rc;

const SHOWN: [u16; 4] = [8, 9, 10, 11];

fn shown(fixture: &Fixture) -> [String; 4] {
    SHOWN.map(|index| fixture.configstring(index).to_owned())
}

fn fixture(ruleset: &'static Ruleset, settings: &[(&str, &str)]) -> Fixture {
    let mut fixture = Fixture::with(ruleset, settings, &["alpha", "beta", "gamma", "delta"]);
    fixture.host.maps = vec!["oa_dm1".to_owned(), "q3dm17".to_owned()];
    fixture
}

#[test]
fn vote_is_called_cast_and_executed() {
    for (ruleset, text) in
        [(Ruleset::BASEQ3, "fraglimit '33'"), (Ruleset::BASEOA, "Change fraglimit to: 33")]
    {
        let mut fixture = fixture(ruleset, &[]);
        fixture.say(0, "callvote fraglimit 33");
        assert_eq!(fixture.host.sent_to_all(), ["print \"alpha called a vote.\n\""]);
        assert_eq!(shown(&fixture), ["1000", text, "1", "0"]);
        let logged = |fixture: &Fixture, line: &str| {
            fixture.host.logged.iter().any(|(_, logged)| logged == line)
        };
        assert!(logged(&fixture, &format!("callvote: 0 {text}")), "{:?}", fixture.host.logged);
        assert_ne!(fixture.state(0).e_flags & entity_flag::VOTED, 0);
        assert_eq!(
            fixture.ask(1, "callvote map_restart"),
            "print \"A vote is already in progress.\n\""
        );
        assert_eq!(fixture.ask(1, "vote yes"), "print \"Vote cast.\n\"");
        assert_eq!(shown(&fixture)[2..], ["2", "0"]);
        fixture.wait(50);
        assert!(fixture.host.sent_to_all().is_empty(), "two of four are no majority");
        fixture.ask(2, "vote Y");
        fixture.wait(50);
        assert_eq!(fixture.host.sent_to_all(), ["print \"Vote passed.\n\""]);
        assert!(logged(&fixture, &format!("vote passed: 3 0 {text}")), "{:?}", fixture.host.logged);
        assert_eq!(fixture.configstring(8), "");
        fixture.wait(3000);
        assert!(fixture.host.queued.is_empty());
        fixture.wait(50);
        assert_eq!(fixture.host.queued, ["set fraglimit 33"]);
        fixture.wait(5000);
        assert_eq!(fixture.host.queued.len(), 1, "once");
    }
}

#[test]
fn vote_during_pause_runs_passed_proposal_or_waits() {
    for (passed, refused) in
        [("map_restart", true), ("nextmap", true), ("map q3dm17", true), ("timelimit 5", false)]
    {
        let mut fixture = fixture(Ruleset::BASEQ3, &[("nextmap", "vstr next")]);
        fixture.say(0, &format!("callvote {passed}"));
        for number in 1..4 {
            fixture.say(number, "vote y");
        }
        fixture.wait(50);
        let answer = fixture.say(1, "callvote fraglimit 3").last().map(|(_, text)| text.clone());
        let is_refused = answer.as_deref() == Some("print \"Vote after map change.\n\"");
        assert_eq!(is_refused, refused, "{passed}: {answer:?}");
        assert_eq!(fixture.host.queued.is_empty(), refused, "{passed}");
        if !refused {
            assert_eq!(fixture.host.queued, ["set timelimit 5"]);
            assert_eq!(fixture.configstring(9), "fraglimit '3'");
        }
    }
}

#[test]
fn map_vote_keeps_rotation() {
    for (nextmap, runs) in
        [("vstr m2", "map q3dm17,set nextmap \"vstr m2\""), ("say \"a\"", "map q3dm17")]
    {
        let mut fixture = fixture(Ruleset::BASEQ3, &[("nextmap", nextmap)]);
        fixture.say(0, "callvote map q3dm17");
        for number in 1..4 {
            fixture.say(number, "vote y");
        }
        fixture.wait(3100);
        assert_eq!(fixture.host.queued.join(","), runs);
    }
}

#[test]
fn vote_fails_by_majority_or_timeout() {
    let mut fixture = fixture(Ruleset::BASEQ3, &[]);
    fixture.say(0, "callvote map_restart");
    fixture.ask(1, "vote no");
    fixture.wait(50);
    fixture.ask(2, "vote 0");
    fixture.wait(50);
    assert_eq!(fixture.host.sent_to_all(), ["print \"Vote failed.\n\""]);
    assert_eq!(fixture.ask(3, "vote yes"), "print \"No vote in progress.\n\"");
    fixture.say(0, "callvote map_restart");
    fixture.forget();
    fixture.wait(29_950);
    assert!(fixture.host.sent_to_all().is_empty());
    fixture.wait(50);
    assert_eq!(fixture.host.sent_to_all(), ["print \"Vote failed.\n\""]);
    fixture.wait(10_000);
    assert!(fixture.host.queued.is_empty());
}

#[test]
fn vote_settings_without_effect_are_named_once() {
    let printed = |settings: &[(&str, &str)]| {
        let mut fixture = Fixture::with(Ruleset::BASEOA, settings, &["alpha"]);
        (0..100).for_each(|_| fixture.wait(100));
        let lines = fixture.host.printed.iter();
        lines.filter(|line| line.contains("ote")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(printed(&[]), [""; 0]);
    let game_types = printed(&[("g_voteGametypes", "/0/banana/2/3")]);
    for (line, word) in game_types.iter().zip(["banana", "2", "3"]) {
        assert!(line.starts_with(&format!("g_voteGametypes: \"{word}\" offers no")), "{line}");
    }
    assert_eq!(game_types.len(), 3);
    let off = "g_customVotes: custom votes are off (expected voteflags with 256, such as 1023)";
    assert_eq!(printed(&[("voteflags", "767"), ("g_customVotes", "insta")]), [off]);
    let on =
        [("voteflags", "1023"), ("vote_insta", "map_restart"), ("g_customVotes", "insta x a;b")];
    let expected = [
        "g_customVotes: vote_x not set (expected set vote_x \"COMMANDS\")",
        "g_customVotes: \"a;b\" is no name (expected at most 31 letters, digits, _ and -)",
    ];
    assert_eq!(printed(&on), expected);
}

#[test]
fn proposals_have_text_and_console_lines() {
    let settings = &[
        ("nextmap", "map_restart 0"),
        ("g_gametype", "3"),
        ("voteflags", "1023"),
        ("g_customVotes", "insta bad;name"),
        ("g_teamAutoJoin", "1"),
    ];
    for (line, q3, oa, runs) in [
        ("map_restart", "map_restart", "Restart map?", "map_restart 0"),
        ("nextmap", "vstr nextmap", "Next map?", "vstr nextmap"),
        (
            "map OA_DM1",
            "map oa_dm1",
            "Change map to: oa_dm1?",
            "map oa_dm1,set nextmap \"map_restart 0\"",
        ),
        (
            "g_gametype 4",
            "g_gametype Capture the Flag",
            "Change gametype to: Capture the Flag?",
            "set g_gametype 4,map_restart 0",
        ),
        ("kick gamma", "kick gamma", "Kick gamma?", "clientkick 2"),
        ("clientkick 3", "kick delta", "Kick delta?", "clientkick 3"),
        ("g_doWarmup 1", "g_doWarmup '1'", "Enable warmup?", "set g_doWarmup 1"),
        ("g_doWarmup 0", "g_doWarmup '0'", "Disable warmup?", "set g_doWarmup 0"),
        ("timelimit 10", "timelimit '10'", "Change timelimit to: 10", "set timelimit 10"),
        ("fraglimit 0", "fraglimit '0'", "Remove fraglimit?", "set fraglimit 0"),
        ("shuffle", "", "Shuffle teams?", "map_restart 0"),
        ("custom insta", "", "insta?", "vstr vote_insta"),
    ] {
        for (ruleset, text) in [(Ruleset::BASEQ3, q3), (Ruleset::BASEOA, oa)] {
            let mut fixture = fixture(ruleset, settings);
            fixture.say(0, &format!("callvote {line}"));
            if text.is_empty() {
                assert_eq!(fixture.configstring(8), "", "{line}");
                continue;
            }
            assert_eq!(fixture.configstring(9), text, "{line}");
            for number in 1..4 {
                fixture
                    .game
                    .client_command(
                        &mut fixture.host,
                        client(number),
                        &CommandArgs::parse("vote y"),
                    )
                    .expect("no fault");
            }
            fixture.wait(3100);
            // OpenArena's restart has a countdown.
            let has_countdown = line == "map_restart" && ruleset.base == BaseGame::OpenArena;
            let runs = if has_countdown { "map_restart" } else { runs };
            assert_eq!(fixture.host.queued.join(","), runs, "{line}");
        }
    }
}

#[test]
fn invalid_proposals_are_refused() {
    let separator = "print \"Invalid vote string.\n\"";
    let unknown = "print \"Invalid vote string.\n\"print \"Vote commands are: map_restart, nextmap, \
                   map <mapname>, g_gametype <n>, kick <player>, clientkick <clientnum>, g_doWarmup, \
                   timelimit <time>, fraglimit <frags>.\n\"";
    for (line, answer) in [
        ("callvote", unknown),
        ("callvote rcon quit", unknown),
        ("callvote map \"oa_dm1;quit\"", separator),
        ("callvote \"map;quit\" oa_dm1", separator),
        ("callvote kick \";rcon\"", separator),
        ("callvote map nowhere", "print \"Map is not available.\n\""),
        ("callvote map ../../etc", "print \"Map is not available.\n\""),
        ("callvote map", "print \"Map is not available.\n\""),
        ("callvote g_gametype 2", "print \"Invalid gametype.\n\""),
        ("callvote g_gametype 5", "print \"Invalid gametype.\n\""),
        ("callvote g_gametype -1", "print \"Invalid gametype.\n\""),
        ("callvote g_gametype 99999999999", "print \"Invalid gametype.\n\""),
        ("callvote nextmap", "print \"nextmap not set.\n\""),
        ("callvote kick nobody", "print \"User nobody is not on the server\n\""),
        ("callvote clientkick 64", "print \"User 64 is not on the server\n\""),
        ("callvote clientkick x", "print \"User x is not on the server\n\""),
        ("callvote clientkick 9", "print \"User 9 is not on the server\n\""),
        ("callvote timelimit -1", "print \"It takes a number from 1 to 1000.\n\""),
        ("callvote fraglimit lots", "print \"It takes a number from 0 to 999.\n\""),
    ] {
        let mut fixture = fixture(Ruleset::BASEQ3, &[]);
        assert_eq!(fixture.ask(0, line), answer, "{line}");
        assert_eq!(shown(&fixture), ["", "", "", ""], "{line}");
    }
    let mut fixture = fixture(Ruleset::BASEQ3, &[]);
    assert!(fixture.ask(0, &format!("callvote map {}", "x".repeat(1000))).len() < 100);
}

#[test]
fn vote_settings_limit_proposals() {
    let settings = &[
        ("voteflags", "12"),
        ("g_voteGametypes", "/0/3/"),
        ("g_voteMinFraglimit", "10"),
        ("g_voteMaxFraglimit", "50"),
    ];
    let mut fixture = fixture(Ruleset::BASEOA, settings);
    let disabled = "print \"Not allowed here.\n\"print \"Vote commands are: map <mapname>, g_gametype <n>.\n\"";
    assert_eq!(fixture.ask(0, "callvote map_restart"), disabled);
    for (number, why) in
        [(4, "Gametype is not available."), (8, "Gametype is not available.")].into_iter().chain([
            (0, "This is current gametype"),
            (2, "Invalid gametype."),
            (99, "Invalid gametype."),
        ])
    {
        let line = format!("callvote g_gametype {number}");
        assert_eq!(fixture.ask(0, &line), format!("print \"{why}\n\""), "{line}");
    }
    fixture.host.set_setting("voteflags", "767");
    for (line, why) in [
        ("kick nobody", "Cannot find the playername. Try clientkick instead."),
        ("clientkick 64", "Cannot kick that number."),
        ("shuffle", "Can only be used in team games."),
        ("timelimit 0", "Cannot set timelimit."),
    ] {
        assert_eq!(fixture.ask(0, &format!("callvote {line}")), format!("print \"{why}\n\""));
    }
    let list = fixture.ask(0, "callvote custom x");
    assert!(list.contains("clientkick <clientnum>, shuffle, g_doWarmup"), "{list}");
    let list = fixture.ask(0, "callvote x");
    assert!(list.contains("fraglimit <frags>, shuffle."), "{list}");
    for wrong in ["0", "9", "51"] {
        let line = format!("callvote fraglimit {wrong}");
        assert_eq!(fixture.ask(0, &line), "print \"Cannot set fraglimit.\n\"");
    }
    fixture.host.set_setting("g_allowVote", "0");
    assert_eq!(fixture.ask(0, "callvote fraglimit 20"), "print \"Voting not allowed here.\n\"");
}

#[test]
fn vote_calls_are_limited_per_address() {
    let mut fixture = fixture(Ruleset::BASEOA, &[]);
    for _ in 0..3 {
        // Also over a new connection.
        fixture.game.client_disconnect(&mut fixture.host, client(0)).expect("no fault");
        fixture.enter(0, "\\name\\alpha\\ip\\10.0.0.1");
        fixture.say(0, "callvote map_restart");
        assert_ne!(fixture.configstring(8), "");
        fixture.wait(30_050);
    }
    let refusal = "print \"You have called the maximum number of votes.\n\"";
    assert_eq!(fixture.ask(0, "callvote map_restart"), refusal);
    fixture.say(1, "callvote map_restart");
    assert_ne!(fixture.configstring(8), "");
}

#[test]
fn vote_calls_are_limited_per_ipv6_line() {
    let mut fixture = fixture(Ruleset::BASEOA, &[]);
    for (subnet, is_called) in [(0, true), (7, true), (0xff, true), (0x80, false), (0x100, true)] {
        fixture.game.client_disconnect(&mut fixture.host, client(0)).expect("no fault");
        fixture.enter(0, &format!("\\name\\alpha\\ip\\2001:db8:0:{subnet:x}::1"));
        fixture.forget();
        fixture.say(0, "callvote map_restart");
        assert_eq!(!fixture.configstring(8).is_empty(), is_called, "subnet {subnet:x}");
        fixture.wait(30_050);
    }
}

/// Two players of two addresses, then three clients of the address or the IPv6 line of an attacker.
fn attacked(settings: &[(&str, &str)], attackers: [&str; 3]) -> Fixture {
    let mut fixture = Fixture::set_up(Ruleset::BASEQ3, settings);
    let addresses = ["198.51.100.1", "198.51.100.2"].into_iter().chain(attackers);
    for (number, ip) in addresses.enumerate() {
        fixture.enter(number, &format!("\\name\\player{number}\\ip\\{ip}"));
    }
    fixture.forget();
    fixture
}

/// One address, and one IPv6 line.
const ATTACKERS: [[&str; 3]; 2] =
    [["203.0.113.9"; 3], ["2001:db8::1", "2001:db8:0:7::1", "2001:db8:0:ff::9"]];

#[test]
fn clients_of_one_address_share_a_ballot() {
    let shared = "print \"Players of your address share one ballot: the latest vote counts.\n\"";
    for attackers in ATTACKERS {
        let mut fixture = attacked(&[], attackers);
        fixture.say(2, "callvote kick player0");
        assert!(fixture.host.sent_to(client(2)).contains(&shared));
        for number in [3, 4] {
            assert_eq!(fixture.ask(number, "vote yes"), format!("print \"Vote cast.\n\"{shared}"));
        }
        assert_eq!(shown(&fixture)[2..], ["1", "0"]);
        fixture.wait(20_000);
        assert_eq!(fixture.ask(0, "vote no"), "print \"Vote cast.\n\"");
        fixture.wait(50);
        assert_eq!(fixture.host.sent_to_all(), ["print \"Vote failed.\n\""]);
        fixture.wait(10_000);
        assert!(fixture.host.queued.is_empty());
        // The honest players are two of three.
        fixture.say(0, "callvote kick player3");
        fixture.ask(1, "vote yes");
        fixture.wait(3100);
        assert_eq!(fixture.host.queued, ["clientkick 3"]);
    }
}

#[test]
fn ballots_count_clients_where_set() {
    for settings in [[("g_voteBallots", "client")], [("sv_lanNetworks", "any")]] {
        for attackers in ATTACKERS {
            let mut fixture = attacked(&settings, attackers);
            fixture.say(2, "callvote kick player0");
            for number in [3, 4] {
                assert_eq!(fixture.ask(number, "vote yes"), "print \"Vote cast.\n\"");
            }
            fixture.wait(3100);
            assert_eq!(fixture.host.queued, ["clientkick 0"]);
        }
    }
}

#[test]
fn latest_vote_of_an_address_counts() {
    let mut fixture = attacked(&[], ["203.0.113.9"; 3]);
    fixture.say(2, "callvote map_restart");
    for (number, word, counts) in
        [(3, "no", ["0", "1"]), (4, "yes", ["1", "0"]), (1, "no", ["1", "1"])]
    {
        fixture.say(number, &format!("vote {word}"));
        assert_eq!(shown(&fixture)[2..], counts, "player {number}");
    }
    // The latest vote leaves with its client.
    fixture.game.client_disconnect(&mut fixture.host, client(4)).expect("no fault");
    fixture.forget();
    fixture.wait(50);
    assert_eq!(fixture.host.sent_to_all(), ["print \"Vote failed.\n\""], "two of three say no");
}

#[test]
fn players_of_a_single_address_vote_alone() {
    let mut fixture = fixture(Ruleset::BASEQ3, &[]);
    for number in 0..4 {
        fixture.game.client_disconnect(&mut fixture.host, client(number)).expect("no fault");
        fixture.enter(number, &format!("\\name\\pupil{number}\\ip\\203.0.113.9"));
    }
    fixture.say(0, "callvote map_restart");
    fixture.ask(1, "vote yes");
    fixture.wait(50);
    assert_ne!(fixture.configstring(8), "", "two of four are no majority");
    fixture.ask(2, "vote yes");
    fixture.wait(3100);
    assert_eq!(fixture.host.queued, ["map_restart 0"]);
}

#[test]
fn team_votes_share_ballots() {
    for (ballots, leader) in [("address", "\\tl\\0"), ("client", "\\tl\\1")] {
        let settings = [("g_gametype", "4"), ("g_voteBallots", ballots)];
        let mut fixture = attacked(&settings, ["203.0.113.9"; 3]);
        for number in 0..5 {
            fixture.say(number, "team red");
        }
        fixture.say(2, "callteamvote leader");
        for number in [3, 4] {
            fixture.say(number, "teamvote yes");
        }
        fixture.wait(50);
        let entry = fixture.configstring(546).to_owned();
        assert!(entry.ends_with(leader), "{ballots}: {entry}");
    }
}

#[test]
fn spectators_cannot_vote() {
    let mut fixture = fixture(Ruleset::BASEQ3, &[]);
    fixture.say(3, "team s");
    let refusal = "print \"Not allowed to call a vote as spectator.\n\"";
    assert_eq!(fixture.ask(3, "callvote map_restart"), refusal);
    fixture.say(0, "callvote map_restart");
    assert_eq!(fixture.ask(3, "vote yes"), "print \"Not allowed to vote as spectator.\n\"");
    assert_eq!(fixture.ask(0, "vote yes"), "print \"Vote already cast.\n\"");
    fixture.ask(1, "vote yes");
    fixture.wait(50);
    assert_eq!(fixture.host.sent_to_all(), ["print \"Vote passed.\n\""], "two of three");
}

#[test]
fn openarena_votes_may_change() {
    let mut fixture = fixture(Ruleset::BASEOA, &[]);
    fixture.say(0, "callvote map_restart");
    fixture.ask(1, "vote yes");
    fixture.ask(1, "vote no");
    assert_eq!(shown(&fixture)[2..], ["1", "1"]);
}

#[test]
fn votes_of_disconnected_players_are_removed() {
    let mut fixture = fixture(Ruleset::BASEQ3, &[]);
    fixture.say(0, "callvote map_restart");
    fixture.ask(1, "vote yes");
    fixture.game.client_disconnect(&mut fixture.host, client(0)).expect("no fault");
    fixture.wait(50);
    assert_ne!(fixture.configstring(8), "", "one of three is no majority");
}

#[test]
fn kick_vote_fails_when_target_leaves() {
    let mut fixture = fixture(Ruleset::BASEQ3, &[]);
    fixture.say(0, "callvote kick beta");
    fixture.game.client_disconnect(&mut fixture.host, client(1)).expect("no fault");
    fixture.enter(1, "\\name\\newcomer");
    fixture.forget();
    fixture.wait(50);
    assert_eq!(fixture.host.sent_to_all(), ["print \"Vote failed.\n\""]);
    fixture.say(0, "callvote kick 1");
    for number in [2, 3] {
        fixture.ask(number, "vote yes");
    }
    fixture.wait(100);
    fixture.game.client_disconnect(&mut fixture.host, client(1)).expect("no fault");
    fixture.enter(1, "\\name\\newcomer");
    fixture.wait(5000);
    assert!(fixture.host.queued.is_empty());
}

#[test]
fn kick_vote_clears_strings_when_player_leaves() {
    for (ruleset, text) in [(Ruleset::BASEOA, ""), (Ruleset::BASEQ3, "kick beta")] {
        let mut fixture = fixture(ruleset, &[]);
        fixture.say(0, "callvote kick beta");
        for number in [2, 3] {
            fixture.ask(number, "vote yes");
        }
        fixture.wait(3100);
        assert_eq!(fixture.host.queued, ["clientkick 1"], "{}", ruleset.folder);
        fixture.game.client_disconnect(&mut fixture.host, client(1)).expect("no fault");
        fixture.wait(50);
        assert_eq!(fixture.configstring(9), text, "{}", ruleset.folder);
    }
}

#[test]
fn new_level_clears_votes() {
    let mut fixture = fixture(Ruleset::BASEQ3, &[]);
    fixture.say(0, "callvote fraglimit 5");
    fixture.start(false);
    fixture.wait(40_000);
    assert!(fixture.host.queued.is_empty());
}

#[test]
fn light_voting_passes_without_majority() {
    for (ruleset, text) in [
        (Ruleset::BASEOA, "print \"Vote passed. At least 2 of 3 voted yes\n\""),
        (Ruleset::BASEQ3, "print \"Vote failed.\n\""),
    ] {
        let mut fixture = fixture(ruleset, &[("dmflags", "512")]);
        fixture.say(0, "callvote map_restart");
        fixture.forget();
        fixture.wait(30_000);
        assert_eq!(fixture.host.sent_to_all(), [text]);
    }
}

#[test]
fn team_votes_on_its_leader() {
    for ruleset in Ruleset::ALL {
        let mut fixture = fixture(ruleset, &[("g_gametype", "4")]);
        for (number, team) in [(0, "red"), (1, "red"), (2, "red"), (3, "blue")] {
            fixture.say(number, &format!("team {team}"));
        }
        assert_eq!(fixture.ask(1, "teamvote yes"), "print \"No team vote in progress.\n\"");
        let wrong =
            "print \"Invalid vote string.\n\"print \"Team vote commands are: leader <player>.\n\"";
        for line in ["callteamvote", "callteamvote map x", "callteamvote leader \"beta;quit\""] {
            assert_eq!(fixture.ask(1, line), wrong);
        }
        for (word, why) in [
            ("delta", "delta is not a valid player on your team."),
            ("3", "3 is not a valid player on your team."),
            ("9", "Client 9 is not active"),
            ("99", "Bad client slot: 99"),
        ] {
            let answer = fixture.ask(1, &format!("callteamvote leader {word}"));
            assert_eq!(answer, format!("print \"{why}\n\""), "{word}");
        }
        fixture.say(1, "callteamvote leader");
        assert_eq!(fixture.host.sent_to(client(0)), ["print \"beta called a team vote.\n\""]);
        assert!(fixture.host.sent_to(client(3)).is_empty());
        let strings = [12, 14, 16, 18].map(|index| fixture.configstring(index).to_owned());
        assert_eq!(strings, ["1000", "leader 1", "1", "0"]);
        assert_eq!(fixture.ask(3, "teamvote yes"), "print \"No team vote in progress.\n\"");
        assert_eq!(fixture.ask(1, "teamvote yes"), "print \"Team vote already cast.\n\"");
        fixture
            .game
            .client_command(&mut fixture.host, client(2), &CommandArgs::parse("teamvote yes"))
            .expect("no fault");
        assert_eq!(fixture.configstring(16), "2");
        fixture.forget();
        fixture.wait(50);
        let mut told = fixture.host.sent_to(client(0));
        told.retain(|text| !text.starts_with("tinfo"));
        assert_eq!(told, ["print \"beta is the new team leader\n\""]);
        assert_eq!(fixture.host.sent_to_all(), ["print \"Team vote passed.\n\""]);
        assert_eq!(fixture.configstring(12), "");
        assert!(fixture.configstring(545).ends_with("\\tl\\1"), "{}", fixture.configstring(545));
        assert!(fixture.configstring(544).ends_with("\\tl\\0"));
    }
}

#[test]
fn shuffle_balances_teams() {
    let mut fixture = fixture(Ruleset::BASEOA, &[("g_gametype", "3")]);
    for number in 0..4 {
        fixture.say(number, "team red");
    }
    for number in 0..4 {
        let player = fixture.game.clients().players[number].as_mut();
        player.expect("there").state.persistant[Persistent::Score] = 9 - number as i32;
    }
    fixture.say(0, "callvote shuffle");
    for number in 1..4 {
        fixture
            .game
            .client_command(&mut fixture.host, client(number), &CommandArgs::parse("vote yes"))
            .expect("no fault");
    }
    fixture.wait(3100);
    let teams = [0, 1, 2, 3].map(|n| fixture.configstring(544 + n).split('\\').nth(3) == Some("1"));
    assert_eq!(teams, [true, false, false, true]);
}

#[test]
fn operator_cancels_and_passes_votes() {
    let mut fixture = fixture(Ruleset::BASEOA, &[]);
    let order = |fixture: &mut Fixture, line: &str| {
        fixture.forget();
        let words = CommandArgs::parse(line);
        let Fixture { game, host, .. } = fixture;
        assert_eq!(game.console_command(host, &words), Ok(true));
        fixture.host.sent_to_all().iter().map(|text| text.to_string()).collect::<Vec<_>>()
    };
    assert!(order(&mut fixture, "cancelvote").is_empty());
    fixture.say(0, "callvote fraglimit 33");
    assert_eq!(order(&mut fixture, "cancelvote"), ["print \"Vote canceled.\n\""]);
    assert_eq!(fixture.configstring(8), "");
    fixture.wait(4000);
    assert!(fixture.host.queued.is_empty());
    fixture.say(0, "callvote fraglimit 33");
    assert_eq!(order(&mut fixture, "passvote"), ["print \"Vote passed.\n\""]);
    assert_eq!(
        order(&mut fixture, "cancelvote"),
        ["print \"Vote canceled.\n\""],
        "during its pause"
    );
    fixture.wait(4000);
    assert!(fixture.host.queued.is_empty());
    fixture.say(0, "callvote fraglimit 34");
    order(&mut fixture, "passvote");
    fixture.wait(3100);
    assert_eq!(fixture.host.queued, ["set fraglimit 34"]);
    let ended = ["vote failed: 1 0 ", "vote passed: 1 0 "];
    for text in ended {
        assert!(fixture.host.logged.iter().any(|(_, line)| line.starts_with(text)), "{text}");
    }
}

#[test]
fn votes_are_limited_by_name_and_map_file() {
    let mut fixture = fixture(Ruleset::BASEOA, &[("g_voteNames", "/map/Kick/")]);
    let refused = fixture.say(0, "callvote fraglimit 33");
    let text = "Vote commands are: map <mapname>, kick <player>, custom <special>.";
    assert!(refused.iter().any(|(_, line)| line.contains(text)), "{refused:?}");
    let mut assets = MemoryAssets::default();
    assets.insert("votemaps.cfg", b"q3dm17 gone".to_vec()).expect("a legal name");
    fixture.host.files = Some(GameFiles::new(Rc::new(assets), FileLimits { bytes: 0, files: 0 }));
    fixture.start(false);
    fixture.enter(0, "\\name\\alpha");
    assert_eq!(fixture.ask(0, "callvote map oa_dm1"), "print \"Map is not available.\n\"");
    assert_eq!(fixture.ask(0, "callvote map gone"), "print \"Map is not available.\n\"");
    let page = fixture.ask(0, "getmappage 0");
    assert!(page.starts_with("mappage 0 \"q3dm17\" \"\""), "{page}");
    fixture.say(0, "callvote map Q3DM17");
    assert_eq!(fixture.configstring(9), "Change map to: q3dm17?");
}

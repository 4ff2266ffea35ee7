//! Votes.

use super::*;
use crate::bg::Persistent;
use crate::bg::entity_flag;

const SHOWN: [u16; 4] = [8, 9, 10, 11];

fn shown(hall: &Hall) -> [String; 4] {
    SHOWN.map(|index| hall.configstring(index).to_owned())
}

fn hall(ruleset: &'static Ruleset, settings: &[(&str, &str)]) -> Hall {
    let mut hall = Hall::with(ruleset, settings, &["alpha", "beta", "gamma", "delta"]);
    hall.host.maps = vec!["oa_dm1".to_owned(), "q3dm17".to_owned()];
    hall
}

#[test]
fn a_vote_is_called_cast_and_carried_out() {
    for (ruleset, text) in
        [(Ruleset::BASEQ3, "fraglimit 33"), (Ruleset::BASEOA, "Change fraglimit to: 33")]
    {
        let mut hall = hall(ruleset, &[]);
        hall.say(0, "callvote fraglimit 33");
        assert_eq!(hall.host.sent_to_all(), ["print \"alpha called a vote.\n\""]);
        assert_eq!(shown(&hall), ["1000", text, "1", "0"]);
        assert_ne!(hall.state(0).e_flags & entity_flag::VOTED, 0);
        assert_eq!(
            hall.ask(1, "callvote map_restart"),
            "print \"A vote is already in progress.\n\""
        );
        assert_eq!(hall.ask(1, "vote yes"), "print \"Vote cast.\n\"");
        assert_eq!(shown(&hall)[2..], ["2", "0"]);
        hall.wait(50);
        assert!(hall.host.sent_to_all().is_empty(), "two of four are no majority");
        hall.ask(2, "vote Y");
        hall.wait(50);
        assert_eq!(hall.host.sent_to_all(), ["print \"Vote passed.\n\""]);
        assert_eq!(hall.configstring(8), "");
        hall.wait(2950);
        assert!(hall.host.queued.is_empty());
        assert_eq!(hall.ask(1, "callvote map_restart"), "print \"Vote after map change.\n\"");
        hall.wait(50);
        assert_eq!(hall.host.queued, ["set fraglimit 33"]);
        hall.wait(5000);
        assert_eq!(hall.host.queued.len(), 1, "once");
    }
}

#[test]
fn a_vote_fails_by_noes_or_by_time() {
    let mut hall = hall(Ruleset::BASEQ3, &[]);
    hall.say(0, "callvote map_restart");
    hall.ask(1, "vote no");
    hall.wait(50);
    hall.ask(2, "vote 0");
    hall.wait(50);
    assert_eq!(hall.host.sent_to_all(), ["print \"Vote failed.\n\""]);
    assert_eq!(hall.ask(3, "vote yes"), "print \"No vote in progress.\n\"");
    hall.say(0, "callvote map_restart");
    hall.forget();
    hall.wait(29_950);
    assert!(hall.host.sent_to_all().is_empty());
    hall.wait(50);
    assert_eq!(hall.host.sent_to_all(), ["print \"Vote failed.\n\""]);
    hall.wait(10_000);
    assert!(hall.host.queued.is_empty());
}

#[test]
fn every_question_has_its_text_and_its_line() {
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
        ("map OA_DM1", "map oa_dm1", "Change map to: oa_dm1?", "map oa_dm1"),
        (
            "g_gametype 4",
            "g_gametype Capture the Flag",
            "Change gametype to: Capture the Flag?",
            "set g_gametype 4,map_restart 0",
        ),
        ("kick gamma", "kick gamma", "Kick gamma?", "clientkick 2"),
        ("clientkick 3", "kick delta", "Kick delta?", "clientkick 3"),
        ("g_doWarmup 1", "g_doWarmup 1", "Enable warmup?", "set g_doWarmup 1"),
        ("g_doWarmup 0", "g_doWarmup 0", "Disable warmup?", "set g_doWarmup 0"),
        ("timelimit 10", "timelimit 10", "Change timelimit to: 10", "set timelimit 10"),
        ("fraglimit 0", "fraglimit 0", "Remove fraglimit?", "set fraglimit 0"),
        ("shuffle", "", "Shuffle teams?", "map_restart 0"),
        ("custom insta", "", "insta?", "vstr vote_insta"),
    ] {
        for (ruleset, text) in [(Ruleset::BASEQ3, q3), (Ruleset::BASEOA, oa)] {
            let mut hall = hall(ruleset, settings);
            hall.say(0, &format!("callvote {line}"));
            if text.is_empty() {
                assert_eq!(hall.configstring(8), "", "{line}");
                continue;
            }
            assert_eq!(hall.configstring(9), text, "{line}");
            for number in 1..4 {
                hall.game.client_command(&mut hall.host, client(number), &Words::parse("vote y"));
            }
            hall.wait(3100);
            assert_eq!(hall.host.queued.join(","), runs, "{line}");
        }
    }
}

#[test]
fn what_may_not_be_voted_on_is_refused() {
    let unknown = "print \"Invalid vote string.\n\"print \"Vote commands are: map_restart, nextmap, map, \
                   g_gametype, kick, clientkick, g_doWarmup, timelimit, fraglimit.\n\"";
    for (line, answer) in [
        ("callvote", unknown),
        ("callvote rcon quit", unknown),
        ("callvote map \"oa_dm1;quit\"", unknown),
        ("callvote \"map;quit\" oa_dm1", unknown),
        ("callvote kick \";rcon\"", unknown),
        ("callvote map nowhere", "print \"There is no map nowhere.\n\""),
        ("callvote map ../../etc", "print \"There is no map ../../etc.\n\""),
        ("callvote map", "print \"There is no map .\n\""),
        ("callvote g_gametype 2", "print \"Invalid gametype.\n\""),
        ("callvote g_gametype 5", "print \"Invalid gametype.\n\""),
        ("callvote g_gametype -1", "print \"Invalid gametype.\n\""),
        ("callvote g_gametype 99999999999", "print \"Invalid gametype.\n\""),
        ("callvote nextmap", "print \"nextmap not set.\n\""),
        ("callvote kick nobody", "print \"User nobody is not on the server\n\""),
        ("callvote clientkick 64", "print \"Bad client slot: 64\n\""),
        ("callvote clientkick x", "print \"Bad client slot: x\n\""),
        ("callvote clientkick 9", "print \"Client 9 is not active\n\""),
        ("callvote timelimit -1", "print \"It takes a number from 0 to 1000.\n\""),
        ("callvote fraglimit lots", "print \"It takes a number from 0 to 999.\n\""),
    ] {
        let mut hall = hall(Ruleset::BASEQ3, &[]);
        assert_eq!(hall.ask(0, line), answer, "{line}");
        assert_eq!(shown(&hall), ["", "", "", ""], "{line}");
    }
    let mut hall = hall(Ruleset::BASEQ3, &[]);
    assert!(hall.ask(0, &format!("callvote map {}", "x".repeat(1000))).len() < 100);
}

#[test]
fn operators_say_what_may_be_voted_on() {
    let settings = &[
        ("voteflags", "12"),
        ("g_voteGametypes", "/0/3/"),
        ("g_voteMinFraglimit", "10"),
        ("g_voteMaxFraglimit", "50"),
    ];
    let mut hall = hall(Ruleset::BASEOA, settings);
    assert!(hall.ask(0, "callvote map_restart").contains("Vote commands are: map, g_gametype."));
    assert_eq!(hall.ask(0, "callvote g_gametype 4"), "print \"Invalid gametype.\n\"");
    hall.host.set_setting("voteflags", "767");
    for wrong in ["0", "9", "51"] {
        let line = format!("callvote fraglimit {wrong}");
        assert_eq!(hall.ask(0, &line), "print \"It takes a number from 10 to 50.\n\"");
    }
    hall.host.set_setting("g_allowVote", "0");
    assert_eq!(hall.ask(0, "callvote fraglimit 20"), "print \"Voting not allowed here.\n\"");
}

#[test]
fn an_address_calls_no_more_votes_than_allowed() {
    let mut hall = hall(Ruleset::BASEOA, &[]);
    for _ in 0..3 {
        // Also over a new connection.
        hall.game.client_disconnect(&mut hall.host, client(0));
        hall.enter(0, "\\name\\alpha\\ip\\10.0.0.1");
        hall.say(0, "callvote map_restart");
        assert_ne!(hall.configstring(8), "");
        hall.wait(30_050);
    }
    let refusal = "print \"You have called the maximum number of votes.\n\"";
    assert_eq!(hall.ask(0, "callvote map_restart"), refusal);
    hall.say(1, "callvote map_restart");
    assert_ne!(hall.configstring(8), "");
}

#[test]
fn spectators_have_no_say() {
    let mut hall = hall(Ruleset::BASEQ3, &[]);
    hall.say(3, "team s");
    let refusal = "print \"Not allowed to call a vote as spectator.\n\"";
    assert_eq!(hall.ask(3, "callvote map_restart"), refusal);
    hall.say(0, "callvote map_restart");
    assert_eq!(hall.ask(3, "vote yes"), "print \"Not allowed to vote as spectator.\n\"");
    assert_eq!(hall.ask(0, "vote yes"), "print \"Vote already cast.\n\"");
    hall.ask(1, "vote yes");
    hall.wait(50);
    assert_eq!(hall.host.sent_to_all(), ["print \"Vote passed.\n\""], "two of three");
}

#[test]
fn openarena_lets_voters_change_their_mind() {
    let mut hall = hall(Ruleset::BASEOA, &[]);
    hall.say(0, "callvote map_restart");
    hall.ask(1, "vote yes");
    hall.ask(1, "vote no");
    assert_eq!(shown(&hall)[2..], ["1", "1"]);
}

#[test]
fn votes_leave_with_who_cast_them() {
    let mut hall = hall(Ruleset::BASEQ3, &[]);
    hall.say(0, "callvote map_restart");
    hall.ask(1, "vote yes");
    hall.game.client_disconnect(&mut hall.host, client(0));
    hall.wait(50);
    assert_ne!(hall.configstring(8), "", "one of three is no majority");
}

#[test]
fn nobody_is_kicked_for_another() {
    let mut hall = hall(Ruleset::BASEQ3, &[]);
    hall.say(0, "callvote kick beta");
    hall.game.client_disconnect(&mut hall.host, client(1));
    hall.enter(1, "\\name\\newcomer");
    hall.forget();
    hall.wait(50);
    assert_eq!(hall.host.sent_to_all(), ["print \"Vote failed.\n\""]);
    hall.say(0, "callvote kick 1");
    for number in [2, 3] {
        hall.ask(number, "vote yes");
    }
    hall.wait(100);
    hall.game.client_disconnect(&mut hall.host, client(1));
    hall.enter(1, "\\name\\newcomer");
    hall.wait(5000);
    assert!(hall.host.queued.is_empty());
}

#[test]
fn a_new_level_forgets_votes() {
    let mut hall = hall(Ruleset::BASEQ3, &[]);
    hall.say(0, "callvote fraglimit 5");
    hall.start(false);
    hall.wait(40_000);
    assert!(hall.host.queued.is_empty());
}

#[test]
fn light_voting_passes_without_a_majority() {
    for (ruleset, text) in [
        (Ruleset::BASEOA, "print \"Vote passed. At least 2 of 3 voted yes\n\""),
        (Ruleset::BASEQ3, "print \"Vote failed.\n\""),
    ] {
        let mut hall = hall(ruleset, &[("dmflags", "512")]);
        hall.say(0, "callvote map_restart");
        hall.forget();
        hall.wait(30_000);
        assert_eq!(hall.host.sent_to_all(), [text]);
    }
}

#[test]
fn a_team_votes_on_its_leader() {
    for ruleset in Ruleset::ALL {
        let mut hall = hall(ruleset, &[("g_gametype", "4")]);
        for (number, team) in [(0, "red"), (1, "red"), (2, "red"), (3, "blue")] {
            hall.say(number, &format!("team {team}"));
        }
        assert_eq!(hall.ask(1, "teamvote yes"), "print \"No team vote in progress.\n\"");
        let wrong =
            "print \"Invalid vote string.\n\"print \"Team vote commands are: leader <player>.\n\"";
        for line in ["callteamvote", "callteamvote map x", "callteamvote leader \"beta;quit\""] {
            assert_eq!(hall.ask(1, line), wrong);
        }
        let stranger = "print \"That player is not on your team.\n\"";
        assert_eq!(hall.ask(1, "callteamvote leader delta"), stranger);
        hall.say(1, "callteamvote leader");
        assert_eq!(hall.host.sent_to(client(0)), ["print \"beta called a team vote.\n\""]);
        assert!(hall.host.sent_to(client(3)).is_empty());
        let strings = [12, 14, 16, 18].map(|index| hall.configstring(index).to_owned());
        assert_eq!(strings, ["1000", "leader beta", "1", "0"]);
        assert_eq!(hall.ask(3, "teamvote yes"), "print \"No team vote in progress.\n\"");
        assert_eq!(hall.ask(1, "teamvote yes"), "print \"Team vote already cast.\n\"");
        hall.game.client_command(&mut hall.host, client(2), &Words::parse("teamvote yes"));
        assert_eq!(hall.configstring(16), "2");
        hall.forget();
        hall.wait(50);
        let mut told = hall.host.sent_to(client(0));
        told.retain(|text| !text.starts_with("tinfo"));
        assert_eq!(
            told,
            ["print \"Team vote passed.\n\"", "print \"beta is the new team leader\n\""]
        );
        assert_eq!(hall.configstring(12), "");
        assert!(hall.configstring(545).ends_with("\\tl\\1"), "{}", hall.configstring(545));
        assert!(hall.configstring(544).ends_with("\\tl\\0"));
    }
}

#[test]
fn shuffled_teams_are_even() {
    let mut hall = hall(Ruleset::BASEOA, &[("g_gametype", "3")]);
    for number in 0..4 {
        hall.say(number, "team red");
    }
    for number in 0..4 {
        let player = hall.game.clients().players[number].as_mut();
        player.expect("there").state.persistant[Persistent::Score] = 9 - number as i32;
    }
    hall.say(0, "callvote shuffle");
    for number in 1..4 {
        hall.game.client_command(&mut hall.host, client(number), &Words::parse("vote yes"));
    }
    hall.wait(3100);
    let teams = [0, 1, 2, 3].map(|n| hall.configstring(544 + n).split('\\').nth(3) == Some("1"));
    assert_eq!(teams, [true, false, false, true]);
}

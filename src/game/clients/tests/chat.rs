//! Chat: recipients and texts.

use super::*;

const TEAMS: &[(&str, &str)] = &[("g_gametype", "3")];

fn heard(hall: &Hall, number: usize) -> Vec<&str> {
    let own = |to: &Option<ClientNum>| to.is_none_or(|to| to == client(number));
    hall.host.sent.iter().filter(|(to, _)| own(to)).map(|(_, text)| text.as_str()).collect()
}

/// Red 0 and 1, blue 2, watching 3.
fn sides(ruleset: &'static Ruleset) -> Hall {
    let mut hall = Hall::with(ruleset, TEAMS, &["alpha", "beta", "^1gamma", "delta"]);
    for (number, team) in [(0, "red"), (1, "red"), (2, "blue")] {
        hall.say(number, &format!("team {team}"));
        // Nobody stands where the next one appears.
        let aside = crate::model::Vec3::new(100.0 * (number + 1) as f32, 0.0, 0.0);
        hall.game.teleport(&mut hall.host, client(number), [aside, aside * 0.0]);
    }
    hall
}

#[test]
fn everybody_hears_what_is_said_to_all() {
    for ruleset in Ruleset::ALL {
        let mut hall = sides(ruleset);
        hall.say(2, "say well played");
        for number in 0..4 {
            assert_eq!(heard(&hall, number), ["chat \"^1gamma^7\x19: ^2well played\""]);
        }
    }
}

#[test]
fn a_team_is_among_itself() {
    for ruleset in Ruleset::ALL {
        let mut hall = sides(ruleset);
        hall.say(0, "say_team help");
        for (number, count) in [(0, 1), (1, 1), (2, 0), (3, 0)] {
            let line = "tchat \"\x19(alpha^7\x19)\x19: ^5help\"";
            assert_eq!(heard(&hall, number), vec![line; count], "{number}");
        }
        hall.say(3, "say_team quiet");
        assert_eq!(heard(&hall, 3).len(), 1);
        assert_eq!(heard(&hall, 0).len(), 0);
        let mut hall = Hall::with(ruleset, &[], &["alpha", "beta"]);
        hall.say(0, "say_team hello");
        assert_eq!(heard(&hall, 1), ["chat \"alpha^7\x19: ^2hello\""]);
    }
}

#[test]
fn a_place_goes_with_what_mates_say() {
    let mut hall = sides(Ruleset::BASEQ3);
    let locations = &mut hall.game.clients().locations;
    locations.add(crate::model::Vec3::new(9000.0, 0.0, 0.0), "far away", 0);
    locations.add(crate::model::Vec3::ZERO, "Yard", 1);
    hall.say(0, "say_team help");
    assert_eq!(heard(&hall, 1), ["tchat \"\x19(alpha^7\x19) (^1Yard^7)\x19: ^5help\""]);
    hall.say(0, "tell beta here");
    assert_eq!(heard(&hall, 1), ["chat \"\x19[alpha^7\x19] (^1Yard^7)\x19: ^6here\""]);
    hall.say(0, "tell gamma here");
    assert_eq!(heard(&hall, 2), ["chat \"\x19[alpha^7\x19]\x19: ^6here\""], "no mate of alpha's");
    hall.say(0, "say all");
    assert_eq!(heard(&hall, 2), ["chat \"alpha^7\x19: ^2all\""]);
}

#[test]
fn who_is_told_and_who_tells_see_it() {
    let mut hall = sides(Ruleset::BASEQ3);
    hall.say(0, "tell 2 psst");
    let line = "chat \"\x19[alpha^7\x19]\x19: ^6psst\"";
    assert_eq!((heard(&hall, 2), heard(&hall, 0)), (vec![line], vec![line]));
    assert!(heard(&hall, 1).is_empty());
    for (ruleset, refusal) in [
        (Ruleset::BASEQ3, "User 9 is not on the server"),
        (Ruleset::BASEOA, "Client 9 is not active"),
    ] {
        let mut hall = sides(ruleset);
        assert_eq!(hall.ask(0, "tell 9 x"), format!("print \"{refusal}\n\""));
        let named = "print \"User nobody is not on the server\n\"";
        assert_eq!(hall.ask(0, "tell nobody x"), named);
    }
    assert_eq!(sides(Ruleset::BASEOA).ask(0, "tell 99 x"), "print \"Bad client slot: 99\n\"");
}

#[test]
fn orders_have_numbers() {
    let mut hall = sides(Ruleset::BASEQ3);
    hall.say(0, "gc beta 3");
    assert_eq!(heard(&hall, 1), ["chat \"\x19[alpha^7\x19]\x19: ^6cover me\""]);
    for wrong in ["gc beta 7", "gc beta -1", "gc beta", "gc", "gc beta 99999999999999999999"] {
        assert_eq!(hall.ask(0, wrong), "print \"Usage: gc <player> <0-6>\n\"");
    }
}

#[test]
fn voices_are_told_where_clients_know_them() {
    let mut hall = sides(Ruleset::BASEOA);
    for (line, to, told) in [
        ("vsay yes", 3, "vchat 0 0 50 yes"),
        ("vosay yes", 3, "vchat 1 0 50 yes"),
        ("vsay_team ondefense", 1, "vtchat 0 0 53 ondefense"),
        ("vosay_team ondefense", 1, "vtchat 1 0 53 ondefense"),
        ("vtell beta help", 1, "vtell 0 0 54 help"),
        ("votell beta help", 1, "vtell 1 0 54 help"),
        ("vtaunt", 2, "vchat 0 0 50 taunt"),
        ("vsay_local hi", 2, "vchat 0 0 50 hi"),
        ("vsay \"a b;\\\"c\x1b\"", 2, "vchat 0 0 50 ab"),
    ] {
        hall.say(0, line);
        assert_eq!(heard(&hall, to), [told], "{line}");
    }
    hall.say(0, "vsay_team x");
    assert!(heard(&hall, 2).is_empty());
    hall.say(0, "vsay");
    assert!(heard(&hall, 2).is_empty());
    let mut hall = sides(Ruleset::BASEQ3);
    assert_eq!(hall.ask(0, "vsay yes"), "");
}

#[test]
fn who_plays_a_tournament_is_left_in_peace() {
    let tournament = &[("g_gametype", "1")];
    let mut hall = Hall::with(Ruleset::BASEQ3, tournament, &["a", "b", "watcher", "other"]);
    hall.say(2, "say hello");
    let lines = [0, 1, 2, 3].map(|number| heard(&hall, number).len());
    assert_eq!(lines, [0, 0, 1, 1]);
    hall.say(2, "tell a hello");
    assert_eq!([0, 2].map(|number| heard(&hall, number).len()), [0, 1]);
    hall.say(0, "say hello");
    assert_eq!([0, 1, 2, 3].map(|number| heard(&hall, number).len()), [1, 1, 1, 1]);
}

#[test]
fn absurd_talk_stays_short_and_quoted() {
    let mut hall = sides(Ruleset::BASEQ3);
    hall.say(0, &format!("say {}", "x".repeat(1000)));
    assert_eq!(heard(&hall, 1)[0].len(), "chat \"alpha^7\x19: ^2\"".len() + 149);
    for nothing in ["say", "say \"\"", "say \"   \"", "say \u{1}\u{2}", "say_team", "tell beta"] {
        hall.say(0, nothing);
        assert!(heard(&hall, 1).is_empty(), "{nothing:?}");
    }
    hall.say(0, "say a\"; cs 20 x\ncp y\x19\x1b[2J");
    assert_eq!(heard(&hall, 1).len(), 1);
}

#[test]
fn at_the_end_of_a_level_there_is_only_talk() {
    for (ruleset, lines) in [(Ruleset::BASEQ3, 1), (Ruleset::BASEOA, 0)] {
        let mut hall = sides(ruleset);
        hall.game.clients().intermission = true;
        for line in ["kill", "team blue", "callvote map_restart", "nonsense x"] {
            hall.say(0, line);
            assert_eq!(heard(&hall, 1).len(), lines, "{line}");
            if lines == 1 {
                assert_eq!(heard(&hall, 1), [format!("chat \"alpha^7\x19: ^2{line}\"")]);
            }
        }
        hall.say(0, "say gg");
        assert_eq!(heard(&hall, 1), ["chat \"alpha^7\x19: ^2gg\""]);
        assert!(hall.ask(0, "score").starts_with("scores 4 0 0"));
    }
}

#[test]
fn mates_are_shown_once_a_second() {
    for ruleset in Ruleset::ALL {
        let mut hall = sides(ruleset);
        hall.wait(1000);
        hall.forget();
        hall.wait(1000);
        let overlay = "tinfo 2  0 0 125 0 2 0 1 0 125 0 2 0";
        assert_eq!(hall.host.sent_to(client(0)), [overlay]);
        assert_eq!(hall.host.sent_to(client(1)), [overlay]);
        assert_eq!(hall.host.sent_to(client(2)), ["tinfo 1  2 0 125 0 2 0"]);
        assert!(hall.host.sent_to(client(3)).is_empty());
    }
}

#[test]
fn mates_are_not_shown_to_who_does_not_want_it() {
    for (ruleset, count) in [(Ruleset::BASEQ3, 0), (Ruleset::BASEOA, 1)] {
        let mut hall = Hall::set_up(ruleset, TEAMS);
        hall.enter(0, "\\name\\a\\teamoverlay\\0");
        hall.say(0, "team red");
        hall.wait(1000);
        hall.forget();
        hall.wait(1000);
        assert_eq!(hall.host.sent_to(client(0)).len(), count);
    }
}

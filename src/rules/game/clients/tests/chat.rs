//! Unit tests of chat: audiences and texts.

use super::*;

const TEAMS: &[(&str, &str)] = &[("g_gametype", "3")];

fn heard(fixture: &Fixture, number: usize) -> Vec<&str> {
    let own = |to: &Option<ClientNum>| to.is_none_or(|to| to == client(number));
    fixture.host.sent.iter().filter(|(to, _)| own(to)).map(|(_, text)| text.as_str()).collect()
}

/// Players: 0 and 1 red, 2 blue, 3 spectator.
fn sides(ruleset: &'static Ruleset) -> Fixture {
    let mut fixture = Fixture::with(ruleset, TEAMS, &["alpha", "beta", "^1gamma", "delta"]);
    for (number, team) in [(0, "red"), (1, "red"), (2, "blue")] {
        fixture.say(number, &format!("team {team}"));
        // Keep the spawn point of the next player free.
        let aside = crate::model::Vec3::new(100.0 * (number + 1) as f32, 0.0, 0.0);
        fixture.game.teleport(&mut fixture.host, client(number), [aside, aside * 0.0]);
    }
    fixture
}

#[test]
fn chat_to_all_reaches_every_client() {
    for ruleset in Ruleset::ALL {
        let mut fixture = sides(ruleset);
        fixture.say(2, "say well played");
        for number in 0..4 {
            assert_eq!(heard(&fixture, number), ["chat \"^1gamma^7\x19: ^2well played\""]);
        }
    }
}

#[test]
fn team_chat_reaches_own_team_only() {
    for ruleset in Ruleset::ALL {
        let mut fixture = sides(ruleset);
        fixture.say(0, "say_team help");
        for (number, count) in [(0, 1), (1, 1), (2, 0), (3, 0)] {
            let line = "tchat \"\x19(alpha^7\x19)\x19: ^5help\"";
            assert_eq!(heard(&fixture, number), vec![line; count], "{number}");
        }
        fixture.say(3, "say_team quiet");
        assert_eq!(heard(&fixture, 3).len(), 1);
        assert_eq!(heard(&fixture, 0).len(), 0);
        let mut fixture = Fixture::with(ruleset, &[], &["alpha", "beta"]);
        fixture.say(0, "say_team hello");
        assert_eq!(heard(&fixture, 1), ["chat \"alpha^7\x19: ^2hello\""]);
    }
}

#[test]
fn location_is_sent_with_team_chat() {
    let mut fixture = sides(Ruleset::BASEQ3);
    let locations = &mut fixture.game.clients().locations;
    locations.add(crate::model::Vec3::new(9000.0, 0.0, 0.0), "far away", 0);
    locations.add(crate::model::Vec3::ZERO, "Yard", 1);
    fixture.say(0, "say_team help");
    assert_eq!(heard(&fixture, 1), ["tchat \"\x19(alpha^7\x19) (^1Yard^7)\x19: ^5help\""]);
    fixture.say(0, "tell beta here");
    assert_eq!(heard(&fixture, 1), ["chat \"\x19[alpha^7\x19] (^1Yard^7)\x19: ^6here\""]);
    fixture.say(0, "tell gamma here");
    assert_eq!(
        heard(&fixture, 2),
        ["chat \"\x19[alpha^7\x19]\x19: ^6here\""],
        "no mate of alpha's"
    );
    fixture.say(0, "say all");
    assert_eq!(heard(&fixture, 2), ["chat \"alpha^7\x19: ^2all\""]);
}

#[test]
fn tell_reaches_target_and_sender() {
    let mut fixture = sides(Ruleset::BASEQ3);
    fixture.say(0, "tell 2 psst");
    let line = "chat \"\x19[alpha^7\x19]\x19: ^6psst\"";
    assert_eq!((heard(&fixture, 2), heard(&fixture, 0)), (vec![line], vec![line]));
    assert!(heard(&fixture, 1).is_empty());
    for (ruleset, refusal) in [
        (Ruleset::BASEQ3, "User 9 is not on the server"),
        (Ruleset::BASEOA, "Client 9 is not active"),
    ] {
        let mut fixture = sides(ruleset);
        assert_eq!(fixture.ask(0, "tell 9 x"), format!("print \"{refusal}\n\""));
        let named = "print \"User nobody is not on the server\n\"";
        assert_eq!(fixture.ask(0, "tell nobody x"), named);
    }
    assert_eq!(sides(Ruleset::BASEOA).ask(0, "tell 99 x"), "print \"Bad client slot: 99\n\"");
}

#[test]
fn team_orders_are_sent_by_number() {
    let mut fixture = sides(Ruleset::BASEQ3);
    fixture.say(0, "gc beta 3");
    assert_eq!(heard(&fixture, 1), ["chat \"\x19[alpha^7\x19]\x19: ^6cover me\""]);
    for (wrong, refusal) in [
        ("gc beta 7", "Bad order: 7"),
        ("gc beta -1", "Bad order: -1"),
        ("gc beta", "Usage: gc <player id> <order 0-6>"),
        ("gc", "Usage: gc <player id> <order 0-6>"),
    ] {
        assert_eq!(fixture.ask(0, wrong), format!("print \"{refusal}\n\""), "{wrong}");
    }
    assert!(fixture.ask(0, "gc beta 99999999999999999999").contains("Bad order"));
}

#[test]
fn openarena_orders_are_not_logged_or_refused() {
    let mut fixture = sides(Ruleset::BASEOA);
    let order = |text: &str| format!("chat \"\x19[alpha^7\x19]\x19: ^6{text}\"");
    fixture.say(0, "gc 1 3");
    assert_eq!(heard(&fixture, 1), [order("cover me")]);
    assert_eq!(heard(&fixture, 0), [order("cover me")]);
    for ignored in ["gc 1 7", "gc 1 -1", "gc 64 1", "gc -1 1"] {
        assert_eq!(fixture.ask(0, ignored), "", "{ignored}");
    }
    assert!(!fixture.host.logged.iter().any(|(_, line)| line.contains("tell:")));
}

#[test]
fn voice_chat_is_sent_in_openarena_only() {
    let mut fixture = sides(Ruleset::BASEOA);
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
        fixture.say(0, line);
        assert_eq!(heard(&fixture, to), [told], "{line}");
    }
    fixture.say(0, "vsay_team x");
    assert!(heard(&fixture, 2).is_empty());
    fixture.say(0, "vsay");
    assert!(heard(&fixture, 2).is_empty());
    let mut fixture = sides(Ruleset::BASEQ3);
    assert_eq!(fixture.ask(0, "vsay yes"), "print \"unknown cmd vsay\n\"");
}

#[test]
fn voice_chat_to_one_player_is_logged() {
    let mut fixture = sides(Ruleset::BASEOA);
    fixture.say(0, "vtell beta help");
    let logged: Vec<_> = fixture.host.logged.iter().map(|(_, line)| line.as_str()).collect();
    assert!(logged.contains(&"vtell: alpha to beta: help"), "{logged:?}");
}

#[test]
fn tournament_players_do_not_hear_spectators() {
    let tournament = &[("g_gametype", "1")];
    let mut fixture = Fixture::with(Ruleset::BASEQ3, tournament, &["a", "b", "watcher", "other"]);
    fixture.say(2, "say hello");
    let lines = [0, 1, 2, 3].map(|number| heard(&fixture, number).len());
    assert_eq!(lines, [0, 0, 1, 1]);
    fixture.say(2, "tell a hello");
    assert_eq!([0, 2].map(|number| heard(&fixture, number).len()), [0, 1]);
    fixture.say(0, "say hello");
    assert_eq!([0, 1, 2, 3].map(|number| heard(&fixture, number).len()), [1, 1, 1, 1]);
}

#[test]
fn hostile_chat_stays_short_and_quoted() {
    let mut fixture = sides(Ruleset::BASEQ3);
    fixture.say(0, &format!("say {}", "x".repeat(1000)));
    assert_eq!(heard(&fixture, 1)[0].len(), "chat \"alpha^7\x19: ^2\"".len() + 149);
    for nothing in ["say", "say \"\"", "say \"   \"", "say \u{1}\u{2}", "say_team", "tell beta"] {
        fixture.say(0, nothing);
        assert!(heard(&fixture, 1).is_empty(), "{nothing:?}");
    }
    fixture.say(0, "say a\"; cs 20 x\ncp y\x19\x1b[2J");
    assert_eq!(heard(&fixture, 1).len(), 1);
}

#[test]
fn intermission_allows_chat_only() {
    for (ruleset, lines) in [(Ruleset::BASEQ3, 1), (Ruleset::BASEOA, 0)] {
        let mut fixture = sides(ruleset);
        fixture.game.clients().intermission = true;
        for line in ["kill", "team blue", "callvote map_restart", "nonsense x"] {
            fixture.say(0, line);
            assert_eq!(heard(&fixture, 1).len(), lines, "{line}");
            if lines == 1 {
                assert_eq!(heard(&fixture, 1), [format!("chat \"alpha^7\x19: ^2{line}\"")]);
            }
        }
        fixture.say(0, "say gg");
        assert_eq!(heard(&fixture, 1), ["chat \"alpha^7\x19: ^2gg\""]);
        assert!(fixture.ask(0, "score").starts_with("scores 4 0 0"));
    }
}

#[test]
fn team_overlay_is_sent_once_a_second() {
    for ruleset in Ruleset::ALL {
        let mut fixture = sides(ruleset);
        fixture.wait(1000);
        fixture.forget();
        fixture.wait(1000);
        let overlay = "tinfo 2  0 0 125 0 2 0 1 0 125 0 2 0";
        assert_eq!(fixture.host.sent_to(client(0)), [overlay]);
        assert_eq!(fixture.host.sent_to(client(1)), [overlay]);
        assert_eq!(fixture.host.sent_to(client(2)), ["tinfo 1  2 0 125 0 2 0"]);
        assert!(fixture.host.sent_to(client(3)).is_empty());
    }
}

#[test]
fn team_overlay_is_sent_on_request_only() {
    for (ruleset, count) in [(Ruleset::BASEQ3, 0), (Ruleset::BASEOA, 1)] {
        let mut fixture = Fixture::set_up(ruleset, TEAMS);
        fixture.enter(0, "\\name\\a\\teamoverlay\\0");
        fixture.say(0, "team red");
        fixture.wait(1000);
        fixture.forget();
        fixture.wait(1000);
        assert_eq!(fixture.host.sent_to(client(0)).len(), count);
    }
}

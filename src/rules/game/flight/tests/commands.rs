//! Unit tests of client commands and inactivity in free flight.

use super::*;

#[test]
fn chat_has_documented_form() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha", "^1Be ta"]);
    assert_eq!(fixture.say(0, "say hello  there"), ["chat \"alpha^7\x19: ^2hello there\""]);
    assert_eq!(fixture.say(0, "say_team hi"), ["chat \"alpha^7\x19: ^2hi\""]);
    assert_eq!(fixture.say(0, "say \"a;b\" \"\""), ["chat \"alpha^7\x19: ^2a;b \""]);
    assert_eq!(fixture.say(0, "say"), [""; 0]);
    let long = "x".repeat(1000);
    assert_eq!(
        fixture.say(0, &format!("say {long}")),
        [format!("chat \"alpha^7\x19: ^2{}\"", &long[..149])]
    );
    let told = fixture.say(0, "tell \"be TA\" psst");
    assert_eq!(told, ["chat \"\x19[alpha^7\x19]\x19: ^6psst\""]);
    assert_eq!(fixture.host.sent_to(client(1)), told);
    assert_eq!(
        fixture.say(0, "tell nobody psst"),
        ["print \"User nobody is not on the server\n\""]
    );
    assert_eq!(fixture.say(0, "tell 9 psst"), ["print \"User 9 is not on the server\n\""]);
    let mut oa = Fixture::with(Ruleset::BASEOA, &["alpha"]);
    assert_eq!(oa.say(0, "tell 9 psst"), ["print \"Client 9 is not active\n\""]);
    assert_eq!(oa.say(0, "tell 64 psst"), ["print \"Bad client slot: 64\n\""]);
}

#[test]
fn refusals_depend_on_ruleset() {
    let answers = |ruleset, line: &str| Fixture::with(ruleset, &["alpha"]).say(0, line).join("|");
    for (line, q3, oa) in [
        ("nonsense x", "unknown cmd nonsense", "Unknown command nonsense"),
        ("\"a\x1bb\"", "unknown cmd ab", "Unknown command ab"),
        ("team", "Free team", "Deathmatch-Playing"),
        (
            "noclip",
            "Cheats are not enabled on this server.",
            "Cheats are not enabled on this server",
        ),
        ("callvote map q3dm17", "Map is not available.", "Map is not available."),
        ("vote yes", "No vote in progress.", "No vote in progress."),
    ] {
        assert_eq!(answers(Ruleset::BASEQ3, line), format!("print \"{q3}\n\""), "{line}");
        assert_eq!(answers(Ruleset::BASEOA, line), format!("print \"{oa}\n\""), "{line}");
    }
    let refused = answers(Ruleset::BASEOA, "follownext");
    assert_eq!(refused, "print \"Cannot use this command when on a team\n\"");
    let mut fixture = Fixture::with(Ruleset::BASEOA, &["alpha"]);
    fixture.say(0, "team s");
    assert_eq!(fixture.say(0, "kill"), ["print \"Join a team first\n\""]);
    assert_eq!(fixture.say(0, "team"), ["print \"Spectator team\n\""]);
}

#[test]
fn kill_respawns_player_elsewhere() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha"]);
    let before = *fixture.state(0);
    fixture.say(0, "kill");
    let after = fixture.state(0);
    assert_eq!(after.persistant[4], before.persistant[4] + 1);
    assert_ne!((after.e_flags ^ before.e_flags) & entity_flag::TELEPORT, 0);
    assert!(fixture.is_visible(0));
}

#[test]
fn origin_is_printed_by_where_command() {
    let mut fixture = Fixture::with(Ruleset::BASEQ3, &["alpha"]);
    let [x, y, z] = fixture.state(0).origin.0.map(|f| f as i32);
    assert_eq!(fixture.say(0, "where"), [format!("print \"({x} {y} {z})\n\"")]);
}

#[test]
fn name_changes_are_announced_and_limited() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, &["alpha"]);
    let rename = |fixture: &mut Fixture, name: &str| {
        fixture.forget();
        fixture.host.userinfos[0] = format!("\\name\\{name}");
        fixture.game.client_userinfo_changed(&mut fixture.host, client(0)).expect("no fault");
        fixture.host.sent.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(rename(&mut fixture, "omega"), ["print \"alpha^7 renamed to omega\n\""]);
    assert_eq!(rename(&mut fixture, "omega"), [""; 0]);
    assert_eq!(
        rename(&mut fixture, "psi"),
        ["print \"Name change spam protection (g_minNameChangePeriod = 10)\n\""]
    );
    assert_eq!(fixture.host.userinfos[0], "\\name\\omega");
    fixture.frame(10_000);
    assert_eq!(rename(&mut fixture, "  ^0psi"), ["print \"omega^7 renamed to psi\n\""]);
    fixture.host.userinfos[0] = "\\name\\a;quit".to_owned();
    fixture.game.client_userinfo_changed(&mut fixture.host, client(0)).expect("no fault");
    assert_eq!(fixture.host.dropped, [(client(0), "Invalid userinfo".to_owned())]);
}

#[test]
fn inactive_player_is_warned_before_drop() {
    let mut fixture = Fixture::with(Ruleset::BASEOA, &["alpha"]);
    fixture.host.set_setting("g_inactivity", "20");
    fixture.frame(50);
    let moving = UserCmd { forwardmove: 1, ..fixture.command() };
    fixture.think(0, moving);
    fixture.forget();
    for second in 1..=21 {
        fixture.frame(1000);
        let command = fixture.command();
        fixture.think(0, command);
        let warned = fixture.host.sent_to(client(0)).len();
        assert_eq!(warned, usize::from(second > 10), "second {second}");
        assert_eq!(fixture.host.dropped.len(), usize::from(second > 20), "second {second}");
    }
    assert_eq!(fixture.host.sent_to(client(0)), ["cp \"Ten seconds until inactivity drop!\n\""]);
    assert_eq!(fixture.host.dropped[0].1, "Dropped due to inactivity");
}

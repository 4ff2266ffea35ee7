//! Attacks by a connected client that joins normally and then sends arbitrary messages.

use std::net::SocketAddr;

use fragd::{
    model::{CommandNum, Millis, ServerId, UserCmd},
    node::Node as _,
    observe::Counter,
    settings::key,
    wire::client_message::{self, ClientHeader},
};

use super::{AttackFixture, raw_client::RawClient};

fn far(host: u8) -> SocketAddr {
    ([198, 51, 100, host], 27_960).into()
}

/// A server with an attacker in the game.
fn fixture() -> (AttackFixture, RawClient) {
    fixtures().next().expect("a server")
}

/// Server and relay, each with an attacker in the game.
fn fixtures() -> impl Iterator<Item = (AttackFixture, RawClient)> {
    AttackFixture::each(&[]).map(|mut fixture| {
        let attacker = RawClient::join(&mut fixture, far(1), 7);
        (fixture, attacker)
    })
}

/// Reliable commands of an honest player that contain `what`.
fn told(fixture: &mut AttackFixture, what: &str) -> usize {
    let node = fixture.honest[0].node;
    fixture.sim.player(node).heard.iter().filter(|line| line.contains(what)).count()
}

#[test]
fn m1_m2_acknowledgements_of_unsent_messages_are_rejected() {
    for (mut fixture, mut attacker) in fixtures() {
        let honest = attacker.head();
        let sent = attacker.channel.last_received().0 as i32;
        let lies = [i32::MAX, i32::MIN, -1000, 65, honest.reliable_acknowledge.0 + 1]
            .map(|lie| ClientHeader { reliable_acknowledge: CommandNum(lie), ..honest })
            .into_iter()
            .chain(
                [sent + 5, i32::MAX, i32::MIN, -1]
                    .map(|lie| ClientHeader { message_acknowledge: lie, ..honest }),
            );
        for (i, head) in lies.enumerate() {
            let before = fixture.count(Counter::FalseAcknowledge);
            attacker.send(&mut fixture, &head, client_message::end);
            assert_eq!(fixture.count(Counter::FalseAcknowledge), before + 1, "lie {i}");
        }
        attacker.live(&mut fixture, 500);
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn m3_too_old_delta_base_gives_full_snapshot() {
    for (mut fixture, mut attacker) in fixtures() {
        attacker.live(&mut fixture, 2000);
        // How far back the base lies from the newest snapshot; the next one is one further on.
        for behind in [0, 1, 26, 27, 28, 29, 31, 32, 33, 100, 1000] {
            let counted = |fixture: &AttackFixture| {
                [Counter::SnapshotsFull, Counter::SnapshotsDelta]
                    .map(|counter| fixture.count(counter))
            };
            let step = |fixture: &mut AttackFixture, attacker: &mut RawClient| {
                attacker.read(fixture);
                let mut head = attacker.head();
                head.message_acknowledge = (head.message_acknowledge - behind).max(0);
                let command = attacker.move_at(attacker.level_ms);
                attacker.play_upon(fixture, &head, true, &[command]);
                fixture.run_for(50);
            };
            // A base older than one that was acknowledged is gone, so the distance must have grown by itself.
            (0..40).for_each(|_| step(&mut fixture, &mut attacker));
            let [full, delta] = counted(&fixture);
            (0..10).for_each(|_| step(&mut fixture, &mut attacker));
            let [full, delta] = [counted(&fixture)[0] - full, counted(&fixture)[1] - delta];
            // The three players are told what changed.
            let expected = if behind < 28 { [0, 40] } else { [10, 30] };
            assert_eq!([full, delta], expected, "{behind} behind");
        }
        fixture.check();
    }
}

#[test]
fn m4_active_client_gets_no_gamestate() {
    for (mut fixture, mut attacker) in fixtures() {
        let (before, bytes) = (fixture.count(Counter::GamestatesSent), attacker.bytes_in);
        for stale in [0, 1, -1, i32::MAX] {
            for _ in 0..125 {
                fixture.run_for(10);
                attacker.read(&mut fixture);
                let head = ClientHeader { server_id: ServerId(stale), ..attacker.head() };
                attacker.send(&mut fixture, &head, client_message::end);
            }
        }
        assert_eq!(fixture.count(Counter::GamestatesSent) - before, 0);
        assert!(attacker.bytes_in - bytes < 200_000);
        fixture.check();
    }
}

#[test]
fn m4_loading_client_gets_one_gamestate_per_second() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut attacker = RawClient::knock(&mut fixture, far(1), 7).expect("let in");
        let before = fixture.count(Counter::GamestatesSent);
        for _ in 0..500 {
            let head = ClientHeader { server_id: ServerId(0), ..attacker.head() };
            attacker.send(&mut fixture, &head, client_message::end);
            fixture.run_for(10);
            attacker.read(&mut fixture);
        }
        let gamestates = fixture.count(Counter::GamestatesSent) - before;
        assert!((2..=6).contains(&gamestates), "{gamestates} in five seconds");
        fixture.check();
    }
}

#[test]
fn m38_stale_server_id_keeps_player_and_flood_protection() {
    for (mut fixture, mut attacker) in fixtures() {
        attacker.live(&mut fixture, 6000);
        let (connects, run) =
            (told(&mut fixture, "entered the game"), fixture.count(Counter::ClientCommands));
        let level = attacker.server_id;
        for _ in 0..5 {
            attacker.server_id = ServerId(0);
            attacker.idle(&mut fixture);
            attacker.server_id = level;
            // Without a move the client would stay primed, if it were primed again.
            for _ in 0..20 {
                attacker.say_all(&mut fixture, &["say x"; 30]);
                fixture.run_for(50);
                attacker.read(&mut fixture);
            }
            attacker.step(&mut fixture);
        }
        let run = fixture.count(Counter::ClientCommands) - run;
        let most = if fixture.relay().is_some() { 35 } else { 19 };
        assert!((8..=most).contains(&run), "{run} commands in five seconds");
        assert_eq!(told(&mut fixture, "entered the game"), connects);
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn m5_chat_flood_is_cut_to_two_lines_per_second() {
    for (mut fixture, mut attacker) in fixtures() {
        let before = fixture.count(Counter::ClientCommands);
        for _ in 0..100 {
            attacker.say_all(&mut fixture, &["say x"; 10]);
            fixture.run_for(10);
        }
        attacker.read(&mut fixture);
        // Eight at once, and one every half second; at a relay ten, and four a second.
        let run = fixture.count(Counter::ClientCommands) - before;
        let most = if fixture.relay().is_some() { 15 } else { 11 };
        assert!((8..=most).contains(&run), "{run}");
        assert!(fixture.count(Counter::CommandsOverLimit) >= 980);
        let heard = told(&mut fixture, ": ^2x");
        assert!(heard <= 11, "{heard}");
        attacker.live(&mut fixture, 500);
        assert!(attacker.is_in(&mut fixture), "what is ignored is acknowledged all the same");
        fixture.check();
    }
}

#[test]
fn m5_viewers_of_one_address_share_chat_limit() {
    let mut fixture = AttackFixture::each(&[]).nth(1).expect("a relay");
    let mut crowd: Vec<_> = (0..6)
        .map(|n| RawClient::join(&mut fixture, ([203, 0, 113, 7], 1000 + n).into(), 40 + n))
        .collect();
    for _ in 0..20 {
        for viewer in &mut crowd {
            viewer.say(&mut fixture, "say x");
        }
        fixture.run_for(100);
    }
    // Four at once and one a second, where six limits would let 36 pass.
    let heard = told(&mut fixture, ": ^2x");
    assert!((4..=7).contains(&heard), "{heard}");
    assert!(fixture.count(Counter::CommandsOverLimit) >= 60);
    fixture.check();
}

#[test]
fn m6_userinfo_changes_are_limited_per_second() {
    for (mut fixture, mut attacker) in fixtures() {
        for i in 0..300 {
            let before = fixture.count(Counter::CommandsOverLimit);
            attacker.say(&mut fixture, &format!("userinfo \"\\name\\rogue7\\n\\{i}\""));
            if fixture.count(Counter::CommandsOverLimit) > before {
                // Refused for now: it has to come again with the same number.
                attacker.said = CommandNum(attacker.said.0 - 1);
            }
            fixture.run_for(10);
            attacker.read(&mut fixture);
        }
        // Five at once and one a second, for three seconds.
        let taken = 300 - fixture.count(Counter::CommandsOverLimit);
        assert!((7..=9).contains(&taken), "{taken}");
        fixture.run_for(100);
        fixture.check();
    }
}

#[test]
fn m7_command_gap_drops_only_that_client() {
    for (mut fixture, mut attacker) in fixtures() {
        attacker.said = CommandNum(attacker.said.0 + 2);
        attacker.say(&mut fixture, "say late");
        assert!(!attacker.is_in(&mut fixture));
        let announced = usize::from(fixture.relay().is_none());
        assert_eq!(told(&mut fixture, "Lost reliable commands"), announced);
        assert_eq!(told(&mut fixture, ": ^2late"), 0);
        fixture.check();
    }
}

#[test]
fn m8_client_without_acknowledgements_delays_only_itself() {
    for (mut fixture, mut attacker) in fixtures() {
        let head = attacker.head();
        let before = attacker.heard.len();
        for i in 0..700 {
            if i % 10 == 0 {
                fixture.sim.console(&format!("set sv_hostname \"name {i}\""));
                fixture.sim.console(&format!("say word{i}."));
            }
            fixture.run_for(10);
            attacker.read(&mut fixture);
            // It is there and moves its lips.
            let head =
                ClientHeader { reliable_acknowledge: head.reliable_acknowledge, ..attacker.head() };
            attacker.send(&mut fixture, &head, client_message::end);
        }
        assert_eq!(told(&mut fixture, "word"), 70, "bystanders hear everything");
        let heard = attacker.heard.len() - before;
        assert!((1..=64).contains(&heard), "{heard} under way to it, and no more");
        assert_eq!(fixture.count(Counter::ReliableOverflows), 0);
        // Once it acknowledges, it is told how things are now.
        attacker.live(&mut fixture, 3000);
        let last = if fixture.relay().is_some() { "word690." } else { "name 690" };
        assert!(attacker.heard.iter().any(|line| line.contains(last)));
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn m9_server_commands_fit_every_client() {
    let (mut fixture, mut attacker) = fixture();
    for len in [100, 149, 150, 151, 900, 1000, 1014, 1015] {
        for head in ["say", "say_team", "tell 0", "vsay", "team", "follow", "unknown"] {
            let text: String = format!("{head} {}", "A".repeat(len)).chars().take(1020).collect();
            attacker.say(&mut fixture, &text);
            fixture.run_for(600);
            attacker.read(&mut fixture);
            attacker.step(&mut fixture);
        }
    }
    for honest in 0..3 {
        let node = fixture.honest[honest].node;
        let longest = fixture.sim.player(node).heard.iter().map(String::len).max().unwrap_or(0);
        assert!((100..=1022).contains(&longest), "{longest}");
    }
    assert!(attacker.is_in(&mut fixture));
    fixture.check();
}

#[test]
fn m41_message_with_too_many_commands_is_ignored_whole() {
    for (mut fixture, mut attacker) in fixtures() {
        let counted = |fixture: &AttackFixture| {
            [Counter::ClientCommands, Counter::CommandsOverLimit, Counter::MalformedMessage]
                .map(|counter| fixture.count(counter))
        };
        let before = counted(&fixture);
        let said = attacker.said;
        attacker.say_all(&mut fixture, &["x"; 65]);
        assert_eq!(counted(&fixture), [before[0], before[1], before[2] + 1]);
        attacker.said = said;
        attacker.say_all(&mut fixture, &["x"; 64]);
        let [run, limited, malformed] = counted(&fixture);
        assert_eq!(run + limited, before[0] + before[1] + 64, "each is run or limited");
        assert_eq!(malformed, before[2] + 1);
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn m10_m33_invalid_counts_and_operations_invalidate_message() {
    for (mut fixture, mut attacker) in fixtures() {
        for tail in [&[2, 0][..], &[2, 33], &[2, 255], &[3, 0], &[0], &[1], &[99], &[255], &[4]] {
            let before = fixture.count(Counter::MalformedMessage);
            let head = attacker.head();
            attacker.send(&mut fixture, &head, |writer| {
                tail.iter().for_each(|&byte| writer.byte(byte))
            });
            assert_eq!(fixture.count(Counter::MalformedMessage), before + 1, "{tail:?}");
        }
        attacker.live(&mut fixture, 300);
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn m11_full_packet_flood_is_bounded_at_any_frame_rate() {
    // The frames of a relay are those of its source.
    let quick = AttackFixture::new(&[("sv_fps", "125")]);
    for mut fixture in AttackFixture::each(&[]).chain([quick]) {
        let mut attacker = RawClient::join(&mut fixture, ([203, 0, 113, 7], 1000).into(), 7);
        // After what was over the limit the numbers jump, and the times are not plausible.
        let ignored = |fixture: &AttackFixture| {
            fixture.count(Counter::MessagesOverLimit) + fixture.count(Counter::UnprovenMessages)
        };
        let moves = fixture.count(Counter::Moves);
        let late = fixture.count(Counter::MessagesOverLimit);
        let before = ignored(&fixture);
        let mut time = attacker.level_ms;
        for _ in 0..20 {
            // A thousand in a frame: 20 000 in a second.
            for _ in 0..1000 {
                let moves: Vec<_> = (0..32)
                    .map(|_| {
                        time += 1;
                        attacker.move_at(time)
                    })
                    .collect();
                attacker.play(&mut fixture, &moves);
            }
            fixture.run_for(50);
            attacker.read(&mut fixture);
        }
        let run = fixture.count(Counter::Moves) - moves;
        // 256 at once and 1000 in a second, and those of three players.
        assert!(run <= 256 + 1000 + 3 * 130, "{run} moves in a second");
        assert!(ignored(&fixture) - before >= 20 * 900);
        let over = fixture.count(Counter::MessagesOverLimit) - late;
        assert!(20_000 - over <= 64 + 500 + 1, "{} messages in a second", 20_000 - over);
        fixture.check();
    }
}

#[test]
fn m11_malformed_messages_count_against_their_sender() {
    for (mut fixture, mut attacker) in fixtures() {
        let malformed = fixture.count(Counter::MalformedMessage);
        for _ in 0..20 {
            for _ in 0..1000 {
                let head = attacker.head();
                attacker.send(&mut fixture, &head, |writer| writer.byte(77));
            }
            fixture.run_for(50);
            attacker.read(&mut fixture);
        }
        let read = fixture.count(Counter::MalformedMessage) - malformed;
        assert!((500..=64 + 500 + 1).contains(&read), "{read} malformed messages read in a second");
        fixture.check();
    }
}

#[test]
fn m13_m15_extreme_times_and_fields_are_accepted_safely() {
    for (mut fixture, mut attacker) in fixtures() {
        for time in [i32::MAX, i32::MIN, -1, 0, i32::MAX - 1] {
            for (byte, word) in [(255, 0xffff), (128, 0x8000), (0, 0), (127, 0x7fff)] {
                let command = UserCmd {
                    server_time: time,
                    angles: [word; 3],
                    buttons: fragd::model::Buttons(word),
                    weapon: byte,
                    forwardmove: byte as i8,
                    rightmove: byte as i8,
                    upmove: byte as i8,
                };
                attacker.play(&mut fixture, &[command]);
                fixture.run_for(50);
                attacker.read(&mut fixture);
            }
        }
        assert!(attacker.is_in(&mut fixture));
        if fixture.relay().is_none() {
            let number = fragd::model::ClientNum::new(3).unwrap();
            let player = fixture.server().player(number).expect("still there");
            assert!(player.origin.length().is_finite() && player.velocity.length().is_finite());
        }
        fixture.check();
    }
}

#[test]
fn m17_m18_m19_m20_m21_arbitrary_userinfos_are_harmless() {
    for (mut fixture, mut attacker) in fixtures() {
        let long = |len: usize| format!("\\name\\rogue7\\x\\{}", "A".repeat(len));
        for info in [
            "",
            "\\",
            "\\\\\\\\",
            "\\name",
            "\\name\\",
            "\\name\\a\\name\\b\\NAME\\c",
            "name\\x",
            "\\name\\^0^1^2^3",
            "\\name\\      a      b",
            "\\name\\%s%s%n",
            "\\name\\a;quit",
            "\\name\\a\x01\x1f\x7f",
            "\\name\\\u{1b}[2J",
            "\\name\\honest",
            "\\rate\\0\\snaps\\0\\handicap\\0",
            "\\rate\\-1\\snaps\\-5\\handicap\\101",
            "\\rate\\1000000000\\snaps\\10000\\handicap\\nan",
            "\\rate\\nan\\snaps\\inf\\name\\rogue7",
            "\\ip\\1.2.3.4\\name\\rogue7",
            &long(960),
            &long(985),
            &long(990),
        ] {
            attacker.say(&mut fixture, &format!("userinfo \"{info}\""));
            attacker.live(&mut fixture, 1100);
        }
        // Unreadable ones were refused and the last good one stands; the address is the server's word.
        assert!(fixture.count(Counter::BadUserinfo) >= 3);
        let node = fixture.honest[0].node;
        for line in &fixture.sim.player(node).heard {
            assert!(!line.contains(['\u{1b}', '\u{1}', '\u{7f}']), "{line:?}");
            assert!(line.matches('"').count() % 2 == 0, "{line:?}");
        }
        fixture.check();
    }
}

#[test]
fn m22_m23_chat_cannot_end_quotes_lines_or_commands() {
    for (mut fixture, mut attacker) in fixtures() {
        for text in [
            "say a\"; quit; say \"b",
            "say x\ncp \"owned\"",
            "say x\r\nmap evil",
            "say \u{1b}[31mred",
            "say ;quit",
            "say_team x\ndisconnect",
            "tell 0 \"x\ny\"",
            "say %s%n%s%n",
            "say \u{19}\u{19}",
        ] {
            attacker.say(&mut fixture, text);
            attacker.live(&mut fixture, 600);
        }
        for honest in 0..3 {
            let node = fixture.honest[honest].node;
            for line in &fixture.sim.player(node).heard {
                assert!(
                    !line.starts_with("cp \"owned") && !line.starts_with("disconnect"),
                    "{line:?}"
                );
                let body = line.trim_end_matches('\n');
                assert!(!body.starts_with("chat") || !body.contains('\n'), "{line:?}");
                assert_eq!(line.matches('"').count() % 2, 0, "{line:?}");
            }
        }
        assert!(told(&mut fixture, "chat \"") >= 3, "chat was heard");
        if fixture.relay().is_none() {
            assert_eq!(fixture.server().settings().text(key::MAPNAME), "oa_dm1");
        }
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn m24_votes_are_never_console_lines() {
    let (mut fixture, mut attacker) = fixture();
    let long = format!("callvote map {}", "A".repeat(1000));
    for line in [
        "callvote map \"x;quit\"",
        "callvote map x\nquit",
        "callvote kick \";quit\"",
        "callvote \"quit\"",
        "callteamvote leader \"x;quit\"",
        &long,
        "vote yes",
    ] {
        attacker.say(&mut fixture, line);
        attacker.live(&mut fixture, 1000);
    }
    assert!(!fixture.server().is_finished(), "nobody quit");
    assert_eq!(fixture.server().settings().text(key::MAPNAME), "oa_dm1");
    assert!(attacker.is_in(&mut fixture));
    fixture.check();
}

#[test]
fn m26_m27_m28_m30_downloads_are_rejected_for_any_name() {
    let mut fixture = AttackFixture::new(&[]);
    let mut attacker = RawClient::knock(&mut fixture, far(1), 7).expect("let in");
    attacker.enter_loading(&mut fixture, 90_000);
    let sums = format!("cp 1 {}", "5 ".repeat(480));
    for line in [
        "download ../../etc/passwd.pk3",
        "download baseq3\\..\\x.pk3",
        "download /etc/passwd.pk3",
        "download C:\\x.pk3",
        "download %2e%2e/x.pk3",
        "download server.cfg",
        "download q3config_server.cfg",
        "download pak0.pk3",
        "download",
        "nextdl 5",
        "nextdl -1",
        "nextdl 99999999999",
        "donedl",
        "stopdl",
        &sums,
        "cp",
        "cp -1 @ @ @",
    ] {
        let before = fixture.count(Counter::PacketsOutSequenced);
        attacker.say(&mut fixture, line);
        fixture.run_for(10);
        let sent = fixture.count(Counter::PacketsOutSequenced) - before;
        assert!(sent <= 6, "{line}: {sent} datagrams in 10 ms");
        fixture.run_for(1000);
        attacker.read(&mut fixture);
        attacker.idle(&mut fixture);
        let refused = usize::from(line.starts_with("download"));
        assert_eq!(
            std::mem::take(&mut attacker.refusals),
            refused,
            "{line}: told that there is none"
        );
    }
    assert!(attacker.is_in(&mut fixture));
    fixture.check();
}

#[test]
fn m31_m35_voip_is_rejected_with_bounded_lengths() {
    for (mut fixture, mut attacker) in fixtures() {
        for code in [6, 7] {
            for len in [-1, i16::MIN, 1400, 100, 0] {
                let head = attacker.head();
                attacker.send(&mut fixture, &head, |writer| {
                    writer.byte(code);
                    writer.byte(1);
                    writer.long(2);
                    writer.byte(3);
                    writer.data(&[4; 8]);
                    writer.byte(5);
                    writer.short(len);
                    writer.data(&[6; 90]);
                    client_message::end(writer);
                });
                fixture.run_for(50);
                attacker.read(&mut fixture);
            }
        }
        attacker.live(&mut fixture, 300);
        assert!(attacker.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn m32_commands_after_disconnect_are_ignored() {
    for (mut fixture, mut attacker) in fixtures() {
        attacker.say_all(&mut fixture, &["disconnect", "say after"]);
        fixture.run_for(300);
        assert_eq!(told(&mut fixture, ": ^2after"), 0);
        assert_eq!(fixture.clients(), 3);
        fixture.check();
    }
}

#[test]
fn m34_slow_client_loses_snapshots_but_no_commands() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut attacker = RawClient::join(&mut fixture, far(1), 7);
        attacker.say(&mut fixture, "userinfo \"\\name\\rogue7\\rate\\1000\\snaps\\20\"");
        attacker.live(&mut fixture, 1000);
        attacker.heard.clear();
        let held = fixture.count(Counter::SnapshotsHeldByRate);
        for i in 0..30 {
            fixture.sim.console(&format!("say word{i}."));
            attacker.live(&mut fixture, 200);
        }
        attacker.live(&mut fixture, 3000);
        assert!(fixture.count(Counter::SnapshotsHeldByRate) > held);
        for i in 0..30 {
            let word = format!("word{i}.");
            let count = attacker.heard.iter().filter(|line| line.contains(&word)).count();
            assert_eq!(count, 1, "{word}");
        }
        fixture.check();
    }
}

#[test]
fn m36_forty_simultaneous_timeouts_affect_no_other_client() {
    for mut fixture in AttackFixture::each(&[("sv_timeout", "5")]) {
        // The news of forty takes a second datagram, which comes when the first one is paid for.
        fixture.worst_gap = Millis(80);
        let mut crowd: Vec<_> = (0..40)
            .map(|i| {
                RawClient::knock(&mut fixture, far(100 + i), 200 + u16::from(i)).expect("let in")
            })
            .collect();
        for attacker in &mut crowd {
            attacker.idle(&mut fixture);
        }
        fixture.run_for(500);
        for attacker in &mut crowd {
            attacker.read(&mut fixture);
            attacker.server_id = fixture.server_id();
            attacker.step(&mut fixture);
        }
        assert_eq!(fixture.clients(), 43);
        fixture.run_for(9000);
        assert_eq!(fixture.clients(), 3);
        let announced = if fixture.relay().is_some() { 0 } else { 40 };
        assert_eq!(told(&mut fixture, "timed out"), announced);
        fixture.check();
    }
}

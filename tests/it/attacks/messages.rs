//! What a connected client says: one that joined like everybody else and then does as it likes.

use std::net::SocketAddr;

use fragd::{
    model::{CommandNum, Millis, ServerId, UserCmd},
    node::Node as _,
    observe::Counter,
    settings::key,
    wire::client_message::{self, ClientHead},
};

use super::{Scene, rogue::Rogue};

fn far(host: u8) -> SocketAddr {
    ([198, 51, 100, host], 27_960).into()
}

/// A scene with a rogue in the game.
fn scene() -> (Scene, Rogue) {
    let mut scene = Scene::new(&[]);
    let rogue = Rogue::join(&mut scene, far(1), 7);
    (scene, rogue)
}

/// What an honest player was told, of which `what` is a part.
fn told(scene: &mut Scene, what: &str) -> usize {
    let node = scene.honest[0].node;
    scene.arena.player(node).heard.iter().filter(|line| line.contains(what)).count()
}

#[test]
fn m1_m2_acknowledgements_of_unsent_messages_are_rejected() {
    let (mut scene, mut rogue) = scene();
    let honest = rogue.head();
    let sent = rogue.channel.last_received().0 as i32;
    let lies = [i32::MAX, i32::MIN, -1000, 65, honest.reliable_acknowledge.0 + 1]
        .map(|lie| ClientHead { reliable_acknowledge: CommandNum(lie), ..honest })
        .into_iter()
        .chain(
            [sent + 5, i32::MAX, i32::MIN, -1]
                .map(|lie| ClientHead { message_acknowledge: lie, ..honest }),
        );
    for (i, head) in lies.enumerate() {
        let before = scene.count(Counter::FalseAcknowledge);
        rogue.send(&mut scene, &head, client_message::end);
        assert_eq!(scene.count(Counter::FalseAcknowledge), before + 1, "lie {i}");
    }
    rogue.live(&mut scene, 500);
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m3_too_old_delta_base_gives_full_snapshot() {
    let (mut scene, mut rogue) = scene();
    rogue.live(&mut scene, 2000);
    // How far back the base lies from the newest snapshot; the next one is one further on.
    for behind in [0, 1, 26, 27, 28, 29, 31, 32, 33, 100, 1000] {
        let counted = |scene: &Scene| {
            [Counter::SnapshotsFull, Counter::SnapshotsDelta].map(|counter| scene.count(counter))
        };
        let step = |scene: &mut Scene, rogue: &mut Rogue| {
            rogue.read(scene);
            let mut head = rogue.head();
            head.message_acknowledge = (head.message_acknowledge - behind).max(0);
            let command = rogue.move_at(rogue.level_ms);
            rogue.play_upon(scene, &head, true, &[command]);
            scene.run_for(50);
        };
        step(&mut scene, &mut rogue);
        let [full, delta] = counted(&scene);
        (0..10).for_each(|_| step(&mut scene, &mut rogue));
        let [full, delta] = [counted(&scene)[0] - full, counted(&scene)[1] - delta];
        // The three players are told what changed.
        let expected = if behind < 28 { [0, 40] } else { [10, 30] };
        assert_eq!([full, delta], expected, "{behind} behind");
    }
    scene.check();
}

#[test]
fn m4_active_client_gets_no_gamestate() {
    let (mut scene, mut rogue) = scene();
    let (before, bytes) = (scene.count(Counter::GamestatesSent), rogue.bytes_in);
    for stale in [0, 1, -1, i32::MAX] {
        for _ in 0..125 {
            scene.run_for(10);
            rogue.read(&mut scene);
            let head = ClientHead { server_id: ServerId(stale), ..rogue.head() };
            rogue.send(&mut scene, &head, client_message::end);
        }
    }
    assert_eq!(scene.count(Counter::GamestatesSent) - before, 0);
    assert!(rogue.bytes_in - bytes < 200_000);
    scene.check();
}

#[test]
fn m4_loading_client_gets_one_gamestate_per_second() {
    let mut scene = Scene::new(&[]);
    let mut rogue = Rogue::knock(&mut scene, far(1), 7).expect("let in");
    let before = scene.count(Counter::GamestatesSent);
    for _ in 0..500 {
        let head = ClientHead { server_id: ServerId(0), ..rogue.head() };
        rogue.send(&mut scene, &head, client_message::end);
        scene.run_for(10);
        rogue.read(&mut scene);
    }
    let gamestates = scene.count(Counter::GamestatesSent) - before;
    assert!((2..=6).contains(&gamestates), "{gamestates} in five seconds");
    scene.check();
}

#[test]
fn m38_stale_server_id_keeps_player_and_flood_protection() {
    let (mut scene, mut rogue) = scene();
    rogue.live(&mut scene, 6000);
    let (connects, run) =
        (told(&mut scene, "entered the game"), scene.count(Counter::ClientCommands));
    let level = rogue.server_id;
    for _ in 0..5 {
        rogue.server_id = ServerId(0);
        rogue.idle(&mut scene);
        rogue.server_id = level;
        // Without a move the client would stay primed, if it were primed again.
        for _ in 0..20 {
            rogue.say_all(&mut scene, &["say x"; 30]);
            scene.run_for(50);
            rogue.read(&mut scene);
        }
        rogue.step(&mut scene);
    }
    let run = scene.count(Counter::ClientCommands) - run;
    assert!((8..=19).contains(&run), "{run} commands in five seconds");
    assert_eq!(told(&mut scene, "entered the game"), connects);
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m5_chat_flood_is_cut_to_two_lines_per_second() {
    let (mut scene, mut rogue) = scene();
    let before = scene.count(Counter::ClientCommands);
    for _ in 0..100 {
        rogue.say_all(&mut scene, &["say x"; 10]);
        scene.run_for(10);
    }
    rogue.read(&mut scene);
    // Eight at once, and one every half second.
    let run = scene.count(Counter::ClientCommands) - before;
    assert!((8..=11).contains(&run), "{run}");
    assert!(scene.count(Counter::CommandsOverLimit) >= 980);
    let heard = told(&mut scene, ": ^2x");
    assert!(heard <= 11, "{heard}");
    rogue.live(&mut scene, 500);
    assert!(rogue.is_in(&mut scene), "what is ignored is acknowledged all the same");
    scene.check();
}

#[test]
fn m6_userinfo_changes_are_limited_per_second() {
    let (mut scene, mut rogue) = scene();
    for i in 0..300 {
        let before = scene.count(Counter::CommandsOverLimit);
        rogue.say(&mut scene, &format!("userinfo \"\\name\\rogue7\\n\\{i}\""));
        if scene.count(Counter::CommandsOverLimit) > before {
            // Refused for now: it has to come again with the same number.
            rogue.said = CommandNum(rogue.said.0 - 1);
        }
        scene.run_for(10);
        rogue.read(&mut scene);
    }
    // Five at once and one a second, for three seconds.
    let taken = 300 - scene.count(Counter::CommandsOverLimit);
    assert!((7..=9).contains(&taken), "{taken}");
    scene.run_for(100);
    scene.check();
}

#[test]
fn m7_command_gap_drops_only_that_client() {
    let (mut scene, mut rogue) = scene();
    rogue.said = CommandNum(rogue.said.0 + 2);
    rogue.say(&mut scene, "say late");
    assert!(!rogue.is_in(&mut scene));
    assert_eq!(told(&mut scene, "Lost reliable commands"), 1);
    assert_eq!(told(&mut scene, ": ^2late"), 0);
    scene.check();
}

#[test]
fn m8_client_without_acknowledgements_delays_only_itself() {
    let (mut scene, mut rogue) = scene();
    let head = rogue.head();
    let before = rogue.heard.len();
    for i in 0..700 {
        if i % 10 == 0 {
            scene.arena.console(&format!("set sv_hostname \"name {i}\""));
            scene.arena.console(&format!("say word{i}."));
        }
        scene.run_for(10);
        rogue.read(&mut scene);
        // It is there and moves its lips.
        let head = ClientHead { reliable_acknowledge: head.reliable_acknowledge, ..rogue.head() };
        rogue.send(&mut scene, &head, client_message::end);
    }
    assert_eq!(told(&mut scene, "word"), 70, "bystanders hear everything");
    let heard = rogue.heard.len() - before;
    assert!((1..=64).contains(&heard), "{heard} under way to it, and no more");
    assert_eq!(scene.count(Counter::ReliableOverflows), 0);
    // Once it acknowledges, it is told how things are now.
    rogue.live(&mut scene, 3000);
    assert!(rogue.heard.iter().any(|line| line.contains("name 690")));
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m9_server_commands_fit_every_client() {
    let (mut scene, mut rogue) = scene();
    for len in [100, 149, 150, 151, 900, 1000, 1014, 1015] {
        for head in ["say", "say_team", "tell 0", "vsay", "team", "follow", "unknown"] {
            let text: String = format!("{head} {}", "A".repeat(len)).chars().take(1020).collect();
            rogue.say(&mut scene, &text);
            scene.run_for(600);
            rogue.read(&mut scene);
            rogue.step(&mut scene);
        }
    }
    for honest in 0..3 {
        let node = scene.honest[honest].node;
        let longest = scene.arena.player(node).heard.iter().map(String::len).max().unwrap_or(0);
        assert!((100..=1022).contains(&longest), "{longest}");
    }
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m10_m33_invalid_counts_and_operations_invalidate_message() {
    let (mut scene, mut rogue) = scene();
    for tail in [&[2, 0][..], &[2, 33], &[2, 255], &[3, 0], &[0], &[1], &[99], &[255], &[4]] {
        let before = scene.count(Counter::MalformedMessage);
        let head = rogue.head();
        rogue.send(&mut scene, &head, |writer| tail.iter().for_each(|&byte| writer.byte(byte)));
        assert_eq!(scene.count(Counter::MalformedMessage), before + 1, "{tail:?}");
    }
    rogue.live(&mut scene, 300);
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m11_full_packet_flood_is_bounded_at_any_frame_rate() {
    for fps in ["20", "125"] {
        flood_with_full_packets(&[("sv_fps", fps)]);
    }
}

fn flood_with_full_packets(set: &[(&str, &str)]) {
    let mut scene = Scene::new(set);
    let mut rogue = Rogue::join(&mut scene, ([203, 0, 113, 7], 1000).into(), 7);
    // After what was over the limit the numbers jump, and the times are not plausible.
    let ignored = |scene: &Scene| {
        scene.count(Counter::MessagesOverLimit) + scene.count(Counter::UnprovenMessages)
    };
    let moves = scene.count(Counter::Moves);
    let late = scene.count(Counter::MessagesOverLimit);
    let before = ignored(&scene);
    let mut time = rogue.level_ms;
    for _ in 0..20 {
        // A thousand in a frame: 20 000 in a second.
        for _ in 0..1000 {
            let moves: Vec<_> = (0..32)
                .map(|_| {
                    time += 1;
                    rogue.move_at(time)
                })
                .collect();
            rogue.play(&mut scene, &moves);
        }
        scene.run_for(50);
        rogue.read(&mut scene);
    }
    let run = scene.count(Counter::Moves) - moves;
    // 256 at once and 1000 in a second, and those of three players.
    assert!(run <= 256 + 1000 + 3 * 130, "{run} moves in a second");
    assert!(ignored(&scene) - before >= 20 * 900);
    let over = scene.count(Counter::MessagesOverLimit) - late;
    assert!(20_000 - over <= 64 + 500 + 1, "{} messages in a second", 20_000 - over);
    scene.check();
}

#[test]
fn m11_malformed_messages_count_against_their_sender() {
    let (mut scene, mut rogue) = scene();
    let malformed = scene.count(Counter::MalformedMessage);
    for _ in 0..20 {
        for _ in 0..1000 {
            let head = rogue.head();
            rogue.send(&mut scene, &head, |writer| writer.byte(77));
        }
        scene.run_for(50);
        rogue.read(&mut scene);
    }
    let read = scene.count(Counter::MalformedMessage) - malformed;
    assert!((500..=64 + 500 + 1).contains(&read), "{read} malformed messages read in a second");
    scene.check();
}

#[test]
fn m13_m15_extreme_times_and_fields_are_accepted_safely() {
    let (mut scene, mut rogue) = scene();
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
            rogue.play(&mut scene, &[command]);
            scene.run_for(50);
            rogue.read(&mut scene);
        }
    }
    let number = fragd::model::ClientNum::new(3).unwrap();
    let player = scene.server().player(number).expect("still there");
    assert!(player.origin.length().is_finite() && player.velocity.length().is_finite());
    scene.check();
}

#[test]
fn m17_m18_m19_m20_m21_arbitrary_userinfos_are_harmless() {
    let (mut scene, mut rogue) = scene();
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
        rogue.say(&mut scene, &format!("userinfo \"{info}\""));
        rogue.live(&mut scene, 1100);
    }
    // Unreadable ones were refused and the last good one stands; the address is the server's word.
    assert!(scene.count(Counter::BadUserinfo) >= 3);
    let node = scene.honest[0].node;
    for line in &scene.arena.player(node).heard {
        assert!(!line.contains(['\u{1b}', '\u{1}', '\u{7f}']), "{line:?}");
        assert!(line.matches('"').count() % 2 == 0, "{line:?}");
    }
    scene.check();
}

#[test]
fn m22_m23_chat_cannot_end_quotes_lines_or_commands() {
    let (mut scene, mut rogue) = scene();
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
        rogue.say(&mut scene, text);
        rogue.live(&mut scene, 600);
    }
    for honest in 0..3 {
        let node = scene.honest[honest].node;
        for line in &scene.arena.player(node).heard {
            assert!(!line.starts_with("cp \"owned") && !line.starts_with("disconnect"), "{line:?}");
            let body = line.trim_end_matches('\n');
            assert!(!body.starts_with("chat") || !body.contains('\n'), "{line:?}");
            assert_eq!(line.matches('"').count() % 2, 0, "{line:?}");
        }
    }
    assert!(told(&mut scene, "chat \"") >= 3, "chat was heard");
    assert_eq!(scene.server().settings().text(key::MAPNAME), "oa_dm1");
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m24_votes_are_never_console_lines() {
    let (mut scene, mut rogue) = scene();
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
        rogue.say(&mut scene, line);
        rogue.live(&mut scene, 1000);
    }
    assert!(!scene.server().is_finished(), "nobody quit");
    assert_eq!(scene.server().settings().text(key::MAPNAME), "oa_dm1");
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m26_m27_m28_m30_downloads_are_rejected_for_any_name() {
    let mut scene = Scene::new(&[]);
    let mut rogue = Rogue::knock(&mut scene, far(1), 7).expect("let in");
    rogue.enter_loading(&mut scene, 90_000);
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
        let before = scene.count(Counter::PacketsOutSequenced);
        rogue.say(&mut scene, line);
        scene.run_for(10);
        let sent = scene.count(Counter::PacketsOutSequenced) - before;
        assert!(sent <= 6, "{line}: {sent} datagrams in 10 ms");
        scene.run_for(1000);
        rogue.read(&mut scene);
        rogue.idle(&mut scene);
        let refused = usize::from(line.starts_with("download"));
        assert_eq!(std::mem::take(&mut rogue.refusals), refused, "{line}: told that there is none");
    }
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m31_m35_voip_is_rejected_with_bounded_lengths() {
    let (mut scene, mut rogue) = scene();
    for code in [6, 7] {
        for len in [-1, i16::MIN, 1400, 100, 0] {
            let head = rogue.head();
            rogue.send(&mut scene, &head, |writer| {
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
            scene.run_for(50);
            rogue.read(&mut scene);
        }
    }
    rogue.live(&mut scene, 300);
    assert!(rogue.is_in(&mut scene));
    scene.check();
}

#[test]
fn m32_commands_after_disconnect_are_ignored() {
    let (mut scene, mut rogue) = scene();
    rogue.say_all(&mut scene, &["disconnect", "say after"]);
    scene.run_for(300);
    assert_eq!(told(&mut scene, ": ^2after"), 0);
    assert_eq!(scene.server().active_clients(), 3);
    scene.check();
}

#[test]
fn m34_slow_client_loses_snapshots_but_no_commands() {
    let mut scene = Scene::new(&[]);
    let mut rogue = Rogue::join(&mut scene, far(1), 7);
    rogue.say(&mut scene, "userinfo \"\\name\\rogue7\\rate\\1000\\snaps\\20\"");
    rogue.live(&mut scene, 1000);
    rogue.heard.clear();
    let held = scene.count(Counter::SnapshotsHeldByRate);
    for i in 0..30 {
        scene.arena.console(&format!("say word{i}."));
        rogue.live(&mut scene, 200);
    }
    rogue.live(&mut scene, 3000);
    assert!(scene.count(Counter::SnapshotsHeldByRate) > held);
    for i in 0..30 {
        let word = format!("word{i}.");
        let count = rogue.heard.iter().filter(|line| line.contains(&word)).count();
        assert_eq!(count, 1, "{word}");
    }
    scene.check();
}

#[test]
fn m36_forty_simultaneous_timeouts_affect_no_other_client() {
    let mut scene = Scene::new(&[("sv_timeout", "5")]);
    // The news of forty takes a second datagram, which comes when the first one is paid for.
    scene.worst_gap = Millis(80);
    let mut crowd: Vec<_> = (0..40)
        .map(|i| Rogue::knock(&mut scene, far(100 + i), 200 + u16::from(i)).expect("let in"))
        .collect();
    for rogue in &mut crowd {
        rogue.idle(&mut scene);
    }
    scene.run_for(500);
    for rogue in &mut crowd {
        rogue.read(&mut scene);
        rogue.server_id = ServerId(scene.server().settings().int(key::SV_SERVERID));
        rogue.step(&mut scene);
    }
    assert_eq!(scene.server().active_clients(), 43);
    scene.run_for(9000);
    assert_eq!(scene.server().active_clients(), 3);
    assert_eq!(told(&mut scene, "timed out"), 40);
    scene.check();
}

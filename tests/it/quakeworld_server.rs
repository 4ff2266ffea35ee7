//! QuakeWorld server with clients: joining, chat, teams, spectators, maps, downloads, limits.

use std::net::{Ipv4Addr, SocketAddr};

use fragd::{
    bsp29::compiler::fragqw1,
    discovery::quakeworld::Packet,
    model::{Millis, UnixMillis},
    node::{Hosted as _, Node as _},
    quakeworld::{
        bytes::Text,
        client::{ClientEvent, ClientState, DisconnectReason},
        connectionless::Request,
        rcon::hashed_password,
        usercmd::button,
    },
    qwserver::QwCounter,
};

use crate::quakeworld_fixture::{QwFixture, address};

/// Sends a request and returns the text of the answer.
fn ask(fixture: &mut QwFixture, from: usize, request: &Request<'_>) -> Option<String> {
    let mut bytes = Vec::new();
    request.write(&mut bytes);
    ask_bytes(fixture, from, &bytes)
}

fn ask_bytes(fixture: &mut QwFixture, from: usize, bytes: &[u8]) -> Option<String> {
    fixture.strays.clear();
    fixture.inject(address(from), bytes);
    let answers = fixture.strays.iter().map(|(_, bytes)| bytes.as_slice()).collect::<Vec<_>>();
    (!answers.is_empty()).then(|| String::from_utf8_lossy(&answers.concat()).into_owned())
}

#[test]
fn client_enters_embedded_map_with_settings() {
    let mut fixture = QwFixture::new(&[("hostname", "test"), ("fraglimit", "9")]);
    fixture.join(&["one"]);
    let level = fixture.peers[0].client.level();
    assert_eq!(level.map_path(), b"maps/fragqw1.bsp");
    assert_eq!(level.setting("fraglimit"), Some(9));
    assert_eq!(level.setting("pm_ktjump"), Some(0));
    assert_eq!(level.move_vars.gravity.to_bits(), 800_f32.to_bits());
    assert_eq!(level.players[0].name(), b"one");
    fixture.run(1000);
    let client = &fixture.peers[0].client;
    assert_eq!(client.level().stats[0], 100, "health");
    assert_eq!(client.level().stats[16], 22, "view height");
    let statistics = client.statistics();
    assert!(statistics.frames > 45, "{statistics:?}");
    assert_eq!((statistics.rejected, statistics.choked, statistics.ignored), (0, 0, 0));
}

#[test]
fn players_see_names_chat_and_frags_of_others() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two", "two"]);
    fixture.run(300);
    let names = |number: usize| -> Vec<Vec<u8>> {
        let level = fixture.peers[number].client.level();
        level.players[..3].iter().map(|player| player.name().to_vec()).collect()
    };
    assert_eq!(names(0), [&b"one"[..], b"two", b"(1)two"].map(<[u8]>::to_vec));
    assert_eq!(names(0), names(2));
    fixture.peers[0].client.command(b"say \"hello all\"").unwrap();
    fixture.peers[1].client.command(b"kill").unwrap();
    fixture.peers[2].client.set_info("name", "three").unwrap();
    fixture.run(500);
    for number in 0..3 {
        assert!(fixture.has_print(number, "one: hello all\n"), "{:?}", fixture.prints(number));
        assert!(fixture.has_print(number, "two suicides\n"));
        let players = &fixture.peers[number].client.level().players;
        assert_eq!((players[1].frags, players[2].name()), (-2, &b"three"[..]));
    }
    fixture.now += Millis(0);
    fixture.peers[2].client.disconnect(fixture.now);
    fixture.run(500);
    assert!(fixture.has_print(0, "three left the game with 0 frags\n"), "{:?}", fixture.prints(0));
    assert!(!fixture.peers[0].client.level().players[2].is_connected());
}

#[test]
fn team_chat_reaches_the_team_alone() {
    let mut fixture = QwFixture::new(&[("teamplay", "1")]);
    for (name, team) in [("a", "red"), ("b", "red"), ("c", "blue")] {
        fixture.add(&[("name", name), ("team", team)]);
    }
    fixture.add(&[("name", "s"), ("spectator", "1")]);
    fixture.run(3000);
    fixture.peers[0].client.command(b"say_team secret").unwrap();
    fixture.run(300);
    let heard = [0, 1, 2, 3].map(|number| fixture.has_print(number, "(a): secret\n"));
    assert_eq!(heard, [true, true, false, false]);
    fixture.peers[3].client.command(b"say watching").unwrap();
    fixture.run(300);
    assert!((0..4).all(|number| fixture.has_print(number, "[SPEC] s: watching\n")));
}

#[test]
fn chat_flood_silences_its_client() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two"]);
    for line in 0..12 {
        fixture.peers[0].client.command(format!("say line {line}").as_bytes()).unwrap();
        fixture.run(100);
    }
    let heard = fixture.prints(1).iter().filter(|text| text.contains("one: line")).count();
    assert_eq!(heard, 4);
    assert!(fixture.has_print(0, "You can't talk for 10 more seconds"));
}

#[test]
fn spectator_follows_and_changes_sides() {
    let mut fixture = QwFixture::new(&[("maxspectators", "1")]);
    fixture.join(&["one"]);
    fixture.add(&[("name", "watcher"), ("spectator", "1"), ("*z_ext", "383")]);
    fixture.run(2000);
    assert!(fixture.peers[1].client.level().is_spectator);
    assert!(fixture.peers[0].client.level().players[1].is_spectator());
    fixture.peers[1].client.track(Some(0)).unwrap();
    fixture.run(500);
    let frame = fixture.peers[1].client.frames().newest().unwrap();
    assert!(frame.player(0).is_some(), "followed player is in sight");
    assert!(fixture.peers[0].client.frames().newest().unwrap().player(1).is_none());
    fixture.peers[1].client.command(b"join").unwrap();
    fixture.run(500);
    assert!(!fixture.peers[0].client.level().players[1].is_spectator());
    assert_eq!(fixture.server.population(), (2, 0));
    fixture.peers[0].client.command(b"observe").unwrap();
    fixture.run(500);
    assert_eq!(fixture.server.population(), (1, 1));
}

#[test]
fn map_change_keeps_clients_on_their_channels() {
    let mut fixture = QwFixture::new(&[("fraglimit", "1")]);
    fixture.join(&["one", "two"]);
    fixture.console("map fragqw1");
    fixture.run(3000);
    for number in 0..2 {
        assert_eq!(fixture.state(number), ClientState::Active);
        let events = &fixture.peers[number].events;
        assert!(events.contains(&ClientEvent::LevelEnded));
        assert_eq!(fixture.peers[number].client.level().server_count, 2);
        assert_eq!(fixture.peers[number].client.statistics().rejected, 0);
    }
    assert!(fixture.console("map nowhere").contains("not in the game data"));
    fixture.run(200);
    assert_eq!(fixture.server.map_name(), "fragqw1");
    assert_eq!(fixture.peers[0].client.level().server_count, 2);
}

#[test]
fn timelimit_leads_to_next_map_of_cycle() {
    let mut fixture = QwFixture::new(&[("timelimit", "0.1"), ("maps", "fragqw1")]);
    fixture.join(&["one"]);
    fixture.run(24_000);
    assert!(fixture.has_print(0, "Timelimit hit: next map is fragqw1\n"));
    assert_eq!(fixture.peers[0].client.level().server_count, 2);
    assert_eq!(fixture.state(0), ClientState::Active);
}

#[test]
fn map_of_program_is_downloaded_whole() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one"]);
    fixture.peers[0].client.download("maps/fragqw1.bsp").unwrap();
    fixture.run(60_000);
    let content = fixture.peers[0].events.iter().find_map(|event| match event {
        ClientEvent::Downloaded { name, content } if name == b"maps/fragqw1.bsp" => content.clone(),
        _ => None,
    });
    assert!(content == Some(fragqw1()), "the file of the program");
    for name in
        ["maps/../server.cfg", "server.cfg", "maps/x.bsp", "progs/player.mdl", "/etc/passwd"]
    {
        fixture.peers[0].events.clear();
        fixture.peers[0].client.download(name).unwrap();
        fixture.run(500);
        let refused = ClientEvent::Downloaded { name: name.into(), content: None };
        assert!(fixture.peers[0].events.contains(&refused), "{name}");
    }
}

#[test]
fn refusals_have_their_texts_in_order() {
    let mut fixture = QwFixture::new(&[
        ("password", "player"),
        ("spectator_password", "watcher"),
        ("maxclients", "1"),
    ]);
    let number = fixture.challenge(address(200)).to_string();
    let mut connect = |protocol: &str, number: &str, info: &str| {
        fixture.now += Millis(2000);
        let line = format!("connect {protocol} 77 {number} \"{info}\"\n");
        ask_bytes(&mut fixture, 200, &[b"\xff\xff\xff\xff", line.as_bytes()].concat())
            .map(|text| text.trim_start_matches('\u{fffd}').to_owned())
    };
    let padding = "\\name\\a-name-that-makes-the-line-long-enough-for-every-answer\\team\\red";
    let spectator = format!("{padding}\\spectator\\wrong");
    let player = format!("{padding}\\password\\player");
    for (protocol, number, info, text) in [
        ("27", "1", padding, "n\nServer is version 2.40.\n"),
        ("28", "1", padding, "n\nBad challenge.\n"),
        ("28", &*number, "x", "n\nInvalid userinfo.\n"),
        ("28", &number, &spectator, "n\nrequires a spectator password\n\n"),
        ("28", &number, padding, "n\nserver requires a password\n\n"),
        ("28", &number, &player, "j"),
    ] {
        assert_eq!(connect(protocol, number, info).as_deref(), Some(text), "{info}");
    }
    fixture.add(&[("name", "second"), ("password", "player")]);
    fixture.run(1000);
    assert!(fixture.has_print(0, "server is full"), "{:?}", fixture.prints(0));
}

#[test]
fn status_shows_players_and_spectators_by_mask() {
    let mut fixture = QwFixture::new(&[("hostname", "here")]);
    fixture.join(&["one"]);
    fixture.add(&[("name", "watcher"), ("spectator", "1"), ("topcolor", "4")]);
    fixture.run(2000);
    let mut lines = |parts: Option<u32>| {
        let mut bytes = Vec::new();
        Request::Status { parts }.write(&mut bytes);
        fixture.strays.clear();
        fixture.inject(address(201), &bytes);
        let answer = fixture.strays.pop().expect("a status").1;
        let Ok(Packet::Status(status)) = Packet::parse(&answer) else {
            return vec![String::from_utf8_lossy(&answer).into_owned()];
        };
        let players =
            status.players().map(|player| format!("{} {:?}", player.plain_name(), player.frags));
        let info = String::from_utf8_lossy(status.info.text().raw()).into_owned();
        assert!(info.contains("\\hostname\\here"), "{info}");
        assert!(info.contains("\\map\\fragqw1"), "{info}");
        players.collect()
    };
    assert_eq!(lines(None), ["one Some(0)"]);
    assert_eq!(lines(Some(1 + 2 + 4)), ["one Some(0)", "watcher None"]);
    assert_eq!(lines(Some(1 + 8)), ["watcher None"]);
    assert!(lines(Some(2))[0].contains("one"));
}

#[test]
fn rcon_takes_plain_and_encrypted_passwords() {
    let mut fixture = QwFixture::new(&[("rcon_password", "sesame"), ("sv_crypt_rcon", "0")]);
    let rcon = |fixture: &mut QwFixture, from: usize, word: &str, command: &str| {
        let request = Request::Rcon { password: Text::from(word), command: Text::from(command) };
        ask(fixture, from, &request).unwrap_or_default()
    };
    assert!(rcon(&mut fixture, 210, "sesame", "status").contains("fragqw1"));
    assert!(rcon(&mut fixture, 210, "sesame", "cvarlist rcon").contains("(hidden)"));
    let unknown = rcon(&mut fixture, 210, "sesame", "frobnicate");
    assert!(unknown.contains("Unknown command \"frobnicate\""), "{unknown}");
    rcon(&mut fixture, 210, "sesame", "set sv_crypt_rcon 1");
    assert!(rcon(&mut fixture, 210, "sesame", "status").contains("Bad rcon_password"));
    let time = |fixture: &QwFixture, seconds: u64| {
        UnixMillis(1_700_000_000_000 + fixture.now.0 + seconds * 1000)
    };
    let word = |fixture: &QwFixture, seconds| {
        hashed_password(b"sesame", Text::from("status"), time(fixture, seconds))
    };
    let fresh = word(&fixture, 0);
    assert!(rcon(&mut fixture, 210, &fresh, "status").contains("fragqw1"));
    let old = word(&fixture, 120);
    assert!(rcon(&mut fixture, 210, &old, "status").contains("Bad rcon_password"));
    let mut wrong = || rcon(&mut fixture, 211, "wrong", "status");
    let answers = [wrong(), wrong(), wrong(), wrong(), wrong()];
    assert!(answers[..2].iter().all(|text| text.contains("Bad rcon_password")), "{answers:?}");
    assert_eq!(answers[3..], ["", ""], "locked out");
}

#[test]
fn rcon_is_heard_beside_forged_wrong_passwords() {
    let mut fixture = QwFixture::new(&[("rcon_password", "sesame"), ("sv_crypt_rcon", "0")]);
    let (mut heard, mut answers) = (0, 0);
    for second in 0..20_u16 {
        // The address of the administrator with other ports.
        for port in 0..100 {
            let forged = SocketAddr::new(address(210).ip(), 2000 + second * 100 + port);
            let wrong = b"\xff\xff\xff\xffrcon wrong status\n";
            fixture.strays.clear();
            fixture.inject(forged, wrong);
            answers += fixture.strays.len();
            fixture.now += Millis(10);
        }
        let right = b"\xff\xff\xff\xffrcon sesame status\n";
        heard += u32::from(ask_bytes(&mut fixture, 210, right).is_some());
    }
    assert!(heard >= 18, "{heard} of 20 commands");
    assert!(answers <= 45, "{answers} refusals to a forged address");
}

#[test]
fn rcon_opens_no_files_outside_of_the_game_folders() {
    let mut fixture = QwFixture::new(&[("rcon_password", "sesame"), ("sv_crypt_rcon", "0")]);
    let answer = ask_bytes(&mut fixture, 210, b"\xff\xff\xff\xffrcon sesame exec /etc/passwd\n");
    let answer = answer.unwrap_or_default();
    assert!(answer.contains("exec: ") && !answer.contains("root"), "{answer}");
}

#[test]
fn challenges_and_refusals_have_a_limit_for_all_addresses() {
    let mut fixture = QwFixture::new(&[]);
    let mut flood = |per_ms: u32, bytes: &[u8]| {
        let (mut answers, mut honest) = (0, 0);
        for number in 0..6000 * per_ms {
            let source = SocketAddr::new(Ipv4Addr::from_bits(0x1400_0000 | number).into(), 5);
            fixture.strays.clear();
            fixture.inject(source, bytes);
            answers += fixture.strays.len();
            if number % per_ms == 0 {
                fixture.now += Millis(1);
            }
            if number % (1500 * per_ms) == 1 {
                honest += u32::from(ask_bytes(&mut fixture, 210, bytes).is_some());
            }
        }
        (answers, honest)
    };
    // Six seconds.
    let (challenges, honest) = flood(20, b"\xff\xff\xff\xffgetchallenge\n");
    assert!((60_000..110_000).contains(&challenges), "{challenges}");
    assert!(honest >= 3, "{honest} of 4");
    let connect = b"\xff\xff\xff\xffconnect 28 5 1234 \"\\name\\ghost\"\n";
    let (refusals, honest) = flood(5, connect);
    assert!((60..=160).contains(&refusals), "{refusals}");
    assert!(honest >= 3, "{honest} of 4");
}

#[test]
fn operator_kicks_and_bans() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two"]);
    let id = fixture.peers[1].client.level().players[1].user_id;
    fixture.console(&format!("kick {id}"));
    fixture.run(500);
    assert_eq!(fixture.peers[1].client.disconnect_reason(), Some(&DisconnectReason::Server));
    assert!(fixture.has_print(0, "two was kicked"));
    assert!(fixture.has_print(1, "You were kicked from the game"));
    fixture.console("addip 10.0.1.200");
    let answer = ask_bytes(&mut fixture, 200, b"\xff\xff\xff\xffstatus 23\n").unwrap();
    assert!(answer.ends_with("n\nbanned.\n"), "{answer}");
    assert_eq!(fixture.console("listip"), "10.0.1.200/32\n");
    fixture.console("removeip 10.0.1.200");
    assert!(ask(&mut fixture, 200, &Request::GetChallenge).unwrap().contains('c'));
    assert_eq!(fixture.state(0), ClientState::Active);
}

#[test]
fn silent_clients_time_out_and_free_their_slots() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two"]);
    fixture.peers.truncate(1);
    fixture.run(64_000);
    assert_eq!(fixture.server.population(), (2, 0));
    fixture.run(2000);
    assert_eq!(fixture.server.population(), (1, 0));
    assert!(fixture.has_print(0, "two timed out"));
    assert_eq!(fixture.server.counter(QwCounter::TimeOuts), 1);
    let number = fixture.challenge(address(200));
    let line = format!("connect 28 5 {number} \"\\name\\ghost\"\n");
    ask_bytes(&mut fixture, 200, &[b"\xff\xff\xff\xff", line.as_bytes()].concat());
    assert_eq!(fixture.server.population(), (2, 0));
    fixture.run(11_000);
    assert_eq!(fixture.server.population(), (1, 0), "a client that never spoke");
}

#[test]
fn client_keeps_its_slot_behind_a_new_port() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one"]);
    fixture.peers[0].address.set_port(40_000);
    fixture.run(1000);
    assert_eq!(fixture.state(0), ClientState::Active);
    assert_eq!(fixture.server.population(), (1, 0));
    let received = fixture.peers[0].client.statistics().received;
    fixture.run(1000);
    assert!(fixture.peers[0].client.statistics().received > received + 40);
}

#[test]
fn slow_client_is_choked_and_told() {
    let mut fixture = QwFixture::new(&[]);
    fixture.add(&[("name", "slow"), ("rate", "500")]);
    fixture.run(15_000);
    assert_eq!(fixture.state(0), ClientState::Active);
    let before = fixture.peers[0].client.statistics();
    fixture.run(10_000);
    let after = fixture.peers[0].client.statistics();
    let bytes = after.received_bytes - before.received_bytes;
    assert!(bytes <= 500 * 10 + 500, "{bytes} bytes in 10 s");
    assert!(after.choked > before.choked + 100, "{after:?}");
    assert!(fixture.server.counter(QwCounter::Choked) > 100);
}

#[test]
fn slow_client_loses_nothing_in_a_download() {
    let mut fixture = QwFixture::new(&[]);
    fixture.add(&[("name", "slow"), ("rate", "2500")]);
    fixture.peers[0].has_map = false;
    fixture.run_until(10_000, |fixture| fixture.state(0) == ClientState::Map);
    fixture.peers[0].client.download("maps/fragqw1.bsp").unwrap();
    fixture.run(5000);
    let counts = fixture.peers[0].client.statistics();
    assert!(counts.choked > 50 && counts.frames == 0, "{counts:?}");
    assert!(counts.missing <= counts.choked + 1, "{counts:?}");
}

#[test]
fn names_that_change_often_are_kept() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two"]);
    let name = |fixture: &QwFixture| {
        let player = &fixture.peers[1].client.level().players[0];
        String::from_utf8_lossy(player.info.get("name").unwrap()).into_owned()
    };
    for number in 0..8 {
        fixture.peers[0].client.set_info("name", &format!("name{number}")).unwrap();
        fixture.run(100);
    }
    assert_eq!(name(&fixture), "name4");
    assert!(fixture.has_print(0, "Wait before you change your name again"));
    fixture.run(3000);
    fixture.peers[0].client.set_info("name", "last").unwrap();
    fixture.run(500);
    assert_eq!(name(&fixture), "last");
}

#[test]
fn dead_player_respawns_by_button() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one"]);
    fixture.peers[0].client.command(b"kill").unwrap();
    fixture.run(500);
    assert!(fixture.peers[0].client.level().stats[0] <= 0);
    fixture.peers[0].command.buttons = button::ATTACK;
    fixture.run(200);
    fixture.peers[0].command.buttons = 0;
    fixture.run(200);
    assert_eq!(fixture.peers[0].client.level().stats[0], 100);
}

#[test]
fn packets_of_many_clients_wait_for_one_another() {
    let mut fixture = QwFixture::new(&[("maxclients", "8")]);
    fixture.join(&["one", "two", "three", "four"]);
    assert_eq!(fixture.server.receive_coalescing(), Millis(0));
    fixture.join(&["five"]);
    assert_eq!(fixture.server.receive_coalescing(), Millis(4));
    fixture.console("sv_answerwait 0");
    assert_eq!(fixture.server.receive_coalescing(), Millis(0));
}

#[test]
fn stop_tells_clients_and_ends() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one"]);
    fixture.console("quit");
    fixture.run(100);
    assert_eq!(fixture.peers[0].client.disconnect_reason(), Some(&DisconnectReason::Server));
    assert!(fixture.server.is_finished());
}

#[test]
fn full_server_of_slow_clients_survives_joins_and_maps() {
    let mut fixture = QwFixture::new(&[("maxclients", "32")]);
    for number in 0..32 {
        let name = format!("player number {number:02}");
        fixture.add(&[("name", &name), ("team", "red"), ("skin", "base"), ("rate", "2500")]);
    }
    fixture.run(25_000);
    for round in 1..3 {
        let states: Vec<_> = (0..32).map(|number| fixture.state(number)).collect();
        let reasons: Vec<_> =
            fixture.peers.iter().map(|peer| peer.client.disconnect_reason()).collect();
        assert!(states.iter().all(|state| *state == ClientState::Active), "{round}: {reasons:?}");
        fixture.console("map fragqw1");
        fixture.run(20_000);
    }
    assert_eq!(fixture.server.counter(QwCounter::Overflows), 0);
    let known = fixture.peers[31].client.level().players.iter();
    assert_eq!(known.filter(|player| player.is_connected()).count(), 32);
}

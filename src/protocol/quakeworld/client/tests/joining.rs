//! Handshake with its timers, signon, leaving.

use super::*;

fn sent(client: &mut Client) -> Vec<String> {
    let (mut all, mut datagram) = (Vec::new(), Vec::new());
    while client.poll_transmit(&mut datagram).is_some() {
        all.push(String::from_utf8_lossy(&datagram[4..]).into_owned());
    }
    all
}

#[test]
fn handshake_repeats_the_challenge_after_five_seconds() {
    let mut client = Client::new(options(), Millis(1000));
    let mut times = Vec::new();
    for time in (1000..17_000).step_by(100) {
        client.frame(Millis(time));
        times.extend(sent(&mut client).into_iter().map(|text| (time, text)));
    }
    let expected = [1000, 6000, 11_000, 16_000].map(|time| (time, "getchallenge\n".to_owned()));
    assert_eq!(times, expected);
}

#[test]
fn handshake_answers_each_challenge_with_a_connect() {
    let mut client = Client::new(options(), Millis(1000));
    client.frame(Millis(1000));
    sent(&mut client);
    let mut datagram = Vec::new();
    for number in [-7, 8] {
        Reply::Challenge { number, extensions: OFFERED }.write(&mut datagram);
        client.handle_datagram(Millis(2000), address(), &datagram);
        let connect = Connect {
            qport: QPORT,
            challenge: number,
            userinfo: "\\name\\alpha".into(),
            extensions: Extensions::SUPPORTED.common(OFFERED),
            ..Connect::default()
        };
        Request::Connect(connect).write(&mut datagram);
        assert_eq!(sent(&mut client), [String::from_utf8_lossy(&datagram[4..])]);
    }
    // Without `j`, the cycle starts again.
    client.frame(Millis(6999));
    assert!(sent(&mut client).is_empty());
    client.frame(Millis(7000));
    assert_eq!(sent(&mut client), ["getchallenge\n"]);
}

#[test]
fn handshake_accepts_only_its_server() {
    let mut client = Client::new(options(), Millis(1000));
    let mut datagram = Vec::new();
    Reply::Challenge { number: 1, extensions: OFFERED }.write(&mut datagram);
    client.handle_datagram(Millis(1000), "10.0.0.2:27500".parse().unwrap(), &datagram);
    client.handle_datagram(Millis(1000), "10.0.0.1:27501".parse().unwrap(), &datagram);
    assert_eq!((client.state(), client.statistics().ignored), (ClientState::Challenging, 2));
    // An acceptance that was not asked for.
    client.handle_datagram(Millis(1000), address(), b"\xff\xff\xff\xffj");
    assert_eq!(client.state(), ClientState::Challenging);
}

#[test]
fn refusal_is_reported() {
    let mut client = Client::new(options(), Millis(1000));
    client.handle_datagram(Millis(1000), address(), b"\xff\xff\xff\xffn\nserver is full\n\n");
    let event = client.poll_event();
    assert_eq!(event, Some(ClientEvent::Refused(b"\nserver is full\n\n".to_vec())));
}

#[test]
fn signon_leads_into_the_game() {
    let game = Game::entered();
    let expected = [
        "new",
        "pext 0x58455446 0x2140f000 0x32455446 0x0 0x3144564d 0x1",
        "new",
        "soundlist 1 0",
        "modellist 1 0",
        "modellist 1 1",
        "prespawn 1 0 -1152969310",
        "spawn 1 0",
        "begin 1",
    ];
    assert_eq!(game.server.commands, expected);
    let level = game.client.level();
    assert_eq!((level.map_path(), level.model(2)), (&b"maps/a.bsp"[..], &b"*1"[..]));
    assert_eq!(level.sound(1), b"misc/ping.wav");
    assert_eq!((level.player, level.setting("maxfps"), level.stats[0]), (3, Some(77), 100));
    assert_eq!(level.players[3].name(), b"alpha");
    assert_eq!(level.baseline(44).model, 2);
    assert_eq!(game.client.extensions(), Extensions::SUPPORTED.common(OFFERED));
    assert!(game.events.contains(&ClientEvent::Entered));
}

#[test]
fn signon_survives_loss_in_both_directions() {
    for seed in 1..30_u32 {
        let mut random = seed.wrapping_mul(2_654_435_761);
        let mut lose = move |_| {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            random % 100 < 25
        };
        let mut game = Game::accepted();
        for _ in 0..400 {
            game.server.unreliable = b"\x2f\0\0".to_vec();
            game.step(&mut lose);
        }
        assert_eq!(game.client.state(), ClientState::Active, "seed {seed}");
        assert_eq!(game.server.commands.len(), 9, "seed {seed}: {:?}", game.server.commands);
    }
}

#[test]
fn client_starts_again_when_the_level_changes() {
    let mut game = Game::entered();
    game.server.count = 2;
    game.server.stuff("changing\nreconnect\n");
    for _ in 0..40 {
        game.server.unreliable = b"\x2f\0\0".to_vec();
        game.step(|_| false);
    }
    assert_eq!(game.client.state(), ClientState::Active);
    assert_eq!(game.client.level().server_count, 2);
    assert_eq!(game.server.commands.last().unwrap(), "begin 2");
    let levels = |event: &&ClientEvent| matches!(event, ClientEvent::LevelStarted { .. });
    assert_eq!(game.events.iter().filter(levels).count(), 2);
}

#[test]
fn client_leaves_with_three_packets() {
    let mut game = Game::entered();
    game.client.disconnect(game.now);
    let texts = sent(&mut game.client);
    assert_eq!(texts.len(), 3);
    assert!(texts.iter().all(|text| text.ends_with("\x04drop\0")));
    assert_eq!(game.client.disconnect_reason(), Some(&DisconnectReason::Client));
    game.client.push_usercmd(Usercmd::ZERO, game.now);
    assert!(sent(&mut game.client).is_empty());
}

#[test]
fn handshake_is_repeated_without_end() {
    let mut client = Client::new(options(), Millis(0));
    let mut questions = 0;
    for second in 0..300 {
        client.frame(Millis::seconds(second));
        questions += sent(&mut client).len();
    }
    assert_eq!(client.state(), ClientState::Challenging);
    assert!(questions >= 50, "{questions}");
}

#[test]
fn client_times_out_without_packets() {
    let mut game = Game::entered();
    game.client.frame(Millis(game.now.0 + 59_000));
    assert_eq!(game.client.state(), ClientState::Active);
    game.client.frame(Millis(game.now.0 + 60_000));
    assert_eq!(game.client.disconnect_reason(), Some(&DisconnectReason::TimedOut));
}

#[test]
fn client_sends_without_usercmds_too() {
    let mut game = Game::entered();
    sent(&mut game.client);
    for step in 1..=10 {
        game.client.frame(Millis(game.now.0 + step * 100));
    }
    assert_eq!(sent(&mut game.client).len(), 5);
}

//! Hostile input of a QuakeWorld server: other clients are undisturbed, and no answer amplifies.

use std::{cell::RefCell, rc::Rc};

use fragd::{
    impairment::SeededRng,
    journal::{
        Answers, Journaled, RecordedAssets, Recorder, Replay, ReplayedAssets, Start, StepResult,
        Steps,
    },
    model::{Millis, assets::MemoryAssets},
    node::{Hosted as _, Input, LocalPort, Node as _, Route},
    quakeworld::{client::ClientState, connectionless::Request},
    qwserver::{QwCounter, QwServer},
};

use crate::quakeworld_fixture::{QwFixture, address, options};

/// Checks that two honest clients are still in the game, each with an answer to every packet.
#[track_caller]
fn assert_undisturbed(fixture: &mut QwFixture) {
    let before = [0, 1].map(|number| fixture.peers[number].client.statistics());
    fixture.run(1000);
    for (number, before) in before.iter().enumerate() {
        assert_eq!(fixture.state(number), ClientState::Active);
        let after = fixture.peers[number].client.statistics();
        assert!(after.frames - before.frames >= 49, "client {number}: {after:?}");
        assert_eq!(after.rejected + after.missing + after.choked, 0, "client {number}: {after:?}");
    }
}

#[test]
fn random_datagrams_disturb_nobody() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two"]);
    let mut rng = SeededRng::new(11);
    let words: [&[u8]; 9] = [
        b"status",
        b"connect 28 1 ",
        b"getchallenge",
        b"rcon x ",
        b"ping",
        b"k",
        b"log",
        b"l",
        b"",
    ];
    for round in 0..20_000 {
        let len = rng.below(if round % 7 == 0 { 1500 } else { 60 }) as usize;
        let mut bytes: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
        match rng.below(4) {
            0 => {
                let word = words[rng.below(9) as usize];
                bytes = [b"\xff\xff\xff\xff", word, &bytes[..]].concat();
            }
            // Packets of the honest clients from their host, with wrong content.
            1 if bytes.len() >= 10 => bytes[8..10].copy_from_slice(&100_u16.to_le_bytes()),
            2 => bytes = [&[0x80, 0][..], &((len + 4) as u16).to_be_bytes(), &bytes].concat(),
            _ => {}
        }
        let mut from = if rng.chance(500) { address(0) } else { address(100 + round % 100) };
        from.set_port(1 + rng.below(60_000) as u16);
        fixture.inject(from, &bytes);
        fixture.strays.clear();
    }
    assert_undisturbed_after_forged(&mut fixture);
}

/// Checks that clients are in the game whose sequences a forger may have raised.
#[track_caller]
fn assert_undisturbed_after_forged(fixture: &mut QwFixture) {
    fixture.run(3000);
    assert_eq!(fixture.state(1), ClientState::Active);
    assert_eq!(fixture.server.population().0, 2);
    let before = fixture.peers[1].client.statistics().frames;
    fixture.run(1000);
    assert!(fixture.peers[1].client.statistics().frames - before >= 49);
}

#[test]
fn answers_to_strangers_amplify_nothing() {
    let mut fixture = QwFixture::new(&[("rcon_password", "sesame")]);
    fixture.join(&["one", "two"]);
    let (mut received, mut sent) = (0, 0);
    for number in 0..20_000_u32 {
        let from = (std::net::Ipv4Addr::from_bits(0x1400_0000 | number), 27_001).into();
        let mut bytes = Vec::new();
        match number % 4 {
            0 => Request::GetChallenge.write(&mut bytes),
            1 => Request::Ping.write(&mut bytes),
            2 => bytes.extend_from_slice(b"\xff\xff\xff\xffconnect 28 1 1 \"\\name\\x\"\n"),
            _ => bytes.extend_from_slice(b"\xff\xff\xff\xffrcon x status"),
        }
        received += bytes.len();
        fixture.strays.clear();
        fixture.inject(from, &bytes);
        for (to, answer) in &fixture.strays {
            assert_eq!(*to, from);
            sent += answer.len();
            // Ten refusals of rcon a second are longer, for operators who mistype.
            let more = if number % 4 == 3 { 40 } else { 8 };
            assert!(answer.len() <= bytes.len() + more, "{}", answer.escape_ascii());
        }
        if number % 20 == 0 {
            fixture.run(1);
        }
    }
    assert!(sent <= received, "{sent} bytes for {received}");
    assert_undisturbed(&mut fixture);
}

#[test]
fn status_flood_is_limited_in_bytes() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two"]);
    let mut bytes = Vec::new();
    Request::Status { parts: Some(31) }.write(&mut bytes);
    let mut sent = 0;
    for number in 0..50_000_u32 {
        let from = (std::net::Ipv4Addr::from_bits(0x1400_0000 | number), 27_001).into();
        fixture.strays.clear();
        fixture.inject(from, &bytes);
        sent += fixture.strays.iter().map(|(_, answer)| answer.len()).sum::<usize>();
        if number % 50 == 0 {
            fixture.run(1);
        }
    }
    assert!(sent <= 5 * 100_000, "{sent} bytes in a second");
    assert_undisturbed(&mut fixture);
}

#[test]
fn connect_flood_of_one_host_leaves_room() {
    let mut fixture = QwFixture::new(&[("maxclients", "16")]);
    fixture.join(&["one", "two"]);
    let from: std::net::SocketAddr = ([203, 0, 113, 5], 1000).into();
    let number = fixture.challenge(from);
    for qport in 0..2000 {
        let mut from = from;
        from.set_port(1000 + qport);
        let line = format!("connect 28 {qport} {number} \"\\name\\x\"\n");
        fixture.inject(from, &[b"\xff\xff\xff\xff", line.as_bytes()].concat());
    }
    assert_eq!(fixture.server.population().0, 6, "four of one host");
    fixture.add(&[("name", "third")]);
    assert_undisturbed(&mut fixture);
    fixture.run(2000);
    assert_eq!(fixture.state(2), ClientState::Active);
}

#[test]
fn command_flood_of_a_client_disturbs_nobody() {
    let lines: [&str; 12] = [
        "setinfo name x{}",
        "setinfo team t{}",
        "say {}",
        "kill",
        "observe",
        "join",
        "pings",
        "serverinfo",
        "users",
        "new",
        "download maps/fragqw1.bsp",
        "spawn 1 0",
    ];
    for line in lines {
        let mut fixture = QwFixture::new(&[]);
        fixture.join(&["one", "two"]);
        fixture.add(&[("name", "rogue"), ("*z_ext", "383"), ("rate", "100000")]);
        fixture.run(2000);
        for round in 0..150 {
            for part in 0..20 {
                let text = line.replace("{}", &format!("{round}.{part}"));
                // The reliable queue of the client may be full.
                let _ = fixture.peers[2].client.command(text.as_bytes());
            }
            fixture.run(20);
        }
        let names: Vec<_> = [0, 1].map(|number| fixture.state(number)).into();
        assert_eq!(names, [ClientState::Active; 2], "{line}");
        assert_undisturbed(&mut fixture);
    }
}

#[test]
fn invalid_messages_drop_their_client_alone() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two", "rogue"]);
    // Sequence far behind the client's, then an unknown message.
    let mut packet = 0_u32.to_le_bytes().to_vec();
    packet.extend_from_slice(&0_u32.to_le_bytes());
    packet.extend_from_slice(&102_u16.to_le_bytes());
    packet.push(200);
    fixture.inject(address(2), &packet);
    assert_eq!(fixture.server.counter(QwCounter::Old), 1);
    packet[..4].copy_from_slice(&2000_u32.to_le_bytes());
    fixture.inject(address(2), &packet);
    assert_eq!(fixture.server.counter(QwCounter::Faults), 1);
    fixture.run(500);
    assert_eq!(fixture.server.population().0, 2);
    assert!(fixture.has_print(0, "rogue sent an invalid message"));
    fixture.peers.truncate(2);
    assert_undisturbed(&mut fixture);
}

#[test]
fn recorded_session_replays_bit_for_bit() {
    let bytes = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&bytes);
    let start = Start { program: "test".to_owned(), entropy: [9; 32], ..Start::default() };
    let sink = Box::new(move |piece: &[u8]| sink.borrow_mut().extend_from_slice(piece));
    let recorder = Rc::new(RefCell::new(Recorder::new(&start, sink)));
    let assets = RecordedAssets::new(Box::new(MemoryAssets::default()), Rc::clone(&recorder));
    let mut made = options(&[]);
    made.assets = Box::new(assets);
    let server = QwServer::start(made, Millis(1000)).unwrap();
    let mut server = Journaled::new(server, recorder);
    // The fixture's own server makes the datagrams; the recorded one is given the same input.
    let mut fixture = QwFixture::new(&[]);
    for name in ["one", "two"] {
        fixture.add(&[("name", name)]);
    }
    let mut sent = 0;
    let mut packet = Vec::new();
    fixture.run_watched(5000, &mut |now, seen, _| {
        match seen {
            crate::quakeworld_fixture::Seen::Received(number, bytes) => {
                server.handle_datagram(now, Route::new(LocalPort(0), address(number)), bytes);
            }
            crate::quakeworld_fixture::Seen::Frame => server.frame(now),
            crate::quakeworld_fixture::Seen::Sent(..) => return,
        }
        while server.poll_transmit(&mut packet).is_some() {
            sent += 1;
        }
    });
    server.handle_input(fixture.now, Input::ConsoleLine("map fragqw1"));
    while server.poll_transmit(&mut packet).is_some() {}
    let _ = server.finish();
    assert!(sent > 300, "{sent}");

    let mut steps = Steps::new();
    steps.feed(&bytes.borrow());
    assert!(steps.start().unwrap().is_some());
    let answers = Answers::default();
    let files =
        ReplayedAssets::new(answers.clone(), Box::new(|_, _, _| None), Box::new(|_, _| None));
    let mut replay: Option<Replay<QwServer>> = None;
    let mut made = Some((options(&[]), files));
    while let Some(step) = steps.next_step().or_else(|| steps.last_step()) {
        let Some(replay) = &mut replay else {
            let (mut options, files) = made.take().unwrap();
            answers.expect(step.answers.iter().cloned());
            options.assets = Box::new(files);
            let server = QwServer::start(options, Millis(1000)).unwrap();
            let mut first = Replay::new(server);
            let step = fragd::journal::ReplayStep { answers: Vec::new(), ..step };
            assert_eq!(first.step(step, &answers), StepResult::Same);
            replay = Some(first);
            continue;
        };
        assert_eq!(replay.step(step, &answers), StepResult::Same);
    }
    assert!(replay.unwrap().datagrams_out() > 300);
}

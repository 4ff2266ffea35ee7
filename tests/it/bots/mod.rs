//! Bots and a scripted server in virtual time.

mod absences;
mod stalls;

use std::{collections::HashMap, net::SocketAddr};

use fragd::{
    bots::{
        BotOutcome, BotProtocol, Bots, BotsOptions, Cause, Expectations, GameProtocol, QueryFlood,
        RunInfo, Stages, Summary, Verdict,
    },
    cli::LoadTest,
    client::Protocol,
    impairment::Impairment,
    model::{Millis, PlayerState, UnixMillis},
    node::{Hosted as _, Input, LocalPort, Node, OutputKind, Route, take_text},
};

use crate::scripted_server::{Level, ScriptedServer, World};

fn server_address() -> SocketAddr {
    ([10, 0, 0, 1], 27_960).into()
}

/// Bots and a server that sends them one world 20 times a second, over links of 5 ms.
struct Match {
    bots: Bots,
    server: ScriptedServer,
    now: Millis,
    /// Datagrams on their way to a bot.
    underway: Vec<(Millis, u16, Vec<u8>)>,
    /// Everything the bots sent.
    transcript: Vec<(u64, u16, Vec<u8>)>,
    began: Millis,
    /// Bots, and the port that each sent from last.
    slots: u16,
    ports: HashMap<u16, u16>,
    /// Failure mode of the server.
    ailment: Ailment,
    /// Time in which the server is stopped: what arrives waits, and nothing is sent.
    stopped: std::ops::Range<u64>,
    waiting: Vec<(u16, Vec<u8>)>,
    /// Time in which the bots are stopped.
    bots_stopped: std::ops::Range<u64>,
    /// Server id of the level for clients that join.
    level: i32,
    /// Changes of the playerstate before it is sent.
    change: fn(u64, &mut PlayerState),
}

/// Failure modes of a server.
#[derive(Clone, Copy, PartialEq)]
enum Ailment {
    Well,
    /// Never says anything more.
    Silent,
    /// Answers everything with bytes that mean nothing.
    Babbles,
    /// Accepts all clients, and then sends undecodable messages.
    SendsRubbish,
}

impl Match {
    fn new(options: BotsOptions) -> Self {
        let now = Millis(1_000_000);
        let wire = match options.protocol {
            BotProtocol::Fixed(GameProtocol::Quake3(wire)) => wire,
            BotProtocol::Fixed(GameProtocol::QuakeWorld)
            | BotProtocol::Auto
            | BotProtocol::Each => Protocol::OA_71,
        };
        let serves_all = options.protocol == BotProtocol::Each;
        let server = ScriptedServer { serves_all, ..ScriptedServer::new(wire) };
        let slots = options.most_bots();
        let bots = Bots::new(options, now);
        Self {
            bots,
            server,
            now,
            underway: Vec::new(),
            transcript: Vec::new(),
            began: now,
            slots,
            ports: HashMap::new(),
            ailment: Ailment::Well,
            stopped: 0..0,
            waiting: Vec::new(),
            bots_stopped: 0..0,
            level: 8,
            change: |_, _| {},
        }
    }

    /// Time since the beginning.
    fn passed(&self) -> u64 {
        self.now.0 - self.began.0
    }

    /// Runs until the bots are done, at most `seconds`.
    fn run(&mut self, seconds: u64) {
        self.run_for(Millis::seconds(seconds));
    }

    /// Runs until the bots are done, at most for `time`.
    fn run_for(&mut self, time: Millis) {
        let end = self.now + time;
        let mut packet = Vec::new();
        while !self.bots.is_finished() && self.now < end {
            self.now += Millis(1);
            let now = self.now;
            let is_stopped = self.stopped.contains(&self.passed());
            for (number, packet) in self.waiting.extract_if(.., |_| !is_stopped).collect::<Vec<_>>()
            {
                let replies = self.server.handle(number, &packet);
                self.send(number, replies);
            }
            if self.bots_stopped.contains(&self.passed()) {
                if self.passed().is_multiple_of(50) && !is_stopped {
                    self.show();
                }
                continue;
            }
            let (due, later) = self.underway.drain(..).partition(|(at, ..)| *at <= now);
            self.underway = later;
            let due: Vec<(Millis, u16, Vec<u8>)> = due;
            for (_, number, datagram) in due {
                let route = Route::new(LocalPort(number), server_address());
                self.bots.handle_datagram(now, route, &datagram);
            }
            if self.bots.next_frame() <= now {
                self.bots.frame(now);
            }
            while let Some(route) = self.bots.poll_transmit(&mut packet) {
                if route.remote == silent_address() {
                    continue;
                }
                assert_eq!(route.remote, server_address());
                let LocalPort(number) = route.local;
                self.transcript.push((now.0, number, packet.clone()));
                let replies = match self.ailment {
                    _ if is_stopped => {
                        self.waiting.push((number % self.slots, packet.clone()));
                        Vec::new()
                    }
                    Ailment::Silent => Vec::new(),
                    Ailment::Babbles => vec![b"\xff\xff\xff\xffmoo".to_vec(), vec![0xa5; 90]],
                    Ailment::Well | Ailment::SendsRubbish => {
                        self.server.handle(number % self.slots, &packet)
                    }
                };
                self.ports.insert(number % self.slots, number);
                self.send(number % self.slots, replies);
            }
            if self.passed().is_multiple_of(50) && !is_stopped {
                self.show();
            }
        }
    }

    fn send(&mut self, number: u16, datagrams: Vec<Vec<u8>>) {
        let at = self.now + Millis(10);
        let number = self.ports.get(&number).copied().unwrap_or(number);
        self.underway.extend(datagrams.into_iter().map(|datagram| (at, number, datagram)));
    }

    fn show(&mut self) {
        if matches!(self.ailment, Ailment::Silent | Ailment::Babbles) {
            return;
        }
        let time = (self.now.0 - self.began.0) as i32 + 500;
        let passed = self.passed();
        let mut numbers: Vec<_> = self.server.peers.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let peer = self.server.peers.get_mut(&number).unwrap();
            let datagrams = if self.ailment == Ailment::SendsRubbish {
                peer.send(&[0x5a; 300])
            } else if peer.packets > 0 && peer.head.server_id.0 == 0 {
                peer.gamestate(&Level::with_id(self.level))
            } else if peer.moves.is_empty() {
                peer.next_snapshot(&World::at(time, &[]).not_active())
            } else {
                let mut world = World::at(time, &[1, 2, usize::from(number) + 10]);
                world.player.command_time = peer.moves.last().unwrap().server_time;
                (self.change)(passed, &mut world.player);
                peer.next_snapshot(&world)
            };
            self.send(number, datagrams);
        }
    }
}

/// Parses a list of expectations; none of an empty text.
fn expectations(text: &str) -> Expectations {
    if text.is_empty() { Expectations::default() } else { text.parse().unwrap() }
}

/// A server that never answers.
fn silent_address() -> SocketAddr {
    ([10, 0, 0, 2], 27_961).into()
}

fn options(wire: &'static Protocol, count: u16, seconds: u64) -> BotsOptions {
    BotsOptions::new(server_address(), wire, count, Millis::seconds(seconds))
}

#[test]
fn answers_to_many_bots_wait_for_one_another() {
    let wait =
        |count| Bots::new(options(Protocol::OA_71, count, 2), Millis(0)).receive_coalescing();
    assert_eq!([8, 9].map(wait), [Millis(0), Millis(5)]);
}

#[test]
fn bots_join_play_and_leave() {
    for wire in Protocol::distinct() {
        let mut test = Match::new(options(wire, 5, 6));
        assert_eq!(test.bots.local_ports(), 5);
        test.run(4);
        let progress = test.bots.progress();
        assert!(progress.contains("5/5 in the game"), "{progress}");
        test.run(10);
        assert!(test.bots.is_finished());
        assert_eq!(test.now, test.began + Millis(6000));
        assert!(test.bots.summary().succeeded);
        let lines = take_text(&mut test.bots, OutputKind::Console);
        let is_note = |line: &str| wire.is_scrambling_open && line.contains("are scrambled");
        assert!(lines.lines().all(is_note), "nothing to complain of: {lines}");

        let summary = test.bots.summary();
        let total = &summary.total;
        assert_eq!((total.bots, total.active, total.dropped, total.protocol_errors), (5, 5, 0, 0));
        assert!((19.0..=20.5).contains(&total.snapshots_per_second), "{summary}");
        assert_eq!((total.delta_share, total.loss), (1.0, 0.0), "{summary}");
        assert!((10..=70).contains(&total.ping_ms.p50), "{summary}");
        assert_eq!((total.snapshot_gap_ms.p50, total.snapshot_gap_ms.max), (50, 50));
        assert!(total.bytes_per_snapshot_with_headers - total.bytes_per_snapshot > 27.9);
        for (number, bot) in summary.each.iter().enumerate() {
            assert_eq!(bot.name, format!("bot0{}", number + 1));
            assert_eq!((bot.outcome, bot.protocol_errors), (BotOutcome::Played, 0));
            let peer = &test.server.peers[&(number as u16)];
            assert_eq!(peer.heard.last().map(String::as_str), Some("disconnect"));
            assert!(peer.heard.iter().rev().skip(1).all(|command| command == "score"));
            // 30 packets a second, two usercmds each.
            let seconds = (6000 - number * 50) as f64 / 1000.0;
            let moves = peer.moves.len() as f64 / seconds;
            assert!((50.0..70.0).contains(&moves), "{moves} usercmds a second");
            assert!(peer.userinfo.contains("\\model\\sarge"));
        }
        let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
        assert_eq!((json["active"].as_u64(), json["succeeded"].as_bool()), (Some(5), Some(true)));
        assert_eq!(json["each"][4]["outcome"], "played");
    }
}

#[test]
fn bots_of_each_protocol_have_a_row() {
    let each = BotsOptions { protocol: BotProtocol::Each, ..options(Protocol::Q3_68, 14, 5) };
    let mut test = Match::new(each);
    test.run(10);
    let summary = test.bots.summary();
    assert!(summary.succeeded, "{summary}");
    let rows: Vec<_> = summary
        .protocols
        .iter()
        .map(|row| (row.protocol.as_str(), row.succeeded, row.bots, row.protocol_errors))
        .collect();
    let names = ["43", "45", "66", "67", "68", "compat", "native"];
    assert_eq!(rows, names.map(|name| (name, 2, 2, 0)), "{summary}");
    assert!(summary.protocols.iter().all(|row| row.snapshots_per_second > 18.0), "{summary}");
    let text = summary.to_string();
    assert!(text.contains("\nprotocols "), "{text}");
    let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    assert_eq!(json["protocols"][0]["protocol"], "43");
    assert_eq!(json["each"][7]["protocol"], "43");
    assert!(summary.to_html().contains("<h2>Protocols</h2>"));

    let mut one = Match::new(options(Protocol::Q3_68, 1, 2));
    one.run(10);
    assert!(one.bots.summary().protocols.is_empty());
}

#[test]
fn bots_join_one_after_another() {
    let mut test =
        Match::new(BotsOptions { joins_per_second: 10, ..options(Protocol::IOQ3_71, 4, 2) });
    test.run(5);
    let first = |number| {
        let sent = test.transcript.iter().find(|(_, from, _)| *from == number);
        sent.map(|(at, ..)| at - test.began.0)
    };
    assert_eq!([0, 1, 2, 3].map(first), [1, 100, 200, 300].map(Some));
}

#[test]
fn same_seed_gives_identical_bots() {
    let transcript = |seed| {
        let mut test = Match::new(BotsOptions {
            seed,
            behavior: "wander,fight,chat".parse().unwrap(),
            ..options(Protocol::OA_71, 3, 4)
        });
        test.run(10);
        test.transcript
    };
    let first = transcript(7);
    assert!(first == transcript(7), "one seed, two transcripts");
    assert!(first != transcript(8), "the seed does not matter");
}

#[test]
fn refused_bots_fail_the_load_test() {
    let mut test = Match::new(options(Protocol::OA_71, 2, 4));
    test.server.refusal = Some("Server is full\n".to_owned());
    test.run(10);
    assert!(test.bots.is_finished() && !test.bots.summary().succeeded);
    let lines = take_text(&mut test.bots, OutputKind::Console);
    assert!(lines.contains("bot02: refused: Server is full\n"), "{lines}");
    let summary = test.bots.summary();
    assert_eq!((summary.total.refused, summary.total.active), (2, 0));
    assert!(summary.to_string().contains("refused: Server is full"), "{summary}");
}

#[test]
fn server_that_drops_all_bots_ends_the_test() {
    let mut test = Match::new(options(Protocol::IOQ3_71, 2, 60));
    test.run(3);
    for peer in test.server.peers.values_mut() {
        peer.commands.add("disconnect \"Server quit\"".into()).unwrap();
    }
    test.run(3);
    assert!(test.bots.is_finished(), "nobody is left");
    assert!(!test.bots.summary().succeeded);
    let summary = test.bots.summary();
    assert_eq!((summary.total.active, summary.total.dropped), (2, 2));
    assert_eq!(summary.each[0].reason.as_deref(), Some("Server quit"));
}

#[test]
fn bots_without_answer_never_join() {
    let mut bots = Bots::new(options(Protocol::OA_71, 1, 2), Millis(0));
    while !bots.is_finished() {
        let now = bots.next_frame();
        assert!(now <= Millis(2000));
        bots.frame(now);
    }
    assert!(!bots.summary().succeeded);
    assert_eq!(bots.summary().each[0].outcome, BotOutcome::NeverJoined);
}

/// Runs a test of a minute with a server that has this ailment from some second on.
fn ail(ailment: Ailment, from_second: u64) -> (Match, u64) {
    let mut test = Match::new(options(Protocol::OA_71, 4, 60));
    test.run(from_second);
    test.ailment = ailment;
    test.run(100);
    assert!(test.bots.is_finished(), "a hang");
    let took = (test.now.0 - test.began.0) / 1000;
    (test, took)
}

#[test]
fn failing_servers_end_the_test_with_a_verdict() {
    for (ailment, from, seconds, verdict, words) in [
        (Ailment::Silent, 0, 10..=12, Verdict::NoAnswer, "10.0.0.1:27960 does not answer"),
        (Ailment::Babbles, 0, 10..=12, Verdict::Unreadable, "is not a Quake III server"),
        (Ailment::SendsRubbish, 0, 10..=12, Verdict::Unreadable, "invalid data: server message 1"),
        (Ailment::Silent, 5, 14..=16, Verdict::Lost, "4 of 4 bots timed out"),
        (Ailment::Babbles, 5, 14..=16, Verdict::Lost, "4 of 4 bots timed out"),
        (Ailment::SendsRubbish, 5, 14..=60, Verdict::Unreadable, "invalid data: server message"),
        (Ailment::Silent, 55, 59..=62, Verdict::Lost, "4 of 4 bots timed out"),
        (Ailment::Well, 5, 60..=60, Verdict::Passed, "passed: 4 of 4 bots played"),
    ] {
        let (test, took) = ail(ailment, from);
        let summary = test.bots.summary();
        assert_eq!(summary.verdict, verdict, "{summary}");
        assert!(summary.sentence.contains(words), "{summary}");
        assert!(seconds.contains(&took), "{took} s, {summary}");
        assert_eq!(summary.succeeded, verdict == Verdict::Passed);
        // What has not ended is a gap, too.
        if (ailment, from) == (Ailment::Silent, 55) {
            assert!((6800..=7100).contains(&summary.total.snapshot_gap_ms.max), "{summary}");
            assert!(summary.samples.last().unwrap().worst_gap_ms >= Some(3000));
        }
    }
}

#[test]
fn refusal_ends_the_test_with_the_servers_reason() {
    for words in
        ["Server is full.", "Invalid password", "You are banned from this server.", "Bad \u{1b}[2J"]
    {
        let mut test = Match::new(options(Protocol::OA_71, 3, 60));
        test.server.refusal = Some(format!("{words}\n"));
        test.run(100);
        let summary = test.bots.summary();
        assert!(test.now <= test.began + Millis::seconds(13));
        assert_eq!(summary.verdict, Verdict::Refused);
        assert!(summary.sentence.starts_with("10.0.0.1:27960 refused all 3 bots: "));
        assert!(
            summary.sentence.contains(words) || summary.sentence.contains("Bad \\x1b"),
            "{summary}"
        );
        assert!(!summary.sentence.contains('\u{1b}') && !summary.to_string().contains('\u{1b}'));
    }
}

#[test]
fn map_change_is_not_a_protocol_error() {
    let mut test = Match::new(options(Protocol::IOQ3_71, 3, 12));
    test.run(4);
    for number in 0..3 {
        let datagrams = test.server.peers.get_mut(&number).unwrap().gamestate(&Level::with_id(9));
        test.send(number, datagrams);
    }
    test.run(20);
    let summary = test.bots.summary();
    assert_eq!(summary.verdict, Verdict::Passed, "{summary}");
    assert!(summary.each.iter().all(|bot| bot.lives == 1 && bot.snapshots > 200), "{summary}");
}

#[test]
fn named_expectation_replaces_default_of_its_metric() {
    for (expect, verdict) in [
        ("", Verdict::Refused),
        ("refused=2", Verdict::Refused),
        ("in_game=0,refused=2", Verdict::Passed),
        ("in_game=0,refused=1", Verdict::Failed),
        ("in_game=1", Verdict::Failed),
    ] {
        let mut test = Match::new(BotsOptions {
            expectations: expectations(expect),
            ..options(Protocol::OA_71, 2, 4)
        });
        test.server.refusal = Some("no".to_owned());
        test.run(10);
        assert_eq!(test.bots.summary().verdict, verdict, "{expect}: {}", test.bots.summary());
    }
    let mut test = Match::new(BotsOptions {
        expectations: "drops<=2".parse().unwrap(),
        ..options(Protocol::IOQ3_71, 2, 20)
    });
    test.run(3);
    test.server.peers.get_mut(&0).unwrap().commands.add("disconnect \"kicked\"".into()).unwrap();
    test.run(30);
    assert_eq!(test.bots.summary().verdict, Verdict::Passed, "{}", test.bots.summary());
}

#[test]
fn join_time_counts_for_its_stage() {
    let mut test = Match::new(BotsOptions {
        stages: "2:5s,4:5s".parse::<Stages>().unwrap().0,
        expectations: "join_p99<200ms".parse().unwrap(),
        ..options(Protocol::OA_71, 1, 1)
    });
    test.run(20);
    let summary = test.bots.summary();
    assert_eq!(summary.verdict, Verdict::Passed, "{summary}");
    let joins = summary.stages.iter().map(|stage| stage.total.join_ms.count);
    assert_eq!(joins.collect::<Vec<_>>(), [2, 2]);
    assert_eq!(summary.total.join_ms.count, 4);
}

#[test]
fn bots_spread_over_several_servers() {
    let other = silent_address();
    let asked =
        BotsOptions { servers: vec![server_address(), other], ..options(Protocol::OA_71, 4, 2) };
    let mut bots = Bots::new(asked, Millis(0));
    let (mut seen, mut packet) = (HashMap::new(), Vec::new());
    while !bots.is_finished() {
        bots.frame(bots.next_frame());
        while let Some(Route { local, remote, .. }) = bots.poll_transmit(&mut packet) {
            seen.insert(local, remote);
        }
    }
    for number in 0..4 {
        let server = if number % 2 == 0 { server_address() } else { other };
        assert_eq!(seen[&LocalPort(number)], server);
    }
    assert_eq!(bots.summary().server_address, "10.0.0.1:27960, 10.0.0.2:27961");
}

#[test]
fn shipped_scenarios_are_valid_and_have_expectations() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/config/loadtests");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let test =
            LoadTest::parse(&text).unwrap_or_else(|what| panic!("{}: {what}", path.display()));
        let built = test.build(vec![server_address()], 1);
        assert!(!built.expectations.is_empty(), "{} expects nothing", path.display());
        assert!(text.starts_with("# ") && text.contains("#   fragd bots --connect"));
        names.push(path.file_stem().unwrap().to_string_lossy().into_owned());
    }
    names.sort();
    assert_eq!(names, ["bad_networks", "join_storm", "players64", "query_flood", "smoke"]);
}

#[test]
fn operator_stop_ends_the_test_early() {
    let mut test = Match::new(options(Protocol::OA_71, 3, 60));
    test.run(2);
    test.bots.handle_input(test.now, Input::Stop("interrupted"));
    let summary = test.bots.summary();
    assert!(test.bots.is_finished() && !summary.succeeded);
    assert_eq!((summary.verdict, summary.exit_code), (Verdict::Interrupted, 8));
    assert!(summary.sentence.starts_with("interrupted after 2.0 of 60 s"), "{}", summary.sentence);
    assert_eq!(summary.total.active, 3, "partial figures");
    let mut farewells = 0;
    while test.bots.poll_transmit(&mut Vec::new()).is_some() {
        farewells += 1;
    }
    assert_eq!(farewells, 9);
}

#[test]
fn metrics_match_known_network_impairment() {
    // 40 ms there, 60 and the 10 of the wire back; one in twenty of the server's datagrams is lost.
    let uplink = Impairment::latency(Millis(40));
    let downlink = Impairment { loss: 50, ..Impairment::latency(Millis(60)) };
    let mut test =
        Match::new(BotsOptions { uplink, downlink, seed: 3, ..options(Protocol::OA_71, 8, 60) });
    test.run(70);
    let summary = test.bots.summary();
    let total = &summary.total;
    assert!(summary.succeeded, "{summary}");
    assert!((0.04..0.06).contains(&total.loss), "{}", total.loss);
    // The server shows a usercmd executed with its next snapshot, up to 50 ms later.
    assert!((110..=165).contains(&total.ping_ms.p50), "{:?}", total.ping_ms);
    assert!((105.0..160.0).contains(&total.ping_ms.mean), "{:?}", total.ping_ms);
    // A lost one makes the gap twice as long: one in twenty, which is a tenth of the time.
    assert_eq!(total.snapshot_gap_ms.p50, 50);
    assert!((99..=101).contains(&total.snapshot_gap_ms.p95), "{:?}", total.snapshot_gap_ms);
    assert!(total.time_without_snapshot < 0.005, "{}", total.time_without_snapshot);
    assert!((18.5..19.5).contains(&total.snapshots_per_second), "{}", total.snapshots_per_second);
    assert_eq!(total.jitter_ms.max, 0, "the delay never changes");
    // Three questions and answers, then the first snapshot of the game.
    assert!(total.join_steps_ms.challenge.p50.abs_diff(110) <= 3, "{:?}", total.join_steps_ms);
    assert!(total.join_steps_ms.connect.p50.abs_diff(110) <= 3, "{:?}", total.join_steps_ms);
}

#[test]
fn jitter_is_measured_and_reordering_loses_no_usercmds() {
    let network = Impairment { jitter: Millis(40), ..Impairment::latency(Millis(20)) };
    let mut test = Match::new(BotsOptions {
        uplink: network,
        downlink: network,
        ..options(Protocol::IOQ3_71, 4, 30)
    });
    test.run(40);
    let total = test.bots.summary().total;
    // Two delays of 0 to 40 ms differ by a third of that on average.
    assert!((9.0..18.0).contains(&total.jitter_ms.mean), "{:?}", total.jitter_ms);
    assert!((35..=41).contains(&total.jitter_ms.max), "{:?}", total.jitter_ms);
    assert_eq!((total.active, total.dropped, total.protocol_errors), (4, 0, 0));
}

#[test]
fn stages_are_measured_separately_until_one_fails() {
    let stages: Stages = "2:5s,4:5s,6:5s".parse().unwrap();
    let asked = BotsOptions {
        stages: stages.0,
        expectations: "in_game<=4,snapshot_gap_p99<=60ms".parse().unwrap(),
        ..options(Protocol::OA_71, 1, 1)
    };
    let mut test =
        Match::new(BotsOptions { expectations: "in_game<=2".parse().unwrap(), ..asked.clone() });
    test.run(60);
    let summary = test.bots.summary();
    assert_eq!(test.now, test.began + Millis(10_000));
    let seen: Vec<_> = summary
        .stages
        .iter()
        .map(|stage| (stage.total.active, stage.failed_expectations.len()))
        .collect();
    assert_eq!(seen, [(2, 0), (4, 1)]);
    assert_eq!(summary.failed_expectations, ["in_game<=2: in_game was 4, off by 2"]);
    assert!(!summary.succeeded);
    assert_eq!((summary.capacity, summary.is_capacity_limit), (Some(2), true));
    let failed = summary.stages[1].expectations.iter().find(|one| !one.passed).unwrap();
    assert_eq!((failed.metric.as_str(), failed.limit, failed.value), ("in_game", 2.0, Some(4.0)));

    let mut test = Match::new(BotsOptions { expectations: "drops=0".parse().unwrap(), ..asked });
    test.run(60);
    let summary = test.bots.summary();
    assert!(summary.succeeded && summary.stages.len() == 3, "{summary}");
    assert_eq!(test.now, test.began + Millis(15_000));
    let rates = summary.stages.iter().map(|stage| stage.total.snapshots_per_second);
    assert!(
        rates.clone().all(|rate| (19.5..20.5).contains(&rate)),
        "{:?}",
        rates.collect::<Vec<_>>()
    );
    assert_eq!(summary.samples.len(), 15);
    assert!(summary.samples[13].snapshots.abs_diff(120) <= 6, "{:?}", summary.samples[13]);
    assert!(summary.to_html().matches("<figure class=\"lagometer\">").count() == 6);
}

#[test]
fn nat_rebinding_of_bots_drops_no_bot() {
    let mut test =
        Match::new(BotsOptions { rebind: Millis::seconds(3), ..options(Protocol::OA_71, 2, 30) });
    assert_eq!(test.bots.local_ports(), 4);
    test.run(40);
    let ports: std::collections::BTreeSet<_> =
        test.transcript.iter().map(|(_, port, _)| *port).collect();
    assert_eq!(ports.len(), 4, "each bot spoke from both of its ports");
    let total = test.bots.summary().total;
    assert_eq!((total.active, total.dropped, total.lost_messages), (2, 0, 0));
}

#[test]
fn storm_bots_cycle_and_dropped_bots_reconnect() {
    let mut test = Match::new(BotsOptions {
        behavior: "wander,storm".parse().unwrap(),
        ..options(Protocol::OA_71, 3, 60)
    });
    test.run(70);
    let summary = test.bots.summary();
    assert!(summary.each.iter().all(|bot| (4..=15).contains(&bot.lives)), "{summary}");
    assert_eq!((summary.total.dropped, summary.total.active), (0, 3));

    let mut test =
        Match::new(BotsOptions { reconnects: true, ..options(Protocol::IOQ3_71, 1, 20) });
    test.run(3);
    test.server.peers.get_mut(&0).unwrap().commands.add("disconnect \"kicked\"".into()).unwrap();
    test.run(30);
    let summary = test.bots.summary();
    assert_eq!((summary.each[0].lives, summary.total.dropped), (2, 1));
    assert!(summary.each[0].snapshots > 250, "it played again: {summary}");
}

#[test]
fn queries_run_beside_players() {
    let mut bots = Bots::new(
        BotsOptions {
            queries: QueryFlood { info_per_second: 100, status_per_second: 0 },
            ..options(Protocol::OA_71, 1, 2)
        },
        Millis(0),
    );
    assert_eq!(bots.local_ports(), 2);
    let (mut asked, mut packet) = (0, Vec::new());
    while !bots.is_finished() {
        let now = bots.next_frame();
        bots.frame(now);
        while let Some(route) = bots.poll_transmit(&mut packet) {
            if packet.starts_with(b"\xff\xff\xff\xffgetinfo") {
                assert_eq!(route.local, LocalPort(1));
                asked += 1;
                bots.handle_datagram(
                    now,
                    Route::new(LocalPort(1), server_address()),
                    b"\xff\xff\xff\xffinfoResponse\n\\hostname\\x",
                );
            }
        }
    }
    let queries = bots.summary().queries;
    assert_eq!((queries.sent, queries.answered), (asked, asked));
    assert!((199..=201).contains(&asked), "{asked}");
}

//! Bots and a scripted server in virtual time.

use std::net::SocketAddr;

use fragd::{
    bots::{Bots, BotsOptions, Outcome},
    client::ClientWire,
    model::Millis,
    node::{LocalPort, Node, Route},
};

use crate::scripted_server::{Level, ScriptedServer, World};

fn server_address() -> SocketAddr {
    ([10, 0, 0, 1], 27_960).into()
}

/// Bots, a server that shows everybody the same world 20 times a second, and a wire of 5 ms each way.
struct Match {
    bots: Bots,
    server: ScriptedServer,
    now: Millis,
    /// Datagrams on their way to a bot.
    underway: Vec<(Millis, u16, Vec<u8>)>,
    /// Everything the bots sent.
    transcript: Vec<(u64, u16, Vec<u8>)>,
    began: Millis,
}

impl Match {
    fn new(options: BotsOptions) -> Self {
        let now = Millis(1_000_000);
        let server = ScriptedServer::new(options.wire);
        let bots = Bots::new(options, now);
        Self { bots, server, now, underway: Vec::new(), transcript: Vec::new(), began: now }
    }

    /// Runs until the bots are done, at most `seconds`.
    fn run(&mut self, seconds: u64) {
        let end = self.now + Millis::seconds(seconds);
        let mut packet = Vec::new();
        while !self.bots.is_finished() && self.now < end {
            self.now += Millis(1);
            let now = self.now;
            let (due, later) = self.underway.drain(..).partition(|(at, ..)| *at <= now);
            self.underway = later;
            let due: Vec<(Millis, u16, Vec<u8>)> = due;
            for (_, number, datagram) in due {
                let route = Route { local: LocalPort(number), remote: server_address() };
                self.bots.handle_datagram(now, route, &datagram);
            }
            if self.bots.next_frame() <= now {
                self.bots.frame(now);
            }
            while let Some(route) = self.bots.poll_transmit(&mut packet) {
                assert_eq!(route.remote, server_address());
                let LocalPort(number) = route.local;
                self.transcript.push((now.0, number, packet.clone()));
                let replies = self.server.handle(number, &packet);
                self.send(number, replies);
            }
            if (now.0 - self.began.0).is_multiple_of(50) {
                self.show();
            }
        }
    }

    fn send(&mut self, number: u16, datagrams: Vec<Vec<u8>>) {
        let at = self.now + Millis(10);
        self.underway.extend(datagrams.into_iter().map(|datagram| (at, number, datagram)));
    }

    fn show(&mut self) {
        let time = (self.now.0 - self.began.0) as i32 + 500;
        let mut numbers: Vec<_> = self.server.peers.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let peer = self.server.peers.get_mut(&number).unwrap();
            let datagrams = if peer.packets > 0 && peer.head.server_id.0 == 0 {
                peer.gamestate(&Level::with_id(8))
            } else if peer.moves.is_empty() {
                peer.next_snapshot(&World::at(time, &[]).not_active())
            } else {
                let mut world = World::at(time, &[1, 2, usize::from(number) + 10]);
                world.player.command_time = peer.moves.last().unwrap().server_time;
                peer.next_snapshot(&world)
            };
            self.send(number, datagrams);
        }
    }
}

fn options(wire: ClientWire, count: u16, seconds: u64) -> BotsOptions {
    BotsOptions::new(server_address(), wire, count, Millis::seconds(seconds))
}

#[test]
fn bots_join_play_and_leave() {
    for wire in ClientWire::ALL {
        let mut test = Match::new(options(wire, 5, 6));
        assert_eq!(test.bots.local_ports(), 5);
        test.run(4);
        let progress = test.bots.progress();
        assert!(progress.contains("5/5 in the game"), "{progress}");
        test.run(10);
        assert!(test.bots.is_finished());
        assert_eq!(test.now, test.began + Millis(6000));
        assert!(test.bots.succeeded());
        assert_eq!(test.bots.poll_output(), None, "nothing to complain of");

        let summary = test.bots.summary();
        assert_eq!((summary.bots, summary.active, summary.dropped, summary.faults), (5, 5, 0, 0));
        assert!((19.0..=20.5).contains(&summary.snapshots_per_second), "{summary}");
        assert_eq!((summary.delta_share, summary.loss), (1.0, 0.0), "{summary}");
        assert!((10..=70).contains(&summary.ping_ms.p50), "{summary}");
        assert_eq!((summary.snapshot_gap_ms.p50, summary.snapshot_gap_ms.max), (50, 50));
        assert!(summary.bytes_per_snapshot_with_headers - summary.bytes_per_snapshot > 27.9);
        for (number, bot) in summary.each.iter().enumerate() {
            assert_eq!(bot.name, format!("bot0{}", number + 1));
            assert_eq!((bot.outcome, bot.faults), (Outcome::Played, 0));
            let peer = &test.server.peers[&(number as u16)];
            assert_eq!(peer.heard, ["disconnect"]);
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
fn bots_come_one_after_the_other() {
    let mut test =
        Match::new(BotsOptions { joins_per_second: 10, ..options(ClientWire::Native71, 4, 2) });
    test.run(5);
    let first = |number| {
        let sent = test.transcript.iter().find(|(_, from, _)| *from == number);
        sent.map(|(at, ..)| at - test.began.0)
    };
    assert_eq!([0, 1, 2, 3].map(first), [1, 100, 200, 300].map(Some));
}

#[test]
fn the_same_seed_makes_the_same_bots() {
    let transcript = |seed| {
        let mut test =
            Match::new(BotsOptions { seed, chat: true, ..options(ClientWire::Compat71, 3, 4) });
        test.run(10);
        test.transcript
    };
    let first = transcript(7);
    assert!(first == transcript(7), "one seed, two transcripts");
    assert!(first != transcript(8), "the seed does not matter");
}

#[test]
fn refused_bots_are_no_success() {
    let mut test = Match::new(options(ClientWire::Compat71, 2, 4));
    test.server.refusal = Some("Server is full\n".to_owned());
    test.run(10);
    assert!(test.bots.is_finished() && !test.bots.succeeded());
    let lines = test.bots.poll_output().unwrap_or_default();
    assert!(lines.contains("bot02: refused: Server is full\n"), "{lines}");
    let summary = test.bots.summary();
    assert_eq!((summary.refused, summary.active), (2, 0));
    assert!(summary.to_string().contains("refused: Server is full"), "{summary}");
}

#[test]
fn a_server_that_throws_everybody_out_ends_the_test() {
    let mut test = Match::new(options(ClientWire::Native71, 2, 60));
    test.run(3);
    for peer in test.server.peers.values_mut() {
        peer.commands.add("disconnect \"Server quit\"".into()).unwrap();
    }
    test.run(3);
    assert!(test.bots.is_finished(), "nobody is left");
    assert!(!test.bots.succeeded());
    let summary = test.bots.summary();
    assert_eq!((summary.active, summary.dropped), (2, 2));
    assert_eq!(summary.each[0].reason.as_deref(), Some("Server quit"));
}

#[test]
fn bots_nobody_answers_never_join() {
    let mut bots = Bots::new(options(ClientWire::Compat71, 1, 2), Millis(0));
    while !bots.is_finished() {
        let now = bots.next_frame();
        assert!(now <= Millis(2000));
        bots.frame(now);
    }
    assert!(!bots.succeeded());
    assert_eq!(bots.summary().each[0].outcome, Outcome::NeverJoined);
}

#[test]
fn an_operator_may_stop_early() {
    let mut test = Match::new(options(ClientWire::Compat71, 3, 60));
    test.run(2);
    test.bots.stop(test.now, "interrupted");
    assert!(test.bots.is_finished() && test.bots.succeeded());
    let mut farewells = 0;
    while test.bots.poll_transmit(&mut Vec::new()).is_some() {
        farewells += 1;
    }
    assert_eq!(farewells, 9);
}

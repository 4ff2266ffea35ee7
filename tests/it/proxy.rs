//! Proxy between server and clients over a virtual network: views, faults, rebinding, silence, limits.

use fragd::{
    client::{DisconnectReason, Protocol},
    impairment::Impairment,
    model::Millis,
    node::{Hosted as _, Input, LocalPort, Node as _, Output, OutputKind, PortChange, Route},
    proxy::{Proxy, ProxyCounter, ProxyOptions},
    server::Server,
    sim::{Actor, Network, Player, check_snapshots},
};

use crate::sim_fixture::{SERVER, server};

/// The proxy's place among the nodes.
const PROXY: usize = 1;
const HOP: Millis = Millis(20);
const BAD: Impairment =
    Impairment { jitter: Millis(40), loss: 40, duplication: 30, ..Impairment::latency(Millis(30)) };

/// Server, proxy, players and the network between them.
struct Line {
    network: Network,
    actors: Vec<Actor>,
    compared: u64,
    /// Checksum of each snapshot that a player took, in order.
    views: Vec<(usize, u32, u32)>,
}

fn address(node: usize) -> std::net::SocketAddr {
    Network::address(node, LocalPort(0))
}

impl Line {
    fn new(change: impl FnOnce(&mut ProxyOptions)) -> Self {
        let set =
            [("sv_maxclients", "64"), ("sv_maxclientsPerIP", "0"), ("sv_maxclientsPerSubnet", "0")];
        let mut options = ProxyOptions::new(address(SERVER));
        change(&mut options);
        let proxy = Proxy::new(options, 77, Millis(1000));
        Self {
            network: Network::new(5, Impairment::latency(HOP), Millis(1000)),
            actors: vec![Actor::Server(Box::new(server(&set))), Actor::Proxy(Box::new(proxy))],
            compared: 0,
            views: Vec::new(),
        }
    }

    /// Lets a player begin to join through the node `to` and returns its place.
    fn join(&mut self, to: usize, wire: &'static Protocol) -> usize {
        let node = self.actors.len();
        let name = format!("player{node}");
        let player = Player::new(address(to), wire, &name, 40 + node as u64, self.network.now());
        self.actors.push(Actor::Player(Box::new(player)));
        node
    }

    fn proxy(&self) -> &Proxy {
        self.actors[PROXY].proxy().unwrap()
    }

    fn count(&self, counter: ProxyCounter) -> u64 {
        self.proxy().counter(counter)
    }

    fn undecoded(&self) -> u64 {
        self.count(ProxyCounter::UndecodedFromClients)
            + self.count(ProxyCounter::UndecodedFromServer)
    }

    fn server(&self) -> &Server {
        self.actors[SERVER].server().unwrap()
    }

    fn player(&mut self, node: usize) -> &mut Player {
        self.actors[node].player().unwrap()
    }

    fn players(&mut self) -> impl Iterator<Item = &mut Player> {
        self.actors.iter_mut().filter_map(Actor::player)
    }

    /// Lets time pass. Each snapshot that a player takes equals what the server sent to `peer`.
    fn run(&mut self, span: Millis, peer: usize) {
        let end = self.network.now() + span;
        let Self { network, actors, compared, views } = self;
        network.run_until(actors, end, |_, actors| {
            let (servers, players) = actors.split_at_mut(1);
            let Some(server) = servers[0].server() else { return };
            for (at, actor) in players.iter_mut().enumerate() {
                let Some(player) = actor.player() else { continue };
                for sequence in &player.seen {
                    let Some((snapshot, entities)) = player.client().view(*sequence) else {
                        continue;
                    };
                    let states =
                        snapshot.player.words().iter().chain(entities.flat_map(|e| e.words()));
                    let sum = states.fold(0u32, |sum, word| sum.rotate_left(5) ^ word);
                    views.push((at, sequence.0, sum));
                }
                *compared +=
                    check_snapshots(server, peer, player).unwrap_or_else(|what| panic!("{what}"));
            }
        });
    }

    fn run_for(&mut self, span: Millis) {
        self.run(span, PROXY);
    }

    fn check_all_play(&mut self) {
        for player in self.players() {
            assert!(player.is_active(), "{:?}", player.disconnect_reason());
            assert!(player.faults.is_empty(), "{:?}", player.faults);
        }
    }

    /// Takes the server off the network.
    fn stop_server(&mut self) {
        self.actors[SERVER] = Actor::Offline;
    }
}

#[test]
fn views_through_proxy_equal_direct_views() {
    for wire in Protocol::CURRENT {
        let mut direct = Line::new(|_| {});
        direct.network.set_impairment(Impairment::latency(Millis(2 * HOP.0)));
        direct.join(SERVER, wire);
        direct.run(Millis::seconds(8), 2);
        let mut proxied = Line::new(|_| {});
        proxied.join(PROXY, wire);
        proxied.run_for(Millis::seconds(8));
        proxied.check_all_play();
        assert!(direct.compared > 120, "{wire}: {} snapshots", direct.compared);
        assert_eq!(direct.compared, proxied.compared, "{wire}");
        assert_eq!(direct.views, proxied.views, "{wire}");
        assert_eq!(proxied.undecoded(), 0, "{wire}");
        assert_eq!(proxied.count(ProxyCounter::Connections), 1);
        assert_eq!(proxied.count(ProxyCounter::Unmatched), 0);
    }
}

#[test]
fn faults_on_both_sides_leave_nothing_undecoded() {
    let mut line = Line::new(|options| {
        options.uplink = BAD;
        options.downlink = Impairment { reordering: 20, ..BAD };
    });
    line.network.set_impairment(Impairment {
        loss: 20,
        duplication: 20,
        ..Impairment::latency(HOP)
    });
    for wire in Protocol::CURRENT.into_iter().cycle().take(6) {
        line.join(PROXY, wire);
    }
    line.run_for(Millis::seconds(25));
    line.check_all_play();
    for round in 0..20 {
        let now = line.network.now();
        line.players()
            .for_each(|player| assert!(player.send_command(now, &format!("say round {round}"))));
        line.run_for(Millis(1500));
    }
    line.check_all_play();
    assert!(line.compared > 3000, "{} snapshots", line.compared);
    assert_eq!(line.undecoded(), 0);
    assert_eq!(line.proxy().sessions(), 6);
    let now = line.network.now();
    line.players().for_each(|player| player.leave(now));
    line.run_for(Millis::seconds(8));
    assert_eq!(line.proxy().sessions(), 0, "sessions of clients that left are freed");
    assert_eq!(line.server().active_clients(), 0);
}

#[test]
fn client_keeps_its_session_after_nat_rebinding() {
    for wire in Protocol::CURRENT {
        let mut line = Line::new(|_| {});
        let node = line.join(PROXY, wire);
        line.run_for(Millis::seconds(5));
        line.check_all_play();
        let number = line.player(node).client().client_num().unwrap();
        let before = line.server().peer(number);
        line.player(node).set_port(LocalPort(9));
        line.run_for(Millis::seconds(3));
        line.check_all_play();
        assert_eq!(line.count(ProxyCounter::PortsFollowed), 1, "{wire}");
        assert_eq!(line.server().peer(number), before, "{wire}: the server sees no change");
        let seen = line.compared;
        line.run_for(Millis::seconds(1));
        assert!(line.compared > seen + 15, "{wire}");
    }
}

#[test]
fn silent_server_is_told_before_connection() {
    let mut line = Line::new(|_| {});
    line.stop_server();
    let node = line.join(PROXY, Protocol::Q3_68);
    line.run_for(Millis::seconds(4));
    let text = line.player(node).refusal.clone();
    assert_eq!(
        text.as_deref().map(str::trim),
        Some("Server 198.18.0.1:27960 does not answer this client.")
    );
    assert!(line.count(ProxyCounter::ClientsTold) >= 1);
}

#[test]
fn clients_of_a_silent_server_are_disconnected() {
    for wire in Protocol::CURRENT {
        let mut line = Line::new(|options| options.server_timeout = Millis::seconds(8));
        let node = line.join(PROXY, wire);
        line.run_for(Millis::seconds(5));
        line.check_all_play();
        let now = line.network.now();
        assert!(line.player(node).send_command(now, "say unanswered"));
        line.stop_server();
        line.run_for(Millis::seconds(9));
        let reason = line.player(node).disconnect_reason().cloned();
        let said = "198.18.0.1:27960 does not answer".to_owned();
        assert_eq!(reason, Some(DisconnectReason::ServerSaid(said)), "{wire}");
        assert!(line.player(node).faults.is_empty(), "{:?}", line.player(node).faults);
        line.run_for(Millis::seconds(10));
        assert_eq!((line.proxy().sessions(), line.undecoded()), (0, 0), "{wire}");
    }
}

#[test]
fn stopped_proxy_leaves_no_client_on_the_server() {
    let mut line = Line::new(|_| {});
    for wire in Protocol::CURRENT {
        line.join(PROXY, wire);
    }
    line.run_for(Millis::seconds(5));
    line.check_all_play();
    let now = line.network.now();
    line.actors[PROXY].handle_input(now, Input::ConsoleLine("quit"));
    line.run_for(Millis::seconds(2));
    for player in line.players() {
        let reason = player.disconnect_reason().map(ToString::to_string);
        assert_eq!(reason.as_deref(), Some("Proxy was stopped"));
    }
    assert_eq!(line.server().active_clients(), 0);
}

/// Request for a challenge.
const GET_CHALLENGE: &[u8] = b"\xff\xff\xff\xffgetchallenge 5";

#[test]
fn forged_requests_do_not_disturb_a_client() {
    let mut line = Line::new(|options| options.sessions = 8);
    let node = line.join(PROXY, Protocol::IOQ3_71);
    line.run_for(Millis::seconds(4));
    line.check_all_play();
    let own = address(node);
    let connect = b"\xff\xff\xff\xffconnect \x00\x05garbage";
    let requests: [&[u8]; 4] = [
        b"\xff\xff\xff\xffgetchallenge 5",
        b"\xff\xff\xff\xffrcon x status",
        connect,
        &[1, 0, 0, 0, 9, 9],
    ];
    let before = line.compared;
    for i in 0..4000_u32 {
        let forged = ([20, (i >> 8) as u8, i as u8, 1], 27_960).into();
        for bytes in requests {
            line.network.inject(forged, PROXY, bytes);
        }
        for bytes in requests {
            line.network.inject(own, PROXY, bytes);
        }
        if i % 100 == 0 {
            line.run_for(Millis(100));
            assert!(line.proxy().sessions() <= 8);
        }
    }
    line.run_for(Millis(500));
    line.check_all_play();
    assert!(line.compared > before + 70, "{} snapshots", line.compared - before);
    assert!(line.count(ProxyCounter::RequestsLimited) > 1000);
    line.run_for(Millis::seconds(20));
    assert_eq!(line.proxy().sessions(), 1, "requests without a connection are forgotten");
    line.check_all_play();
}

#[test]
fn c38_newcomers_join_proxy_during_forged_requests() {
    let mut line = Line::new(|_| ());
    line.join(PROXY, Protocol::Q3_68);
    line.run_for(Millis::seconds(4));
    let opened = |line: &Line| line.count(ProxyCounter::SessionsOpened);
    let (mut asked, mut answered) = (0, 0);
    for step in 0..2400_u32 {
        // 400 requests a second, each from another source.
        for number in 0..4 {
            let [_, a, b, c] = (step * 4 + number).wrapping_mul(0x9e37_79b1).to_be_bytes();
            line.network.inject(([20 + a % 80, a, b, c], 27_960).into(), PROXY, GET_CHALLENGE);
        }
        line.run_for(Millis(10));
        // A new client asks twice, three seconds apart.
        let (newcomer, place) = (step / 300, step % 300);
        let from = ([203, 0, 113, newcomer as u8], 27_960).into();
        if step >= 300 && place == 0 {
            let again = ([203, 0, 113, newcomer as u8 - 1], 27_960).into();
            for (from, is_retry) in [(from, false), (again, newcomer > 1)] {
                let _ = line.network.take_outside();
                line.network.inject(from, PROXY, GET_CHALLENGE);
                line.run_for(Millis(100));
                let outside = line.network.take_outside();
                asked += u32::from(is_retry);
                answered += u32::from(is_retry && outside.iter().any(|(to, _)| *to == from));
            }
        }
    }
    assert_eq!((asked, answered), (6, 6), "of {} sessions", opened(&line));
    assert!(opened(&line) <= 100 * 25 + 200);
    line.check_all_play();
}

#[test]
fn forgers_of_other_ports_delay_newcomer_by_one_repeat() {
    let mut line = Line::new(|_| ());
    line.join(PROXY, Protocol::Q3_68);
    line.run_for(Millis::seconds(4));
    let owner = ([203, 0, 113, 9], 27_960).into();
    let mut answers = Vec::new();
    for step in 0..3000_u16 {
        // A hundred requests a second in the name of the owner's host, each from another port.
        line.network.inject(([203, 0, 113, 9], 1000 + step).into(), PROXY, GET_CHALLENGE);
        let is_asking = step >= 600 && step % 300 == 0;
        let _ = is_asking.then(|| line.network.take_outside());
        let _ = is_asking.then(|| line.network.inject(owner, PROXY, GET_CHALLENGE));
        line.run_for(Millis(10));
        if step >= 600 && step % 300 == 10 {
            answers.push(line.network.take_outside().iter().any(|(to, _)| *to == owner));
        }
    }
    assert!(answers[1..].iter().all(|&is_answered| is_answered), "{answers:?}");
    line.check_all_play();
}

#[test]
fn queries_get_the_answers_of_the_server() {
    let mut line = Line::new(|_| {});
    line.join(PROXY, Protocol::Q3_68);
    line.run_for(Millis::seconds(4));
    let mut ask = |to: usize, browser: u8, word: &str| {
        let from = ([20, 0, 0, browser], 5).into();
        let _ = line.network.take_outside();
        let bytes = [&[0xff; 4], word.as_bytes()].concat();
        line.network.inject(from, to, &bytes);
        line.run_for(Millis(200));
        let answers = line.network.take_outside();
        answers
            .into_iter()
            .filter(|(to, _)| *to == from)
            .map(|(_, bytes)| bytes)
            .collect::<Vec<_>>()
    };
    let pairs = |answer: &[u8]| {
        let text = String::from_utf8_lossy(&answer[4..]).into_owned();
        let (head, rest) = text.split_once('\n').unwrap();
        let (info, rest) = rest.split_once('\n').unwrap_or((rest, ""));
        let words: Vec<_> = info.split('\\').skip(1).collect();
        let mut pairs: Vec<_> = words.chunks(2).map(<[_]>::concat).collect();
        pairs.sort();
        (head.to_owned(), pairs, rest.to_owned())
    };
    for (number, word) in [(1, "getinfo abc"), (2, "getstatus xyz"), (3, "getstatus")] {
        let direct = ask(SERVER, number, word);
        let proxied = ask(PROXY, number + 10, word);
        assert_eq!((direct.len(), proxied.len()), (1, 1), "{word}");
        assert_eq!(pairs(&direct[0]), pairs(&proxied[0]), "{word}");
    }
    assert_eq!(line.count(ProxyCounter::QueriesAsked), 2, "the third answer was kept");
    for i in 0..2000_u32 {
        let from = ([21, (i >> 8) as u8, i as u8, 1], 27_960).into();
        line.network.inject(from, PROXY, b"\xff\xff\xff\xffgetstatus");
    }
    line.run_for(Millis(500));
    assert!(line.count(ProxyCounter::QueriesLimited) > 1000);
    line.check_all_play();
}

#[test]
fn session_follows_its_server_to_another_address() {
    let [server, other, client] =
        ["192.0.2.1:27960", "192.0.2.2:27960", "198.51.100.1:5"].map(|at| at.parse().unwrap());
    let options = ProxyOptions { passes_rcon: true, ..ProxyOptions::new(server) };
    let mut proxy = Proxy::new(options, 7, Millis(1000));
    let listen = LocalPort(0);
    let mut exchange = |route: Route, text: &str| {
        let bytes = [&[0xff; 4], text.as_bytes()].concat();
        proxy.handle_datagram(Millis(1000), route, &bytes);
        let opened = match proxy.poll_output(OutputKind::PortChange) {
            Some(Output::PortChange(PortChange::Open { local, peer, source })) => {
                assert_eq!((peer, source), (server, None));
                Some(local)
            }
            _ => None,
        };
        let mut packet = Vec::new();
        let sent = proxy.poll_transmit(&mut packet);
        assert!(sent.is_none() || packet == bytes, "passed on as it is");
        (opened, sent)
    };
    let from_client = Route::new(listen, client);
    let (port, sent) = exchange(from_client, "getchallenge 77 Quake3Arena");
    let port = port.unwrap();
    assert_eq!(sent, Some(Route::new(port, server)));
    let from_other = Route::new(port, other);
    for forged in
        ["challengeResponse 5 78 71", "challengeResponse 5", "print\nx", "connectResponse"]
    {
        assert_eq!(exchange(from_other, forged).1, None, "{forged}");
    }
    let accepted = exchange(from_other, "challengeResponse 5 77 71").1;
    assert_eq!(accepted, Some(from_client), "the client knows the address of the proxy only");
    let (opened, sent) = exchange(from_client, "rcon x status");
    assert_eq!((opened, sent), (None, Some(from_other)));
    assert_eq!(exchange(Route::new(port, server), "print\nx").1, None);
    let (_, sent) = exchange(from_client, "getchallenge 9");
    assert_eq!(sent, Some(Route::new(port, server)), "the next one asks anew");
}

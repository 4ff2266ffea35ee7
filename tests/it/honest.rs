//! Unusual but honest clients, which limits against attacks must not delay.
//!
//! NAT rebinding, restarts after a crash, crowded servers, local networks, monitoring. Every rule of
//! admission and reception has to keep these tests green.

use std::{
    collections::{BTreeSet, VecDeque},
    net::SocketAddr,
};

use fragd::{
    client::{ConnectionState, Protocol},
    impairment::Impairment,
    model::{Millis, Qport},
    node::{Hosted as _, LocalPort, Node as _, OutputKind, Route},
    server::Server,
    sim::{Actor, Network, Player},
};

use crate::sim_fixture::{SERVER, SimFixture, server};

/// Time between two looks at the clients.
const STEP: Millis = Millis(10);
/// Longest time between two snapshots of a client that nothing happens to: a frame and a look.
const UNDISTURBED: Millis = Millis(60);
/// The same while many come, whose names are more than one datagram.
const CROWDED: Millis = Millis(100);

/// Runs the sim and returns the longest time that each of `nodes` was without a new snapshot.
fn longest_gaps(sim: &mut SimFixture, nodes: &[usize], span: Millis) -> Vec<Millis> {
    let begin = sim.network.now();
    let count =
        |sim: &mut SimFixture, node: usize| sim.player(node).client().statistics().snapshots;
    let mut last: Vec<_> = nodes.iter().map(|&node| (begin, count(sim, node))).collect();
    let mut longest = vec![Millis(0); nodes.len()];
    while sim.network.now() < begin + span {
        sim.run_for(STEP);
        let now = sim.network.now();
        for (at, &node) in nodes.iter().enumerate() {
            longest[at] = longest[at].max(now.since(last[at].0));
            let snapshots = count(sim, node);
            if snapshots != last[at].1 {
                last[at] = (now, snapshots);
            }
        }
    }
    longest
}

/// Three clients in the game, one of each protocol.
fn three_players(seed: u64, set: &[(&str, &str)]) -> (SimFixture, [usize; 3]) {
    let mut sim = SimFixture::new(seed, set);
    let nodes = Protocol::CURRENT.map(|wire| sim.join(wire, &format!("p{wire}")));
    sim.run_for(Millis::seconds(4));
    assert!(sim.players().all(|player| player.is_active()));
    (sim, nodes)
}

fn loses(thousandths: u32) -> Impairment {
    Impairment { loss: thousandths, ..Impairment::latency(Millis(20)) }
}

#[test]
fn nat_rebinding_costs_one_round_trip() {
    for (seed, loss, most) in [(1, 0, 150), (2, 50, 500), (3, 100, 500)] {
        let (mut sim, nodes) = three_players(seed, &[("sv_floodProtect", "0")]);
        sim.network.set_impairment(loses(loss));
        for port in 1..=20 {
            let now = sim.network.now();
            for node in nodes {
                let player = sim.player(node);
                player.set_port(LocalPort(port));
                assert!(player.send_command(now, &format!("say line {port} of {node}")));
            }
            let gaps = longest_gaps(&mut sim, &nodes, Millis(3000));
            assert!(
                gaps.iter().all(|&gap| gap <= Millis(most)),
                "loss {loss}, port {port}: {gaps:?}"
            );
        }
        sim.network.set_impairment(loses(0));
        sim.run_for(Millis::seconds(2));
        assert_eq!(sim.server().active_clients(), 3, "no second slot, no drop");
        for node in nodes {
            assert!(sim.player(node).is_active());
            // Each command was run once, in spite of the change.
            for port in 1..=20 {
                let line = format!("line {port} of {node}\"");
                let heard = &sim.player(nodes[0]).heard;
                assert_eq!(heard.iter().filter(|text| text.contains(&line)).count(), 1, "{line}");
            }
        }
        sim.check_no_faults();
    }
}

#[test]
fn repeated_nat_rebinding_costs_at_most_one_second() {
    let (mut sim, nodes) = three_players(4, &[]);
    for port in (1..=20).step_by(2) {
        for port in [port, port + 1] {
            for node in nodes {
                sim.player(node).set_port(LocalPort(port));
            }
            sim.run_for(Millis(300));
        }
        let gaps = longest_gaps(&mut sim, &nodes, Millis(3000));
        assert!(gaps.iter().all(|&gap| gap <= Millis(1100)), "port {port}: {gaps:?}");
    }
    sim.check_no_faults();
}

#[test]
fn nat_rebinding_while_joining_still_joins() {
    // After the answer to `connect`; with the gamestate on its way; while the level is loaded.
    for moment in 0..3 {
        for wire in Protocol::CURRENT {
            let mut sim = SimFixture::new(5, &[]);
            let node = sim.join(wire, "joiner");
            let is_there = |sim: &mut SimFixture| {
                let player = sim.player(node);
                if moment == 2 {
                    player.levels == 1
                } else {
                    player.client().state() == ConnectionState::Connected
                }
            };
            for _ in 0..2000 {
                if is_there(&mut sim) {
                    break;
                }
                sim.run_for(Millis(1));
            }
            assert!(is_there(&mut sim), "{wire}, moment {moment}");
            match moment {
                0 => {}
                1 => sim.run_for(Millis(30)),
                _ => sim.network.stall(node, Millis(2500)),
            }
            sim.player(node).set_port(LocalPort(7));
            sim.run_for(Millis::seconds(10));
            assert!(sim.player(node).is_active(), "{wire}, moment {moment}");
            assert_eq!(sim.server().active_clients(), 1);
            sim.check_no_faults();
        }
    }
}

/// A crash, two seconds of silence, and a restarted client.
fn crash_and_restart(sim: &mut SimFixture, node: usize, same_qport: bool, same_port: bool) {
    let old = sim.player(node);
    let (wire, port) = (old.client().protocol(), old.port());
    let qport = Qport((node as u16) ^ if same_qport { 0 } else { 0x5500 });
    sim.actors[node] = Actor::Offline;
    sim.run_for(Millis::seconds(2));
    let mut player = newcomer(wire, node, qport, sim.network.now());
    player.set_port(if same_port { port } else { LocalPort(port.0 + 1) });
    sim.actors[node] = Actor::Player(Box::new(player));
}

fn newcomer(wire: &'static Protocol, node: usize, qport: Qport, now: Millis) -> Player {
    let name = format!("p{node}");
    let pairs = [("name", name.as_str()), ("rate", "25000"), ("snaps", "20")];
    let seed = u64::from(qport.0) + now.0;
    let server = Network::address(SERVER, LocalPort(0));
    Player::with_userinfo(server, wire, &pairs, qport, seed, now)
}

#[test]
fn crashed_client_rejoins_within_five_seconds() {
    for same_port in [true, false] {
        for same_qport in [true, false] {
            for is_full in [false, true] {
                if is_full && !same_port && !same_qport {
                    // It cannot be distinguished from an unknown client of the same host.
                    continue;
                }
                let slots = if is_full { "3" } else { "8" };
                let mut sim =
                    SimFixture::new(6, &[("sv_maxclients", slots), ("sv_maxclientsPerIP", "3")]);
                let nodes = [1, 2, 3];
                for (node, wire) in nodes.into_iter().zip(Protocol::CURRENT) {
                    let now = sim.network.now();
                    let player = newcomer(wire, node, Qport(node as u16), now);
                    sim.actors.push(Actor::Player(Box::new(player)));
                }
                sim.run_for(Millis::seconds(5));
                for node in nodes {
                    let case = format!(
                        "client {node}, same port {same_port}, same qport {same_qport}, full {is_full}"
                    );
                    crash_and_restart(&mut sim, node, same_qport, same_port);
                    let others: Vec<_> = nodes.into_iter().filter(|&other| other != node).collect();
                    let gaps = longest_gaps(&mut sim, &others, Millis::seconds(5));
                    assert!(gaps.iter().all(|&gap| gap <= UNDISTURBED), "{case}: {gaps:?}");
                    let player = sim.player(node);
                    assert!(
                        player.is_active(),
                        "{case}: {:?} {:?}",
                        player.refusal,
                        player.disconnect_reason()
                    );
                    let entry = 544 + player.client().client_num().unwrap().index();
                    let entry = fragd::model::ConfigIndex::new(entry).unwrap();
                    let entry = player.client().configstring(entry);
                    assert!(entry.contains(&format!("n\\p{node}\\")), "{case}: {entry}");
                }
                sim.check_no_faults();
            }
        }
    }
}

#[test]
fn sixty_clients_join_at_once_beside_four_players() {
    let mut sim = SimFixture::new(7, &[("sv_maxclientsPerIP", "3"), ("sv_maxclients", "64")]);
    let wires = || Protocol::CURRENT.into_iter().cycle();
    let players: Vec<_> = wires().take(4).map(|wire| sim.join(wire, "player")).collect();
    sim.run_for(Millis::seconds(3));
    for (i, wire) in wires().take(60).enumerate() {
        sim.join(wire, &format!("newcomer{i}"));
    }
    let gaps = longest_gaps(&mut sim, &players, Millis::seconds(3));
    assert!(gaps.iter().all(|&gap| gap <= CROWDED), "{gaps:?}");
    assert_eq!(sim.server().active_clients(), 64, "all are in within three seconds");
    assert!(sim.players().all(|player| player.refusal.is_none()));
    sim.check_no_faults();
}

#[test]
fn first_ping_after_loading_excludes_loading() {
    for wire in Protocol::CURRENT {
        let mut sim =
            SimFixture::new(8, &[("sv_queryBurst", "1000"), ("sv_queryGlobalRate", "1000000")]);
        let node = sim.join(wire, "loader");
        while sim.player(node).levels == 0 {
            sim.run_for(Millis(1));
        }
        // It loads; what comes waits in its socket.
        sim.network.stall(node, Millis(4300));
        let _ = sim.network.take_outside();
        for _ in 0..200 {
            sim.network.inject(([192, 0, 2, 9], 9).into(), SERVER, b"\xff\xff\xff\xffgetstatus");
            sim.run_for(Millis(50));
        }
        let answers = sim.network.take_outside();
        let pings: Vec<u32> = answers
            .iter()
            .filter_map(|(_, text)| {
                let text = String::from_utf8_lossy(text);
                text.lines().nth(2)?.split(' ').nth(1)?.parse().ok()
            })
            .collect();
        let readings: Vec<_> = pings.iter().skip_while(|&&ping| ping == 999).collect();
        assert!(readings.len() > 80, "{wire}: {pings:?}");
        // Two ways of 20 ms, and the time to the next packet of the client.
        assert!(readings.iter().all(|ping| (40..=80).contains(*ping)), "{wire}: {readings:?}");
    }
}

#[test]
fn clients_continue_at_once_after_network_outage() {
    // From the last base that clients have to one that is older than any ring.
    for dead in [400, 1300, 1500, 1700, 10_000, 63_000] {
        let (mut sim, nodes) = three_players(9, &[]);
        let before = nodes.map(|node| sim.player(node).client().statistics());
        sim.network.set_impairment(loses(1000));
        sim.run_for(Millis(dead));
        sim.network.set_impairment(loses(0));
        sim.run_for(Millis(200));
        for (node, before) in nodes.into_iter().zip(before) {
            let since = sim.player(node).client().statistics() - before;
            assert!((2..=5).contains(&since.snapshots), "{dead} ms: {since:?}");
            assert_eq!(since.discarded_snapshots, 0, "{dead} ms");
        }
        sim.check_no_faults();
    }
}

/// Clients at addresses that a test chooses, all on a line that takes [`Site::LATENCY`].
struct Site {
    now: Millis,
    server: Server,
    players: Vec<(SocketAddr, Player)>,
    /// Datagrams under way: arrival, source, destination.
    line: VecDeque<(Millis, SocketAddr, SocketAddr, Vec<u8>)>,
    /// Datagrams to addresses of no player.
    answers: Vec<(SocketAddr, Vec<u8>)>,
}

impl Site {
    const LATENCY: Millis = Millis(5);

    fn new(set: &[(&str, &str)]) -> Self {
        let (players, line, answers) = Default::default();
        Self { now: Millis(1000), server: server(set), players, line, answers }
    }

    fn server_address() -> SocketAddr {
        ([198, 51, 100, 1], 27960).into()
    }

    fn join(&mut self, from: SocketAddr) {
        let number = self.players.len();
        let wire = Protocol::CURRENT[number % 3];
        let name = format!("resident{number}");
        let pairs = [("name", name.as_str()), ("rate", "25000"), ("snaps", "20")];
        let (server, qport) = (Self::server_address(), Qport(1000 + number as u16));
        let player = Player::with_userinfo(server, wire, &pairs, qport, number as u64, self.now);
        self.players.push((from, player));
    }

    fn send(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        self.line.push_back((self.now + Self::LATENCY, from, to, bytes.to_vec()));
    }

    /// Moves what the nodes have to send onto the line.
    fn collect(&mut self) {
        let mut packet = Vec::new();
        while let Some(route) = self.server.poll_transmit(&mut packet) {
            self.send(Self::server_address(), route.remote, &packet);
        }
        while self.server.poll_output(OutputKind::Console).is_some() {}
        for at in 0..self.players.len() {
            while let Some(route) = self.players[at].1.poll_transmit(&mut packet) {
                self.send(self.players[at].0, route.remote, &packet);
            }
        }
    }

    fn deliver(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let route = Route::new(LocalPort(0), from);
        if to == Self::server_address() {
            self.server.handle_datagram(self.now, route, bytes);
        } else if let Some((_, player)) = self.players.iter_mut().find(|(at, _)| *at == to) {
            player.handle_datagram(self.now, route, bytes);
        } else {
            self.answers.push((to, bytes.to_vec()));
        }
    }

    fn run_for(&mut self, span: Millis) {
        let end = self.now + span;
        loop {
            self.collect();
            let frames = self.players.iter().map(|(_, player)| player.next_frame());
            let frame = frames.chain([self.server.next_frame()]).min().unwrap_or(end);
            let arrival = self.line.front().map_or(Millis::NEVER, |(arrival, ..)| *arrival);
            let next = frame.min(arrival);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            while self.line.front().is_some_and(|(arrival, ..)| *arrival <= self.now) {
                let Some((_, from, to, bytes)) = self.line.pop_front() else { break };
                self.deliver(from, to, &bytes);
            }
            let now = self.now;
            if self.server.next_frame() <= now {
                self.server.frame(now);
            }
            let due = self.players.iter_mut().filter(|(_, player)| player.next_frame() <= now);
            due.for_each(|(_, player)| player.frame(now));
        }
    }

    /// Runs until all are in the game, and returns how long that took; at most `most`.
    fn wait_for_all(&mut self, most: Millis) -> Millis {
        let begin = self.now;
        while self.now < begin + most && !self.players.iter().all(|(_, player)| player.is_active())
        {
            self.run_for(Millis(100));
        }
        for (address, player) in &self.players {
            assert!(
                player.is_active(),
                "{address}: {:?} {:?}",
                player.refusal,
                player.disconnect_reason()
            );
            assert!(player.faults.is_empty(), "{address}: {:?}", player.faults);
        }
        self.now.since(begin)
    }
}

/// An address in a test's own numbering.
type Numbered = fn(u16) -> SocketAddr;

#[test]
fn full_server_of_lan_clients_joins_at_once() {
    let networks: [(&str, Numbered); 4] = [
        ("hosts of a private network", |i| ([192, 168, 7, 1 + i as u8], 27960).into()),
        ("ports of one private address", |i| ([172, 17, 0, 1], 30_000 + i).into()),
        ("ports of this machine", |i| ([127, 0, 0, 1], 30_000 + i).into()),
        ("hosts of an IPv6 local network", |i| ([0xfd00, 1, 2, 3, 0, 0, 0, 1 + i], 27960).into()),
    ];
    for (network, address) in networks {
        let mut site = Site::new(&[("sv_maxclients", "64")]);
        (0..64).for_each(|i| site.join(address(i)));
        let taken = site.wait_for_all(Millis::seconds(4));
        assert_eq!(site.server.active_clients(), 64, "{network} after {taken}");
        site.run_for(Millis::seconds(20));
        assert_eq!(site.server.active_clients(), 64, "{network}: all stay");
    }
}

/// Behind one public address the operator has to allow them, and then they may all come at the same moment.
#[test]
fn full_server_of_one_public_address_joins_eventually() {
    let mut site = Site::new(&[("sv_maxclients", "64"), ("sv_maxclientsPerIP", "64")]);
    (0..64).for_each(|i| site.join(([203, 0, 113, 7], 30_000 + i).into()));
    site.wait_for_all(Millis::seconds(90));
    assert_eq!(site.server.active_clients(), 64);
}

/// Polls by `monitors` every five seconds, each query from its own port. Every query must be
/// answered.
fn poll_for(site: &mut Site, monitors: &[SocketAddr], minutes: u64) {
    let mut port = 40_000;
    for round in 0..minutes * 12 {
        site.answers.clear();
        let mut asked = BTreeSet::new();
        for monitor in monitors {
            for question in ["getstatus", "getinfo"] {
                port = 40_000 + (port - 39_999) % 20_000;
                let from = SocketAddr::new(monitor.ip(), port);
                let text = format!("\u{7f}{question} r{round}");
                let mut bytes = text.into_bytes();
                bytes.splice(..1, [255; 4]);
                site.send(from, Site::server_address(), &bytes);
                asked.insert(from);
            }
        }
        site.run_for(Millis::seconds(5));
        let answered: BTreeSet<_> = site.answers.iter().map(|(to, _)| *to).collect();
        assert_eq!(answered, asked, "round {round}");
        for (_, answer) in &site.answers {
            assert!(String::from_utf8_lossy(answer).contains(&format!("\\challenge\\r{round}")));
        }
    }
}

#[test]
fn monitors_are_always_answered() {
    let mut site = Site::new(&[("sv_maxclients", "64")]);
    (0..24).for_each(|i| site.join(([203, 0, 113, 1 + i as u8], 27960).into()));
    site.wait_for_all(Millis::seconds(4));
    let strangers: Vec<SocketAddr> = (1..=10).map(|host| ([192, 0, 2, host], 1).into()).collect();
    // One alone, ten together, and one at the address that a client plays from.
    poll_for(&mut site, &strangers[..1], 5);
    poll_for(&mut site, &strangers, 5);
    let player = site.players[3].0;
    poll_for(&mut site, &[&strangers[..], &[player]].concat(), 2);
    assert_eq!(site.server.active_clients(), 24);
    assert!(site.players.iter().all(|(_, player)| player.faults.is_empty()));
}

//! Drain of a QuakeWorld server and of a relay, and what viewers are told.

use fragd::{
    client::Protocol,
    impairment::Impairment,
    model::Millis,
    node::{Hosted as _, Input, LocalPort, Lookup, LookupAnswer, Node as _, OutputKind, take_text},
    quakeworld::client::{ClientEvent, ClientState},
    relay::{Broadcast, BroadcastOptions, ServerSource, ServerSourceOptions},
    sim::{Actor, Network, Player},
};

use crate::{
    quakeworld_fixture::{QwFixture, address},
    sim_fixture,
};

/// A QuakeWorld server with a player and a master.
fn quakeworld(settings: &[(&str, &str)]) -> QwFixture {
    let mut fixture = QwFixture::new(settings);
    fixture.console("setmaster 192.0.2.1:27000");
    let lookup = Lookup { name: "192.0.2.1:27000".to_owned(), default_port: 27000 };
    let found = Ok(vec!["192.0.2.1:27000".parse().unwrap()]);
    let answer = LookupAnswer { lookup, found };
    fixture.server.handle_input(fixture.now, Input::Lookup(&answer));
    fixture.join(&["one"]);
    fixture
}

fn to_master(fixture: &mut QwFixture) -> Vec<Vec<u8>> {
    let all = std::mem::take(&mut fixture.strays).into_iter();
    all.filter(|(to, _)| to.port() == 27000).map(|(_, bytes)| bytes).collect()
}

#[test]
fn draining_quakeworld_server_refuses_connects_and_leaves_masters() {
    let mut fixture = quakeworld(&[]);
    assert_eq!(to_master(&mut fixture).len(), 1, "a heartbeat");
    let shown = fixture.console("drain 600 new version");
    let line = "draining: stops in 10 min, when empty or when the match ends: new version\n";
    assert!(shown.ends_with(line), "{shown}");
    assert_eq!(to_master(&mut fixture), [b"C\n".to_vec()]);
    fixture.inject("192.0.2.1:27000".parse().unwrap(), b"k");
    fixture.run(301_000);
    assert!(fixture.console("heartbeat").contains("drains"));
    assert!(to_master(&mut fixture).is_empty());
    let told = "Server stops when this match ends, in 10 min at the latest: new version\n";
    assert!(fixture.has_print(0, told), "{:?}", fixture.prints(0));
    assert!(fixture.has_print(0, "Server stops in 5 min: new version\n"));
    let is_center = |event: &ClientEvent| matches!(event, ClientEvent::CenterPrint(text) if text.starts_with(b"Server"));
    assert_eq!(fixture.peers[0].events.iter().filter(|event| is_center(event)).count(), 2);
    fixture.add(&[("name", "late-with-a-name-that-is-not-short")]);
    fixture.run(1000);
    let refusal = "Server stops soon, try another one: new version";
    assert!(fixture.has_print(1, refusal), "{:?}", fixture.prints(1));
    let state = fixture.server.state();
    assert_eq!((state.obstacles, state.is_draining), (vec!["draining"], true));
    assert!(state.text.starts_with("draining: stops in"), "{}", state.text);
    assert!(fixture.console("status").contains("draining: stops in 29"), "status");
    assert!(fixture.console("undrain").contains("the server is open"));
    fixture.run(1500);
    assert_eq!(to_master(&mut fixture).len(), 1, "a heartbeat");
    fixture.add(&[("name", "late")]);
    fixture.run(3000);
    assert_eq!(fixture.state(2), ClientState::Active);
    assert!(fixture.console("drain 99999999").contains("expected seconds from 0 to 86400"));
}

#[test]
fn quakeworld_drain_ends_behind_the_scores_or_when_empty() {
    let mut fixture = quakeworld(&[("timelimit", "0.1"), ("sv_drainTime", "600")]);
    assert_eq!(fixture.server.drain_line(), Some("drain"));
    fixture.console("drain");
    assert_eq!(fixture.server.drain_line(), None, "the next signal ends the server");
    fixture.run_until(8000, |fixture| fixture.has_print(0, "Timelimit hit\n"));
    fixture.run(9000);
    assert!(!fixture.server.is_finished());
    assert_eq!(fixture.peers[0].client.level().server_count, 1, "no next map");
    fixture.run(1500);
    assert!(fixture.server.is_finished());
    assert!(fixture.has_print(0, "Server stopped"), "{:?}", fixture.prints(0));

    let mut fixture = quakeworld(&[]);
    assert_eq!(fixture.server.drain_line(), None, "sv_drainTime 0");
    fixture.console("drain 3600");
    fixture.run(1000);
    assert!(!fixture.server.is_finished());
    fixture.peers[0].client.disconnect(fixture.now);
    fixture.run(200);
    assert!(fixture.server.is_finished());
    // A request to an address without a server has no answer.
    fixture.strays.clear();
    fixture.inject(address(9), b"\xff\xff\xff\xffgetchallenge\n");
    assert!(fixture.strays.is_empty());
}

/// A relay of node 0.
fn relay(options: BroadcastOptions) -> Actor {
    let source = ServerSource::new(ServerSourceOptions {
        server: Network::address(0, LocalPort(0)),
        protocol: "auto".parse().unwrap(),
        name: "relay".to_owned(),
        password: None,
        cycle: None,
        seed: 5,
        packs: None,
    });
    Actor::Broadcast(Box::new(Broadcast::new(Box::new(source), options, [3; 32])))
}

fn join(network: &Network, to: usize, name: &str, seed: u64) -> Actor {
    let server = Network::address(to, LocalPort(0));
    let player = Player::new(server, Protocol::IOQ3_71, name, seed, network.now());
    Actor::Player(Box::new(player))
}

/// A server with a player, its relay with a viewer.
fn relayed(options: BroadcastOptions) -> (Network, Vec<Actor>) {
    let mut network = Network::new(11, Impairment::latency(Millis(20)), Millis(1000));
    let server = Actor::Server(Box::new(sim_fixture::server(&[("sv_hostname", "Origin")])));
    let mut actors = vec![server, relay(options), join(&network, 0, "kim", 21)];
    run(&mut network, &mut actors, 8);
    actors.push(join(&network, 1, "lou", 22));
    run(&mut network, &mut actors, 5);
    assert!(actors[3].player().unwrap().is_active());
    (network, actors)
}

fn run(network: &mut Network, actors: &mut [Actor], seconds: u64) {
    let end = network.now() + Millis::seconds(seconds);
    network.run_until(actors, end, |_, _| {});
}

fn console(actors: &mut [Actor], node: usize, now: Millis, line: &str) -> String {
    actors[node].handle_input(now, Input::ConsoleLine(line));
    take_text(&mut actors[node], OutputKind::Console)
}

fn heard(actors: &mut [Actor], node: usize) -> String {
    std::mem::take(&mut actors[node].player().unwrap().heard).join("")
}

#[test]
fn viewers_of_a_relay_read_that_its_server_drains() {
    let (mut network, mut actors) = relayed(BroadcastOptions::default());
    heard(&mut actors, 3);
    let now = network.now();
    console(&mut actors, 0, now, "drain 62 upgrade");
    run(&mut network, &mut actors, 4);
    let text = heard(&mut actors, 3);
    let first = "Server stops when this match ends, in 62 s at the latest: upgrade";
    for line in [first, "Server stops in 1 min: upgrade"] {
        for command in ["print", "cp"] {
            assert!(text.contains(&format!("{command} \"{line}")), "{command}: {text}");
        }
    }
}

#[test]
fn draining_relay_tells_viewers_and_refuses_others() {
    let options =
        BroadcastOptions { drain_time: Millis::seconds(40), ..BroadcastOptions::default() };
    let (mut network, mut actors) = relayed(options);
    heard(&mut actors, 3);
    assert_eq!(actors[1].drain_line(), Some("drain"));
    let now = network.now();
    let shown = console(&mut actors, 1, now, "drain");
    assert_eq!(shown, "draining: stops in 40 s, when empty or when the match ends\n");
    assert_eq!(actors[1].drain_line(), None, "the next signal ends the relay");
    actors.push(join(&network, 1, "late", 23));
    run(&mut network, &mut actors, 12);
    let text = heard(&mut actors, 3);
    assert!(text.contains("cp \"Server stops when this match ends, in 40 s"), "{text}");
    assert!(text.contains("print \"Server stops in 30 s"), "{text}");
    let late = actors[4].player().unwrap();
    assert!(!late.is_active());
    let refusal = late.refusal.clone().unwrap_or_default();
    assert!(refusal.contains("Server stops soon, try another one"), "{refusal}");
    let state = actors[1].state();
    assert_eq!((state.obstacles, state.is_draining), (vec!["draining"], true));
    let now = network.now();
    assert!(console(&mut actors, 1, now, "undrain").contains("the relay is open"));
    assert!(actors[1].state().obstacles.is_empty());
    console(&mut actors, 1, now, "drain 3600");
    actors[3].player().unwrap().leave(now);
    run(&mut network, &mut actors, 2);
    assert!(actors[1].is_finished(), "no viewers");
}

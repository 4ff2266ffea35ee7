//! Bans and mutes of a QuakeWorld server and of a relay.

use std::rc::Rc;

use fragd::{
    client::Protocol,
    impairment::Impairment,
    model::{Millis, UnixMillis, state_folder::StateFolder},
    node::{Hosted as _, Input, LocalPort, Node as _, OutputKind, take_text},
    quakeworld::client::ClientState,
    relay::{Broadcast, BroadcastOptions, ServerSource, ServerSourceOptions},
    sim::{Actor, Network, Player},
};

use crate::{
    memory_state::MemoryState,
    quakeworld_fixture::{QwFixture, address},
    sim_fixture,
};

fn quakeworld(state: &Rc<MemoryState>) -> QwFixture {
    let mut fixture = QwFixture::new(&[("rcon_password", "sesame"), ("sv_crypt_rcon", "0")]);
    fixture.server.keep_bans(Some(Rc::clone(state) as Rc<dyn StateFolder>));
    fixture
}

#[test]
fn banned_quakeworld_client_is_told_why_and_how_long() {
    let state = Rc::new(MemoryState::default());
    let mut fixture = quakeworld(&state);
    fixture.join(&["one", "two"]);
    let id = fixture.peers[1].client.level().players[1].user_id;
    let shown = fixture.console(&format!("ban {id} 2h spam of demos"));
    assert!(shown.contains("Added ban: 10.0.1.1/32 (id 1, 2 h left, by console)"), "{shown}");
    fixture.run(500);
    assert!(fixture.has_print(0, "two was banned"), "{:?}", fixture.prints(0));
    let told = "You are banned from this server. Reason: spam of demos. Time left: 2 h.";
    assert!(fixture.has_print(1, told), "{:?}", fixture.prints(1));
    // The client connects again.
    fixture.run(1500);
    fixture.peers.pop();
    fixture.add(&[("name", "two-with-a-name-that-fills-the-request"), ("team", "red")]);
    fixture.run(2000);
    let told = "You are banned from this server. Reason: spam of demos. Time left: 1 h 59 min.";
    assert!(fixture.has_print(1, told), "{:?}", fixture.prints(1));
    // A banned address has no rcon and no status.
    let packet = [&b"\xff\xff\xff\xff"[..], b"rcon sesame status\n"].concat();
    fixture.strays.clear();
    fixture.server.frame(fixture.now);
    assert!(state.file("bans.jsonl").contains("spam of demos"));
    drop(fixture);
    let mut fixture = quakeworld(&state);
    fixture.inject(address(1), &packet);
    let answers: Vec<_> = fixture.strays.iter().map(|(_, bytes)| bytes.clone()).collect();
    assert_eq!(answers, [b"\xff\xff\xff\xffn\nbanned.\n".to_vec()]);
    assert!(fixture.console("listbans").contains("Ban #1: 10.0.1.1/32 (id 1, "));
    assert_eq!(fixture.console("listip"), "10.0.1.1/32\n");
    assert!(fixture.console("unban 1").contains("Deleting ban 10.0.1.1/32"));
    fixture.join(&["one", "two"]);
}

#[test]
fn addip_of_scripts_has_kind_and_seconds() {
    let mut fixture = QwFixture::new(&[]);
    fixture.console("addip 10.0 ban +60; addip 10.0.1.0 safe; addip 192.0.2.7 ban 0");
    assert!(fixture.console("listbans").contains("Except #1: 10.0.1.0/24"));
    fixture.join(&["safe"]);
    let number = fixture.challenge("10.0.2.2:27001".parse().unwrap());
    let line = |number| {
        let info =
            "\\name\\a-name-that-makes-the-line-long-enough\\team\\red\\skin\\base\\rate\\25000";
        format!("connect 28 77 {number} \"{info}\"\n")
    };
    let connect = |fixture: &mut QwFixture| {
        fixture.now += Millis(3000);
        fixture.strays.clear();
        let bytes = [&b"\xff\xff\xff\xff"[..], line(number).as_bytes()].concat();
        fixture.inject("10.0.2.2:27001".parse().unwrap(), &bytes);
        String::from_utf8_lossy(&fixture.strays[0].1[4..]).into_owned()
    };
    let refused = connect(&mut fixture);
    assert!(refused.starts_with("n\nYou are banned from this server. Time left: 5"), "{refused}");
    fixture.now += Millis::seconds(60);
    assert_eq!(connect(&mut fixture), "j");
    assert!(
        fixture.console("addip 10.1 never").contains("usage: addip MASK [ban|safe] [+SECONDS]")
    );
    assert!(fixture.console("removeip 10.0.1.0").contains("Deleting exception 10.0.1.0/24"));
    assert!(fixture.console("removeip 10.9").contains("10.9.0.0/16 not in the list"));
}

#[test]
fn muted_quakeworld_player_is_told_and_not_heard() {
    let mut fixture = QwFixture::new(&[]);
    fixture.join(&["one", "two"]);
    fixture.console("mute name two 10m insults");
    fixture.run(300);
    let told = "You are muted. Reason: insults. Time left: 1";
    assert!(fixture.has_print(1, told), "{:?}", fixture.prints(1));
    for line in ["say hello", "say_team hello"] {
        fixture.peers[1].client.command(line.as_bytes()).unwrap();
    }
    fixture.run(500);
    assert!(!fixture.has_print(0, "hello"), "{:?}", fixture.prints(0));
    fixture.console("unmute two");
    fixture.peers[1].client.command(b"say hello").unwrap();
    fixture.run(500);
    assert!(fixture.has_print(0, "two: hello"));
    // A new name may be a banned one.
    fixture.console("ban name \"bad*\" 1d");
    fixture.peers[1].client.set_info("name", "badger").unwrap();
    fixture.run(500);
    assert_eq!(fixture.state(1), ClientState::Disconnected);
    assert_eq!(fixture.state(0), ClientState::Active);
}

/// A server with a player, its relay with a viewer.
fn relayed(state: &Rc<MemoryState>) -> (Network, Vec<Actor>) {
    let mut network = Network::new(12, Impairment::latency(Millis(20)), Millis(1000));
    let source = ServerSource::new(ServerSourceOptions {
        server: Network::address(0, LocalPort(0)),
        protocol: "auto".parse().unwrap(),
        name: "relay".to_owned(),
        password: None,
        cycle: None,
        seed: 5,
        packs: None,
    });
    let mut relay = Broadcast::new(Box::new(source), BroadcastOptions::default(), [3; 32]);
    let folder = Some(Rc::clone(state) as Rc<dyn StateFolder>);
    relay.keep_bans(folder, UnixMillis(1_700_000_000_000));
    let server = Actor::Server(Box::new(sim_fixture::server(&[])));
    let mut actors = vec![server, Actor::Broadcast(Box::new(relay)), join(&network, 0, "kim", 21)];
    run(&mut network, &mut actors, 8);
    actors.push(join(&network, 1, "lou", 22));
    actors.push(join(&network, 1, "max", 23));
    run(&mut network, &mut actors, 5);
    (network, actors)
}

fn join(network: &Network, to: usize, name: &str, seed: u64) -> Actor {
    let server = Network::address(to, LocalPort(0));
    let player = Player::new(server, Protocol::IOQ3_71, name, seed, network.now());
    Actor::Player(Box::new(player))
}

fn run(network: &mut Network, actors: &mut [Actor], seconds: u64) {
    let end = network.now() + Millis::seconds(seconds);
    network.run_until(actors, end, |_, _| {});
}

fn console(network: &Network, actors: &mut [Actor], line: &str) -> String {
    actors[1].handle_input(network.now(), Input::ConsoleLine(line));
    take_text(&mut actors[1], OutputKind::Console)
}

fn say(network: &Network, actors: &mut [Actor], node: usize, text: &str) {
    let now = network.now();
    assert!(actors[node].player().unwrap().send_command(now, &format!("say {text}")));
}

#[test]
fn relay_bans_and_mutes_viewers() {
    let state = Rc::new(MemoryState::default());
    let (mut network, mut actors) = relayed(&state);
    let heard = |actors: &mut [Actor], node: usize| {
        std::mem::take(&mut actors[node].player().unwrap().heard).join("")
    };
    console(&network, &mut actors, "mute name lou 1h noise");
    say(&network, &mut actors, 3, "hello from lou");
    say(&network, &mut actors, 4, "hello from max");
    run(&mut network, &mut actors, 1);
    let text = heard(&mut actors, 3);
    assert!(text.contains("You are muted. Reason: noise. Time left: 1 h."), "{text}");
    assert!(text.contains("hello from max") && !text.contains("hello from lou"), "{text}");
    let shown = console(&network, &mut actors, "ban name max 30m \"bad words\"");
    assert!(
        shown.contains("Added ban: name max (id 2, 30 min left, by console): bad words"),
        "{shown}"
    );
    run(&mut network, &mut actors, 1);
    assert!(!actors[4].player().unwrap().is_active());
    actors.push(join(&network, 1, "max", 24));
    run(&mut network, &mut actors, 3);
    let refusal = actors[5].player().unwrap().refusal.clone().unwrap_or_default();
    let told = "You are banned from this server. Reason: bad words. Time left: 29 min.";
    assert!(refusal.contains(told), "{refusal}");
    assert!(state.file("bans.jsonl").contains("bad words"));
    assert!(console(&network, &mut actors, "listbans").contains("Mute #1: name lou"));
    assert!(console(&network, &mut actors, "ban nobody").contains("no viewer nobody"));
    assert!(actors[3].player().unwrap().is_active());
}

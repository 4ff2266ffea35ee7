//! Reconnects and joins over impaired networks: no interference of an earlier connection, no lost text.

use fragd::{
    client::{ConnectionState, Protocol},
    impairment::Impairment,
    model::Millis,
    node::LocalPort,
    sim::{Actor, Network, Player},
};

use crate::sim_fixture::{SERVER, SimFixture};

const GOOD: Impairment = Impairment::latency(Millis(20));

/// The player of an earlier connection joins again: its qport is the same.
fn join(sim: &mut SimFixture, node: usize, wire: &'static Protocol) {
    let server = Network::address(SERVER, LocalPort(0));
    let player = Player::new(server, wire, "again", 77, sim.network.now());
    let actor = Actor::Player(Box::new(player));
    if node < sim.actors.len() { sim.actors[node] = actor } else { sim.actors.push(actor) }
}

/// Lets time pass until the server has accepted the player.
fn connect(sim: &mut SimFixture, node: usize) {
    for _ in 0..1000 {
        sim.run_for(Millis(1));
        if sim.player(node).client().state() == ConnectionState::Connected {
            return;
        }
    }
    panic!("not accepted within a second");
}

#[test]
fn reconnecting_client_gets_another_challenge() {
    for wire in Protocol::CURRENT {
        for leaves in [false, true] {
            let mut sim = SimFixture::new(1, &[]);
            join(&mut sim, 1, wire);
            sim.run_for(Millis::seconds(4));
            let before = sim.player(1).client().challenge();
            assert!(sim.player(1).is_active() && before.is_some());
            if leaves {
                let now = sim.network.now();
                sim.player(1).leave(now);
                sim.run_for(Millis(2500));
                assert_eq!(sim.server().used_slots(), 0);
            }
            join(&mut sim, 1, wire);
            sim.run_for(Millis::seconds(2));
            assert!(sim.player(1).is_active(), "{wire:?}");
            assert_ne!(sim.player(1).client().challenge(), before, "{wire:?}, leaves: {leaves}");
            assert_eq!(sim.server().used_slots(), 1);
            sim.check_no_faults();
        }
    }
}

#[test]
fn chat_survives_gamestate_resend() {
    for wire in Protocol::CURRENT {
        let mut sim = SimFixture::new(2, &[]);
        join(&mut sim, 1, wire);
        connect(&mut sim, 1);
        // The first packet is on its way, and the gamestate that answers it is lost.
        sim.network.set_impairment(Impairment { loss: 1000, ..GOOD });
        sim.run_for(Millis::seconds(3));
        sim.network.set_impairment(GOOD);
        for line in 0..60 {
            sim.console(&format!("say line {line}"));
            sim.run_for(Millis(50));
        }
        sim.run_for(Millis::seconds(2));
        let player = sim.player(1);
        assert!(player.is_active());
        assert_eq!(player.levels, 1);
        let number = |text: &String| {
            let rest = &text[text.find("line ")? + 5..];
            rest.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok()
        };
        let heard: Vec<_> = player.heard.iter().filter_map(number).collect();
        assert_eq!(heard, (0..60).collect::<Vec<_>>(), "{wire:?}");
        sim.check_no_faults();
    }
}

#[test]
fn chat_of_ended_level_is_not_sent_later() {
    let mut sim = SimFixture::new(4, &[]);
    join(&mut sim, 1, Protocol::IOQ3_71);
    connect(&mut sim, 1);
    sim.network.set_impairment(Impairment { loss: 1000, ..GOOD });
    sim.run_for(Millis(300));
    // It waits for the next message, a second after the last one. Then a level begins, and what is said
    // before its gamestate is told to none that waits for it.
    sim.console("say line 1");
    sim.console("map_restart 0");
    sim.run_for(Millis(200));
    sim.console("say line 2");
    sim.network.set_impairment(GOOD);
    sim.run_for(Millis::seconds(3));
    assert!(sim.player(1).is_active());
    sim.console("say line 3");
    sim.run_for(Millis::seconds(1));
    let heard: Vec<_> =
        sim.player(1).heard.iter().filter(|text| text.contains("line ")).cloned().collect();
    assert!(heard.len() == 1 && heard[0].contains("line 3"), "{heard:?}");
}

/// The server keeps a silent slot of the same host and qport, and has dropped the new client.
#[test]
fn rejoining_client_replaces_or_outlives_its_zombie() {
    let mut sim = SimFixture::new(3, &[("sv_timeout", "30")]);
    let host = Network::address(1, LocalPort(0)).ip();
    join(&mut sim, 1, Protocol::IOQ3_71);
    sim.run_for(Millis::seconds(3));
    assert!(sim.player(1).is_active());
    let is_forgotten = |sim: &mut SimFixture| {
        let (server, players) = sim.actors.split_at_mut(1);
        players[0].player().unwrap().is_forgotten_by(server[0].server().unwrap(), host)
    };
    assert!(!is_forgotten(&mut sim), "in the game");

    join(&mut sim, 1, Protocol::IOQ3_71);
    sim.player(1).set_port(LocalPort(9));
    while sim.server().used_slots() < 2 {
        sim.run_for(Millis(1));
    }
    // The answer is on its way, and nothing else arrives.
    sim.network.set_impairment(Impairment { loss: 1000, ..GOOD });
    connect(&mut sim, 1);
    assert!(!is_forgotten(&mut sim), "connected");
    sim.run_for(Millis::seconds(7));
    assert_eq!(sim.server().used_slots(), 1, "the ghost");
    assert!(is_forgotten(&mut sim));
    sim.network.set_impairment(GOOD);
    sim.run_for(Millis::seconds(5));
    assert_eq!(sim.player(1).client().state(), ConnectionState::Connected, "nothing tells it");
}

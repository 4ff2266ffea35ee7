//! Clients that connect again or join over a bad network: nothing of an earlier connection disturbs the
//! new one, and nothing that was said is lost.

use fragd::{
    client::{ClientWire, Stage},
    impairment::Shape,
    model::Millis,
    node::LocalPort,
    sim::{Actor, Network, Player},
};

use crate::arena::{Arena, SERVER};

const GOOD: Shape = Shape::latency(Millis(20));

/// The player of an earlier connection joins again: its qport is the same.
fn join(arena: &mut Arena, node: usize, wire: ClientWire) {
    let server = Network::address(SERVER, LocalPort(0));
    let player = Player::new(server, wire, "again", 77, arena.network.now());
    let actor = Actor::Player(Box::new(player));
    if node < arena.actors.len() { arena.actors[node] = actor } else { arena.actors.push(actor) }
}

/// Lets time pass until the server has accepted the player.
fn connect(arena: &mut Arena, node: usize) {
    for _ in 0..1000 {
        arena.run_for(Millis(1));
        if arena.player(node).client().stage() == Stage::Connected {
            return;
        }
    }
    panic!("not accepted within a second");
}

#[test]
fn reconnecting_client_gets_another_challenge() {
    for wire in ClientWire::ALL {
        for leaves in [false, true] {
            let mut arena = Arena::new(1, &[]);
            join(&mut arena, 1, wire);
            arena.run_for(Millis::seconds(4));
            let before = arena.player(1).client().challenge();
            assert!(arena.player(1).is_active() && before.is_some());
            if leaves {
                let now = arena.network.now();
                arena.player(1).leave(now);
                arena.run_for(Millis(2500));
                assert_eq!(arena.server().used_slots(), 0);
            }
            join(&mut arena, 1, wire);
            arena.run_for(Millis::seconds(2));
            assert!(arena.player(1).is_active(), "{wire:?}");
            assert_ne!(arena.player(1).client().challenge(), before, "{wire:?}, leaves: {leaves}");
            assert_eq!(arena.server().used_slots(), 1);
            arena.check_no_faults();
        }
    }
}

#[test]
fn chat_survives_gamestate_resend() {
    for wire in ClientWire::ALL {
        let mut arena = Arena::new(2, &[]);
        join(&mut arena, 1, wire);
        connect(&mut arena, 1);
        // The first packet is on its way, and the gamestate that answers it is lost.
        arena.network.set_shape(Shape { loss: 1000, ..GOOD });
        arena.run_for(Millis::seconds(3));
        arena.network.set_shape(GOOD);
        for line in 0..60 {
            arena.console(&format!("say line {line}"));
            arena.run_for(Millis(50));
        }
        arena.run_for(Millis::seconds(2));
        let player = arena.player(1);
        assert!(player.is_active());
        assert_eq!(player.levels, 1);
        let number = |text: &String| {
            let rest = &text[text.find("line ")? + 5..];
            rest.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok()
        };
        let heard: Vec<_> = player.heard.iter().filter_map(number).collect();
        assert_eq!(heard, (0..60).collect::<Vec<_>>(), "{wire:?}");
        arena.check_no_faults();
    }
}

#[test]
fn chat_of_ended_level_is_not_sent_later() {
    let mut arena = Arena::new(4, &[]);
    join(&mut arena, 1, ClientWire::Native71);
    connect(&mut arena, 1);
    arena.network.set_shape(Shape { loss: 1000, ..GOOD });
    arena.run_for(Millis(300));
    // It waits for the next message, a second after the last one. Then a level begins, and what is said
    // before its gamestate is told to none that waits for it.
    arena.console("say line 1");
    arena.console("map_restart 0");
    arena.run_for(Millis(200));
    arena.console("say line 2");
    arena.network.set_shape(GOOD);
    arena.run_for(Millis::seconds(3));
    assert!(arena.player(1).is_active());
    arena.console("say line 3");
    arena.run_for(Millis::seconds(1));
    let heard: Vec<_> =
        arena.player(1).heard.iter().filter(|text| text.contains("line ")).cloned().collect();
    assert!(heard.len() == 1 && heard[0].contains("line 3"), "{heard:?}");
}

/// The server keeps a silent slot of the same host and qport, and has dropped the newcomer.
#[test]
fn rejoining_client_replaces_or_outlives_its_zombie() {
    let mut arena = Arena::new(3, &[("sv_timeout", "30")]);
    let host = Network::address(1, LocalPort(0)).ip();
    join(&mut arena, 1, ClientWire::Native71);
    arena.run_for(Millis::seconds(3));
    assert!(arena.player(1).is_active());
    let is_forgotten = |arena: &mut Arena| {
        let (server, players) = arena.actors.split_at_mut(1);
        players[0].player().unwrap().is_forgotten_by(server[0].server().unwrap(), host)
    };
    assert!(!is_forgotten(&mut arena), "in the game");

    join(&mut arena, 1, ClientWire::Native71);
    arena.player(1).set_port(LocalPort(9));
    while arena.server().used_slots() < 2 {
        arena.run_for(Millis(1));
    }
    // The answer is on its way, and nothing else arrives.
    arena.network.set_shape(Shape { loss: 1000, ..GOOD });
    connect(&mut arena, 1);
    assert!(!is_forgotten(&mut arena), "connected");
    arena.run_for(Millis::seconds(7));
    assert_eq!(arena.server().used_slots(), 1, "the ghost");
    assert!(is_forgotten(&mut arena));
    arena.network.set_shape(GOOD);
    arena.run_for(Millis::seconds(5));
    assert_eq!(arena.player(1).client().stage(), Stage::Connected, "nothing tells it");
}

//! Server and clients over a virtual network: what holds whatever the network does.

use fragd::{client::ClientWire, impairment::Shape, model::Millis};

use crate::arena::Arena;

const BAD: Shape =
    Shape { jitter: Millis(60), loss: 80, duplication: 50, ..Shape::latency(Millis(30)) };

fn wires() -> impl Iterator<Item = ClientWire> {
    ClientWire::ALL.into_iter().cycle()
}

#[test]
fn three_protocols_share_one_server() {
    let mut arena = Arena::new(1, &[]);
    for (i, wire) in ClientWire::ALL.into_iter().enumerate() {
        arena.join(wire, &format!("player{i}"));
    }
    arena.run_for(Millis::seconds(10));
    assert!(arena.players().all(|player| player.is_active()));
    assert!(arena.compared > 3 * 9 * 20 - 60, "{} snapshots", arena.compared);
    for player in arena.players() {
        assert_eq!(player.client().entities().count(), 2, "each sees the two others");
        let statistics = player.client().statistics();
        assert_eq!(statistics.lost_messages, 0);
        assert!(statistics.delta_snapshots * 100 > statistics.snapshots * 95);
    }
    arena.check_no_faults();
}

#[test]
fn impaired_network_keeps_views_equal_and_commands_ordered() {
    for seed in 1..=6 {
        let mut arena = Arena::new(seed, &[("sv_floodProtect", "0"), ("sv_lanForceRate", "0")]);
        arena.network.set_shape(BAD);
        let nodes: Vec<_> = wires()
            .take(6)
            .enumerate()
            .map(|(i, wire)| arena.join(wire, &format!("p{i}")))
            .collect();
        arena.run_for(Millis::seconds(20));
        assert!(arena.players().all(|player| player.is_active()), "seed {seed}");
        arena.players().for_each(|player| player.heard.clear());

        for round in 0..100 {
            let now = arena.network.now();
            for (i, &node) in nodes.iter().enumerate() {
                assert!(
                    arena.player(node).type_command(now, &format!("say from {i} line {round}"))
                );
            }
            arena.console(&format!("say round {round}"));
            arena.run_for(Millis(200));
        }
        // The faults heal and everything that was said arrives.
        arena.network.set_shape(Shape::latency(Millis(20)));
        arena.run_for(Millis::seconds(3));
        assert!(arena.compared > 6 * 20 * 10, "seed {seed}: {} snapshots", arena.compared);
        for player in arena.players() {
            let said = |what: &str| {
                let lines = player.heard.iter().filter(|line| line.contains(what));
                lines.map(|line| number_behind(line, what)).collect::<Vec<_>>()
            };
            let all: Vec<_> = (0..100).collect();
            assert_eq!(said("console: round "), all, "seed {seed}");
            for i in 0..6 {
                assert_eq!(said(&format!("from {i} line ")), all, "seed {seed}");
            }
        }
        arena.check_no_faults();
    }
}

fn number_behind(line: &str, what: &str) -> u32 {
    let rest = &line[line.find(what).unwrap() + what.len()..];
    rest.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

#[test]
fn sixty_clients_join_within_a_second() {
    let mut arena = Arena::new(9, &[]);
    for (i, wire) in wires().take(60).enumerate() {
        arena.join(wire, &format!("player{i}"));
        arena.run_for(Millis(16));
    }
    arena.run_for(Millis::seconds(8));
    let active = arena.players().filter(|player| player.is_active()).count();
    assert_eq!(active, 60);
    assert_eq!(arena.server().active_clients(), 60);
    for player in arena.players() {
        assert!(player.ending().is_none());
        assert_eq!(player.client().entities().count(), 59);
    }
    arena.check_no_faults();
}

#[test]
fn sixty_clients_leave_at_once_without_affecting_others() {
    let mut arena = Arena::new(10, &[("sv_timeout", "5")]);
    let leavers: Vec<_> =
        wires().take(56).enumerate().map(|(i, wire)| arena.join(wire, &format!("g{i}"))).collect();
    let stayers: Vec<_> =
        wires().take(4).enumerate().map(|(i, wire)| arena.join(wire, &format!("s{i}"))).collect();
    arena.run_for(Millis::seconds(8));
    // They fall silent: taken off the network, not asked to leave.
    assert_eq!(leavers.len(), 56);
    let silent = arena.actors.drain(1..=56).collect::<Vec<_>>();
    // The places of those who stay moved, and with them their addresses: put strangers in between.
    for (i, _) in silent.iter().enumerate() {
        arena.actors.insert(1 + i, fragd::sim::Actor::Server(Box::new(crate::arena::server(&[]))));
    }
    arena.run_for(Millis::seconds(9));
    assert_eq!(arena.server().active_clients(), 4);
    for node in stayers {
        let player = arena.player(node);
        assert!(player.is_active(), "{:?}", player.ending());
        let farewells = player.heard.iter().filter(|line| line.contains("timed out")).count();
        assert!(farewells > 0);
    }
    arena.check_no_faults();
}

#[test]
fn map_changes_and_restarts_keep_all_clients() {
    for seed in [3, 4] {
        let mut arena = Arena::new(seed, &[]);
        arena.network.set_shape(BAD);
        for (i, wire) in wires().take(5).enumerate() {
            arena.join(wire, &format!("p{i}"));
        }
        arena.run_for(Millis::seconds(15));
        for (line, map) in [
            ("map_restart 0", "oa_dm1"),
            ("map oa_dm3", "oa_dm3"),
            ("map_restart 0", "oa_dm3"),
            ("map oa_dm4;map_restart 0", "oa_dm4"),
            ("map oa_dm5;map oa_dm6", "oa_dm6"),
        ] {
            arena.console(line);
            arena.run_for(Millis::seconds(12));
            for player in arena.players() {
                assert!(player.is_active(), "seed {seed}: {line}: {:?}", player.client().stage());
                let info = player.client().configstring(fragd::model::ConfigIndex::SERVERINFO);
                assert!(info.contains(&format!("\\mapname\\{map}")), "{line}: {info}");
            }
        }
        arena.check_no_faults();
    }
}

#[test]
fn same_seed_gives_identical_run() {
    let run = |seed| {
        let mut arena = Arena::new(seed, &[]);
        arena.network.set_shape(BAD);
        for (i, wire) in wires().take(4).enumerate() {
            arena.join(wire, &format!("p{i}"));
        }
        arena.run_for(Millis::seconds(10));
        let origins: Vec<_> =
            arena.players().map(|p| p.client().player().map(|p| p.origin)).collect();
        (arena.network.sent(), arena.compared, origins)
    };
    assert_eq!(run(21), run(21));
    assert_ne!(run(21), run(22));
}

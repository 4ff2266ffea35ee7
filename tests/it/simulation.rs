//! Server and clients over a virtual network, under any impairment.

use fragd::{client::Protocol, impairment::Impairment, model::Millis};

use crate::sim_fixture::SimFixture;

const BAD: Impairment =
    Impairment { jitter: Millis(60), loss: 80, duplication: 50, ..Impairment::latency(Millis(30)) };

fn wires() -> impl Iterator<Item = &'static Protocol> {
    Protocol::CURRENT.into_iter().cycle()
}

#[test]
fn three_protocols_share_one_server() {
    let mut sim = SimFixture::new(1, &[]);
    for (i, wire) in Protocol::CURRENT.into_iter().enumerate() {
        sim.join(wire, &format!("player{i}"));
    }
    sim.run_for(Millis::seconds(10));
    assert!(sim.players().all(|player| player.is_active()));
    assert!(sim.compared > 3 * 9 * 20 - 60, "{} snapshots", sim.compared);
    for player in sim.players() {
        assert_eq!(player.client().entities().count(), 2, "each sees the two others");
        let statistics = player.client().statistics();
        assert_eq!(statistics.lost_messages, 0);
        assert!(statistics.delta_snapshots * 100 > statistics.snapshots * 95);
    }
    sim.check_no_faults();
}

#[test]
fn impaired_network_keeps_views_equal_and_commands_ordered() {
    for seed in 1..=6 {
        let mut sim = SimFixture::new(seed, &[("sv_floodProtect", "0"), ("sv_lanForceRate", "0")]);
        sim.network.set_impairment(BAD);
        let nodes: Vec<_> =
            wires().take(6).enumerate().map(|(i, wire)| sim.join(wire, &format!("p{i}"))).collect();
        sim.run_for(Millis::seconds(20));
        assert!(sim.players().all(|player| player.is_active()), "seed {seed}");
        sim.players().for_each(|player| player.heard.clear());

        for round in 0..100 {
            let now = sim.network.now();
            for (i, &node) in nodes.iter().enumerate() {
                assert!(sim.player(node).send_command(now, &format!("say from {i} line {round}")));
            }
            sim.console(&format!("say round {round}"));
            sim.run_for(Millis(200));
        }
        // The faults heal and everything that was said arrives.
        sim.network.set_impairment(Impairment::latency(Millis(20)));
        sim.run_for(Millis::seconds(3));
        assert!(sim.compared > 6 * 20 * 10, "seed {seed}: {} snapshots", sim.compared);
        for player in sim.players() {
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
        sim.check_no_faults();
    }
}

fn number_behind(line: &str, what: &str) -> u32 {
    let rest = &line[line.find(what).unwrap() + what.len()..];
    rest.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

#[test]
fn sixty_clients_join_within_a_second() {
    let mut sim = SimFixture::new(9, &[]);
    for (i, wire) in wires().take(60).enumerate() {
        sim.join(wire, &format!("player{i}"));
        sim.run_for(Millis(16));
    }
    sim.run_for(Millis::seconds(8));
    let active = sim.players().filter(|player| player.is_active()).count();
    assert_eq!(active, 60);
    assert_eq!(sim.server().active_clients(), 60);
    for player in sim.players() {
        assert!(player.disconnect_reason().is_none());
        assert_eq!(player.client().entities().count(), 59);
    }
    sim.check_no_faults();
}

#[test]
fn sixty_clients_leave_at_once_without_affecting_others() {
    let mut sim = SimFixture::new(10, &[("sv_timeout", "5")]);
    let leavers: Vec<_> =
        wires().take(56).enumerate().map(|(i, wire)| sim.join(wire, &format!("g{i}"))).collect();
    let stayers: Vec<_> =
        wires().take(4).enumerate().map(|(i, wire)| sim.join(wire, &format!("s{i}"))).collect();
    sim.run_for(Millis::seconds(8));
    // They fall silent: taken off the network, not asked to leave.
    assert_eq!(leavers.len(), 56);
    let silent = sim.actors.drain(1..=56).collect::<Vec<_>>();
    // The nodes of remaining clients moved, and with them their addresses: insert unrelated nodes
    // between them.
    for (i, _) in silent.iter().enumerate() {
        sim.actors
            .insert(1 + i, fragd::sim::Actor::Server(Box::new(crate::sim_fixture::server(&[]))));
    }
    sim.run_for(Millis::seconds(9));
    assert_eq!(sim.server().active_clients(), 4);
    for node in stayers {
        let player = sim.player(node);
        assert!(player.is_active(), "{:?}", player.disconnect_reason());
        let farewells = player.heard.iter().filter(|line| line.contains("timed out")).count();
        assert!(farewells > 0);
    }
    sim.check_no_faults();
}

#[test]
fn map_changes_and_restarts_keep_all_clients() {
    for seed in [3, 4] {
        let mut sim = SimFixture::new(seed, &[]);
        sim.network.set_impairment(BAD);
        for (i, wire) in wires().take(5).enumerate() {
            sim.join(wire, &format!("p{i}"));
        }
        sim.run_for(Millis::seconds(15));
        for (line, map) in [
            ("map_restart 0", "oa_dm1"),
            ("map oa_dm3", "oa_dm3"),
            ("map_restart 0", "oa_dm3"),
            ("map oa_dm4;map_restart 0", "oa_dm4"),
            ("map oa_dm5;map oa_dm6", "oa_dm6"),
        ] {
            sim.console(line);
            sim.run_for(Millis::seconds(12));
            for player in sim.players() {
                assert!(player.is_active(), "seed {seed}: {line}: {:?}", player.client().state());
                let info = player.client().configstring(fragd::model::ConfigIndex::SERVERINFO);
                assert!(info.contains(&format!("\\mapname\\{map}")), "{line}: {info}");
            }
        }
        sim.check_no_faults();
    }
}

#[test]
fn same_seed_gives_identical_run() {
    let run = |seed| {
        let mut sim = SimFixture::new(seed, &[]);
        sim.network.set_impairment(BAD);
        for (i, wire) in wires().take(4).enumerate() {
            sim.join(wire, &format!("p{i}"));
        }
        sim.run_for(Millis::seconds(10));
        let origins: Vec<_> =
            sim.players().map(|p| p.client().player().map(|p| p.origin)).collect();
        (sim.network.sent(), sim.compared, origins)
    };
    assert_eq!(run(21), run(21));
    assert_ne!(run(21), run(22));
}

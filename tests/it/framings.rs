//! Clients with one framing or scrambling of their number, at servers with the other.

use fragd::{
    bots::{Bots, BotsOptions, Summary, Verdict},
    client::{ConnectionState, Protocol},
    model::Millis,
    node::LocalPort,
    sim::{Actor, Network},
};

use crate::sim_fixture::{SERVER, SimFixture};

const FRAMINGS: [&Protocol; 2] = [Protocol::OA_71, Protocol::IOQ3_71];

#[test]
fn client_of_other_framing_is_told_and_leaves() {
    for server in FRAMINGS {
        for wire in FRAMINGS {
            let mut sim = SimFixture::new(3, &[("sv_wire71", server.name)]);
            let node = sim.join(wire, "kim");
            sim.run_for(Millis(4500));
            let refusal = sim.player(node).refusal.clone();
            if wire == server {
                assert_eq!(refusal, None);
                assert!(sim.player(node).is_active());
                continue;
            }
            let expected =
                format!("Server uses protocol version 71 in its form {server} (yours is {wire}).");
            assert_eq!(refusal, Some(expected));
            let state = sim.player(node).client().state();
            assert_eq!(state, ConnectionState::Connecting, "it tries again");
            assert_eq!(sim.server().active_clients(), 0);
        }
    }
}

#[test]
fn bots_of_other_framing_are_refused_with_remedy() {
    for (server, wire) in [(FRAMINGS[0], FRAMINGS[1]), (FRAMINGS[1], FRAMINGS[0])] {
        let mut sim = SimFixture::new(5, &[("sv_wire71", server.name)]);
        let address = Network::address(SERVER, LocalPort(0));
        let options = BotsOptions::new(address, wire, 2, Millis::seconds(5));
        let bots = Bots::new(options, sim.network.now());
        sim.actors.push(Actor::Bots(Box::new(bots)));
        sim.run_for(Millis::seconds(20));
        let Some(Actor::Bots(bots)) = sim.actors.pop() else { unreachable!() };
        let summary = bots.summary();
        assert_eq!(summary.verdict, Verdict::Refused, "{summary}");
        let told = format!("in its form {server} (yours is {wire}); set --protocol auto,");
        assert!(summary.sentence.contains(&told), "{}", summary.sentence);
    }
}

/// Result of two bots of a wire at a server of the base game with these settings.
fn bots_at(wire: &'static Protocol, settings: &[(&str, &str)]) -> Summary {
    let mut sim = SimFixture::new(5, settings);
    let address = Network::address(SERVER, LocalPort(0));
    let options = BotsOptions::new(address, wire, 2, Millis::seconds(8));
    sim.actors.push(Actor::Bots(Box::new(Bots::new(options, sim.network.now()))));
    sim.run_for(Millis::seconds(20));
    let Some(Actor::Bots(bots)) = sim.actors.pop() else { unreachable!() };
    bots.summary()
}

#[test]
fn bots_without_scrambling_are_refused_or_found_out() {
    let wires =
        [(Protocol::Q3_66_CLEAR, "sv_protocol66"), (Protocol::Q3_67_CLEAR, "sv_protocol67")];
    for (wire, setting) in wires {
        let refused = bots_at(wire, &[(setting, "xor")]);
        assert_eq!(refused.verdict, Verdict::Refused, "{refused}");
        let number = wire.number;
        let told = format!("in its form {number} (yours is {wire}); set --protocol auto,");
        assert!(refused.sentence.contains(&told), "{}", refused.sentence);
        let found = bots_at(wire, &[(setting, "auto")]);
        assert_eq!(found.total.active, 2, "the second attempt is let in: {found}");
    }
}

#[test]
fn bots_of_other_number_are_refused_with_remedy() {
    let mut sim = SimFixture::new(5, &[("com_legacyprotocol", "0")]);
    let address = Network::address(SERVER, LocalPort(0));
    let options = BotsOptions::new(address, Protocol::Q3_68, 2, Millis::seconds(5));
    sim.actors.push(Actor::Bots(Box::new(Bots::new(options, sim.network.now()))));
    sim.run_for(Millis::seconds(20));
    let Some(Actor::Bots(bots)) = sim.actors.pop() else { unreachable!() };
    let summary = bots.summary();
    assert_eq!(summary.verdict, Verdict::Refused, "{summary}");
    let told = "Server uses protocol version 71 (yours is 68); set --protocol auto,";
    assert!(summary.sentence.contains(told), "{}", summary.sentence);
}

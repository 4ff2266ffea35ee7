//! Overload from many addresses beside players in the game.

use std::net::SocketAddr;

use fragd::{
    client::Protocol,
    node::{Hosted as _, Input, LoopCounters, OutputKind, take_text},
    observe::{Counter, exposition},
};

use super::{AttackFixture, SEED, anyone, oob, raw_client::RawClient, work::units};
use crate::costly_connects::many_pairs;
use crate::sim_fixture::{SERVER, SimFixture};

/// Every kind of datagram from unknown addresses.
fn requests() -> [Vec<u8>; 5] {
    let [info, status] =
        ["getinfo", "getstatus"].map(|text| oob([text, " ", &"A".repeat(128)].concat()));
    [info, status, oob("getchallenge 5"), many_pairs(), oob("rcon x y")]
}

#[test]
fn eight_players_are_unaffected_by_distributed_flood() {
    let mut sim = SimFixture::new(SEED, &[]);
    for (i, wire) in Protocol::CURRENT.iter().cycle().take(5).enumerate() {
        sim.join(wire, &format!("p{i}"));
    }
    let mut fixture = AttackFixture::around(sim);
    assert_eq!(fixture.server().active_clients(), 8);
    let requests = requests();
    for frame in 0..60u32 {
        // Six thousand in a frame of 50 ms: 120 000 datagrams a second, beside those of the players.
        for i in 0..6000 {
            let n = frame * 6000 + i;
            fixture.send(anyone(n), &requests[n as usize % requests.len()]);
        }
        fixture.run_for(50);
    }
    let [queries, newcomers, players] =
        [Counter::QueriesShed, Counter::ConnectsShed, Counter::SequencedShed]
            .map(|counter| fixture.count(counter));
    assert!(queries > 60 * 1000, "{queries} queries");
    assert!(newcomers > 60 * 1000, "{newcomers} newcomers");
    assert_eq!(players, 0, "nothing of the players");
    // The costly ones of them: by the work of decoding, not by their number.
    let decoded = fixture.count(Counter::ConnectsRefused);
    assert!(
        (60..=61 * 50 * 40 / units(&many_pairs())).contains(&decoded),
        "{decoded} connects are decoded"
    );
    assert!(fixture.count(Counter::FramesOverloaded) >= 59);
    assert_eq!(fixture.server().active_clients(), 8);
    fixture.check();
}

#[test]
fn shedding_drops_queries_then_connects_then_clients() {
    for mut fixture in AttackFixture::each(&[]) {
        let query = oob("getinfo xxx");
        // Enough to shed queries, not enough to shed connects.
        for i in 0..3000 {
            fixture.send(anyone(i), &query);
        }
        let late: SocketAddr = "198.51.100.1:5".parse().unwrap();
        assert!(fixture.send(late, &query).is_empty(), "a query is shed");
        let mut attacker = RawClient::knock(&mut fixture, late, 9).expect("a newcomer is let in");
        assert_eq!(fixture.count(Counter::ConnectsShed), 0);
        // Enough to shed connects, not enough to shed clients.
        let challenge = oob("getchallenge");
        for i in 0..4000 {
            fixture.send(anyone(i), &challenge);
        }
        assert!(fixture.send(late, &challenge).is_empty(), "a newcomer is shed");
        assert!(fixture.count(Counter::ConnectsShed) > 0);
        attacker.idle(&mut fixture);
        assert_eq!(fixture.count(Counter::GamestatesSent), 4, "a player is heard");
        assert_eq!(fixture.count(Counter::SequencedShed), 0);
        // In the next frame all classes are served again.
        fixture.run_for(50);
        assert_eq!(fixture.send(late, &challenge).len(), 1);
        fixture.check();
    }
}

#[test]
fn counter_table_joins_server_loop_and_kernel() {
    let mut fixture = AttackFixture::new(&[]);
    for i in 0..3000 {
        fixture.send(anyone(i), &oob("getinfo xxx"));
    }
    let counted = LoopCounters { received: 12_345, kernel: 678, ..LoopCounters::default() };
    let now = fixture.now();
    fixture.sim.actors[SERVER].handle_input(now, Input::LoopCounters(&counted));
    while fixture.sim.actors[SERVER].poll_output(OutputKind::Console).is_some() {}
    fixture.sim.console("counters");
    let shown = take_text(&mut fixture.sim.actors[SERVER], OutputKind::Console);
    let monitored = exposition(fixture.server().samples().collect());
    let shed = fixture.count(Counter::QueriesShed).to_string();
    for (name, value, everywhere) in [
        ("q3_shed_total{kind=\"query\"}", shed.as_str(), true),
        ("udp_datagrams_total{dir=\"in\"}", "12345", true),
        ("udp_dropped_total{reason=\"kernel\"}", "678", cfg!(target_os = "linux")),
        ("q3_clients", "3", true),
    ] {
        for text in [&shown, &monitored] {
            let found = text.lines().find_map(|line| {
                line.strip_prefix(name)?.strip_prefix(char::is_whitespace).map(str::trim)
            });
            assert_eq!(found, everywhere.then_some(value), "{name}: {text}");
        }
    }
    fixture.check();
}

#[test]
fn sequenced_flood_does_not_delay_frames() {
    for mut fixture in AttackFixture::each(&[]) {
        for frame in 0..40u32 {
            for i in 0..20_000u32 {
                let stray = [&i.to_le_bytes()[..], &[7, 0], &[0xaa; 30]].concat();
                fixture.send(anyone(frame * 20_000 + i), &stray);
            }
            fixture.run_for(50);
        }
        assert!(fixture.count(Counter::SequencedShed) > 0);
        fixture.check();
    }
}

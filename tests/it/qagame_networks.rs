//! Players of a game module over bad networks, in virtual time.
//!
//! No client is dropped, the module does not fault, and snapshots continue.

use fragd::{
    client::Protocol,
    impairment::Impairment,
    model::{Millis, assets::MemoryAssets},
    observe::Counter,
    sim::Actor,
    testing::{module_drills, real_modules::real_module_folder},
};

use crate::{
    qagame::{ENGINES, assets, server_set},
    sim_fixture::SimFixture,
};

const PLAYERS: usize = 64;

/// Networks: name, impairment of both directions.
const NETWORKS: [(&str, Impairment); 3] = [
    ("loss", Impairment { loss: 100, ..latency(40) }),
    ("jitter", Impairment { jitter: Millis(120), duplication: 20, ..latency(60) }),
    ("mobile", Impairment { jitter: Millis(60), loss: 50, reordering: 20, ..latency(90) }),
];

const fn latency(ms: u64) -> Impairment {
    Impairment {
        latency: Millis(ms),
        jitter: Millis(0),
        loss: 0,
        duplication: 0,
        reordering: 0,
        corruption: 0,
        truncation: 0,
        rate_bytes_per_sec: 0,
    }
}

/// Least share of snapshots that arrive over each network, in percent. The simulated network reorders fragments, and a
/// message with a late fragment is lost. Messages of a real module have several, so that jitter may lose them all.
const SHARES: [u64; 3] = [70, 60, 60];
const FRAGMENTED_SHARES: [u64; 3] = [40, 0, 0];
/// Least share of snapshots over a good network afterwards, in percent.
const RECOVERED_SHARE: u64 = 60;

/// Runs players of all protocols on a module, over each network for a while.
fn play(name: &str, engine: &str, files: MemoryAssets, span: Millis, shares: [u64; 3]) {
    let set = [("sv_maxclients", "64"), ("sv_floodProtect", "0")];
    let server = server_set(engine, files, &set);
    let mut sim = SimFixture::around(11, Actor::Server(Box::new(server)));
    for (number, protocol) in (0..PLAYERS).zip(Protocol::CURRENT.iter().cycle()) {
        let node = sim.join(protocol, &format!("p{number}"));
        sim.player(node).use_random_input(number as u64);
    }
    sim.run_for(Millis::seconds(8));
    assert_eq!(sim.server().active_clients(), PLAYERS, "{name} {engine}: all are in the game");
    let good = (("good", latency(20)), RECOVERED_SHARE);
    for ((network, impairment), share) in NETWORKS.into_iter().zip(shares).chain([good]) {
        let what = format!("{name} {engine}, {network}");
        sim.network.set_impairment(impairment);
        let received = |sim: &mut SimFixture| -> Vec<u64> {
            sim.players().map(|player| player.client().statistics().snapshots).collect()
        };
        let before = received(&mut sim);
        sim.run_for(span);
        let after = received(&mut sim);
        let counters = sim.server().counters();
        assert_eq!(counters.get(Counter::GameFaults), 0, "{what}");
        assert_eq!(counters.get(Counter::ClientsDropped), 0, "{what}");
        assert_eq!(sim.server().active_clients(), PLAYERS, "{what}");
        let least = span.0 / 50 * share / 100;
        for (number, (before, after)) in before.iter().zip(after).enumerate() {
            let count = after - before;
            assert!(count >= least, "{what}: player {number} got {count} of {least} snapshots");
        }
        sim.check_no_faults();
    }
    assert!(sim.compared > 10_000, "{name} {engine}: {} snapshots compared", sim.compared);
}

#[test]
fn small_module_serves_players_over_bad_networks() {
    for engine in ENGINES {
        let files = module_drills::assets(&module_drills::assembly());
        play("drills", engine, files, Millis::seconds(10), SHARES);
    }
}

/// Real modules are not part of the package: `FRAGD_MODULES` names the folder that holds them.
#[test]
#[ignore = "needs FRAGD_MODULES, a folder with game modules"]
fn real_modules_serve_players_over_bad_networks() {
    let folder = real_module_folder();
    for name in ["baseq3", "baseoa"] {
        let path = folder.join(name).join("qagame.qvm");
        let module = std::fs::read(path).expect("a module");
        for engine in ENGINES {
            let files = assets(module.clone(), Vec::new());
            play(name, engine, files, Millis::seconds(5), FRAGMENTED_SHARES);
        }
    }
}

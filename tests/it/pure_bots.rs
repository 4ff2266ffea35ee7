//! Bots and a relay on pure servers, over simulated networks.

use std::sync::Arc;

use fragd::{
    bots::{Behavior, Behaviors, BotOutcome, Bots, BotsOptions, Summary, Verdict},
    client::ProtocolChoice,
    impairment::Impairment,
    model::{
        Millis,
        assets::{Assets as _, MemoryAssets},
        installed_packs::{InstalledPack, InstalledPacks, PackTable},
    },
    node::{Hosted as _, Input, LocalPort, Node as _},
    relay::{Broadcast, BroadcastOptions, ServerSource, ServerSourceOptions},
    sim::{Actor, Network},
};

use crate::{
    sample_maps::{TestMap, YARD},
    sim_fixture::{SERVER, SimFixture, server_with},
};

/// Installed archives of one folder.
#[derive(Debug)]
pub(crate) struct MemoryPacks(Arc<PackTable>);

impl InstalledPacks for MemoryPacks {
    fn tables(&self, _: &str) -> Vec<Arc<PackTable>> {
        vec![self.0.clone()]
    }

    fn searched(&self) -> String {
        "searched memory".to_owned()
    }
}

/// The archives of these names, as a client has them. Those named `modules` hold both modules.
pub(crate) fn packs(assets: &MemoryAssets, names: &[&str]) -> Arc<dyn InstalledPacks> {
    let listed = assets.packs();
    let known = listed.iter().map(|pack| &pack.info);
    let packs = known.filter(|info| names.contains(&info.name.as_str())).map(|info| {
        InstalledPack { info: info.clone(), holds: [info.name.starts_with("modules"); 2] }
    });
    Arc::new(MemoryPacks(Arc::new(PackTable::new(packs.collect()))))
}

/// Data of a server: newer modules before older ones, and maps.
fn assets() -> MemoryAssets {
    let mut assets = MemoryAssets::default();
    let map = TestMap::test_yard(YARD).file();
    let old: [(&str, &[u8]); 2] = [("vm/cgame.qvm", b"old c"), ("vm/ui.qvm", b"old u")];
    let new: [(&str, &[u8]); 2] = [("vm/cgame.qvm", b"c"), ("vm/ui.qvm", b"u")];
    let maps: [(&str, &[u8]); 2] = [("maps/yard.bsp", &map), ("maps/court.bsp", &map)];
    assets.insert_pack("baseoa", "modules_old", b"0", &old).unwrap();
    assets.insert_pack("baseoa", "modules", b"1", &new).unwrap();
    assets.insert_pack("baseoa", "maps", b"2", &maps).unwrap();
    assets
}

/// A pure server with `count` bots, which have the archives of these names.
fn fixture(seed: u64, count: u16, names: &[&str]) -> SimFixture {
    let set =
        [("map", "yard"), ("sv_pure", "1"), ("sv_maxclients", "64"), ("sv_maxclientsPerIP", "0")];
    let server = server_with(Box::new(assets()), &set);
    let mut fixture = SimFixture::around(seed, Actor::Server(Box::new(server)));
    let address = Network::address(SERVER, LocalPort(0));
    let options = BotsOptions {
        seed,
        behavior: Behaviors::default().with(Behavior::Wander),
        packs: Some(packs(&assets(), names)),
        ..BotsOptions::new(address, ProtocolChoice::Auto, count, Millis::seconds(3600))
    };
    let bots = Bots::new(options, fixture.network.now());
    fixture.actors.push(Actor::Bots(Box::new(bots)));
    fixture
}

fn summary(fixture: &SimFixture) -> Summary {
    fixture.actors[1].bots().unwrap().summary()
}

/// Number of bots in the game, on both sides.
fn in_game(fixture: &SimFixture) -> (usize, usize) {
    let (bots, _) = fixture.actors[1].bots().unwrap().in_game_and_wanted();
    (bots, fixture.server().active_clients())
}

#[test]
fn bots_play_on_pure_server_through_map_changes() {
    let mut fixture = fixture(1, 8, &["modules", "maps"]);
    fixture.run_for(Millis::seconds(3));
    assert_eq!(fixture.server().settings().get("sv_pure"), Some("1"));
    assert_eq!(in_game(&fixture), (8, 8));
    for (line, pure) in [
        ("map court", "1"),
        ("map_restart 0", "1"),
        ("sv_pure 0", "0"),
        ("map yard", "0"),
        ("sv_pure 1", "1"),
        ("map court", "1"),
    ] {
        fixture.console(line);
        fixture.run_for(Millis::seconds(2));
        assert_eq!(in_game(&fixture), (8, 8), "{line}");
        assert_eq!(fixture.server().settings().get("sv_pure"), Some(pure), "{line}");
    }
    let summary = summary(&fixture);
    assert_eq!((summary.total.dropped, summary.total.protocol_errors), (0, 0));
    assert!(summary.each.iter().all(|bot| bot.lives == 1));
}

#[test]
fn proof_arrives_in_order_on_bad_networks() {
    for seed in 1..=4 {
        let mut fixture = fixture(seed, 8, &["modules"]);
        let bad = Impairment {
            loss: 100,
            jitter: Millis(30),
            reordering: 20,
            ..Impairment::latency(Millis(100))
        };
        fixture.network.set_impairment(bad);
        fixture.run_for(Millis::seconds(25));
        assert_eq!(in_game(&fixture), (8, 8), "seed {seed}");
        fixture.console("map court");
        fixture.run_for(Millis::seconds(15));
        assert_eq!(in_game(&fixture), (8, 8), "seed {seed}");
        assert_eq!(summary(&fixture).total.dropped, 0, "seed {seed}");
    }
}

#[test]
fn missing_archives_are_named_and_refuse_the_bots() {
    let mut fixture = fixture(2, 3, &["maps"]);
    fixture.run_for(Millis::seconds(2));
    assert!(fixture.actors[1].is_finished(), "nobody waits for archives");
    let summary = summary(&fixture);
    assert_eq!(summary.verdict, Verdict::Refused);
    let expected = "198.18.0.1:27960 refused all 3 bots: pure server (sv_pure 1): none of its pk3 files with \
                    vm/cgame.qvm is installed; not installed: modules.pk3; searched memory";
    assert_eq!(summary.sentence, expected);
    // They left by their own word, which frees the slots.
    fixture.console("status");
    fixture.run_for(Millis(100));
    let lines: String = std::iter::from_fn(|| fixture.server_output()).collect();
    assert!(!lines.contains("bot0"), "{lines}");
}

#[test]
fn rejected_proof_is_a_refusal_with_missing_archives() {
    let mut fixture = fixture(3, 3, &["modules_old"]);
    fixture.run_for(Millis::seconds(3));
    let summary = summary(&fixture);
    assert_eq!(summary.verdict, Verdict::Refused, "{}", summary.sentence);
    assert_eq!((summary.total.active, summary.total.refused, summary.total.dropped), (0, 3, 0));
    for part in
        ["vm/cgame.qvm must be that of baseoa/modules.pk3", "(not installed here: modules.pk3, "]
    {
        assert!(summary.sentence.contains(part), "{}", summary.sentence);
    }
}

#[test]
fn archives_missing_after_map_change_drop_the_bots() {
    let mut fixture = fixture(4, 2, &["maps"]);
    let Actor::Server(server) = &mut fixture.actors[SERVER] else { unreachable!() };
    server.handle_input(Millis(1000), Input::ConsoleLine("sv_pure 0"));
    server.handle_input(Millis(1000), Input::ConsoleLine("map yard"));
    fixture.run_for(Millis::seconds(3));
    assert_eq!(in_game(&fixture), (2, 2));
    fixture.console("sv_pure 1");
    fixture.console("map court");
    fixture.run_for(Millis::seconds(3));
    let summary = summary(&fixture);
    assert_eq!(summary.verdict, Verdict::Lost, "{}", summary.sentence);
    for bot in &summary.each {
        assert_eq!(bot.outcome, BotOutcome::Dropped);
        assert!(bot.reason.as_ref().unwrap().contains("none of its pk3 files"), "{bot:?}");
    }
}

/// A relay of the pure server, with the archives of these names.
fn relay(names: &[&str]) -> Actor {
    let source = ServerSource::new(ServerSourceOptions {
        server: Network::address(SERVER, LocalPort(0)),
        protocol: ProtocolChoice::Auto,
        name: "relay".to_owned(),
        password: None,
        cycle: None,
        seed: 5,
        packs: Some(packs(&assets(), names)),
    });
    let broadcast = Broadcast::new(Box::new(source), BroadcastOptions::default(), [3; 32]);
    Actor::Broadcast(Box::new(broadcast))
}

#[test]
fn relay_shows_pure_server() {
    let mut fixture = fixture(5, 2, &["modules"]);
    fixture.actors.push(relay(&["modules"]));
    fixture.run_for(Millis::seconds(3));
    let broadcast = fixture.actors[2].broadcast().unwrap();
    assert!(broadcast.counts().frames > 20, "{}", broadcast.counts().frames);
    assert_eq!(fixture.server().active_clients(), 3);
}

#[test]
fn relay_without_archives_ends_with_reason() {
    let mut fixture = fixture(6, 1, &["modules"]);
    fixture.actors.push(relay(&[]));
    fixture.run_for(Millis::seconds(2));
    assert!(fixture.actors[2].is_finished());
    let failure = fixture.actors[2].broadcast().unwrap().source().failure().unwrap();
    assert!(failure.starts_with("pure server (sv_pure 1): none of its pk3 files"), "{failure}");
    assert_eq!(fixture.server().active_clients(), 1, "the slot is free again");
}

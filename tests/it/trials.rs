//! Trials: server and clients under seeded faults, for a fixed set of seeds.
//!
//! `fragd sim` runs any seed. `FRAGD_SEED` selects one seed to reproduce a failure; `FRAGD_ENDURANCE` is the number of
//! hours of the longest trial.

use fragd::{
    model::{LevelTime, Millis, assets::MemoryAssets},
    node::Node as _,
    server::Server,
    settings::Settings,
    sim::{Actor, Fault, FaultCounts, SETTINGS, Trial, TrialOptions, TrialReport},
};

use crate::sample_maps::{TestMap, YARD};

/// A server of deathmatch in a few small rooms, or of free flight without a map.
fn server(set: &[(&str, &str)], has_map: bool) -> Server {
    let mut settings = Settings::default();
    for (name, value) in SETTINGS.iter().chain([&("map", "rooms")]).chain(set) {
        settings.set(name, value).unwrap();
    }
    let mut assets = MemoryAssets::default();
    if has_map {
        for name in ["maps/rooms.bsp", "maps/again.bsp"] {
            assets.insert(name, TestMap::test_yard(YARD).file()).unwrap();
        }
    }
    Server::builder(settings, [3; 32]).assets(assets).build()
}

fn run(seed: u64, players: u8, span: Millis, has_map: bool) -> TrialReport {
    // Shown when the test fails for any reason.
    println!("again: FRAGD_SEED={seed} cargo test --test it trials::all_holds");
    let maps = vec!["rooms".to_owned(), "again".to_owned()];
    let plan = TrialOptions { seed, span, players, calm: false, maps };
    let server = Actor::Server(Box::new(server(&[], has_map)));
    Trial::new(plan, server).run().unwrap_or_else(|failure| panic!("seed {seed}: {failure}"))
}

#[test]
fn checkers_pass_under_seeded_faults() {
    let one = std::env::var("FRAGD_SEED").ok().map(|seed| seed.parse().expect("a seed"));
    let seeds = one.map_or(1..=20, |seed| seed..=seed);
    let (mut joins, mut snapshots, mut forgotten, mut faults) = (0, 0, 0, FaultCounts::default());
    for seed in seeds {
        let figures = run(seed, 1 + (seed % 7) as u8, Millis::seconds(60), seed % 2 == 0);
        joins += figures.joins;
        snapshots += figures.snapshots;
        forgotten += figures.snapshots_forgotten;
        faults = faults.with(figures.faults);
        assert!(figures.longest_datagram <= 1400, "{figures:?}");
    }
    if one.is_none() {
        assert!(joins > 60 && snapshots > 20_000, "{joins} joins, {snapshots} snapshots");
        assert!(forgotten * 50 < snapshots, "{forgotten} snapshots of {snapshots} not compared");
        for &(fault, name) in Fault::ALL {
            assert!(faults.of(fault) >= 3, "{name}: {faults:?}");
        }
    }
}

#[test]
fn same_seed_gives_identical_transcript() {
    let run = |seed| run(seed, 5, Millis::seconds(40), true);
    let once = run(77);
    assert_eq!(once, run(77));
    assert_ne!(once.transcript, run(78).transcript);
}

/// The level clock has 31 bits. Before overflow the level restarts at zero: unnoticed on an empty
/// server, otherwise all clients rejoin.
#[test]
fn level_clock_wrap_restarts_level_with_all_clients() {
    let mut at_the_end = server(&[], true);
    at_the_end.start_clock_at(LevelTime(0x7000_0000 - 60_000));
    let maps = vec!["rooms".to_owned()];
    let plan = TrialOptions { seed: 5, span: Millis::seconds(60), players: 3, calm: true, maps };
    let mut trial = Trial::new(plan, Actor::Server(Box::new(at_the_end)));
    let figures = trial.run().unwrap_or_else(|failure| panic!("{failure}"));
    let time = trial.server().unwrap().level_time();
    assert!(time < LevelTime(600_000), "{time}");
    assert!(figures.joins >= 6, "{figures:?}");

    let mut empty = server(&[], true);
    empty.start_clock_at(LevelTime(0x4000_0000 - 1000));
    for ms in (0..3000).step_by(50) {
        empty.frame(Millis(ms));
    }
    assert!(empty.level_time() < LevelTime(3000), "{}", empty.level_time());
}

/// Resident memory of this process in KiB, where the system tells.
fn memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
#[ignore = "simulates a day, or the hours of FRAGD_ENDURANCE, which takes minutes"]
fn a_day_runs_with_steady_memory() {
    let hours = std::env::var("FRAGD_ENDURANCE");
    let hours = hours.map_or(24, |hours| hours.parse().expect("FRAGD_ENDURANCE is a number"));
    let maps = vec!["rooms".to_owned(), "again".to_owned()];
    let server = Actor::Server(Box::new(server(&[], true)));
    let span = Millis::seconds(1800);
    let plan = TrialOptions { seed: 1, span, players: 4, calm: true, maps };
    let mut trial = Trial::new(plan, server);
    let mut early = None;
    for half in 1..=hours * 2 {
        let figures = trial.run().unwrap_or_else(|failure| panic!("{failure}"));
        let memory = memory_kib();
        println!("{:.1} h: {memory:?} KiB, {figures:?}", half as f64 / 2.0);
        if half == 4 {
            early = memory;
        }
        if let Some((early, now)) = early.zip(memory) {
            assert!(now < early + 16 * 1024, "{early} KiB after two hours, {now} KiB now");
        }
    }
}

//! Journals: identical replay of a simulated run, and detection of any damage.

use std::{cell::RefCell, rc::Rc};

use fragd::{
    client::Protocol,
    impairment::Impairment,
    journal::{
        Answers, AssetMismatch, Damage, DamageKind, Entry, FORMAT_VERSION, JournalEnd,
        JournalInput, JournalOpenError, Journaled, MAGIC, Reader, RecordedAssets, Recorder, Replay,
        ReplayedAssets, Start, StepResult, Steps,
    },
    model::{
        Millis, UnixMillis,
        assets::{Assets, MemoryAssets},
    },
    node::{Hosted as _, Input, LocalPort, LoopCounters, Node as _},
    server::Server,
    settings::Settings,
    sim::{Actor, SETTINGS, Trial, TrialOptions},
};
use proptest::prelude::*;

use crate::{
    sample_maps::{TestMap, YARD},
    sim_fixture::{SERVER, SimFixture},
};

type Bytes = Rc<RefCell<Vec<u8>>>;

/// A server with these files, and deathmatch if a map exists.
fn server(assets: Box<dyn Assets>, set: &[(&str, &str)]) -> Server {
    let mut settings = Settings::default();
    for (name, value) in SETTINGS.iter().chain([&("map", "rooms")]).chain(set) {
        settings.set(name, value).unwrap();
    }
    Server::builder(settings, [9; 32]).assets(assets).build()
}

/// A folder with one small map under two names.
fn maps() -> MemoryAssets {
    let map = TestMap::test_yard(YARD).file();
    let mut assets = MemoryAssets::default();
    assets.insert("maps/rooms.bsp", map.clone()).unwrap();
    assets.insert("maps/again.bsp", map).unwrap();
    assets
}

/// A server that is recorded, and where its journal goes.
fn recorded() -> (Journaled<Server>, Bytes) {
    recorded_up_to(u64::MAX)
}

/// The same with a journal that ends at a size in bytes.
fn recorded_up_to(limit: u64) -> (Journaled<Server>, Bytes) {
    let bytes = Bytes::default();
    let sink = Rc::clone(&bytes);
    let start = Start { program: "test".to_owned(), entropy: [9; 32], ..Start::default() };
    let sink = Box::new(move |piece: &[u8]| sink.borrow_mut().extend_from_slice(piece));
    let recorder = Rc::new(RefCell::new(Recorder::new(&start, sink).limited(limit)));
    let assets = RecordedAssets::new(Box::new(maps()), Rc::clone(&recorder));
    (Journaled::new(server(Box::new(assets), &[]), recorder), bytes)
}

/// Result of a replay.
#[derive(Debug, PartialEq)]
struct Outcome {
    result: StepResult,
    frames: u64,
    compared: u64,
    damage: Option<Damage>,
    end: Option<JournalEnd>,
}

/// Replays a journal on a server with these settings and files.
fn replay_with(journal: &[u8], files: MemoryAssets, set: &[(&str, &str)]) -> Outcome {
    let mut steps = Steps::new();
    steps.feed(journal);
    assert!(steps.start().unwrap().is_some());
    let answers = Answers::default();
    let first = steps.next_step().or_else(|| steps.last_step()).unwrap();
    answers.expect(first.answers.clone());
    let find = Box::new(move |name: &str, len, _| files.read(name, len).ok());
    let assets = ReplayedAssets::new(answers.clone(), find, Box::new(|_, _| None));
    let mut replay = Replay::new(server(Box::new(assets), set));
    let mut result = StepResult::Same;
    let mut next = Some(fragd::journal::ReplayStep { answers: Vec::new(), ..first });
    while let Some(step) = next {
        result = replay.step(step, &answers);
        if result != StepResult::Same {
            break;
        }
        next = steps.next_step().or_else(|| steps.last_step());
    }
    if result == StepResult::Same && steps.end() == Some(JournalEnd::Run) {
        result = replay.finish(Millis(0));
    }
    let (frames, compared) = (replay.frames(), replay.datagrams_out());
    Outcome { result, frames, compared, damage: steps.damage(), end: steps.end() }
}

fn replay(journal: &[u8]) -> Outcome {
    replay_with(journal, maps(), &[])
}

/// Three players on a bad network for a while, a map change and talk; ended as runs end.
fn session(seconds: u64) -> Vec<u8> {
    session_of(recorded(), seconds)
}

fn session_of((server, bytes): (Journaled<Server>, Bytes), seconds: u64) -> Vec<u8> {
    let mut sim = SimFixture::around(5, Actor::Recorded(Box::new(server)));
    sim.network.set_impairment(Impairment { loss: 50, ..Impairment::latency(Millis(30)) });
    for (i, wire) in Protocol::CURRENT.into_iter().enumerate() {
        let node = sim.join(wire, &format!("p{i}"));
        sim.player(node).use_random_input(i as u64);
    }
    sim.run_for(Millis::seconds(seconds));
    sim.console("say half of it is over");
    sim.console("map again");
    sim.run_for(Millis::seconds(seconds));
    let now = sim.network.now();
    let Actor::Recorded(server) = &mut sim.actors[SERVER] else { unreachable!() };
    server.handle_input(now, Input::LoopCounters(&LoopCounters::from_values([50, 7])));
    sim.actors[SERVER].handle_input(now, Input::Stop("it is over"));
    sim.run_for(Millis(1));
    let Actor::Recorded(server) = sim.actors.swap_remove(SERVER) else { unreachable!() };
    server.finish();
    bytes.take()
}

#[test]
fn session_replays_bit_for_bit() {
    let journal = session(5);
    let outcome = replay(&journal);
    assert_eq!((&outcome.result, outcome.damage), (&StepResult::Same, None));
    assert_eq!(outcome.end, Some(JournalEnd::Run));
    assert!(outcome.frames >= 200, "{outcome:?}");
    assert!(outcome.compared > 400, "{outcome:?}");
    // Datagrams sent at start, after console lines and at shutdown are compared, too.
    assert!(journal.len() < 300_000, "{} bytes", journal.len());
}

#[test]
fn journal_stops_at_size_limit_and_replays() {
    let whole = session(3);
    for limit in [0, 1000, 20_000, 20_001, 25_000] {
        let journal = session_of(recorded_up_to(limit), 3);
        let len = journal.len() as u64;
        // What the last input led to comes on top.
        assert!(len >= limit && len < limit + 8000, "{len} bytes of {limit}");
        let same = whole.iter().zip(&journal).take_while(|(one, other)| one == other).count();
        assert!(
            same + 8 >= journal.len(),
            "all but the end is as without the limit: {same}, {len}"
        );
        let outcome = replay(&journal);
        assert_eq!((&outcome.result, outcome.damage), (&StepResult::Same, None));
        assert_eq!(outcome.end, Some(JournalEnd::Limit));
        assert!(limit < 20_000 || outcome.compared > 10, "{outcome:?}");
        let cut = replay(&journal[..journal.len() - 1]);
        assert_eq!((cut.result, cut.end), (StepResult::Same, None));
    }
}

#[test]
fn trial_with_faults_replays_bit_for_bit() {
    let (server, bytes) = recorded();
    let maps = vec!["rooms".to_owned(), "again".to_owned()];
    let plan = TrialOptions { seed: 3, span: Millis::seconds(60), players: 4, calm: false, maps };
    let mut trial = Trial::new(plan, Actor::Recorded(Box::new(server)));
    let figures = trial.run().unwrap();
    let Actor::Recorded(server) = trial.into_server() else { unreachable!() };
    server.finish();
    let outcome = replay(&bytes.take());
    assert_eq!((&outcome.result, outcome.damage), (&StepResult::Same, None));
    assert!(outcome.compared > figures.snapshots, "{outcome:?}");
}

#[test]
fn steps_of_calendar_and_closed_ports_are_read_back() {
    let (mut server, bytes) = recorded();
    server.handle_input(Millis(10), Input::Calendar(UnixMillis(1_700_000_000_000)));
    server.handle_input(Millis(25), Input::PortFailed(LocalPort(3)));
    server.finish();
    let (entries, end) = read(&bytes.borrow());
    assert_eq!(end, Ok(()));
    let inputs = entries.into_iter().filter_map(|entry| match entry {
        Entry::Input(at, input) => Some((at, input)),
        _ => None,
    });
    let inputs: Vec<_> = inputs.collect();
    assert_eq!(
        inputs,
        [
            (Millis(10), JournalInput::Calendar(UnixMillis(1_700_000_000_000))),
            (Millis(25), JournalInput::PortFailed(LocalPort(3))),
        ]
    );
}

#[test]
fn replay_reports_first_diverging_datagram() {
    let journal = session(2);
    let outcome = replay_with(&journal, maps(), &[("sv_hostname", "another")]);
    let StepResult::Differs(difference) = outcome.result else { panic!("{outcome:?}") };
    // The gamestate is what tells the name.
    let (expected, got) = (difference.expected.unwrap(), difference.got.unwrap());
    assert_eq!(expected.route, got.route);
    assert_ne!(expected.checksum, got.checksum);
    assert!(difference.at > Millis(1000) && difference.at < Millis(1500), "{difference}");
    assert!(difference.to_string().contains("expected"), "{difference}");

    let slower = replay_with(&journal, maps(), &[("sv_fps", "10")]);
    assert!(matches!(slower.result, StepResult::Differs(_)), "{slower:?}");
}

#[test]
fn replay_names_missing_or_different_map() {
    let journal = session(1);
    let outcome = replay_with(&journal, MemoryAssets::default(), &[]);
    let StepResult::AssetMismatch(mismatch @ AssetMismatch::NotHere { .. }) = outcome.result else {
        panic!("{outcome:?}")
    };
    assert!(mismatch.to_string().starts_with("maps/rooms.bsp not found with "), "{mismatch}");
    let mut other = maps();
    other.insert("maps/again.bsp", vec![0; TestMap::test_yard(YARD).file().len()]).unwrap();
    let outcome = replay_with(&journal, other, &[]);
    let StepResult::AssetMismatch(AssetMismatch::NotHere { name, .. }) = outcome.result else {
        panic!("{outcome:?}")
    };
    assert_eq!(name, "maps/again.bsp");
    let outcome = replay_with(&journal, maps(), &[("map", "again")]);
    assert!(matches!(
        outcome.result,
        StepResult::AssetMismatch(AssetMismatch::OtherQuestion { .. })
    ));
}

/// Every entry up to the first damage.
fn read(journal: &[u8]) -> (Vec<Entry>, Result<(), Damage>) {
    let mut reader = Reader::new();
    reader.feed(journal);
    let mut entries = Vec::new();
    if !matches!(reader.read_head(), Ok(true)) {
        return (entries, Ok(()));
    }
    loop {
        match reader.next_entry() {
            Ok(Some(located)) => entries.push(located.entry),
            Ok(None) => return (entries, reader.finish()),
            Err(damage) => return (entries, Err(damage)),
        }
    }
}

#[test]
fn damage_at_every_byte_is_detected() {
    let journal = {
        let (mut server, bytes) = recorded();
        let from = "192.0.2.7:27960".parse().unwrap();
        let route = fragd::node::Route::new(fragd::node::LocalPort(0), from);
        let mut packet = Vec::new();
        for ms in [0, 50, 100] {
            server.frame(Millis(ms));
            server.handle_datagram(Millis(ms), route, b"\xff\xff\xff\xffgetinfo x");
            server.handle_input(Millis(ms), Input::ConsoleLine("status"));
            server
                .handle_input(Millis(ms), Input::LoopCounters(&LoopCounters::from_values([ms, 7])));
            while server.poll_transmit(&mut packet).is_some() {}
        }
        server.finish();
        bytes.take()
    };
    let (whole, end) = read(&journal);
    assert_eq!(end, Ok(()));
    let inputs = whole.iter().filter(|entry| matches!(entry, Entry::Input(..))).count();
    assert_eq!(inputs, 12);
    let counted = LoopCounters { received: 50, sent: 7, ..LoopCounters::default() };
    assert!(whole.contains(&Entry::Input(Millis(50), JournalInput::Counted(Box::new(counted)))));
    assert!(whole.contains(&Entry::Input(Millis(50), JournalInput::Line("status".to_owned()))));
    for at in MAGIC.len() + 4..journal.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = journal.clone();
            damaged[at] ^= change;
            let (entries, end) = read(&damaged);
            let damage = end.expect_err("no byte is without meaning");
            assert!(damage.offset <= at as u64, "{damage} is behind byte {at}");
            assert_eq!(entries[..], whole[..entries.len()], "byte {at}");
        }
        let (entries, end) = read(&journal[..at]);
        assert_eq!(end.unwrap_err().kind, DamageKind::CutOff, "cut at {at}");
        assert_eq!(entries[..], whole[..entries.len()], "cut at {at}");
    }
    // A cut journal replays up to the cut.
    for at in (MAGIC.len() + 4..journal.len()).rev().take(200) {
        let outcome = replay(&journal[..at]);
        assert_eq!(outcome.result, StepResult::Same, "cut at {at}");
        assert!(outcome.damage.is_some());
    }
}

#[test]
fn lost_and_duplicated_records_are_detected() {
    let journal = session(1);
    let mut reader = Reader::new();
    reader.feed(&journal);
    assert_eq!(reader.read_head(), Ok(true));
    let mut offsets = Vec::new();
    while let Some(located) = reader.next_entry().unwrap() {
        offsets.push(located.offset as usize);
    }
    let (from, to) = (offsets[20], offsets[21]);
    let without = [&journal[..from], &journal[to..]].concat();
    let doubled = [&journal[..to], &journal[from..]].concat();
    for changed in [without, doubled] {
        let (_, end) = read(&changed);
        assert!(matches!(end, Err(Damage { kind: DamageKind::Checksum, .. })), "{end:?}");
    }
    let behind = [&journal[..], &journal[from..to]].concat();
    assert!(read(&behind).1.is_err());
}

#[test]
fn files_that_are_not_journals_are_rejected() {
    let head = |bytes: &[u8]| {
        let mut reader = Reader::new();
        reader.feed(bytes);
        reader.read_head()
    };
    assert_eq!(head(b"#!/bin/sh"), Err(JournalOpenError::NoJournal));
    assert_eq!(head(b"\x89FRG"), Ok(false));
    assert_eq!(head(b"\x89FRGJ\n\x1a"), Err(JournalOpenError::NoJournal), "taken for text");
    assert_eq!(head(b"\x89FRGJ\r\n\x1a\x01\0\0\0"), Err(JournalOpenError::Version(1)));
    let mut steps = Steps::new();
    steps.feed(&[&MAGIC[..], &FORMAT_VERSION.to_le_bytes(), b"\x01\x09...."].concat());
    assert!(matches!(steps.start(), Err(JournalOpenError::NoStart(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Records with good checksums and hostile insides.
    #[test]
    fn hostile_journals_do_not_panic(
        bodies in prop::collection::vec(
            (1u8..12, prop::collection::vec(any::<u8>(), 0..60)), 1..12),
    ) {
        let mut journal = MAGIC.to_vec();
        journal.extend_from_slice(&1u32.to_le_bytes());
        let mut running = 0;
        for (kind, rest) in bodies {
            let from = journal.len();
            journal.push(rest.len() as u8 + 1);
            journal.push(kind);
            journal.extend_from_slice(&rest);
            let mut hasher = crc32fast::Hasher::new_with_initial(running);
            hasher.update(&journal[from..]);
            running = hasher.finalize();
            journal.extend_from_slice(&running.to_le_bytes());
        }
        let _ = read(&journal);
        let mut steps = Steps::new();
        steps.feed(&journal);
        if let Ok(Some(_)) = steps.start() {
            while steps.next_step().is_some() {}
            steps.last_step();
        }
    }
}

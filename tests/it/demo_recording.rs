//! Server-side demos: recorded snapshots equal those that clients received.

use std::collections::BTreeMap;

use fragd::{
    client::Protocol,
    demo::DemoReader,
    impairment::Impairment,
    model::{ClientNum, Millis, Sequence},
    node::{Hosted as _, Input, Output, OutputKind, RecordingContent},
    wire::demo_file::protocol_of,
};

use crate::sim_fixture::{SERVER, SimFixture};

/// A recording of the server.
#[derive(Default)]
struct Recorded {
    name: String,
    bytes: Vec<u8>,
    ended: bool,
}

/// Recordings that the server has handed over, in order.
fn recorded(sim: &mut SimFixture) -> Vec<Recorded> {
    let mut all = BTreeMap::<u64, Recorded>::new();
    while let Some(Output::Recording(piece)) = sim.actors[SERVER].poll_output(OutputKind::Recording)
    {
        let recorded = all.entry(piece.recording).or_default();
        assert!(!recorded.ended, "nothing follows the end");
        match piece.content {
            RecordingContent::Begin { name, extension } => {
                recorded.name = format!("{name}.{extension}");
            }
            RecordingContent::Data(bytes) => recorded.bytes.extend(bytes),
            RecordingContent::End => recorded.ended = true,
        }
    }
    all.into_values().collect()
}

/// Number of snapshots of a recording, all of which decode.
#[track_caller]
fn snapshots(recorded: &Recorded) -> usize {
    let protocol = protocol_of(&recorded.name).expect("a demo's name");
    let mut reader = DemoReader::new(protocol, &recorded.bytes);
    let errors: Vec<_> = reader.by_ref().filter_map(Result::err).collect();
    assert!(errors.is_empty(), "{}: {errors:?}", recorded.name);
    assert_eq!(reader.counts().gamestates, 1, "{}", recorded.name);
    assert!(recorded.ended, "{}", recorded.name);
    reader.counts().snapshots
}

#[test]
fn recorded_snapshots_equal_received_ones() {
    for wire in Protocol::CURRENT {
        let mut sim = SimFixture::new(5, &[]);
        for number in 0..3 {
            sim.join(wire, &format!("^{number}player{number}"));
        }
        sim.run_for(Millis::seconds(3));
        sim.network.set_impairment(Impairment {
            loss: 100,
            duplication: 50,
            ..Impairment::latency(Millis(80))
        });
        sim.console("record all final");
        for second in 0..4 {
            sim.run_for(Millis::seconds(1));
            sim.console(&format!("say line {second}; sv_hostname name{second}"));
        }
        sim.run_for(Millis(200));
        sim.console("stoprecord");
        let all = recorded(&mut sim);
        let names: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
        let extension = format!("dm_{}", wire.number);
        let expected = [0, 1, 2].map(|n| format!("final_nomap_player{n}.{extension}"));
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(
            names.iter().zip(&expected).all(|(name, at)| name.ends_with(&at[12..])),
            "{names:?}"
        );
        let mut compared = 0;
        for (number, one) in all.iter().enumerate() {
            assert!(snapshots(one) >= 60, "20 snapshots a second, for four seconds");
            let client = sim.player(number + 1).client();
            assert_eq!(client.client_num(), ClientNum::new(number));
            let mut reader = DemoReader::new(wire, &one.bytes);
            while let Some(Ok(message)) = reader.next() {
                let Some(shown) = &message.snapshot else { continue };
                let received = client.view(Sequence(message.sequence));
                let Some((received, entities)) = received else { continue };
                assert_eq!(received.player, shown.player, "{}: {}", one.name, message.sequence);
                assert_eq!(received.head.areas, shown.head.areas);
                assert!(entities.eq(shown.entities.iter()), "{}", message.sequence);
                compared += 1;
            }
            assert!(reader.configstrings().any(|(_, text)| text.contains("name3")));
        }
        assert!(compared > 60, "{compared} snapshots were compared");
        sim.check_no_faults();
    }
}

#[test]
fn recording_ends_with_client_and_level() {
    let mut sim = SimFixture::new(6, &[("sv_autoRecord", "1")]);
    sim.join(Protocol::IOQ3_71, "Ann");
    sim.join(Protocol::Q3_68, "Ben");
    sim.run_for(Millis::seconds(3));
    sim.console("map other");
    sim.run_for(Millis::seconds(3));
    sim.console("stoprecord Ben");
    let now = sim.network.now();
    sim.player(1).leave(now);
    sim.run_for(Millis::seconds(3));
    let all = recorded(&mut sim);
    let names: Vec<_> = all.iter().map(|one| one.name.rsplit_once('_').unwrap().0).collect();
    assert_eq!(all.len(), 4, "one file for each client and level: {names:?}");
    assert!(names[2].contains("_other_") && names[3].contains("_other_"), "{names:?}");
    assert!(all.iter().all(|one| snapshots(one) > 20));
    assert!(recorded(&mut sim).is_empty(), "a stopped recording does not begin again");
    sim.check_no_faults();
}

#[test]
fn recording_survives_restart_in_place_and_stop() {
    let mut sim = SimFixture::new(7, &[]);
    sim.join(Protocol::OA_71, "Ann");
    sim.run_for(Millis::seconds(2));
    sim.console("record Ann");
    sim.run_for(Millis::seconds(1));
    sim.console("map_restart 0");
    sim.run_for(Millis::seconds(1));
    let now = sim.network.now();
    sim.actors[SERVER].handle_input(now, Input::Stop("end"));
    let all = recorded(&mut sim);
    assert_eq!(all.len(), 1);
    assert!(snapshots(&all[0]) > 30);
    let mut reader = DemoReader::new(Protocol::IOQ3_71, &all[0].bytes);
    let restarts = reader.by_ref().flatten().flat_map(|message| message.commands);
    assert_eq!(restarts.filter(|c| c.is_new && c.text.starts_with("map_restart")).count(), 1);
}

#[test]
fn record_command_answers_its_errors() {
    let mut sim = SimFixture::new(8, &[]);
    sim.join(Protocol::IOQ3_71, "Ann");
    sim.run_for(Millis::seconds(2));
    while sim.server_output().is_some() {}
    let mut answer = |line: &str| {
        sim.console(line);
        std::iter::from_fn(|| sim.server_output()).collect::<String>()
    };
    for (line, expected) in [
        ("record nobody", "Player nobody is not on the server"),
        ("record Ann ../../etc", "invalid file name: ../../etc"),
        ("record 0", "recording client 0 \"Ann\""),
        ("record Ann", "already recorded: client 0"),
        ("record all", "recording 0 more clients"),
        ("stoprecord Ann", "stopped recording of client 0"),
        ("stoprecord Ann", "not recorded: client 0"),
        ("stoprecord", "stopped 0 recordings"),
        ("record a b c", "Usage: record"),
    ] {
        let answer = answer(line);
        assert!(answer.contains(expected), "{line}: {answer}");
    }
}

//! Traces of protocols 43 to 67: recorded sessions, scrambling found by the observer, hostile packets.

use std::net::SocketAddr;

use fragd::{
    client::{Client, Protocol},
    model::EntityState,
    trace::{Direction, Line, Lines, Record, RecordKind, Report, Role, View},
    wire::connectionless::CommandKind,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::{
    client::Pair,
    scripted_server::{Level, World},
    vectors::table,
};

fn server() -> SocketAddr {
    ([192, 0, 2, 1], 27960).into()
}

fn client() -> SocketAddr {
    ([192, 0, 2, 7], 40_001).into()
}

fn json(record: &Record) -> Value {
    let mut text = Vec::new();
    record.write_json(&mut text);
    serde_json::from_slice(&text).expect("one object")
}

/// Compares a snapshot with the decoded form of the session file.
fn check_snapshot(told: &Value, shown: &Value, place: &str) {
    assert_eq!(shown["snapshot"]["server_time"], told["time"], "{place}");
    assert_eq!(shown["snapshot"]["flags"], told["flags"], "{place}");
    if let Some(acknowledged) = told.get("ack") {
        assert_eq!(shown["acknowledge"], *acknowledged, "{place}");
    }
    let entities = shown["snapshot"]["entities"].as_array().expect("entities");
    let told_entities = told["entities"].as_object().expect("entities");
    let changed = |entity: &&Value| entity["change"] != "unchanged";
    assert_eq!(entities.iter().filter(changed).count(), told_entities.len(), "{place}");
    for entity in entities.iter().filter(changed) {
        let number = entity["number"].to_string();
        let fields = entity.get("fields").and_then(Value::as_object);
        let told = told_entities.get(&number).unwrap_or_else(|| panic!("{place}: {number}"));
        let count = told.as_object().map_or(0, serde_json::Map::len);
        assert_eq!(fields.map_or(0, serde_json::Map::len), count, "{place}: {number}");
    }
    let player = shown["snapshot"]["player"].as_object().expect("a player");
    let told_time = &told["player"]["commandTime"];
    if !told_time.is_null() {
        assert_eq!(player["commandTime"], *told_time, "{place}");
    }
}

#[test]
fn sessions_of_43_are_decoded_completely() {
    for (file, last) in [
        ("session_43.csv", RecordKind::Usercmds),
        ("session_43_download.csv", RecordKind::Commands),
    ] {
        let mut line = Line::new(server(), client());
        let mut report = Report::new();
        let mut kinds = Vec::new();
        for (at, row) in table(file).iter().enumerate() {
            let place = format!("{file}: line {}", at + 2);
            let told: Value = serde_json::from_str(row.text("decoded")).expect("JSON");
            let direction = match row.text("direction") {
                "c2s" => Direction::ToServer,
                _ => Direction::ToClient,
            };
            let time: u64 = row.text("time_ms").parse().expect("a time");
            let record = line.decode(time * 1000, direction, &row.bytes("datagram_hex"));
            assert_eq!(record.fault, None, "{place}");
            assert!(!record.missing.usercmd_key, "{place}");
            kinds.push(record.kind);
            report.add(record);
            if record.kind == RecordKind::Connectionless || record.message_bytes == 0 {
                continue;
            }
            assert_eq!(record.protocol, Some(Protocol::Q3_43), "{place}");
            let bits: u32 = record.bits.iter().map(|(_, bits)| bits).sum();
            assert_eq!(bits as usize, record.message_bytes * 8, "{place}");
            let shown = json(record);
            for told in told["ops"].as_array().into_iter().flatten() {
                if told.get("snapshot").is_some() {
                    check_snapshot(told, &shown, &place);
                }
                if let Some(text) = told.get("text") {
                    let commands = shown["commands"].as_array().expect("commands");
                    assert!(commands.iter().any(|command| command["text"] == *text), "{place}");
                }
            }
            let moves = ["move", "moveNoDelta"].iter().find_map(|key| told.get(key));
            if let Some(moves) = moves.and_then(Value::as_array) {
                let shown = shown["usercmds"].as_array().expect("usercmds");
                let times = |moves: &[Value]| {
                    moves.iter().map(|one| one["time"].as_i64()).collect::<Vec<_>>()
                };
                assert_eq!(times(shown), times(moves), "{place}");
            }
            let mut text = String::new();
            View::Net.write(record, 0, &mut text);
            assert!(!text.contains('?'), "{place}: {text}");
        }
        for kind in [RecordKind::Gamestate, RecordKind::Snapshot, last] {
            assert!(kinds.contains(&kind), "{file}: {kind:?}");
        }
        let has_costs = report.to_html(file).contains("commandTime");
        assert_eq!(has_costs, last == RecordKind::Usercmds, "{file}");
    }
}

/// A short game of a client, as the observer sees it.
fn transcript(wire: &'static Protocol, wanted: &'static Protocol) -> Vec<(bool, Vec<u8>)> {
    let mut pair = Pair::new(wanted);
    pair.server.wire = wire;
    pair.join();
    let mut level = Level::with_id(5);
    level.configstrings.push((40, "text ".repeat(60)));
    level.baselines = vec![EntityState { number: 3, e_type: 1, ..EntityState::default() }];
    pair.level(&level);
    for step in 0..20 {
        pair.show(&World::at(1000 + step * 50, &[1, 2, 3]));
        pair.move_at(1000 + step * 50);
        if step == 9 {
            let now = pair.now;
            Client::send_command(&mut pair.client, now, "say a longer text than before")
                .expect("room");
            pair.peer().commands.add("print \"a text of the server\"".into()).expect("room");
        }
        pair.pass(50);
    }
    pair.transcript
}

#[test]
fn observer_finds_protocol_and_scrambling() {
    let open = [(Protocol::Q3_66_CLEAR, Protocol::Q3_66)];
    for (wire, wanted) in Protocol::live().map(|wire| (wire, wire)).chain(open) {
        let mut lines = Lines::new(4);
        let mut last = None;
        for (at, (to_server, datagram)) in transcript(wire, wanted).iter().enumerate() {
            let (from, to) = if *to_server { (client(), server()) } else { (server(), client()) };
            let traced = lines.decode(at as u64, from, to, Role::Unknown, datagram);
            let fragd::trace::Traced::Quake3(record) = traced else { panic!("{wire} {at}") };
            assert_eq!(record.fault, None, "{wire} {at}: {record}");
            assert_eq!(record.missing, Default::default(), "{wire} {at}");
            last = record.protocol.or(last);
        }
        assert_eq!(last, Some(wire), "of a client of {wanted}");
    }
}

#[test]
fn plain_connect_shows_no_password() {
    let mut line = Line::new(server(), client());
    let packet =
        b"\xff\xff\xff\xffconnect \\challenge\\1\\qport\\2\\protocol\\43\\password\\secret";
    let record = line.decode(0, Direction::ToServer, packet);
    assert_eq!(record.connectionless.command, Some(CommandKind::Connect));
    let text = &record.connectionless.text;
    assert!(text.contains("protocol\\43") && !text.contains("secret"), "{text}");
}

proptest! {
    #[test]
    fn hostile_datagrams_of_older_protocols_are_safe(
        wire in prop::sample::select(Protocol::live().collect::<Vec<_>>()),
        datagrams in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..300)), 1..20),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 20),
        connect in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut line = Line::new(server(), client());
        let mut packet = b"\xff\xff\xff\xffconnect \"\\challenge\\7\\qport\\2\\protocol\\".to_vec();
        packet.extend(wire.number.to_string().as_bytes());
        packet.extend(&connect);
        line.decode(0, Direction::ToServer, &packet);
        for (at, (to_server, mut datagram)) in transcript(wire, wire).into_iter().take(12).enumerate() {
            let direction = if to_server { Direction::ToServer } else { Direction::ToClient };
            line.decode(0, direction, &datagram);
            let (place, bit) = &flips[at];
            let place = place.index(datagram.len());
            datagram[place] ^= 1 << bit;
            line.decode(0, direction, &datagram);
        }
        for (to_server, datagram) in datagrams {
            let direction = if to_server { Direction::ToServer } else { Direction::ToClient };
            let record = line.decode(0, direction, &datagram);
            let mut text = String::new();
            View::Net.write(record, 0, &mut text);
            json(record);
        }
    }
}

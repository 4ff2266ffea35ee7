//! Demos of older protocols and Quake Live: recorded messages, downloads, spare fields, hostile bytes.

use std::collections::BTreeMap;

use fragd::{
    demo::{
        DemoPaths, DemoReader, DemoSummary, EventFinder, convert, cut, event_json, message_json,
        recognize,
    },
    model::{ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState},
    wire::{
        Protocol,
        bits::BitWriter,
        demo_file::{END_MARK, write_record},
        download,
        fields::Field,
        gamestate,
        server_message::{self, ServerOp},
    },
};
use proptest::prelude::*;
use serde_json::Value;

use crate::vectors::table;

/// Message with a gamestate of one configstring.
fn gamestate_message(protocol: &'static Protocol, baselines: &[EntityState]) -> Vec<u8> {
    let mut writer = BitWriter::new();
    let info = format!("\\mapname\\x\\protocol\\{}", protocol.number);
    server_message::begin(&mut writer, protocol, CommandNum(0));
    writer.byte(ServerOp::Gamestate as u8);
    gamestate::write(
        &mut writer,
        CommandNum(0),
        [(ConfigIndex::SERVERINFO, info.as_bytes())].into_iter(),
        baselines.iter(),
        ClientNum::FIRST,
        protocol.encoding.messages.has_end_mark.then_some(7),
    );
    server_message::end(&mut writer);
    writer.message().to_vec()
}

/// Name of a field as the vectors write it: indices without brackets.
fn plain_name(name: &str) -> String {
    let Some((array, index)) = name.split_once('[') else { return name.to_owned() };
    let gap = if array.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
    format!("{array}{gap}{}", index.trim_end_matches(']'))
}

#[test]
fn recorded_messages_are_converted_to_protocol_68() {
    let mut demos = BTreeMap::<(i32, String), (Vec<EntityState>, Vec<(u32, Vec<u8>)>)>::new();
    for row in table("demo_messages.csv") {
        let key = (row.number::<i32>("protocol"), row.text("demo").to_owned());
        let (baselines, messages) = demos.entry(key.clone()).or_default();
        let number: u32 = row.number("number");
        if row.text("kind") != "baseline" {
            messages.push((number, row.bytes("message_hex")));
            continue;
        }
        let protocol = Protocol::with_number(key.0).next().unwrap();
        let mut state = EntityState::numbered(EntityNum::new(number as usize).unwrap());
        let told: Value = serde_json::from_str(row.text("decoded")).unwrap();
        for (name, value) in told.as_object().unwrap() {
            let table = protocol.encoding.entity;
            let field = table.fields.iter().find(|field| plain_name(field.name) == *name);
            let word = table.word_of(field.unwrap().name).unwrap();
            state.words_mut()[word] = value.as_i64().unwrap() as u32;
        }
        baselines.push(state);
    }
    assert_eq!(demos.len(), 5);
    for ((number, name), (baselines, messages)) in demos {
        let protocol = Protocol::with_number(number).next().unwrap();
        let mut demo = Vec::new();
        write_record(&mut demo, messages[0].0 - 1, &gamestate_message(protocol, &baselines));
        for (number, message) in &messages {
            write_record(&mut demo, *number, message);
        }
        demo.extend(END_MARK);
        let summary = DemoSummary::of(protocol, &demo);
        assert_eq!((summary.counts.snapshots, summary.counts.errors), (5, 0), "{name}");
        for named in ["a.bak", "a.dm_68", "a.dm_90"] {
            let found = recognize(named, &demo).unwrap();
            assert!(std::ptr::eq(found.encoding, protocol.encoding), "{name} as {named}: {found}");
        }
        let (converted, report) = convert(protocol, &demo).unwrap();
        assert_eq!((report.snapshots, report.skipped), (5, 0), "{name}");
        let numbers = protocol.numbers;
        let old = DemoReader::new(protocol, &demo).map(|item| item.unwrap().snapshot);
        let new = DemoReader::new(Protocol::Q3_68, &converted).map(|item| item.unwrap().snapshot);
        for (old, new) in old.flatten().zip(new.flatten()) {
            assert_eq!(new.player, numbers.received_player(&old.player), "{name}");
            let expected = old.entities.iter().map(|entity| numbers.received_entity(entity));
            assert_eq!(new.entities, expected.collect::<Vec<_>>(), "{name}");
        }
    }
}

#[test]
fn downloads_inside_demos_are_read() {
    for protocol in [Protocol::Q3_43, Protocol::Q3_48, Protocol::Q3_68] {
        let mut demo = Vec::new();
        write_record(&mut demo, 1, &gamestate_message(protocol, &[]));
        // A number that begins again has no size of the file.
        for (sequence, (block, len)) in (2..).zip([(0, 9), (1, 2), (0xffff, 3), (0x1_0000, 0)]) {
            let mut writer = BitWriter::new();
            server_message::begin(&mut writer, protocol, CommandNum(0));
            writer.byte(ServerOp::Download as u8);
            download::write_block(&mut writer, block, 1234, &vec![7; len]);
            server_message::end(&mut writer);
            write_record(&mut demo, sequence, writer.message());
        }
        demo.extend(END_MARK);
        let mut blocks = Vec::new();
        for message in DemoReader::new(protocol, &demo).map(Result::unwrap) {
            let json = message_json(protocol, &message, 0);
            assert_eq!(json.get("downloads").is_some(), !message.downloads.is_empty());
            blocks.extend(message.downloads.iter().map(|b| (b.number, b.file_size, b.len)));
        }
        let expected = [
            (0, Some(1234), Some(9)),
            (1, None, Some(2)),
            (0xffff, None, Some(3)),
            (0, None, Some(0)),
        ];
        // The last row writes no size, as block 65536.
        assert_eq!(blocks, expected, "{protocol}");
    }
}

/// Writes the values of integer fields by name, as a counted delta.
fn write_fields(writer: &mut BitWriter, fields: &[Field], zero_flags: bool, set: &[(&str, u32)]) {
    let is_set = |field: &Field| set.iter().find(|(name, _)| *name == field.name);
    let count = fields.iter().rposition(|field| is_set(field).is_some()).map_or(0, |at| at + 1);
    writer.byte(count as u8);
    for field in &fields[..count] {
        let value = is_set(field);
        writer.flag(value.is_some());
        let Some((_, value)) = value else { continue };
        if zero_flags {
            writer.flag(*value != 0);
        }
        if !zero_flags || *value != 0 {
            writer.bits(*value, field.kind.bits());
        }
    }
}

/// Begins the record of an entity in a list.
fn begin_entity(writer: &mut BitWriter, number: u32) {
    writer.bits(number, 10);
    writer.flag(false);
    writer.flag(true);
}

#[test]
fn quake_live_fields_follow_the_rules_of_deltas() {
    let protocol = Protocol::QL_91;
    let (entity, player) = (protocol.encoding.entity.fields, protocol.encoding.player.fields);
    let mut writer = BitWriter::new();
    let mut demo = Vec::new();
    server_message::begin(&mut writer, protocol, CommandNum(0));
    writer.byte(ServerOp::Gamestate as u8);
    writer.long(0);
    writer.byte(ServerOp::Configstring as u8);
    writer.short(529);
    for byte in "n\\Zoë 100%\0".bytes() {
        writer.byte(byte);
    }
    writer.byte(ServerOp::Baseline as u8);
    begin_entity(&mut writer, 5);
    write_fields(&mut writer, entity, true, &[("eType", 1), ("health", 100), ("pos_gravity", 800)]);
    writer.byte(ServerOp::End as u8);
    writer.long(0);
    writer.long(7);
    server_message::end(&mut writer);
    write_record(&mut demo, 1, writer.message());
    // Added behind its baseline, changed, unchanged, removed.
    let entities: [Option<&[(&str, u32)]>; 4] =
        [Some(&[("armor", 50)]), Some(&[("health", 0), ("armor", 25)]), None, Some(&[])];
    for (at, set) in (0..).zip(entities) {
        server_message::begin(&mut writer, protocol, CommandNum(0));
        writer.byte(ServerOp::Snapshot as u8);
        writer.long(1000 + at * 25);
        writer.byte(u8::from(at > 0));
        writer.byte(0);
        writer.byte(0);
        let set_player: &[(&str, u32)] =
            if at == 0 { &[("pm_flags", 0x81_0000), ("weaponPrimary", 5)] } else { &[("fov", 90)] };
        write_fields(&mut writer, player, false, set_player);
        writer.flag(false);
        match set {
            Some([]) => {
                writer.bits(5, 10);
                writer.flag(true);
            }
            Some(set) => {
                begin_entity(&mut writer, 5);
                write_fields(&mut writer, entity, true, set);
            }
            None => {}
        }
        writer.bits(1023, 10);
        server_message::end(&mut writer);
        write_record(&mut demo, at as u32 + 2, writer.message());
    }
    demo.extend(END_MARK);
    assert_eq!(recognize("a.dm_91", &demo), Ok(protocol));
    let mut reader = DemoReader::new(protocol, &demo);
    let items = reader.by_ref();
    let lines: Vec<_> = items.map(|item| message_json(protocol, &item.unwrap(), 0)).collect();
    assert_eq!(reader.game_string(ConfigIndex::at(544)), "n\\Zoë 100.");
    let baseline = &lines[0]["gamestate"]["baselines"][0];
    assert_eq!((&baseline["health"], &baseline["pos_gravity"]), (&100.into(), &800.into()));
    let shown = |at: usize, name: &str| lines[at]["snapshot"]["entities"][0][name].clone();
    let values = [1, 2, 3].map(|at| [shown(at, "health"), shown(at, "armor"), shown(at, "eType")]);
    let none = Value::Null;
    let changed = [none.clone(), 25.into(), 1.into()];
    assert_eq!(values, [[100.into(), 50.into(), 1.into()], changed.clone(), changed]);
    assert_eq!(shown(4, "number"), none, "removed");
    let player = |at: usize, name: &str| lines[at]["snapshot"]["player"][name].clone();
    assert_eq!((player(1, "pm_flags"), player(1, "fov")), (0x81_0000.into(), none));
    assert_eq!((player(4, "weaponPrimary"), player(4, "fov")), (5.into(), 90.into()));
    let refused = [
        convert(protocol, &demo).err().map(|error| error.to_string()),
        cut(protocol, &demo, 0, 1).err().map(|error| error.to_string()),
    ];
    assert!(refused.iter().all(|text| text.as_ref().is_some_and(|text| text.contains("91"))));
}

/// Reads a demo with everything that `fragd demo` has for it.
fn read_all(protocol: &'static Protocol, demo: &[u8]) {
    let mut reader = DemoReader::new(protocol, demo);
    let mut finder = EventFinder::default();
    while let Some(item) = reader.next() {
        let Ok(message) = item else { continue };
        finder.read(&reader, &message, &mut |event| drop(event_json(&event)));
        drop(message_json(protocol, &message, finder.elapsed_ms()));
    }
    let _ = (DemoSummary::of(protocol, demo).to_json(), DemoPaths::of(protocol, demo));
    let _ = recognize("a", demo);
    for (target, written) in [
        (protocol, cut(protocol, demo, 0, u64::MAX).ok().map(|(bytes, _)| bytes)),
        (Protocol::Q3_68, convert(protocol, demo).ok().map(|(bytes, _)| bytes)),
    ] {
        let Some(bytes) = written else { continue };
        let summary = DemoSummary::of(target, &bytes);
        assert_eq!(summary.counts.errors, 0, "{protocol}: {:?}", summary.errors);
    }
}

proptest! {
    #[test]
    fn hostile_bytes_do_not_harm_any_reader(
        row in 0..Protocol::ALL.len() + Protocol::QUAKE_LIVE.len(),
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..8),
        kinds in prop::collection::vec(0..3_u8, 8),
    ) {
        let protocol = Protocol::recorded().nth(row).unwrap();
        let mut demo = Vec::new();
        write_record(&mut demo, 1, &gamestate_message(protocol, &[]));
        for (at, (bytes, kind)) in (2..).zip(messages.iter().zip(kinds)) {
            let mut writer = BitWriter::new();
            server_message::begin(&mut writer, protocol, CommandNum(0));
            let operations = [ServerOp::Snapshot, ServerOp::Gamestate, ServerOp::Download];
            writer.byte(operations[usize::from(kind)] as u8);
            bytes.iter().for_each(|byte| writer.byte(*byte));
            write_record(&mut demo, at, writer.message());
        }
        read_all(protocol, &demo);
        let raw: Vec<u8> = messages.concat();
        read_all(protocol, &raw);
    }
}

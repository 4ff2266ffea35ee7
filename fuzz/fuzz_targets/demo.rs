//! Demos: any bytes, and right frames around messages that say anything.
#![no_main]

use fragd::{
    demo::{
        DemoPaths, DemoReader, DemoSummary, EventFinder, convert, cut, event_json, message_json,
        recognize,
    },
    model::{ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, LevelTime, PlayerState},
    wire::{
        Protocol,
        bits::BitWriter,
        gamestate,
        server_message::{self, ServerOp},
        snapshot::{self, SnapshotHeader, SnapshotView},
    },
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let rows: Vec<_> = Protocol::recorded().collect();
    let protocol = rows[usize::from(choice >> 2) % rows.len()];
    if choice & 2 != 0 {
        read(protocol, data);
        return;
    }
    let mut demo = Vec::new();
    frame(&mut demo, 1, &beginning(protocol));
    for (number, piece) in (2u32..).zip(pieces(data, 64)) {
        let [kind, body @ ..] = piece else { continue };
        match kind % 3 {
            0 => frame(&mut demo, number, &body[..body.len().min(16_384)]),
            1 => frame(&mut demo, number, &told(protocol, number, body)),
            // Bytes behind the codes of a right beginning.
            _ => {
                let mut writer = BitWriter::new();
                server_message::begin(&mut writer, protocol, CommandNum(0));
                body.iter().take(8000).for_each(|byte| writer.byte(*byte));
                frame(&mut demo, number, writer.message());
            }
        }
    }
    if choice & 1 == 0 {
        demo.extend([0xff; 8]);
    }
    assert!(read(protocol, &demo) < 66, "more errors than messages and ends");
});

/// Reads a demo. Returns the number of errors.
fn read(protocol: &'static Protocol, demo: &[u8]) -> usize {
    let mut reader = DemoReader::new(protocol, demo);
    for item in reader.by_ref() {
        match item {
            Ok(message) => assert!(message.offset + message.bytes.len() <= demo.len()),
            Err(error) => assert!(error.offset <= demo.len(), "{error}"),
        }
    }
    let errors = reader.counts().errors;
    assert!(reader.notes().len() <= reader.counts().notes);
    let _ = recognize("demo", demo);
    let summary = DemoSummary::of(protocol, demo);
    assert_eq!(summary.counts.errors, errors);
    let _ = (summary.to_string(), summary.to_json(), DemoPaths::of(protocol, demo));
    show(protocol, demo);
    if let Ok((part, report)) = cut(protocol, demo, 100, 60_000) {
        let read = DemoSummary::of(protocol, &part);
        assert_eq!((read.counts.messages, read.counts.errors), (report.messages, 0));
    }
    if let Ok((new, report)) = convert(protocol, demo) {
        let read = DemoSummary::of(Protocol::Q3_68, &new);
        assert_eq!((read.counts.messages, read.counts.errors), (report.messages, 0));
    }
    errors
}

/// A message with commands, a gap in their numbers, a snapshot with any server time, and spare bytes.
fn told(protocol: &'static Protocol, number: u32, body: &[u8]) -> Vec<u8> {
    let [gap, time, back, spare, text @ ..] = body else { return Vec::new() };
    let mut writer = BitWriter::new();
    server_message::begin(&mut writer, protocol, CommandNum(0));
    for (at, line) in text.split(|byte| *byte == b'\n').take(16).enumerate() {
        let command = number as i32 * 16 + i32::from(gap % 4) + at as i32;
        server_message::write_command(&mut writer, CommandNum(command), line);
    }
    snapshot::begin(&mut writer, CommandNum(0));
    let head = SnapshotHeader {
        server_time: LevelTime(i32::from(*time) * 1000),
        delta_num: back % 4,
        ..SnapshotHeader::default()
    };
    let (player, nothing) = (PlayerState::default(), EntityState::default());
    let shown = PlayerState { command_time: i32::from(*time), ..player };
    snapshot::write(
        &mut writer,
        &head,
        SnapshotView { player: &player, entities: [].iter() },
        SnapshotView { player: &shown, entities: [].iter() },
        |_| &nothing,
    );
    server_message::end(&mut writer);
    let mut message = writer.message().to_vec();
    message.resize(message.len() + usize::from(spare % 8), 0);
    message
}

/// Makes the JSON of all messages and events.
fn show(protocol: &'static Protocol, demo: &[u8]) {
    let mut reader = DemoReader::new(protocol, demo);
    let mut finder = EventFinder::default();
    while let Some(item) = reader.next() {
        let Ok(message) = item else { continue };
        finder.read(&reader, &message, &mut |event| drop(event_json(&event)));
        drop(message_json(protocol, &message, finder.elapsed_ms()));
    }
}

/// Appends a message of a demo.
fn frame(demo: &mut Vec<u8>, number: u32, message: &[u8]) {
    demo.extend(number.to_le_bytes());
    demo.extend((message.len() as u32).to_le_bytes());
    demo.extend(message);
}

/// A message with a gamestate.
fn beginning(protocol: &'static Protocol) -> Vec<u8> {
    let mut writer = BitWriter::new();
    server_message::begin(&mut writer, protocol, CommandNum(0));
    writer.byte(ServerOp::Gamestate as u8);
    let state = |number| EntityState::numbered(EntityNum::new(number).expect("a right number"));
    gamestate::write(
        &mut writer,
        CommandNum(0),
        [(ConfigIndex::at(0), &b"\\mapname\\x"[..])].into_iter(),
        [state(3), state(70)].iter(),
        ClientNum::new(0).expect("a right number"),
        protocol.encoding.messages.has_end_mark.then_some(7),
    );
    server_message::end(&mut writer);
    writer.message().to_vec()
}

//! Demos: any bytes, and right frames around messages that say anything.
#![no_main]

use fragd::{
    demo::{DemoPaths, DemoReader, DemoSummary, EventFinder, cut, event_json, message_json},
    model::{ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState},
    wire::{
        Protocol,
        bits::BitWriter,
        gamestate,
        server_message::{self, ServerOp},
    },
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let protocol = if choice & 1 == 0 { Protocol::Q3_68 } else { Protocol::IOQ3_71 };
    if choice & 2 != 0 {
        read(protocol, data);
        return;
    }
    let mut demo = Vec::new();
    frame(&mut demo, 1, &beginning());
    for (number, piece) in (2u32..).zip(pieces(data, 64)) {
        let [kind, body @ ..] = piece else { continue };
        match kind % 2 {
            0 => frame(&mut demo, number, &body[..body.len().min(16_384)]),
            // Bytes behind the codes of a right beginning.
            _ => {
                let mut writer = BitWriter::new();
                server_message::begin(&mut writer, Protocol::Q3_68, CommandNum(0));
                body.iter().take(8000).for_each(|byte| writer.byte(*byte));
                frame(&mut demo, number, writer.message());
            }
        }
    }
    demo.extend([0xff; 8]);
    assert!(read(protocol, &demo) < 65, "more errors than messages");
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
    let summary = DemoSummary::of(protocol, demo);
    assert_eq!(summary.counts.errors, errors);
    let _ = (summary.to_string(), summary.to_json(), DemoPaths::of(protocol, demo));
    show(protocol, demo);
    if let Ok((part, report)) = cut(protocol, demo, 100, 60_000) {
        // What was decoded once is decoded again, unless a configstring was refused before the cut.
        let read = DemoSummary::of(protocol, &part);
        assert_eq!(read.counts.messages, report.messages);
    }
    errors
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
fn beginning() -> Vec<u8> {
    let mut writer = BitWriter::new();
    server_message::begin(&mut writer, Protocol::Q3_68, CommandNum(0));
    writer.byte(ServerOp::Gamestate as u8);
    let state = |number| EntityState::numbered(EntityNum::new(number).expect("a right number"));
    gamestate::write(
        &mut writer,
        CommandNum(0),
        [(ConfigIndex::at(0), &b"\\mapname\\x"[..])].into_iter(),
        [state(3), state(70)].iter(),
        ClientNum::new(0).expect("a right number"),
        7,
    );
    server_message::end(&mut writer);
    writer.message().to_vec()
}

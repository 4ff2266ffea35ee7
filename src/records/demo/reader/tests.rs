//! Tests of the demo reader: whole and damaged files, errors, and notes.

use super::*;
use crate::demo::sample::{self, SampleDemo};

fn read(bytes: &[u8]) -> (Vec<DemoError>, DemoCounts) {
    let mut reader = DemoReader::new(Protocol::Q3_68, bytes);
    let errors = reader.by_ref().filter_map(Result::err).collect();
    (errors, reader.counts())
}

#[test]
fn demo_is_decoded_to_its_end() {
    let demo = sample::duel();
    let mut reader = DemoReader::new(Protocol::Q3_68, &demo);
    let messages: Vec<_> = reader.by_ref().map(|item| item.expect("a message")).collect();
    assert_eq!(reader.configstring(ConfigIndex::at(5)), "new");
    assert_eq!(reader.client_num(), ClientNum::new(2));
    assert_eq!(reader.offset() + 8, demo.len());
    assert!(messages[0].gamestate.is_some());
    let last = messages.last().and_then(|message| message.snapshot.as_ref()).expect("a snapshot");
    assert_eq!(last.player.origin[0], sample::SNAPSHOTS as f32);
    let counts = reader.counts();
    assert_eq!((counts.gamestates, counts.snapshots, counts.errors), (1, sample::SNAPSHOTS, 0));
    assert_eq!(counts.deltas, sample::SNAPSHOTS - 1);
    let news = messages.iter().flat_map(|message| &message.commands).filter(|c| c.is_new);
    assert_eq!(news.count(), counts.commands, "repeated commands count once");
}

#[test]
fn demo_cut_at_every_byte_keeps_the_whole_messages() {
    let demo = sample::duel();
    let ends: Vec<usize> = Records::new(&demo)
        .map(|record| record.map(|record| record.offset + 8 + record.message.len()))
        .collect::<Result<_, _>>()
        .expect("records");
    for len in 0..demo.len() {
        let (errors, counts) = read(&demo[..len]);
        assert_eq!(counts.messages, ends.iter().filter(|&&end| end <= len).count(), "{len}");
        let [error] = errors.as_slice() else { panic!("{len}: {errors:?}") };
        assert!(error.offset <= len && error.sequence.is_none(), "{error}");
    }
}

#[test]
fn damaged_message_is_an_error_with_its_offset() {
    let mut sample = SampleDemo::new();
    sample.snapshot(false, &[]);
    let begin = sample.bytes.len();
    sample.record(b"\x01\x02\x03");
    sample.snapshot(true, &[]);
    let demo = sample.finish();
    let (errors, counts) = read(&demo);
    assert_eq!(counts.snapshots, 1, "the base of the last snapshot is missing");
    let [first, second] = errors.as_slice() else { panic!("{errors:?}") };
    assert!(first.offset > begin && first.offset <= begin + 11, "{first}");
    assert_eq!(second.kind, DemoErrorKind::MissingBase(1));
}

#[test]
fn refused_commands_are_errors_behind_their_message() {
    let mut sample = SampleDemo::new();
    sample.snapshot(false, &[(1, "cs 1024 \"x\""), (2, "cs 5 \"other\"")]);
    sample.snapshot(true, &[]);
    let demo = sample.finish();
    let mut reader = DemoReader::new(Protocol::Q3_68, &demo);
    let message = reader.by_ref().nth(1).and_then(Result::ok).expect("the message");
    assert!(message.commands[0].is_refused && !message.commands[1].is_refused);
    assert_eq!(reader.configstring(ConfigIndex::at(5)), "other", "the rest counts");
    let error = reader.next().and_then(Result::err).expect("its error");
    assert_eq!(error.kind, ProtocolErrorKind::ConfigIndex(1024).into());
    assert!(error.is_of_a_part());
    assert_eq!((reader.by_ref().count(), reader.counts().snapshots), (1, 2));
}

#[test]
fn unusual_parts_that_clients_play_are_notes() {
    let mut sample = SampleDemo::new();
    sample.snapshot(false, &[(4, "print \"gap\""), (5, "bcs2 7 \"rest\"")]);
    sample.snapshot(true, &[(7, "chat \"a\"")]);
    sample.time -= 1000;
    sample.snapshot(false, &[]);
    for extra in [1, 3] {
        let mut message = sample.encoded(false, &[]);
        message.extend(vec![0; extra]);
        sample.record(&message);
    }
    let mut demo = sample.finish();
    demo.extend(b"junk");
    let mut reader = DemoReader::new(Protocol::Q3_68, &demo);
    let errors = reader.by_ref().filter_map(Result::err).count();
    let at = |time| LevelTime(sample::START + time);
    let missing = |first, last| DemoNoteKind::MissingCommands {
        first: CommandNum(first),
        last: CommandNum(last),
    };
    let kinds: Vec<_> = reader.notes().iter().map(|note| note.kind).collect();
    let bits = match kinds.get(4) {
        Some(DemoNoteKind::TrailingBits(bits)) => *bits,
        other => panic!("{other:?}"),
    };
    assert!((25..=32).contains(&bits), "{bits}: one byte more is no note");
    let expected = [
        missing(1, 3),
        DemoNoteKind::UnbegunConfigstring,
        missing(6, 6),
        DemoNoteKind::TimeRestarts { before: at(100), after: at(-850) },
        DemoNoteKind::TrailingBits(bits),
        DemoNoteKind::TrailingBytes(4),
    ];
    assert_eq!((kinds.as_slice(), errors), (&expected[..], 0));
    assert_eq!(reader.notes()[5].offset, demo.len() - 4);
    assert_eq!((reader.counts().notes, reader.counts().snapshots), (6, 5));
    assert_eq!(
        reader.notes()[0].to_string(),
        format!("byte {}, message 41: commands 1 to 3 were not recorded", reader.notes()[0].offset)
    );
}

#[test]
fn message_without_its_delta_base_keeps_its_commands() {
    let mut sample = SampleDemo::new();
    sample.snapshot(false, &[]);
    sample.sequence += 1;
    sample.snapshot(true, &[(1, "cs 5 \"told\"")]);
    let demo = sample.finish();
    let mut reader = DemoReader::new(Protocol::Q3_68, &demo);
    let items: Vec<_> = reader.by_ref().collect();
    let [Ok(_), Ok(_), Ok(message), Err(error)] = items.as_slice() else { panic!("{items:?}") };
    assert!(message.snapshot.is_none() && message.commands.len() == 1);
    assert_eq!(error.kind, DemoErrorKind::MissingBase(1));
    assert_eq!(reader.configstring(ConfigIndex::at(5)), "told");
}

#[test]
fn snapshot_without_gamestate_is_an_error() {
    let demo = sample::duel();
    let behind = Records::new(&demo).nth(1).and_then(Result::ok).expect("a record").offset;
    let (errors, counts) = read(&demo[behind..]);
    assert_eq!(errors[0].kind, DemoErrorKind::NoGamestate);
    assert_eq!((counts.snapshots, counts.errors), (0, sample::SNAPSHOTS));
}

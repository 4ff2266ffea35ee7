//! Generated demos: what a reader finds in each dialect, and cuts that play alone.

use std::collections::BTreeMap;

use fragd::{
    demo::{
        DemoEventKind, DemoReader, DemoSummary, EventFinder, Translation, convert, cut, recognize,
    },
    impairment::SeededRng,
    model::ConfigIndex,
    wire::{Protocol, demo_file::END_MARK},
};

use super::{
    demo_file::{DemoFile, Shown},
    pick, seeds,
};

/// Part of a demo: a name for failures, and the messages or bytes that it adds.
type DemoPart = (&'static str, fn(&mut DemoFile));

/// In place of the first snapshot.
const BEGINS: &[DemoPart] = &[
    ("plain begin", |demo| demo.frame(&[])),
    ("commands between gamestate and first snapshot are not recorded", |demo| {
        demo.command += 1 + demo.below(9) as i32;
        demo.found.notes += 1;
        demo.frame(&["cp \"go\""]);
    }),
    ("first snapshots have the clock of the level before", |demo| {
        demo.frame(&[]);
        demo.frame(&[]);
        demo.found.notes += 1;
        demo.time = 3900;
        demo.frame(&[]);
    }),
    ("recording begins inside a long configstring", |demo| {
        demo.command += 1;
        demo.found.notes += 2;
        demo.frame(&["bcs2 40 \"rest\"\n"]);
    }),
];

/// Between two snapshots.
const PARTS: &[DemoPart] = &[
    ("play", |demo| (0..40).for_each(|_| demo.frame(&[]))),
    ("full snapshot", |demo| {
        demo.is_full = true;
        demo.frame(&[]);
    }),
    ("lost messages", |demo| {
        demo.sequence += demo.below(60) as u32;
        demo.time += 50 * demo.below(60) as i32;
        demo.frame(&[]);
    }),
    ("lost commands", |demo| {
        demo.command += 1 + demo.below(70) as i32;
        demo.found.notes += 1;
        demo.frame(&["scores 0 0 0"]);
    }),
    ("map change with a clock that restarts", |demo| {
        demo.level("q3dm6");
        demo.frame(&[]);
        demo.found.notes += 1;
        demo.time = (2000 + demo.below(900) as i32).min(demo.time - 100);
        demo.frame(&[]);
    }),
    ("map change with a clock that continues", |demo| {
        demo.level("q3dm17");
        demo.frame(&[]);
    }),
    ("restart of the level in place", |demo| demo.frame(&["map_restart\n"])),
    ("clock that restarts inside a level", |demo| {
        demo.time -= 5000;
        demo.found.notes += 1;
        demo.frame(&[]);
    }),
    ("changed configstring", |demo| {
        let (index, len) = (32 + demo.below(400) as u16, 1 + demo.below(60) as usize);
        demo.string(index, &"c".repeat(len), false);
    }),
    ("long configstring in one message", |demo| {
        let len = 1000 + demo.below(2500) as usize;
        demo.string(28, &"l".repeat(len), false);
    }),
    ("long configstring over several messages", |demo| {
        let len = 1000 + demo.below(3500) as usize;
        demo.string(29, &"m".repeat(len), true);
    }),
    ("frag", |demo| demo.frag()),
    ("one spare byte behind a message", |demo| {
        // Bytes are operations where a message has no end mark.
        demo.spare = usize::from(demo.protocol.encoding.messages.has_end_mark);
        demo.frame(&[]);
    }),
    ("more bytes behind a message", |demo| {
        if demo.protocol.encoding.messages.has_end_mark {
            demo.spare = 3 + demo.below(60) as usize;
            demo.found.notes += 1;
        }
        demo.frame(&[]);
    }),
    ("voice", |demo| {
        demo.voices = if demo.protocol.voice { 2 } else { 0 };
        demo.frame(&[]);
    }),
    ("chat of the game", |demo| {
        let commands = [
            "chat \"^1Ann^7: hello\"",
            "tchat \"\u{19}(Ann\u{19}) (^3Weak YA^7)\u{19}: go\"",
            "print \"server: welcome\n\"",
            "vtchat 0 2 50 \"yes\"",
        ];
        let listed = ["Ann: hello", "(Ann) (Weak YA): go", "server: welcome", "Ann: [yes]"];
        demo.told(&commands, &listed);
    }),
    ("chat of mods", |demo| {
        let commands = [
            "mm2 2 4 \"TOOK ^1RED\"",
            "mm2 2 0 \"where\"",
            "tell \"[Ann]: psst\"",
            "chat \"^7no name\" -1",
        ];
        let listed = ["(Ann) (Red base): TOOK RED", "(Ann): where", "[Ann]: psst", "no name"];
        demo.told(&commands, &listed);
    }),
    ("refused command", |demo| {
        demo.found.errors += 1;
        demo.expect_string(501, "kept");
        demo.frame(&["cs 1024 \"x\"", "cs 501 \"kept\""]);
    }),
    ("undecodable message", |demo| {
        demo.found.errors += 1;
        demo.record(b"\x01\x02\x03");
    }),
    ("missing delta base", |demo| demo.baseless(&["cp \"base\""])),
];

/// Behind the last message.
const ENDS: &[DemoPart] = &[
    ("end mark", |demo| demo.bytes.extend(END_MARK)),
    ("end mark with a sequence", |demo| {
        let sequence = demo.sequence;
        demo.bytes.extend(sequence.to_le_bytes());
        demo.bytes.extend([0xff; 4]);
    }),
    ("bytes behind the end mark", |demo| {
        demo.bytes.extend(END_MARK);
        demo.bytes.extend(b"more");
        demo.found.notes += 1;
    }),
    ("no end mark", |demo| demo.found.errors += 1),
    ("record cut off", |demo| {
        let sequence = demo.sequence;
        demo.bytes.extend(sequence.to_le_bytes());
        demo.bytes.extend([90, 0, 0, 0, 1, 2, 3]);
        demo.found.errors += 1;
    }),
];

/// A demo of some dialects, with their names.
fn generated(seed: u64) -> (DemoFile, String) {
    let mut demo = DemoFile::new(seed);
    demo.level("oa_dm1");
    let begin = *pick(&mut demo.rng, BEGINS);
    (begin.1)(&mut demo);
    let mut names = format!("seed {seed}: {}", begin.0);
    for _ in 0..1 + demo.below(12) {
        let part = *pick(&mut demo.rng, PARTS);
        (part.1)(&mut demo);
        (0..demo.below(30)).for_each(|_| demo.frame(&[]));
        names += &format!(", {}", part.0);
    }
    demo.frame(&[]);
    let end = *pick(&mut demo.rng, ENDS);
    (end.1)(&mut demo);
    (demo, format!("{names}, {}", end.0))
}

/// Snapshots that a reader shows, with their configstrings and chat. Errors are not shown.
fn read(protocol: &'static Protocol, bytes: &[u8]) -> Vec<Shown> {
    let mut reader = DemoReader::new(protocol, bytes);
    let mut finder = EventFinder::default();
    let (mut shown, mut chat) = (Vec::new(), Vec::new());
    while let Some(item) = reader.next() {
        let Ok(message) = item else { continue };
        finder.read(&reader, &message, &mut |event| {
            if let DemoEventKind::Chat { text, .. } = event.kind {
                chat.push(text);
            }
        });
        if let Some(snapshot) = &message.snapshot {
            let strings = reader.configstrings();
            let strings: BTreeMap<_, _> =
                strings.map(|(index, text)| (index.index() as u16, text.to_owned())).collect();
            shown.push(Shown {
                time: snapshot.head.server_time,
                player: snapshot.player,
                entities: snapshot.entities.clone(),
                strings,
                chat: std::mem::take(&mut chat),
                at_ms: finder.elapsed_ms(),
            });
        }
    }
    shown
}

#[track_caller]
fn assert_same(found: &[Shown], expected: &[Shown], begin_ms: u64, what: &str) {
    assert_eq!(found.len(), expected.len(), "snapshots of {what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let expected = Shown { at_ms: expected.at_ms - begin_ms, ..expected.clone() };
        assert_eq!(*found, expected, "snapshot {at} of {what}");
    }
}

#[test]
fn generated_demos_are_read_with_right_values() {
    for seed in seeds(400) {
        let (demo, what) = generated(seed);
        let summary = DemoSummary::of(demo.protocol, &demo.bytes);
        let expected = &demo.found;
        assert_same(&read(demo.protocol, &demo.bytes), &expected.shown, 0, &what);
        let counts = summary.counts;
        assert_eq!(
            (counts.gamestates, counts.errors, counts.notes, summary.frags()),
            (expected.levels, expected.errors, expected.notes, expected.frags),
            "{what}: {:?} {:?}",
            summary.errors,
            summary.notes
        );
        for suffix in ["", ".part"] {
            let name = format!("a.{}{suffix}", demo.protocol.extension);
            let protocol = recognize(&name, &demo.bytes).unwrap();
            assert_eq!(protocol.extension, demo.protocol.extension, "{what}");
        }
        // A name that lies says another form of messages.
        let is_plain = demo.protocol.extension.ends_with(['3', '8']) && demo.protocol.number < 66;
        for name in ["a.bak", if is_plain { "a.dm_68" } else { "a.dm3" }, "a.dm_91"] {
            let number = recognize(name, &demo.bytes).map(|protocol| protocol.number);
            // An undecodable message near the begin leaves only the name.
            assert!(
                number == Ok(demo.protocol.number) || what.contains("undecodable"),
                "{what}: {name}: {number:?}"
            );
        }
    }
}

/// Begin and end of a cut: anywhere, or a snapshot and the one before it.
fn range(rng: &mut SeededRng, shown: &[Shown]) -> (u64, u64) {
    let last = shown.last().map_or(0, |shown| shown.at_ms);
    match rng.below(3) {
        0 => (0, u64::MAX),
        1 => {
            let from = rng.below(last + 1);
            (from, from + rng.below(last + 1))
        }
        _ => {
            let at = rng.below(shown.len() as u64) as usize;
            let to = at + rng.below(4) as usize;
            (shown[at].at_ms, shown[to.min(shown.len() - 1)].at_ms)
        }
    }
}

#[test]
fn cuts_of_generated_demos_play_alone() {
    for seed in seeds(300) {
        let (mut demo, what) = generated(seed);
        let all = read(demo.protocol, &demo.bytes);
        for _ in 0..6 {
            let (from, to) = range(&mut demo.rng, &all);
            let expected: Vec<_> =
                all.iter().filter(|shown| (from..=to).contains(&shown.at_ms)).cloned().collect();
            let what = format!("{from} to {to} of {what}");
            let Ok((part, report)) = cut(demo.protocol, &demo.bytes, from, to) else {
                assert!(expected.is_empty(), "{what}");
                continue;
            };
            let summary = DemoSummary::of(demo.protocol, &part);
            assert_eq!(summary.counts.errors, 0, "{what}: {:?}", summary.errors);
            assert_eq!(summary.counts.messages, report.messages, "{what}");
            assert_same(&read(demo.protocol, &part), &expected, report.from_ms, &what);
        }
    }
}

#[test]
fn converted_demos_show_the_same_play() {
    let mut converted = 0;
    for seed in seeds(300) {
        let (demo, what) = generated(seed);
        let translation = Translation::of(demo.protocol).unwrap();
        let Ok((bytes, report)) = convert(demo.protocol, &demo.bytes) else {
            assert!(Protocol::CURRENT.contains(&demo.protocol), "{what}");
            continue;
        };
        converted += 1;
        let summary = DemoSummary::of(Protocol::Q3_68, &bytes);
        assert_eq!(summary.counts.errors, 0, "{what}: {:?}", summary.errors);
        assert_eq!(summary.counts.messages, report.messages, "{what}");
        assert_eq!(summary.frags(), demo.found.frags, "{what}");
        assert_eq!(summary.client, DemoSummary::of(demo.protocol, &demo.bytes).client, "{what}");
        let numbers = demo.protocol.numbers;
        let shown = demo.found.shown.iter().map(|shown| Shown {
            player: numbers.received_player(&shown.player),
            entities: translation.entities(&shown.entities),
            strings: shown
                .strings
                .iter()
                .filter_map(|(at, text)| translation.configstring(ConfigIndex::at(*at), text))
                .map(|(index, text)| (index.index() as u16, text.into_owned()))
                .collect(),
            ..shown.clone()
        });
        let shown: Vec<_> = shown.collect();
        assert_same(&read(Protocol::Q3_68, &bytes), &shown, 0, &what);
    }
    assert!(converted > 100);
}

#[test]
fn cuts_of_damaged_demos_are_read_without_errors() {
    for seed in seeds(400) {
        let (mut demo, what) = generated(seed);
        for _ in 0..1 + demo.below(6) {
            let at = demo.below(demo.bytes.len() as u64) as usize;
            match demo.below(4) {
                0 => drop(demo.bytes.remove(at)),
                _ => demo.bytes[at] ^= 1 << demo.below(8),
            }
        }
        let last = DemoSummary::of(demo.protocol, &demo.bytes).play_ms;
        let from = demo.below(last.saturating_add(1));
        for (from, to) in [(0, u64::MAX), (from, u64::MAX), (from, from.saturating_add(2000))] {
            let Ok((part, report)) = cut(demo.protocol, &demo.bytes, from, to) else { continue };
            let summary = DemoSummary::of(demo.protocol, &part);
            assert_eq!(summary.counts.errors, 0, "{from} of {what}: {:?}", summary.errors);
            assert_eq!(summary.counts.messages, report.messages, "{from} of {what}");
        }
    }
}

//! Recordings of scripted matches: round trips, cuts at every byte, hostile bytes.

use std::sync::Arc;

use super::*;
use crate::{
    model::{
        Baselines, ClientNum, CommandNum, ConfigIndex, EntityNum, EntitySet, EntityState,
        LevelTime, PlayerState, Sequence, SvFlags, Vec3,
    },
    wire::{
        Protocol,
        bits::BitWriter,
        entity, server_message,
        snapshot::{self, AreaMask, SnapFlags, SnapshotHeader},
    },
};

const CLIENTS: usize = 3;

/// A scripted match, and every message that was sent.
struct Match {
    file: Vec<u8>,
    /// Client, sequence and bytes.
    messages: Vec<(usize, u32, Vec<u8>)>,
}

fn number(number: usize) -> EntityNum {
    EntityNum::new(number).expect("a number")
}

fn client(number: usize) -> ClientNum {
    ClientNum::new(number).expect("a client")
}

fn player(number: usize, frame: usize) -> PlayerState {
    let at = frame as f32;
    let mut state = PlayerState {
        command_time: (frame * 50 + number) as i32,
        client_num: number as i32,
        origin: Vec3::new(at * 1.3, -at, 24.125),
        velocity: Vec3::new(26.0, -20.0, -0.0),
        viewangles: Vec3::new(0.0, at * 360.0 / 65_536.0, 0.0),
        bob_cycle: (frame * 7 % 256) as i32,
        // Wider than its field.
        e_flags: 0x7000_0000 | frame as i32,
        ..PlayerState::default()
    };
    state.stats[0] = 100 - (frame % 30) as i32;
    state
}

fn entities(frame: usize) -> Vec<EntityState> {
    let mut all = Vec::new();
    for at in 0..CLIENTS {
        let player = player(at, frame);
        let mut state = EntityState::numbered(number(at));
        state.e_type = 1;
        state.pos.base = player.origin.truncated();
        state.pos.delta = player.velocity;
        state.e_flags = player.e_flags;
        all.push(state);
    }
    for at in 64..90 {
        if !(at + frame / 7).is_multiple_of(5) {
            let mut state = EntityState::numbered(number(at));
            state.e_type = 2;
            state.origin =
                Vec3::new(at as f32, 0.5, if frame.is_multiple_of(3) { -0.0 } else { 0.0 });
            state.event = if at % 9 == frame % 9 { frame as i32 } else { 0 };
            all.push(state);
        }
    }
    all
}

/// Records a match of `frames` frames. Each client is sent messages as a server sends them.
fn recorded(frames: usize, options: WriterOptions) -> Match {
    let baselines = Baselines::new(entities(0).into_iter().filter(|e| e.number > 70).collect());
    let level = LevelStart { baselines: &baselines, checksum_feed: -77 };
    let header = Header { map: "test".to_owned(), frames_per_second: 20, ..Header::default() };
    let mut writer = Writer::new(&header, &level, options);
    writer.configstring(ConfigIndex::SERVERINFO, "\\mapname\\test");
    let mut file = writer.take();
    let mut messages = Vec::new();
    let mut encoder = BitWriter::new();
    // What each client was sent: sequence, frame, set.
    let mut sent: Vec<Vec<(u32, usize, EntitySet)>> = vec![Vec::new(); CLIENTS];
    let mut texts: Vec<(CommandNum, Arc<str>)> = Vec::new();
    for frame in 0..frames {
        let states = entities(frame);
        let time = LevelTime(1000 + frame as i32 * 50);
        let listed = states.iter().map(|state| {
            let flags = SvFlags(if state.number == 64 { SvFlags::BROADCAST.0 } else { 0 });
            (number(state.number as usize), SceneEntity { state, flags, single_client: 0 })
        });
        let playing = |at: ClientNum| (at.index() < CLIENTS).then(|| player(at.index(), frame));
        writer.frame(time, playing, listed);
        if frame % 11 == 3 {
            let text: Arc<str> = format!("print \"frame {frame}\n\"").into();
            writer.broadcast(&text);
            texts.push((CommandNum(texts.len() as i32 + 1), text));
            writer.configstring(ConfigIndex::at(5), &frame.to_string());
        }
        for at in (0..CLIENTS).filter(|at| frame % (at + 1) == 0) {
            let sequence = 10 + frame as u32;
            let acknowledged = CommandNum(texts.len().saturating_sub(2) as i32);
            let pending: Vec<_> =
                texts.iter().filter(|(number, _)| *number > acknowledged).cloned().collect();
            let message = |sequence| ClientMessage {
                sequence: Sequence(sequence),
                acknowledge: CommandNum(frame as i32 / 4),
                commands_acknowledged: acknowledged,
                commands: pending.iter().map(|(number, text)| (*number, text)),
            };
            if !writer.has_client(client(at)) {
                let name = format!("^1Player {at}");
                let start = ClientStart {
                    sequence: Sequence(sequence - 1),
                    acknowledge: CommandNum(frame as i32 / 4),
                    acknowledged,
                };
                writer.start_client(client(at), &name, Protocol::OA_71, start);
            }
            server_message::begin(&mut encoder, Protocol::OA_71, CommandNum(frame as i32 / 4));
            for (number, text) in &pending {
                server_message::write_command(&mut encoder, *number, text.as_bytes());
            }
            if frame % 13 == 12 {
                server_message::end(&mut encoder);
                writer.commands(client(at), message(sequence));
            } else {
                let mut seen = EntitySet::default();
                states
                    .iter()
                    .filter(|state| {
                        state.number as usize != at
                            && !(state.number as usize + at + frame / 5).is_multiple_of(4)
                    })
                    .for_each(|state| seen.insert(number(state.number as usize)));
                let base = sent[at].iter().rev().nth(frame % 3).filter(|_| frame % 17 != 0);
                let head = SnapshotHeader {
                    server_time: time,
                    delta_num: base.map_or(0, |base| (sequence - base.0) as u8),
                    flags: SnapFlags(if frame % 9 == 0 { 1 } else { 0 }),
                    areas: AreaMask::new(&[frame as u8 & 8]).expect("a mask"),
                };
                let old = base.map(|base| (player(at, base.1), entities(base.1), base.2.clone()));
                let (old_player, old_states, old_seen) = old.unwrap_or_default();
                let is_seen = |seen: &EntitySet, state: &EntityState| {
                    seen.contains(number(state.number as usize))
                };
                snapshot::begin(&mut encoder, CommandNum(0));
                snapshot::write_head(&mut encoder, &head, &old_player, &player(at, frame));
                entity::write_list(
                    &mut encoder,
                    old_states.iter().filter(|state| is_seen(&old_seen, state)),
                    states.iter().filter(|state| is_seen(&seen, state)),
                    |number| baselines.get(number),
                );
                server_message::end(&mut encoder);
                let state = player(at, frame);
                writer.snapshot(client(at), message(sequence), &head, &state, &seen);
                sent[at].push((sequence, frame, seen));
            }
            messages.push((at, sequence, encoder.message().to_vec()));
        }
        if frame == 70 {
            writer.raw(client(0), Sequence(500), b"download");
            messages.push((0, 500, b"download".to_vec()));
            writer.end_client(client(0));
            messages.retain(|(client, sequence, _)| {
                *client != 0 || *sequence <= 80 || *sequence == 500
            });
        }
        file.extend(writer.take());
    }
    writer.finish();
    file.extend(writer.take());
    Match { file, messages }
}

/// Demo of a session, and faults.
fn extracted(file: &[u8], sessions: &[Session], session: usize) -> (Vec<u8>, Vec<Fault>) {
    let mut reader = Reader::open(file).expect("a recording");
    let mut view = OwnView::new(sessions, session).expect("a session");
    let (mut out, mut faults) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next_record() {
        match record {
            Ok(record) => {
                if let Err(what) = view.record(reader.decoder(), &record, &mut out) {
                    panic!("{what}");
                }
            }
            Err(fault) => faults.push(fault),
        }
    }
    (out, faults)
}

/// Sequences and messages of a demo.
fn demo_messages(mut demo: &[u8]) -> Vec<(u32, &[u8])> {
    let mut messages = Vec::new();
    while let Some((head, rest)) = demo.split_first_chunk::<8>() {
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("a word"));
        let (message, rest) = rest.split_at(word(4) as usize);
        messages.push((word(0), message));
        demo = rest;
    }
    messages
}

const SHORT: WriterOptions = WriterOptions { piece_ms: 150, chunk_ms: 1000 };

#[test]
fn extracted_messages_equal_those_sent() {
    for options in [SHORT, WriterOptions::default(), WriterOptions { piece_ms: 0, chunk_ms: 500 }] {
        let recorded = recorded(120, options);
        let index = Reader::open(&recorded.file).expect("a recording").index().expect("an index");
        assert!(index.sessions.len() > CLIENTS, "client 0 starts again");
        for at in 1..CLIENTS {
            let session = index.sessions.iter().position(|s| usize::from(s.client) == at);
            let (demo, faults) = extracted(&recorded.file, &index.sessions, session.expect("one"));
            assert_eq!(faults, []);
            let sent: Vec<_> = recorded
                .messages
                .iter()
                .filter(|(client, ..)| *client == at)
                .map(|(_, sequence, bytes)| (*sequence, &**bytes))
                .collect();
            let got = demo_messages(&demo);
            assert_eq!(got[0].0, sent[0].0 - 1, "the gamestate");
            assert!(got[1..] == sent, "messages of client {at}");
        }
    }
}

#[test]
fn rebuilt_index_equals_written_one() {
    let recorded = recorded(100, SHORT);
    let reader = Reader::open(&recorded.file).expect("a recording");
    let index = reader.index().expect("an index");
    assert_eq!(reader.rebuilt_index(), index);
    assert_eq!((index.frames, index.keys.len()), (100, 5));
    let cut = &recorded.file[..recorded.file.len() - 1];
    let reader = Reader::open(cut).expect("a recording");
    assert_eq!(reader.index(), None);
    assert_eq!(reader.rebuilt_index(), index);
}

#[test]
fn rebuilt_index_has_bounded_sessions() {
    let baselines = Baselines::new(Vec::new());
    let level = LevelStart { baselines: &baselines, checksum_feed: 0 };
    let rebuilt = |ends: bool, starts: usize| {
        let mut writer = Writer::new(&Header::default(), &level, SHORT);
        let mut file = writer.take();
        writer.frame(LevelTime(1000), |_| None, std::iter::empty());
        for _ in 0..starts {
            let start = ClientStart {
                sequence: Sequence(1),
                acknowledge: CommandNum(0),
                acknowledged: CommandNum(0),
            };
            writer.start_client(client(0), "", Protocol::OA_71, start);
            if ends {
                writer.end_client(client(0));
            }
        }
        writer.frame(LevelTime(1050), |_| None, std::iter::empty());
        writer.finish();
        file.extend(writer.take());
        file.truncate(file.len() - 1);
        Reader::open(&file).expect("a recording").rebuilt_index().sessions.len()
    };
    assert_eq!(rebuilt(false, 1000), 1, "a start replaces one without messages");
    assert_eq!(rebuilt(true, 1000), 1000);
    assert_eq!(rebuilt(true, 70_000), 1 << 16);
}

#[test]
fn file_cut_anywhere_keeps_records_before_the_cut() {
    let recorded = recorded(24, WriterOptions { piece_ms: 250, chunk_ms: 600 });
    let count = |file: &[u8]| {
        let Ok(mut reader) = Reader::open(file) else { return (0, 1) };
        let (mut records, mut faults) = (0, 0);
        while let Some(record) = reader.next_record() {
            match record {
                Ok(_) => records += 1,
                Err(fault) => {
                    assert!(fault.offset <= file.len(), "{fault}");
                    faults += 1;
                }
            }
        }
        (records, faults)
    };
    let (whole, faults) = count(&recorded.file);
    assert_eq!(faults, 0);
    let mut last = 0;
    for len in 0..recorded.file.len() {
        let (records, faults) = count(&recorded.file[..len]);
        assert_eq!(faults, 1, "cut at {len}");
        assert!((last..=whole).contains(&records), "cut at {len}: {records} after {last}");
        last = records;
    }
    assert_eq!(last, whole);
}

#[test]
fn damaged_chunk_loses_only_itself() {
    let recorded = recorded(120, SHORT);
    let index = Reader::open(&recorded.file).expect("a recording").index().expect("an index");
    let mut file = recorded.file.clone();
    file[index.keys[2].offset as usize + 60] ^= 1;
    let mut reader = Reader::open(&file).expect("a recording");
    let (mut frames, mut faults) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next_record() {
        match record {
            Ok(Record::Frame) => frames.push(reader.decoder().scene().time().0),
            Ok(_) => {}
            Err(fault) => faults.push(fault),
        }
    }
    let place = index.keys[2].offset as usize;
    assert_eq!(faults, [Fault { offset: place, error: FormatError::Checksum }]);
    let lost = index.keys[2].time.0..index.keys[3].time.0;
    assert!(frames.iter().all(|time| !lost.contains(time)));
    assert_eq!(frames.len(), 100);
}

#[test]
fn seek_continues_at_a_key_frame() {
    let recorded = recorded(120, SHORT);
    let mut reader = Reader::open(&recorded.file).expect("a recording");
    let index = reader.index().expect("an index");
    for (wanted, found) in [(0, 1000), (3999, 3000), (4000, 4000), (99_999, 6000)] {
        reader.seek(&index, LevelTime(wanted));
        assert_eq!(reader.next_record(), Some(Ok(Record::Key)));
        assert_eq!(reader.next_record(), Some(Ok(Record::Frame)));
        assert_eq!(reader.decoder().scene().time(), LevelTime(found), "{wanted}");
        let frame = (found - 1000) / 50;
        let state = reader.decoder().scene().player(client(1)).expect("a player");
        assert_eq!(state, &player(1, frame as usize));
        assert_eq!(reader.decoder().text(ConfigIndex::SERVERINFO), "\\mapname\\test");
    }
}

#[test]
fn changed_bytes_never_panic() {
    let recorded = recorded(30, WriterOptions { piece_ms: 200, chunk_ms: 700 });
    let head = 60;
    for at in (head..recorded.file.len()).step_by(7) {
        let mut file = recorded.file.clone();
        file[at] = file[at].wrapping_add(1 + at as u8 % 200);
        let mut reader = Reader::open(&file).expect("a recording");
        let mut view = Viewpoint::Free(Vec3::default(), 0.0);
        if at % 2 == 0 {
            view = Viewpoint::Follow(client(1));
        }
        let mut demo = SpectatorDemo::new(view, Protocol::Q3_68);
        let (mut out, mut faults) = (Vec::new(), 0);
        while let Some(record) = reader.next_record() {
            match record {
                Ok(record) => demo.record(reader.decoder(), &record, None, &mut out),
                Err(_) => faults += 1,
            }
        }
        assert!(faults > 0, "a change at {at}");
    }
}

#[test]
fn players_are_found_by_name_and_slot() {
    let session = |client, name: &str| Session {
        client,
        name: name.to_owned(),
        from: LevelTime(0),
        to: LevelTime(1),
    };
    let sessions = [session(0, "^1Ann"), session(3, "Bob"), session(0, "ann"), session(7, "3")];
    for (player, found) in
        [("ANN", vec![0, 2]), ("bob", vec![1]), ("0", vec![0, 2]), ("3", vec![3]), ("x", vec![])]
    {
        assert_eq!(sessions_of(&sessions, player), found, "{player}");
    }
}

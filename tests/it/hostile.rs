//! Message parsers on hostile bytes: random, truncated, and with flipped bits.
//!
//! The result is a value or an error. No parser leaves its message, and no value exceeds its bound.

use std::sync::LazyLock;

use fragd::{
    model::{
        ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, PlayerState, ServerId, UserCmd,
        limits::{
            MAX_AREA_BYTES, MAX_BIG_STRING_LEN, MAX_CONFIGSTRINGS, MAX_ENTITIES,
            MAX_GAMESTATE_CHARS, MAX_MESSAGE_LEN, MAX_PACKET_USERCMDS, MAX_STRING_LEN,
        },
    },
    wire::{
        Protocol, Result, WireError,
        bits::{BitReader, BitWriter},
        client_message::{self, ClientHeader, ClientOp},
        download::{self, Block},
        entity, gamestate, player,
        server_message::{self, ServerOp},
        snapshot, usercmd,
    },
};
use proptest::prelude::*;
use serde_json::Value;

use crate::vectors;

type Reader = fn(&mut BitReader<'_>) -> Result<()>;

/// Every reader, by name. Each checks the bounds of what it read.
const READERS: &[(&str, Reader)] = &[
    ("flags", |r| read_on(r, |r| r.flag().map(drop))),
    ("values", |r| read_on(r, |r| (1..=32).try_for_each(|n| r.bits(n).map(drop)))),
    ("bytes, shorts and longs", |r| {
        read_on(r, |r| r.byte().and(r.short()).and(r.long()).map(drop))
    }),
    ("strings", |r| read_on(r, |r| within(r.string()?.len(), MAX_STRING_LEN))),
    ("big strings", |r| read_on(r, |r| within(r.big_string()?.len(), MAX_BIG_STRING_LEN))),
    ("data", |r| read_on(r, |r| r.data(&mut [0; 7]))),
    ("entity record", |r| {
        let number = entity::read_number(r)?;
        entity::read_delta(r, &EntityState::numbered(number), number).map(drop)
    }),
    ("entity list", read_entities),
    ("playerstate", |r| player::read_delta(r, &PlayerState::default()).map(drop)),
    ("usercmd", |r| usercmd::read_delta(r, 0x1234_5678, &UserCmd::default()).map(drop)),
    ("snapshot", read_snapshot),
    ("gamestate", read_gamestate),
    ("first block", |r| read_block(r, 0)),
    ("later block", |r| read_block(r, 70_000)),
    ("voice", |r| server_message::read_voice(r).map(drop)),
    ("server message", read_server_message),
    ("client message", read_client_message),
];

/// Reads until nothing is left.
fn read_on(
    reader: &mut BitReader<'_>,
    mut read: impl FnMut(&mut BitReader<'_>) -> Result<()>,
) -> Result<()> {
    loop {
        read(reader)?;
    }
}

fn within(len: usize, limit: usize) -> Result<()> {
    assert!(len <= limit, "{len} read, at most {limit} may be");
    Ok(())
}

fn read_entities(reader: &mut BitReader<'_>) -> Result<()> {
    let nothing = EntityState::default();
    let old: Vec<_> = EntityNum::all().step_by(3).take(300).map(EntityState::numbered).collect();
    let mut listed = 0;
    let end = entity::read_list(reader, old.iter(), |_| &nothing, |_| listed += 1);
    assert!(listed <= MAX_ENTITIES);
    end
}

fn read_snapshot(reader: &mut BitReader<'_>) -> Result<()> {
    let head = snapshot::read_head(reader)?;
    assert!(head.areas.bytes().len() <= MAX_AREA_BYTES);
    player::read_delta(reader, &PlayerState::default())?;
    read_entities(reader)
}

fn read_gamestate(reader: &mut BitReader<'_>) -> Result<()> {
    let gamestate = gamestate::read(reader)?;
    assert!(gamestate.baselines.len() < MAX_ENTITIES);
    assert!(gamestate.configstrings.len() <= MAX_CONFIGSTRINGS);
    let chars: usize = gamestate.configstrings.iter().map(|(_, text)| text.len() + 1).sum();
    assert!(chars < MAX_GAMESTATE_CHARS);
    Ok(())
}

fn read_block(reader: &mut BitReader<'_>, expected: u32) -> Result<()> {
    match download::read(reader, expected)? {
        Block::Refused(why) => assert!(why.len() <= MAX_STRING_LEN),
        Block::Data { bytes, .. } => assert!(bytes.len() <= 2048),
    }
    Ok(())
}

fn read_server_message(reader: &mut BitReader<'_>) -> Result<()> {
    reader.long()?;
    loop {
        match ServerOp::read(reader)? {
            ServerOp::Nop => {}
            ServerOp::Gamestate => read_gamestate(reader)?,
            ServerOp::Command => {
                assert!(server_message::read_command(reader)?.1.len() <= MAX_STRING_LEN);
            }
            ServerOp::Download => read_block(reader, 0)?,
            ServerOp::Snapshot => read_snapshot(reader)?,
            ServerOp::End => return Ok(()),
            ServerOp::VoiceSpeex | ServerOp::VoiceOpus => {
                server_message::read_voice(reader)?;
            }
            other @ (ServerOp::Configstring | ServerOp::Baseline) => {
                return Err(WireError::Operation(other as u8));
            }
        }
    }
}

fn read_client_message(reader: &mut BitReader<'_>) -> Result<()> {
    ClientHeader::read(reader)?;
    loop {
        match client_message::read_op(reader)? {
            ClientOp::Command { text, .. } => assert!(text.len() <= MAX_STRING_LEN),
            ClientOp::Usercmds { .. } => {
                let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
                let count = client_message::read_usercmds(reader, 7, &mut moves)?;
                assert!((1..=MAX_PACKET_USERCMDS).contains(&count));
            }
            ClientOp::End => return Ok(()),
        }
    }
}

fn reader(name: &str) -> Reader {
    READERS.iter().find(|(known, _)| *known == name).unwrap().1
}

/// Runs a reader, which must not leave its message.
fn run(read: Reader, bytes: &[u8]) -> Result<()> {
    let mut reader = BitReader::new(bytes);
    let result = read(&mut reader);
    assert!(reader.bit_position() <= bytes.len() * 8);
    result
}

fn run_all(bytes: &[u8]) {
    for (_, read) in READERS {
        // Any result is a good one.
        let _ = run(*read, bytes);
    }
}

/// A message that can be read, without any byte that it does not need.
struct Valid {
    what: String,
    read: Reader,
    bytes: Vec<u8>,
}

/// Messages of all kinds: the reference ones, and those that no reference file has.
static VALID: LazyLock<Vec<Valid>> = LazyLock::new(|| {
    let mut valid = Vec::new();
    for line in vectors::read("snapshots.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let kind = case["kind"].as_str().unwrap();
        let read = match kind {
            "entity" => "entity record",
            "playerstate" | "usercmd" => kind,
            "snapshot" | "gamestate" => "server message",
            _ => panic!("no reader for {kind}"),
        };
        let what = format!("{kind} {}", case["id"]);
        let bytes = vectors::from_hex(case["hex"].as_str().unwrap());
        valid.push(Valid { what, read: reader(read), bytes });
    }
    valid.retain(|valid| !valid.bytes.is_empty());

    let mut made = |what: &str, read: &str, write: &dyn Fn(&mut BitWriter)| {
        let mut writer = BitWriter::new();
        write(&mut writer);
        let len = writer.bit_len().div_ceil(8);
        let bytes = writer.message()[..len].to_vec();
        valid.push(Valid { what: what.to_owned(), read: reader(read), bytes });
    };
    made("moves and commands", "client message", &|w| {
        let head = ClientHeader {
            server_id: ServerId(1013),
            message_acknowledge: 300_000,
            reliable_acknowledge: CommandNum(-1),
        };
        client_message::begin(w, Protocol::Q3_68, &head);
        client_message::write_command(w, CommandNum(77), b"say hello");
        client_message::write_command(w, CommandNum(78), b"userinfo \"\\name\\x\"");
        client_message::write_usercmds(w, true, 7, &usercmds());
        client_message::end(w);
    });
    for code in [6, 7] {
        made("voice of a client", "client message", &|w| {
            client_message::begin(w, Protocol::Q3_68, &ClientHeader::default());
            w.byte(code);
            w.byte(1);
            w.long(2);
            w.byte(3);
            w.data(&[4; 8]);
            w.byte(5);
            w.short(90);
            w.data(&[6; 90]);
            client_message::end(w);
        });
    }
    made("voice of a server", "voice", &|w| {
        w.short(1);
        w.byte(2);
        w.long(3);
        w.byte(4);
        w.short(90);
        w.bits(1, 2);
        w.data(&[6; 90]);
    });
    made("first block", "first block", &|w| download::write_block(w, 0, 9, b"some bytes"));
    made("later block", "later block", &|w| download::write_block(w, 70_000, 9, &[200; 1024]));
    made("refusal", "first block", &|w| download::write_refusal(w, b"no such file"));
    valid
});

/// As many usercmds as a message may hold, all different.
fn usercmds() -> Vec<UserCmd> {
    (0..MAX_PACKET_USERCMDS as i32)
        .map(|i| UserCmd {
            server_time: 40_000 + i * 60,
            angles: [i * 2000, 65_000 - i, 0],
            forwardmove: (i * 8 - 127) as i8,
            weapon: (i / 4) as u8,
            ..UserCmd::default()
        })
        .collect()
}

#[test]
fn messages_cut_anywhere_end_inside_a_value() {
    for Valid { what, read, bytes } in VALID.iter() {
        assert_eq!(run(*read, bytes), Ok(()), "{what}");
        // Of long messages, enough places to meet every kind of value.
        for len in (0..bytes.len()).step_by(1 + bytes.len() / 600) {
            let cut = run(*read, &bytes[..len]);
            assert_eq!(cut, Err(WireError::Truncated), "{what} cut to {len} bytes");
        }
    }
}

#[test]
fn messages_with_flipped_bit_are_values_or_errors() {
    let (mut values, mut errors) = (0, 0);
    for Valid { read, bytes, .. } in VALID.iter() {
        let mut bytes = bytes.clone();
        for bit in (0..bytes.len() * 8).step_by(1 + bytes.len() / 50) {
            bytes[bit / 8] ^= 1 << (bit % 8);
            match run(*read, &bytes) {
                Ok(()) => values += 1,
                Err(_) => errors += 1,
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
    assert!(values > 1000 && errors > 1000, "{values} values, {errors} errors");
}

#[test]
fn largest_single_byte_messages_are_values_or_errors() {
    for byte in 0..=255 {
        run_all(&[byte; MAX_MESSAGE_LEN]);
    }
}

#[test]
fn messages_beyond_limits_are_named_errors() {
    let message = |write: &dyn Fn(&mut BitWriter)| {
        let mut writer = BitWriter::new();
        write(&mut writer);
        // Enough bytes for any announced length.
        [writer.message(), &[0xaa; 4000]].concat()
    };
    let out_of_range = |what, number| Err(WireError::OutOfRange { what, number });
    let nothing = EntityState::default();
    let head = |w: &mut BitWriter, areas: u8| {
        w.long(1000);
        w.byte(0);
        w.byte(0);
        w.byte(areas);
    };
    type Write<'a> = &'a dyn Fn(&mut BitWriter);
    let cases: &[(&str, Write<'_>, Result<()>)] = &[
        ("snapshot", &|w| head(w, 33), out_of_range("area mask length", 33)),
        ("snapshot", &|w| head(w, 255), out_of_range("area mask length", 255)),
        ("playerstate", &|w| w.byte(49), Err(WireError::FieldCount(49))),
        (
            "entity record",
            &|w| {
                w.bits(5, 10);
                w.bits(0b10, 2);
                w.byte(52);
            },
            Err(WireError::FieldCount(52)),
        ),
        (
            "entity list",
            &|w| {
                w.bits(7, 10);
                w.bits(0b00, 2);
                w.bits(7, 10);
            },
            Err(WireError::EntityOrder(7)),
        ),
        (
            "entity list",
            &|w| {
                entity::write_removal(w, 7);
                entity::write_removal(w, 6);
            },
            Err(WireError::EntityOrder(6)),
        ),
        (
            "gamestate",
            &|w| {
                w.long(0);
                w.byte(ServerOp::Configstring as u8);
                w.short(1024);
            },
            out_of_range("configstring", 1024),
        ),
        (
            "gamestate",
            &|w| {
                w.long(0);
                w.byte(ServerOp::Configstring as u8);
                w.short(-1);
            },
            out_of_range("configstring", -1),
        ),
        (
            "gamestate",
            &|w| {
                w.long(0);
                w.byte(ServerOp::Baseline as u8);
                entity::write_end(w);
            },
            out_of_range("baseline", 1023),
        ),
        (
            "gamestate",
            &|w| {
                w.long(0);
                w.byte(ServerOp::End as u8);
                w.long(64);
            },
            out_of_range("client number", 64),
        ),
        (
            "gamestate",
            &|w| {
                let texts = (2..5).map(|i| (ConfigIndex::new(i).unwrap(), &[b'x'; 5500][..]));
                let client = ClientNum::new(0).unwrap();
                gamestate::write(w, CommandNum(0), texts, [nothing].iter(), client, Some(0));
            },
            Err(WireError::GamestateOverflow),
        ),
        (
            "client message",
            &|w| {
                client_message::begin(w, Protocol::Q3_68, &ClientHeader::default());
                w.byte(2);
                w.byte(0);
            },
            Err(WireError::UsercmdCount(0)),
        ),
        (
            "client message",
            &|w| {
                client_message::begin(w, Protocol::Q3_68, &ClientHeader::default());
                w.byte(3);
                w.byte(33);
            },
            Err(WireError::UsercmdCount(33)),
        ),
        (
            "client message",
            &|w| {
                client_message::begin(w, Protocol::Q3_68, &ClientHeader::default());
                w.byte(1);
            },
            Err(WireError::Operation(1)),
        ),
        (
            "server message",
            &|w| {
                server_message::begin(w, Protocol::Q3_68, CommandNum(0));
                w.byte(11);
            },
            Err(WireError::Operation(11)),
        ),
        ("later block", &|w| (w.short(0), w.short(-1)).1, out_of_range("download block", -1)),
    ];
    for (name, write, expected) in cases {
        assert_eq!(run(reader(name), &message(write)), *expected, "{name}");
    }
}

proptest! {
    #[test]
    fn random_bytes_are_values_or_errors(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        run_all(&bytes);
    }

    #[test]
    fn repetitive_bytes_are_values_or_errors(
        bytes in prop::collection::vec(prop::sample::select(vec![0, 1, 0x80, 0xaa, 0x55, 0xff]), 0..300)
    ) {
        run_all(&bytes);
    }

    #[test]
    fn tampered_messages_are_values_or_errors(
        pick: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        keep: prop::sample::Index,
    ) {
        let mut bytes = pick.get(&VALID).bytes.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(1 + keep.index(bytes.len()));
        run_all(&bytes);
    }
}

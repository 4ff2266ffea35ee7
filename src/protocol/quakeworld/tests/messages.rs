//! Messages: every row in both directions, errors with their position, arbitrary bytes.

use proptest::prelude::*;

use super::{
    bytes::{Angle, Coord, Element, ReadFault, Reader, Text, Writer},
    effects::{Nail, TempEntity, write_nails},
    entities::{DeltaList, EntityDelta, EntityState, flag},
    extensions::{FTE_BIG_COORDS, FTE_CHUNKED, MVD1_ANGLE_REASON, MVD1_FLOAT_COORDS},
    level::{Download, write_name_list},
    packet::{Message, Messages},
    *,
};

const ALL: Extensions = Extensions {
    fte: Extensions::SUPPORTED.fte & !FTE_BIG_COORDS,
    fte2: 2,
    mvd1: MVD1_FLOAT_COORDS | MVD1_ANGLE_REASON,
};
const BIG: Extensions = Extensions { fte: FTE_BIG_COORDS, fte2: 0, mvd1: 0 };

fn written<'a>(elements: &[impl Element<'a>], extensions: Extensions) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, 4000, extensions);
    elements.iter().for_each(|element| writer.write(element));
    assert!(!writer.is_overflowed());
    out
}

/// Reads a payload and writes it again until a fault; returns the bytes up to there.
fn rewritten<'a, M: Message<'a>>(payload: &'a [u8], extensions: Extensions) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, 70_000, extensions);
    let mut messages = Messages::<M>::new(payload, extensions);
    let mut end = 0;
    while let Some(Ok(message)) = messages.next() {
        writer.write(&message);
        end = messages.offset();
    }
    (out, end)
}

/// Number of rows whose messages of zeros, or of ones, are read and written again as they were.
fn readable_rows<'a, M: Message<'a>>(
    table: &[(u8, &str)],
    buffers: &'a [Vec<u8>],
    extensions: Extensions,
) -> usize {
    let is_read = |(number, _): &&(u8, &str)| {
        buffers.iter().filter(|buffer| buffer[0] == *number).any(|buffer| {
            let mut messages = Messages::<M>::new(buffer, extensions);
            let Some(Ok(message)) = messages.next() else { return false };
            let out = written(&[message], extensions);
            out == buffer[..out.len()] && out.len() == messages.offset()
        })
    };
    table.iter().filter(is_read).count()
}

#[test]
fn messages_of_every_number_are_read_and_written() {
    let buffers: Vec<Vec<u8>> = (0..=255)
        .flat_map(|number| {
            let fill = |byte: u8| {
                let mut buffer = vec![byte; 1400];
                buffer[0] = number;
                // Level data starts with the protocol.
                if number == 11 {
                    buffer[1] = 28;
                }
                buffer
            };
            [fill(0), fill(1)]
        })
        .collect();
    for extensions in [Extensions::NONE, ALL, BIG] {
        let rows = ServerMessage::TABLE;
        assert_eq!(readable_rows::<ServerMessage<'_>>(rows, &buffers, extensions), rows.len());
        let rows = ClientMessage::TABLE;
        assert_eq!(readable_rows::<ClientMessage<'_>>(rows, &buffers, extensions), rows.len());
    }
    assert_eq!((ServerMessage::TABLE.len(), ClientMessage::TABLE.len()), (49, 7));
}

#[test]
fn errors_name_message_and_offset() {
    for (payload, error) in [
        (&b"\x01\x08\x02text"[..], "print at byte 1, byte 3: text without end"),
        (b"\x01\x01\x24\x05\x00", "updateping at byte 2, byte 4: message ends early"),
        (b"\x04", "message at byte 0, byte 1: unknown message: 4"),
        (b"\x17\x0e\0\0", "temp_entity at byte 0, byte 2: unknown temporary entity: 14"),
        (b"\x2b\x21", "nails at byte 0, byte 2: too many nails (max 32)"),
        (b"\x0b\x1d\0\0\0\0\0\0\0", "serverdata at byte 0, byte 9: unknown protocol: 29"),
    ] {
        let found = ServerMessages::checked(payload, Extensions::NONE).unwrap_err();
        assert_eq!(found.to_string(), error);
    }
}

#[test]
fn extensions_of_server_data_hold_in_their_packet() {
    let data = level::ServerData {
        extensions: ALL,
        server_count: 3,
        game_folder: "qw".into(),
        player: 4,
        is_spectator: true,
        level_name: "The Box".into(),
        move_vars: level::MoveVars { gravity: 800.0, ..Default::default() },
    };
    let player = PlayerInfo { origin: [0.3, -5.7, 9000.1], ..Default::default() };
    let messages = [ServerMessage::ServerData(data), ServerMessage::PlayerInfo(player)];
    let payload = written(&messages, Extensions::NONE);
    let read = ServerMessages::checked(&payload, Extensions::NONE).unwrap();
    assert!(read.map(Result::unwrap).eq(messages));
}

#[test]
fn coordinates_round_half_away_from_zero() {
    for (value, eighths) in
        [(0.0, 0), (0.0625, 1), (-0.0625, -1), (0.06, 0), (4095.9, 32767), (-9000.0, -32768)]
    {
        assert_eq!(bytes::coord_eighths(value), eighths, "{value}");
    }
    assert_eq!(bytes::coord_eighths(f32::NAN), 0);
    assert_eq!(bytes::round_coord(1.06), 1.0);
    assert_eq!(Angle::from_degrees(90.0), Angle(0x4000));
    assert_eq!(Angle::from_degrees(-90.0).byte(), 0xc0);
    assert_eq!(Angle(0x8000).degrees(), -180.0);
}

#[test]
fn entity_deltas_hold_changes_only() {
    let from = EntityState { model: 5, frame: 1, origin: [1.0, 2.0, 3.0], ..Default::default() };
    let mut to = EntityState { frame: 2, effects: 8, ..from };
    to.origin[2] = 3.5;
    to.angles[1] = Angle(0x1000);
    let delta = EntityDelta::between(44, &from, &to, Extensions::NONE);
    let flags = flag::FRAME | flag::MORE | flag::EFFECTS | flag::ORIGIN[2] | flag::ANGLE[1];
    assert_eq!(delta.flags(), flags);
    assert_eq!(written(&[delta], Extensions::NONE), *b"\x2c\xb8\x20\x02\x08\x10\x1c\0");
    assert_eq!(delta.apply(&from), to);
    // A change that the wire does not show.
    to = from;
    to.origin[0] = 1.05;
    assert!(EntityDelta::between(44, &from, &to, Extensions::NONE).is_empty());
    assert!(!EntityDelta::between(44, &from, &to, ALL).is_empty());
}

#[test]
fn entity_deltas_of_high_numbers_have_more_flags() {
    let from = EntityState::default();
    let to = EntityState { model: 300, alpha: 7, ..from };
    for number in [1, 511, 512, 700, 1100, 2047] {
        let deltas = [EntityDelta::between(number, &from, &to, ALL), EntityDelta::removal(number)];
        let mut bytes = written(&deltas, ALL);
        bytes.extend([0, 0]);
        let mut reader = Reader::new(&bytes, ALL);
        let list: DeltaList<'_> = reader.read().unwrap();
        assert!(reader.is_at_end());
        assert!(list.iter().eq(deltas), "{number}");
        assert_eq!(list.iter().next().unwrap().apply(&from), to);
    }
}

#[test]
fn entities_of_one_packet_are_limited() {
    let deltas = vec![EntityDelta::removal(3); 129];
    let mut bytes = written(&deltas, Extensions::NONE);
    bytes.extend([0, 0]);
    let read = Reader::new(&bytes, Extensions::NONE).read::<DeltaList<'_>>();
    assert_eq!(read, Err(ReadFault::TooMany("entities", 128)));
    assert_eq!(Reader::new(&bytes, ALL).read::<DeltaList<'_>>().unwrap().iter().count(), 129);
}

#[test]
fn nails_are_packed_in_steps_of_two_units() {
    let nail = Nail::new([100.0, -200.0, 4000.0], Angle(0x3000), Angle(0x8000));
    let mut bytes = Vec::new();
    write_nails(&mut Writer::new(&mut bytes, 100, Extensions::NONE), &[nail; 3]);
    assert_eq!(bytes.len(), 2 + 3 * 6);
    let mut messages = ServerMessages::checked(&bytes, Extensions::NONE).unwrap();
    let Some(Ok(ServerMessage::Nails(nails))) = messages.next() else { panic!() };
    assert!(nails.iter().eq([nail; 3]));
    assert_eq!((nail.pitch, nail.yaw), (3, 128));
}

#[test]
fn name_lists_continue_where_room_ends() {
    let names: Vec<String> = (0..300).map(|at| format!("progs/model{at}.mdl")).collect();
    let (mut first, mut seen) = (0, Vec::new());
    loop {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, 500, Extensions::NONE);
        let rest = names[..200].iter().skip(usize::from(first)).map(|name| name.as_bytes());
        let next = write_name_list(&mut writer, 45, first, rest);
        assert!(!writer.is_overflowed() && bytes.len() <= 500);
        let mut messages = ServerMessages::checked(&bytes, Extensions::NONE).unwrap();
        let Some(Ok(ServerMessage::ModelList(list))) = messages.next() else { panic!() };
        seen.extend(list.iter().map(|(number, name)| (number, name.to_string())));
        assert_eq!(list.next, next);
        if next == 0 {
            break;
        }
        first = next;
    }
    assert!(seen.into_iter().eq((1..=200).map(|at| (at, names[at - 1].clone()))));
}

#[test]
fn downloads_have_two_forms() {
    let chunked = Extensions { fte: FTE_CHUNKED, ..Extensions::NONE };
    let size = Download::Size { size: -1, name: "skins/base.pcx".into() };
    let chunk = Download::Chunk { number: 7, bytes: &[3; 1024] };
    let block = Download::Block { percent: 50, bytes: b"abc" };
    for (part, extensions) in [
        (size, chunked),
        (chunk, chunked),
        (block, Extensions::NONE),
        (Download::Refused, Extensions::NONE),
    ] {
        let bytes = written(&[part], extensions);
        assert_eq!(Reader::new(&bytes, extensions).read::<Download<'_>>(), Ok(part));
    }
}

#[test]
fn temporary_entities_have_their_layout() {
    let origin = [1.0, 2.0, 3.0].map(Coord);
    for (kind, len) in [(0, 7), (TempEntity::GUNSHOT, 8), (TempEntity::BLOOD, 8), (13, 7)] {
        let effect = TempEntity::at(kind, origin).unwrap();
        assert_eq!(written(&[effect], Extensions::NONE).len(), len, "{}", effect.name());
    }
    assert!(TempEntity::at(5, origin).is_none() && TempEntity::at(14, origin).is_none());
    let beam = b"\x05\x07\0\x08\0\0\0\0\0\x10\0\0\0\0\0";
    let effect: TempEntity = Reader::new(beam, Extensions::NONE).read().unwrap();
    assert_eq!((effect.entity, effect.origin[0], effect.end[0]), (7, Coord(1.0), Coord(2.0)));
}

#[test]
fn writer_leaves_out_what_does_not_fit() {
    let mut out = vec![9; 3];
    let mut writer = Writer::new(&mut out, 6, Extensions::NONE);
    assert!(writer.attempt(|w| w.write(&Text::from("abc"))));
    assert!(!writer.attempt(|w| {
        w.write(&1_u8);
        w.write(&Text::from("de"));
    }));
    assert!(!writer.is_overflowed());
    writer.write(&0x0201_u16);
    assert_eq!(writer.room(), 0);
    writer.write(&1_u8);
    assert!(writer.is_overflowed());
    assert_eq!(out, b"\x09\x09\x09abc\0\x01\x02");
}

#[test]
fn texts_split_into_words_and_numbers() {
    let words = |text: &'static str| -> Vec<String> {
        Text::from(text).words().map(|word| word.to_string()).collect()
    };
    assert_eq!(words("setinfo \"a key\" \"\" x"), ["setinfo", "a key", "", "x"]);
    assert_eq!(words("  \"open"), ["open"]);
    for (text, number) in [
        ("12", Some(12)),
        ("-1152969310", Some(-1_152_969_310)),
        ("0x2140f000", Some(0x2140_f000)),
        ("7x", Some(7)),
        ("x", None),
        ("0x", None),
        ("99999999999999999999999", None),
    ] {
        assert_eq!(Text::from(text).number(), number, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_payloads_are_written_as_they_were_read(
        payload in prop::collection::vec(prop_oneof![any::<u8>(), 0_u8..64], 0..300),
        choice in 0_usize..3,
    ) {
        let extensions = [Extensions::NONE, ALL, BIG][choice];
        let _ = ServerMessages::checked(&payload, extensions);
        // Forms are canonical but for usercmds, chunks and unused bits: written twice, they are equal.
        let (once, end) = rewritten::<ServerMessage<'_>>(&payload, extensions);
        let (twice, _) = rewritten::<ServerMessage<'_>>(&once, extensions);
        prop_assert!(once.len() <= end);
        prop_assert_eq!(&once, &twice);
        let (once, end) = rewritten::<ClientMessage<'_>>(&payload, extensions);
        let (twice, _) = rewritten::<ClientMessage<'_>>(&once, extensions);
        prop_assert!(once.len() <= end);
        prop_assert_eq!(&once, &twice);
    }

    #[test]
    fn check_of_players_finds_what_reading_finds(
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..44), 1..4),
    ) {
        let payload: Vec<u8> = parts.iter().flat_map(|part| [&[42], &part[..]].concat()).collect();
        for extensions in [Extensions::NONE, ALL] {
            let read = Messages::<ServerMessage<'_>>::new(&payload, extensions).find_map(Result::err);
            let checked = Messages::<ServerMessage<'_>>::checked(&payload, extensions).err();
            prop_assert_eq!(checked, read);
        }
    }

    #[test]
    fn entity_deltas_lead_to_the_new_state(
        fields in prop::array::uniform2((any::<[u8; 5]>(), any::<u16>(), any::<[i16; 3]>(), any::<[u16; 3]>())),
        number in 1_u16..512,
        choice in 0_usize..3,
    ) {
        let extensions = [Extensions::NONE, ALL, BIG][choice];
        let [from, to] = fields.map(|([frame, colormap, skin, effects, _], model, origin, angles)| {
            let origin = origin.map(|eighths| f32::from(eighths) / 8.0);
            let angles = angles.map(|angle| Angle(if choice == 2 { angle } else { angle & 0xff00 }));
            let model = if choice == 0 { model & 255 } else { model };
            EntityState { model, frame, colormap, skin, effects, alpha: 0, origin, angles }
        });
        let delta = EntityDelta::between(number, &from, &to, extensions);
        let bytes = written(&[delta], extensions);
        let read: EntityDelta = Reader::new(&bytes, extensions).read().unwrap();
        prop_assert_eq!(read, delta);
        prop_assert_eq!(read.apply(&from), to);
        prop_assert_eq!(delta.is_empty(), from == to);
    }
}

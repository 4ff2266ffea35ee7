//! Exact bits of deltas, snapshots, gamestates and usercmds, as two engines agreed on them.

use fragd::{
    model::{
        Buttons, ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, LevelTime,
        PlayerState, UserCmd,
    },
    wire::{
        Protocol,
        bits::{BitReader, BitWriter, safe_byte},
        entity::{self, EntityUpdate},
        field_tables::{ENTITY_68, PLAYER_68},
        fields::{FieldKind, FieldTable},
        gamestate, player,
        server_message::{self, ServerOp},
        snapshot::{self, AreaMask, SnapFlags, SnapshotHeader, SnapshotView},
        usercmd,
    },
};
use serde_json::Value;

use crate::{
    recorded_states::{RecordedScene, entity_of, player_of},
    vectors,
};

/// One line of the file.
struct Case(Value);

impl Case {
    fn id(&self) -> String {
        format!("{} ({})", self.text("id"), self.text("tag"))
    }

    fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap()
    }

    fn int(&self, key: &str) -> i64 {
        self.0[key].as_i64().unwrap()
    }

    fn list(&self, key: &str) -> &[Value] {
        self.0[key].as_array().unwrap()
    }

    /// Compares written bits with the line's.
    fn check_bits(&self, writer: &mut BitWriter) {
        let bits = usize::try_from(self.int("bits")).unwrap();
        assert_eq!(writer.bit_len(), bits, "{}: bits", self.id());
        let message = &writer.message()[..bits.div_ceil(8)];
        assert_eq!(vectors::to_hex(message), self.text("hex"), "{}", self.id());
    }

    fn bytes(&self) -> Vec<u8> {
        vectors::from_hex(self.text("hex"))
    }
}

fn cases(kind: &str) -> Vec<Case> {
    let file = vectors::read("snapshots.jsonl");
    let cases: Vec<_> = file
        .lines()
        .map(|line| Case(serde_json::from_str(line).unwrap()))
        .filter(|case| case.text("kind") == kind)
        .collect();
    assert!(!cases.is_empty(), "no case of kind {kind}");
    cases
}

/// One character of the file is one byte.
fn latin1(text: &Value) -> Vec<u8> {
    text.as_str().unwrap().chars().map(|c| u8::try_from(c).unwrap()).collect()
}

/// Expected decoded value: `decoded` where encoding is lossy, else `to`.
fn expected(case: &Case) -> &Value {
    case.0.get("decoded").unwrap_or(&case.0["to"])
}

#[test]
fn entity_vectors_both_ways() {
    for case in cases("entity") {
        let [from, to] = ["from", "to"].map(|key| case.0[key].as_object().map(|_| &case.0[key]));
        let [from, to] = [from, to].map(|state| state.map(entity_of));
        let force = case.0["force"].as_bool().unwrap();
        let mut writer = BitWriter::new();
        match (&from, &to) {
            (_, Some(to)) => {
                let nothing = EntityState { number: to.number, ..EntityState::default() };
                entity::write_delta(&mut writer, from.as_ref().unwrap_or(&nothing), to, force);
            }
            (Some(from), None) => entity::write_removal(&mut writer, from.number),
            (None, None) => {}
        }
        case.check_bits(&mut writer);

        let bytes = case.bytes();
        if bytes.is_empty() {
            continue;
        }
        let mut reader = BitReader::new(&bytes);
        let number = entity::read_number(&mut reader).unwrap();
        let from = from.unwrap_or(EntityState::numbered(number));
        let read = entity::read_delta(&mut reader, &from, number).unwrap();
        let expected = to.map(|_| entity_of(expected(&case)));
        let words = |state: &Option<EntityState>| state.map(|state| *state.words());
        assert_eq!(words(&read), words(&expected), "{}: read", case.id());
        assert_eq!(reader.bit_position() as i64, case.int("bits"), "{}", case.id());
    }
}

#[test]
fn playerstate_vectors_both_ways() {
    for case in cases("playerstate") {
        let [from, to] = ["from", "to"].map(|key| player_of(&case.0[key]));
        let mut writer = BitWriter::new();
        player::write_delta(&mut writer, &from, &to);
        case.check_bits(&mut writer);

        let bytes = case.bytes();
        let mut reader = BitReader::new(&bytes);
        let read = player::read_delta(&mut reader, &from).unwrap();
        assert_eq!(read.words(), player_of(expected(&case)).words(), "{}: read", case.id());
        assert_eq!(reader.bit_position() as i64, case.int("bits"), "{}", case.id());
    }
}

fn usercmd_of(value: &Value) -> UserCmd {
    let int = |name: &str| value[name].as_i64().unwrap() as i32;
    UserCmd {
        server_time: int("server_time"),
        angles: [int("angles0"), int("angles1"), int("angles2")],
        buttons: Buttons(int("buttons")),
        weapon: int("weapon") as u8,
        forwardmove: int("forward") as i8,
        rightmove: int("right") as i8,
        upmove: int("up") as i8,
    }
}

#[test]
fn usercmd_vectors_both_ways() {
    for case in cases("usercmd") {
        let [from, to] = ["from", "to"].map(|key| usercmd_of(&case.0[key]));
        let key = case.int("key") as u32;
        let mut writer = BitWriter::new();
        usercmd::write_delta(&mut writer, key, &from, &to);
        case.check_bits(&mut writer);

        let bytes = case.bytes();
        let mut reader = BitReader::new(&bytes);
        let read = usercmd::read_delta(&mut reader, key, &from).unwrap();
        assert_eq!(read, usercmd_of(expected(&case)), "{}: read", case.id());
        assert_eq!(reader.bit_position() as i64, case.int("bits"), "{}", case.id());
    }
}

/// Writes the message of a snapshot case that shows `new`.
fn write_snapshot(
    writer: &mut BitWriter,
    case: &Case,
    scene: &RecordedScene,
    new: (&PlayerState, &[EntityState]),
) {
    server_message::begin(writer, Protocol::Q3_68, CommandNum(case.int("ack") as i32));
    for command in case.list("commands") {
        let number = CommandNum(command["seq"].as_i64().unwrap() as i32);
        server_message::write_command(writer, number, &latin1(&command["text"]));
    }
    writer.byte(ServerOp::Snapshot as u8);
    snapshot::write(
        writer,
        &head_of(case),
        SnapshotView { player: &scene.old.0, entities: scene.old.1.iter() },
        SnapshotView { player: new.0, entities: new.1.iter() },
        |number| scene.baseline(number),
    );
    server_message::end(writer);
}

fn head_of(case: &Case) -> SnapshotHeader {
    SnapshotHeader {
        server_time: LevelTime(case.int("server_time") as i32),
        delta_num: case.int("delta_num") as u8,
        flags: SnapFlags(case.int("snap_flags") as u8),
        areas: AreaMask::new(&vectors::from_hex(case.text("areamask"))).unwrap(),
    }
}

#[test]
fn snapshot_vectors_both_ways() {
    for case in cases("snapshot") {
        let scene = RecordedScene::of(&case.0);
        let mut writer = BitWriter::new();
        write_snapshot(&mut writer, &case, &scene, (&scene.new.0, &scene.new.1));
        case.check_bits(&mut writer);
        vectors::check_server_datagrams(&case.0, writer.message());

        // And back: what was told, relative to what was known.
        let message = writer.message().to_vec();
        let mut reader = BitReader::new(&message);
        assert_eq!(i64::from(reader.long().unwrap()), case.int("ack"));
        for command in case.list("commands") {
            assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::Command));
            let (number, text) = server_message::read_command(&mut reader).unwrap();
            assert_eq!(i64::from(number.0), command["seq"].as_i64().unwrap());
            let sent = latin1(&command["text"]);
            let safe: String = sent.iter().map(|&b| char::from(safe_byte(b))).collect();
            assert_eq!(text, if sent.len() > 1023 { String::new() } else { safe }, "{}", case.id());
        }
        assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::Snapshot));
        assert_eq!(snapshot::read_head(&mut reader), Ok(head_of(&case)), "{}", case.id());
        let player = player::read_delta(&mut reader, &scene.old.0).unwrap();
        let mut entities = Vec::new();
        let baseline = |number: EntityNum| scene.baseline(number.index() as i32);
        entity::read_list(&mut reader, scene.old.1.iter(), baseline, |listed| {
            entities.push(match listed {
                EntityUpdate::Unchanged(kept) => *kept,
                EntityUpdate::Changed(told) => told,
            });
        })
        .unwrap();
        assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::End));
        assert_eq!(reader.bit_position() as i64, case.int("bits"), "{}", case.id());

        let expected =
            arriving(&PLAYER_68, "player_fields.csv", scene.old.0.words(), scene.new.0.words());
        let fields_of = |words| PLAYER_68.dump(words).collect::<Vec<_>>();
        assert_eq!(fields_of(player.words()), fields_of(&expected), "{}: player", case.id());
        let (from, to) = (&scene.old.0, &scene.new.0);
        let short = |entry: i32| i32::from(entry as i16);
        for (array, from, to) in [
            (player.stats, from.stats, to.stats.map(short)),
            (player.persistant, from.persistant, to.persistant.map(short)),
            (player.ammo, from.ammo, to.ammo.map(short)),
            (player.powerups, from.powerups, to.powerups),
        ] {
            assert!((0..16).all(|i| array[i] == to[i] || array[i] == from[i]), "{}", case.id());
        }
        assert_eq!(entities.len(), scene.new.1.len(), "{}", case.id());
        for (entity, sent) in entities.iter().zip(&scene.new.1) {
            let number = sent.number;
            let from = scene.old.1.iter().find(|old| old.number == number);
            let from = from.unwrap_or(scene.baseline(number)).words();
            let expected = arriving(&ENTITY_68, "entity_fields.csv", from, sent.words());
            assert_eq!(*entity.words(), expected, "{}: entity {number}", case.id());
        }
    }
}

/// Fields of `to` as decoded from `from`. Changed ones lose bits beyond their field width, and the
/// sign of zero.
fn arriving<const W: usize>(
    table: &FieldTable<W>,
    widths: &str,
    from: &[u32; W],
    to: &[u32; W],
) -> [u32; W] {
    let mut arrived = *to;
    for row in vectors::table(widths) {
        let at = table.word_of(row.text("name")).unwrap();
        if from[at] == to[at] {
            continue;
        }
        arrived[at] = match row.number::<i32>("bits") {
            0 if to[at] == 0x8000_0000 => 0,
            0 => to[at],
            bits => {
                let unused = 32 - bits.unsigned_abs();
                let high = to[at] << unused;
                if bits < 0 { (high as i32 >> unused) as u32 } else { high >> unused }
            }
        };
    }
    arrived
}

#[test]
fn field_vectors_equal_the_tables() {
    fn check<const W: usize>(table: &FieldTable<W>, file: &str) {
        let rows = vectors::table(file);
        let names: Vec<_> = rows.iter().map(|row| row.text("name")).collect();
        let known: Vec<_> = table.fields.iter().map(|field| field.name).collect();
        assert_eq!(names, known, "{file}");
        for (row, field) in rows.iter().zip(table.fields) {
            let bits = match field.kind {
                FieldKind::Float => 0,
                FieldKind::Int(bits) => i32::from(bits),
                FieldKind::Signed(bits) => -i32::from(bits),
                FieldKind::Axis => panic!("axes belong to usercmds"),
            };
            assert_eq!(bits, row.number::<i32>("bits"), "{file}: {}", field.name);
        }
    }
    check(&ENTITY_68, "entity_fields.csv");
    check(&PLAYER_68, "player_fields.csv");
}

#[test]
fn gamestate_vectors_both_ways() {
    for case in cases("gamestate") {
        let strings: Vec<_> = case
            .list("configstrings")
            .iter()
            .map(|string| {
                let index = string["index"].as_u64().unwrap() as usize;
                (ConfigIndex::new(index).unwrap(), latin1(&string["text"]))
            })
            .collect();
        let baselines: Vec<_> = case.list("baselines").iter().map(entity_of).collect();
        let client_num = ClientNum::new(case.int("client_num") as usize).unwrap();
        let command_num = CommandNum(case.int("command_seq") as i32);
        let feed = case.int("checksum_feed") as i32;
        let mut writer = BitWriter::new();
        server_message::begin(&mut writer, Protocol::Q3_68, CommandNum(case.int("ack") as i32));
        writer.byte(ServerOp::Gamestate as u8);
        gamestate::write(
            &mut writer,
            command_num,
            strings.iter().map(|(index, text)| (*index, text.as_slice())),
            baselines.iter(),
            client_num,
            Some(feed),
        );
        server_message::end(&mut writer);
        case.check_bits(&mut writer);
        vectors::check_server_datagrams(&case.0, writer.message());

        let message = writer.message().to_vec();
        let mut reader = BitReader::new(&message);
        reader.long().unwrap();
        assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::Gamestate));
        let read = gamestate::read(&mut reader).unwrap();
        assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::End));
        assert_eq!(
            (read.command_num, read.client_num, read.checksum_feed),
            (command_num, Some(client_num), Some(feed))
        );
        let texts: Vec<_> = strings
            .iter()
            .map(|(index, text)| (*index, text.iter().map(|&b| char::from(safe_byte(b))).collect()))
            .collect::<Vec<(_, String)>>();
        assert_eq!(read.configstrings, texts, "{}", case.id());
        assert_eq!(read.baselines.len(), baselines.len(), "{}", case.id());
        let nothing = EntityState::default();
        for (baseline, sent) in read.baselines.iter().zip(&baselines) {
            let nothing = nothing.words();
            let expected = arriving(&ENTITY_68, "entity_fields.csv", nothing, sent.words());
            assert_eq!(*baseline.words(), expected, "{}: {}", case.id(), sent.number);
        }
    }
}

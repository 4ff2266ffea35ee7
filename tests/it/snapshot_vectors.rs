//! Exact bits of deltas, snapshots, gamestates and usercmds, as two engines agreed on them.

use fragd::{
    model::{
        Buttons, ClientNum, CommandNum, ConfigIndex, EntityNum, EntityState, LevelTime,
        PlayerState, UserCmd,
    },
    wire::{
        bits::{BitReader, BitWriter},
        entity::{self, Listed},
        fields, gamestate, player,
        server_message::{self, Operation},
        snapshot::{self, AreaMask, SnapFlags, SnapshotHead, View},
        usercmd,
    },
};
use serde_json::{Map, Value};

use crate::vectors;

/// One line of the file.
struct Case(Map<String, Value>);

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

    /// What was written equals the line's bits.
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

fn word(value: &Value) -> u32 {
    match value {
        Value::String(hex) => u32::from_str_radix(hex, 16).unwrap(),
        number => number.as_i64().unwrap() as u32,
    }
}

fn entity_of(value: &Value) -> EntityState {
    let mut state = EntityState::default();
    for (name, value) in value.as_object().unwrap() {
        if name == "number" {
            state.number = value.as_i64().unwrap() as i32;
        } else {
            let at = fields::ENTITY.word_of(name).unwrap_or_else(|| panic!("field {name}"));
            state.words_mut()[at] = word(value);
        }
    }
    state
}

fn player_of(value: &Value) -> PlayerState {
    let mut state = PlayerState::default();
    let Some(members) = value.as_object() else { return state };
    for (name, value) in members {
        let array_at = name.find('[').map(|at| (&name[..at], name[at + 1..at + 2].to_owned()));
        let index = name.split(['[', ']']).nth(1).and_then(|i| i.parse::<usize>().ok());
        let int = word(value) as i32;
        match (array_at.as_ref().map(|(array, _)| *array), index) {
            (Some("stats"), Some(i)) => state.stats[i] = int,
            (Some("persistant"), Some(i)) => state.persistant[i] = int,
            (Some("ammo"), Some(i)) => state.ammo[i] = int,
            (Some("powerups"), Some(i)) => state.powerups[i] = int,
            _ => match name.as_str() {
                "ping" => state.ping = int,
                "pmove_framecount" => state.pmove_framecount = int,
                "jumppad_frame" => state.jumppad_frame = int,
                "entityEventSequence" => state.entity_event_sequence = int,
                "externalEventTime" => state.external_event_time = int,
                _ => {
                    let at = fields::PLAYER.word_of(name).unwrap_or_else(|| panic!("{name}"));
                    state.words_mut()[at] = word(value);
                }
            },
        }
    }
    state
}

/// What a reader must get: `decoded` where the wire loses something, else `to`.
fn expected<'a>(case: &'a Case) -> &'a Value {
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

/// A list of entities, where a plain integer stands for the old one of that number.
fn entities_of(list: &Value, old: &[EntityState]) -> Vec<EntityState> {
    let one = |value: &Value| match value.as_i64() {
        Some(number) => *old.iter().find(|e| i64::from(e.number) == number).unwrap(),
        None => entity_of(value),
    };
    list.as_array().unwrap().iter().map(one).collect()
}

/// The baseline of that number, or the zero state.
fn baseline_of<'a>(
    baselines: &'a [EntityState],
    nothing: &'a EntityState,
    number: i32,
) -> &'a EntityState {
    baselines.iter().find(|baseline| baseline.number == number).unwrap_or(nothing)
}

#[test]
fn snapshot_vectors_both_ways() {
    for case in cases("snapshot") {
        let nobody = PlayerState::default();
        let nothing = EntityState::default();
        let (old_player, old_entities) = match &case.0["old"] {
            Value::Null => (nobody, Vec::new()),
            old => (player_of(&old["ps"]), entities_of(&old["entities"], &[])),
        };
        let new = &case.0["new"];
        let new_player = player_of(&new["ps"]);
        let new_entities = entities_of(&new["entities"], &old_entities);
        let baselines: Vec<_> = case.list("baselines").iter().map(entity_of).collect();
        let head = SnapshotHead {
            server_time: LevelTime(case.int("server_time") as i32),
            delta_num: case.int("delta_num") as u8,
            flags: SnapFlags(case.int("snap_flags") as u8),
            areas: AreaMask::new(&vectors::from_hex(case.text("areamask"))).unwrap(),
        };

        let mut writer = BitWriter::new();
        server_message::begin(&mut writer, CommandNum(case.int("ack") as i32));
        for command in case.list("commands") {
            let number = CommandNum(command["seq"].as_i64().unwrap() as i32);
            server_message::write_command(&mut writer, number, &latin1(&command["text"]));
        }
        writer.byte(Operation::Snapshot as u8);
        snapshot::write(
            &mut writer,
            &head,
            View { player: &old_player, entities: old_entities.iter() },
            View { player: &new_player, entities: new_entities.iter() },
            |number| baseline_of(&baselines, &nothing, number),
        );
        server_message::end(&mut writer);
        case.check_bits(&mut writer);
        vectors::check_server_datagrams(&case.0, writer.message());

        // And back: what was told, relative to what was known.
        let message = writer.message().to_vec();
        let mut reader = BitReader::new(&message);
        assert_eq!(i64::from(reader.long().unwrap()), case.int("ack"));
        for command in case.list("commands") {
            assert_eq!(Operation::read(&mut reader), Ok(Operation::Command));
            let (number, text) = server_message::read_command(&mut reader).unwrap();
            assert_eq!(i64::from(number.0), command["seq"].as_i64().unwrap());
            let sent = latin1(&command["text"]);
            let safe: String =
                sent.iter().map(|&b| char::from(fragd::wire::bits::safe_byte(b))).collect();
            assert_eq!(text, if sent.len() > 1023 { String::new() } else { safe }, "{}", case.id());
        }
        assert_eq!(Operation::read(&mut reader), Ok(Operation::Snapshot));
        assert_eq!(snapshot::read_head(&mut reader), Ok(head), "{}", case.id());
        let read_player = player::read_delta(&mut reader, &old_player).unwrap();
        let mut read_entities = Vec::new();
        let baseline = |number: EntityNum| baseline_of(&baselines, &nothing, number.index() as i32);
        entity::read_list(&mut reader, old_entities.iter(), baseline, |listed| {
            read_entities.push(match listed {
                Listed::Kept(kept) => *kept,
                Listed::Told(told) => told,
            });
        })
        .unwrap();
        assert_eq!(Operation::read(&mut reader), Ok(Operation::End));
        assert_eq!(reader.bit_position() as i64, case.int("bits"), "{}", case.id());

        // Writing again what was read says the same bits: nothing that travels was lost.
        let mut again = BitWriter::new();
        player::write_delta(&mut again, &old_player, &read_player);
        let mut first = BitWriter::new();
        player::write_delta(&mut first, &old_player, &new_player);
        assert_eq!(again.bit_len(), first.bit_len(), "{}: player", case.id());
        let numbers = |list: &[EntityState]| list.iter().map(|e| e.number).collect::<Vec<_>>();
        assert_eq!(numbers(&read_entities), numbers(&new_entities), "{}: entities", case.id());
    }
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
        server_message::begin(&mut writer, CommandNum(case.int("ack") as i32));
        writer.byte(Operation::Gamestate as u8);
        gamestate::write(
            &mut writer,
            command_num,
            strings.iter().map(|(index, text)| (*index, text.as_slice())),
            baselines.iter(),
            client_num,
            feed,
        );
        server_message::end(&mut writer);
        case.check_bits(&mut writer);
        vectors::check_server_datagrams(&case.0, writer.message());

        let message = writer.message().to_vec();
        let mut reader = BitReader::new(&message);
        reader.long().unwrap();
        assert_eq!(Operation::read(&mut reader), Ok(Operation::Gamestate));
        let read = gamestate::read(&mut reader).unwrap();
        assert_eq!(Operation::read(&mut reader), Ok(Operation::End));
        assert_eq!(
            (read.command_num, read.client_num, read.checksum_feed),
            (command_num, client_num, feed)
        );
        assert_eq!(read.configstrings.len(), strings.len(), "{}", case.id());
        for ((index, text), (sent_index, sent)) in read.configstrings.iter().zip(&strings) {
            assert_eq!((index, text.len()), (sent_index, sent.len()), "{}", case.id());
        }
        assert_eq!(read.baselines.len(), baselines.len(), "{}", case.id());
    }
}

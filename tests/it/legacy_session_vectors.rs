//! Vectors of protocols 43 to 67: sessions, demos, constructed messages.
//!
//! All are read to the last bit and written again.

use std::collections::BTreeMap;

use fragd::{
    model::{
        Baselines, Challenge, CommandNum, EntityNum, EntityState, LevelTime, PlayerState, Qport,
        Sequence, ServerId, UserCmd, limits::MAX_PACKET_USERCMDS,
    },
    netchan::{Channel, ChannelSide, is_connectionless},
    wire::{
        Protocol,
        bits::{BitReader, BitWriter},
        client_message::{self, ClientHeader, ClientOp},
        connectionless::Message,
        delta_sink::{DeltaSink, EntityChange},
        download::{self, Block},
        entity::{self, EntityUpdate},
        gamestate, player,
        protocol::Encoding,
        server_message::{self, ServerOp},
        snapshot::{self, SnapFlags, SnapshotHeader, SnapshotView},
    },
};
use serde_json::{Map, Value, json};

use crate::vectors::{from_hex, table};

/// Name of a field as the files write it: indices without brackets.
fn plain_name(name: &str) -> String {
    let Some((array, index)) = name.split_once('[') else { return name.to_owned() };
    let gap = if array.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
    format!("{array}{gap}{}", index.trim_end_matches(']'))
}

/// Fields of a snapshot's deltas, as the files tell them.
struct NamedFields {
    encoding: &'static Encoding,
    player: Map<String, Value>,
    fields: Vec<(usize, u32)>,
    entities: Map<String, Value>,
    /// Whether the playerstate is complete.
    has_player: bool,
}

impl NamedFields {
    fn new(encoding: &'static Encoding) -> Self {
        Self {
            encoding,
            player: Map::new(),
            fields: Vec::new(),
            entities: Map::new(),
            has_player: false,
        }
    }

    fn take(&mut self, fields: &[fragd::wire::fields::Field]) -> Map<String, Value> {
        let named = self.fields.drain(..);
        named.map(|(at, value)| (plain_name(fields[at].name), json!(value as i32))).collect()
    }
}

impl DeltaSink for NamedFields {
    fn field(&mut self, index: usize, value: u32, _bits: usize) {
        self.fields.push((index, value));
    }

    fn element(&mut self, array: usize, index: usize, value: u32, _bits: usize) {
        let name = format!("{}{index}", player::ARRAY_NAMES[array]);
        self.player.insert(name, json!(value as i32));
    }

    fn player_end(&mut self, _at: usize) {
        let fields = self.take(self.encoding.player.fields);
        self.player.extend(fields);
        self.has_player = true;
    }

    fn entity(&mut self, number: EntityNum, change: EntityChange, _bits: usize) {
        let fields = self.take(self.encoding.entity.fields);
        let told = if change == EntityChange::Removed { Value::Null } else { json!(fields) };
        self.entities.insert(number.to_string(), told);
    }
}

/// Whether both are the same numbers; words may be told signed or unsigned.
fn same(told: &Value, read: &Value) -> bool {
    match (told, read) {
        (Value::Object(told), Value::Object(read)) => {
            told.len() == read.len()
                && told
                    .iter()
                    .all(|(name, value)| read.get(name).is_some_and(|other| same(value, other)))
        }
        (Value::Number(told), Value::Number(read)) => {
            told.as_i64().map(|n| n as i32) == read.as_i64().map(|n| n as i32)
        }
        _ => told == read,
    }
}

type Stored = (PlayerState, Vec<EntityState>);

/// A client's view of a connection: what the deltas of a server refer to.
struct View {
    protocol: &'static Protocol,
    baselines: Baselines,
    snapshots: BTreeMap<u32, Stored>,
}

/// A snapshot as it was read.
struct ReadSnapshot {
    acknowledged: Option<CommandNum>,
    head: SnapshotHeader,
    content: Stored,
    fields: NamedFields,
}

impl View {
    fn new(protocol: &'static Protocol) -> Self {
        Self { protocol, baselines: Baselines::default(), snapshots: BTreeMap::new() }
    }

    fn base(&self, sequence: u32, head: &SnapshotHeader) -> Stored {
        match head.delta_num {
            0 => Stored::default(),
            back => self.snapshots[&(sequence - u32::from(back))].clone(),
        }
    }

    fn read_snapshot(&self, reader: &mut BitReader<'_>, sequence: u32) -> ReadSnapshot {
        let acknowledged = snapshot::read_acknowledge(reader).unwrap();
        let head = snapshot::read_head(reader).unwrap();
        let base = self.base(sequence, &head);
        let mut fields = NamedFields::new(self.protocol.encoding);
        let player = player::read_delta_with(reader, &base.0, &mut fields).unwrap();
        fields.player_end(0);
        let mut entities = Vec::new();
        let baseline = |number: EntityNum| self.baselines.get(number.index() as i32);
        entity::read_list_with(reader, base.1.iter(), baseline, &mut fields, |update| {
            entities.push(match update {
                EntityUpdate::Unchanged(state) => *state,
                EntityUpdate::Changed(state) => state,
            });
        })
        .unwrap();
        ReadSnapshot { acknowledged, head, content: (player, entities), fields }
    }

    /// Writes a snapshot again, behind commands that are written already.
    fn write_snapshot(&self, writer: &mut BitWriter, sequence: u32, read: &ReadSnapshot) {
        let base = self.base(sequence, &read.head);
        snapshot::begin(writer, read.acknowledged.unwrap_or_default());
        snapshot::write(
            writer,
            &read.head,
            SnapshotView { player: &base.0, entities: base.1.iter() },
            SnapshotView { player: &read.content.0, entities: read.content.1.iter() },
            |number| self.baselines.get(number),
        );
    }
}

/// Whether the writer names the same fields: some programs name fields that did not change.
fn names_unchanged(read: &ReadSnapshot, view: &View, sequence: u32) -> bool {
    let mut writer = BitWriter::new();
    writer.begin(view.protocol.encoding);
    view.write_snapshot(&mut writer, sequence, read);
    let message = writer.message().to_vec();
    let mut reader = BitReader::with_encoding(view.protocol.encoding, &message);
    assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::Snapshot));
    let again = view.read_snapshot(&mut reader, sequence);
    assert_eq!(again.content, read.content);
    again.fields.player != read.fields.player || again.fields.entities != read.fields.entities
}

/// Messages that were written again, by their result.
#[derive(Debug, Default)]
struct Rewritten {
    same: usize,
    unchanged_named: usize,
    with_garbage: usize,
}

impl Rewritten {
    fn server_message(
        &mut self,
        view: &mut View,
        sequence: u32,
        message: &[u8],
        told: &Value,
        place: &str,
    ) {
        let protocol = view.protocol;
        let mut reader = BitReader::with_encoding(protocol.encoding, message);
        let head = server_message::read_acknowledge(&mut reader).unwrap();
        let mut writer = BitWriter::new();
        server_message::begin(&mut writer, protocol, head.unwrap_or_default());
        let (mut names_more, mut has_block) = (false, false);
        let mut operations = told["ops"].as_array().expect("operations").iter().peekable();
        let is_ack = |told: &&Value| told.get("ack").is_some() && told.get("snapshot").is_none();
        if let Some(told) = operations.next_if(is_ack) {
            assert_eq!(told["ack"], json!(head.map(|number| number.0)), "{place}");
        }
        loop {
            let operation =
                ServerOp::read(&mut reader).unwrap_or_else(|error| panic!("{place}: {error}"));
            if operation == ServerOp::End {
                assert_eq!(operations.next(), None, "{place}");
                break;
            }
            let told = operations.next().unwrap_or_else(|| panic!("{place}: one more"));
            match operation {
                ServerOp::Command => {
                    let (number, text) = server_message::read_command(&mut reader).unwrap();
                    assert_eq!(told["command"], json!(number.0), "{place}");
                    assert_eq!(told["text"], json!(text), "{place}");
                    server_message::write_command(&mut writer, number, text.as_bytes());
                }
                ServerOp::Gamestate => {
                    let read = gamestate::read(&mut reader)
                        .unwrap_or_else(|error| panic!("{place}: {error}"));
                    let strings: Map<_, _> = read
                        .configstrings
                        .iter()
                        .map(|(index, text)| (index.to_string(), json!(text)))
                        .collect();
                    assert_eq!(told["configstrings"], json!(strings), "{place}");
                    let feed = told["feed"].as_i64().map(|feed| feed as i32);
                    assert_eq!(read.checksum_feed, feed, "{place}");
                    writer.byte(ServerOp::Gamestate as u8);
                    gamestate::write(
                        &mut writer,
                        read.command_num,
                        read.configstrings.iter().map(|(index, text)| (*index, text.as_bytes())),
                        read.baselines.iter(),
                        fragd::model::ClientNum::FIRST,
                        read.checksum_feed,
                    );
                    view.baselines = Baselines::new(read.baselines);
                    view.snapshots.clear();
                }
                ServerOp::Snapshot => {
                    let read = view.read_snapshot(&mut reader, sequence);
                    assert_eq!(told["time"], json!(read.head.server_time.0), "{place}");
                    assert_eq!(told["delta"], json!(read.head.delta_num), "{place}");
                    assert_eq!(told["flags"], json!(read.head.flags.0), "{place}");
                    if let Some(told) = told.get("ack") {
                        let acknowledged = read.acknowledged.or(head).map(|number| number.0);
                        assert_eq!(*told, json!(acknowledged), "{place}");
                    }
                    assert!(same(&told["player"], &json!(read.fields.player)), "{place}");
                    assert!(same(&told["entities"], &json!(read.fields.entities)), "{place}");
                    names_more |= names_unchanged(&read, view, sequence);
                    view.write_snapshot(&mut writer, sequence, &read);
                    view.snapshots.insert(sequence, read.content);
                }
                ServerOp::Download => {
                    let number = told["download"].as_u64().unwrap() as u32;
                    let Block::Data { number: low, file_size, bytes } =
                        download::read(&mut reader, number).unwrap()
                    else {
                        panic!("{place}: refused")
                    };
                    assert_eq!(low, number as u16, "{place}");
                    assert_eq!(told.get("size").and_then(Value::as_u64), file_size.map(u64::from));
                    assert_eq!(from_hex(told["bytes"].as_str().unwrap()), bytes, "{place}");
                    writer.byte(ServerOp::Download as u8);
                    let size = file_size.unwrap_or_default();
                    download::write_block(&mut writer, number, size, &bytes);
                    has_block |= !bytes.is_empty();
                }
                other => panic!("{place}: {other:?}"),
            }
        }
        server_message::end(&mut writer);
        let differs = message
            .iter()
            .zip(writer.message())
            .filter(|(recorded, written)| recorded != written)
            .count();
        if names_more {
            self.unchanged_named += 1;
        } else if has_block {
            assert_eq!(writer.message().len(), message.len(), "{place}");
            assert!(differs <= 1, "{place}: more than the garbage byte");
            self.with_garbage += 1;
        } else {
            // Behind a full last byte, coded messages have one more without meaning.
            let is_spare =
                !protocol.encoding.messages.has_end_mark || !writer.bit_len().is_multiple_of(8);
            let meaning = message.len() - usize::from(!is_spare);
            assert_eq!(writer.message().len(), message.len(), "{place}");
            assert_eq!(writer.message()[..meaning], message[..meaning], "{place}");
            self.same += 1;
        }
    }

    fn client_message(
        &mut self,
        protocol: &'static Protocol,
        message: &[u8],
        told: &Value,
        place: &str,
    ) {
        let mut reader = BitReader::with_encoding(protocol.encoding, message);
        let head = ClientHeader::read(&mut reader).unwrap();
        assert_eq!(told["serverId"], json!(head.server_id.0), "{place}");
        assert_eq!(told["ack"], json!(head.message_acknowledge), "{place}");
        assert_eq!(told["commandAck"], json!(head.reliable_acknowledge.0), "{place}");
        let mut writer = BitWriter::new();
        client_message::begin(&mut writer, protocol, &head);
        let mut commands = Vec::new();
        let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
        loop {
            match client_message::read_op(&mut reader).unwrap() {
                ClientOp::End => break,
                ClientOp::Command { number, text } => {
                    client_message::write_command(&mut writer, number, text.as_bytes());
                    commands.push(json!([number.0, text]));
                }
                ClientOp::Usercmds { delta } => {
                    let count = client_message::read_usercmds(&mut reader, 0, &mut moves).unwrap();
                    let told = &told[if delta { "move" } else { "moveNoDelta" }];
                    for (told, read) in told.as_array().unwrap().iter().zip(&moves[..count]) {
                        assert_eq!(told["time"], json!(read.server_time), "{place}");
                        assert_eq!(told["angles1"], json!(read.angles[1]), "{place}");
                        assert_eq!(told["forward"], json!(read.forwardmove), "{place}");
                        assert_eq!(told["buttons"], json!(read.buttons.0), "{place}");
                        assert_eq!(told["weapon"], json!(read.weapon), "{place}");
                    }
                    assert_eq!(told.as_array().map(Vec::len), Some(count), "{place}");
                    client_message::write_usercmds(&mut writer, delta, 0, &moves[..count]);
                }
            }
        }
        assert_eq!(told.get("commands").cloned().unwrap_or(json!([])), json!(commands), "{place}");
        client_message::end(&mut writer);
        assert_eq!(writer.message(), message, "{place}");
        self.same += 1;
    }
}

/// Reads a session by the receive path of both sides, and writes each message and datagram again.
fn replay(name: &str) -> Rewritten {
    let protocol = Protocol::Q3_43;
    let mut counts = Rewritten::default();
    let mut view = View::new(protocol);
    let channel = |side, qport| Channel::<()>::new(side, protocol, Challenge(1), Qport(qport));
    let (mut server, mut client) =
        (channel(ChannelSide::Server, 0), channel(ChannelSide::Client, 0));
    let mut message = Vec::new();
    for (at, row) in table(name).iter().enumerate() {
        let place = format!("{name}: line {}", at + 2);
        let datagram = row.bytes("datagram_hex");
        let told: Value = serde_json::from_str(row.text("decoded")).unwrap();
        let to_server = row.text("direction") == "c2s";
        if is_connectionless(&datagram) {
            assert!(Message::parse(&datagram).is_ok(), "{place}");
            continue;
        }
        let number = told["seq"].as_u64().unwrap() as u32;
        let receiver = if to_server { &mut server } else { &mut client };
        if number > receiver.last_received().0 + 1 {
            // Rows between are left out.
            let before = Sequence(number - 1);
            let (side, next) = if to_server {
                (ChannelSide::Server, server.next_sequence())
            } else {
                (ChannelSide::Client, client.next_sequence())
            };
            *(if to_server { &mut server } else { &mut client }) =
                channel(side, 0).resumed(next, before);
        }
        let receiver = if to_server { &mut server } else { &mut client };
        let received = receiver.receive(&datagram, &mut message);
        let received = received.unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(received.is_none(), told["what"].as_str().unwrap().starts_with("fragment"));
        let Some(received) = received else { continue };
        receiver.commit(received);
        if to_server {
            counts.client_message(protocol, &message, &told, &place);
        } else {
            counts.server_message(&mut view, number, &message, &told, &place);
        }
        // The last datagram of the message is sent as it was.
        let side = if to_server { ChannelSide::Client } else { ChannelSide::Server };
        let qport = told.get("qport").and_then(Value::as_u64).unwrap_or_default() as u16;
        let mut sender = channel(side, qport).resumed(Sequence(number), Sequence(0));
        let mut sent = Vec::new();
        sender.send(&message, &"".into(), (), &mut sent).unwrap();
        while sender.is_busy() {
            sent.clear();
            sender.transmit_next(&mut sent);
        }
        assert_eq!(sent, datagram, "{place}");
    }
    counts
}

#[test]
fn legacy_session_vectors_are_read_and_written_again() {
    let session = replay("session_43.csv");
    println!("{session:?}");
    assert!(session.same > 200);
    let download = replay("session_43_download.csv");
    println!("{download:?}");
    assert!(download.with_garbage > 5);
}

#[test]
fn legacy_demo_vectors_are_read_and_written_again() {
    let mut views = BTreeMap::<String, View>::new();
    let mut baselines = BTreeMap::<String, Vec<EntityState>>::new();
    let mut counts = Rewritten::default();
    for (at, row) in table("demo_messages.csv").iter().enumerate() {
        let place = format!("line {}", at + 2);
        let demo = row.text("demo").to_owned();
        let number: i32 = row.text("protocol").parse().unwrap();
        let protocol = Protocol::with_number(number).next().unwrap();
        let told: Value = serde_json::from_str(row.text("decoded")).unwrap();
        let number: u32 = row.number("number");
        if row.text("kind") == "baseline" {
            let entity = EntityNum::new(number as usize).unwrap();
            let mut state = EntityState::numbered(entity);
            for (name, value) in told.as_object().unwrap() {
                let fields = protocol.encoding.entity;
                let field = fields.fields.iter().find(|field| plain_name(field.name) == *name);
                let word = fields.word_of(field.expect("a field").name).unwrap();
                state.words_mut()[word] = value.as_i64().unwrap() as u32;
            }
            baselines.entry(demo).or_default().push(state);
            continue;
        }
        let view = views.entry(demo.clone()).or_insert_with(|| View::new(protocol));
        view.baselines = Baselines::new(baselines.get(&demo).cloned().unwrap_or_default());
        let told = json!({ "ops": told });
        counts.server_message(view, number, &row.bytes("message_hex"), &told, &place);
    }
    println!("{counts:?}");
    assert_eq!(counts.same + counts.unchanged_named, 25);
}

fn vector(name: &str) -> Vec<u8> {
    let rows = table("vectors_43_48.csv");
    rows.iter().find(|row| row.text("name") == name).expect("a vector").bytes("hex")
}

#[test]
fn legacy_datagram_vectors_are_scrambled() {
    for (done, plain, side) in [
        ("scramble_done", "scramble_plain", ChannelSide::Client),
        ("scramble_done_s2c", "scramble_plain_s2c", ChannelSide::Server),
        ("scramble_done_len7", "scramble_plain_len7", ChannelSide::Client),
        ("scramble_done_len8", "scramble_plain_len8", ChannelSide::Client),
        ("scramble_done_len9", "scramble_plain_len9", ChannelSide::Client),
        ("client_datagram_wire", "client_datagram_plain", ChannelSide::Client),
    ] {
        let (done, plain) = (vector(done), vector(plain));
        let header = if side == ChannelSide::Client { 6 } else { 4 };
        let sequence = Sequence(u32::from_le_bytes(plain[..4].try_into().unwrap()));
        let qport = Qport(u16::from_le_bytes(plain[4..6].try_into().unwrap()));
        let mut sender = Channel::<()>::new(side, Protocol::Q3_43, Challenge(1), qport)
            .resumed(sequence, Sequence(0));
        let mut sent = Vec::new();
        sender.send(&plain[header..], &"".into(), (), &mut sent).unwrap();
        assert_eq!(sent, done);
        let mut receiver = Channel::<()>::new(side.other(), Protocol::Q3_43, Challenge(1), qport);
        let mut message = Vec::new();
        let _ = receiver.receive(&done, &mut message).unwrap().unwrap();
        assert_eq!(message, plain[header..]);
    }
}

#[test]
fn legacy_message_vectors_are_written() {
    for (name, protocol, generic1) in
        [("snapshot_message_43", Protocol::Q3_43, 0), ("snapshot_message_48", Protocol::Q3_48, 1)]
    {
        let mut player = PlayerState {
            command_time: 59_990,
            origin: fragd::model::Vec3([-100.0, 64.5, 0.0]),
            weapon_time: -5,
            gravity: 800,
            client_num: 3,
            viewheight: 26,
            ..PlayerState::default()
        };
        player.stats[0] = 100;
        player.stats[2] = 7;
        player.ammo[2] = 100;
        let expected = vector(name);
        let mut view = View::new(protocol);
        let mut reader = BitReader::with_encoding(protocol.encoding, &expected);
        server_message::read_acknowledge(&mut reader).unwrap();
        assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::Command));
        let (number, text) = server_message::read_command(&mut reader).unwrap();
        assert_eq!((number, text.as_str()), (CommandNum(2), "print \"hi\n\""));
        assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::Snapshot));
        let read = view.read_snapshot(&mut reader, 50);
        assert_eq!(ServerOp::read(&mut reader), Ok(ServerOp::End));
        assert_eq!(read.head.server_time, LevelTime(60_000));
        assert_eq!(read.head.flags, SnapFlags(0));
        assert_eq!(read.head.areas.bytes(), [0xf0, 0xff]);
        assert_eq!(read.content.0, player);
        let [five, other] = &read.content.1[..] else { panic!("two entities") };
        assert_eq!((five.number, other.number, other.e_type), (5, 72, 2));
        assert_eq!((other.modelindex, other.torso_anim, other.generic1), (17, 130, generic1));
        let mut writer = BitWriter::new();
        server_message::begin(&mut writer, protocol, CommandNum(9));
        server_message::write_command(&mut writer, number, text.as_bytes());
        let read = ReadSnapshot { acknowledged: Some(CommandNum(9)), ..read };
        view.write_snapshot(&mut writer, 50, &read);
        server_message::end(&mut writer);
        assert_eq!(writer.message(), expected, "{name}");
        view.snapshots.clear();
    }

    let mut writer = BitWriter::new();
    let head = ClientHeader {
        server_id: ServerId(1_234_567),
        message_acknowledge: 41,
        reliable_acknowledge: CommandNum(3),
    };
    client_message::begin(&mut writer, Protocol::Q3_43, &head);
    client_message::write_command(&mut writer, CommandNum(1), b"userinfo");
    let first = UserCmd {
        server_time: 50_000,
        angles: [0, 16_384, 0],
        forwardmove: 127,
        weapon: 2,
        ..UserCmd::default()
    };
    let second = UserCmd {
        server_time: 50_016,
        angles: [0, 16_400, 0],
        rightmove: -127,
        buttons: fragd::model::Buttons(1),
        ..first
    };
    client_message::write_usercmds(&mut writer, true, 0x1234, &[first, second]);
    client_message::end(&mut writer);
    assert_eq!(writer.message(), vector("client_message"));
}

//! Captured sessions of a real client with a real server, replayed at both ends.
//!
//! Every datagram is read completely, and its content is compared with the file's words. The message
//! written again from that content leaves a channel as the captured datagrams.

use std::{collections::HashMap, sync::Arc};

use fragd::{
    model::{
        Baselines, Challenge, CommandNum, EntityState, PlayerState, Qport, Sequence, UserCmd,
        limits::{MAX_PACKET_USERCMDS, PACKET_BACKUP},
    },
    netchan::{
        Channel, ChannelSide, CommandOrder, IncomingCommands, OutgoingCommands, command_hash,
        detect_protocol, is_connectionless, peek_client_header, usercmd_key,
    },
    wire::{
        Protocol,
        bits::{BitReader, BitWriter, safe_byte},
        client_message::{self, ClientHeader, ClientOp},
        connectionless::Message,
        entity::{self, EntityUpdate},
        gamestate::{self, Gamestate},
        info::InfoString,
        player,
        server_message::{self, ServerOp},
        snapshot::{self, SnapshotHeader, SnapshotView},
        userinfo::Userinfo,
    },
};

use crate::vectors::{Row, table, to_hex};

#[test]
fn compat_session_vectors_at_both_ends() {
    replay("session_legacy.csv", Protocol::OA_71);
}

#[test]
fn native_session_vectors_at_both_ends() {
    replay("session_native.csv", Protocol::IOQ3_71);
}

fn replay(file: &str, protocol: &'static Protocol) {
    let rows = table(file);
    let (challenge, qport) = handshake(&rows);
    let mut session = Session::new(protocol, challenge, qport);
    let mut datagrams = 0;
    for row in &rows {
        let datagram = row.bytes("datagram_hex");
        if is_connectionless(&datagram) {
            let message = Message::parse(&datagram).unwrap();
            let word = format!("{message:?}").to_lowercase();
            assert!(word.starts_with(&row.text("decoded").to_lowercase()), "{word}");
            continue;
        }
        if datagrams == 0 {
            assert_eq!(peek_client_header(&datagram), Some((Sequence(1), qport)), "{file}");
            assert_eq!(
                detect_protocol(protocol, ChannelSide::Client, challenge, &datagram),
                protocol,
                "{file}"
            );
        }
        let whole = match row.text("direction") {
            "c2s" => session.towards_server(&datagram),
            "s2c" => session.towards_client(&datagram),
            other => panic!("{file}: direction {other}"),
        };
        let said = whole.unwrap_or_else(|| vec!["frag".to_owned()]);
        assert_says(row.text("decoded"), &said, &format!("{file} row {}", row.text("n")));
        datagrams += 1;
    }
    assert!(session.again.is_empty(), "{file}: the last message was cut");
    assert!(datagrams > 0 && session.snapshots.len() > 1 && session.usercmds > 1, "{file}");
}

/// The challenge that the server granted and the qport that the client chose.
fn handshake(rows: &[Row]) -> (Challenge, Qport) {
    let (mut challenge, mut qport) = (None, None);
    for datagram in rows.iter().map(|row| row.bytes("datagram_hex")) {
        match is_connectionless(&datagram).then(|| Message::parse(&datagram)) {
            Some(Ok(Message::ChallengeResponse(granted))) => challenge = Some(granted.challenge),
            Some(Ok(Message::Connect(connect))) => {
                qport = Userinfo(&connect.userinfo().unwrap()).qport();
            }
            _ => {}
        }
    }
    (challenge.unwrap(), qport.unwrap())
}

/// The file's words are these, in this order, with nothing but punctuation between them.
fn assert_says(decoded: &str, said: &[String], place: &str) {
    // The file shows some texts as typed, others as sent.
    let decoded: String = decoded.chars().map(|c| if c == '%' { '.' } else { c }).collect();
    let decoded = reprinted(&decoded);
    let mut rest = decoded.as_str();
    for part in said {
        let at = rest.find(part.as_str());
        let at = at.unwrap_or_else(|| panic!("{place}: read {part:?}, file says {rest:?}"));
        let skipped = &rest[..at];
        assert!(!skipped.contains(char::is_alphanumeric), "{place}: {skipped:?} was not read");
        rest = &rest[at + part.len()..];
    }
    assert!(!rest.contains(char::is_alphanumeric), "{place}: {rest:?} was not read");
}

/// The words with origin numbers as printed here. Printers differ in the choice between two
/// shortest decimals of one number.
fn reprinted(decoded: &str) -> String {
    let Some((before, rest)) = decoded.split_once("origin (") else { return decoded.to_owned() };
    let (numbers, behind) = rest.split_once(')').unwrap();
    let numbers: Vec<_> =
        numbers.split(' ').map(|number| format!("{:?}", number.parse::<f64>().unwrap())).collect();
    format!("{before}origin ({}){behind}", numbers.join(" "))
}

/// A snapshot as the client keeps it.
#[derive(Clone, Default)]
struct Snapshot {
    player: PlayerState,
    entities: Vec<EntityState>,
}

/// Both ends, and a second pair of senders that say again what was captured.
struct Session {
    /// Receives what the client sent; sends what the server sent.
    server: Channel,
    /// Receives what the server sent; sends what the client sent.
    client: Channel,
    /// Commands that the server sends, as both ends know them.
    server_commands: (OutgoingCommands, IncomingCommands),
    /// Commands that the client sends, as both ends know them.
    client_commands: (OutgoingCommands, IncomingCommands),
    gamestate: Option<Gamestate>,
    baselines: Baselines,
    snapshots: HashMap<u32, Snapshot>,
    usercmds: usize,
    message: Vec<u8>,
    /// Datagrams captured whose message is not whole yet.
    again: Vec<Vec<u8>>,
}

impl Session {
    fn new(protocol: &'static Protocol, challenge: Challenge, qport: Qport) -> Self {
        let end = |end| Channel::new(end, protocol, challenge, qport);
        Self {
            server: end(ChannelSide::Server),
            client: end(ChannelSide::Client),
            server_commands: Default::default(),
            client_commands: Default::default(),
            gamestate: None,
            baselines: Baselines::default(),
            snapshots: HashMap::new(),
            usercmds: 0,
            message: Vec::new(),
            again: Vec::new(),
        }
    }

    /// Content of a client's datagram as the server reads it, in words.
    fn towards_server(&mut self, datagram: &[u8]) -> Option<Vec<String>> {
        let mut message = std::mem::take(&mut self.message);
        let received = self.server.receive(datagram, &mut message).unwrap()?;
        let sent = &mut self.server_commands.0;
        let head = self.server.unscramble_client_message(sent, &mut message).unwrap();
        sent.acknowledge(head.reliable_acknowledge).unwrap();
        let text = Arc::clone(sent.get(head.reliable_acknowledge).unwrap());
        let feed = self.gamestate.as_ref().map_or(0, |gamestate| gamestate.checksum_feed.unwrap());
        let key = usercmd_key(feed, head.message_acknowledge, command_hash(text.as_bytes()));

        let mut reader = BitReader::new(&message);
        assert_eq!(ClientHeader::read(&mut reader), Ok(head));
        let read = ClientMessage::read(&mut reader, key);
        assert_ends(&reader, &message);
        for (number, text) in &read.commands {
            if self.client_commands.1.take(*number, text) == CommandOrder::Next {
                // The client knew it first.
                assert_eq!(self.client_commands.0.add(text.as_str().into()), Ok(*number));
            }
        }
        self.usercmds += read.usercmds.len();

        let mut writer = BitWriter::new();
        client_message::begin(&mut writer, Protocol::Q3_68, &head);
        read.write(&mut writer, key);
        let again = same_message(&mut writer, &message);
        assert_sends(&mut self.client, &again, &text, &[datagram.to_vec()]);
        self.server.commit(received);
        self.message = message;
        Some(read.in_words(&head))
    }

    /// Content of a server's datagram as the client reads it, in words; `None` until its message is
    /// complete.
    fn towards_client(&mut self, datagram: &[u8]) -> Option<Vec<String>> {
        self.again.push(datagram.to_vec());
        let mut message = std::mem::take(&mut self.message);
        let received = self.client.receive(datagram, &mut message).unwrap()?;
        let sequence = received.sequence;
        let sent = &mut self.client_commands.0;
        let acknowledged =
            self.client.unscramble_server_message(sequence, sent, &mut message).unwrap().unwrap();
        let text = Arc::clone(sent.get(acknowledged).unwrap());
        sent.acknowledge(acknowledged).unwrap();

        let mut reader = BitReader::new(&message);
        assert_eq!(reader.long(), Ok(acknowledged.0));
        let mut writer = BitWriter::new();
        server_message::begin(&mut writer, Protocol::Q3_68, acknowledged);
        let mut operations = Vec::new();
        let mut said = Vec::new();
        loop {
            let operation = ServerOp::read(&mut reader).unwrap();
            operations.push((operation as u8).to_string());
            match operation {
                ServerOp::Command => {
                    let (number, text) = server_message::read_command(&mut reader).unwrap();
                    server_message::write_command(&mut writer, number, text.as_bytes());
                    self.server_said(number, &text);
                }
                ServerOp::Gamestate => said = self.gamestate(&mut reader, &mut writer),
                ServerOp::Snapshot => said = self.snapshot(sequence, &mut reader, &mut writer),
                ServerOp::End => break server_message::end(&mut writer),
                other => panic!("{other:?}"),
            }
        }
        assert_ends(&reader, &message);

        let again = same_message(&mut writer, &message);
        let datagrams = std::mem::take(&mut self.again);
        assert_sends(&mut self.server, &again, &text, &datagrams);
        self.client.commit(received);
        self.message = message;
        said.insert(0, format!("ops={}", operations.join(",")));
        let commands = &self.server_commands.1;
        if operations.iter().any(|op| op == "5") {
            said.push(format!("serverCommandSequence now {}", commands.last()));
            let text = commands.text().replace('\n', "\\n").replace('\x19', "\\x19");
            said.push(format!("last text '{text}'"));
        }
        Some(said)
    }

    fn server_said(&mut self, number: CommandNum, text: &str) {
        if self.server_commands.1.take(number, text) == CommandOrder::Next {
            // The server knew it first.
            assert_eq!(self.server_commands.0.add(text.into()), Ok(number));
        }
    }

    fn gamestate(&mut self, reader: &mut BitReader<'_>, writer: &mut BitWriter) -> Vec<String> {
        let gamestate = gamestate::read(reader).unwrap();
        let strings = &gamestate.configstrings;
        writer.byte(ServerOp::Gamestate as u8);
        gamestate::write(
            writer,
            gamestate.command_num,
            strings.iter().map(|(index, text)| (*index, text.as_bytes())),
            gamestate.baselines.iter(),
            gamestate.client_num.unwrap(),
            gamestate.checksum_feed,
        );
        assert_eq!(gamestate.command_num, self.server_commands.1.last());
        let systeminfo = strings.iter().find(|(index, _)| index.index() == 1).unwrap();
        let said = vec![
            format!("gamestate: {} configstrings", strings.len()),
            format!("{} baselines", gamestate.baselines.len()),
            format!("clientNum {}", gamestate.client_num.unwrap()),
            format!("checksumFeed {}", gamestate.checksum_feed.unwrap()),
            format!("serverCommandSequence {}", gamestate.command_num),
            format!(
                "sv_serverid {}",
                InfoString::parse_big(&systeminfo.1).int("sv_serverid").unwrap()
            ),
        ];
        self.baselines = Baselines::new(gamestate.baselines.clone());
        self.gamestate = Some(gamestate);
        said
    }

    fn snapshot(
        &mut self,
        sequence: Sequence,
        reader: &mut BitReader<'_>,
        writer: &mut BitWriter,
    ) -> Vec<String> {
        let head = snapshot::read_head(reader).unwrap();
        assert!(usize::from(head.delta_num) < PACKET_BACKUP);
        let nothing = Snapshot::default();
        let old = match head.delta_num {
            0 => &nothing,
            back => &self.snapshots[&(sequence.0 - u32::from(back))],
        };
        let player = player::read_delta(reader, &old.player).unwrap();
        let mut entities = Vec::new();
        let baselines = &self.baselines;
        entity::read_list(
            reader,
            old.entities.iter(),
            |number| baselines.get(number.index() as i32),
            |listed| {
                entities.push(match listed {
                    EntityUpdate::Unchanged(kept) => *kept,
                    EntityUpdate::Changed(told) => told,
                });
            },
        )
        .unwrap();
        let new = Snapshot { player, entities };
        writer.byte(ServerOp::Snapshot as u8);
        snapshot::write(
            writer,
            &head,
            SnapshotView { player: &old.player, entities: old.entities.iter() },
            SnapshotView { player: &new.player, entities: new.entities.iter() },
            |number| baselines.get(number),
        );
        let said = snapshot_in_words(&head, &new);
        self.snapshots.insert(sequence.0, new);
        said
    }
}

fn snapshot_in_words(head: &SnapshotHeader, snapshot: &Snapshot) -> Vec<String> {
    let Snapshot { player, entities } = snapshot;
    let numbers: Vec<_> = entities.iter().map(|entity| entity.number.to_string()).collect();
    let [x, y, z] = [player.origin[0], player.origin[1], player.origin[2]].map(f64::from);
    vec![
        format!("snapshot: serverTime {}", head.server_time),
        format!("deltaNum {}", head.delta_num),
        format!("flags {}", head.flags.0),
        format!("area {}", to_hex(head.areas.bytes())),
        format!("entities {}", numbers.join("/")),
        format!("commandTime {}", player.command_time),
        format!("origin ({x:?} {y:?} {z:?})"),
        format!("delta_angles[1] {}", player.delta_angles[1]),
        format!("weapon {}", player.weapon),
        format!("health {}", player.stats[0]),
    ]
}

/// Operations behind a client message's header.
struct ClientMessage {
    commands: Vec<(CommandNum, String)>,
    /// Whether the server may send a delta, when there are usercmds.
    delta: bool,
    usercmds: Vec<UserCmd>,
}

impl ClientMessage {
    fn read(reader: &mut BitReader<'_>, key: u32) -> Self {
        let mut read = Self { commands: Vec::new(), delta: false, usercmds: Vec::new() };
        loop {
            match client_message::read_op(reader).unwrap() {
                ClientOp::Command { number, text } => read.commands.push((number, text)),
                ClientOp::Usercmds { delta } => {
                    let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
                    let count = client_message::read_usercmds(reader, key, &mut moves).unwrap();
                    (read.delta, read.usercmds) = (delta, moves[..count].to_vec());
                }
                ClientOp::End => return read,
            }
        }
    }

    fn write(&self, writer: &mut BitWriter, key: u32) {
        for (number, text) in &self.commands {
            client_message::write_command(writer, *number, text.as_bytes());
        }
        client_message::write_usercmds(writer, self.delta, key, &self.usercmds);
        client_message::end(writer);
    }

    fn in_words(&self, head: &ClientHeader) -> Vec<String> {
        let mut said = vec![match (self.usercmds.len(), self.delta, head.message_acknowledge) {
            (0, _, 0) => "first packet".to_owned(),
            (0, ..) => "no usercmds".to_owned(),
            (count, true, _) => format!("move x{count}"),
            (count, false, _) => format!("moveNoDelta x{count}"),
        }];
        said.push(format!("serverId {}", head.server_id));
        said.push(format!("messageAcknowledge {}", head.message_acknowledge));
        said.push(format!("reliableAcknowledge {}", head.reliable_acknowledge));
        match self.commands.as_slice() {
            [] if head.message_acknowledge == 0 => said.push("no commands".to_owned()),
            [] => {}
            _ => said.push("clientCommands".to_owned()),
        }
        said.extend(self.commands.iter().map(|(number, text)| {
            assert!(text.bytes().all(|byte| byte == safe_byte(byte)));
            format!("{number}:{text}")
        }));
        if !self.usercmds.is_empty() {
            let columns = "serverTime|angles|forward|right|up|buttons|weapon";
            said.push(format!("usercmds({columns})"));
            said.extend(self.usercmds.iter().map(usercmd_in_words));
        }
        said
    }
}

fn usercmd_in_words(usercmd: &UserCmd) -> String {
    let UserCmd { server_time, angles: [pitch, yaw, roll], buttons, weapon, .. } = usercmd;
    let UserCmd { forwardmove, rightmove, upmove, .. } = usercmd;
    let buttons = buttons.0;
    format!(
        "{server_time}|{pitch},{yaw},{roll}|{forwardmove}|{rightmove}|{upmove}|{buttons}|{weapon}"
    )
}

/// A message has as many bytes as its bits take, and one more where they fill them.
fn assert_ends(reader: &BitReader<'_>, message: &[u8]) {
    assert_eq!(message.len(), reader.bit_position() / 8 + 1);
}

/// Rewritten message, which must equal the captured one. The captured padding fills the byte
/// without bits.
fn same_message(writer: &mut BitWriter, captured: &[u8]) -> Vec<u8> {
    let spare = writer.bit_len().is_multiple_of(8);
    let mut again = writer.message().to_vec();
    if let (true, Some(last), Some(junk)) = (spare, again.last_mut(), captured.last()) {
        *last = *junk;
    }
    assert_eq!(to_hex(&again), to_hex(captured));
    again
}

/// Sending the message makes these datagrams.
fn assert_sends(sender: &mut Channel, message: &[u8], text: &Arc<str>, datagrams: &[Vec<u8>]) {
    let mut sent = vec![Vec::new()];
    sender.send(message, text, (), &mut sent[0]).unwrap().unwrap();
    while sender.is_busy() {
        sent.push(Vec::new());
        sender.transmit_next(sent.last_mut().unwrap()).unwrap();
    }
    let hex = |datagrams: &[Vec<u8>]| datagrams.iter().map(|d| to_hex(d)).collect::<Vec<_>>();
    assert_eq!(hex(&sent), hex(datagrams));
}

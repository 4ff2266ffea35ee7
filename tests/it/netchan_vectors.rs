//! Scrambling of known messages, and two captured sessions of a real client with a real server: what
//! each end must make of every datagram, as far as the channel and the beginnings of messages go.

use std::sync::Arc;

use fragd::{
    model::{
        Challenge, CommandNum, Dialect, Sequence, ServerId, UserCmd, limits::MAX_PACKET_USERCMDS,
    },
    netchan::{
        Channel, End, IncomingCommands, Order, OutgoingCommands, detect_dialect,
        header::{Layout, checksum},
        is_connectionless, peek_client_header,
        scramble::Scrambler,
        usercmd_key,
    },
    wire::{
        bits::BitReader,
        client_message::{self, ClientPart},
        gamestate,
        server_message::{self, Operation},
        snapshot,
    },
};

use crate::vectors::{from_hex, read, to_hex};

#[test]
fn scramble_vectors_in_both_directions() {
    let file = read("scramble_vectors.csv");
    let mut rows = 0;
    for row in file.lines().skip(1) {
        let fields: Vec<_> = row.split(',').collect();
        let [name, direction, challenge, sequence, server_id, message, _, text, plain, scrambled] =
            fields[..]
        else {
            panic!("{row}")
        };
        let challenge = Challenge(challenge.parse().unwrap());
        let scrambler = match direction {
            "server_to_client" => Scrambler::server(challenge, Sequence(sequence.parse().unwrap())),
            "client_to_server" => Scrambler::client(
                challenge,
                ServerId(server_id.parse().unwrap()),
                message.parse().unwrap(),
            ),
            _ => panic!("{row}"),
        };
        let mut bytes = from_hex(plain);
        scrambler.apply(&from_hex(text), &mut bytes);
        assert_eq!(to_hex(&bytes), scrambled, "{name}");
        scrambler.apply(&from_hex(text), &mut bytes);
        assert_eq!(to_hex(&bytes), plain, "{name} back");
        rows += 1;
    }
    assert!(rows > 0);
}

#[test]
fn compat_session_vector() {
    Session::replay("session_legacy.csv", Dialect::Compat);
}

#[test]
fn native_session_vector() {
    Session::replay("session_native.csv", Dialect::Native);
}

#[test]
fn native_checksum_vectors() {
    let rows = rows("session_native.csv");
    let challenge = connect_response(&rows);
    let mut checked = 0;
    for row in rows.iter().filter(|row| !is_connectionless(&row.datagram)) {
        let (header, _) = Layout::new(row.from, Dialect::Native).read(&row.datagram).unwrap();
        assert_eq!(header.checksum, checksum(challenge, header.sequence), "row {}", row.number);
        checked += 1;
    }
    assert!(checked > 0);
}

/// A datagram of a session.
struct Row {
    number: String,
    from: End,
    datagram: Vec<u8>,
    /// What it says, in words.
    decoded: String,
}

impl Row {
    /// The words behind `name`, up to the next space.
    fn value(&self, name: &str) -> &str {
        let at = self.decoded.find(name).unwrap_or_else(|| panic!("no {name}: {}", self.decoded));
        self.decoded[at + name.len()..].split_whitespace().next().unwrap()
    }

    fn int<T: std::str::FromStr>(&self, name: &str) -> T {
        self.value(name).parse().ok().unwrap_or_else(|| panic!("{name}: {}", self.decoded))
    }
}

fn rows(name: &str) -> Vec<Row> {
    let file = read(name);
    file.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<_> = line.splitn(5, ',').collect();
            Row {
                number: fields[0].to_owned(),
                from: if fields[1] == "c2s" { End::Client } else { End::Server },
                datagram: from_hex(fields[3]),
                decoded: fields[4].trim_matches('"').replace("\"\"", "\""),
            }
        })
        .collect()
}

/// The challenge that a session's connectResponse repeats.
fn connect_response(rows: &[Row]) -> Challenge {
    let row = rows.iter().find(|row| row.decoded == "connectResponse").unwrap();
    let text = String::from_utf8(row.datagram[4..].to_vec()).unwrap();
    Challenge(text.split_whitespace().nth(1).unwrap().parse().unwrap())
}

/// Both ends of a session, each knowing only what it sent and got.
struct Session {
    server: Channel,
    client: Channel,
    /// As the server keeps them; as the client does.
    server_commands: (OutgoingCommands, IncomingCommands),
    client_commands: (OutgoingCommands, IncomingCommands),
    checksum_feed: i32,
    message: Vec<u8>,
    usercmds: usize,
    snapshots: usize,
    gamestates: usize,
}

impl Session {
    fn replay(name: &str, dialect: Dialect) {
        let rows = rows(name);
        let challenge = connect_response(&rows);
        let first = rows.iter().find(|row| !is_connectionless(&row.datagram)).unwrap();
        assert_eq!(detect_dialect(challenge, &first.datagram), dialect);
        let (sequence, qport) = peek_client_header(&first.datagram).unwrap();
        assert_eq!(sequence, Sequence(1));
        let end = |end| Channel::new(end, dialect, challenge, qport);
        let mut session = Self {
            server: end(End::Server),
            client: end(End::Client),
            server_commands: Default::default(),
            client_commands: Default::default(),
            checksum_feed: 0,
            message: Vec::new(),
            usercmds: 0,
            snapshots: 0,
            gamestates: 0,
        };
        for row in rows.iter().filter(|row| !is_connectionless(&row.datagram)) {
            match row.from {
                End::Client => session.server_receives(row),
                End::Server => session.client_receives(row),
            }
        }
        assert!(session.usercmds > 0 && session.snapshots > 0 && session.gamestates > 0);
    }

    fn server_receives(&mut self, row: &Row) {
        let number = &row.number;
        let received = self.server.receive(&row.datagram, &mut self.message).unwrap().unwrap();
        assert!(!received.far_ahead, "row {number}");
        let sent = &mut self.server_commands.0;
        let head = self.server.open_client_message(sent, &mut self.message).unwrap();
        assert_eq!(head.server_id, ServerId(row.int("serverId ")), "row {number}");
        assert_eq!(head.message_acknowledge, row.int::<i32>("messageAcknowledge "), "row {number}");
        assert_eq!(
            head.reliable_acknowledge,
            CommandNum(row.int("reliableAcknowledge ")),
            "row {number}"
        );
        assert_eq!(sent.acknowledge(head.reliable_acknowledge), Ok(()), "row {number}");

        let text = sent.get(head.reliable_acknowledge).unwrap();
        let key = usercmd_key(self.checksum_feed, head.message_acknowledge, text.as_bytes());
        let mut reader = BitReader::new(&self.message);
        reader.long().and(reader.long()).and(reader.long()).unwrap();
        let mut told = String::new();
        loop {
            match client_message::read_part(&mut reader).unwrap() {
                ClientPart::Command { number: command, text } => {
                    if self.client_commands.1.take(command, &text) == Order::Next {
                        // The client knew it first.
                        let added = self.client_commands.0.add(text.as_str().into());
                        assert_eq!(added, Ok(command), "row {number}");
                    }
                    told += &format!("clientCommands {command}:{text} ");
                }
                ClientPart::Moves { .. } => {
                    let mut moves = [UserCmd::default(); MAX_PACKET_USERCMDS];
                    let count = client_message::read_moves(&mut reader, key, &mut moves).unwrap();
                    self.usercmds += count;
                    told += "usercmds(serverTime|angles|forward|right|up|buttons|weapon)";
                    for usercmd in &moves[..count] {
                        told += &usercmd_in_words(usercmd);
                    }
                    break;
                }
                ClientPart::End => break,
            }
        }
        // The file shows commands as typed; a reader stores a dot for `%`.
        let decoded = row.decoded.replace('%', ".");
        let begin = decoded.find("clientCommands").or(decoded.find("usercmds("));
        let expected = begin.map_or("", |begin| &decoded[begin..]);
        assert_eq!(told.trim_end(), expected, "row {number}");
        self.server.commit(received);
    }

    fn client_receives(&mut self, row: &Row) {
        let number = &row.number;
        let Some(received) = self.client.receive(&row.datagram, &mut self.message).unwrap() else {
            assert!(row.decoded.starts_with("frag"), "row {number}: {}", row.decoded);
            return;
        };
        let sent = &mut self.client_commands.0;
        let sequence = received.sequence;
        let acknowledged =
            self.client.open_server_message(sequence, sent, &mut self.message).unwrap();
        assert_eq!(sent.acknowledge(acknowledged), Ok(()), "row {number}");
        let mut reader = BitReader::new(&self.message);
        reader.long().unwrap();
        loop {
            match Operation::read(&mut reader).unwrap() {
                Operation::Command => {
                    let (command, text) = server_message::read_command(&mut reader).unwrap();
                    if self.server_commands.1.take(command, &text) == Order::Next {
                        let text: Arc<str> = text.into();
                        assert_eq!(self.server_commands.0.add(text), Ok(command), "row {number}");
                    }
                }
                Operation::Gamestate => {
                    let gamestate = gamestate::read(&mut reader).unwrap();
                    self.checksum_feed = gamestate.checksum_feed;
                    assert_eq!(gamestate.checksum_feed, row.int::<i32>("checksumFeed "));
                    assert_eq!(gamestate.command_num, self.server_commands.1.last());
                    self.gamestates += 1;
                }
                Operation::Snapshot => {
                    let head = snapshot::read_head(&mut reader).unwrap();
                    assert_eq!(head.server_time.0, row.int::<i32>("serverTime "), "row {number}");
                    assert_eq!(head.delta_num, row.int::<u8>("deltaNum "), "row {number}");
                    assert_eq!(head.flags.0, row.int::<u8>("flags "), "row {number}");
                    self.snapshots += 1;
                    break;
                }
                Operation::End => break,
                other => panic!("row {number}: {other:?}"),
            }
        }
        if row.decoded.contains("serverCommandSequence now") {
            let commands = &self.server_commands.1;
            assert_eq!(commands.last(), CommandNum(row.int("serverCommandSequence now ")));
            let shown = commands.text().replace('\n', "\\n").replace('\x19', "\\x19");
            assert!(row.decoded.ends_with(&format!("last text '{shown}'")), "{number}: {shown}");
        }
        self.client.commit(received);
    }
}

fn usercmd_in_words(usercmd: &UserCmd) -> String {
    let UserCmd { server_time, angles: [pitch, yaw, roll], buttons, weapon, .. } = usercmd;
    let UserCmd { forwardmove, rightmove, upmove, .. } = usercmd;
    let buttons = buttons.0;
    format!(
        " {server_time}|{pitch},{yaw},{roll}|{forwardmove}|{rightmove}|{upmove}|{buttons}|{weapon}"
    )
}

//! Traces of captured sessions: decoded at an observer, cut, repeated, and from the middle.

use std::net::SocketAddr;

use fragd::{
    model::{Challenge, CommandNum, Qport, Sequence},
    netchan::{Channel, ChannelSide},
    trace::{Direction, Download, Line, Lines, Missing, Part, Record, RecordKind, Role},
    wire::{
        Protocol,
        bits::BitWriter,
        client_message::{self, ClientHeader},
        connectionless::Message,
        download,
        server_message::{self, ServerOp},
    },
};
use proptest::prelude::*;

use crate::vectors::table;

const SESSIONS: [(&str, &Protocol); 2] =
    [("session_legacy.csv", Protocol::OA_71), ("session_native.csv", Protocol::IOQ3_71)];

fn server() -> SocketAddr {
    ([192, 0, 2, 1], 27960).into()
}

fn client() -> SocketAddr {
    ([192, 0, 2, 7], 40_001).into()
}

/// Datagrams of a session file with the words of its last column.
fn session(file: &str) -> Vec<(Direction, Vec<u8>, String)> {
    let rows = table(file);
    let datagrams = rows.iter().map(|row| {
        let direction = match row.text("direction") {
            "c2s" => Direction::ToServer,
            _ => Direction::ToClient,
        };
        (direction, row.bytes("datagram_hex"), row.text("decoded").to_owned())
    });
    datagrams.collect()
}

fn line() -> Line {
    Line::new(server(), client())
}

/// Value of a record's JSON line.
fn json(record: &Record) -> serde_json::Value {
    let mut text = Vec::new();
    record.write_json(&mut text);
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 1);
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn session_vectors_are_decoded_completely() {
    for (file, protocol) in SESSIONS {
        let mut line = line();
        let mut kinds = Vec::new();
        for (number, (direction, datagram, words)) in session(file).into_iter().enumerate() {
            let record = line.decode(number as u64, direction, &datagram);
            let place = format!("{file} row {number}: {record}");
            assert_eq!(record.fault, None, "{place}");
            assert!(record.missing == Default::default() && record.lost == 0, "{place}");
            if let Some(decoded) = record.protocol {
                assert_eq!(decoded, protocol, "{place}");
            }
            let bits: u32 = record.bits.iter().map(|(_, bits)| bits).sum();
            assert_eq!(bits as usize, record.message_bytes * 8, "{place}");
            for command in &record.commands {
                let shown = command.text.replace('\n', "\\n").replace('\x19', "\\x19");
                let said = words.replace('%', ".").contains(&shown) || record.commands.len() > 1;
                assert!(said, "{place}: {shown:?}, not {words:?}");
            }
            let value = json(record);
            assert_eq!(value["kind"], record.kind.name(), "{place}");
            if record.kind == RecordKind::Snapshot {
                let time = &value["snapshot"]["server_time"];
                assert!(words.contains(&time.to_string()), "{place}: {time}, not {words:?}");
            }
            if let Some(gamestate) = &record.from_server.gamestate {
                let strings = gamestate.configstrings.len();
                assert!(words.contains(&format!("{strings} configstrings")), "{place}");
            }
            if !record.from_client.usercmds.is_empty() {
                let first = &value["usercmds"][0]["time"];
                assert!(words.contains(&first.to_string()), "{place}: {first}, not {words:?}");
            }
            kinds.push(record.kind);
        }
        for kind in [
            RecordKind::Connectionless,
            RecordKind::Fragment,
            RecordKind::Gamestate,
            RecordKind::Snapshot,
            RecordKind::Usercmds,
        ] {
            assert!(kinds.contains(&kind), "{file}: {kind:?} in {kinds:?}");
        }
    }
}

#[test]
fn truncated_datagrams_are_faults_and_change_nothing() {
    for (file, _) in SESSIONS {
        let session = session(file);
        let mut line = line();
        for (direction, datagram, _) in &session {
            if datagram.len() < 700 {
                for len in 0..datagram.len().saturating_sub(2) {
                    let record = line.decode(0, *direction, &datagram[..len]);
                    let complete = matches!(
                        record.kind,
                        RecordKind::Undecoded
                            | RecordKind::Ignored
                            | RecordKind::Connectionless
                            | RecordKind::Fragment
                    );
                    assert!(complete, "{file}: {len} of {} bytes: {record}", datagram.len());
                }
            }
            let record = line.decode(0, *direction, datagram);
            assert_eq!(record.fault, None, "{file}: {record}");
        }
    }
}

#[test]
fn duplicates_and_late_datagrams_are_ignored() {
    for ((file, _), newest) in SESSIONS.iter().flat_map(|one| [(one, false), (one, true)]) {
        let session = session(file);
        let mut line = line();
        for (at, (direction, datagram, _)) in session.iter().enumerate() {
            let record = line.decode(0, *direction, datagram);
            assert_eq!((&record.fault, record.missing), (&None, Missing::default()), "{file} {at}");
            // The newest datagrams, or handshake and first packet, again and again.
            let again = if newest { at.saturating_sub(5).max(5)..at + 1 } else { 0..5.min(at) };
            for again in again {
                let (direction, datagram, _) = &session[again];
                let record = line.decode(0, *direction, datagram);
                let kinds = [RecordKind::Ignored, RecordKind::Connectionless, RecordKind::Empty];
                assert!(kinds.contains(&record.kind), "{file} {at}, again {again}: {record}");
                assert_eq!(record.missing, Missing::default(), "{file} {at}, again {again}");
            }
        }
    }
}

#[test]
fn second_connection_of_a_pair_is_followed() {
    let mut line = line();
    for (file, protocol) in SESSIONS.iter().chain(SESSIONS.iter().rev()).chain(&SESSIONS) {
        for (direction, datagram, _) in session(file) {
            let record = line.decode(0, direction, &datagram);
            assert_eq!(record.fault, None, "{file}: {record}");
        }
        assert_eq!(line.protocol(), Some(*protocol));
    }
}

#[test]
fn native_connection_is_decoded_from_its_middle() {
    let mut line = line();
    let session = session("session_native.csv");
    let middle = session.len() / 2;
    let mut decoded = 0;
    for (direction, datagram, _) in &session[middle..] {
        let record = line.decode(0, *direction, datagram);
        if record.kind == RecordKind::Undecoded {
            assert_eq!(decoded, 0, "{record}");
            assert!(record.fault.is_some() && record.sequence.is_some());
            continue;
        }
        decoded += 1;
        if record.kind == RecordKind::Usercmds {
            assert!(record.missing.usercmd_key, "{record}");
            assert!(json(record)["usercmds"][0].get("angles[1]").is_none());
        }
    }
    assert!(decoded + 4 > session.len() - middle, "{decoded} of {}", session.len() - middle);
}

#[test]
fn scrambled_connection_is_named_when_handshake_is_missing() {
    let session = session("session_legacy.csv");
    let mut line = line();
    for (direction, datagram, _) in &session[session.len() / 2..] {
        let record = line.decode(0, *direction, datagram);
        assert_eq!(record.kind, RecordKind::Undecoded);
        let fault = json(record)["fault"].as_str().unwrap().to_owned();
        assert!(fault.contains("handshake not captured"), "{fault}");
        assert!(record.sequence.is_some());
    }
}

#[test]
fn lost_datagrams_are_counted_and_named() {
    for (file, _) in SESSIONS {
        let session = session(file);
        let mut line = line();
        let mut lost = 0;
        for (at, (direction, datagram, _)) in session.iter().enumerate() {
            // Whole messages of the server after the gamestate.
            if *direction == Direction::ToClient && at > session.len() / 2 && at % 3 == 0 {
                continue;
            }
            let record = line.decode(0, *direction, datagram);
            lost += record.lost;
            assert_ne!(record.kind, RecordKind::Undecoded, "{file} {at}: {record}");
        }
        assert!(lost > 0, "{file}");
    }
}

#[test]
fn table_finds_roles_and_follows_a_new_port() {
    for (file, _) in SESSIONS {
        let session = session(file);
        let mut lines = Lines::new(8);
        for (at, (direction, datagram, _)) in session.iter().enumerate() {
            let mut client = client();
            if at > session.len() * 2 / 3 {
                client.set_port(40_002);
            }
            let (from, to) = match direction {
                Direction::ToServer => (client, server()),
                Direction::ToClient => (server(), client),
            };
            // After the change the client speaks first.
            if at == session.len() * 2 / 3 + 1 && *direction == Direction::ToClient {
                continue;
            }
            let record = lines.decode(0, from, to, Role::Unknown, datagram).quake3().unwrap();
            assert_eq!((record.server, record.client), (server(), client), "{file} {at}");
            assert_eq!(record.direction, *direction, "{file} {at}");
        }
    }
}

#[test]
fn late_datagrams_of_an_old_port_change_nothing() {
    for (file, _) in SESSIONS {
        let session = session(file);
        let (old, mut new) = (client(), client());
        new.set_port(40_002);
        let mut lines = Lines::new(8);
        let (mut late, mut moved) = (None, false);
        for (at, (direction, datagram, _)) in session.iter().enumerate() {
            let from_client = *direction == Direction::ToServer;
            moved |= from_client && at > session.len() / 2;
            let (from, to, sender) = match direction {
                Direction::ToServer => (if moved { new } else { old }, server(), Role::Client),
                // The server is slow to use the new port.
                Direction::ToClient => {
                    (server(), if moved && at % 3 > 0 { new } else { old }, Role::Server)
                }
            };
            let record = lines.decode(0, from, to, sender, datagram).quake3().unwrap();
            assert_eq!(record.fault, None, "{file} {at}: {record}");
            if from_client && !moved {
                late = Some(datagram);
            }
            if let Some(late) = late.filter(|_| moved) {
                let record = lines.decode(0, old, server(), Role::Client, late).quake3().unwrap();
                assert_eq!(record.kind, RecordKind::Ignored, "{file} {at}: {record}");
            }
        }
        assert_eq!(lines.len(), 1, "{file}");
    }
}

#[test]
fn queries_of_many_addresses_occupy_no_line() {
    let mut lines = Lines::new(4);
    for port in 1..200 {
        let from = SocketAddr::from(([198, 51, 100, 1], port));
        let record = lines
            .decode(0, from, server(), Role::Unknown, b"\xff\xff\xff\xffgetstatus x")
            .quake3()
            .unwrap();
        assert_eq!((record.server, record.client), (server(), from));
        assert_eq!(json(record)["command"], "getstatus");
        lines.decode(0, from, server(), Role::Client, &[1, 2, 3, 4, 5, 6, 7]);
        assert!(lines.len() <= 4);
    }
}

#[test]
fn rcon_password_stays_out_of_traces() {
    let mut line = line();
    let record = line.decode(0, Direction::ToServer, b"\xff\xff\xff\xffrcon hidden status all");
    let value = json(record).to_string();
    assert!(value.contains("status all") && !value.contains("hidden"), "{value}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_sessions_never_panic(
        native: bool,
        damage in proptest::collection::vec((0..40_usize, any::<u16>(), any::<u8>()), 1..20),
    ) {
        let mut session = session(SESSIONS[usize::from(native)].0);
        for (row, at, byte) in damage {
            let count = session.len();
            let datagram = &mut session[row % count].1;
            let at = usize::from(at) % datagram.len();
            datagram[at] = byte;
        }
        let mut line = line();
        for (direction, datagram, _) in &session {
            let record = line.decode(0, *direction, datagram);
            prop_assert!(record.kind != RecordKind::Undecoded || record.fault.is_some());
            json(record);
        }
    }
}

/// Writes messages behind the session of `session_native.csv`.
struct Continued {
    line: Line,
    server: Channel,
    client: Channel,
    writer: BitWriter,
}

impl Continued {
    fn new() -> Self {
        let mut line = line();
        let mut challenge = Challenge(0);
        let mut newest = [Sequence(0); 2];
        for (direction, datagram, _) in session("session_native.csv") {
            if let Ok(Message::ChallengeResponse(granted)) = Message::parse(&datagram) {
                challenge = granted.challenge;
            }
            let record = line.decode(0, direction, &datagram);
            if let Some(sequence) = record.sequence {
                newest[direction as usize] = sequence;
            }
        }
        let channel = |side, next: Sequence| {
            Channel::new(side, Protocol::IOQ3_71, challenge, Qport(0x1234))
                .resumed(next.next(), Sequence(0))
        };
        let [to_server, to_client] = newest;
        Self {
            line,
            server: channel(ChannelSide::Server, to_client),
            client: channel(ChannelSide::Client, to_server),
            writer: BitWriter::new(),
        }
    }

    /// Sends what is written and returns its record.
    fn sent(&mut self, direction: Direction) -> &Record {
        let channel = match direction {
            Direction::ToClient => &mut self.server,
            Direction::ToServer => &mut self.client,
        };
        let mut datagram = Vec::new();
        channel.send(self.writer.message(), &"".into(), (), &mut datagram).unwrap();
        self.line.decode(0, direction, &datagram)
    }
}

#[test]
fn downloads_and_voice_are_decoded() {
    let mut session = Continued::new();
    client_message::begin(&mut session.writer, Protocol::IOQ3_71, &ClientHeader::default());
    client_message::write_command(&mut session.writer, CommandNum(900), b"download a/b.pk3");
    session.writer.byte(7);
    session.writer.byte(1);
    session.writer.long(5);
    session.writer.byte(2);
    session.writer.data(&[0; 8]);
    session.writer.byte(0);
    session.writer.short(3);
    session.writer.data(b"abc");
    client_message::end(&mut session.writer);
    let record = session.sent(Direction::ToServer);
    assert_eq!((&record.fault, record.kind), (&None, RecordKind::Voice));
    assert_eq!((record.voice[0].sequence, record.voice[0].frames), (5, 2));
    assert!(record.bits.get(Part::Voice) > 30 && record.bits.get(Part::Commands) > 30);

    // The first block comes twice, with its size both times.
    for (number, size) in [(0, Some(9)), (0, Some(9)), (1, None), (2, None)] {
        server_message::begin(&mut session.writer, Protocol::IOQ3_71, CommandNum(0));
        session.writer.byte(ServerOp::Download as u8);
        download::write_block(&mut session.writer, number, 9, b"four");
        server_message::end(&mut session.writer);
        let record = session.sent(Direction::ToClient);
        let expected = Download::Data { number: number as u16, file_size: size, len: 4 };
        assert_eq!(record.from_server.downloads, [expected], "{:?}", record.fault);
        assert_eq!(record.kind, RecordKind::Download);
    }
    server_message::begin(&mut session.writer, Protocol::IOQ3_71, CommandNum(0));
    session.writer.byte(ServerOp::Download as u8);
    download::write_refusal(&mut session.writer, b"no");
    session.writer.byte(ServerOp::VoiceOpus as u8);
    session.writer.short(4);
    session.writer.byte(1);
    session.writer.long(77);
    session.writer.byte(1);
    session.writer.short(2);
    session.writer.bits(1, 2);
    session.writer.data(b"hi");
    server_message::end(&mut session.writer);
    let record = session.sent(Direction::ToClient);
    assert_eq!(record.from_server.downloads, [Download::Refused("no".into())]);
    assert_eq!((record.voice[0].sender, record.voice[0].sequence), (Some(4), 77));
    assert_eq!(json(record)["voice"][0]["sender"], 4);
}

#[test]
fn undecodable_message_is_named_and_changes_nothing() {
    let mut session = Continued::new();
    server_message::begin(&mut session.writer, Protocol::IOQ3_71, CommandNum(0));
    server_message::write_command(&mut session.writer, CommandNum(901), b"print \"kept\"");
    session.writer.byte(99);
    let record = session.sent(Direction::ToClient);
    assert_eq!(record.kind, RecordKind::Undecoded);
    assert!(json(record)["fault"].as_str().unwrap().contains("unknown operation 99"));
    assert_eq!(record.commands[0].text, "print \"kept\"");
    server_message::begin(&mut session.writer, Protocol::IOQ3_71, CommandNum(0));
    server_message::write_command(&mut session.writer, CommandNum(901), b"print \"again\"");
    server_message::end(&mut session.writer);
    let record = session.sent(Direction::ToClient);
    assert_eq!((record.fault.as_ref(), record.commands[0].repeated, record.lost), (None, false, 0));
}

//! Traces of QuakeWorld: recorded sessions of real programs decoded wholly, losses, choke, hostile datagrams, captures.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    rc::Rc,
};

use fragd::{
    capture::{DatagramReader, Tap, TapOptions},
    model::{Millis, Qport, UnixMillis},
    quakeworld::{
        Extensions,
        bytes::Writer,
        channel::{Channel, End, MAX_MESSAGE_LEN},
        client_message::ClientMessage,
        server_message::ServerMessage,
    },
    trace::{
        Direction, Lines, RecordKind, Report, Role, View,
        quakeworld::{Line, Record, Reliable},
    },
};
use proptest::prelude::*;

use crate::vectors::table;

/// Datagram of a session: time in µs, direction, bytes, meaning, whether it is lost.
struct Packet {
    time_us: u64,
    direction: Direction,
    bytes: Vec<u8>,
    meaning: String,
    is_lost: bool,
}

fn server() -> SocketAddr {
    ([192, 0, 2, 1], 27500).into()
}

fn client(number: u16) -> SocketAddr {
    ([192, 0, 2, 7], 40_001 + number).into()
}

/// All sessions by name.
fn sessions() -> BTreeMap<String, Vec<Packet>> {
    let mut sessions = BTreeMap::<String, Vec<Packet>>::new();
    for row in table("quakeworld_session.csv") {
        let seconds: f64 = row.text("seconds").parse().unwrap();
        let direction = match row.text("sender") {
            "client" => Direction::ToServer,
            _ => Direction::ToClient,
        };
        sessions.entry(row.text("session").to_owned()).or_default().push(Packet {
            time_us: (seconds * 1e6) as u64,
            direction,
            bytes: row.bytes("hex"),
            meaning: row.text("meaning").to_owned(),
            is_lost: !row.text("lost").is_empty(),
        });
    }
    sessions
}

fn json(record: &Record) -> serde_json::Value {
    let mut text = Vec::new();
    record.write_json(&mut text);
    serde_json::from_slice(&text).unwrap()
}

/// Names of the messages, as the file tells them.
fn names(meaning: &str) -> Vec<&str> {
    meaning.split(" | ").skip(1).filter_map(|part| part.split_whitespace().next()).collect()
}

#[test]
fn quakeworld_sessions_are_decoded_completely() {
    let mut seen = BTreeSet::new();
    for (name, packets) in sessions() {
        let mut line = Line::new(server(), client(0));
        for (at, packet) in packets.iter().enumerate() {
            let place = format!("{name} {at}: {}", packet.meaning);
            let record = line.decode(packet.time_us, packet.direction, &packet.bytes);
            assert_ne!(record.kind, RecordKind::Undecoded, "{place}: {record}");
            assert!(!record.is_base_missing && !record.has_bad_checksum, "{place}: {record}");
            let value = json(record);
            let Some(header) = record.header else {
                assert_eq!(record.kind, RecordKind::Connectionless, "{place}");
                continue;
            };
            let is_first = header.sequence == 0;
            assert_eq!(record.kind == RecordKind::Ignored, is_first, "{place}: {record}");
            let is_reliable = record.reliable != Reliable::None;
            assert_eq!(packet.meaning.contains(" reliable "), is_reliable, "{place}");
            if !packet.meaning.starts_with("NetQuake control packet") {
                let shown = value["messages"].as_array().map_or(&[][..], Vec::as_slice);
                let shown: Vec<_> =
                    shown.iter().map(|message| message["message"].as_str().unwrap()).collect();
                assert_eq!(shown, names(&packet.meaning), "{place}");
            }
            let lengths: u64 = value["messages"].as_array().map_or(0, |messages| {
                messages.iter().map(|message| message["bytes"].as_u64().unwrap()).sum()
            });
            assert_eq!(lengths as usize, record.message_bytes, "{place}");
            seen.insert(record.kind.name());
        }
    }
    for kind in ["gamestate", "snapshot", "usercmds", "download", "commands", "empty"] {
        assert!(seen.contains(kind), "{kind} in {seen:?}");
    }
}

#[test]
fn quakeworld_values_are_those_of_the_session() {
    let (mut deltas, mut prints, mut moves) = (0, 0, 0);
    for (name, packets) in sessions() {
        let mut line = Line::new(server(), client(0));
        for packet in &packets {
            let record = line.decode(packet.time_us, packet.direction, &packet.bytes);
            let value = json(record);
            for message in value["messages"].as_array().into_iter().flatten() {
                match message["message"].as_str().unwrap() {
                    "deltapacketentities" => {
                        let base = value["delta_base"].as_u64().unwrap();
                        let sequence = value["sequence"].as_u64().unwrap();
                        assert!(base < sequence && sequence - base < 64, "{name}: {value}");
                        deltas += 1;
                    }
                    "print" => {
                        assert!(message["text"].is_string() && message["level"].is_u64());
                        prints += 1;
                    }
                    "move" if !packet.meaning.starts_with("NetQuake") => {
                        let newest = message["usercmds"]["newest"]["msec"].as_u64().unwrap();
                        let at = packet.meaning.rfind("msec=").unwrap() + "msec=".len();
                        let rest = &packet.meaning[at..];
                        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
                        assert_eq!(rest[..end].parse::<u64>().unwrap(), newest, "{name}");
                        moves += 1;
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(deltas > 1000 && prints > 50 && moves > 2000, "{deltas} {prints} {moves}");
}

#[test]
fn quakeworld_losses_show_repeated_messages_and_usercmds() {
    let packets = &sessions()["plain_loss_6_percent"];
    // Behind the loss, as each receiver sees the packets; and before it, as a sender's network does.
    let mut behind = Line::new(server(), client(0));
    let mut before = Line::new(server(), client(0));
    let (mut lost, mut missing, mut repeated, mut more_runs) = (0, 0, 0, 0);
    for packet in packets {
        let record = before.decode(packet.time_us, packet.direction, &packet.bytes);
        repeated += usize::from(record.reliable == Reliable::Repeated);
        if packet.is_lost {
            missing += u32::from(packet.direction == Direction::ToServer);
            continue;
        }
        let record = behind.decode(packet.time_us, packet.direction, &packet.bytes);
        assert!(!record.is_base_missing, "{record}");
        assert!(!record.is_undecoded(), "{record}");
        if packet.direction == Direction::ToServer {
            lost += record.lost;
            if let Some((runs, _)) = record.runs {
                assert_eq!(u32::from(runs), record.lost.min(2) + 1, "{record}");
                more_runs += usize::from(runs > 1);
            }
        }
    }
    assert!(missing > 5 && lost <= missing && lost + 2 >= missing, "{lost} of {missing}");
    assert!(repeated > 2 && more_runs > 5, "{repeated} repeated, {more_runs} moves");
}

#[test]
fn quakeworld_connection_is_decoded_from_its_middle() {
    for (name, packets) in sessions() {
        let start = packets.iter().position(|packet| packet.meaning.contains("playerinfo"));
        let Some(start) = start else { continue };
        let mut lines = Lines::new(4);
        let (mut undecoded, mut others, mut count) = (0, 0, 0);
        for packet in &packets[start + 20..] {
            let (from, to) = match packet.direction {
                Direction::ToServer => (client(0), server()),
                Direction::ToClient => (server(), client(0)),
            };
            let record = lines.decode(packet.time_us, from, to, Role::Unknown, &packet.bytes);
            match record.quakeworld() {
                Some(record) => undecoded += usize::from(record.is_undecoded()),
                None => others += 1,
            }
            count += 1;
        }
        assert!(count > 20, "{name}");
        assert_eq!((undecoded, others), (0, 0), "{name} of {count}");
    }
}

#[test]
fn quakeworld_family_is_found_on_any_port() {
    let packets = &sessions()["ext_walk"];
    let server = SocketAddr::from(([192, 0, 2, 1], 40_000));
    let client = SocketAddr::from(([192, 0, 2, 7], 30_000));
    for start in [0, 60] {
        let mut lines = Lines::new(4);
        for (at, packet) in packets.iter().enumerate().skip(start) {
            let to_server = packet.direction == Direction::ToServer;
            let (from, to) = if to_server { (client, server) } else { (server, client) };
            let role = match (start, to_server) {
                (0, _) => Role::Unknown,
                (_, true) => Role::Client,
                (_, false) => Role::Server,
            };
            let record = lines.decode(packet.time_us, from, to, role, &packet.bytes);
            let record = record.quakeworld().unwrap_or_else(|| panic!("{start} {at}: {record}"));
            assert!(!record.is_undecoded(), "{start} {at}: {record}");
            assert_eq!(record.direction, packet.direction, "{start} {at}");
        }
    }
}

#[test]
fn quakeworld_port_changes_are_followed_by_qport() {
    let packets = &sessions()["plain_walk"];
    let mut lines = Lines::new(4);
    for (at, packet) in packets.iter().enumerate() {
        let address = client(u16::from(at > 80));
        let (from, to) = match packet.direction {
            Direction::ToServer => (address, server()),
            Direction::ToClient => (server(), address),
        };
        let record = lines.decode(packet.time_us, from, to, Role::Unknown, &packet.bytes);
        let record = record.quakeworld().unwrap();
        assert!(!record.is_undecoded() && record.lost == 0, "{at}: {record}");
    }
    assert_eq!(lines.len(), 1);
}

#[test]
fn quakeworld_duplicates_and_cut_datagrams_change_nothing() {
    let mut cuts = 0;
    for (name, packets) in sessions() {
        let mut plain = Line::new(server(), client(0));
        let mut line = Line::new(server(), client(0));
        for (at, packet) in packets.iter().enumerate() {
            let record = plain.decode(0, packet.direction, &packet.bytes);
            let expected = json(record);
            let is_sequenced = record.header.is_some();
            let mut end = packet.bytes.len() - record.message_bytes;
            let mut ends = vec![end];
            for (len, _) in record.messages() {
                end += len;
                ends.push(end);
            }
            if is_sequenced && record.kind != RecordKind::Ignored {
                let all = 0..packet.bytes.len();
                for len in all.step_by(3).filter(|len| !ends.contains(len)) {
                    let record = line.decode(0, packet.direction, &packet.bytes[..len]);
                    assert!(record.is_undecoded(), "{name} {at}, {len} bytes: {record}");
                    cuts += 1;
                }
            }
            let record = line.decode(0, packet.direction, &packet.bytes);
            assert_eq!(json(record), expected, "{name} {at}");
            if is_sequenced {
                let again = line.decode(0, packet.direction, &packet.bytes);
                assert_eq!(again.kind, RecordKind::Ignored, "{name} {at}: {again}");
            }
        }
    }
    assert!(cuts > 20_000, "{cuts}");
}

/// A server's packet with these messages.
fn packet_of(channel: &mut Channel, messages: &[ServerMessage<'_>], now: Millis) -> Vec<u8> {
    let mut body = Vec::new();
    let mut writer = Writer::new(&mut body, MAX_MESSAGE_LEN, Extensions::NONE);
    messages.iter().for_each(|message| writer.write(message));
    let mut out = Vec::new();
    channel.transmit(&body, now, &mut out).unwrap();
    out
}

#[test]
fn quakeworld_choke_and_reliable_bit_are_shown() {
    let mut line = Line::new(server(), client(0));
    let now = Millis(0);
    let (mut ours, mut theirs) = (
        Channel::new(End::Client(Qport(7))).starting_at_one(),
        Channel::new(End::Server(Qport(7))),
    );
    line.decode(0, Direction::ToServer, b"\xff\xff\xff\xffconnect 28 7 1 \"\\name\\a\"\n");
    line.decode(0, Direction::ToClient, b"\xff\xff\xff\xffj");
    let mut views = Vec::new();
    let mut out = Vec::new();
    for step in 0..12 {
        if step == 0 {
            ours.queue_reliable(b"\x04new\0").unwrap();
        }
        if step == 4 {
            theirs.queue_reliable(b"\x08\x02hello\0").unwrap();
        }
        ours.transmit(&[], now, &mut out).unwrap();
        let record = line.decode(step * 1000, Direction::ToServer, &out);
        let mut text = String::new();
        View::Packets.write(record, 0, &mut text);
        views.push(text);
        // The first packet is lost behind the observer; two answers are choked.
        if step == 0 {
            continue;
        }
        let received = theirs.receive(&out).unwrap();
        theirs.commit(&received, now);
        if (7..9).contains(&step) {
            theirs.skip_answer();
            continue;
        }
        let choke = [ServerMessage::ChokeCount { count: 2 }];
        let answer = packet_of(&mut theirs, if step == 9 { &choke } else { &[] }, now);
        let record = line.decode(step * 1000 + 500, Direction::ToClient, &answer);
        assert_eq!(record.lost, u32::from(step == 1), "{step}: {record}");
        let mut text = String::new();
        View::Packets.write(record, 0, &mut text);
        views.push(text);
        let received = ours.receive(&answer).unwrap();
        ours.commit(&received, now);
    }
    let all = views.concat();
    let count = |mark: &str| all.lines().filter(|line| line.contains(mark)).count();
    assert_eq!((count(" R+"), count(" R-"), count(" R=")), (2, 1, 2), "{all}");
    assert_eq!((count(" choke=2"), count(" lost=")), (1, 1), "{all}");
}

#[test]
fn quakeworld_passwords_stay_out_of_traces() {
    let mut line = Line::new(server(), client(0));
    let string_command = |text: &str, sequence: u32| {
        let mut packet = Vec::new();
        packet.extend(sequence.to_le_bytes());
        packet.extend([0; 6]);
        let mut writer = Writer::new(&mut packet, MAX_MESSAGE_LEN, Extensions::NONE);
        writer.write(&ClientMessage::StringCommand { text: text.into() });
        packet
    };
    let datagrams = [
        b"\xff\xff\xff\xffrcon hunter2 status \0".to_vec(),
        b"\xff\xff\xff\xffconnect 28 0 1 \"\\name\\a\\password\\hunter2\\spectator\\hunter2\"\n"
            .to_vec(),
        string_command("setinfo \"password\" \"hunter2\"", 1),
        string_command("rcon hunter2 status", 2),
    ];
    for datagram in datagrams {
        let record = line.decode(0, Direction::ToServer, &datagram);
        assert!(!record.is_undecoded(), "{record}");
        let mut text = json(record).to_string();
        for view in [View::Packets, View::Net] {
            view.write(record, 0, &mut text);
        }
        assert!(!text.contains("hunter2"), "{text}");
    }
}

/// Captures of all sessions at once: written by a tap, read again as a packet file.
#[test]
fn quakeworld_captures_give_the_same_records() {
    let outputs = [(); 2].map(|()| Rc::new(RefCell::new(Vec::new())));
    let sink = |output: &Rc<RefCell<Vec<u8>>>| {
        let output = Rc::clone(output);
        Some(Box::new(move |bytes: &[u8]| output.borrow_mut().extend_from_slice(bytes)) as _)
    };
    let mut tap = Tap::new(TapOptions {
        locals: Vec::new(),
        started_at: UnixMillis(1_700_000_000_000),
        role: Role::Server,
        max_lines: 32,
        trace: sink(&outputs[0]),
        pcap: sink(&outputs[1]),
    });
    let mut count = 0;
    for (number, packets) in sessions().into_values().enumerate() {
        let client = client(number as u16);
        for packet in packets {
            let (from, to, sender) = match packet.direction {
                Direction::ToServer => (client, server(), Role::Client),
                Direction::ToClient => (server(), client, Role::Server),
            };
            tap.datagram(Millis(packet.time_us / 1000), from, to, sender, &packet.bytes);
            count += 1;
        }
    }
    drop(tap);
    let [trace, capture] = outputs.map(|output| output.take());
    let (mut reader, mut lines) = (DatagramReader::new(), Lines::new(32));
    let (mut again, mut report, mut views) = (Vec::new(), Report::new(), String::new());
    reader.push(&capture);
    while let Some(datagram) = reader.poll().unwrap() {
        let (time_us, from, to) = (datagram.time_us, datagram.from, datagram.to);
        let record = lines.decode(time_us, from, to, Role::Unknown, datagram.bytes);
        assert!(!record.is_undecoded() && record.quakeworld().is_some(), "{record}");
        record.write_json(&mut again);
        report.add(record);
        View::Net.write(record, 0, &mut views);
        count -= 1;
    }
    assert_eq!(count, 0);
    assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(trace).unwrap());
    assert!(capture.windows(2).any(|bytes| bytes == b"R+"), "comments of packets");
    let page = report.to_html("quakeworld");
    assert!(page.contains("Every datagram is decoded.") && page.contains("QuakeWorld 28"));
    assert!(views.contains(" playerinfo player="));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn quakeworld_hostile_datagrams_leave_decoders_usable(
        datagrams in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(any::<u8>(), 0..80), any::<prop::sample::Index>(), any::<u8>()),
            1..40,
        ),
    ) {
        let sessions = sessions();
        let packets = &sessions["ext_walk"][..100];
        let (mut line, mut lines) = (Line::new(server(), client(0)), Lines::new(4));
        let mut json = Vec::new();
        for (to_server, bytes, place, flip) in &datagrams {
            let direction = if *to_server { Direction::ToServer } else { Direction::ToClient };
            // Noise, and a packet of the session with one changed byte.
            let packet = &packets[place.index(packets.len())];
            let mut changed = packet.bytes.clone();
            let at = place.index(changed.len());
            changed[at] ^= flip;
            for (direction, datagram) in [(direction, bytes), (packet.direction, &changed)] {
                let record = line.decode(0, direction, datagram);
                record.write_json(&mut json);
                let mut text = String::new();
                View::Net.write(record, 0, &mut text);
                prop_assert!(text.len() < 300_000);
                let (from, to) = (client(0), server());
                lines.decode(0, from, to, Role::Unknown, datagram).write_json(&mut json);
            }
        }
        for line in json.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let value = serde_json::from_slice::<serde_json::Value>(line);
            prop_assert!(value.is_ok(), "{value:?}");
        }
    }
}

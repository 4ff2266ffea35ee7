//! Recorded QuakeWorld sessions of real programs: decoded to the last byte, encoded again, replayed by channels.

use std::collections::{BTreeMap, VecDeque};

use fragd::{
    model::{Millis, Qport},
    quakeworld::{
        bytes::Writer,
        channel::{
            Channel, DropReason, End, MAX_MESSAGE_LEN,
            header::{CONNECTIONLESS, Header, Sender},
        },
        client_message::ClientMessage,
        connectionless::{Reply, Request},
        extensions::Extensions,
        moves::write_move,
        packet::{ClientMessages, Message, Messages, ServerMessages},
        server_message::ServerMessage,
    },
};

use crate::vectors::{Row, table};

/// Row with its datagram and sender.
struct Packet {
    session: String,
    sender: Sender,
    is_lost: bool,
    bytes: Vec<u8>,
    meaning: String,
}

impl Packet {
    fn new(row: &Row) -> Self {
        let sender = match row.text("sender") {
            "client" => Sender::Client,
            "server" => Sender::Server,
            other => panic!("sender {other}"),
        };
        Self {
            session: row.text("session").to_owned(),
            sender,
            is_lost: !row.text("lost").is_empty(),
            bytes: row.bytes("hex"),
            meaning: row.text("meaning").to_owned(),
        }
    }

    fn is_connectionless(&self) -> bool {
        self.bytes.starts_with(CONNECTIONLESS)
    }

    /// Names of the messages, as the file tells them. It takes sequence 128 for another game.
    fn names(&self) -> Option<Vec<&str>> {
        if self.meaning.starts_with("NetQuake control packet") {
            return None;
        }
        let parts = self.meaning.split(" | ").skip(1);
        Some(parts.filter_map(|part| part.split_whitespace().next()).collect())
    }
}

/// All packets but the connection request of another game, which DarkPlaces sends to the same port.
fn packets() -> Vec<Packet> {
    let mut packets = table("quakeworld_session.csv").iter().map(Packet::new).collect::<Vec<_>>();
    let count = packets.len();
    packets.retain(|packet| !packet.bytes.starts_with(b"\x80\0\0\x13\x01QUAKE"));
    assert_eq!(packets.len() + 1, count);
    packets
}

/// Writes all messages of a payload again. Returns the payload and the names of the messages.
fn rewrite<'a, M: Message<'a>>(
    payload: &'a [u8],
    extensions: &mut Extensions,
) -> (Vec<u8>, Vec<&'static str>) {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, MAX_MESSAGE_LEN, *extensions);
    let mut messages = Messages::<M>::checked(payload, *extensions).expect("valid payload");
    let mut names = Vec::new();
    while messages.offset() < payload.len() {
        names.push(M::name(payload[messages.offset()]).expect("known number"));
        let message = messages.next().expect("a message").expect("a valid message");
        writer.write(&message);
    }
    assert!(!writer.is_overflowed());
    *extensions = messages.extensions();
    (out, names)
}

/// Whether two payloads of a client have the same messages, with the usercmds of moves by their values.
fn is_same_but_fields(one: &[u8], other: &[u8]) -> bool {
    let mut messages = [one, other].map(|payload| ClientMessages::new(payload, Extensions::NONE));
    let [one, other] = messages.each_mut();
    one.zip(other).all(|pair| match pair {
        (Ok(ClientMessage::Move(one)), Ok(ClientMessage::Move(other))) => {
            one.commands == other.commands && one.loss == other.loss
        }
        (one, other) => one.is_ok() && one == other,
    }) && messages.iter_mut().all(|rest| rest.next().is_none())
}

#[test]
fn quakeworld_session_vectors_are_written_as_they_were_read() {
    let mut extensions = BTreeMap::<String, Extensions>::new();
    let mut messages = BTreeMap::<&str, usize>::new();
    // Not canonical: DarkPlaces leaves the line feed of `getchallenge` out, and its usercmds hold unchanged buttons.
    let (mut written, mut other_forms) = (0, 0);
    for (number, packet) in packets().iter().enumerate() {
        let line = number + 2;
        if packet.is_connectionless() {
            let mut out = Vec::new();
            match packet.sender {
                Sender::Client => Request::parse(&packet.bytes).unwrap().write(&mut out),
                Sender::Server => Reply::parse(&packet.bytes).unwrap().write(&mut out),
            }
            if out == packet.bytes {
                written += 1;
            } else {
                assert_eq!(packet.bytes[4..], *b"getchallenge", "line {line}");
                other_forms += 1;
            }
            continue;
        }
        let extensions = extensions.entry(packet.session.clone()).or_default();
        let (header, payload) = Header::parse(&packet.bytes, packet.sender).unwrap();
        let (body, names) = match packet.sender {
            Sender::Client => rewrite::<ClientMessage<'_>>(payload, extensions),
            Sender::Server => rewrite::<ServerMessage<'_>>(payload, extensions),
        };
        if let Some(expected) = packet.names() {
            assert_eq!(names, expected, "line {line}: {}", packet.meaning);
        } else {
            assert_eq!(header.sequence, 128, "line {line}");
        }
        names.iter().for_each(|name| *messages.entry(name).or_default() += 1);
        let mut out = Vec::new();
        header.write(&mut out);
        out.extend_from_slice(&body);
        if out == packet.bytes {
            written += 1;
        } else {
            // The only difference: usercmds with fewer fields, and the same values.
            let is_move = packet.sender == Sender::Client && names.contains(&"move");
            assert!(is_move && out.len() < packet.bytes.len(), "line {line}: {}", packet.meaning);
            assert!(is_same_but_fields(payload, &body), "line {line}: {}", packet.meaning);
            other_forms += 1;
        }
    }
    assert!(written > 4500, "{written} packets");
    assert!(other_forms <= 80, "{other_forms} of {written} packets");
    assert!(messages.len() >= 36, "{messages:?}");
}

#[test]
fn quakeworld_session_moves_have_valid_checksums() {
    let (mut moves, mut written, mut accidental) = (0, 0, 0);
    for packet in packets().iter().filter(|packet| packet.sender == Sender::Client) {
        let Ok((header, payload)) = Header::parse(&packet.bytes, Sender::Client) else { continue };
        for message in ClientMessages::new(payload, Extensions::NONE) {
            let ClientMessage::Move(message) = message.unwrap() else { continue };
            assert!(message.is_valid(header.sequence), "{}", packet.meaning);
            accidental += usize::from(message.is_valid(header.sequence + 1));
            let mut out = Vec::new();
            let mut writer = Writer::new(&mut out, MAX_MESSAGE_LEN, Extensions::NONE);
            write_move(&mut writer, header.sequence, message.loss, &message.commands);
            written += usize::from(payload.windows(out.len()).any(|bytes| bytes == out));
            moves += 1;
        }
    }
    assert!(moves > 2000, "{moves} moves");
    // Usercmds of DarkPlaces hold unchanged buttons.
    assert!(written + 80 > moves, "{written} of {moves}");
    // One checksum of 256 is right by accident.
    assert!(accidental < moves / 100, "{accidental} of {moves}");
}

#[test]
fn quakeworld_session_packets_fail_when_cut() {
    let mut extensions = BTreeMap::<String, Extensions>::new();
    let mut cut = 0;
    for packet in packets().iter().filter(|packet| packet.sender == Sender::Server) {
        let Ok((_, payload)) = Header::parse(&packet.bytes, Sender::Server) else { continue };
        let extensions = extensions.entry(packet.session.clone()).or_default();
        let before = *extensions;
        let mut messages = ServerMessages::new(payload, before);
        let mut ends = vec![0];
        while messages.next().is_some() {
            ends.push(messages.offset());
        }
        *extensions = messages.extensions();
        for len in (0..payload.len()).step_by(7).filter(|len| !ends.contains(len)) {
            assert!(
                ServerMessages::checked(&payload[..len], before).is_err(),
                "{}",
                packet.meaning
            );
            cut += 1;
        }
    }
    assert!(cut > 10_000, "{cut} cuts");
}

/// One end of a recorded session, with the packets on their way to it.
struct Peer {
    channel: Channel,
    arriving: VecDeque<(u32, Vec<u8>)>,
}

impl Peer {
    fn new(end: End) -> Self {
        Self { channel: Channel::new(end), arriving: VecDeque::new() }
    }

    /// Takes packets up to a sequence. A relay between both ends saw some packets cross.
    fn receive_up_to(&mut self, sequence: u32, now: Millis) {
        let is_due = |peer: &Self| peer.arriving.front().is_some_and(|(at, _)| *at <= sequence);
        while is_due(self) {
            let Some((_, datagram)) = self.arriving.pop_front() else { return };
            match self.channel.receive(&datagram) {
                Ok(received) => self.channel.commit(&received, now),
                // The first packet of a client.
                Err(DropReason::Old { sequence: 0, last: 0 }) => {}
                Err(error) => panic!("packet {sequence}: {error}"),
            }
        }
    }
}

/// Both ends of each session as channels: each recorded header follows from the packets that were delivered.
#[test]
fn quakeworld_session_headers_follow_from_channels() {
    let mut ends = BTreeMap::<String, [Peer; 2]>::new();
    let (mut packets_seen, mut repeated) = (0, 0);
    let now = Millis(0);
    for packet in packets().iter().filter(|packet| !packet.is_connectionless()) {
        let (header, payload) = Header::parse(&packet.bytes, packet.sender).unwrap();
        let [client, server] = ends.entry(packet.session.clone()).or_insert_with(|| {
            let qport = header.qport.unwrap_or(Qport(0));
            [Peer::new(End::Client(qport)), Peer::new(End::Server(qport))]
        });
        let (from, to) = match packet.sender {
            Sender::Client => (client, server),
            Sender::Server => (server, client),
        };
        from.receive_up_to(header.acknowledged, now);
        if header.is_reliable && !from.channel.has_unacknowledged() {
            from.channel.queue_reliable(&payload[..1]).unwrap();
        }
        let mut out = Vec::new();
        let sent = from.channel.transmit(&[], now, &mut out).unwrap();
        let (own, _) = Header::parse(&out, packet.sender).unwrap();
        assert_eq!(own, header, "{}: {}", packet.session, packet.meaning);
        if !packet.is_lost {
            to.arriving.push_back((header.sequence, packet.bytes.clone()));
        }
        packets_seen += 1;
        repeated += usize::from(sent.is_repeated);
    }
    assert!(packets_seen > 4500 && repeated >= 10, "{repeated} of {packets_seen}");
}

//! Packet captures: written, read in every format and link type, cut at every byte.

use std::{cell::RefCell, net::SocketAddr, rc::Rc};

use fragd::{
    capture::{DatagramReader, Tap, TapOptions},
    model::{Millis, UnixMillis},
    trace::{Lines, Report, Role, View},
};
use proptest::prelude::*;

use crate::vectors::table;

type Sent = (u64, SocketAddr, SocketAddr, Vec<u8>);

fn server() -> SocketAddr {
    ([192, 0, 2, 1], 27960).into()
}

/// A captured session as datagrams with times in ms.
fn session() -> Vec<Sent> {
    let client = SocketAddr::from(([192, 0, 2, 7], 40_001));
    let rows = table("session_native.csv");
    let sent = rows.iter().map(|row| {
        let time = row.text("time_ms").parse().unwrap();
        let datagram = row.bytes("datagram_hex");
        match row.text("direction") {
            "c2s" => (time, client, server(), datagram),
            _ => (time, server(), client, datagram),
        }
    });
    sent.collect()
}

/// Reads a capture in pieces and returns the JSON lines and the error at its end.
fn decoded(file: &[u8], piece: usize) -> (String, Option<String>) {
    let (mut reader, mut lines) = (DatagramReader::new(), Lines::new(8));
    let mut json = Vec::new();
    let mut problem = None;
    'file: for piece in file.chunks(piece) {
        reader.push(piece);
        loop {
            match reader.poll() {
                Ok(None) => break,
                Ok(Some(datagram)) => {
                    let (time_us, from, to) = (datagram.time_us, datagram.from, datagram.to);
                    lines
                        .decode(time_us, from, to, Role::Unknown, datagram.bytes)
                        .write_json(&mut json);
                }
                Err(error) => {
                    problem = Some(error.to_string());
                    break 'file;
                }
            }
        }
    }
    let problem = problem.or_else(|| reader.finish().err().map(|error| error.to_string()));
    (String::from_utf8(json).unwrap(), problem)
}

/// Trace and capture of a session by the observer.
fn tapped(session: &[Sent]) -> (Vec<u8>, Vec<u8>) {
    let outputs = [(); 2].map(|()| Rc::new(RefCell::new(Vec::new())));
    let sink = |output: &Rc<RefCell<Vec<u8>>>| {
        let output = Rc::clone(output);
        Some(Box::new(move |bytes: &[u8]| output.borrow_mut().extend_from_slice(bytes)) as _)
    };
    let mut tap = Tap::new(TapOptions {
        locals: Vec::new(),
        started_at: UnixMillis(1_700_000_000_000),
        role: Role::Server,
        max_lines: 8,
        trace: sink(&outputs[0]),
        pcap: sink(&outputs[1]),
    });
    for (time, from, to, datagram) in session {
        let sender = if *from == server() { Role::Server } else { Role::Client };
        tap.datagram(Millis(*time), *from, *to, sender, datagram);
    }
    drop(tap);
    let [trace, pcap] = outputs.map(|output| output.take());
    (trace, pcap)
}

#[test]
fn capture_decodes_to_the_live_trace() {
    let (trace, pcap) = tapped(&session());
    let trace = String::from_utf8(trace).unwrap();
    assert_eq!(trace.lines().count(), session().len());
    for piece in [1, 7, 1000, pcap.len()] {
        assert_eq!(decoded(&pcap, piece), (trace.clone(), None), "pieces of {piece}");
    }
    let comments = String::from_utf8_lossy(&pcap);
    for comment in ["getchallenge", "1 gamestate fragment", "snapshot full", "snapshot delta "] {
        assert!(comments.contains(comment), "{comment}");
    }
}

#[test]
fn capture_cut_at_every_byte_keeps_what_was_good() {
    let session: Vec<_> = session().into_iter().filter(|sent| sent.3.len() < 300).take(8).collect();
    let (trace, pcap) = tapped(&session);
    let trace = String::from_utf8(trace).unwrap();
    let mut complete = 0;
    for len in 0..pcap.len() {
        let (json, problem) = decoded(&pcap[..len], 4096);
        assert!(trace.starts_with(&json), "{len}");
        match problem {
            Some(problem) => assert!(problem.starts_with("byte "), "{len}: {problem}"),
            None => complete += 1,
        }
    }
    // Behind the head, the interface, and each datagram but the last.
    assert_eq!(complete, 2 + session.len() - 1);
}

/// A file in one of the formats.
struct Writer {
    big_endian: bool,
    nanoseconds: bool,
    link_type: u32,
    file: Vec<u8>,
}

impl Writer {
    fn new(big_endian: bool, nanoseconds: bool, link_type: u32) -> Self {
        let mut writer = Self { big_endian, nanoseconds, link_type, file: Vec::new() };
        writer.word(if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 });
        let version = if big_endian { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
        writer.file.extend(version);
        for word in [0, 0, 65_535, link_type] {
            writer.word(word);
        }
        writer
    }

    fn word(&mut self, word: u32) {
        self.file.extend(if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() });
    }

    /// Appends an IP packet behind the header of the link type.
    fn packet(&mut self, time_ms: u64, is_v6: bool, ip: &[u8]) {
        let ether_type: [u8; 2] = if is_v6 { [0x86, 0xdd] } else { [8, 0] };
        let mut link = match self.link_type {
            0 | 108 => vec![0, 0, 0, 2],
            1 => [&[2; 12][..], &[0x81, 0, 0, 7], &ether_type].concat(),
            113 => [&[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0][..], &ether_type].concat(),
            276 => [&ether_type[..], &[0; 18]].concat(),
            _ => Vec::new(),
        };
        link.extend_from_slice(ip);
        let fraction = (time_ms % 1000) as u32 * 1000;
        self.word(1_700_000_000 + (time_ms / 1000) as u32);
        self.word(if self.nanoseconds { fraction * 1000 } else { fraction });
        self.word(link.len() as u32);
        self.word(link.len() as u32);
        self.file.extend(link);
    }
}

fn octets(address: SocketAddr) -> [u8; 4] {
    match address {
        SocketAddr::V4(address) => address.ip().octets(),
        SocketAddr::V6(_) => panic!("IPv4 expected"),
    }
}

fn udp(from: SocketAddr, to: SocketAddr, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() + 8) as u16;
    let head: Vec<u8> =
        [from.port(), to.port(), len, 0].iter().flat_map(|word| word.to_be_bytes()).collect();
    [head, payload.to_vec()].concat()
}

/// An IPv4 packet with a part of a UDP packet from `offset`.
fn ipv4(
    id: u16,
    from: SocketAddr,
    to: SocketAddr,
    offset: usize,
    more: bool,
    part: &[u8],
) -> Vec<u8> {
    let mut ip = vec![0x45, 0];
    ip.extend((part.len() as u16 + 20).to_be_bytes());
    ip.extend(id.to_be_bytes());
    let flags = (offset / 8) as u16 | if more { 0x2000 } else { 0 };
    ip.extend(flags.to_be_bytes());
    ip.extend([64, 17, 0, 0]);
    ip.extend(octets(from));
    ip.extend(octets(to));
    ip.extend_from_slice(part);
    ip
}

#[test]
fn every_format_and_link_type_gives_the_same_trace() {
    let session = session();
    let (trace, _) = tapped(&session);
    let trace = String::from_utf8(trace).unwrap();
    for link_type in [0, 1, 12, 101, 108, 113, 276] {
        for (big_endian, nanoseconds) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let mut writer = Writer::new(big_endian, nanoseconds, link_type);
            for (time, from, to, payload) in &session {
                writer.packet(
                    *time,
                    false,
                    &ipv4(0, *from, *to, 0, false, &udp(*from, *to, payload)),
                );
            }
            let (json, problem) = decoded(&writer.file, 5000);
            assert_eq!(problem, None);
            assert!(json == trace, "link type {link_type}, {big_endian} {nanoseconds}:\n{json}");
        }
    }
}

#[test]
fn ip_fragments_are_reassembled_in_any_order() {
    let session = session();
    let (trace, _) = tapped(&session);
    let mut writer = Writer::new(false, false, 1);
    for (number, (time, from, to, payload)) in session.iter().enumerate() {
        let udp = udp(*from, *to, payload);
        let mut parts: Vec<_> = udp.chunks(512).enumerate().collect();
        let count = parts.len();
        if number % 2 == 0 {
            parts.reverse();
        }
        for (place, part) in parts {
            let more = place + 1 < count;
            writer.packet(*time, false, &ipv4(number as u16, *from, *to, place * 512, more, part));
        }
        // A fragment whose others are missing.
        writer.packet(*time, false, &ipv4(0x8000 + number as u16, *from, *to, 0, true, &[0; 64]));
    }
    let (json, problem) = decoded(&writer.file, 4096);
    assert_eq!(problem, None);
    assert_eq!(json, String::from_utf8(trace).unwrap());
}

#[test]
fn ipv6_and_foreign_packets_are_told_apart() {
    let mut reader = DatagramReader::new();
    let mut writer = Writer::new(true, true, 1);
    let (from, to): (SocketAddr, SocketAddr) =
        ("[2001:db8::1]:5".parse().unwrap(), "[2001:db8::2]:27960".parse().unwrap());
    let query = b"\xff\xff\xff\xffgetinfo xxx";
    let mut ip = vec![0x60, 0, 0, 0, 0, 8 + query.len() as u8, 17, 64];
    for address in [from, to] {
        let SocketAddr::V6(address) = address else { panic!("IPv6 expected") };
        ip.extend(address.ip().octets());
    }
    ip.extend(udp(from, to, query));
    writer.packet(0, true, &ip);
    // TCP, a broken header, and an unknown ether type.
    let mut tcp = ipv4(1, server(), server(), 0, false, &[0x50; 20]);
    tcp[9] = 6;
    writer.packet(0, false, &tcp);
    writer.packet(0, false, &[0x41; 30]);
    writer.packet(0, true, &[0x45; 40]);
    reader.push(&writer.file);
    let datagram = reader.poll().unwrap().expect("a datagram");
    assert_eq!((datagram.from, datagram.to, datagram.bytes), (from, to, &query[..]));
    assert_eq!(reader.poll(), Ok(None));
    let skipped = reader.skipped();
    assert_eq!(skipped.others + skipped.invalid, 3, "{skipped:?}");

    let mut other = Writer::new(false, false, 147);
    other.packet(0, false, &[1, 2, 3]);
    let mut reader = DatagramReader::new();
    reader.push(&other.file);
    assert_eq!(reader.poll(), Ok(None));
    assert_eq!(reader.skipped().link_type, Some((147, 1)));
}

#[test]
fn damaged_captures_are_errors_with_their_place() {
    let (_, pcap) = tapped(&session()[..4]);
    let refused = |file: &[u8], expected: &str| {
        let (_, problem) = decoded(file, 64);
        let problem = problem.expect("refused");
        assert!(problem.contains(expected), "{problem}");
    };
    refused(b"not a capture at all", "byte 0: unknown file format");
    refused(b"", "byte 0: unknown file format");
    let mut long = pcap.clone();
    long[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    refused(&long, "byte 28: invalid block length");
    // A packet of an interface that was not described.
    let mut unknown = pcap[..28].to_vec();
    unknown.extend_from_slice(&pcap[48..]);
    refused(&unknown, "byte 28: packet of unknown interface 0");
    let mut huge = Writer::new(false, false, 1);
    for word in [0, 0, u32::MAX, 5] {
        huge.word(word);
    }
    refused(&huge.file, "byte 24: invalid block length");
}

#[test]
fn views_and_report_name_every_kind() {
    let (mut lines, mut report) = (Lines::new(8), Report::new());
    let [mut packets, mut net, mut drops] = [(); 3].map(|()| String::new());
    for (at, (time, from, to, datagram)) in session().into_iter().enumerate() {
        // One message of the server is lost.
        if at == 20 {
            continue;
        }
        let record = lines.decode(time * 1000, from, to, Role::Unknown, &datagram);
        View::Packets.write(record, 0, &mut packets);
        View::Net.write(record, 0, &mut net);
        View::Drops.write(record, 0, &mut drops);
        report.add(record);
    }
    assert_eq!(packets.lines().count(), session().len() - 1);
    assert!(packets.contains("192.0.2.7:40001 > 192.0.2.1:27960 getchallenge "), "{packets}");
    assert!(packets.contains(" fragment=0,1300 fragment ") && packets.contains(" delta="));
    assert!(net.contains("bits player commandTime:") && net.contains("bits baselines "), "{net}");
    assert!(net.contains(" added pos.trBase[0]:"), "{net}");
    assert!(drops.contains("lost=1"), "{drops}");
    let page = report.to_html("<session>");
    for part in [
        "&lt;session&gt;",
        "class=\"lagometer\"",
        "pos.trBase[0]",
        "class=\"layer0\"",
        "gamestate, ",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script") && !page.contains("http"), "no external resources");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_captures_never_panic(
        damage in proptest::collection::vec((any::<u32>(), any::<u8>()), 1..12),
        piece in 1..5000_usize,
    ) {
        let (_, mut pcap) = tapped(&session());
        for (at, byte) in damage {
            let len = pcap.len();
            pcap[at as usize % len] = byte;
        }
        decoded(&pcap, piece);
    }
}

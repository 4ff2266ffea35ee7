//! Tests of both sides against each other and against hostile bytes.

use std::net::SocketAddr;

use super::*;
use crate::multiview::{MAGIC as FILE_MAGIC, PieceKind, put_piece};

const NONCES: (Nonce, Nonce) = ([1; 16], [2; 16]);

fn from(host: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], 4000))
}

fn publisher(delay: Millis, max_relays: usize) -> Publisher {
    let password = "secret".to_owned();
    Publisher::new(PublisherOptions { password, delay, max_relays, seed: 1 })
}

fn piece(kind: PieceKind, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_piece(&mut out, kind, content);
    out
}

/// A recording's start: head of the file, header, key frame.
fn start() -> Vec<u8> {
    let mut out = FILE_MAGIC.to_vec();
    out.extend(1_u32.to_le_bytes());
    put_piece(&mut out, PieceKind::Header, b"header");
    put_piece(&mut out, PieceKind::Key, b"key one");
    out
}

/// Returns all bytes that a connection has to send.
fn drain(publisher: &mut Publisher, id: ConnectionId) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        // Odd lengths: a socket takes what it likes.
        let part = publisher.output(id);
        let part = part[..part.len().min(7)].to_vec();
        if part.is_empty() {
            return out;
        }
        publisher.sent(id, part.len());
        out.extend(part);
    }
}

/// Carries bytes in both directions until nothing moves, and returns the events.
fn exchange(
    now: Millis,
    publisher: &mut Publisher,
    id: ConnectionId,
    subscriber: &mut Subscriber,
) -> Vec<SubscriberEvent> {
    let mut events = Vec::new();
    loop {
        let (down, up) = (drain(publisher, id), subscriber.take_output());
        if down.is_empty() && up.is_empty() {
            return events;
        }
        for part in down.chunks(3) {
            subscriber.receive(now, part).expect("a valid stream");
            events.extend(std::iter::from_fn(|| subscriber.poll_event()));
        }
        for part in up.chunks(5) {
            publisher.receive(now, id, part);
        }
    }
}

/// Connects a subscriber with a password.
fn connect(
    now: Millis,
    publisher: &mut Publisher,
    password: &str,
) -> (ConnectionId, Subscriber, Vec<SubscriberEvent>) {
    let id = publisher.accept(now, from(1), NONCES.0).expect("room");
    let mut subscriber = Subscriber::new(now, password, "relay", NONCES.1);
    let events = exchange(now, publisher, id, &mut subscriber);
    (id, subscriber, events)
}

fn pieces(kind: PieceKind, content: &[u8]) -> SubscriberEvent {
    SubscriberEvent::Pieces(piece(kind, content))
}

#[test]
fn relay_gets_header_and_pieces_since_the_key_frame() {
    let mut publisher = publisher(Millis(0), 4);
    publisher.publish(Millis(0), &start());
    publisher.publish(Millis(1), &piece(PieceKind::Records, b"old"));
    publisher.publish(Millis(2), &piece(PieceKind::Key, b"key two"));
    publisher.publish(Millis(3), &piece(PieceKind::Records, b"new"));
    let (id, mut subscriber, events) = connect(Millis(4), &mut publisher, "secret");
    let expected = [
        SubscriberEvent::Accepted(Millis(0)),
        pieces(PieceKind::Header, b"header"),
        pieces(PieceKind::Key, b"key two"),
        pieces(PieceKind::Records, b"new"),
    ];
    assert_eq!(events, expected);
    publisher.publish(Millis(5), &piece(PieceKind::Records, b"next"));
    let events = exchange(Millis(5), &mut publisher, id, &mut subscriber);
    assert_eq!(events, [pieces(PieceKind::Records, b"next")]);
    publisher.end(Millis(6), "server stopped");
    let events = exchange(Millis(6), &mut publisher, id, &mut subscriber);
    assert_eq!(events, [SubscriberEvent::Ended("server stopped".to_owned())]);
    assert!(publisher.is_done(id));
}

#[test]
fn wrong_password_is_refused_on_both_sides() {
    let mut served = publisher(Millis(0), 4);
    served.publish(Millis(0), &start());
    let (id, _, events) = connect(Millis(0), &mut served, "Secret");
    assert!(matches!(&events[..], [SubscriberEvent::Refused(_)]), "{events:?}");
    assert!(served.is_done(id));
    // A publisher that accepts everything proves nothing.
    let mut subscriber = Subscriber::new(Millis(0), "secret", "relay", NONCES.1);
    let mut false_answer = Vec::new();
    let version = VERSION.to_le_bytes();
    message::put_message(
        &mut false_answer,
        message::MessageKind::Hello,
        &[&MAGIC, &version, &[7; 16]],
    );
    message::put_message(&mut false_answer, message::MessageKind::Welcome, &[&[0; 36]]);
    assert_eq!(subscriber.receive(Millis(0), &false_answer), Err(StreamError::Proof));
    // An empty password opens nothing.
    let options =
        PublisherOptions { password: String::new(), delay: Millis(0), max_relays: 4, seed: 1 };
    let (_, _, events) = connect(Millis(0), &mut Publisher::new(options), "");
    assert!(matches!(&events[..], [SubscriberEvent::Refused(_)]), "{events:?}");
}

#[test]
fn delay_holds_pieces_back() {
    let mut publisher = publisher(Millis(10_000), 4);
    publisher.publish(Millis(0), &start());
    let (id, mut subscriber, events) = connect(Millis(1), &mut publisher, "secret");
    assert_eq!(events, [SubscriberEvent::Accepted(Millis(10_000))]);
    publisher.frame(Millis(9_999));
    assert!(
        !exchange(Millis(9_999), &mut publisher, id, &mut subscriber)
            .iter()
            .any(|event| matches!(event, SubscriberEvent::Pieces(_)))
    );
    assert!(publisher.next_frame(Millis(9_999)) <= Millis(10_999));
    publisher.frame(Millis(10_000));
    let events = exchange(Millis(10_000), &mut publisher, id, &mut subscriber);
    assert_eq!(events, [pieces(PieceKind::Header, b"header"), pieces(PieceKind::Key, b"key one")]);
}

#[test]
fn pieces_behind_a_gap_wait_for_a_key_frame() {
    let mut publisher = publisher(Millis(0), 4);
    publisher.publish(Millis(0), &start());
    let (id, mut subscriber, _) = connect(Millis(1), &mut publisher, "secret");
    publisher.gap();
    publisher.publish(Millis(2), &piece(PieceKind::Records, b"useless"));
    publisher.publish(Millis(3), &piece(PieceKind::Key, b"key two"));
    let events = exchange(Millis(3), &mut publisher, id, &mut subscriber);
    assert_eq!(events, [pieces(PieceKind::Key, b"key two")]);
}

#[test]
fn slow_relay_is_disconnected_and_delays_no_other() {
    let mut publisher = publisher(Millis(0), 4);
    publisher.publish(Millis(0), &start());
    let (slow, _, _) = connect(Millis(0), &mut publisher, "secret");
    let (fast, mut subscriber, _) = connect(Millis(0), &mut publisher, "secret");
    let large = vec![0; 1 << 20];
    for now in 1..=10 {
        publisher.publish(Millis(now), &piece(PieceKind::Records, &large));
        let events = exchange(Millis(now), &mut publisher, fast, &mut subscriber);
        assert_eq!(events.len(), 1);
    }
    assert!(publisher.is_done(slow));
    assert!(!publisher.is_done(fast));
    publisher.closed(slow);
    assert_eq!(publisher.relays(), 1);
}

#[test]
fn connections_are_limited_and_time_out() {
    let mut publisher = publisher(Millis(0), 1);
    let open: Vec<_> =
        (0..4).map(|_| publisher.accept(Millis(0), from(1), NONCES.0).expect("room")).collect();
    assert_eq!(publisher.accept(Millis(0), from(1), NONCES.0), Err(Refusal::Rate));
    assert_eq!(publisher.accept(Millis(60_000), from(1), NONCES.0), Err(Refusal::Logins));
    for host in 2..14 {
        publisher.accept(Millis(0), from(host), NONCES.0).expect("room");
    }
    publisher.accept(Millis(0), from(20), NONCES.0).expect("one of the host with four gave way");
    let waiting = |publisher: &Publisher| open.iter().filter(|id| !publisher.is_done(**id)).count();
    assert!(publisher.is_done(open[0]));
    publisher.frame(Millis(4_999));
    assert_eq!(waiting(&publisher), 3);
    publisher.frame(Millis(5_000));
    assert!(open.iter().all(|id| publisher.is_done(*id)));
    for id in publisher.connections().collect::<Vec<_>>() {
        publisher.closed(id);
    }
    let (_, _, events) = connect(Millis(60_000), &mut publisher, "secret");
    assert_eq!(events, [SubscriberEvent::Accepted(Millis(0))]);
    let (_, _, events) = connect(Millis(60_000), &mut publisher, "secret");
    assert_eq!(events, [SubscriberEvent::Refused("too many relays".to_owned())]);
}

#[test]
fn c42_silent_logins_keep_no_relay_out() {
    // Eight IPv4 hosts, or all hosts of an IPv6 line, open connections and say nothing.
    let line = |n: u64| {
        let ip = std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, n as u16 % 256, 0, 0, 0, n as u16);
        SocketAddr::new(ip.into(), 5)
    };
    let few = |n: u64| SocketAddr::from(([10, n as u8 % 8, 1, 1], 5));
    for sources in [&line as &dyn Fn(u64) -> SocketAddr, &few] {
        let mut publisher = publisher(Millis(0), 4);
        let mut joined = 0;
        for number in 0..1000u64 {
            let now = Millis(number * 50);
            let _ = publisher.accept(now, sources(number), NONCES.0);
            if number % 100 == 99 {
                let relay = publisher.accept(now, from(1), NONCES.0).expect("a place");
                // The relay answers half a second later.
                for silent in 1..10 {
                    let _ = publisher.accept(
                        now + Millis(silent * 50),
                        sources(number + silent),
                        NONCES.0,
                    );
                }
                let mut subscriber = Subscriber::new(now, "secret", "relay", NONCES.1);
                let now = now + Millis(450);
                exchange(now, &mut publisher, relay, &mut subscriber);
                joined += publisher.relays();
                publisher.closed(relay);
            }
            publisher.frame(now);
            for id in publisher.connections().collect::<Vec<_>>() {
                if publisher.is_done(id) {
                    publisher.closed(id);
                }
            }
            assert!(publisher.connections().count() <= 17, "bounded");
        }
        assert_eq!(joined, 10);
    }
}

#[test]
fn silent_side_is_given_up() {
    let mut publisher = publisher(Millis(0), 1);
    let (id, mut subscriber, _) = connect(Millis(0), &mut publisher, "secret");
    for second in 1..60 {
        let now = Millis(second * 1000);
        publisher.frame(now);
        assert!(!subscriber.frame(now), "keep-alive messages arrive");
        exchange(now, &mut publisher, id, &mut subscriber);
        assert!(!publisher.is_done(id));
    }
    publisher.frame(Millis(80_000));
    assert!(publisher.is_done(id));
    assert!(subscriber.frame(Millis(80_000)));
}

#[test]
fn hostile_bytes_are_errors_with_their_place() {
    let mut hello = Vec::new();
    let version = VERSION.to_le_bytes();
    message::put_message(&mut hello, message::MessageKind::Hello, &[&MAGIC, &version, &[7; 16]]);
    let at = hello.len() as u64;
    for (bytes, error) in [
        (&b"HTTP/1.1 400"[..], StreamError::Kind { at, kind: b'H' }),
        (b"p\xff\xff\xff\x7f", StreamError::Length { at, len: 0x7fff_ffff, max: 1024 }),
        (b"p\0\0\0\0", StreamError::Message { at, what: "a message that is not allowed now" }),
        (b"w\0\0\0\0", StreamError::Message { at, what: "an answer too short" }),
    ] {
        let mut subscriber = Subscriber::new(Millis(0), "secret", "relay", NONCES.1);
        assert_eq!(subscriber.receive(Millis(0), &hello), Ok(()));
        assert_eq!(subscriber.receive(Millis(0), bytes), Err(error));
    }
    for bytes in [&b"GET / HTTP/1.1"[..], b"l\x70\0\0\x01", b"l\0\0\0\0", b"a\0\0\0\0"] {
        let mut publisher = publisher(Millis(0), 1);
        let id = publisher.accept(Millis(0), from(1), NONCES.0).expect("room");
        publisher.receive(Millis(0), id, bytes);
        assert!(publisher.is_done(id), "{bytes:?}");
    }
}

/// Change of the messages on the way.
type Change<'a> = &'a dyn Fn(&mut Vec<Vec<u8>>);

/// Sends a stream of messages to a new relay behind a line that changes it. Returns its first error.
fn changed_on_the_way(change: impl Fn(&mut Vec<Vec<u8>>)) -> Option<StreamError> {
    let mut publisher = publisher(Millis(0), 4);
    publisher.publish(Millis(0), &start());
    let (id, mut subscriber, _) = connect(Millis(1), &mut publisher, "secret");
    publisher.publish(Millis(2), &piece(PieceKind::Records, b"frags 10"));
    publisher.publish(Millis(3), &piece(PieceKind::Records, b"frags 11"));
    publisher.end(Millis(4), "server stopped");
    let bytes = drain(&mut publisher, id);
    // Seal and message in turn.
    let mut reader = message::MessageReader::new(1 << 20);
    reader.receive(&bytes);
    let mut messages = Vec::new();
    while let Some((kind, content)) = reader.next().expect("a valid stream") {
        let mut message = Vec::new();
        message::put_message(&mut message, kind, &[content]);
        messages.push(message);
    }
    assert_eq!(messages.len(), 6, "{messages:?}");
    change(&mut messages);
    subscriber.receive(Millis(5), &messages.concat()).err()
}

#[test]
fn changed_stream_is_an_error() {
    assert_eq!(changed_on_the_way(|_| {}), None);
    let forged = |kind, content: &[u8]| {
        let mut message = Vec::new();
        message::put_message(&mut message, kind, &[content]);
        message
    };
    let other = piece(PieceKind::Records, b"frags 99");
    let pieces = forged(message::MessageKind::Pieces, &other);
    let end = forged(message::MessageKind::End, b"go to evil.example");
    let changes: [(&str, Change<'_>); 7] = [
        ("changed", &|all| all[1] = pieces.clone()),
        ("inserted", &|all| all.insert(0, pieces.clone())),
        ("left out", &|all| drop(all.drain(0..2))),
        ("moved", &|all| all.rotate_left(2)),
        ("repeated", &|all| all.splice(2..2, all[..2].to_vec()).for_each(drop)),
        ("without seal", &|all| drop(all.remove(0))),
        ("ended", &|all| all.insert(0, end.clone())),
    ];
    for (what, change) in changes {
        let error = changed_on_the_way(change);
        assert!(matches!(error, Some(StreamError::Seal { .. })), "{what}: {error:?}");
    }
}

#[test]
fn versions_before_seals_get_and_give_a_plain_stream() {
    // A relay that does not ask for seals.
    let mut plain = publisher(Millis(0), 4);
    plain.publish(Millis(0), &start());
    let id = plain.accept(Millis(0), from(1), NONCES.0).expect("room");
    let proof = mac("secret", StreamSide::Subscriber, (&NONCES.0, &NONCES.1), b"old");
    let mut login = Vec::new();
    let proof = proof.finalize().into_bytes();
    message::put_message(&mut login, message::MessageKind::Login, &[&NONCES.1, &proof, b"old"]);
    plain.receive(Millis(0), id, &login);
    let bytes = drain(&mut plain, id);
    let mut reader = message::MessageReader::new(1 << 20);
    reader.receive(&bytes);
    let mut kinds = Vec::new();
    while let Some((kind, content)) = reader.next().expect("a valid stream") {
        if kind == message::MessageKind::Welcome {
            let proof = mac("secret", StreamSide::Publisher, (&NONCES.0, &NONCES.1), &[]);
            assert!(proof.verify_slice(&content[..32]).is_ok());
        }
        kinds.push(kind as u8);
    }
    assert_eq!(kinds, *b"hwpp");
    // A publisher that does not know seals.
    let mut subscriber = Subscriber::new(Millis(0), "secret", &"n".repeat(100), NONCES.1);
    let mut hello = Vec::new();
    let version = VERSION.to_le_bytes();
    message::put_message(&mut hello, message::MessageKind::Hello, &[&MAGIC, &version, &NONCES.0]);
    subscriber.receive(Millis(0), &hello).expect("a hello");
    assert!(subscriber.take_output().len() <= 5 + 16 + 32 + MAX_NAME, "older limit of a login");
    let mut answer = Vec::new();
    let proof = mac("secret", StreamSide::Publisher, (&NONCES.0, &NONCES.1), &[]);
    let proof = proof.finalize().into_bytes();
    message::put_message(&mut answer, message::MessageKind::Welcome, &[&proof, &[0; 4]]);
    let records = piece(PieceKind::Records, b"plain");
    message::put_message(&mut answer, message::MessageKind::Pieces, &[&records]);
    subscriber.receive(Millis(0), &answer).expect("a plain stream");
    let events: Vec<_> = std::iter::from_fn(|| subscriber.poll_event()).collect();
    assert_eq!(
        events,
        [SubscriberEvent::Accepted(Millis(0)), pieces(PieceKind::Records, b"plain")]
    );
}

#[test]
fn delay_of_a_sealed_stream_is_proven() {
    let mut publisher = publisher(Millis(10_000), 4);
    let id = publisher.accept(Millis(0), from(1), NONCES.0).expect("room");
    let mut subscriber = Subscriber::new(Millis(0), "secret", "relay", NONCES.1);
    subscriber.receive(Millis(0), &drain(&mut publisher, id)).expect("a hello");
    publisher.receive(Millis(0), id, &subscriber.take_output());
    let mut welcome = drain(&mut publisher, id);
    let last = welcome.len() - 1;
    welcome[last] ^= 1;
    assert_eq!(subscriber.receive(Millis(0), &welcome), Err(StreamError::Proof));
}

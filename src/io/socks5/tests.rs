//! Tests of the SOCKS5 client.

use proptest::prelude::*;

use super::*;

const RELAY: &[u8] = &[5, 0, 0, 1, 10, 0, 0, 9, 0x12, 0x34];

fn login() -> Option<Login> {
    Login::new("user", "secret")
}

/// Feeds the replies byte by byte, and returns the messages sent and the result.
fn run(login: Option<Login>, replies: &[u8]) -> (Vec<u8>, Result<Option<Relay>, Socks5Error>) {
    run_over(true, login, replies)
}

fn run_over(
    is_ip4: bool,
    login: Option<Login>,
    replies: &[u8],
) -> (Vec<u8>, Result<Option<Relay>, Socks5Error>) {
    let mut out = Vec::new();
    let mut handshake = Handshake::start(login, is_ip4, &mut out);
    for byte in replies {
        match handshake.handle_bytes(&[*byte], &mut out) {
            Ok(None) => {}
            end => return (out, end),
        }
    }
    (out, Ok(None))
}

fn address(text: &str) -> Result<Option<Relay>, Socks5Error> {
    Ok(Some(Relay::Address(text.parse().unwrap())))
}

#[test]
fn handshake_ends_with_relay_address() {
    let (sent, relay) = run(None, &[&[5, 0], RELAY].concat());
    assert_eq!(sent, [5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(relay, address("10.0.0.9:4660"));

    let (sent, relay) = run(login(), &[&[5, 2, 1, 0], RELAY].concat());
    let expected = [&[5, 2, 0, 2, 1, 4][..], b"user", &[6], b"secret", &[5, 3, 0, 1]].concat();
    assert_eq!(sent[..expected.len()], expected);
    assert!(relay.is_ok_and(|relay| relay.is_some()));
    assert!(run(login(), &[&[5, 2, 5, 0], RELAY].concat()).1.is_ok());

    let six = [&[5, 0, 5, 0, 0, 4][..], &[0; 15], &[1, 0, 9]].concat();
    let (sent, relay) = run_over(false, login(), &six);
    assert_eq!(relay, address("[::1]:9"));
    assert_eq!(sent[4..], [&[5, 3, 0, 4][..], &[0; 18]].concat(), "an IPv6 address of zeros");
    assert_eq!(run(None, &six[..six.len() - 1]).1, Ok(None), "a byte is missing");
    let mapped = [&[5, 0, 5, 0, 0, 4][..], &[0; 10], &[0xff, 0xff, 10, 0, 0, 9, 0, 9]].concat();
    assert_eq!(run(None, &mapped).1, address("10.0.0.9:9"), "an IPv4 address in IPv6 form");
}

#[test]
fn relay_may_have_a_name() {
    let named = |name: &[u8]| {
        let reply = [&[5, 0, 5, 0, 0, 3, name.len() as u8][..], name, &[0, 9]].concat();
        run(None, &reply).1
    };
    assert_eq!(named(b"relay.example"), Ok(Some(Relay::Name("relay.example".to_owned(), 9))));
    assert_eq!(named(b"10.0.0.9"), address("10.0.0.9:9"));
    assert_eq!(named(b"::1"), address("[::1]:9"));
    let longest = [b'x'; 255];
    assert!(matches!(named(&longest), Ok(Some(Relay::Name(name, 9))) if name.len() == 255));
    for name in [&b""[..], b"a b", b"a\0", b"\xff"] {
        assert_eq!(named(name), Err(Socks5Error::Name), "{name:?}");
    }
}

#[test]
fn refusals_name_their_reason() {
    for (login, replies, reason) in [
        (None, &[4, 0][..], "not a SOCKS5 server: version 4"),
        (None, b"HTTP/1.1", "version 72 (expected 5)"),
        (None, &[5, 0xff], "in the file of --socks5-login"),
        (None, &[5, 2], "login required"),
        (login(), &[5, 1], "method 1 not supported"),
        (login(), &[5, 0xff], "no authentication method accepted"),
        (login(), &[5, 2, 1, 1], "--socks5-login refused: status 1"),
        (login(), &[5, 2, 7, 0], "version 7 of the login status"),
        (None, &[5, 0, 4, 0], "version 4"),
        (None, &[5, 0, 5, 1], "general failure (reply 1)"),
        (None, &[5, 0, 5, 2], "not allowed by the rules of the server (reply 2)"),
        (None, &[5, 0, 5, 3], "network unreachable (reply 3)"),
        (None, &[5, 0, 5, 4], "host unreachable (reply 4)"),
        (None, &[5, 0, 5, 5], "connection refused (reply 5)"),
        (None, &[5, 0, 5, 6], "TTL expired (reply 6)"),
        (None, &[5, 0, 5, 7, 0, 1], "command not supported (reply 7)"),
        (None, &[5, 0, 5, 8], "address type not supported (reply 8)"),
        (None, &[5, 0, 5, 9], "unassigned code (reply 9)"),
        (None, &[5, 0, 5, 0, 0, 2], "type 2 of the relay address"),
        (None, &[5, 0, 5, 0, 0, 1, 10, 0, 0, 9, 0, 0], "port 0"),
    ] {
        let error = run(login, replies).1.unwrap_err().to_string();
        assert!(error.contains(reason), "{replies:?}: {error}");
    }
}

#[test]
fn password_is_not_in_debug_output() {
    let config = Socks5 { address: "127.0.0.1:1080".parse().unwrap(), login: login() };
    assert!(!format!("{config:?}").contains("secret"));
    assert_eq!(Login::new("", "x"), None);
    assert_eq!(Login::new("x", &"y".repeat(256)), None);
}

#[test]
fn datagrams_round_trip_with_their_address() {
    let peer = "198.51.100.1:1".parse().unwrap();
    for address in ["192.0.2.7:27960", "[2001:db8::7]:1"] {
        let address = address.parse().unwrap();
        let mut packet = b"payload".to_vec();
        wrap(address, &mut packet);
        assert_eq!(unwrap(&packet, peer), Some((address, &b"payload"[..])));
        packet[2] = 1;
        assert_eq!(unwrap(&packet, peer), None, "a fragment");
        packet[2] = 0;
        packet[0] = 1;
        assert_eq!(unwrap(&packet, peer), None, "a reserved byte");
    }
}

#[test]
fn unnamed_senders_are_the_peer_of_the_association() {
    let peer: SocketAddr = "192.0.2.7:27960".parse().unwrap();
    let port = peer.port().to_be_bytes();
    let zeros = [0; 16];
    for (host, port, is_peer) in [
        (&[3, 4, b'h', b'o', b's', b't'][..], port, true),
        (&[3, 4, b'h', b'o', b's', b't'], [0, 0], true),
        (&[3, 4, b'h', b'o', b's', b't'], [0, 9], false),
        (&[1, 0, 0, 0, 0], port, true),
        (&[1, 0, 0, 0, 0], [0, 0], true),
        (&[1, 0, 0, 0, 0], [0, 9], false),
        (&[&[4][..], &zeros].concat(), [0, 0], true),
        (&[1, 192, 0, 2, 7], [0, 0], true),
        (&[1, 192, 0, 2, 8], [0, 0], false),
    ] {
        let packet = [&[0, 0, 0][..], host, &port, b"x"].concat();
        let expected = is_peer.then_some((peer, &b"x"[..]));
        assert_eq!(unwrap(&packet, peer), expected, "{host:?} {port:?}");
    }
    assert_eq!(unwrap(&[0, 0, 0, 3, 9, b'x', 0, 1], peer), None, "a name that is cut off");
}

proptest! {
    #[test]
    fn any_bytes_are_handled(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = unwrap(&bytes, "192.0.2.7:27960".parse().unwrap());
        let mut out = Vec::new();
        let mut handshake = Handshake::start(login(), true, &mut out);
        for part in bytes.chunks(7) {
            if handshake.handle_bytes(part, &mut out).is_err() {
                break;
            }
            prop_assert!(handshake.received.len() <= MAX_REPLY && out.len() < 600);
        }
    }
}

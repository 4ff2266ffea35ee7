//! Connectionless packets of both directions, and the encrypted password of operators.

use proptest::prelude::*;

use super::{
    bytes::Text,
    connectionless::{Connect, ConnectionlessError, Refusal, Reply, Request},
    rcon::{hashed_password, is_hashed_password, is_plain_password},
    *,
};
use crate::model::{Qport, UnixMillis};

fn marked(text: &str) -> Vec<u8> {
    [b"\xff\xff\xff\xff", text.as_bytes()].concat()
}

#[test]
fn requests_are_read_and_written() {
    let extensions = Extensions { fte: 0x2140_f000, fte2: 0, mvd1: 1 };
    let connect = Connect {
        qport: Qport(4711),
        challenge: -5,
        userinfo: "\\name\\a b".into(),
        extensions,
        ..Connect::default()
    };
    let all = [
        (Request::GetChallenge, "getchallenge\n"),
        (
            Request::Connect(connect),
            "connect 28 4711 -5 \"\\name\\a b\"\n0x58455446 0x2140f000\n0x3144564d 0x1\n",
        ),
        (Request::Status { parts: None }, "status\n"),
        (Request::Status { parts: Some(23) }, "status 23\n"),
        (Request::Ping, "ping\n"),
        (Request::Log { number: None }, "log\n"),
        (Request::Log { number: Some(7) }, "log 7\n"),
        (
            Request::Rcon { password: "pw".into(), command: "map e1m1".into() },
            "rcon pw map e1m1 \0",
        ),
    ];
    for (request, text) in all {
        let mut out = Vec::new();
        request.write(&mut out);
        assert_eq!(out, marked(text));
        assert_eq!(Request::parse(&out), Ok(request));
    }
}

#[test]
fn requests_have_other_forms() {
    for (text, request) in [
        ("getchallenge", Request::GetChallenge),
        ("k", Request::Ping),
        ("k\n", Request::Ping),
        ("l\0", Request::Ack),
        (
            "rcon \"a b\" say \"x\"\n",
            Request::Rcon { password: "a b".into(), command: "say \"x\"".into() },
        ),
        ("rcon", Request::Rcon { password: Text::EMPTY, command: Text::EMPTY }),
    ] {
        assert_eq!(Request::parse(&marked(text)), Ok(request), "{text}");
    }
    for text in ["", "kick", "Ping", "getinfo", "connect", "connect 28 1 2", "connect 28 1 2 \"x"] {
        assert!(Request::parse(&marked(text)).is_err(), "{text}");
    }
    assert_eq!(Request::parse(b"ping\n"), Err(ConnectionlessError::Mark));
    let long = marked(&"x".repeat(1451));
    assert_eq!(Request::parse(&long), Err(ConnectionlessError::Long(1451)));
}

#[test]
fn replies_are_read_and_written() {
    let extensions = Extensions { fte: 64, fte2: 2, mvd1: 0x21 };
    let all = [
        Reply::Challenge { number: -10_411_194, extensions },
        Reply::Challenge { number: 7, extensions: Extensions::NONE },
        Reply::Accepted,
        Reply::Print { text: Refusal::Full.text() },
        Reply::Chunk { id: 1, number: 9, bytes: &[5; 1024] },
        Reply::Ping,
        Reply::Ack,
        Reply::Nack,
        Reply::Log { text: b"3\n\\a\\b\\" },
    ];
    for reply in all {
        let mut out = Vec::new();
        reply.write(&mut out);
        assert_eq!(Reply::parse(&out), Ok(reply));
    }
    // A server may send a bare zero, and unknown extensions.
    let pairs = b"\xff\xff\xff\xffc12\0ABCD\x01\0\0\0MVD1\x01\0\0\0rest";
    let extensions = Extensions { mvd1: 1, ..Extensions::NONE };
    assert_eq!(Reply::parse(pairs), Ok(Reply::Challenge { number: 12, extensions }));
    let bare = Reply::Challenge { number: 12, extensions: Extensions::NONE };
    assert_eq!(Reply::parse(b"\xff\xff\xff\xffc12\0"), Ok(bare));
    assert_eq!(Reply::parse(b"\xff\xff\xff\xffl\0"), Ok(Reply::Ack));
}

#[test]
fn refusals_are_the_texts_of_servers() {
    for refusal in [
        Refusal::Protocol,
        Refusal::BadChallenge,
        Refusal::NoChallenge,
        Refusal::Userinfo,
        Refusal::SpectatorPassword,
        Refusal::Password,
        Refusal::Full,
        Refusal::Banned,
    ] {
        assert!(refusal.text().starts_with(b"\n") && refusal.text().ends_with(b"\n"));
    }
}

#[test]
fn encrypted_password_holds_for_command_and_time() {
    let now = UnixMillis(1_700_000_000_000);
    let word = hashed_password(b"peer", "map fragbox".into(), now);
    // Reference: `printf 'rcon peer00F1536500000000 map fragbox ' | sha1sum`.
    assert_eq!(word[40..], *"00F1536500000000");
    assert_eq!(word[..40], *"8BF7CFD7960DB117B6AF359EE0F8A1886292C61B");
    let check = |word: &str, password: &str, command: &'static str, seconds: u64| {
        let now = UnixMillis(now.0 + seconds * 1000);
        is_hashed_password(Text::from(word), password.as_bytes(), command.into(), now, 60)
    };
    assert!(check(&word, "peer", "map fragbox", 0));
    assert!(check(&word, "peer", "map  \"fragbox\"", 60));
    assert!(!check(&word, "peer", "map fragbox", 61));
    assert!(!check(&word, "peer", "map fragramps", 0));
    assert!(!check(&word, "other", "map fragbox", 0));
    assert!(!check(&word, "", "map fragbox", 0));
    assert!(!check(&word[1..], "peer", "map fragbox", 0));
    assert!(is_plain_password("pw".into(), b"pw"));
    assert!(!is_plain_password("pw".into(), b"pwx") && !is_plain_password(Text::EMPTY, b""));
}

proptest! {
    #[test]
    fn arbitrary_connectionless_packets_do_not_panic(
        body in prop::collection::vec(any::<u8>(), 0..200),
        start in prop::sample::select(vec!["", "c", "n\\chunk", "connect 28 1 2 \"", "rcon ", "status "]),
    ) {
        let datagram = [b"\xff\xff\xff\xff", start.as_bytes(), &body].concat();
        let mut out = Vec::new();
        if let Ok(request) = Request::parse(&datagram) {
            request.write(&mut out);
        }
        if let Ok(reply) = Reply::parse(&datagram) {
            reply.write(&mut out);
            prop_assert_eq!(Reply::parse(&out), Ok(reply));
        }
        let _ = Reply::parse(&body);
    }
}

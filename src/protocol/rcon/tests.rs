//! Unit tests of the client of remote consoles.

use proptest::prelude::*;

use super::*;
use crate::wire::secure_rcon::SecureRcon;

const SERVER: &str = "192.0.2.1:27960";
const OTHER: &str = "192.0.2.9:27960";

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

fn options(family: Option<Family>, command: &str) -> RconOptions {
    RconOptions {
        candidates: vec![at(SERVER), at("192.0.2.1:27500")],
        family,
        password: "sesame".to_owned(),
        is_plain: false,
        secure: None,
        command: command.to_owned(),
        not_before: Millis(0),
        timeout: Millis(2000),
        silence: Millis(300),
        began: UnixMillis(1_700_000_000_000),
    }
}

fn client(family: Option<Family>, command: &str) -> RconClient {
    RconClient::new(options(family, command), Millis(0)).unwrap()
}

/// Runs frames until a time. Returns the datagrams with their receivers.
fn run(client: &mut RconClient, until: u64) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut sent = Vec::new();
    let mut packet = Vec::new();
    while !client.is_finished() && client.next_frame() <= Millis(until) {
        let now = client.next_frame();
        client.frame(now);
        while let Some(route) = client.poll_transmit(&mut packet) {
            sent.push((route.remote, packet.clone()));
        }
    }
    sent
}

fn receive(client: &mut RconClient, now: u64, from: &str, body: &[u8]) {
    let bytes = [b"\xff\xff\xff\xff", body].concat();
    client.handle_datagram(Millis(now), Route::new(LocalPort(0), at(from)), &bytes);
}

fn text_of(client: &RconClient) -> &str {
    match client.result() {
        RconResult::Answered(answer) => &answer.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn signed_request_has_time_or_challenge() {
    let asked =
        |secure| RconOptions { secure: Some(secure), ..options(Some(Family::Quake3), "status") };
    let mut client = RconClient::new(asked(SecureMode::Time), Millis(0)).unwrap();
    let sent = run(&mut client, 0);
    let request = SecureRcon::parse(&sent[0].1).unwrap();
    assert!(request.is_signed_by(b"sesame"));
    assert_eq!(request.proof, b"1700000000.000000");
    receive(&mut client, 10, SERVER, b"print\nnot this form");
    receive(&mut client, 20, SERVER, b"nmap: q3dm1\n\0");
    run(&mut client, 1000);
    assert_eq!(text_of(&client), "map: q3dm1\n");
    for (answer, challenge) in [
        (&b"challengeResponse 123 0 71"[..], &b"123"[..]),
        (b"challenge a~!bcdefghi\0\0more", b"a~!bcdefghi"),
    ] {
        let mut client = RconClient::new(asked(SecureMode::Challenge), Millis(0)).unwrap();
        let sent = run(&mut client, 0);
        assert!(sent.iter().all(|(_, bytes)| bytes.ends_with(b"getchallenge\n")));
        receive(&mut client, 5, SERVER, answer);
        let sent = run(&mut client, 6);
        let request = SecureRcon::parse(&sent[0].1).unwrap();
        assert!(request.is_signed_by(b"sesame"));
        assert_eq!((request.mode, request.proof), (SecureMode::Challenge, challenge));
    }
}

#[test]
fn debug_output_hides_password_and_command() {
    let shown = format!("{:?}", options(Some(Family::Quake3), "set rconPassword other"));
    assert!(shown.contains(SERVER), "{shown}");
    assert!(!shown.contains("sesame") && !shown.contains("other"), "{shown}");
}

#[test]
fn answer_of_several_packets_ends_with_silence() {
    let mut client = client(Some(Family::Quake3), "say \"a  b\"");
    let sent = run(&mut client, 0);
    assert_eq!(sent, [(at(SERVER), b"\xff\xff\xff\xffrcon sesame say \"a  b\"".to_vec())]);
    receive(&mut client, 40, SERVER, b"print\none\ntw");
    receive(&mut client, 60, OTHER, b"print\nforged\n");
    receive(&mut client, 300, SERVER, b"print\no\n^1three\n");
    assert!(run(&mut client, 599).is_empty() && !client.is_finished());
    run(&mut client, 600);
    assert!(client.is_finished());
    let RconResult::Answered(answer) = client.result() else { panic!("{:?}", client.result()) };
    assert_eq!(answer.text, "one\ntwo\n^1three\n");
    assert_eq!((answer.packets, answer.first, answer.is_cut), (2, Millis(40), false));
}

#[test]
fn password_is_sent_once_the_family_is_known() {
    let mut client = client(None, "status");
    let sent = run(&mut client, 1500);
    assert_eq!(sent.len(), 4, "two addresses, two requests");
    assert!(sent.iter().all(|(_, bytes)| bytes == b"\xff\xff\xff\xffgetchallenge\n"), "{sent:?}");
    receive(&mut client, 1510, OTHER, b"challengeResponse 1");
    receive(&mut client, 1510, SERVER, b"print\nhello\n");
    assert_eq!(client.server(), None);
    receive(&mut client, 1520, "192.0.2.1:27500", b"c123\0");
    assert_eq!(client.server(), Some((at("192.0.2.1:27500"), Family::QuakeWorld)));
    let sent = run(&mut client, 1521);
    assert_eq!(sent.len(), 1);
    let packet = String::from_utf8_lossy(&sent[0].1);
    assert!(packet.contains("rcon ") && packet.contains(" status"), "{packet}");
    assert!(!packet.contains("sesame"), "{packet}");
    receive(&mut client, 1600, "192.0.2.1:27500", b"n\xc1b\x12\r\n\0");
    run(&mut client, 1900);
    assert_eq!(text_of(&client), "Ab0\n");
}

#[test]
fn plain_form_of_quakeworld_has_the_password() {
    let mut asked = options(Some(Family::QuakeWorld), "status");
    asked.is_plain = true;
    let mut client = RconClient::new(asked, Millis(0)).unwrap();
    assert_eq!(run(&mut client, 0)[0].1, b"\xff\xff\xff\xffrcon sesame status \0");
}

#[test]
fn refusals_end_at_once() {
    for (family, body, text) in [
        (Family::Quake3, &b"print\nBad rconpassword.\n"[..], "Bad rconpassword."),
        (
            Family::Quake3,
            b"print\nNo rconpassword set on the server.\n",
            "No rconpassword set on the server.",
        ),
        (Family::QuakeWorld, b"nBad rcon_password.\n\0", "Bad rcon_password."),
        (Family::QuakeWorld, b"nNo rcon password set.\n\0", "No rcon password set."),
    ] {
        let mut client = client(Some(family), "status");
        run(&mut client, 0);
        receive(&mut client, 10, SERVER, body);
        assert!(client.is_finished());
        assert_eq!(client.result(), &RconResult::Refused(text.to_owned()));
    }
}

#[test]
fn silence_tells_whether_the_command_was_sent() {
    let mut unknown = client(None, "status");
    assert_eq!(run(&mut unknown, 60_000).len(), 4);
    assert_eq!(unknown.result(), &RconResult::NoServer);
    let mut known = client(Some(Family::Quake3), "quit");
    assert_eq!(run(&mut known, 60_000).len(), 1, "not repeated");
    assert_eq!(known.result(), &RconResult::Silent);
}

#[test]
fn endless_answers_are_cut() {
    let mut long = client(Some(Family::Quake3), "x");
    run(&mut long, 0);
    let body = [b"print\n".to_vec(), vec![b'x'; 1300]].concat();
    for _ in 0..2000 {
        receive(&mut long, 5, SERVER, &body);
    }
    assert!(long.is_finished() && text_of(&long).len() == MAX_ANSWER);
    let mut slow = client(Some(Family::Quake3), "x");
    run(&mut slow, 0);
    for now in (10..60_000).step_by(200) {
        run(&mut slow, now);
        receive(&mut slow, now, SERVER, b"print\ny");
    }
    assert!(slow.is_finished());
    assert_eq!(text_of(&slow).len(), 150, "30 seconds");
}

#[test]
fn unsendable_texts_are_refused() {
    let refused = |password: &str, command: &str| {
        let asked =
            RconOptions { password: password.to_owned(), ..options(Some(Family::Quake3), command) };
        RconClient::new(asked, Millis(0)).err()
    };
    for password in ["", "a\"b", "50%", "na\u{ef}ve", "tab\t"] {
        assert_eq!(refused(password, "status"), Some(RconError::Password), "{password}");
    }
    assert_eq!(refused("sesame", "say a\nquit"), Some(RconError::Command));
    assert_eq!(refused("sesame", &"x".repeat(995)), Some(RconError::Long(1001)));
    assert_eq!(refused("p w", &"x".repeat(990)), None);
}

proptest! {
    #[test]
    fn hostile_datagrams_never_panic(
        bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..64), 0..20),
        is_quakeworld in any::<bool>(), is_known in any::<bool>(),
    ) {
        let family = if is_quakeworld { Family::QuakeWorld } else { Family::Quake3 };
        let mut client = client(is_known.then_some(family), "status");
        for (now, body) in bodies.iter().enumerate() {
            run(&mut client, now as u64);
            let route = Route::new(LocalPort(0), at(SERVER));
            client.handle_datagram(Millis(now as u64), route, body);
            for word in [&b"print\n"[..], b"n", b"c", b"challengeResponse "] {
                receive(&mut client, now as u64, SERVER, &[word, body].concat());
            }
        }
        run(&mut client, 100_000);
        prop_assert!(client.is_finished());
    }
}

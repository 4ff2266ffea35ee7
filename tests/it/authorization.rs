//! CD-key authorization in the server: questions to the service, verdicts, forged verdicts, silence.

use std::net::SocketAddr;

use fragd::{
    discovery::services::ServicePacket,
    model::Millis,
    node::{Hosted as _, Input, LocalPort, LookupAnswer, Node as _, Output, OutputKind, Route},
    server::Server,
    settings::Settings,
};

const SERVICE: &str = "192.0.2.7:27952";
const CLIENT: &str = "198.51.100.4:27960";
const GET_CHALLENGE: &str = "getchallenge -7 Quake3Arena";

fn server(set: &[(&str, &str)]) -> Server {
    let mut settings = Settings::default();
    for (name, value) in [("sv_authorizeServer", SERVICE), ("g_rules", "flight")].iter().chain(set)
    {
        settings.set(name, value).unwrap();
    }
    Server::builder(settings, [7; 32]).build()
}

/// Sends text from an address, and returns the answers as text with their receivers.
fn ask(server: &mut Server, ms: u64, from: &str, text: &str) -> Vec<(SocketAddr, String)> {
    let route = Route::new(LocalPort(0), from.parse().unwrap());
    let datagram = [b"\xff\xff\xff\xff", text.as_bytes()].concat();
    server.handle_datagram(Millis(ms), route, &datagram);
    sent(server)
}

fn sent(server: &mut Server) -> Vec<(SocketAddr, String)> {
    let (mut packet, mut all) = (Vec::new(), Vec::new());
    while let Some(route) = server.poll_transmit(&mut packet) {
        all.push((route.remote, String::from_utf8_lossy(&packet[4..]).into_owned()));
    }
    all
}

/// Asks for a challenge as the client, and returns the number of the question to the service.
fn question(server: &mut Server, ms: u64) -> i32 {
    let sent = ask(server, ms, CLIENT, GET_CHALLENGE);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0].0.to_string(), SERVICE);
    let bytes = [b"\xff\xff\xff\xff", sent[0].1.as_bytes()].concat();
    let Ok(ServicePacket::GetIpAuthorize(question)) = ServicePacket::parse(&bytes) else {
        panic!("{sent:?}");
    };
    assert_eq!(question.address, *"198.51.100.4");
    question.challenge
}

/// The one answer to the client after a verdict.
fn verdict(words: &str) -> String {
    let mut server = server(&[]);
    let number = question(&mut server, 1000);
    let mut sent = ask(&mut server, 1100, SERVICE, &format!("ipAuthorize {number} {words}"));
    assert_eq!(sent.len(), 1, "{sent:?}");
    let (to, text) = sent.remove(0);
    assert_eq!(to.to_string(), CLIENT);
    text
}

#[test]
fn verdict_decides_what_the_client_is_told() {
    assert!(verdict("accept").starts_with("challengeResponse "));
    assert!(verdict("accept").ends_with(" -7 71"), "{}", verdict("accept"));
    assert_eq!(verdict("demo"), "print\nServer is not a demo server\n");
    assert_eq!(verdict("unknown"), "print\nAwaiting CD key authorization\n");
    assert_eq!(verdict("unknown \"Not yet\""), "print\nNot yet\n");
    assert_eq!(verdict("deny"), "print\nSomeone is using this CD Key\n");
    assert_eq!(verdict("BANNED \"Key is blocked\""), "print\nKey is blocked\n");
}

#[test]
fn question_names_game_and_strictness() {
    let mut strict = server(&[]);
    let (_, text) = ask(&mut strict, 5, CLIENT, GET_CHALLENGE).remove(0);
    assert!(text.ends_with(" 198.51.100.4 baseoa 0 1"), "{text}");
    let mut lenient = server(&[("fs_game", "mymod"), ("sv_strictAuth", "0")]);
    let (_, text) = ask(&mut lenient, 5, CLIENT, GET_CHALLENGE).remove(0);
    assert!(text.ends_with(" 198.51.100.4 mymod 0 0"), "{text}");
}

#[test]
fn local_clients_are_not_asked_about() {
    let mut server = server(&[]);
    for from in ["192.168.1.5:27960", "[2001:db8::5]:27960"] {
        let sent = ask(&mut server, 5, from, GET_CHALLENGE);
        assert_eq!(sent.len(), 1);
        assert!(sent[0].1.starts_with("challengeResponse "), "{sent:?}");
    }
    server.handle_input(Millis(9), Input::ConsoleLine("set sv_authorizeServer \"\""));
    assert!(ask(&mut server, 9, CLIENT, GET_CHALLENGE)[0].1.starts_with("challengeResponse "));
}

#[test]
fn c27_forged_verdicts_admit_no_client() {
    let mut server = server(&[]);
    let number = question(&mut server, 1000);
    let accept = format!("ipAuthorize {number} accept");
    for from in ["192.0.2.7:27953", "192.0.2.8:27952", CLIENT] {
        assert!(ask(&mut server, 1001, from, &accept).is_empty(), "from {from}");
    }
    for wrong in [number.wrapping_add(1), 0, 1, -1, i32::MAX] {
        let text = format!("ipAuthorize {wrong} accept");
        assert!(ask(&mut server, 1001, SERVICE, &text).is_empty(), "{text}");
    }
    for text in ["ipAuthorize", "ipAuthorize x", "ipAuthorize accept", &accept[..16], "getinfo"] {
        let sent = ask(&mut server, 1001, SERVICE, text);
        assert!(!sent.iter().any(|(to, _)| to.to_string() == CLIENT), "{text}: {sent:?}");
    }
    assert_eq!(ask(&mut server, 1002, SERVICE, &accept).len(), 1);
    assert!(ask(&mut server, 1003, SERVICE, &accept).is_empty(), "a number counts once");
}

#[test]
fn c27_question_flood_reaches_service_within_limits() {
    let mut server = server(&[]);
    let mut asked = 0;
    for i in 0..50_000_u32 {
        let [_, a, b, c] = i.to_be_bytes();
        let now = 1000 + u64::from(i / 50);
        if server.next_frame() <= Millis(now) {
            server.frame(Millis(now));
        }
        asked += ask(&mut server, now, &format!("20.{a}.{b}.{c}:5"), "getchallenge").len();
    }
    assert!((50..=150).contains(&asked), "{asked} questions in a second");
    assert!(sent(&mut server).is_empty());
}

/// A flood of 300 requests per second from `source`, with an honest client that asks every three seconds. Returns its
/// answers: whether the service was asked, or a challenge came.
fn flood(source: impl Fn(u32) -> [u8; 4]) -> Vec<(bool, bool)> {
    let mut server = server(&[]);
    let mut answers = Vec::new();
    for i in 0..6000_u32 {
        let now = 1000 + u64::from(i) * 10 / 3;
        let [a, b, c, d] = source(i);
        if server.next_frame() <= Millis(now) {
            server.frame(Millis(now));
        }
        ask(&mut server, now, &format!("{a}.{b}.{c}.{d}:5"), "getchallenge");
        if i % 900 == 899 {
            let sent = ask(&mut server, now, CLIENT, GET_CHALLENGE);
            let is_for = |word: &str| sent.iter().any(|(_, text)| text.starts_with(word));
            answers.push((is_for("getIpAuthorize"), is_for("challengeResponse")));
        }
    }
    answers
}

#[test]
fn c38_newcomers_are_asked_about_in_question_flood() {
    let answers = flood(|i| [20, (i >> 16) as u8, (i >> 8) as u8, i as u8]);
    assert_eq!(answers[1], (true, false), "asked with the first retry: {answers:?}");
    // The service says nothing.
    assert!(answers[2..].iter().any(|(_, joins)| *joins), "{answers:?}");
}

#[test]
fn c38_client_denied_for_five_seconds_joins_without_verdict() {
    // Forgers that repeat their sources spend both halves.
    let answers = flood(|i| [20, 0, ((i % 900) >> 8) as u8, (i % 900) as u8]);
    let joins = answers.iter().position(|(_, joins)| *joins);
    assert!(joins.is_some_and(|at| at <= 3), "{answers:?}");
}

#[test]
fn c27_flood_of_forged_verdicts_hides_no_true_one() {
    let mut server = server(&[]);
    let number = question(&mut server, 1000);
    for i in 0..20_000_i32 {
        let forged = format!("ipAuthorize {} deny", i.wrapping_mul(0x0123_4567));
        let ms = 1001 + i as u64 / 20;
        server.handle_datagram(
            Millis(ms),
            Route::new(LocalPort(0), SERVICE.parse().unwrap()),
            &[b"\xff\xff\xff\xff", forged.as_bytes()].concat(),
        );
        if i % 1000 == 0 {
            while server.next_frame() <= Millis(ms) {
                server.frame(Millis(ms));
            }
        }
    }
    server.frame(Millis(2100));
    let sent = ask(&mut server, 2101, SERVICE, &format!("ipAuthorize {number} accept"));
    assert!(sent.iter().any(|(_, text)| text.starts_with("challengeResponse ")), "{sent:?}");
}

#[test]
fn clients_join_while_the_service_is_silent() {
    let mut server = server(&[]);
    question(&mut server, 1000);
    question(&mut server, 4000);
    let sent = ask(&mut server, 7000, CLIENT, GET_CHALLENGE);
    assert!(sent[0].1.starts_with("challengeResponse "), "{sent:?}");
    // The service answers again.
    let number = question(&mut server, 8000);
    let sent = ask(&mut server, 8001, SERVICE, &format!("ipAuthorize {number} deny"));
    assert!(sent[0].1.starts_with("print\n"), "{sent:?}");
}

#[test]
fn name_of_the_service_is_looked_up() {
    let mut server = server(&[("sv_authorizeServer", "keys.example.org")]);
    assert!(ask(&mut server, 10, CLIENT, GET_CHALLENGE).is_empty());
    let Some(Output::Lookup(lookup)) = server.poll_output(OutputKind::Lookup) else {
        panic!("no lookup")
    };
    assert_eq!((&*lookup.name, lookup.default_port), ("keys.example.org", 27952));
    let failed = LookupAnswer { lookup: lookup.clone(), found: Err("no network".to_owned()) };
    server.handle_input(Millis(20), Input::Lookup(&failed));
    assert!(ask(&mut server, 30, CLIENT, GET_CHALLENGE)[0].1.starts_with("challengeResponse "));
    let found = Ok(vec!["[2001:db8::7]:27952".parse().unwrap(), SERVICE.parse().unwrap()]);
    server.handle_input(Millis(40), Input::Lookup(&LookupAnswer { lookup, found }));
    question(&mut server, 3000);
}

//! Announcing: heartbeats of a public server, answers to its masters, and their replay.

use std::{cell::RefCell, net::SocketAddr, rc::Rc};

use fragd::{
    journal::{Answers, Journaled, Recorder, Replay, Start, StepResult, Steps},
    model::Millis,
    node::{
        Hosted, Input, LocalPort, Lookup, LookupAnswer, Node as _, Output, OutputKind, Route,
        take_text,
    },
    server::Server,
    settings::Settings,
    wire::{
        connect::write_connect,
        connectionless::{ChallengeResponse, Message},
        info::InfoString,
    },
};

const HEARTBEAT: &[u8] = b"\xff\xff\xff\xffheartbeat QuakeArena-1\n";
const MASTER: &str = "192.0.2.1:27950";

fn server(set: &[(&str, &str)]) -> Server {
    let mut settings = Settings::default();
    let usual =
        [("dedicated", "2"), ("sv_master1", MASTER), ("g_rules", "flight"), ("sv_maxclients", "2")];
    for (name, value) in usual.iter().chain(set) {
        settings.set(name, value).unwrap();
    }
    Server::builder(settings, [7; 32]).build()
}

fn from(text: &str) -> Route {
    Route::new(LocalPort(0), text.parse().unwrap())
}

/// Datagrams of a node since the last call, with their receivers.
fn sent(server: &mut impl Hosted) -> Vec<(SocketAddr, Vec<u8>)> {
    let (mut packet, mut all) = (Vec::new(), Vec::new());
    while let Some(route) = server.poll_transmit(&mut packet) {
        all.push((route.remote, packet.clone()));
    }
    all
}

fn heartbeats(server: &mut impl Hosted) -> usize {
    let is_heartbeat = |(to, bytes): &(SocketAddr, Vec<u8>)| {
        assert!(bytes != HEARTBEAT || to.to_string() == MASTER, "sent to {to}");
        bytes == HEARTBEAT
    };
    sent(server).iter().filter(|datagram| is_heartbeat(datagram)).count()
}

/// Runs frames up to a time, and returns the times of heartbeats in ms.
fn run(server: &mut impl Hosted, from_ms: u64, to_ms: u64) -> Vec<u64> {
    let mut at = Vec::new();
    for ms in (from_ms..to_ms).step_by(50) {
        server.frame(Millis(ms));
        at.extend((0..heartbeats(server)).map(|_| ms));
    }
    at
}

fn join(server: &mut Server, now: Millis, qport: u16) {
    let route = from(&format!("10.0.0.{qport}:27960"));
    server.handle_datagram(now, route, b"\xff\xff\xff\xffgetchallenge");
    let answers = sent(server);
    let Ok(Message::ChallengeResponse(ChallengeResponse { challenge, .. })) =
        Message::parse(&answers[0].1)
    else {
        panic!("no challenge");
    };
    let text = format!("\\name\\x\\protocol\\71\\qport\\{qport}\\challenge\\{challenge}");
    let mut connect = Vec::new();
    write_connect(&InfoString::parse(&text), &mut connect).unwrap();
    server.handle_datagram(now, route, &connect);
    assert!(sent(server)[0].1.starts_with(b"\xff\xff\xff\xffconnectResponse"));
}

fn console(server: &mut Server, ms: u64, line: &str) -> String {
    server.handle_input(Millis(ms), Input::ConsoleLine(line));
    take_text(server, OutputKind::Console)
}

#[test]
fn public_server_sends_heartbeats_as_the_game_does() {
    let mut server = server(&[]);
    assert_eq!(run(&mut server, 1000, 700_000), [1000, 301_000, 601_000]);
    console(&mut server, 700_000, "heartbeat");
    assert_eq!(run(&mut server, 700_000, 701_000), [700_000]);
    // A loaded map resets the timer, a restart does not.
    console(&mut server, 710_000, "map q3dm1");
    assert_eq!(run(&mut server, 710_000, 711_000), [710_000]);
    console(&mut server, 720_000, "map_restart 0");
    assert!(run(&mut server, 720_000, 721_000).is_empty());

    join(&mut server, Millis(730_000), 1);
    assert_eq!(run(&mut server, 730_000, 732_000), [730_000], "the first client");
    join(&mut server, Millis(732_000), 2);
    assert_eq!(run(&mut server, 732_000, 734_000), [732_000], "the last free slot");
    console(&mut server, 734_000, "clientkick 1");
    assert!(run(&mut server, 734_000, 735_000).is_empty());
    console(&mut server, 735_000, "kick all");
    assert_eq!(run(&mut server, 735_000, 737_000), [735_000], "the last client");

    server.handle_input(Millis(738_000), Input::Stop("test"));
    assert_eq!(heartbeats(&mut server), 2);
}

#[test]
fn server_that_quits_sends_no_heartbeat() {
    let mut server = server(&[]);
    console(&mut server, 0, "quit");
    server.frame(Millis(50));
    assert_eq!(heartbeats(&mut server), 0);
}

#[test]
fn private_server_sends_no_heartbeats() {
    let mut server = server(&[("dedicated", "1")]);
    assert!(run(&mut server, 0, 400_000).is_empty());
    assert!(console(&mut server, 400_000, "heartbeat").contains("dedicated 2"));
    assert!(!console(&mut server, 400_000, "status").contains("master"));
    assert!(run(&mut server, 400_000, 401_000).is_empty());
    server.handle_input(Millis(401_000), Input::Stop("test"));
    assert_eq!(heartbeats(&mut server), 0);
}

#[test]
fn other_games_have_a_tag_of_their_own() {
    let mut server = server(&[("com_gamename", "MyGame")]);
    server.frame(Millis(0));
    let (_, bytes) = sent(&mut server).pop().unwrap();
    assert_eq!(bytes, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
}

#[test]
fn c28_probe_burst_is_answered_during_a_flood_of_queries() {
    let mut server = server(&[]);
    server.frame(Millis(1000));
    assert_eq!(heartbeats(&mut server), 1);
    for i in 0..20_000_u32 {
        let [_, a, b, c] = i.to_be_bytes();
        let route = from(&format!("198.{a}.{b}.{c}:5"));
        server.handle_datagram(Millis(1001), route, b"\xff\xff\xff\xffgetstatus");
    }
    let flood = sent(&mut server).len();
    assert!(flood < 1000, "{flood} of 20,000 questions answered");
    for words in ["getchallenge", "getstatus", "getinfo 8*cN_'2p"] {
        let question = [b"\xff\xff\xff\xff", words.as_bytes()].concat();
        server.handle_datagram(Millis(1002), from(MASTER), &question);
    }
    let answers: Vec<_> = sent(&mut server).into_iter().map(|(_, bytes)| bytes).collect();
    let begins = |at: usize, word: &str| answers[at][4..].starts_with(word.as_bytes());
    assert_eq!(answers.len(), 3);
    assert!(begins(0, "challengeResponse") && begins(1, "statusResponse"));
    assert!(begins(2, "infoResponse\n"));
    let info = String::from_utf8_lossy(&answers[2]);
    assert!(info.contains("\\challenge\\8*cN_'2p"), "{info}");
    // Another port of the master's host has no such right.
    let other = from("192.0.2.1:27951");
    server.handle_datagram(Millis(1002), other, b"\xff\xff\xff\xffgetinfo");
    assert!(sent(&mut server).is_empty());

    let status = console(&mut server, 6002, "status");
    let line = format!(
        "master {MASTER} ({MASTER}): heartbeat 5 s ago, asked getchallenge 5 s ago, asked getstatus 5 s \
         ago, asked getinfo 5 s ago\n"
    );
    assert!(status.ends_with(&line), "{status}");
}

#[test]
fn questions_in_the_name_of_a_master_are_limited() {
    let mut server = server(&[]);
    server.frame(Millis(0));
    heartbeats(&mut server);
    for _ in 0..10_000 {
        server.handle_datagram(Millis(1), from(MASTER), b"\xff\xff\xff\xffgetstatus");
    }
    let answered = sent(&mut server).len();
    assert!((12..=30).contains(&answered), "{answered}");
}

/// A recorded server whose master is a name.
fn record() -> Vec<u8> {
    let bytes = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&bytes);
    let sink = Box::new(move |piece: &[u8]| sink.borrow_mut().extend_from_slice(piece));
    let recorder = Rc::new(RefCell::new(Recorder::new(&Start::default(), sink)));
    let mut server = Journaled::new(server(&[("sv_master1", "master.example.org")]), recorder);
    server.frame(Millis(0));
    assert_eq!(heartbeats(&mut server), 0);
    let Some(Output::Lookup(lookup)) = server.poll_output(OutputKind::Lookup) else {
        panic!("no lookup")
    };
    assert_eq!(lookup, Lookup { name: "master.example.org".to_owned(), default_port: 27950 });
    let failed = LookupAnswer { lookup: lookup.clone(), found: Err("no network".to_owned()) };
    server.handle_input(Millis(20), Input::Lookup(&failed));
    assert!(run(&mut server, 50, 61_000).is_empty());
    assert!(server.poll_output(OutputKind::Lookup).is_some());
    let found = Ok(vec![MASTER.parse().unwrap(), "[2001:db8::1%7]:27950".parse().unwrap()]);
    server.handle_input(Millis(61_000), Input::Lookup(&LookupAnswer { lookup, found }));
    server.frame(Millis(61_000));
    let receivers: Vec<_> = sent(&mut server).iter().map(|(to, _)| to.to_string()).collect();
    assert_eq!(receivers, [MASTER, "[2001:db8::1%7]:27950"]);
    server.finish();
    bytes.take()
}

#[test]
fn answers_to_lookups_replay_from_a_journal() {
    let mut steps = Steps::new();
    steps.feed(&record());
    assert!(steps.start().unwrap().is_some());
    let answers = Answers::default();
    let mut replay = Replay::new(server(&[("sv_master1", "master.example.org")]));
    while let Some(step) = steps.next_step() {
        assert_eq!(replay.step(step, &answers), StepResult::Same);
    }
    assert_eq!(steps.damage(), None);
    assert_eq!(replay.datagrams_out(), 2);
    assert_eq!(replay.finish(Millis(0)), StepResult::Same);
}

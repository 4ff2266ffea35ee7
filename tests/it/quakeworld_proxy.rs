//! Proxy between clients and a server of QuakeWorld: recorded sessions, requests, port changes, disconnects, hostile input.

use std::net::SocketAddr;

use fragd::{
    model::Millis,
    node::{Hosted as _, Input, LocalPort, Node as _, Output, OutputKind, PortChange, Route},
    proxy::{Proxy, ProxyCounter, ProxyOptions},
    quakeworld::channel::header::{CONNECTIONLESS, Header, Sender},
};
use proptest::prelude::*;

use crate::vectors::table;

fn server() -> SocketAddr {
    ([192, 0, 2, 1], 27500).into()
}

fn client(port: u16) -> SocketAddr {
    ([192, 0, 2, 7], port).into()
}

/// Proxy with its clock and the packets that it sent.
struct Line {
    proxy: Proxy,
    now: Millis,
    session_port: Option<LocalPort>,
}

type Sent = Vec<(Route, Vec<u8>)>;

impl Line {
    fn new(change: impl FnOnce(&mut ProxyOptions)) -> Self {
        let mut options = ProxyOptions::new(server());
        change(&mut options);
        let now = Millis(1000);
        Self { proxy: Proxy::new(options, 5, now), now, session_port: None }
    }

    fn take(&mut self) -> Sent {
        while let Some(Output::PortChange(change)) = self.proxy.poll_output(OutputKind::PortChange)
        {
            if let PortChange::Open { local, .. } = change
                && local.0 > 1
            {
                self.session_port = Some(local);
            }
        }
        let (mut sent, mut packet) = (Vec::new(), Vec::new());
        while let Some(route) = self.proxy.poll_transmit(&mut packet) {
            sent.push((route, packet.clone()));
        }
        sent
    }

    fn send_as_client(&mut self, port: u16, bytes: &[u8]) -> Sent {
        self.proxy.handle_datagram(self.now, Route::new(LocalPort(0), client(port)), bytes);
        self.take()
    }

    fn send_as_server(&mut self, bytes: &[u8]) -> Sent {
        let local = self.session_port.expect("a session");
        self.proxy.handle_datagram(self.now, Route::new(local, server()), bytes);
        self.take()
    }

    fn wait(&mut self, time: Millis) -> Sent {
        let end = self.now + time;
        let mut sent = Vec::new();
        while self.now < end {
            self.now = (self.now + Millis(50)).min(end);
            self.proxy.frame(self.now);
            sent.extend(self.take());
        }
        sent
    }

    fn count(&self, counter: ProxyCounter) -> u64 {
        self.proxy.counter(counter)
    }

    fn undecoded(&self) -> u64 {
        self.count(ProxyCounter::UndecodedFromClients)
            + self.count(ProxyCounter::UndecodedFromServer)
    }

    fn status(&mut self) -> String {
        self.proxy.handle_input(self.now, Input::ConsoleLine("status"));
        match self.proxy.poll_output(OutputKind::Console) {
            Some(Output::Console(text)) => text,
            _ => panic!("no output"),
        }
    }

    /// Plays a recorded session up to `end` of its packets. Each is passed on unchanged.
    fn play(&mut self, name: &str, port: u16, end: usize) -> usize {
        let mut count = 0;
        for row in table("quakeworld_session.csv") {
            if row.text("session") != name || !row.text("lost").is_empty() {
                continue;
            }
            let bytes = row.bytes("hex");
            self.now += Millis(7);
            let is_from_client = row.text("sender") == "client";
            let (sent, to) = if is_from_client {
                (self.send_as_client(port, &bytes), server())
            } else {
                (self.send_as_server(&bytes), client(port))
            };
            let passed = [(to, bytes)];
            let sent: Vec<_> =
                sent.into_iter().map(|(route, bytes)| (route.remote, bytes)).collect();
            assert_eq!(sent, passed, "{name} {count}: {}", row.text("meaning"));
            count += 1;
            if count == end {
                break;
            }
        }
        count
    }
}

#[test]
fn quakeworld_sessions_pass_the_proxy_unchanged() {
    for name in ["ext_walk", "plain_walk", "plain_map_change", "plain_spectator", "ext_swim"] {
        // An operator changes the map of one session.
        let mut line = Line::new(|options| options.passes_rcon = true);
        let count = line.play(name, 40_001, usize::MAX);
        assert!(count > 100, "{name}");
        assert_eq!(line.undecoded(), 0, "{name}");
        assert_eq!(line.count(ProxyCounter::Connections), 1, "{name}");
        assert_eq!(line.count(ProxyCounter::Unmatched), 0, "{name}");
    }
}

#[test]
fn quakeworld_sessions_are_shown_in_status() {
    let mut line = Line::new(|_| {});
    line.play("plain_walk", 40_001, 100);
    let status = line.status();
    assert!(status.contains("quakeworld") && status.contains(" in game "), "{status}");
}

/// Next packet of the client of `plain_walk`.
fn next_of_client(played: usize) -> Vec<u8> {
    let mut rows = table("quakeworld_session.csv").into_iter();
    let mut rows = rows.by_ref().filter(|row| row.text("session") == "plain_walk").skip(played);
    rows.find(|row| row.text("sender") == "client").unwrap().bytes("hex")
}

#[test]
fn quakeworld_port_changes_are_followed_after_silence() {
    let mut line = Line::new(|_| {});
    line.play("plain_walk", 40_001, 100);
    let next = next_of_client(100);
    assert!(line.send_as_client(40_002, &next).is_empty(), "the old port is not silent");
    line.wait(Millis(600));
    let mut forged = next.clone();
    forged[0] = forged[0].wrapping_add(3);
    assert!(line.send_as_client(40_003, &forged).is_empty(), "a wrong checksum");
    let mut later = next;
    // The forged packet was decoded, so the genuine one must be newer.
    let (header, _) = Header::parse(&later, Sender::Client).unwrap();
    later[..4].copy_from_slice(&(header.sequence + 9).to_le_bytes());
    later.truncate(10);
    let sent = line.send_as_client(40_002, &later);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!((sent[0].0.remote, &sent[0].1), (server(), &later));
    assert_eq!(line.count(ProxyCounter::PortsFollowed), 1);
}

#[test]
fn quakeworld_server_is_left_for_a_silent_client() {
    let mut line = Line::new(|options| {
        options.idle = Millis::seconds(30);
        options.server_timeout = Millis::seconds(500);
    });
    line.play("plain_walk", 40_001, 100);
    let sent = line.wait(Millis::seconds(31));
    let to_server: Vec<_> = sent.iter().filter(|(route, _)| route.remote == server()).collect();
    assert_eq!(to_server.len(), 3, "{sent:?}");
    let mut last = 0;
    for (_, datagram) in to_server {
        let (header, payload) = Header::parse(datagram, Sender::Client).unwrap();
        assert_eq!(payload, b"\x04drop\0");
        assert!(header.sequence > last && !header.is_reliable);
        last = header.sequence;
    }
    assert_eq!(line.proxy.sessions(), 1);
    line.wait(Millis::seconds(10));
    assert_eq!(line.proxy.sessions(), 0);
}

#[test]
fn quakeworld_clients_of_a_silent_server_are_told() {
    let mut line = Line::new(|options| options.server_timeout = Millis::seconds(8));
    line.play("plain_walk", 40_001, 100);
    let mut told = Vec::new();
    let mut next = next_of_client(100);
    let (header, _) = Header::parse(&next, Sender::Client).unwrap();
    next.truncate(10);
    for step in 0..100 {
        next[..4].copy_from_slice(&(header.sequence + step).to_le_bytes());
        line.send_as_client(40_001, &next);
        told.extend(line.wait(Millis(100)));
    }
    let to_client: Vec<_> =
        told.iter().filter(|(route, _)| route.remote == client(40_001)).collect();
    let notices = to_client.iter().filter(|(_, bytes)| {
        bytes.starts_with(b"\xff\xff\xff\xffn")
            && String::from_utf8_lossy(bytes).contains("does not answer this client")
    });
    assert_eq!(notices.count(), 1, "{to_client:?}");
    let farewells: Vec<_> = to_client
        .iter()
        .filter(|(_, bytes)| !bytes.starts_with(CONNECTIONLESS))
        .map(|(_, bytes)| Header::parse(bytes, Sender::Server).unwrap())
        .collect();
    assert_eq!(farewells.len(), 2, "{to_client:?}");
    for (header, payload) in &farewells {
        assert!(payload.starts_with(b"\x08\x02") && payload.ends_with(b"\n\0\x02"));
        assert!(header.sequence > header.acknowledged);
    }
    assert_eq!(line.count(ProxyCounter::ClientsDisconnected), 1);
    let left = told
        .iter()
        .filter(|(route, bytes)| route.remote == server() && bytes.ends_with(b"\x04drop\0"));
    assert_eq!(left.count(), 3);
}

#[test]
fn quakeworld_queries_are_answered_from_the_cache() {
    let mut line = Line::new(|_| {});
    let question = line.send_as_client(1, b"\xff\xff\xff\xffstatus\n");
    assert_eq!(
        question,
        [(Route::new(LocalPort(1), server()), b"\xff\xff\xff\xffstatus\n".to_vec())]
    );
    let answer = b"\xff\xff\xff\xffn\\hostname\\x\n".to_vec();
    let forger = Route::new(LocalPort(1), ([192, 0, 2, 66], 27500).into());
    line.proxy.handle_datagram(line.now, forger, &answer);
    assert!(line.take().is_empty());
    line.proxy.handle_datagram(line.now, Route::new(LocalPort(1), server()), &answer);
    let sent = line.take();
    assert_eq!((sent.len(), sent[0].0.remote, &sent[0].1), (1, client(1), &answer));
    let again = line.send_as_client(2, b"\xff\xff\xff\xffstatus\n");
    assert_eq!((again.len(), again[0].0.remote), (1, client(2)));
    let ping = line.send_as_client(3, b"\xff\xff\xff\xffping\n");
    assert_eq!(ping[0].1, b"\xff\xff\xff\xffping\n");
    line.proxy.handle_datagram(line.now, Route::new(LocalPort(1), server()), b"l");
    assert_eq!(line.take()[0].1, b"l");
    assert_eq!(line.proxy.sessions(), 0);
    assert_eq!(line.count(ProxyCounter::QueriesAnswered), 3);
}

#[test]
fn quakeworld_rcon_passes_with_its_option_only() {
    let rcon = b"\xff\xff\xff\xffrcon word status and many words more \0";
    for passes in [false, true] {
        let mut line = Line::new(|options| options.passes_rcon = passes);
        line.play("plain_walk", 40_001, 60);
        let sent = line.send_as_client(40_001, rcon);
        assert_eq!(sent.len(), 1);
        if passes {
            assert_eq!((sent[0].0.remote, &sent[0].1[..]), (server(), &rcon[..]));
        } else {
            assert_eq!(sent[0].0.remote, client(40_001));
            assert!(sent[0].1.starts_with(b"\xff\xff\xff\xffn") && sent[0].1.len() <= rcon.len());
            // A new client asks in the form of the connection before.
            let stranger = line.send_as_client(40_002, rcon);
            assert!(stranger[0].1.starts_with(b"\xff\xff\xff\xffn"), "{stranger:?}");
        }
        let refused = line.count(ProxyCounter::CommandsRefused);
        assert!(line.send_as_client(40_001, b"\xff\xff\xff\xfflog\n").is_empty());
        assert_eq!(line.count(ProxyCounter::CommandsRefused), refused + 1);
    }
}

#[test]
fn quakeworld_handshake_without_line_feed_is_recognized() {
    let mut line = Line::new(|_| {});
    let count = line.play("plain_darkplaces", 40_001, usize::MAX);
    assert!(count > 100, "{count}");
    assert_eq!((line.undecoded(), line.count(ProxyCounter::Connections)), (0, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn quakeworld_hostile_datagrams_leave_the_proxy_usable(
        datagrams in prop::collection::vec(
            (any::<bool>(), any::<bool>(), 40_001_u16..40_006, prop::collection::vec(any::<u8>(), 0..60)),
            1..60,
        ),
    ) {
        let mut line = Line::new(|_| {});
        line.play("plain_walk", 40_001, 60);
        for (is_from_client, is_request, port, mut bytes) in datagrams {
            if is_request {
                bytes.splice(0..0, *b"\xff\xff\xff\xff");
            }
            if is_from_client {
                line.send_as_client(port, &bytes);
            } else {
                line.send_as_server(&bytes);
            }
            line.wait(Millis(50));
        }
        prop_assert!(line.proxy.sessions() <= 6);
        prop_assert!(line.status().contains("quakeworld"));
    }
}

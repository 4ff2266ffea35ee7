//! A master with servers and clients in memory.

mod attacks;
mod console;
mod lists;
mod other_games;
mod registration;
mod services;

use std::net::SocketAddr;

use crate::{
    discovery::ListPacket,
    model::Millis,
    node::{LocalPort, Node, Route},
};

use super::*;

/// A master and the time.
struct Net {
    master: Master,
    now: u64,
}

/// A datagram of the master.
type Sent = (SocketAddr, Vec<u8>);

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn packet(text: &str) -> Vec<u8> {
    [b"\xff\xff\xff\xff", text.as_bytes()].concat()
}

impl Net {
    fn new(change: impl FnOnce(&mut MasterOptions)) -> Self {
        let mut options = MasterOptions::default();
        change(&mut options);
        let now = 1_000_000;
        Self { master: Master::new(options, [42; 32], Millis(now)).unwrap(), now }
    }

    /// Lets time pass.
    fn pass(&mut self, ms: u64) -> Vec<Sent> {
        let end = self.now + ms;
        while self.master.next_frame() <= Millis(end) {
            self.now = self.now.max(self.master.next_frame().0);
            self.master.frame(Millis(self.now));
        }
        self.now = end;
        self.drain()
    }

    fn drain(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        let mut packet = Vec::new();
        while let Some(route) = self.master.poll_transmit(&mut packet) {
            sent.push((route.remote, packet.clone()));
        }
        sent
    }

    fn send(&mut self, from: &str, bytes: &[u8]) -> Vec<Sent> {
        let route = Route::new(LocalPort(0), address(from));
        self.master.handle_datagram(Millis(self.now), route, bytes);
        self.drain()
    }

    fn say(&mut self, from: &str, text: &str) -> Vec<Sent> {
        self.send(from, &packet(text))
    }

    /// Sends a heartbeat and returns the challenge.
    fn beat(&mut self, from: &str, word: &str) -> Option<String> {
        let sent = self.say(from, &format!("heartbeat {word}\n"));
        let [(to, reply)] = sent.as_slice() else {
            assert!(sent.is_empty(), "{sent:?}");
            return None;
        };
        assert_eq!(*to, address(from));
        let challenge = reply.strip_prefix(b"\xff\xff\xff\xffgetinfo ").unwrap();
        assert!((8..=11).contains(&challenge.len()));
        Some(String::from_utf8(challenge.to_vec()).unwrap())
    }

    /// Registers a server; `info` has no challenge.
    fn register(&mut self, from: &str, word: &str, info: &str) -> bool {
        let Some(challenge) = self.beat(from, word) else { return false };
        let before = self.master.counter(MasterCounter::InfosListed);
        let sent = self.say(from, &format!("infoResponse\n{info}\\challenge\\{challenge}"));
        assert_eq!(sent, [], "a response is never answered");
        self.master.counter(MasterCounter::InfosListed) > before
    }

    fn listed(&self, from: &str) -> bool {
        self.master.registry.find(address(from)).is_some()
    }

    /// Asks for a list; `None` without an answer.
    fn ask(&mut self, from: &str, request: &str) -> Option<Vec<String>> {
        let sent = self.say(from, request);
        if sent.is_empty() {
            return None;
        }
        assert!(sent.iter().all(|(to, bytes)| *to == address(from) && bytes.len() <= 1400));
        let last = ListPacket::parse(&sent[sent.len() - 1].1).unwrap();
        assert!(last.has_end_mark(), "the last packet has the end mark");
        let mut servers: Vec<_> = sent
            .iter()
            .flat_map(|(_, bytes)| ListPacket::parse(bytes).unwrap().servers().collect::<Vec<_>>())
            .map(|server| server.to_string())
            .collect();
        servers.sort();
        let all = servers.len();
        servers.dedup();
        assert_eq!(servers.len(), all, "no server comes twice");
        Some(servers)
    }
}

const CLIENT: &str = "198.51.100.9:27960";
const Q3: &str = "\\protocol\\68\\clients\\2\\sv_maxclients\\8\\hostname\\A\\mapname\\q3dm17";

//! Tests of the browser node against a scripted master and servers.

mod hostile;
mod reports;
mod rounds;

use std::net::SocketAddr;

use super::*;
use crate::{
    discovery::{Game, ListFormat, quake4, quakeworld},
    model::Millis,
    node::{LocalPort, Node, Route},
    wire::{
        connectionless::{Message, StatusPlayer, write_status_response},
        info::InfoString,
    },
};

pub(super) const MASTER: &str = "192.0.2.1:27950";

pub(super) fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

pub(super) fn game(word: &str) -> &'static Game {
    Game::by_word(word).expect("a game")
}

/// Returns the address of server `number` of a list.
pub(super) fn listed(number: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, (number >> 8) as u8, number as u8], 27_960))
}

/// Returns options with one master that is asked for `word`.
pub(super) fn options(word: &str) -> BrowserOptions {
    let game = game(word);
    let questions = vec![Question { game, protocol: game.protocol, extended: None }];
    let master = MasterOptions { label: "master".to_owned(), address: address(MASTER), questions };
    BrowserOptions { masters: vec![master], ..BrowserOptions::new(7) }
}

pub(super) fn receive(browser: &mut Browser, now: u64, from: SocketAddr, bytes: &[u8]) {
    browser.handle_datagram(Millis(now), Route::new(LocalPort(0), from), bytes);
}

/// Returns the datagrams that the browser sends.
pub(super) fn sent(browser: &mut Browser) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut packet = Vec::new();
    std::iter::from_fn(|| browser.poll_transmit(&mut packet).map(|to| (to.remote, packet.clone())))
        .collect()
}

/// Returns the packets of a list.
pub(super) fn list(word: &str, servers: impl IntoIterator<Item = SocketAddr>) -> Vec<Vec<u8>> {
    let format = match word {
        "q4" => ListFormat::Quake4,
        "qw" => ListFormat::QuakeWorld,
        _ => ListFormat::Quake3,
    };
    let mut servers = servers.into_iter().peekable();
    let mut packets = Vec::new();
    loop {
        let mut packet = Vec::new();
        let last = format.write(&mut packet, &mut servers);
        packets.push(packet);
        if last {
            return packets;
        }
    }
}

/// Returns the answer of a server to a request. `None` for other datagrams.
pub(super) fn answer(request: &[u8], name: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match Message::parse(request) {
        Ok(Message::GetInfo(query)) => {
            let text = format!(
                "\\challenge\\{}\\protocol\\68\\hostname\\{name}\\mapname\\q3dm17\\clients\\3\
                 \\sv_maxclients\\16\\gametype\\4\\g_needpass\\1\\game\\cpma",
                query.challenge
            );
            Message::InfoResponse(text.as_str().into()).write(&mut out);
            return Some(out);
        }
        Ok(Message::GetStatus(query)) => {
            let mut info = InfoString::normal();
            info.set("challenge", &query.challenge.to_string()).expect("a short pair");
            let player = StatusPlayer { score: 12, ping: 48, name: "^1Sarge".into() };
            write_status_response(&mut out, &info, [player], 1400);
            return Some(out);
        }
        _ => {}
    }
    if let Ok(quake4::Packet::GetInfo(challenge)) = quake4::Packet::parse(request) {
        let pairs = [
            ("si_name", name),
            ("si_map", "mp/q4dm1"),
            ("si_maxPlayers", "16"),
            ("si_gameType", "DM"),
        ];
        let player = quake4::Player { name: "Kane".into(), ping: 30, ..Default::default() };
        quake4::write_info_response(&mut out, challenge, pairs, [player]);
        return Some(out);
    }
    if let Ok(quakeworld::Packet::GetStatus(_)) = quakeworld::Packet::parse(request) {
        out = format!(
            "\u{1}\u{1}\u{1}\u{1}n\\hostname\\{name}\\map\\dm4\\maxclients\\8\n\
             3 25 12 38 \"player\" \"base\" 4 13\n\0"
        )
        .into_bytes();
        out[..4].fill(0xff);
        return Some(out);
    }
    None
}

/// Network of one master and servers, all answering after `delay` ms.
pub(super) struct Network {
    pub(super) now: u64,
    pub(super) delay: u64,
    pub(super) servers: Vec<SocketAddr>,
    pub(super) silent: Vec<SocketAddr>,
    pub(super) asked: Vec<SocketAddr>,
    /// Most requests to servers that were unanswered at once.
    pub(super) most_open: usize,
    flights: Vec<(u64, SocketAddr, Vec<u8>)>,
}

impl Network {
    pub(super) fn new(count: u16) -> Self {
        Self {
            now: 0,
            delay: 20,
            servers: (1..=count).map(listed).collect(),
            silent: Vec::new(),
            asked: Vec::new(),
            most_open: 0,
            flights: Vec::new(),
        }
    }

    /// Runs the browser until it is idle or `end` is reached.
    pub(super) fn run(&mut self, browser: &mut Browser, word: &str, end: u64) {
        while self.now <= end && !browser.is_finished() {
            if browser.next_frame() <= Millis(self.now) {
                browser.frame(Millis(self.now));
            }
            let arrived = self.flights.extract_if(.., |(at, ..)| *at <= self.now);
            for (_, from, bytes) in arrived.collect::<Vec<_>>() {
                receive(browser, self.now, from, &bytes);
            }
            for (to, bytes) in sent(browser) {
                self.deliver(word, to, &bytes);
            }
            self.most_open = self.most_open.max(browser.query_counts().1);
            self.now += 1;
        }
    }

    fn deliver(&mut self, word: &str, to: SocketAddr, bytes: &[u8]) {
        let at = self.now + self.delay;
        if to == address(MASTER) {
            let packets = list(word, self.servers.iter().copied());
            self.flights.extend(packets.into_iter().map(|packet| (at, to, packet)));
            return;
        }
        self.asked.push(to);
        if !self.silent.contains(&to)
            && let Some(bytes) = answer(bytes, &format!("^1Server\x1b[2J {to}"))
        {
            self.flights.push((at, to, bytes));
        }
    }
}

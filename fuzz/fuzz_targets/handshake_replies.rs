//! Replies to a query and to a joining client.
#![no_main]

use std::net::SocketAddr;

use fragd::{
    client::{Client, ClientOptions, Protocol, Query, QueryOptions},
    model::{Millis, Qport},
    node::{LocalPort, Node as _, Route},
    wire::{connectionless::Message, info::InfoString},
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

/// Challenges of the requests sent.
#[derive(Default)]
struct Asked {
    info: String,
    status: String,
    client: i32,
}

impl Asked {
    fn note(&mut self, packet: &[u8]) {
        match Message::parse(packet) {
            Ok(Message::GetInfo(query)) => self.info = query.challenge.to_string(),
            Ok(Message::GetStatus(query)) => self.status = query.challenge.to_string(),
            Ok(Message::GetChallenge(asked)) => {
                self.client = asked.client_challenge.map_or(0, |number| number.0);
            }
            _ => {}
        }
    }

    /// A response with a valid start and any bytes behind it.
    fn answer(&self, kind: u8, body: &[u8]) -> Vec<u8> {
        let start = match kind % 8 {
            0 => String::new(),
            1 => format!("infoResponse\n\\challenge\\{}", self.info),
            2 => format!("statusResponse\n\\challenge\\{}", self.status),
            3 => format!("challengeResponse 5 {} 71", self.client),
            4 => format!("challengeResponse 5 {}", self.client),
            5 => "connectResponse 5".to_owned(),
            6 => "print\n".to_owned(),
            _ => return body.to_vec(),
        };
        [b"\xff\xff\xff\xff", start.as_bytes(), body].concat()
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let server: SocketAddr = "10.0.0.1:27960".parse().expect("an address");
    let raw: SocketAddr = "10.0.0.2:1".parse().expect("an address");
    let wire = Protocol::ALL[usize::from(*choice) % Protocol::ALL.len()];
    let mut info = InfoString::normal();
    info.set("name", "fuzz").expect("a right value");
    let mut now = Millis(1000);
    let options = ClientOptions::new(server, wire, info, Qport(9), 3);
    let mut client = Client::new(options, now).expect("a client");
    let mut query = Query::new(QueryOptions::new(server, 5), now);
    let mut asked = Asked::default();
    let mut packet = Vec::new();
    for piece in pieces(data, 24) {
        client.frame(now);
        query.frame(now);
        while client.poll_transmit(&mut packet).is_some() {
            asked.note(&packet);
        }
        while query.poll_transmit(&mut packet).is_some() {
            asked.note(&packet);
        }
        let [kind, body @ ..] = piece else { continue };
        let from = if kind & 128 == 0 { server } else { raw };
        let answer = asked.answer(*kind, &body[..body.len().min(16_000)]);
        client.handle_datagram(now, from, &answer);
        query.handle_datagram(now, Route::new(LocalPort(0), from), &answer);
        while client.poll_event().is_some() {}
        now = Millis(now.0 + u64::from((kind >> 3) & 15) * 250);
    }
    let _ = (client.state(), client.disconnect_reason().is_some(), client.statistics());
    if let Some(result) = query.result() {
        assert!(result.players.len() <= 256);
        let _ = (result.to_string(), result.settings(), result.to_json());
    }
});

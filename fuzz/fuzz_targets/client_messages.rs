//! A client whose server says anything.
#![no_main]

use fragd::testing::scripted_server::{Level, ScriptedServer, World};
#[allow(dead_code, unreachable_pub, reason = "shared with the tests")]
use fragd::{
    client::{Client, ClientOptions, Protocol},
    model::{Millis, Qport},
    wire::{bits::BitWriter, info::InfoString},
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let wires: Vec<_> = Protocol::live().collect();
    let wire = wires[usize::from(*choice) % wires.len()];
    let address = "10.0.0.1:27960".parse().expect("an address");
    let mut info = InfoString::normal();
    info.set("name", "fuzz").expect("a right value");
    let mut options = ClientOptions::new(address, wire, info, Qport(9), 3);
    options.falls_back = false;
    let mut now = Millis(1000);
    let mut client = Client::new(options, now).expect("a client");
    let mut server = ScriptedServer::new(wire);
    // The handshake, with a server that keeps to it.
    for _ in 0..200 {
        if server.peers.contains_key(&0) {
            break;
        }
        client.frame(now);
        let mut packet = Vec::new();
        while client.poll_transmit(&mut packet).is_some() {
            for reply in server.handle(0, &packet) {
                client.handle_datagram(now, address, &reply);
            }
        }
        now = Millis(now.0 + 50);
    }
    let Some(peer) = server.peers.get_mut(&0) else { return };
    let mut level = Level::with_id(7);
    level.checksum_feed = 99;
    for datagram in peer.gamestate(&level) {
        client.handle_datagram(now, address, &datagram);
    }
    for datagram in peer.snapshot(&World::at(1000, &[3, 70]), None) {
        client.handle_datagram(now, address, &datagram);
    }
    for piece in pieces(data, 24) {
        let [kind, body @ ..] = piece else { continue };
        let body = &body[..body.len().min(16_000)];
        match kind % 3 {
            0 => client.handle_datagram(now, address, body),
            1 => {
                for datagram in peer.send(body) {
                    client.handle_datagram(now, address, &datagram);
                }
            }
            _ => {
                let mut writer = BitWriter::new();
                writer.begin(wire.encoding);
                body.iter().for_each(|byte| writer.byte(*byte));
                let message = writer.message().to_vec();
                for datagram in peer.send(&message) {
                    client.handle_datagram(now, address, &datagram);
                }
            }
        }
        now = Millis(now.0 + u64::from(kind / 3));
        client.frame(now);
        let mut packet = Vec::new();
        while client.poll_transmit(&mut packet).is_some() {}
        while client.poll_event().is_some() {}
        let _ = (client.level_time(now), client.entities().count());
    }
});

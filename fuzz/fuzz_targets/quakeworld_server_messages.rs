//! A QuakeWorld client whose server says anything.
#![no_main]

use fragd::{
    model::{Millis, Qport},
    quakeworld::{
        Channel, Client, End, Extensions, Usercmd,
        client::{ClientEvent, ClientOptions},
        connectionless::Reply,
        info::Info,
    },
};
use fragd_fuzz::pieces;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let address = "10.0.0.1:27500".parse().expect("an address");
    let mut options = ClientOptions::new(address, Qport(9), Info::new(500));
    if choice & 1 != 0 {
        options.extensions = Extensions::NONE;
    }
    let mut now = Millis(1000);
    let mut client = Client::new(options, now);
    let mut server = Channel::new(End::Server(Qport(9)));
    let mut packet = Vec::new();
    client.frame(now);
    let extensions = Extensions { fte: u32::MAX, fte2: u32::MAX, mvd1: u32::MAX };
    for reply in [Reply::Challenge { number: 7, extensions }, Reply::Accepted] {
        reply.write(&mut packet);
        client.handle_datagram(now, address, &packet);
    }
    if choice & 2 != 0 {
        let _ = client.download("maps/x.bsp");
    }
    for piece in pieces(data, 48) {
        let [kind, body @ ..] = piece else { continue };
        now = Millis(now.0 + u64::from(kind >> 4));
        client.push_usercmd(Usercmd { msec: kind & 15, ..Usercmd::ZERO }, now);
        while client.poll_transmit(&mut packet).is_some() {
            if let Ok(received) = server.receive(&packet) {
                server.commit(&received, now);
            }
        }
        match kind % 4 {
            0 => client.handle_datagram(now, address, body),
            1 => client.handle_datagram(now, address, &[b"\xff\xff\xff\xff", body].concat()),
            2 => {
                // A reliable message that arrives.
                let _ = server.queue_reliable(body);
                if server.transmit(&[], now, &mut packet).is_ok() {
                    client.handle_datagram(now, address, &packet);
                }
            }
            _ => {
                if server.transmit(body, now, &mut packet).is_ok() {
                    client.handle_datagram(now, address, &packet);
                }
            }
        }
        client.frame(now);
        while let Some(event) = client.poll_event() {
            if matches!(event, ClientEvent::MapNeeded { .. }) {
                client.map_ready(5);
            }
        }
        let _ = client.own_state().map(|(sequence, _)| client.commands_after(sequence).count());
        let _ = (client.statistics(), client.loss_percent());
    }
});

//! A client in good standing whose messages say anything.
#![no_main]

use fragd::{
    model::CommandNum,
    node::{Hosted as _, OutputKind},
    settings::GameFolder,
    wire::{Protocol, bits::BitWriter, client_message},
};
use fragd_fuzz::{RawClient, YARD, datagrams, head, pieces, server};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let game = if choice & 1 == 0 { GameFolder::BaseOa } else { GameFolder::BaseQ3 };
    let protocol = if choice & 2 == 0 { Protocol::Q3_68 } else { Protocol::IOQ3_71 };
    let mut server = server(game, (choice & 4 == 0).then(|| YARD.clone()));
    let mut raw = RawClient::new();
    let mut channel = raw.join(&mut server, protocol).expect("a challenge");
    let text: Arc<str> = "".into();
    let mut inbox = Vec::new();
    let mut acknowledged = 0;
    let mut commands = 0;
    for piece in std::iter::once(&[][..]).chain(pieces(data, 24)) {
        let [kind, body @ ..] = piece else {
            let head = head(&server, acknowledged);
            raw.say(&mut server, &mut channel, &head, |_| {});
            continue;
        };
        let head = head(&server, acknowledged);
        match kind % 4 {
            // A message of any bytes.
            0 => {
                for datagram in datagrams(&mut channel, body, &text) {
                    raw.send(&mut server, &datagram);
                }
            }
            // A right head, and then any bytes.
            1 => {
                let mut writer = BitWriter::new();
                client_message::begin(&mut writer, Protocol::Q3_68, &head);
                body.iter().take(8000).for_each(|byte| writer.byte(*byte));
                let message = writer.message().to_vec();
                for datagram in datagrams(&mut channel, &message, &text) {
                    raw.send(&mut server, &datagram);
                }
            }
            // A command in order.
            2 => {
                commands += 1;
                let body = &body[..body.len().min(1000)];
                raw.say(&mut server, &mut channel, &head, |writer| {
                    client_message::write_command(writer, CommandNum(commands), body);
                });
            }
            // A datagram of any bytes.
            _ => raw.send(&mut server, body),
        }
        for packet in &raw.replies {
            if let Ok(Some(received)) = channel.receive(packet, &mut inbox) {
                acknowledged = received.sequence.0 as i32;
                channel.commit(received);
            }
        }
        raw.wait(&mut server, u64::from(kind / 4) * 4);
        while server.poll_output(OutputKind::Console).is_some() {}
    }
});

//! Connectionless packets, to server and client.
#![no_main]

use fragd::settings::GameFolder;
use fragd::wire::{connectionless::Message, secure_rcon::SecureRcon};
use fragd_fuzz::{pieces, with_server};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for piece in pieces(data, 8) {
        let packet = [b"\xff\xff\xff\xff", piece].concat();
        if let Some(request) = SecureRcon::parse(&packet) {
            assert!(!request.is_signed_by(b""));
            assert!(request.commands().count() <= data.len() && request.seconds() < Some(u64::MAX));
        }
        let Ok(message) = Message::parse(&packet) else { continue };
        let mut again = Vec::new();
        message.write(&mut again);
        match message {
            Message::StatusResponse(status) => assert!(status.players().count() <= data.len()),
            Message::ServerList(list) => assert!(list.servers().count() <= data.len()),
            _ => {}
        }
    }
    with_server(GameFolder::BaseOa, false, data, |server, raw| {
        for piece in pieces(data, 8) {
            raw.send(server, &[b"\xff\xff\xff\xff", piece].concat());
            raw.wait(server, 100);
        }
    });
});

//! Whatever strangers send to server and client without a connection.
#![no_main]

use fragd::wire::connectionless::Message;
use fragd::settings::GameProfile;
use fragd_fuzz::{Stranger, pieces, server};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut server = server(GameProfile::BaseOa, None);
    let mut stranger = Stranger::new();
    for piece in pieces(data, 8) {
        let packet = [b"\xff\xff\xff\xff", piece].concat();
        if let Ok(message) = Message::parse(&packet) {
            let mut again = Vec::new();
            message.write(&mut again);
            match message {
                Message::StatusResponse(status) => assert!(status.players().count() <= data.len()),
                Message::ServerList(list) => assert!(list.servers().count() <= data.len()),
                _ => {}
            }
        }
        stranger.send(&mut server, &packet);
        stranger.wait(&mut server, 100);
    }
});

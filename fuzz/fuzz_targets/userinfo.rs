//! Userinfos of those who connect, packed and clear, and of those who change theirs.
#![no_main]

use fragd::{
    model::CommandNum,
    settings::GameFolder,
    wire::{
        Protocol, client_message,
        connect::write_connect,
        info::InfoString,
        userinfo::{Userinfo, check_userinfo},
    },
};
use fragd_fuzz::{head, with_server};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, text @ ..] = data else { return };
    let game = if choice & 1 == 0 { GameFolder::BaseOa } else { GameFolder::BaseQ3 };
    with_server(game, false, data, |server, raw| {
        if choice & 2 == 0 {
            // The packed text as it comes.
            raw.send(server, &[b"\xff\xff\xff\xffconnect ", text].concat());
            return;
        }
        let text: String = text.iter().map(|&byte| char::from(byte)).collect();
        let mut info = match check_userinfo(&text) {
            Ok(info) => {
                let user = Userinfo(&info);
                let _ = (user.rate(), user.snaps(), user.handicap(), user.protocol());
                let _ = (user.qport(), user.challenge(), user.guid(), user.model());
                info
            }
            Err(_) => InfoString::normal(),
        };
        if choice & 4 != 0 {
            // A connected client that changes its userinfo.
            let Some(mut channel) = raw.join(server, Protocol::Q3_68) else { return };
            let head = head(server.server_id(), 0);
            let command = format!("userinfo \"{text}\"");
            raw.say(server, &mut channel, &head, |writer| {
                client_message::write_command(writer, CommandNum(1), command.as_bytes());
            });
            raw.wait(server, 50);
            return;
        }
        let Some(challenge) = raw.challenge(server) else { return };
        let challenge = challenge.0.to_string();
        for (key, value) in [("protocol", "71"), ("challenge", &challenge), ("qport", "5")] {
            if info.set(key, value).is_err() {
                return;
            }
        }
        let mut bytes = Vec::new();
        if write_connect(&info, &mut bytes).is_ok() {
            raw.send(server, &bytes);
            raw.wait(server, 50);
        }
    });
});

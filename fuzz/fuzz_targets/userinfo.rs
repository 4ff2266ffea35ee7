//! Userinfos of those who connect, packed and clear, and of those who change theirs.
#![no_main]

use fragd::{
    model::Dialect,
    settings::GameProfile,
    wire::{connect::write_connect, info::Info, userinfo::{Userinfo, check_userinfo}},
};
use fragd_fuzz::{Stranger, server};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let game = if choice & 1 == 0 { GameProfile::BaseOa } else { GameProfile::BaseQ3 };
    let mut server = server(game, None);
    let mut stranger = Stranger::new();
    if choice & 2 == 0 {
        // The packed text as it comes.
        stranger.send(&mut server, &[b"\xff\xff\xff\xffconnect ", data].concat());
        return;
    }
    let text: String = data.iter().map(|&byte| char::from(byte)).collect();
    let mut info = match check_userinfo(&text) {
        Ok(info) => {
            let user = Userinfo(&info);
            let _ = (user.rate(), user.snaps(), user.handicap(), user.protocol(), user.qport());
            info
        }
        Err(_) => Info::normal(),
    };
    if choice & 4 == 0 {
        let challenge = stranger.challenge(&mut server).0.to_string();
        for (key, value) in [("protocol", "71"), ("challenge", &challenge), ("qport", "5")] {
            if info.set(key, value).is_err() {
                return;
            }
        }
        let mut bytes = Vec::new();
        if write_connect(&info, &mut bytes).is_ok() {
            stranger.send(&mut server, &bytes);
            stranger.wait(&mut server, 50);
        }
    } else {
        let _ = stranger.join(&mut server, Dialect::Compat);
    }
});

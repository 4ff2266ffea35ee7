//! Console scripts of a server, before the first level and later: no panic, bounded work.
//!
//! An input is scripts, separated by zero bytes: the configuration of a mod, then `a.cfg`, `b.cfg` and so on, which may
//! run each other.
#![no_main]

use fragd::{
    model::{CommandArgs, ConsoleCommands, Millis, assets::MemoryAssets},
    node::{Hosted as _, Input, Node as _, OutputKind},
    server::Server,
    settings::Settings,
};
use libfuzzer_sys::fuzz_target;

/// Most scripts of an input.
const MAX_SCRIPTS: usize = 8;

fuzz_target!(|data: &[u8]| {
    let mut assets = MemoryAssets::default();
    let scripts = data.split(|byte| *byte == 0).take(MAX_SCRIPTS);
    for (script, number) in scripts.clone().zip(b'`'..) {
        if let Ok(text) = std::str::from_utf8(script) {
            let len: usize = ConsoleCommands::new(text).map(str::len).sum();
            assert!(len <= text.len());
            for command in ConsoleCommands::new(text) {
                let words = CommandArgs::parse(command);
                assert!(words.rest(0).len() <= command.len() + words.len());
            }
        }
        let added = match number {
            b'`' => assets.insert_into_mod("autoexec.cfg", script.to_vec()),
            _ => assets.insert(&format!("{}.cfg", char::from(number)), script.to_vec()),
        };
        added.expect("a path");
    }
    let mut settings = Settings::default();
    settings.set("fs_game", "mod").expect("a right value");
    settings.start().expect("a valid combination");
    let lines = vec!["exec b".to_owned()];
    let mut server = Server::builder(settings, [7; 32]).assets(assets).lines(lines).build();
    let mut now = Millis(0);
    for line in ["exec a", "execq c; exec d", "vstr x"] {
        server.handle_input(now, Input::ConsoleLine(line));
        now += Millis(50);
        server.frame(now);
        while server.poll_output(OutputKind::Console).is_some() {}
        if server.is_finished() {
            break;
        }
    }
});

//! Lines of the console, and the `+` part of the command line.
#![no_main]

use fragd::wire::Protocol;
use fragd::{
    cli::PlusCommands,
    model::CommandArgs,
    node::{Hosted as _, Input, Node as _, OutputKind},
    settings::GameFolder,
};
use fragd_fuzz::with_server;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let arguments: Vec<_> = text.split('\0').map(Into::into).collect();
    let _ = PlusCommands::read(&arguments);
    with_server(GameFolder::BaseOa, true, data, |server, raw| {
        let _ = raw.join(server, Protocol::Q3_68);
        for line in text.split('\0').take(16) {
            let words = CommandArgs::parse(line);
            let _ = (words.len(), words.rest(1));
            server.handle_input(raw.now, Input::ConsoleLine(line));
            raw.wait(server, 50);
            while server.poll_output(OutputKind::Console).is_some() {}
            if server.is_finished() {
                break;
            }
        }
    });
});

//! Drain of the server: console commands, refusal of connects, announcements and end.

use super::problems::Cause;
use crate::{
    bg::configstring,
    model::{CommandArgs, Millis},
    node::{DrainRequest, DrainStep},
    server::state::Server,
    settings::key,
};

/// Runs the console command `drain [seconds] [text]` or `drain off`.
pub(super) fn drain(server: &mut Server, words: &CommandArgs) {
    let usual = u64::try_from(server.core.settings.int(key::SV_DRAIN_TIME)).unwrap_or(0);
    let (time, said) = match DrainRequest::parse(words, Millis::seconds(usual)) {
        Ok(DrainRequest::Begin { time, text }) => (time, text),
        Ok(DrainRequest::Cancel) => return undrain(server),
        Err(error) => return server.core.console.report(Cause::Failed, error),
    };
    let core = &mut server.core;
    let announcement = core.drain.begin(core.now, time, &said);
    announce_drain(server, &announcement);
    let (mut connections, _, announcer) = server.core.services();
    announcer.pause(&mut connections);
    if let Some(line) = server.core.drain.line(server.core.now) {
        log::info!("{line}");
        server.core.console.print(line);
    }
}

/// Runs the console command `undrain`.
pub(super) fn undrain(server: &mut Server) {
    if !server.core.drain.cancel() {
        return server.core.console.print("undrain: the server does not drain");
    }
    server.core.announcer.resume();
    announce_drain(server, "Server does not stop");
    log::info!("drain canceled: the server is open");
    server.core.console.print("drain canceled: the server is open");
}

/// Takes the step of a drain that is due.
pub(in crate::server) fn step(server: &mut Server) {
    if !server.core.drain.is_on() {
        return;
    }
    let core = &mut server.core;
    let is_empty = core.clients.present().next().is_none();
    let is_intermission = core.level.configstrings.get(configstring::INTERMISSION) == "1";
    match core.drain.poll(core.now, is_empty, is_intermission) {
        Some(DrainStep::Announce(line)) => announce_drain(server, &line),
        Some(DrainStep::End(reason)) => {
            log::info!("drain complete");
            server.stop(&reason);
        }
        None => {}
    }
}

/// Tells all clients, and the viewers of relays, in the chat area and in the center of the screen.
fn announce_drain(server: &mut Server, line: &str) {
    let mut audience = server.core.audience();
    audience.send_to_all(&format!("print \"{line}\n\"\n"));
    audience.send_to_all(&format!("cp \"{line}\"\n"));
}

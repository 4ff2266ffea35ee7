//! Drain of the server: console commands, refusal of connects, announcements and end.

use super::{chat::sanitize_chat, problems::Cause};
use crate::{
    bg::configstring,
    model::{CommandArgs, Millis, text},
    server::{drain::DrainStep, state::Server},
    settings::key,
};

/// Time of a drain without another one, in seconds.
const DEFAULT_S: u64 = 300;
/// Longest drain, in seconds: a day.
const MAX_S: u64 = 86_400;
/// Longest text, in bytes.
const TEXT_MAX: usize = 100;

/// Runs the console command `drain [seconds] [text]` or `drain off`.
pub(super) fn drain(server: &mut Server, words: &CommandArgs) {
    let first = words.get(1);
    if words.len() == 2 && first.eq_ignore_ascii_case("off") {
        return undrain(server);
    }
    let is_number = first.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let seconds = if is_number { first.parse().ok().filter(|&s| s <= MAX_S) } else { None };
    let (seconds, said) = match (is_number, seconds) {
        (true, Some(seconds)) => (seconds, words.rest(2)),
        (true, None) => {
            let shown = text::escaped(first.as_bytes());
            let error = format!("drain: invalid time {shown} (expected seconds from 0 to {MAX_S})");
            return server.core.console.report(Cause::Failed, error);
        }
        (false, _) => {
            let set = u64::try_from(server.core.settings.int(key::SV_DRAIN_TIME)).unwrap_or(0);
            (if set > 0 { set } else { DEFAULT_S }, words.rest(1))
        }
    };
    let said = sanitize_chat(text::truncated(&said, TEXT_MAX));
    let core = &mut server.core;
    let announcement = core.drain.begin(core.now, Millis::seconds(seconds), said.trim());
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

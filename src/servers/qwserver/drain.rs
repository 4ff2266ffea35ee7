//! Drain of the server: console commands, announcements and end.

use super::{QwServer, drop::PRINT_HIGH, names::printable, settings::key};
use crate::{
    model::{CommandArgs, Millis},
    node::{DrainRequest, DrainStep},
    quakeworld::{ServerMessage, bytes::Text},
};

/// Runs the console command `drain [SECONDS] [TEXT]` or `drain off`.
pub(super) fn run_command(server: &mut QwServer, now: Millis, args: &CommandArgs) {
    match DrainRequest::parse(args, usual_time(server)) {
        Ok(DrainRequest::Begin { time, text }) => {
            let announcement = server.drain.begin(now, time, &text);
            announce(server, &announcement);
            super::masters::pause(server);
            if let Some(line) = server.drain.line(now) {
                log::info!("{line}");
                server.console.print(&format!("{line}\n"));
            }
        }
        Ok(DrainRequest::Cancel) => cancel(server, now),
        Err(error) => server.console.print(&format!("{error}\n")),
    }
}

/// Runs the console command `undrain`.
pub(super) fn cancel(server: &mut QwServer, now: Millis) {
    if !server.drain.cancel() {
        return server.console.print("undrain: the server does not drain\n");
    }
    super::masters::resume(server, now);
    announce(server, "Server does not stop");
    log::info!("drain canceled: the server is open");
    server.console.print("drain canceled: the server is open\n");
}

/// Takes the step of a drain that is due.
pub(super) fn step(server: &mut QwServer, now: Millis) {
    let is_empty = !server.clients.iter().flatten().any(|client| client.is_connected());
    match server.drain.poll(now, is_empty, server.level.is_over) {
        Some(DrainStep::Announce(line)) => announce(server, &line),
        Some(DrainStep::End(reason)) => {
            log::info!("drain complete");
            super::drop::stop(server, now, &reason);
        }
        None => {}
    }
}

/// Time of a drain that SIGTERM begins; 0 if it ends the server.
pub(super) fn usual_time(server: &QwServer) -> Millis {
    Millis::seconds(server.settings.values().int(key::SV_DRAIN_TIME).unsigned_abs().into())
}

/// Tells all clients, on their consoles and in the center of their screens.
fn announce(server: &mut QwServer, line: &str) {
    let mut text: Vec<u8> = printable(line.as_bytes()).collect();
    server.broadcast(&ServerMessage::CenterPrint { text: Text::new(&text) });
    text.push(b'\n');
    super::chat::print_all(server, PRINT_HIGH, &text);
}

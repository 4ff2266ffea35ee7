//! Connectionless requests: dispatch, status, ping, log.
//!
//! Source: QuakeWorld protocol 28, connectionless messages; discovery.

use std::io::Write as _;

use super::{QwCounter, QwServer, client::Client, guards::QUERY_LIMITS, names::printable};
use crate::{
    model::Millis,
    node::Route,
    quakeworld::{
        channel::header::CONNECTIONLESS,
        connectionless::{Reply, Request},
    },
    wire::secure_rcon::SecureRcon,
};

/// Longest status.
const MAX_STATUS_LEN: usize = 1450;

/// Parts of a status.
mod part {
    pub(super) const INFO: u32 = 1;
    pub(super) const PLAYERS: u32 = 2;
    pub(super) const SPECTATORS: u32 = 4;
    pub(super) const SPECTATORS_AS_PLAYERS: u32 = 8;
    pub(super) const TEAMS: u32 = 16;
}

/// Handles a connectionless packet.
pub(super) fn handle_connectionless(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    bytes: &[u8],
) {
    if let Some(request) = SecureRcon::parse(bytes) {
        return super::rcon::handle_secure_rcon(server, now, route, request, bytes.len());
    }
    let request = match Request::parse(bytes) {
        Ok(request) => request,
        Err(error) => {
            log::debug!("{} request ignored: {error}", route.remote);
            return server.counters.bump(QwCounter::BadRequests);
        }
    };
    match request {
        Request::GetChallenge => super::admission::send_challenge(server, now, route),
        Request::Connect(connect) => {
            super::admission::connect(server, now, route, &connect, bytes.len())
        }
        Request::Status { parts } => send_status(server, now, route, parts),
        Request::Rcon { password, command } => {
            super::rcon::handle_rcon(server, now, route, (password, command), bytes.len());
        }
        // One byte: shorter than the question.
        Request::Ping => {
            server.outbox.push_with(route, |out| Reply::Ack.write(out));
        }
        Request::Log { number } => super::frag_log::send_log(server, now, route, number),
        Request::Ack => {}
    }
}

/// Handles a packet of a master without a mark.
pub(super) fn handle_bare(server: &mut QwServer, route: Route, bytes: &[u8]) {
    if bytes.first() == Some(&b'k') && server.masters.is_master(route.remote) {
        server.outbox.push_with(route, |out| Reply::Ack.write(out));
    }
}

fn send_status(server: &mut QwServer, now: Millis, route: Route, parts: Option<u32>) {
    let is_client = server.clients.iter().flatten().any(|one| one.address() == route.remote);
    let admitted =
        server.guards.requests.queries().admit(QUERY_LIMITS, now, route.remote, is_client);
    let Some(share) = admitted else { return server.counters.bump(QwCounter::Limited) };
    let mut text = std::mem::take(&mut server.message);
    text.clear();
    write_status(server, now, parts, &mut text);
    let len = server.outbox.push_with(route, |out| {
        out.extend_from_slice(CONNECTIONLESS);
        out.push(b'n');
        out.extend_from_slice(&text);
        out.push(0);
    });
    server.message = text;
    server.guards.requests.queries().charge(QUERY_LIMITS, share, len);
}

/// Appends serverinfo and the lines of players.
fn write_status(server: &QwServer, now: Millis, parts: Option<u32>, out: &mut Vec<u8>) {
    let parts = parts.filter(|parts| *parts != 0).unwrap_or(part::INFO | part::PLAYERS);
    if parts & part::INFO != 0 {
        out.extend_from_slice(server.settings.serverinfo());
        out.push(b'\n');
    }
    let shows_spectators = parts & (part::SPECTATORS | part::SPECTATORS_AS_PLAYERS) != 0;
    for client in server.clients.iter().flatten().filter(|client| client.is_connected()) {
        let is_shown =
            if client.is_spectator { shows_spectators } else { parts & part::PLAYERS != 0 };
        let len = out.len();
        if is_shown {
            write_line(client, now, parts, out);
        }
        if out.len() > MAX_STATUS_LEN {
            return out.truncate(len);
        }
    }
}

fn write_line(client: &Client, now: Millis, parts: u32, out: &mut Vec<u8>) {
    let minutes = now.since(client.connected_at).0 / 60_000;
    let ping = client.timing.ping();
    let id = client.user_id;
    let is_marked = client.is_spectator && parts & part::SPECTATORS_AS_PLAYERS != 0;
    let written = if is_marked {
        write!(out, "{id} S {minutes} {ping}")
    } else if client.is_spectator {
        write!(out, "{id} -9999 {minutes} -{ping}")
    } else {
        write!(out, "{id} {} {minutes} {ping}", client.frags)
    };
    written.expect("a vector takes everything");
    let mark: &[u8] = if client.is_spectator && !is_marked { b"\\s\\" } else { b"" };
    let info = &client.info;
    push_quoted(out, mark, client.name());
    push_quoted(out, b"", info.get("skin").unwrap_or_default());
    for key in ["topcolor", "bottomcolor"] {
        let color = crate::quakeworld::info::number(info.as_bytes(), key).unwrap_or(0).clamp(0, 16);
        write!(out, " {color}").expect("a vector takes everything");
    }
    if parts & part::TEAMS != 0 {
        push_quoted(out, b"", client.team());
    }
    out.push(b'\n');
}

fn push_quoted(out: &mut Vec<u8>, mark: &[u8], text: &[u8]) {
    out.extend_from_slice(b" \"");
    out.extend_from_slice(mark);
    out.extend(printable(text).filter(|byte| *byte != b'"'));
    out.push(b'"');
}

//! Remote console: password in plain or encrypted form, output in packets.
//!
//! [`PasswordGuard`](crate::limits::PasswordGuard) decides which passwords are compared and which refusals are answered.
//! Source: QuakeWorld protocol 28, administration.

use super::{
    QwCounter, QwServer,
    settings::{Settings, key},
};
use crate::{
    limits::{BucketLimit, PasswordLimits, PasswordVerdict},
    model::{Millis, UnixMillis},
    node::Route,
    observe::LogEvent,
    quakeworld::{
        bytes::Text,
        connectionless::Reply,
        rcon::{is_hashed_password, is_plain_password},
    },
};

/// Limits of requests: ten a second of one site.
const LIMITS: PasswordLimits = PasswordLimits {
    requests: BucketLimit { burst: 10, period: Millis(100) },
    lockout_seconds: 600,
};
/// Longest text of one packet of output.
const MAX_OUTPUT: usize = 1400;
/// Maximum number of packets of output.
const MAX_PACKETS: usize = 32;

/// Runs the command of an rcon packet and answers with its output.
pub(super) fn handle_rcon(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    password: Text<'_>,
    command: Text<'_>,
    request_len: usize,
) {
    let from = route.remote;
    if !server.settings.values().networks(key::SV_RCON_ALLOW).contains(from.ip()) {
        return server.counters.bump(QwCounter::BadRcon);
    }
    let is_client = server.clients.iter().flatten().any(|one| one.address() == from);
    let unix = server.unix(now);
    let QwServer { settings, guards, .. } = server;
    let is_right = || is_rcon_password(settings, unix, password, command);
    match guards.rcon.decide(LIMITS, now, from, is_client, is_right) {
        PasswordVerdict::Granted => {}
        PasswordVerdict::Wrong { is_answered } => {
            server.counters.bump(QwCounter::BadRcon);
            if let Some(suppressed) = server.log.allows(LogEvent::BadRcon, now) {
                log::warn!("{from} rcon refused: wrong password{suppressed}");
            }
            let text = refusal_text(server);
            // A refusal longer than its request would serve forgers.
            if is_answered && text.len() <= request_len.max(64) {
                print_to(server, route, text.as_bytes());
            }
            return;
        }
        PasswordVerdict::Ignored => return server.counters.bump(QwCounter::BadRcon),
    }
    let line = String::from_utf8_lossy(command.bytes());
    log::info!("{from} rcon: {}", super::console::masked(&line));
    server.bans.set_remote(Some(from.ip()));
    let output = server.run_for(now, &line);
    server.bans.set_remote(None);
    let bytes = output.as_bytes();
    if bytes.is_empty() {
        return print_to(server, route, b"");
    }
    for chunk in bytes.chunks(MAX_OUTPUT).take(MAX_PACKETS) {
        print_to(server, route, chunk);
    }
}

fn is_rcon_password(
    settings: &Settings,
    unix: UnixMillis,
    word: Text<'_>,
    command: Text<'_>,
) -> bool {
    let values = settings.values();
    let password = values.text(key::RCON_PASSWORD).as_bytes();
    let window = u64::from(values.int(key::SV_TIMESTAMPLEN).unsigned_abs());
    let is_plain = !values.flag(key::SV_CRYPT_RCON) && is_plain_password(word, password);
    is_plain || is_hashed_password(word, password, command, unix, window)
}

fn refusal_text(server: &QwServer) -> &'static str {
    let values = server.settings.values();
    match (values.text(key::RCON_PASSWORD).is_empty(), values.flag(key::SV_CRYPT_RCON)) {
        (true, _) => "No rcon password set.\n",
        (false, true) => "Bad rcon_password (cl_crypt_rcon 1 needed).\n",
        (false, false) => "Bad rcon_password.\n",
    }
}

fn print_to(server: &mut QwServer, route: Route, text: &[u8]) {
    server.outbox.push_with(route, |out| {
        Reply::Print { text }.write(out);
        out.push(0);
    });
}

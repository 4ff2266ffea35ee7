//! Remote console: password in plain or encrypted form, lockout, output in packets.
//!
//! Wrong passwords lock a host out, for twice as long each time; those of a locked-out host are not compared.
//! Source: QuakeWorld protocol 28, administration.

use std::collections::HashMap;

use super::{QwCounter, QwServer, settings::key};
use crate::{
    limits::{AddressKey, Bucket, BucketLimit},
    model::Millis,
    node::Route,
    observe::LogEvent,
    quakeworld::{
        bytes::Text,
        connectionless::Reply,
        rcon::{is_hashed_password, is_plain_password},
    },
};

/// Maximum number of hosts with wrong passwords.
const MAX_LOCKOUTS: usize = 256;
/// Wrong passwords before a lockout.
const FREE_FAILURES: u32 = 3;
/// Longest lockout.
const MAX_LOCKOUT_SECONDS: u64 = 600;
/// Refusals of all hosts that are answered.
const REFUSALS: BucketLimit = BucketLimit { burst: 10, period: Millis(100) };
/// Longest text of one packet of output.
const MAX_OUTPUT: usize = 1400;
/// Maximum number of packets of output.
const MAX_PACKETS: usize = 32;

#[derive(Clone, Copy, Debug, Default)]
struct Lockout {
    failures: u32,
    last: Millis,
    until: Millis,
}

/// Lockouts of hosts.
#[derive(Debug)]
pub(super) struct RconGuard {
    lockouts: HashMap<AddressKey, Lockout>,
    refusals: Bucket,
}

impl RconGuard {
    /// Creates a guard without lockouts. Its table needs no key, since it is small.
    pub(super) fn new(_: u64) -> Self {
        Self { lockouts: HashMap::new(), refusals: Bucket::default() }
    }

    fn is_locked_out(&self, now: Millis, host: AddressKey) -> bool {
        self.lockouts.get(&host).is_some_and(|lockout| now < lockout.until)
    }

    /// Records a wrong password. Returns whether it is answered.
    fn fail(&mut self, now: Millis, host: AddressKey) -> bool {
        if self.lockouts.len() >= MAX_LOCKOUTS && !self.lockouts.contains_key(&host) {
            let oldest = self.lockouts.iter().min_by_key(|(host, one)| (one.last, **host));
            if let Some(host) = oldest.map(|(host, _)| *host) {
                self.lockouts.remove(&host);
            }
        }
        let lockout = self.lockouts.entry(host).or_default();
        lockout.failures = lockout.failures.saturating_add(1);
        lockout.last = now;
        if let Some(doublings) = lockout.failures.checked_sub(FREE_FAILURES) {
            let seconds = 1_u64.checked_shl(doublings.min(16)).unwrap_or(MAX_LOCKOUT_SECONDS);
            lockout.until = now + Millis::seconds(seconds.min(MAX_LOCKOUT_SECONDS));
        }
        self.refusals.allows(now, REFUSALS)
    }
}

/// Runs the command of an rcon packet and answers with its output.
pub(super) fn handle_rcon(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    password: Text<'_>,
    command: Text<'_>,
    request_len: usize,
) {
    let host = AddressKey::host(route.remote.ip());
    let is_allowed =
        server.settings.values().networks(key::SV_RCON_ALLOW).contains(route.remote.ip());
    if !is_allowed || server.guards.rcon.is_locked_out(now, host) {
        return server.counters.bump(QwCounter::BadRcon);
    }
    let line = String::from_utf8_lossy(command.bytes()).into_owned();
    if !is_rcon_password(server, now, password, command) {
        server.counters.bump(QwCounter::BadRcon);
        if let Some(suppressed) = server.log.allows(LogEvent::BadRcon, now) {
            log::warn!("{} rcon refused: wrong password{suppressed}", route.remote);
        }
        let text = refusal_text(server);
        // A refusal longer than its request would serve forgers.
        if server.guards.rcon.fail(now, host) && text.len() <= request_len.max(64) {
            print_to(server, route, text.as_bytes());
        }
        return;
    }
    server.guards.rcon.lockouts.remove(&host);
    log::info!("{} rcon: {}", route.remote, super::console::masked(&line));
    let output = server.run_for(now, &line);
    let bytes = output.as_bytes();
    if bytes.is_empty() {
        return print_to(server, route, b"");
    }
    for chunk in bytes.chunks(MAX_OUTPUT).take(MAX_PACKETS) {
        print_to(server, route, chunk);
    }
}

fn is_rcon_password(server: &QwServer, now: Millis, word: Text<'_>, command: Text<'_>) -> bool {
    let values = server.settings.values();
    let password = values.text(key::RCON_PASSWORD).as_bytes();
    let window = u64::from(values.int(key::SV_TIMESTAMPLEN).unsigned_abs());
    let is_plain = !values.flag(key::SV_CRYPT_RCON) && is_plain_password(word, password);
    is_plain || is_hashed_password(word, password, command, server.unix(now), window)
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

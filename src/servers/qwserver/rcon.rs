//! Remote console: password in plain or encrypted form, output in packets.
//!
//! [`PasswordGuard`](crate::limits::PasswordGuard) decides which passwords are compared and which refusals are answered.
//! Source: QuakeWorld protocol 28, administration.

use super::{
    QwCounter, QwServer,
    guards::{ChallengeKey, Guards},
    settings::{Settings, key},
};
use crate::{
    bans::CommandAuthor,
    limits::{BucketLimit, PasswordLimits, PasswordVerdict, SeenRequests},
    model::{Millis, UnixMillis},
    node::Route,
    observe::LogEvent,
    quakeworld::{
        bytes::Text,
        connectionless::Reply,
        rcon::{is_hashed_password, is_plain_password},
    },
    wire::secure_rcon::{SecureConditions, SecureFault, SecureMode, SecureRcon},
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

/// Most commands of one request with a code.
const MAX_COMMANDS: usize = 32;
/// Time for which a request with a challenge is remembered. A challenge is valid for twenty minutes at most.
const CHALLENGE_TIME: Millis = Millis::seconds(1300);

/// Runs the command of an rcon packet and answers with its output.
pub(super) fn handle_rcon(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    (password, command): (Text<'_>, Text<'_>),
    request_len: usize,
) {
    if server.settings.values().int(key::RCON_SECURE) > 1 {
        return refuse_form(server, now, route, "a password in the request");
    }
    let unix = server.unix(now);
    let verdict = decide(server, now, route, |settings, _, _| {
        is_rcon_password(settings, unix, password, command)
    });
    match verdict {
        PasswordVerdict::Granted => respond(server, now, route, &[command.bytes()]),
        PasswordVerdict::Wrong { is_answered } => {
            refuse(server, now, route, (is_answered, "wrong password".to_owned()), request_len);
        }
        PasswordVerdict::Ignored => server.counters.bump(QwCounter::BadRcon),
    }
}

/// Runs the commands of a packet with a code in place of a password, and answers with their output.
pub(super) fn handle_secure_rcon(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    request: SecureRcon<'_>,
    request_len: usize,
) {
    let values = server.settings.values();
    if values.int(key::RCON_SECURE) > 1 && request.mode != SecureMode::Challenge {
        return refuse_form(server, now, route, "a time in place of a challenge");
    }
    let max_difference_s = u64::from(values.int(key::RCON_SECURE_MAXDIFF).unsigned_abs());
    let now_s = server.unix(now).0 / 1000;
    let mut fault = None;
    let verdict = decide(server, now, route, |settings, guards, seen| {
        let key = settings.values().text(key::RCON_PASSWORD).as_bytes();
        let conditions = SecureConditions { key, now_s, max_difference_s };
        let until = match request.mode {
            SecureMode::Time => now + Millis::seconds(2 * max_difference_s + 1),
            SecureMode::Challenge => now + CHALLENGE_TIME,
        };
        let is_challenge = |text: &[u8]| {
            let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            number.is_some_and(|number| guards.is_challenge(now, route.remote.ip(), number))
        };
        let checked = request.check(conditions, is_challenge, |code| seen.admit(now, code, until));
        fault = checked.err();
        fault.is_none()
    });
    match verdict {
        PasswordVerdict::Granted => {
            if request.mode == SecureMode::Challenge {
                server.guards.challenges.renew();
            }
            let commands: Vec<_> = request.commands().take(MAX_COMMANDS).collect();
            respond(server, now, route, &commands);
        }
        PasswordVerdict::Wrong { is_answered } => {
            // A right code of another time may be a copy by others.
            let is_told = fault.is_none_or(|fault| fault == SecureFault::Key);
            let why = fault.map(|fault| fault.to_string()).unwrap_or_default();
            refuse(server, now, route, (is_answered && is_told, why), request_len);
        }
        PasswordVerdict::Ignored => server.counters.bump(QwCounter::BadRcon),
    }
}

/// Refuses a form of request that `rcon_secure` does not allow.
fn refuse_form(server: &mut QwServer, now: Millis, route: Route, form: &str) {
    server.counters.bump(QwCounter::BadRcon);
    if let Some(suppressed) = server.log.allows(LogEvent::BadRcon, now) {
        log::warn!("{} rcon refused: {form} (rcon_secure){suppressed}", route.remote);
    }
}

/// Decides about a request. `is_right` is told settings, challenges and the requests that were seen.
fn decide(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    is_right: impl FnOnce(&Settings, &ChallengeKey, &mut SeenRequests) -> bool,
) -> PasswordVerdict {
    let from = route.remote;
    if !server.settings.values().networks(key::SV_RCON_ALLOW).contains(from.ip()) {
        return PasswordVerdict::Ignored;
    }
    let is_client = server.clients.iter().flatten().any(|one| one.address() == from);
    let QwServer { settings, guards: Guards { rcon, challenges, seen_rcon, .. }, .. } = server;
    rcon.decide(LIMITS, now, from, is_client, || is_right(settings, challenges, seen_rcon))
}

/// Logs a refusal and tells the sender, if that is not too much.
fn refuse(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    (is_answered, why): (bool, String),
    request_len: usize,
) {
    server.counters.bump(QwCounter::BadRcon);
    if let Some(suppressed) = server.log.allows(LogEvent::BadRcon, now) {
        log::warn!("{} rcon refused: {why}{suppressed}", route.remote);
    }
    let text = refusal_text(server);
    // A refusal longer than its request would serve forgers.
    if is_answered && text.len() <= request_len.max(64) {
        print_to(server, route, text.as_bytes());
    }
}

/// Runs commands and answers with their output.
fn respond(server: &mut QwServer, now: Millis, route: Route, commands: &[&[u8]]) {
    let from = route.remote;
    server.bans.set_author(Some(CommandAuthor::Remote(from.ip())));
    let mut output = String::new();
    for command in commands {
        let line = String::from_utf8_lossy(command);
        log::info!("{from} rcon: {}", super::console::masked(&line));
        output.push_str(&server.run_for(now, &line));
    }
    server.bans.set_author(None);
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
    let accepts_plain = !values.flag(key::SV_CRYPT_RCON) && values.int(key::RCON_SECURE) == 0;
    let is_plain = accepts_plain && is_plain_password(word, password);
    is_plain || is_hashed_password(word, password, command, unix, window)
}

fn refusal_text(server: &QwServer) -> &'static str {
    let values = server.settings.values();
    let is_crypt = values.flag(key::SV_CRYPT_RCON) || values.int(key::RCON_SECURE) > 0;
    match (values.text(key::RCON_PASSWORD).is_empty(), is_crypt) {
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

//! Remote console: requests to run commands, and their output in packets.
//!
//! Source: Quake III protocol 68, rcon. Engine names: `SVC_RemoteCommand`.

use super::{audit, run_line};
use crate::{
    bans::CommandAuthor,
    limits::SeenRequests,
    model::{Challenge, Millis, text},
    node::Route,
    observe::{Counter, LogEvent},
    server::{
        audit::Actor,
        core::Core,
        moderation::{calendar, is_address_banned},
        rcon::{RconDecision, decide, is_password, packets},
        state::Server,
    },
    serving::{connection::RconRequest, guards::Guards},
    settings::{key, masked_line},
    wire::{
        connectionless::{Message, OUT_OF_BAND, Rcon},
        secure_rcon::{SecureConditions, SecureFault, SecureMode, SecureRcon},
        text::WireText,
    },
};

/// Most commands of one request.
const MAX_COMMANDS: usize = 32;
/// Time for which a request with a challenge is remembered. It is longer than that of the challenge.
const CHALLENGE_TIME: Millis = Millis::seconds(60);

/// Form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerForm {
    /// Packet `print`.
    Print,
    /// Packet `n` of DarkPlaces, for a request with a code.
    Short,
}

impl AnswerForm {
    fn write(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Print => Message::Print(text.into()).write(out),
            Self::Short => {
                out.extend_from_slice(OUT_OF_BAND);
                out.push(b'n');
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// Runs a remote command, or rejects it.
pub(in crate::server) fn handle_rcon(server: &mut Server, route: Route, request: RconRequest<'_>) {
    match request {
        RconRequest::Plain(request) => handle_plain(server, route, request),
        RconRequest::Signed(request) => handle_signed(server, route, request),
    }
}

fn handle_plain(server: &mut Server, route: Route, request: Rcon<'_>) {
    if server.core.settings.int(key::RCON_SECURE) > 0 {
        return refuse_form(server, route, "a password in clear text");
    }
    let decision = decided(server, route, |_, _, ours| is_password(ours, request.password));
    let command = request.command.to_string();
    respond(server, route, decision, (AnswerForm::Print, &[command], None));
}

fn handle_signed(server: &mut Server, route: Route, request: SecureRcon<'_>) {
    let settings = &server.core.settings;
    if settings.int(key::RCON_SECURE) > 1 && request.mode != SecureMode::Challenge {
        return refuse_form(server, route, "a time in place of a challenge");
    }
    let max_difference_s = u64::from(settings.int(key::RCON_SECURE_MAXDIFF).unsigned_abs());
    let now_s = calendar(&server.core);
    let mut fault = None;
    let decision = decided(server, route, |guards, (seen, now), key| {
        let until = match request.mode {
            SecureMode::Time => now + Millis::seconds(2 * max_difference_s + 1),
            SecureMode::Challenge => now + CHALLENGE_TIME,
        };
        let conditions = SecureConditions { key, now_s, max_difference_s };
        let is_challenge = |text: &[u8]| {
            let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            number.is_some_and(|number| {
                let is_valid = |is_timed| {
                    guards.check_challenge(now, route.remote, Challenge(number), is_timed).is_some()
                };
                is_valid(false) || is_valid(true)
            })
        };
        let checked = request.check(conditions, is_challenge, |code| seen.admit(now, code, until));
        fault = checked.err();
        fault.is_none()
    });
    let text = |command: &[u8]| WireText::new(command).to_string();
    let commands: Vec<String> = request.commands().take(MAX_COMMANDS).map(text).collect();
    respond(server, route, decision, (AnswerForm::Short, &commands, fault));
}

/// Refuses a form of request that `rcon_secure` does not allow.
fn refuse_form(server: &mut Server, route: Route, form: &str) {
    server.core.stats.bump(Counter::RconRefused);
    let now = server.core.now;
    if let Some(suppressed) = server.core.stats.allows_log(LogEvent::BadRcon, now) {
        log::warn!("{} rcon rejected: {form} (rcon_secure){suppressed}", route.remote);
    }
}

/// Decides about a request. `is_right` is told the guards of the server, the requests that were seen with the time, and
/// the password.
fn decided(
    server: &mut Server,
    route: Route,
    is_right: impl FnOnce(&Guards, (&mut SeenRequests, Millis), &[u8]) -> bool,
) -> RconDecision {
    // Other networks are refused before a list is searched.
    let may_ask = server.core.settings.networks(key::SV_RCON_ALLOW).contains(route.remote.ip());
    if may_ask && is_address_banned(&server.core, route) {
        return RconDecision::Refused(None);
    }
    let Core { settings, rcon, seen_rcon, guards, now, clients, .. } = &mut server.core;
    let (now, from) = (*now, route.remote);
    let is_client =
        || clients.iter().any(|(_, client)| client.is_active() && client.remote.address() == from);
    decide(rcon, settings, now, from, is_client, |ours| is_right(guards, (seen_rcon, now), ours))
}

/// Runs the commands of a request that is granted, and answers.
fn respond(
    server: &mut Server,
    route: Route,
    decision: RconDecision,
    (form, commands, fault): (AnswerForm, &[String], Option<SecureFault>),
) {
    let from = route.remote;
    match decision {
        RconDecision::Granted => {
            server.core.stats.bump(Counter::RconAccepted);
            server.core.console.redirect();
            audit::record_access(server, from);
            server.core.bans.set_author(Some(CommandAuthor::Remote(from.ip())));
            server.core.audit.actor = Actor::Rcon(from);
            for command in commands {
                let shown = masked_line(command);
                log::info!("{from} rcon: {}", text::escaped(shown.as_bytes()));
                run_line(server, command);
            }
            server.core.audit.actor = Actor::Console;
            server.core.bans.set_author(None);
            let output = server.core.console.end_redirect();
            let mut connections = server.core.connections();
            for packet in packets(&output) {
                connections.answer(route, |out| form.write(&packet, out));
            }
        }
        RconDecision::Refused(answer) => {
            server.core.stats.bump(Counter::RconRefused);
            let now = server.core.now;
            if let Some(suppressed) = server.core.stats.allows_log(LogEvent::BadRcon, now) {
                let why = fault.map(|fault| format!(": {fault}")).unwrap_or_default();
                log::warn!("{from} rcon rejected{why}{suppressed}");
                audit::record_refusal(server, from);
            }
            // A right code of another time may be a copy by others.
            let is_told = fault.is_none_or(|fault| fault == SecureFault::Key);
            if let Some(text) = answer.filter(|_| is_told) {
                let mut connections = server.core.connections();
                connections.answer(route, |out| form.write(text, out));
            }
        }
    }
}

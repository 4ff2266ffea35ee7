//! Acts of administrators among console lines: what the audit log records, and `auditlog`.
//!
//! A line itself is an act, not the commands of a script or variable that it runs.

use std::net::SocketAddr;

use super::texts::command_name;
use crate::{
    model::{CommandArgs, Millis},
    server::{audit::Actor, moderation::calendar, state::Server},
    settings::{MASK, is_ignored, masked_line},
};

/// Commands that are acts, beside changes of settings.
const ACTS: [&str; 41] = [
    "addip",
    "ban",
    "banaddr",
    "bandel",
    "clientkick",
    "cvar_restart",
    "devmap",
    "drain",
    "exceptaddr",
    "exceptdel",
    "exec",
    "execq",
    "exportbans",
    "flushbans",
    "forceteam",
    "importbans",
    "kick",
    "kickall",
    "kickbots",
    "kicknum",
    "map",
    "map_restart",
    "mute",
    "quit",
    "record",
    "rehashbans",
    "reloaded",
    "removeip",
    "reset",
    "set",
    "seta",
    "sets",
    "setu",
    "stoprecord",
    "toggle",
    "unban",
    "undrain",
    "unmute",
    "unset",
    "vstr",
    "writeconfig",
];
/// Acts that the rules queue themselves.
const OF_RULES: [&str; 2] = ["map_restart", "vstr"];
/// Time until a remote console is recorded again.
const RCON_INTERVAL: Millis = Millis::seconds(600);
/// Lines of `auditlog` without a number.
const DEFAULT_LINES: usize = 20;

/// Runs a command, and records it if it is an act.
pub(super) fn recorded(server: &mut Server, words: &CommandArgs, run: impl FnOnce(&mut Server)) {
    let Some(actor) = actor_of(server, words) else { return run(server) };
    // A line of the game's queue is a vote, unless an administrator among the players queued it.
    let is_queued = |line: &mut String| actor == Actor::Vote && *line == words.rest(0);
    if server.core.audit.recorded_line.take_if(is_queued).is_some() {
        return run(server);
    }
    server.core.console.listen();
    run(server);
    let heard = server.core.console.end_listening();
    let line = words.rest(0);
    let act = masked_line(&line);
    // An error may repeat a value.
    let result = if act == line { masked_line(&heard) } else { MASK.to_owned() };
    let result = if heard.is_empty() { "" } else { &result };
    let at = calendar(&server.core);
    server.core.audit.record(at, &actor, &act, result);
}

/// Author of a command that is an act; `None` for other commands.
fn actor_of(server: &Server, words: &CommandArgs) -> Option<Actor> {
    let name = command_name(words);
    let is_named = |known: &&str| known.eq_ignore_ascii_case(name);
    let is_change =
        || words.len() > 1 && (server.core.settings.get(name).is_some() || is_ignored(name));
    let is_act = ACTS.iter().any(&is_named) || is_change();
    let console = &server.core.console;
    let is_line = server.texts.is_direct() && server.texts.author().is_operator();
    if !is_act || !is_line || console.is_start() {
        return None;
    }
    match console.runs_game_lines() {
        true if OF_RULES.iter().any(is_named) => None,
        true => Some(Actor::Vote),
        false => Some(server.core.audit.actor.clone()),
    }
}

/// Records that a remote console was refused.
pub(super) fn record_refusal(server: &mut Server, from: SocketAddr) {
    let at = calendar(&server.core);
    server.core.audit.record(at, &Actor::Rcon(from), "rcon", "refused");
}

/// Records that a remote console was accepted, unless it has been lately.
pub(super) fn record_access(server: &mut Server, from: SocketAddr) {
    let now = server.core.now;
    let last = server.core.audit.last_rcon.replace((from.ip(), now));
    if last.is_none_or(|(ip, at)| ip != from.ip() || now.since(at) >= RCON_INTERVAL) {
        let at = calendar(&server.core);
        server.core.audit.record(at, &Actor::Rcon(from), "rcon", "accepted");
    }
}

/// Shows the last acts.
pub(super) fn show(server: &mut Server, words: &CommandArgs) {
    let count = match words.len() {
        1 => Some(DEFAULT_LINES),
        2 => words.get(1).parse().ok(),
        _ => None,
    };
    let Some(count) = count else { return server.core.console.print("Usage: auditlog [number]") };
    let lines: Vec<_> = server.core.audit.recent(count).map(str::to_owned).collect();
    lines.into_iter().for_each(|line| server.core.console.print(line));
}

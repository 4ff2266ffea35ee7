//! Pause of a match: by players where `pausable` permits it, and by the operator.
//!
//! A paused level runs no usercmds and no physics, and its clock stands. It continues when the last player leaves.
//! Source: QuakeWorld protocol 28, `setpause`.

use super::{QwServer, drop::PRINT_HIGH, names::plain, settings::key};
use crate::{model::Millis, quakeworld::ServerMessage};

/// `pause` of a client.
pub(super) fn pause_by_client(server: &mut QwServer, now: Millis, slot: usize) {
    let is_permitted = server.settings.values().flag(key::PAUSABLE);
    let is_over = server.level.is_over;
    let Some(client) = server.clients[slot].as_deref_mut().filter(|one| one.is_playing()) else {
        return;
    };
    let refusal: Option<&[u8]> = if client.is_spectator {
        Some(b"Spectators cannot pause\n")
    } else if !is_permitted {
        Some(b"Pause is not allowed\n")
    } else if is_over {
        Some(b"The match is over\n")
    } else if !client.may_act(now) {
        Some(b"Wait before you pause again\n")
    } else {
        None
    };
    if let Some(text) = refusal {
        return super::chat::print_client(server, slot, PRINT_HIGH, text);
    }
    let name = client.name().to_vec();
    toggle(server, now, &name);
}

/// `pause` of the operator.
pub(super) fn pause_by_operator(server: &mut QwServer, now: Millis) {
    if server.level.is_over {
        return server.console.print("the match is over\n");
    }
    toggle(server, now, b"console");
}

fn toggle(server: &mut QwServer, now: Millis, name: &[u8]) {
    let pauses = server.level.paused_at.is_none();
    let what: &[u8] = if pauses { b" paused the game\n" } else { b" unpaused the game\n" };
    log::info!("game {} by \"{}\"", if pauses { "paused" } else { "unpaused" }, plain(name));
    super::chat::print_all(server, PRINT_HIGH, &[name, what].concat());
    if pauses {
        server.level.paused_at = Some(now);
        server.broadcast(&ServerMessage::SetPause { paused: 1 });
    } else {
        resume(server, now);
    }
}

/// Continues a paused level.
pub(super) fn resume(server: &mut QwServer, now: Millis) {
    let Some(paused_at) = server.level.paused_at.take() else { return };
    let level = &mut server.level;
    level.started += now.since(paused_at);
    level.physics_at = now;
    server.broadcast(&ServerMessage::SetPause { paused: 0 });
}

/// Continues a paused level that no player is in.
pub(super) fn resume_without_players(server: &mut QwServer, now: Millis) {
    let plays = |one: &super::Client| one.is_playing() && !one.is_spectator;
    if server.level.paused_at.is_some() && !server.clients.iter().flatten().any(|one| plays(one)) {
        log::info!("game unpaused: no players");
        resume(server, now);
    }
}

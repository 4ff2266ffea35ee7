//! Admission of a client that connects: bans, password, `cl_guid`.
//!
//! A `cl_guid` is text that the client chooses, so its check keeps out careless duplicates only. Source: the base
//! game's refusals; OpenArena's, and its notice about lag compensation.

use super::{Clients, game_settings::password, ip_bans};
use crate::game::{Host, settings::key, userinfo::PlayerUserinfo};
use crate::model::ClientNum;

/// Hexadecimal digits of a valid `cl_guid`.
const GUID_LEN: usize = 32;
/// Ping of a client from which nothing arrives, in ms.
const LOST_PING_MS: i32 = 999;

/// Checks a client that connects. Bots and local clients are only checked for a valid userinfo.
///
/// # Errors
/// The refusal.
pub(super) fn admit(
    clients: &Clients,
    host: &mut dyn Host,
    client: ClientNum,
    info: &PlayerUserinfo<'_>,
    first_time: bool,
    is_bot: bool,
) -> Result<(), String> {
    if is_bot || host.is_local(client) {
        return Ok(());
    }
    if first_time && ip_bans::is_banned(&*host, info.value("ip")) {
        return Err("You are banned from this server.".to_owned());
    }
    if password(host).is_some_and(|right| right != info.value("password")) {
        return Err("Invalid password".to_owned());
    }
    if first_time && clients.ruleset.players.has_guids && host.settings().flag(key::G_GUID_CHECK) {
        check_guid(clients, host, client, info.value("cl_guid"))?;
    }
    Ok(())
}

/// Refuses an invalid `cl_guid` and that of another client. If nothing arrives from the other client, that one
/// is dropped instead: a player who comes back after a crash.
fn check_guid(
    clients: &Clients,
    host: &mut dyn Host,
    client: ClientNum,
    guid: &str,
) -> Result<(), String> {
    if guid.len() != GUID_LEN || !guid.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("Invalid GUID".to_owned());
    }
    for other in ClientNum::all().filter(|&other| other != client) {
        let Some(player) = clients.player(other) else { continue };
        let theirs = PlayerUserinfo::parse(host.userinfo(other));
        if !theirs.is_some_and(|info| info.value("cl_guid").eq_ignore_ascii_case(guid)) {
            continue;
        }
        if player.ping_ms < LOST_PING_MS {
            host.send_command(Some(other), "cp \"Your GUID is not secure\"");
            return Err("Duplicate GUID".to_owned());
        }
        host.drop_client(other, "Ghost");
    }
    Ok(())
}

/// Tells a client whether the setting compensates the full lag. Clients see it after a restart only.
pub(in crate::game) fn tell_lag_compensation(
    clients: &Clients,
    host: &mut dyn Host,
    client: ClientNum,
    is_bot: bool,
) {
    if clients.ruleset.combat.compensates_lag && !is_bot {
        let state = if host.settings().flag(key::G_DELAG_HITSCAN) { "ON" } else { "OFF" };
        let text = format!("print \"Full lag compensation is {state}!\n\"");
        host.send_command(Some(client), &text);
    }
}

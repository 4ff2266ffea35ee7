//! Effects of bans and mutes on connections, players in the game, and chat.
//!
//! Source: ioquake3, refusal of a banned client.

use super::{core::Core, state::Server};
use crate::{
    bans::Client,
    bg::{
        chat::{CHAT_COMMANDS, SCORE_COMMAND},
        configstring::INTERMISSION,
    },
    model::{ClientNum, Millis, UnixMillis},
    node::Route,
    serving::connection::Service as _,
    wire::{info::InfoString, userinfo::Userinfo},
};

/// Calendar time in seconds. It follows the clock of the process, and the calendar when that is set.
pub(super) fn calendar(core: &Core) -> u64 {
    (core.epoch.unwrap_or(UnixMillis(0)) + Millis(core.now.0)).0 / 1000
}

/// Follows a calendar that was set.
pub(super) fn set_calendar(core: &mut Core, to: UnixMillis) {
    let before = calendar(core);
    core.epoch = Some(UnixMillis(to.0.saturating_sub(core.now.0)));
    core.recordings.set_epoch(core.epoch);
    core.bans.set_calendar(before, to.0 / 1000);
}

/// Checks the bans for a client that connects.
///
/// # Errors
/// The refusal text of a banned client.
pub(super) fn check_bans(core: &Core, route: Route, info: &InfoString) -> Result<(), String> {
    let info = Userinfo(info);
    let client = Client { address: route.remote.ip(), guid: info.guid(), name: info.name() };
    let now = calendar(core);
    core.bans.refusal(client, now).map_or(Ok(()), Err)
}

/// Whether an address is banned. It has no remote console then.
pub(super) fn is_address_banned(core: &Core, route: Route) -> bool {
    core.bans.ban_of(Client::at(route.remote.ip()), calendar(core)).is_some()
}

/// Drops a client that is banned. Returns whether it was.
pub(super) fn drop_if_banned(server: &mut Server, number: ClientNum) -> bool {
    let now = calendar(&server.core);
    let reason =
        with_client(&server.core, number, |core, client| core.bans.drop_reason(client, now));
    let Some(reason) = reason else { return false };
    server.drop_client(number, &reason);
    true
}

/// Drops all clients that are banned.
pub(super) fn drop_banned(server: &mut Server) {
    for number in server.core.clients.keys() {
        drop_if_banned(server, number);
    }
    server.process_pending_drops();
}

/// Sends a muted client the reason instead of its chat. Returns whether a command was refused.
pub(super) fn refuses_chat(core: &mut Core, number: ClientNum, command: &str) -> bool {
    let is = |known: &str| known.eq_ignore_ascii_case(command);
    // A muted client sends no text of voice chat either. In intermission the game takes unknown commands for chat.
    let is_intermission = core.level.configstrings.get(INTERMISSION) == "1" && !is(SCORE_COMMAND);
    if !is_intermission && !CHAT_COMMANDS.iter().any(|known| is(known)) {
        return false;
    }
    let Some(text) = mute_text(core, number) else { return false };
    core.audience().send(number, &text.into());
    true
}

/// Tells each muted client in the game that it is muted.
pub(super) fn tell_muted(core: &mut Core) {
    for number in core.clients.keys() {
        if let Some(text) = mute_text(core, number) {
            core.audience().send(number, &text.into());
        }
    }
}

/// Command that tells a client its mute, if there is one.
fn mute_text(core: &Core, number: ClientNum) -> Option<String> {
    let now = calendar(core);
    let notice = with_client(core, number, |core, client| core.bans.mute_notice(client, now))?;
    Some(format!("print \"{notice}\n\""))
}

/// Looks an entry up for a client in a slot.
fn with_client(
    core: &Core,
    number: ClientNum,
    look_up: impl FnOnce(&Core, Client<'_>) -> Option<String>,
) -> Option<String> {
    let client = core.clients.get(number).filter(|client| !client.is_zombie())?;
    let guid = Userinfo(&client.userinfo).guid();
    let address = client.remote.address().ip();
    look_up(core, Client { address, guid, name: &client.name })
}

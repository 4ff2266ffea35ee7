//! Console command `warn`: a text to one player, who is kicked after a number of them.

use super::{chat::sanitize_chat, players::find_player};
use crate::{
    model::{CommandArgs, text},
    server::state::Server,
    serving::connection::Service as _,
    settings::key,
};

/// Longest text of a warning, in bytes.
const MAX_TEXT_LEN: usize = 150;

/// Warns a player in the chat area and in the middle of the screen.
pub(super) fn warn(server: &mut Server, words: &CommandArgs) {
    let said = words.rest(2);
    if said.trim().is_empty() {
        return server.core.console.print("Usage: warn <name or slot> <text>");
    }
    let core = &mut server.core;
    let number = match find_player(core, words.get(1)) {
        Ok(number) => number,
        Err(error) => return core.console.print(error.to_string()),
    };
    let Some(client) = core.clients.get_mut(number) else {
        return core.console.print(format!("client {number} is a bot"));
    };
    client.own.warnings = client.own.warnings.saturating_add(1);
    let (count, name) = (client.own.warnings, client.name.clone());
    let said = sanitize_chat(text::truncated(&said, MAX_TEXT_LEN));
    let limit = core.settings.int(key::SV_WARN_LIMIT).unsigned_abs();
    let of = if limit > 0 { format!("{count} of {limit}") } else { count.to_string() };
    for line in [
        format!("chat \"^1Warning {of}: ^7{said}\"\n"),
        format!("cp \"^1Warning {of}\n^7{said}\"\n"),
    ] {
        core.audience().send(number, &line.into());
    }
    let line = format!("warned {number} \"{}\" ({of}): {said}", text::strip_colors(&name));
    log::info!("{}", text::escaped(line.as_bytes()));
    core.console.print(line);
    if limit > 0 && count >= limit {
        server.drop_client(number, &format!("was kicked after {count} warnings: {said}"));
        server.process_pending_drops();
    }
}

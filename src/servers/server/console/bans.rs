//! Console commands `addip`, `removeip` and `listip`: masks of the base game on the list of bans.
//!
//! Source: address masks of the base game.

use super::moderation::Moderation;
use crate::{
    bans::{EntryKind, Subject, add, draft, parse_mask, remove},
    model::CommandArgs,
    server::state::Server,
    settings::{is_trusted, key},
};

/// Adds a mask of `addip` to the list. Returns false for one that the game keeps: other masks than networks, and those of
/// an allow list.
pub(super) fn add_ip(server: &mut Server, words: &CommandArgs) -> bool {
    let subject = parse_mask(words.get(1)).map(Subject::Network).filter(|_| keeps_masks(server));
    let list = &Moderation(server);
    let content = subject.map(|subject| draft(list, EntryKind::Ban, subject, None, ""));
    let is_taken = content.is_some();
    if let Some(content) = content {
        add(&mut Moderation(server), content);
    }
    is_taken
}

/// Removes a mask of `removeip` from the list. Returns false for one that only the game may have.
pub(super) fn remove_ip(server: &mut Server, words: &CommandArgs) -> bool {
    let subject = parse_mask(words.get(1)).map(Subject::Network).filter(|_| keeps_masks(server));
    let id = subject.and_then(|subject| server.core.bans.list().id_of(EntryKind::Ban, &subject));
    id.into_iter().for_each(|id| remove(&mut Moderation(server), id));
    id.is_some()
}

/// Lists the networks of the list for `listip`, before the masks of the game.
pub(super) fn list_ips(server: &mut Server) {
    let networks = server.core.bans.list().of_kind(EntryKind::Ban);
    let networks = networks.filter_map(|(_, content)| match &content.subject {
        Subject::Network(network) => Some(network.to_string()),
        Subject::Guid(_) | Subject::Name(_) => None,
    });
    let lines: Vec<_> = networks.collect();
    lines.into_iter().for_each(|line| server.core.console.print(line));
}

/// Whether the list of bans takes address masks. With `g_filterBan` 0 those of the game are an allow list. A mod does not
/// change what outlasts the server.
fn keeps_masks(server: &Server) -> bool {
    let settings = &server.core.settings;
    settings.flag(key::G_FILTER_BAN) && is_trusted(settings, server.texts.author())
}

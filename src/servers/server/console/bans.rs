//! Console commands of the ban list, as in ioquake3 and the base game.
//!
//! Source: ban commands and replies of ioquake3; address masks of the base game.

use super::players::player_in;
use crate::{
    bans::{
        BanList, Draft, Entry, EntryKind, Subject, bounded_text, parse_mask, parse_serverbans,
        serverbans_text,
    },
    model::{CommandArgs, text},
    server::{moderation, state::Server},
    settings::{is_trusted, key},
};

/// File of ioquake3's list in the state folder, and its greatest length in bytes.
const SERVERBANS: &str = "serverbans.dat";
const MAX_SERVERBANS_LEN: u64 = 1 << 20;

/// Adds the network of an address, or of a client in a slot, to the list.
pub(super) fn add_network(server: &mut Server, words: &CommandArgs, kind: EntryKind) {
    if !(2..=3).contains(&words.len()) {
        let name = words.command();
        return server.core.console.print(format!(
            "Usage: {name} <address, network or slot> [prefix length], e.g. {name} 192.0.2.0/24"
        ));
    }
    let subject = match network_of(server, words) {
        Ok(subject) => subject,
        Err(error) => return server.core.console.print(format!("Error: {error}")),
    };
    let content = draft(server, kind, subject, None, "");
    let now = moderation::calendar(&server.core);
    let (title, word) = (kind.title(), kind.word());
    let covering = server.core.bans.list().of_kind(kind).find(|(_, known)| {
        known.is_in_force(now) && known.subject.covers(&content.subject) && known.outlasts(&content)
    });
    if let Some((_, known)) = covering {
        let error =
            format!("Error: {title} {} supersedes {word} {}", known.subject, content.subject);
        return server.core.console.print(error);
    }
    let covered = |list: &BanList| -> Vec<u32> {
        let known = list.of_kind(kind).filter(|(_, known)| {
            content.subject != known.subject && content.subject.covers(&known.subject)
        });
        known.filter(|(_, known)| content.outlasts(known)).map(|(id, _)| id).collect()
    };
    for id in covered(server.core.bans.list()) {
        remove(server, id);
    }
    add(server, content);
}

/// Adds an entry, and prints and logs it. Returns whether there was room.
pub(super) fn add(server: &mut Server, content: Draft) -> bool {
    let now = moderation::calendar(&server.core);
    let (kind, subject) = (content.kind, content.subject.to_string());
    let added = server.core.bans.change(now, |list| list.add(content));
    let entry = added.map(|id| {
        let content = server.core.bans.list().get(id).cloned();
        content.map(|content| Entry { id, content }.details(now).to_string()).unwrap_or_default()
    });
    match entry {
        Ok(details) => {
            let line = format!("Added {}: {subject} {details}", kind.word());
            log::info!("{}", text::escaped(line.as_bytes()));
            server.core.console.print(line);
            true
        }
        Err(error) => {
            server.core.console.print(format!("Error: {} not added: {error}", kind.word()));
            false
        }
    }
}

/// Removes an entry, and prints and logs it.
pub(super) fn remove(server: &mut Server, id: u32) {
    let now = moderation::calendar(&server.core);
    if let Some(content) = server.core.bans.change(now, |list| list.remove(id)) {
        let line = format!("Deleting {} {}", content.kind.word(), content.subject);
        log::info!("{}", text::escaped(line.as_bytes()));
        server.core.console.print(line);
    }
}

/// Content of an entry that the running command adds.
pub(super) fn draft(
    server: &Server,
    kind: EntryKind,
    subject: Subject,
    expires: Option<u64>,
    reason: &str,
) -> Draft {
    let author = server.core.bans.author(server.texts.place());
    Draft {
        kind,
        subject,
        reason: bounded_text(reason, crate::bans::MAX_REASON_LEN),
        author: bounded_text(&author, crate::bans::MAX_AUTHOR_LEN),
        made: moderation::calendar(&server.core),
        expires,
    }
}

/// Network that words name: an address with or without a prefix length, or the client of a slot.
fn network_of(server: &Server, words: &CommandArgs) -> Result<Subject, String> {
    let (wanted, prefix) = (words.get(1), words.get(2));
    let with_prefix = |address: &str| {
        let text =
            if prefix.is_empty() { address.to_owned() } else { format!("{address}/{prefix}") };
        Subject::network(&text).map_err(|error| format!("{} ({error})", shown(&text)))
    };
    match wanted.parse::<usize>() {
        Ok(slot) => {
            let number = player_in(&server.core, slot).map_err(|error| error.to_string())?;
            let client = server.core.clients.get(number);
            let client = client.ok_or_else(|| format!("client {slot} is a bot"))?;
            with_prefix(&client.remote.address().ip().to_canonical().to_string())
        }
        Err(_) => with_prefix(wanted),
    }
}

fn shown(word: &str) -> String {
    text::shown_name(word.as_bytes())
}

/// Deletes the entry with a place in its list, or those inside a network.
pub(super) fn delete(server: &mut Server, words: &CommandArgs, kind: EntryKind) {
    let wanted = words.get(1);
    if words.len() != 2 {
        let usage = format!("Usage: {} <number of listbans, or network>", words.command());
        return server.core.console.print(usage);
    }
    let of_kind = || server.core.bans.list().of_kind(kind);
    let ids: Vec<u32> = match (wanted.parse::<usize>(), Subject::network(wanted)) {
        (Ok(place), _) => of_kind().skip(place.wrapping_sub(1)).take(1).map(|(id, _)| id).collect(),
        (_, Ok(network)) => of_kind()
            .filter(|(_, known)| network.covers(&known.subject))
            .map(|(id, _)| id)
            .collect(),
        (Err(_), Err(error)) => {
            let error = format!("Error: {} ({error}, or a number of listbans)", shown(wanted));
            return server.core.console.print(error);
        }
    };
    if ids.is_empty() {
        let error = format!("Error: no {} {} (listbans lists them)", kind.word(), shown(wanted));
        return server.core.console.print(error);
    }
    ids.into_iter().for_each(|id| remove(server, id));
}

/// Lists bans, exceptions and mutes, each kind with its own places.
pub(super) fn list(server: &mut Server) {
    let now = moderation::calendar(&server.core);
    let mut lines = Vec::new();
    for kind in [EntryKind::Ban, EntryKind::Exception, EntryKind::Mute] {
        let entries = server.core.bans.list().entries();
        let entries = entries.filter(|entry| entry.content.kind == kind);
        for (at, entry) in entries.enumerate() {
            let (subject, details) = (&entry.content.subject, entry.details(now));
            let ended = if entry.content.is_in_force(now) { "" } else { " ended" };
            lines.push(format!("{} #{}: {subject} {details}{ended}", kind.title(), at + 1));
        }
    }
    if lines.is_empty() {
        lines.push("no bans, exceptions and mutes".to_owned());
    }
    lines.into_iter().for_each(|line| server.core.console.print(line));
}

/// Deletes all bans and exceptions.
pub(super) fn flush(server: &mut Server) {
    let now = moderation::calendar(&server.core);
    let count = server.core.bans.change(now, BanList::remove_bans);
    log::info!("{count} bans and exceptions deleted");
    server.core.console.print("All bans and exceptions have been deleted.");
}

/// Reads the list from its file again.
pub(super) fn reload(server: &mut Server) {
    let now = moderation::calendar(&server.core);
    match server.core.bans.reload(now) {
        Ok(count) => {
            server.core.console.print(format!("{count} bans, exceptions and mutes read"));
            moderation::drop_banned(server);
        }
        Err(error) => server.core.console.print(format!("Error: {error}; the list is unchanged")),
    }
}

/// Adds the bans and exceptions of ioquake3's file in the state folder.
pub(super) fn import(server: &mut Server) {
    let read =
        server.core.bans.folder().ok_or_else(|| "no state folder (sv_state is none)".to_owned());
    let read = read.and_then(|folder| {
        let path = folder.path_of(SERVERBANS);
        let text = folder.read(SERVERBANS, MAX_SERVERBANS_LEN)?;
        let text = text.ok_or_else(|| format!("{path} not found"))?;
        parse_serverbans(&text).map_err(|fault| format!("{path}: {fault}"))
    });
    let read = match read {
        Ok(read) => read,
        Err(error) => {
            return server.core.console.print(format!("Error: {error}; nothing imported"));
        }
    };
    let contents: Vec<Draft> =
        read.into_iter().map(|(kind, subject)| draft(server, kind, subject, None, "")).collect();
    let now = moderation::calendar(&server.core);
    // All or none: the list is replaced only if all have room.
    let mut list = server.core.bans.list().clone();
    list.remove_ended(now);
    let mut added = 0;
    for content in contents {
        let known = list.id_of(content.kind, &content.subject).and_then(|id| list.get(id));
        if known.is_some_and(|known| known.outlasts(&content)) {
            continue;
        }
        if let Err(error) = list.add(content) {
            return server.core.console.print(format!("Error: {error}; nothing imported"));
        }
        added += 1;
    }
    server.core.bans.change(now, |current| *current = list);
    server.core.console.print(format!("{added} bans and exceptions imported from {SERVERBANS}"));
    moderation::drop_banned(server);
}

/// Writes the networks of the list to a file of ioquake3 in the state folder.
pub(super) fn export(server: &mut Server) {
    let (text, left_out) = serverbans_text(server.core.bans.list());
    let line = match server.core.bans.folder() {
        None => "Error: no state folder (sv_state is none)".to_owned(),
        Some(folder) => {
            let (path, lines) = (folder.path_of(SERVERBANS), text.lines().count());
            if folder.write(SERVERBANS, text) {
                format!(
                    "{lines} bans and exceptions exported to {path}; {left_out} left out, which end or are of \
                     GUIDs and names"
                )
            } else {
                format!("Error: {path} is being written or not writable")
            }
        }
    };
    server.core.console.print(line);
}

/// Adds a mask of `addip` to the list. Returns false for one that the game keeps: other masks than networks, and those of
/// an allow list.
pub(super) fn add_ip(server: &mut Server, words: &CommandArgs) -> bool {
    let subject = parse_mask(words.get(1)).map(Subject::Network).filter(|_| keeps_masks(server));
    let content = subject.map(|subject| draft(server, EntryKind::Ban, subject, None, ""));
    let is_taken = content.is_some();
    if let Some(content) = content {
        add(server, content);
    }
    is_taken
}

/// Removes a mask of `removeip` from the list. Returns false for one that only the game may have.
pub(super) fn remove_ip(server: &mut Server, words: &CommandArgs) -> bool {
    let subject = parse_mask(words.get(1)).map(Subject::Network).filter(|_| keeps_masks(server));
    let id = subject.and_then(|subject| server.core.bans.list().id_of(EntryKind::Ban, &subject));
    id.into_iter().for_each(|id| remove(server, id));
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

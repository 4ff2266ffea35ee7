//! Console commands of the ban list, as in ioquake3, for every role that has one.
//!
//! Source: ban commands and replies of ioquake3.

use std::net::IpAddr;

use super::{
    entry::{Draft, Entry, EntryKind, MAX_AUTHOR_LEN, MAX_REASON_LEN, bounded_text},
    list::{BanList, Client},
    players,
    serverbans::{parse_serverbans, serverbans_text},
    store::BanStore,
    subject::Subject,
};
use crate::model::{CommandArgs, text};

/// Node whose operator bans and mutes clients.
pub trait Moderated {
    /// The list with its file.
    fn bans(&self) -> &BanStore;

    /// The list with its file, to change it.
    fn bans_mut(&mut self) -> &mut BanStore;

    /// Calendar time in seconds since 1970.
    fn calendar(&self) -> u64;

    /// Author of entries that the running command adds.
    fn author(&self) -> String;

    /// Prints a line for the author of the running command.
    fn print(&mut self, line: String);

    /// Client in a slot.
    ///
    /// # Errors
    /// A sentence with the problem.
    fn in_slot(&self, slot: usize) -> Result<Named, String>;

    /// Client with a slot or a name.
    ///
    /// # Errors
    /// A sentence with the problem.
    fn find(&self, wanted: &str) -> Result<Named, String>;

    /// Applies the changed list to clients: drops the banned ones, or tells the muted ones.
    fn apply(&mut self, kind: EntryKind);
}

/// Client that a command names.
#[derive(Clone, Debug)]
pub struct Named {
    /// Slot.
    pub slot: usize,
    /// Address; `None` for a bot.
    pub address: Option<IpAddr>,
    /// Value of `cl_guid`; empty without one.
    pub guid: String,
    /// Name with its colors.
    pub name: String,
}

impl Named {
    /// The client, unless it is a bot.
    pub(super) fn client(&self) -> Result<Client<'_>, String> {
        let address = self.address.ok_or_else(|| format!("client {} is a bot", self.slot))?;
        Ok(Client { address, guid: &self.guid, name: &self.name })
    }
}

/// A command with its help.
#[derive(Clone, Copy, Debug)]
pub struct CommandHelp {
    /// Name.
    pub name: &'static str,
    /// Arguments.
    pub usage: &'static str,
    /// Effect.
    pub help: &'static str,
}

const fn command(name: &'static str, usage: &'static str, help: &'static str) -> CommandHelp {
    CommandHelp { name, usage, help }
}

/// Subjects of `ban` and `mute`.
const WHO: &str =
    "[address, guid or name] <player, address, network, GUID or name> [time] [reason]";
/// Subjects of `banaddr` and `exceptaddr`.
const NETWORK: &str = "<address, network or slot> [prefix length]";

/// `ban`.
pub const BAN: CommandHelp =
    command("ban", WHO, "Ban and kick, for e.g. 30m, 2h or 7d, or without end.");
/// `banaddr`.
pub const BANADDR: CommandHelp = command("banaddr", NETWORK, "Ban an address or network.");
/// `bandel`.
pub const BANDEL: CommandHelp = command(
    "bandel",
    "<number or network>",
    "Delete a ban of listbans, or those inside a network.",
);
/// `exceptaddr`.
pub const EXCEPTADDR: CommandHelp =
    command("exceptaddr", NETWORK, "Admit an address or network in spite of bans.");
/// `exceptdel`.
pub const EXCEPTDEL: CommandHelp = command(
    "exceptdel",
    "<number or network>",
    "Delete an exception of listbans, or those inside a network.",
);
/// `exportbans`.
pub const EXPORTBANS: CommandHelp = command(
    "exportbans",
    "",
    "Write the networks of listbans to serverbans.dat in the state folder, as ioquake3 reads them.",
);
/// `flushbans`.
pub const FLUSHBANS: CommandHelp = command("flushbans", "", "Delete all bans and exceptions.");
/// `importbans`.
pub const IMPORTBANS: CommandHelp = command(
    "importbans",
    "",
    "Add the networks of serverbans.dat in the state folder, as ioquake3 writes them.",
);
/// `listbans`.
pub const LISTBANS: CommandHelp = command("listbans", "", "List bans, exceptions and mutes.");
/// `mute`.
pub const MUTE: CommandHelp =
    command("mute", WHO, "Refuse the chat of players, also after a reconnect.");
/// `rehashbans`.
pub const REHASHBANS: CommandHelp =
    command("rehashbans", "", "Read the list of bans from its file again.");
/// `unban`.
pub const UNBAN: CommandHelp =
    command("unban", "<id of listbans, address, network, guid GUID or name NAME>", "Delete a ban.");
/// `unmute`.
pub const UNMUTE: CommandHelp = command(
    "unmute",
    "<player, id of listbans, address, network, guid GUID or name NAME>",
    "Delete a mute.",
);

/// All commands of the list, by name.
pub const COMMANDS: [CommandHelp; 13] = [
    BAN, BANADDR, BANDEL, EXCEPTADDR, EXCEPTDEL, EXPORTBANS, FLUSHBANS, IMPORTBANS, LISTBANS, MUTE,
    REHASHBANS, UNBAN, UNMUTE,
];

/// Runs a command of the list. Returns false for another one.
pub fn run(host: &mut dyn Moderated, words: &CommandArgs) -> bool {
    match &*words.command().to_ascii_lowercase() {
        "ban" => players::add_entry(host, words, EntryKind::Ban),
        "banaddr" => add_network(host, words, EntryKind::Ban),
        "bandel" => delete(host, words, EntryKind::Ban),
        "exceptaddr" => add_network(host, words, EntryKind::Exception),
        "exceptdel" => delete(host, words, EntryKind::Exception),
        "exportbans" => export(host),
        "flushbans" => flush(host),
        "importbans" => import(host),
        "listbans" => list(host),
        "mute" => players::add_entry(host, words, EntryKind::Mute),
        "rehashbans" => reload(host),
        "unban" => players::remove_entry(host, words, EntryKind::Ban),
        "unmute" => players::remove_entry(host, words, EntryKind::Mute),
        _ => return false,
    }
    true
}

/// File of ioquake3's list in the state folder, and its greatest length in bytes.
const SERVERBANS: &str = "serverbans.dat";
const MAX_SERVERBANS_LEN: u64 = 1 << 20;

/// Adds the network of an address, or of a client in a slot, to the list.
fn add_network(host: &mut dyn Moderated, words: &CommandArgs, kind: EntryKind) {
    if !(2..=3).contains(&words.len()) {
        let name = words.command();
        return host.print(format!(
            "Usage: {name} <address, network or slot> [prefix length], e.g. {name} 192.0.2.0/24"
        ));
    }
    let subject = match network_of(&*host, words) {
        Ok(subject) => subject,
        Err(error) => return host.print(format!("Error: {error}")),
    };
    let now = host.calendar();
    if kind == EntryKind::Ban
        && let Err(error) = host.bans().check_lockout(&subject, now)
    {
        return host.print(format!("Error: {error}"));
    }
    let content = draft(&*host, kind, subject, None, "");
    let (title, word) = (kind.title(), kind.word());
    let covering = host.bans().list().of_kind(kind).find(|(_, known)| {
        known.is_in_force(now) && known.subject.covers(&content.subject) && known.outlasts(&content)
    });
    if let Some((_, known)) = covering {
        let error =
            format!("Error: {title} {} supersedes {word} {}", known.subject, content.subject);
        return host.print(error);
    }
    let covered = |list: &BanList| -> Vec<u32> {
        let known = list.of_kind(kind).filter(|(_, known)| {
            content.subject != known.subject && content.subject.covers(&known.subject)
        });
        known.filter(|(_, known)| content.outlasts(known)).map(|(id, _)| id).collect()
    };
    for id in covered(host.bans().list()) {
        remove(host, id);
    }
    add(host, content);
}

/// Adds an entry, and prints and logs it. Returns whether there was room.
pub fn add(host: &mut dyn Moderated, content: Draft) -> bool {
    let now = host.calendar();
    let (kind, subject) = (content.kind, content.subject.to_string());
    let added = host.bans_mut().add(now, content);
    let entry = added.map(|id| {
        let content = host.bans().list().get(id).cloned();
        content.map(|content| Entry { id, content }.details(now).to_string()).unwrap_or_default()
    });
    match entry {
        Ok(details) => {
            let line = format!("Added {}: {subject} {details}", kind.word());
            log::info!("{}", text::escaped(line.as_bytes()));
            host.print(line);
            true
        }
        Err(error) => {
            host.print(format!("Error: {} not added: {error}", kind.word()));
            false
        }
    }
}

/// Removes an entry, and prints and logs it.
pub fn remove(host: &mut dyn Moderated, id: u32) {
    let now = host.calendar();
    if let Some(content) = host.bans_mut().change(now, |list| list.remove(id)) {
        let line = format!("Deleting {} {}", content.kind.word(), content.subject);
        log::info!("{}", text::escaped(line.as_bytes()));
        host.print(line);
    }
}

/// Content of an entry that the running command adds.
#[must_use]
pub fn draft(
    host: &dyn Moderated,
    kind: EntryKind,
    subject: Subject,
    expires: Option<u64>,
    reason: &str,
) -> Draft {
    let author = host.author();
    Draft {
        kind,
        subject,
        reason: bounded_text(reason, MAX_REASON_LEN),
        author: bounded_text(&author, MAX_AUTHOR_LEN),
        made: host.calendar(),
        expires,
    }
}

/// Network that words name: an address with or without a prefix length, or the client of a slot.
fn network_of(host: &dyn Moderated, words: &CommandArgs) -> Result<Subject, String> {
    let (wanted, prefix) = (words.get(1), words.get(2));
    let with_prefix = |address: &str| {
        let text =
            if prefix.is_empty() { address.to_owned() } else { format!("{address}/{prefix}") };
        Subject::network(&text).map_err(|error| format!("{} ({error})", shown(&text)))
    };
    match wanted.parse::<usize>() {
        Ok(slot) => {
            let found = host.in_slot(slot)?;
            with_prefix(&found.client()?.address.to_canonical().to_string())
        }
        Err(_) => with_prefix(wanted),
    }
}

fn shown(word: &str) -> String {
    text::shown_name(word.as_bytes())
}

/// Deletes the entry with a place in its list, or those inside a network.
fn delete(host: &mut dyn Moderated, words: &CommandArgs, kind: EntryKind) {
    let wanted = words.get(1);
    if words.len() != 2 {
        let usage = format!("Usage: {} <number of listbans, or network>", words.command());
        return host.print(usage);
    }
    let of_kind = || host.bans().list().of_kind(kind);
    let ids: Vec<u32> = match (wanted.parse::<usize>(), Subject::network(wanted)) {
        (Ok(place), _) => of_kind().skip(place.wrapping_sub(1)).take(1).map(|(id, _)| id).collect(),
        (_, Ok(network)) => of_kind()
            .filter(|(_, known)| network.covers(&known.subject))
            .map(|(id, _)| id)
            .collect(),
        (Err(_), Err(error)) => {
            let error = format!("Error: {} ({error}, or a number of listbans)", shown(wanted));
            return host.print(error);
        }
    };
    if ids.is_empty() {
        let error = format!("Error: no {} {} (listbans lists them)", kind.word(), shown(wanted));
        return host.print(error);
    }
    ids.into_iter().for_each(|id| remove(host, id));
}

/// Lists bans, exceptions and mutes, each kind with its own places.
fn list(host: &mut dyn Moderated) {
    let now = host.calendar();
    let mut lines = Vec::new();
    for kind in [EntryKind::Ban, EntryKind::Exception, EntryKind::Mute] {
        let entries = host.bans().list().entries();
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
    lines.into_iter().for_each(|line| host.print(line));
}

/// Deletes all bans and exceptions.
fn flush(host: &mut dyn Moderated) {
    let now = host.calendar();
    let count = host.bans_mut().change(now, BanList::remove_bans);
    log::info!("{count} bans and exceptions deleted");
    host.print("All bans and exceptions have been deleted.".to_owned());
}

/// Reads the list from its file again.
fn reload(host: &mut dyn Moderated) {
    let now = host.calendar();
    match host.bans_mut().reload(now) {
        Ok(count) => {
            host.print(format!("{count} bans, exceptions and mutes read"));
            host.apply(EntryKind::Ban);
        }
        Err(error) => host.print(format!("Error: {error}; the list is unchanged")),
    }
}

/// Adds the bans and exceptions of ioquake3's file in the state folder.
fn import(host: &mut dyn Moderated) {
    let read = host.bans().folder().ok_or_else(|| "no state folder (sv_state is none)".to_owned());
    let read = read.and_then(|folder| {
        let path = folder.path_of(SERVERBANS);
        let text = folder.read(SERVERBANS, MAX_SERVERBANS_LEN)?;
        let text = text.ok_or_else(|| format!("{path} not found"))?;
        parse_serverbans(&text).map_err(|fault| format!("{path}: {fault}"))
    });
    let read = match read {
        Ok(read) => read,
        Err(error) => {
            return host.print(format!("Error: {error}; nothing imported"));
        }
    };
    let own = &*host;
    let contents: Vec<Draft> =
        read.into_iter().map(|(kind, subject)| draft(own, kind, subject, None, "")).collect();
    let now = host.calendar();
    // All or none: the list is replaced only if all have room.
    let mut list = host.bans().list().clone();
    list.remove_ended(now);
    let mut added = 0;
    for content in contents {
        let known = list.id_of(content.kind, &content.subject).and_then(|id| list.get(id));
        if known.is_some_and(|known| known.outlasts(&content)) {
            continue;
        }
        if let Err(error) = list.add(content) {
            return host.print(format!("Error: {error}; nothing imported"));
        }
        added += 1;
    }
    host.bans_mut().change(now, |current| *current = list);
    host.print(format!("{added} bans and exceptions imported from {SERVERBANS}"));
    host.apply(EntryKind::Ban);
}

/// Writes the networks of the list to a file of ioquake3 in the state folder.
fn export(host: &mut dyn Moderated) {
    let (text, left_out) = serverbans_text(host.bans().list());
    let line = match host.bans().folder() {
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
    host.print(line);
}

//! Bans of a server: the list, and its file in the state folder.

use std::{collections::BTreeSet, net::IpAddr, rc::Rc};

use super::{
    entry::{Draft, EntryKind},
    list::{AddError, BanList, Client, MAX_ENTRIES},
    subject::Subject,
};
use crate::model::{Millis, saved_file::SavedFile, state_folder::StateFolder, text::counted};

/// Name of the list in the state folder.
const BANS_FILE: &str = "bans.jsonl";
/// Longest list that is read, in bytes: a kilobyte for each entry.
const MAX_FILE_LEN: u64 = MAX_ENTRIES as u64 * 1024;

/// Bans, exceptions and mutes of a server.
#[derive(Debug, Default)]
pub struct BanStore {
    list: BanList,
    file: SavedFile,
    /// Entries that commands have made since the start: they move with a calendar that is set. Imported ones have no end.
    of_run: BTreeSet<u32>,
    /// Author of the command that runs, if it is not the console.
    author: Option<CommandAuthor>,
}

/// Author of a console command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandAuthor {
    /// A remote console.
    Remote(IpAddr),
    /// An administrator among the players, with name and login.
    Player(String),
}

impl BanStore {
    /// Reads the list of a folder. An unreadable file is kept aside, and the log names it.
    #[must_use]
    pub fn open(folder: Option<Rc<dyn StateFolder>>, now: u64) -> Self {
        let mut bans = Self::default();
        bans.attach(folder, now);
        bans
    }

    /// Takes over the list of a folder, as [`Self::open`]. Entries that are there already, such as those of a script, stay.
    pub fn attach(&mut self, folder: Option<Rc<dyn StateFolder>>, now: u64) {
        let (file, list) = SavedFile::open(folder, BANS_FILE, MAX_FILE_LEN, parse);
        let added = std::mem::replace(&mut self.list, list.unwrap_or_default());
        (self.file, self.of_run) = (file, BTreeSet::new());
        if self.list.remove_ended(now) {
            self.file.change();
        }
        if let Some(folder) = self.file.folder().filter(|_| !self.list.is_empty()) {
            let entries = counted(self.list.len(), "entry");
            log::info!("{}: {entries}", folder.path_of(BANS_FILE));
        }
        for entry in added.entries() {
            let subject = entry.content.subject.to_string();
            match self.list.add(entry.content) {
                Ok(id) => {
                    self.of_run.insert(id);
                    self.file.change();
                }
                Err(error) => log::warn!("{subject} not added: {error}"),
            }
        }
    }

    /// The list.
    #[must_use]
    pub const fn list(&self) -> &BanList {
        &self.list
    }

    /// Folder of the list.
    #[must_use]
    pub fn folder(&self) -> Option<&dyn StateFolder> {
        self.file.folder()
    }

    /// Changes the list, after a removal of the entries that have ended.
    pub fn change<T>(&mut self, now: u64, change: impl FnOnce(&mut BanList) -> T) -> T {
        self.list.remove_ended(now);
        self.file.change();
        change(&mut self.list)
    }

    /// Adds an entry as [`BanList::add`], as one of this run.
    ///
    /// # Errors
    /// The list is full.
    pub fn add(&mut self, now: u64, content: Draft) -> Result<u32, AddError> {
        let id = self.change(now, |list| list.add(content))?;
        self.of_run.insert(id);
        Ok(id)
    }

    /// Follows a calendar that was set from one second to another. Entries of this run move with it, since their time was meant
    /// from the command on; those of earlier runs end by the calendar.
    pub fn set_calendar(&mut self, from: u64, to: u64) {
        let signed = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX);
        let seconds = signed(to) - signed(from);
        log::warn!(
            "calendar set by {seconds} s while the server runs: bans of this run keep their length"
        );
        self.list.shift(self.of_run.iter().copied(), seconds);
        let is_shifted = !self.of_run.is_empty();
        if self.list.remove_ended(to) || is_shifted {
            self.file.change();
        }
    }

    /// Reads the list from its file again. Returns the number of entries.
    ///
    /// # Errors
    /// A sentence with path and problem. The list stays as it is.
    pub fn reload(&mut self, now: u64) -> Result<usize, String> {
        let folder = self.file.folder().ok_or("no state folder, or none that can be written")?;
        if self.file.is_changed() {
            return Err(format!("{} is being written", folder.path_of(BANS_FILE)));
        }
        let mut list = self.file.read(MAX_FILE_LEN, parse)?.unwrap_or_default();
        if list.remove_ended(now) {
            self.file.change();
        }
        self.list = list;
        Ok(self.list.len())
    }

    /// Hands a changed list to the folder.
    pub fn save(&mut self, now: Millis) {
        self.file.save(now, || self.list.to_text());
    }

    /// Time of the next write, if a change waits for it.
    #[must_use]
    pub fn write_due(&self) -> Option<Millis> {
        self.file.write_due()
    }

    /// Ban of a client.
    #[must_use]
    pub fn ban_of(&self, client: Client<'_>, now: u64) -> Option<&Draft> {
        self.list.ban_of(client, now)
    }

    /// Refusal of a client that is banned.
    #[must_use]
    pub fn refusal(&self, client: Client<'_>, now: u64) -> Option<String> {
        let ban = self.ban_of(client, now)?;
        Some(format!("You are banned from this server.{}", ban.notice(now)))
    }

    /// Reason for the drop of a client that is banned.
    #[must_use]
    pub fn drop_reason(&self, client: Client<'_>, now: u64) -> Option<String> {
        self.ban_of(client, now).map(|ban| format!("was banned.{}", ban.notice(now)))
    }

    /// Answer to the chat of a client that is muted.
    #[must_use]
    pub fn mute_notice(&self, client: Client<'_>, now: u64) -> Option<String> {
        let mute = self.list.mute_of(client, now)?;
        Some(format!("You are muted.{}", mute.notice(now)))
    }

    /// Sets the author of the command that runs, if it is not the console.
    pub fn set_author(&mut self, author: Option<CommandAuthor>) {
        self.author = author;
    }

    /// Author of entries that the running command adds. `place`: its place in a script.
    #[must_use]
    pub fn author(&self, place: Option<String>) -> String {
        match &self.author {
            Some(CommandAuthor::Remote(address)) => format!("rcon {}", address.to_canonical()),
            Some(CommandAuthor::Player(name)) => name.clone(),
            None => place.unwrap_or_else(|| "console".to_owned()),
        }
    }

    /// Checks that a ban does not lock out the remote console that adds it, since a banned address has none.
    ///
    /// # Errors
    /// A sentence with the address and what to do.
    pub(super) fn check_lockout(&self, subject: &Subject, now: u64) -> Result<(), String> {
        let Some(CommandAuthor::Remote(address)) = &self.author else { return Ok(()) };
        let own = Subject::address(*address);
        let covers = |known: &Subject| known.covers(&own);
        let exceptions = self.list.of_kind(EntryKind::Exception);
        let is_excepted =
            |(_, known): (u32, &Draft)| known.is_in_force(now) && covers(&known.subject);
        if !covers(subject) || exceptions.into_iter().any(is_excepted) {
            return Ok(());
        }
        Err(format!(
            "{subject} has your own address, which would lose its remote console (expected a GUID or name, or exceptaddr {own} before)"
        ))
    }
}

impl Drop for BanStore {
    fn drop(&mut self) {
        self.file.finish(|| self.list.to_text());
    }
}

fn parse(text: &str) -> Result<BanList, String> {
    BanList::parse(text).map_err(|fault| fault.to_string())
}

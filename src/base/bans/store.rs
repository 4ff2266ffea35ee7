//! Bans of a server: the list, and its file in the state folder.
//!
//! Invariants: a change is handed to the folder within [`WRITE_INTERVAL`], once the server runs frames; an unreadable
//! file is kept aside and never overwritten.

use std::{net::IpAddr, rc::Rc};

use super::{
    entry::Draft,
    list::{BanList, Client, MAX_ENTRIES},
};
use crate::model::{Millis, state_folder::StateFolder};

/// Name of the list in the state folder.
const BANS_FILE: &str = "bans.jsonl";
/// Longest list that is read, in bytes: a kilobyte for each entry.
const MAX_FILE_LEN: u64 = MAX_ENTRIES as u64 * 1024;
/// Minimum time between two writes of the list.
const WRITE_INTERVAL: Millis = Millis(1000);

/// Bans, exceptions and mutes of a server.
#[derive(Debug, Default)]
pub struct BanStore {
    list: BanList,
    /// Folder of the file; `None` if the list is in memory only.
    folder: Option<Rc<dyn StateFolder>>,
    is_changed: bool,
    /// Earliest time of the next write; `None` before the first frame.
    next_write: Option<Millis>,
    /// Address of the remote console whose command runs.
    remote: Option<IpAddr>,
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
        let Some(folder) = folder else { return };
        self.folder = Some(Rc::clone(&folder));
        match read(&*folder) {
            Ok(None) => {}
            Ok(Some(mut list)) => {
                self.is_changed |= list.remove_ended(now);
                log::info!("{}: {} entries", folder.path_of(BANS_FILE), list.len());
                let added = std::mem::replace(&mut self.list, list);
                for entry in added.entries() {
                    let subject = entry.content.subject.to_string();
                    if let Err(error) = self.list.add(entry.content) {
                        log::warn!("{subject} not added: {error}");
                    }
                }
            }
            Err(fault) => match folder.keep_aside(BANS_FILE) {
                Ok(kept) => log::error!("{fault}; list empty, file kept as {kept}"),
                Err(error) => {
                    log::error!("{fault}; {error}; list empty, changes are not saved");
                    self.folder = None;
                }
            },
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
        self.folder.as_deref()
    }

    /// Changes the list, after a removal of the entries that have ended.
    pub fn change<T>(&mut self, now: u64, change: impl FnOnce(&mut BanList) -> T) -> T {
        self.list.remove_ended(now);
        self.is_changed = true;
        change(&mut self.list)
    }

    /// Reads the list from its file again. Returns the number of entries.
    ///
    /// # Errors
    /// A sentence with path and problem. The list stays as it is.
    pub fn reload(&mut self, now: u64) -> Result<usize, String> {
        let folder = self.folder.as_deref().ok_or("no state folder (sv_state is none)")?;
        if self.is_changed {
            return Err(format!("{} is being written", folder.path_of(BANS_FILE)));
        }
        let mut list = read(folder)?.unwrap_or_default();
        self.is_changed = list.remove_ended(now);
        self.list = list;
        Ok(self.list.len())
    }

    /// Hands a changed list to the folder.
    pub fn save(&mut self, now: Millis) {
        if self.next_write.is_some_and(|next| now < next) {
            return;
        }
        self.next_write = Some(if self.is_changed { now + WRITE_INTERVAL } else { now });
        if let Some(folder) = self.folder.as_deref().filter(|_| self.is_changed)
            && folder.write(BANS_FILE, self.list.to_text())
        {
            self.is_changed = false;
        }
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

    /// Sets the address of the remote console whose command runs.
    pub const fn set_remote(&mut self, remote: Option<IpAddr>) {
        self.remote = remote;
    }

    /// Author of entries that the running command adds. `place`: its place in a script.
    #[must_use]
    pub fn author(&self, place: Option<String>) -> String {
        match (self.remote, place) {
            (Some(address), _) => format!("rcon {}", address.to_canonical()),
            (None, Some(place)) => place,
            (None, None) => "console".to_owned(),
        }
    }
}

impl Drop for BanStore {
    /// Writes the last change. A server whose start ends it, as a check of its configuration, writes nothing.
    fn drop(&mut self) {
        if let Some(folder) = self.folder.as_deref()
            && self.is_changed
            && self.next_write.is_some()
        {
            folder.write_last(BANS_FILE, self.list.to_text());
        }
    }
}

fn read(folder: &dyn StateFolder) -> Result<Option<BanList>, String> {
    let Some(text) = folder.read(BANS_FILE, MAX_FILE_LEN)? else { return Ok(None) };
    let named = |fault| format!("{}: {fault}", folder.path_of(BANS_FILE));
    BanList::parse(&text).map(Some).map_err(named)
}

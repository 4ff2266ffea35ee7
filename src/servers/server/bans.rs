//! Bans of a server: the list, and its file in the state folder.
//!
//! Invariants: a change is handed to the folder within [`WRITE_INTERVAL`], once the server runs frames; an unreadable
//! file is kept aside and never overwritten.

use std::{net::IpAddr, rc::Rc};

use crate::{
    bans::{BanList, Client, Draft, MAX_ENTRIES},
    model::{Millis, state_folder::StateFolder},
};

/// Name of the list in the state folder.
pub(super) const BANS_FILE: &str = "bans.jsonl";
/// Longest list that is read, in bytes: a kilobyte for each entry.
pub(super) const MAX_FILE_LEN: u64 = MAX_ENTRIES as u64 * 1024;
/// Minimum time between two writes of the list.
const WRITE_INTERVAL: Millis = Millis(1000);

/// Bans, exceptions and mutes of a server.
#[derive(Debug, Default)]
pub(super) struct ServerBans {
    list: BanList,
    /// Folder of the file; `None` if the list is in memory only.
    folder: Option<Rc<dyn StateFolder>>,
    is_changed: bool,
    /// Earliest time of the next write; `None` before the first frame.
    next_write: Option<Millis>,
    /// Address of the remote console whose command runs.
    remote: Option<IpAddr>,
    /// Administrator in the game whose command runs.
    player: Option<String>,
}

impl ServerBans {
    /// Reads the list of a folder. An unreadable file is kept aside, and the log names it.
    pub(super) fn open(folder: Option<Rc<dyn StateFolder>>, now: u64) -> Self {
        let mut bans = Self::default();
        let Some(folder) = folder else { return bans };
        bans.folder = Some(Rc::clone(&folder));
        match read(&*folder) {
            Ok(None) => {}
            Ok(Some(mut list)) => {
                bans.is_changed = list.remove_ended(now);
                log::info!("{}: {} entries", folder.path_of(BANS_FILE), list.len());
                bans.list = list;
            }
            Err(fault) => match folder.keep_aside(BANS_FILE) {
                Ok(kept) => log::error!("{fault}; list empty, file kept as {kept}"),
                Err(error) => {
                    log::error!("{fault}; {error}; list empty, changes are not saved");
                    bans.folder = None;
                }
            },
        }
        bans
    }

    pub(super) const fn list(&self) -> &BanList {
        &self.list
    }

    /// Folder of the list.
    pub(super) fn folder(&self) -> Option<&dyn StateFolder> {
        self.folder.as_deref()
    }

    /// Changes the list, after a removal of the entries that have ended.
    pub(super) fn change<T>(&mut self, now: u64, change: impl FnOnce(&mut BanList) -> T) -> T {
        self.list.remove_ended(now);
        self.is_changed = true;
        change(&mut self.list)
    }

    /// Reads the list from its file again. Returns the number of entries.
    ///
    /// # Errors
    /// A sentence with path and problem. The list stays as it is.
    pub(super) fn reload(&mut self, now: u64) -> Result<usize, String> {
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
    pub(super) fn save(&mut self, now: Millis) {
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
    pub(super) fn ban_of(&self, client: Client<'_>, now: u64) -> Option<&Draft> {
        self.list.ban_of(client, now)
    }

    /// Sets the address of the remote console whose command runs.
    pub(super) const fn set_remote(&mut self, remote: Option<IpAddr>) {
        self.remote = remote;
    }

    /// Sets the administrator in the game whose command runs.
    pub(super) fn set_player(&mut self, player: Option<String>) {
        self.player = player;
    }

    /// Author of entries that the running command adds. `place`: its place in a script.
    pub(super) fn author(&self, place: Option<String>) -> String {
        if let Some(player) = &self.player {
            return player.clone();
        }
        match (self.remote, place) {
            (Some(address), _) => format!("rcon {}", address.to_canonical()),
            (None, Some(place)) => place,
            (None, None) => "console".to_owned(),
        }
    }
}

impl Drop for ServerBans {
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

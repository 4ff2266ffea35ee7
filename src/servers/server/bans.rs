//! Bans of a server: the list, and its file in the state folder.

use std::{collections::BTreeSet, net::IpAddr, rc::Rc};

use super::saved_file::SavedFile;
use crate::{
    bans::{BanList, Client, Draft, MAX_ENTRIES},
    model::{Millis, state_folder::StateFolder},
};

/// Name of the list in the state folder.
pub(super) const BANS_FILE: &str = "bans.jsonl";
/// Longest list that is read, in bytes: a kilobyte for each entry.
pub(super) const MAX_FILE_LEN: u64 = MAX_ENTRIES as u64 * 1024;

/// Bans, exceptions and mutes of a server.
#[derive(Debug, Default)]
pub(super) struct ServerBans {
    list: BanList,
    file: SavedFile,
    /// Entries that were made since the start: they move with a calendar that is set.
    of_run: BTreeSet<u32>,
    /// Address of the remote console whose command runs.
    remote: Option<IpAddr>,
    /// Administrator in the game whose command runs.
    player: Option<String>,
}

impl ServerBans {
    /// Reads the list of a folder. An unreadable file is kept aside, and the log names it.
    pub(super) fn open(folder: Option<Rc<dyn StateFolder>>, now: u64) -> Self {
        let (mut file, list) = SavedFile::open(folder, BANS_FILE, MAX_FILE_LEN, parse);
        let mut list = list.unwrap_or_default();
        if list.remove_ended(now) {
            file.change();
        }
        if let Some(folder) = file.folder().filter(|_| !list.is_empty()) {
            log::info!("{}: {} entries", folder.path_of(BANS_FILE), list.len());
        }
        Self { list, file, of_run: BTreeSet::new(), remote: None, player: None }
    }

    pub(super) const fn list(&self) -> &BanList {
        &self.list
    }

    /// Folder of the list.
    pub(super) fn folder(&self) -> Option<&dyn StateFolder> {
        self.file.folder()
    }

    /// Changes the list, after a removal of the entries that have ended.
    pub(super) fn change<T>(&mut self, now: u64, change: impl FnOnce(&mut BanList) -> T) -> T {
        self.list.remove_ended(now);
        self.file.change();
        let times = |list: &BanList| -> BTreeSet<(u32, u64)> {
            list.entries().map(|entry| (entry.id, entry.content.made)).collect()
        };
        let before = times(&self.list);
        let result = change(&mut self.list);
        let after = times(&self.list);
        self.of_run.extend(after.difference(&before).map(|(id, _)| id));
        result
    }

    /// Follows a calendar that was set by seconds, to `now`. Entries of this run move with it, since their time was meant from
    /// the command on; those of earlier runs end by the calendar.
    pub(super) fn set_calendar(&mut self, seconds: i64, now: u64) {
        self.list.shift(self.of_run.iter().copied(), seconds);
        let is_shifted = !self.of_run.is_empty();
        if self.list.remove_ended(now) || is_shifted {
            self.file.change();
        }
    }

    /// Reads the list from its file again. Returns the number of entries.
    ///
    /// # Errors
    /// A sentence with path and problem. The list stays as it is.
    pub(super) fn reload(&mut self, now: u64) -> Result<usize, String> {
        let folder = self.file.folder().ok_or("no state folder (sv_state is none)")?;
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
    pub(super) fn save(&mut self, now: Millis) {
        self.file.save(now, || self.list.to_text());
    }

    /// Time of the next write, if a change waits for it.
    pub(super) fn write_due(&self) -> Option<Millis> {
        self.file.write_due()
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
    fn drop(&mut self) {
        self.file.finish(|| self.list.to_text());
    }
}

fn parse(text: &str) -> Result<BanList, String> {
    BanList::parse(text).map_err(|fault| fault.to_string())
}

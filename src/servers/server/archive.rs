//! Archive of a server: settings that outlast it, and their file in the state folder.

use std::{collections::BTreeSet, rc::Rc};

use crate::{
    model::{Millis, saved_file::SavedFile, state_folder::StateFolder, text::counted},
    settings::{ArchivedSettings, MAX_ARCHIVE_LEN, SetCommand, Settings},
};

/// Name of the file in the state folder.
pub const ARCHIVE_FILE: &str = "settings.cfg";
/// Maximum number of files that `writeconfig` writes, each of which has a thread.
const MAX_WRITTEN: usize = 16;

/// Archived settings of a server.
#[derive(Debug, Default)]
pub(super) struct Archive {
    settings: ArchivedSettings,
    file: SavedFile,
    /// Files of `writeconfig`.
    written: BTreeSet<String>,
}

impl Archive {
    /// Reads the archive of a folder and sets its values, except those that the command line sets.
    pub(super) fn open(
        folder: Option<Rc<dyn StateFolder>>,
        settings: &mut Settings,
        overrides: &[(SetCommand, String, String)],
    ) -> Self {
        let (file, read) =
            SavedFile::open(folder, ARCHIVE_FILE, MAX_ARCHIVE_LEN, ArchivedSettings::parse);
        let archived = read.unwrap_or_default();
        let is_set =
            |name: &str| overrides.iter().any(|(_, set, _)| set.eq_ignore_ascii_case(name));
        if let Some(folder) = file.folder().filter(|_| !archived.is_empty()) {
            let count = counted(archived.len(), "setting");
            log::info!("{}: {count}", folder.path_of(ARCHIVE_FILE));
        }
        for problem in archived.apply(settings, ARCHIVE_FILE, is_set) {
            log::warn!("{problem}");
        }
        Self { settings: archived, file, written: BTreeSet::new() }
    }

    pub(super) const fn settings(&self) -> &ArchivedSettings {
        &self.settings
    }

    /// State folder.
    pub(super) fn folder(&self) -> Option<&dyn StateFolder> {
        self.file.folder()
    }

    /// Archives the present value of a setting, see [`ArchivedSettings::note`].
    ///
    /// # Errors
    /// The archive is full.
    pub(super) fn note(
        &mut self,
        settings: &Settings,
        name: &str,
        is_asked: bool,
    ) -> Result<(), String> {
        if self.settings.note(settings, name, is_asked)? {
            self.file.change();
        }
        Ok(())
    }

    /// Removes a setting from the archive.
    pub(super) fn forget(&mut self, name: &str) {
        if self.settings.forget(name) {
            self.file.change();
        }
    }

    /// Hands a changed archive to the folder.
    pub(super) fn save(&mut self, now: Millis) {
        self.file.save(now, || self.settings.to_text());
    }

    /// Time of the next write, if a change waits for it.
    pub(super) fn write_due(&self) -> Option<Millis> {
        self.file.write_due()
    }

    /// Writes a file beside the archive. Returns its path.
    ///
    /// # Errors
    /// A sentence with the problem.
    pub(super) fn write_beside(&mut self, name: &str, text: String) -> Result<String, String> {
        let folder = self.file.folder().ok_or("no state folder (sv_state is none)")?;
        let path = folder.path_of(name);
        if self.written.len() >= MAX_WRITTEN && !self.written.contains(name) {
            return Err(format!("{path} not written: too many files (max {MAX_WRITTEN} in a run)"));
        }
        if !folder.write(name, text) {
            return Err(format!("{path} is being written or not writable"));
        }
        self.written.insert(name.to_owned());
        Ok(path)
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        self.file.finish(|| self.settings.to_text());
    }
}

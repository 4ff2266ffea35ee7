//! File of the state folder that a part of a node keeps.
//!
//! Invariants: a change is handed to the folder within a second, once the server runs frames; an unreadable file is
//! kept aside and never overwritten; a server whose start ends it writes nothing.

use std::rc::Rc;

use super::{Millis, state_folder::StateFolder};

/// Minimum time between two writes of a file.
const WRITE_INTERVAL: Millis = Millis(1000);

/// A file with its pending change.
#[derive(Debug, Default)]
pub struct SavedFile {
    name: &'static str,
    /// Folder of the file; `None` if the content is in memory only.
    folder: Option<Rc<dyn StateFolder>>,
    is_changed: bool,
    /// Earliest time of the next write; `None` before the first frame.
    next_write: Option<Millis>,
}

impl SavedFile {
    /// Opens a file of a folder and reads its content; `None` if there is none. A file that is not usable is kept aside,
    /// and the log names its fault.
    pub fn open<T>(
        folder: Option<Rc<dyn StateFolder>>,
        name: &'static str,
        most: u64,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> (Self, Option<T>) {
        let mut file = Self { name, folder, ..Self::default() };
        match file.read(most, parse) {
            Ok(content) => (file, content),
            Err(fault) => {
                let folder = file.folder.as_deref();
                match folder.map(|folder| folder.keep_aside(name)) {
                    Some(Ok(kept)) => log::error!("{fault}; nothing read, file kept as {kept}"),
                    Some(Err(error)) => {
                        log::error!("{fault}; {error}; nothing read, changes are not saved");
                        file.folder = None;
                    }
                    None => {}
                }
                (file, None)
            }
        }
    }

    /// Reads the file again.
    ///
    /// # Errors
    /// A sentence with path and problem.
    pub fn read<T>(
        &self,
        most: u64,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        let Some(folder) = self.folder() else { return Ok(None) };
        let Some(text) = folder.read(self.name, most)? else { return Ok(None) };
        let named = |fault| format!("{}: {fault}", folder.path_of(self.name));
        parse(&text).map(Some).map_err(named)
    }

    /// Folder of the file.
    #[must_use]
    pub fn folder(&self) -> Option<&dyn StateFolder> {
        self.folder.as_deref()
    }

    /// Whether a change waits.
    #[must_use]
    pub const fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Notes a change of the content.
    pub const fn change(&mut self) {
        self.is_changed = true;
    }

    /// Hands a changed content to the folder.
    pub fn save(&mut self, now: Millis, text: impl FnOnce() -> String) {
        if self.next_write.is_some_and(|next| now < next) {
            return;
        }
        self.next_write = Some(if self.is_changed { now + WRITE_INTERVAL } else { now });
        if let Some(folder) = self.folder.as_deref().filter(|_| self.is_changed)
            && folder.write(self.name, text())
        {
            self.is_changed = false;
        }
    }

    /// Time of the next write, if a change waits for it.
    #[must_use]
    pub fn write_due(&self) -> Option<Millis> {
        self.next_write.filter(|_| self.is_changed && self.folder.is_some())
    }

    /// Writes the last change and waits for the disk. A server whose start ends it writes nothing.
    pub fn finish(&mut self, text: impl FnOnce() -> String) {
        if let Some(folder) = self.folder.as_deref()
            && self.is_changed
            && self.next_write.is_some()
        {
            folder.write_last(self.name, text());
        }
    }
}

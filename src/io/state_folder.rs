//! State folder on disk: files that threads replace.
//!
//! Invariants: folder, files and threads are created with the first write, unless the folder is checked at the start.
//! One process uses a folder: it holds the lock of a file there.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fs,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use super::{
    StateFile,
    files::{open_regular, open_to_write},
};
use crate::model::state_folder::StateFolder;

/// File whose lock a process holds that uses the folder.
const LOCK: &str = "lock";

/// Names that are tried for a file kept aside, so that an earlier one stays.
const MAX_KEPT: usize = 9;

/// Folder with state files of this process.
#[derive(Debug)]
pub struct DiskState {
    path: PathBuf,
    files: RefCell<BTreeMap<String, StateFile>>,
    /// Whether the last try to start a file failed, which is logged once.
    is_failing: Cell<bool>,
    /// Held until the end of the process.
    lock: RefCell<Option<fs::File>>,
}

impl DiskState {
    /// The folder at a path, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            files: RefCell::default(),
            is_failing: Cell::new(false),
            lock: RefCell::default(),
        }
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder and checks that a file in it can be written.
    ///
    /// # Errors
    /// A sentence with path and problem.
    pub fn check(&self) -> Result<(), String> {
        create(&self.path)?;
        self.lock()?;
        StateFile::start(self.path.join("check")).map(drop)
    }

    /// Takes the folder for this process, if it exists.
    ///
    /// # Errors
    /// Another process uses it.
    pub fn claim(&self) -> Result<(), String> {
        if self.path.is_dir() { self.lock() } else { Ok(()) }
    }

    /// Locks the folder for this process. A file system without locks has none.
    fn lock(&self) -> Result<(), String> {
        let mut held = self.lock.borrow_mut();
        if held.is_some() {
            return Ok(());
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let (shown, path) = (self.path.display(), self.path.join(LOCK));
        if fs::symlink_metadata(&path).is_ok_and(|data| !data.is_file()) {
            return Err(format!("{} is not a regular file", path.display()));
        }
        let file = open_to_write(&path, &mut options)
            .map_err(|error| format!("state folder {shown} not writable: {error}"))?;
        #[cfg(unix)]
        {
            use rustix::fs::{FlockOperation, flock};
            let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
            if locked == Err(rustix::io::Errno::WOULDBLOCK) {
                return Err(format!("state folder {shown} is used by another process"));
            }
        }
        *held = Some(file);
        Ok(())
    }

    /// Starts the thread of a file, unless it runs.
    fn start(&self, name: &str) -> Result<(), String> {
        let mut files = self.files.borrow_mut();
        if !files.contains_key(name) {
            create(&self.path)?;
            self.lock()?;
            files.insert(name.to_owned(), StateFile::start(self.path.join(name))?);
        }
        Ok(())
    }
}

impl StateFolder for DiskState {
    fn path_of(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    fn read(&self, name: &str, most: u64) -> Result<Option<String>, String> {
        if self.files.borrow().get(name).is_some_and(|file| !file.is_written()) {
            return Err(format!("state file {} is being written", self.path_of(name)));
        }
        StateFile::read_up_to(&self.path.join(name), most)
    }

    fn read_end(&self, name: &str, most: u64) -> Result<Option<String>, String> {
        let read = || -> io::Result<(u64, Vec<u8>)> {
            let mut file = open_regular(&self.path.join(name))?;
            let start = file.metadata()?.len().saturating_sub(most);
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::new();
            file.take(most).read_to_end(&mut bytes)?;
            Ok((start, bytes))
        };
        match read() {
            Ok((start, bytes)) => {
                let text = String::from_utf8_lossy(&bytes);
                // The first line may have begun before.
                let whole =
                    if start == 0 { &*text } else { text.split_once('\n').map_or("", |cut| cut.1) };
                Ok(Some(whole.to_owned()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{} not readable: {error}", self.path_of(name))),
        }
    }

    fn write(&self, name: &str, text: String) -> bool {
        let started = self.start(name);
        // The caller tries again.
        if let Err(error) = &started
            && !self.is_failing.get()
        {
            log::error!("{error}");
        }
        self.is_failing.set(started.is_err());
        self.files.borrow().get(name).is_some_and(|file| file.write(text))
    }

    fn write_last(&self, name: &str, text: String) {
        if let Err(error) = self.start(name) {
            log::error!("{error}");
        }
        if let Some(file) = self.files.borrow_mut().remove(name) {
            file.finish(text);
        }
    }

    fn keep_aside(&self, name: &str) -> Result<String, String> {
        let free = |kept: &String| !self.path.join(kept).exists();
        let numbered = (2..=MAX_KEPT).map(|number| format!("{name}.bad{number}"));
        let kept = std::iter::once(format!("{name}.bad")).chain(numbered).find(free);
        let kept = kept.ok_or_else(|| {
            format!("{} not renamed: {name}.bad to {name}.bad{MAX_KEPT} exist", self.path_of(name))
        })?;
        fs::rename(self.path.join(name), self.path.join(&kept))
            .map_err(|error| format!("{} not renamed: {error}", self.path_of(name)))?;
        Ok(kept)
    }
}

/// Creates a folder for this user only, with its parents.
pub(super) fn create(path: &Path) -> Result<(), String> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let failed = |error: io::Error| format!("state folder {} not created: {error}", path.display());
    builder.create(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_folder_is_created_by_first_write() {
        let path = std::env::temp_dir().join(format!("fragd-folder-{}/a/b", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let folder = DiskState::new(path.clone());
        assert_eq!(folder.read("bans.jsonl", 99), Ok(None));
        assert!(!path.exists());
        assert!(folder.write("bans.jsonl", "first\n".to_owned()));
        folder.write_last("bans.jsonl", "last\n".to_owned());
        assert_eq!(folder.read("bans.jsonl", 99), Ok(Some("last\n".to_owned())));
        assert_eq!(folder.keep_aside("bans.jsonl").as_deref(), Ok("bans.jsonl.bad"));
        assert_eq!(folder.read("bans.jsonl", 99), Ok(None));
        assert!(folder.keep_aside("bans.jsonl").unwrap_err().contains("not renamed"));
        fs::write(path.join("bans.jsonl"), "again").unwrap();
        assert_eq!(folder.keep_aside("bans.jsonl").as_deref(), Ok("bans.jsonl.bad2"));
        assert!(folder.check().is_ok());
        assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
        fs::remove_dir_all(path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn state_folder_belongs_to_one_process() {
        let path = std::env::temp_dir().join(format!("fragd-shared-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let (first, second) = (DiskState::new(path.clone()), DiskState::new(path.clone()));
        first.claim().unwrap();
        assert!(!path.exists());
        assert!(first.write("bans.jsonl", "first\n".to_owned()));
        let error = second.claim().unwrap_err();
        assert!(error.ends_with(" is used by another process"), "{error}");
        assert!(second.check().is_err() && !second.write("bans.jsonl", "second\n".to_owned()));
        drop(first);
        second.claim().unwrap();
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn unusable_state_folder_is_named() {
        let folder = DiskState::new("/dev/null/state".into());
        let error = folder.check().unwrap_err();
        assert!(error.starts_with("state folder /dev/null/state not created: "), "{error}");
        assert!(!folder.write("bans.jsonl", String::new()));
    }
}

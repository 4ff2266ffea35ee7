//! State file: small text that replaces itself as a whole, written by a thread.
//!
//! Invariants: a reader finds the old text or the new one, never a part; the caller never waits for the disk
//! except at the end; only the latest text waits.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::mpsc,
    thread::{self, JoinHandle},
};

/// Longest state file that is read, in bytes.
const BYTES_MAX: u64 = 512 << 20;

/// Handle to the thread that writes a state file.
#[derive(Debug)]
pub struct StateFile {
    texts: Option<mpsc::SyncSender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl StateFile {
    /// Reads a state file; `None` if there is none yet.
    ///
    /// # Errors
    /// A sentence with path and problem.
    pub fn read(path: &Path) -> Result<Option<String>, String> {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes));
        match read {
            Ok(_) => String::from_utf8(bytes).map(Some).map_err(|error| {
                let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
                format!(
                    "state file {}:{line}: not UTF-8 (expected a file that this program wrote)",
                    path.display()
                )
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("state file {} not readable: {error}", path.display())),
        }
    }

    /// Starts the thread, after a check that the file's folder is writable.
    ///
    /// # Errors
    /// A sentence with path and problem.
    pub fn start(path: PathBuf) -> Result<Self, String> {
        let failed = |error| format!("state file {} not writable: {error}", path.display());
        let draft = draft_of(&path);
        open_draft(&draft).map_err(failed)?;
        fs::remove_file(&draft).map_err(failed)?;
        let (texts, received) = mpsc::sync_channel::<String>(1);
        let write = move || {
            let mut is_failing = false;
            for text in received {
                let result = replace(&path, text.as_bytes());
                // One line per state change, not per try.
                match &result {
                    Err(error) if !is_failing => {
                        log::error!("state file {} not written: {error}", path.display());
                    }
                    Ok(()) if is_failing => {
                        log::info!("state file {} written again", path.display())
                    }
                    _ => {}
                }
                is_failing = result.is_err();
            }
        };
        let thread = thread::Builder::new()
            .name("state file".to_owned())
            .spawn(write)
            .map_err(|error| format!("state file thread not started: {error}"))?;
        Ok(Self { texts: Some(texts), thread: Some(thread) })
    }

    /// Queues a text. False if the previous one is still being written.
    pub fn write(&self, text: String) -> bool {
        self.texts.as_ref().is_some_and(|texts| texts.try_send(text).is_ok())
    }

    /// Writes a last text and waits for the disk.
    pub fn finish(mut self, text: String) {
        if let Some(texts) = self.texts.take() {
            // The thread ends with the channel.
            let _ = texts.send(text);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Replaces a file: writes a draft beside it, syncs it and renames it.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    let mut file = open_draft(&draft)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&draft, path)
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Creates the draft. A file or link that another user put there is never written to.
fn open_draft(draft: &Path) -> io::Result<File> {
    match fs::remove_file(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).open(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_file_is_replaced_as_a_whole() {
        let folder = std::env::temp_dir().join(format!("fragd-state-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let path = folder.join("master.state");
        assert_eq!(StateFile::read(&path), Ok(None));
        let file = StateFile::start(path.clone()).unwrap();
        file.write("first\n".to_owned());
        file.finish("second\n".to_owned());
        assert_eq!(StateFile::read(&path), Ok(Some("second\n".to_owned())));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        let binary = folder.join("binary");
        fs::write(&binary, b"first\n\xff\n").unwrap();
        let error = StateFile::read(&binary).unwrap_err();
        assert!(error.contains("binary:2: not UTF-8"), "{error}");
        #[cfg(unix)]
        {
            let target = folder.join("theirs");
            fs::write(&target, "theirs").unwrap();
            std::os::unix::fs::symlink(&target, draft_of(&path)).unwrap();
            StateFile::start(path.clone()).unwrap().finish("third\n".to_owned());
            assert_eq!(fs::read(&target).unwrap(), b"theirs", "a link is not followed");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn unwritable_state_file_is_named() {
        let error = StateFile::start("/no/such/place".into()).unwrap_err();
        assert!(error.starts_with("state file /no/such/place not writable: "), "{error}");
    }
}

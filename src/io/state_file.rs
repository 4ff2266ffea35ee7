//! State file: small text that replaces itself as a whole, written by a thread.
//!
//! Invariants: a reader finds the old text or the new one, never a part; the caller never waits for the disk
//! except at the end; only the latest text waits. A text that could not be written is tried again.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::files::open_regular;

/// Longest state file that is read, in bytes.
const BYTES_MAX: u64 = 512 << 20;

/// Time until a text that could not be written is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// A text with its number.
type Numbered = (u64, String);

/// Handle to the thread that writes a state file. Dropping it waits for the text that is being written.
#[derive(Debug)]
pub struct StateFile {
    texts: Option<mpsc::SyncSender<Numbered>>,
    thread: Option<JoinHandle<()>>,
    /// Numbers of the last text that was queued, and of the last one on disk.
    queued: AtomicU64,
    written: Arc<AtomicU64>,
}

impl StateFile {
    /// Reads a state file; `None` if there is none yet.
    ///
    /// # Errors
    /// A sentence with path and problem.
    pub fn read(path: &Path) -> Result<Option<String>, String> {
        Self::read_up_to(path, BYTES_MAX)
    }

    /// As [`Self::read`], with a limit of bytes.
    ///
    /// # Errors
    /// A sentence with path and problem.
    pub fn read_up_to(path: &Path, most: u64) -> Result<Option<String>, String> {
        let mut bytes = Vec::new();
        let read = open_regular(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
        match read {
            Ok(len) if len as u64 > most => {
                Err(format!("state file {} too long (max {most} bytes)", path.display()))
            }
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
        let (texts, received) = mpsc::sync_channel::<Numbered>(1);
        let written = Arc::new(AtomicU64::new(0));
        let done = Arc::clone(&written);
        let thread = thread::Builder::new()
            .name("state file".to_owned())
            .spawn(move || write_all(&path, &received, &done))
            .map_err(|error| format!("state file thread not started: {error}"))?;
        Ok(Self { texts: Some(texts), thread: Some(thread), queued: AtomicU64::new(0), written })
    }

    /// Queues a text. False if the previous one is still being written.
    pub fn write(&self, text: String) -> bool {
        let number = self.queued.load(Ordering::Relaxed) + 1;
        let is_queued =
            self.texts.as_ref().is_some_and(|texts| texts.try_send((number, text)).is_ok());
        if is_queued {
            self.queued.store(number, Ordering::Relaxed);
        }
        is_queued
    }

    /// Whether the last text is on disk.
    pub fn is_written(&self) -> bool {
        self.written.load(Ordering::Acquire) == self.queued.load(Ordering::Relaxed)
    }

    /// Writes a last text and waits for the disk.
    pub fn finish(self, text: String) {
        if let Some(texts) = &self.texts {
            let number = self.queued.load(Ordering::Relaxed) + 1;
            // Fails only if the thread has ended by a panic.
            let _ = texts.send((number, text));
        }
    }
}

impl Drop for StateFile {
    fn drop(&mut self) {
        // The thread ends with the channel.
        drop(self.texts.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes the texts of a channel until its end. A text that fails is tried again until the next one.
fn write_all(path: &Path, received: &mpsc::Receiver<Numbered>, written: &AtomicU64) {
    let mut failed: Option<Numbered> = None;
    let mut is_failing = false;
    loop {
        let next = match &failed {
            None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) => received.recv_timeout(RETRY_INTERVAL),
        };
        let is_over = next == Err(RecvTimeoutError::Disconnected);
        let Some((number, text)) = next.ok().or_else(|| failed.take()) else { return };
        let result = replace(path, text.as_bytes());
        // One line per state change, not per try.
        match &result {
            Err(error) if !is_failing => {
                log::error!("state file {} not written: {error}", path.display());
            }
            Ok(()) if is_failing => log::info!("state file {} written again", path.display()),
            _ => {}
        }
        is_failing = result.is_err();
        match result {
            Ok(()) => {
                failed = None;
                written.store(number, Ordering::Release);
            }
            Err(_) => failed = Some((number, text)),
        }
        if is_over {
            return;
        }
    }
}

/// Replaces a file: writes a draft beside it, syncs it and renames it.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    let mut file = open_draft(&draft)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&draft, path)?;
    sync_folder(path)
}

/// Syncs the folder of a file, so that its new name outlasts a loss of power.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
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
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // It may hold addresses of players.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(draft)
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

    #[cfg(unix)]
    #[test]
    fn failed_text_is_written_later() {
        let folder = std::env::temp_dir().join(format!("fragd-retry-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let path = folder.join("bans.jsonl");
        let file = StateFile::start(path.clone()).unwrap();
        // A folder in the place of the draft, as a full disk: it cannot be written.
        fs::create_dir(draft_of(&path)).unwrap();
        assert!(file.write("first\n".to_owned()));
        std::thread::sleep(Duration::from_millis(300));
        assert!(!file.is_written());
        fs::remove_dir(draft_of(&path)).unwrap();
        let end = std::time::Instant::now() + RETRY_INTERVAL * 10;
        while !file.is_written() && std::time::Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(StateFile::read(&path), Ok(Some("first\n".to_owned())));
        assert!(StateFile::read_up_to(&path, 3).unwrap_err().ends_with("too long (max 3 bytes)"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn unwritable_state_file_is_named() {
        let error = StateFile::start("/no/such/place".into()).unwrap_err();
        assert!(error.starts_with("state file /no/such/place not writable: "), "{error}");
    }
}

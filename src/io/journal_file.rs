//! A file that a journal is written to, by a thread of its own.
//!
//! Invariants: who writes never waits for the disk; what waits for it is bounded, and when that is not
//! enough or the disk refuses, the journal ends there with a line in the log and the server plays on. A
//! process that is killed loses what it had not written yet, which is one frame's inputs unless the disk
//! lags; a machine that fails loses about `SYNC_INTERVAL` more.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use thiserror::Error;

use super::files::open_to_write;

/// Bytes that may wait for the disk.
const MAX_WAITING_BYTES: usize = 32 << 20;
/// Pieces that may wait.
const MAX_WAITING_PIECES: usize = 4096;
/// Time between two orders to the system to put all on the disk.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A journal that cannot be begun.
#[derive(Debug, Error)]
#[error("{path}: the journal cannot be written: {source}")]
pub struct JournalError {
    path: PathBuf,
    source: io::Error,
}

/// The file.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    /// Gone once the journal has ended.
    queue: Option<SyncSender<Vec<u8>>>,
    spare: Receiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl JournalFile {
    /// Begins a file that only its owner may read, for passwords stand in it. A file of that name is
    /// kept as `NAME.1`.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let failed = |source| JournalError { path: path.to_owned(), source };
        let file = open(path).map_err(failed)?;
        let (queue, pieces) = mpsc::sync_channel(MAX_WAITING_PIECES);
        let (back, spare) = mpsc::sync_channel(MAX_WAITING_PIECES);
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let name = path.to_owned();
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                if let Err(error) = write_all(file, &pieces, &back, &counter) {
                    log::error!("{}: {error}; the journal ends here", name.display());
                }
            })
            .map_err(failed)?;
        let (queue, thread) = (Some(queue), Some(thread));
        Ok(Self { path: path.to_owned(), queue, spare, waiting, thread })
    }

    /// Queues a piece.
    pub fn write(&mut self, bytes: &[u8]) {
        let Some(queue) = &self.queue else { return };
        let mut piece = self.spare.try_recv().unwrap_or_default();
        piece.clear();
        piece.extend_from_slice(bytes);
        let waiting = self.waiting.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        let sent = queue.try_send(piece);
        if matches!(sent, Err(TrySendError::Disconnected(_))) {
            // The disk refused, and the thread has said so.
            self.queue = None;
        } else if waiting > MAX_WAITING_BYTES || sent.is_err() {
            let path = self.path.display();
            log::error!("{path}: the disk does not keep up; the journal ends before its time");
            self.queue = None;
        }
    }
}

impl Drop for JournalFile {
    /// Waits until all is written.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // It has said already what it failed at.
            let _ = thread.join();
        }
    }
}

/// Makes the file, and keeps one that is there under another name.
fn open(path: &Path) -> io::Result<File> {
    if path.is_file() {
        let mut kept = path.as_os_str().to_owned();
        kept.push(".1");
        fs::rename(path, kept)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    open_to_write(path, &mut options)
}

/// The thread: writes pieces until nobody is left to send any.
fn write_all(
    mut file: File,
    pieces: &Receiver<Vec<u8>>,
    back: &SyncSender<Vec<u8>>,
    waiting: &AtomicUsize,
) -> io::Result<()> {
    let mut synced = Instant::now();
    let mut dirty = false;
    loop {
        match pieces.recv_timeout(SYNC_INTERVAL) {
            Ok(piece) => {
                file.write_all(&piece)?;
                dirty = true;
                waiting.fetch_sub(piece.len(), Ordering::Relaxed);
                // One too many is given back to the system.
                let _ = back.try_send(piece);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if dirty && synced.elapsed() >= SYNC_INTERVAL {
            sync(&file)?;
            (synced, dirty) = (Instant::now(), false);
        }
    }
    sync(&file)
}

/// Puts all on the disk, where the file lies on one.
fn sync(file: &File) -> io::Result<()> {
    match file.sync_data() {
        // Pipes and the like.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_written_in_order_and_an_older_file_is_kept() {
        let path = std::env::temp_dir().join(format!("fragd-journal-{}", std::process::id()));
        for round in [b'a', b'b'] {
            let mut file = JournalFile::create(&path).unwrap();
            (0..3000u32).for_each(|number| file.write(&[round, number as u8]));
            drop(file);
            let written = fs::read(&path).unwrap();
            let pairs = written.chunks(2).zip(0..3000u32);
            assert_eq!(written.len(), 6000);
            assert!(pairs.into_iter().all(|(pair, number)| pair == [round, number as u8]));
        }
        let kept = path.with_file_name(format!("fragd-journal-{}.1", std::process::id()));
        assert_eq!(fs::read(&kept).unwrap()[0], b'a');
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(
                &fs::metadata(&path).unwrap().permissions(),
            );
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::remove_file(path).unwrap();
        fs::remove_file(kept).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_ends_the_journal_and_holds_up_nobody() {
        let mut file = JournalFile::create(Path::new("/dev/full")).unwrap();
        file.write(b"x");
        file.thread.take().unwrap().join().unwrap();
        assert!(file.queue.is_some(), "nobody knows yet");
        (0..3).for_each(|_| file.write(b"y"));
        assert!(file.queue.is_none());
    }

    #[test]
    fn a_place_that_is_none_is_named() {
        let error = JournalFile::create(Path::new("/no/such/place")).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/place: the journal cannot be written: "), "{error}");
    }
}

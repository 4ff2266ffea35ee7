//! Stream file of a journal or capture: written by a background writer.
//!
//! Invariants: writing never waits for the disk. When the queue is full or the disk fails, the file ends
//! with a log line and the server continues. A killed process loses unwritten pieces, which is one frame's
//! inputs unless the disk lags. A machine failure loses about `SYNC_INTERVAL` more.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::mpsc,
    time::{Duration, Instant},
};

use thiserror::Error;

use super::{
    background::{BackgroundWriter, Sink, WriterOptions},
    byte_queue::{Bounds, Refused},
    files::open_to_write,
};

/// Bounds of the queue.
const BOUNDS: Bounds = Bounds { messages: 4096, bytes: 32 << 20 };
/// Interval between two syncs to disk.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// Error of a file that cannot be created.
#[derive(Debug, Error)]
#[error("{kind} {path} not writable: {source}")]
pub struct StreamFileError {
    kind: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// Handle to the file's background writer.
#[derive(Debug)]
pub struct StreamFile {
    kind: &'static str,
    path: PathBuf,
    /// `None` once the file has ended.
    writer: Option<BackgroundWriter>,
    /// Buffers of written pieces.
    spare: mpsc::Receiver<Vec<u8>>,
}

impl StreamFile {
    /// Creates a file that only its owner may read, because it contains passwords.
    ///
    /// An existing file is renamed to `NAME.1`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(kind: &'static str, path: &Path) -> Result<Self, StreamFileError> {
        let failed = |source| StreamFileError { kind, path: path.to_owned(), source };
        let file = open(path).map_err(failed)?;
        let (back, spare) = mpsc::sync_channel(BOUNDS.messages);
        // A dropped piece ends the file, with a log line of its own.
        let report = Box::new(|_| {});
        let options = WriterOptions { name: kind, bounds: BOUNDS, report, spare: Some(back) };
        let sink =
            StreamSink { kind, path: path.to_owned(), file, synced: Instant::now(), dirty: false };
        let writer = BackgroundWriter::start(options, sink).map_err(failed)?;
        Ok(Self { kind, path: path.to_owned(), writer: Some(writer), spare })
    }

    /// Queues a piece.
    pub fn write(&mut self, bytes: &[u8]) {
        let Some(writer) = &self.writer else { return };
        let mut piece = self.spare.try_recv().unwrap_or_default();
        piece.clear();
        piece.extend_from_slice(bytes);
        match writer.try_write(piece) {
            Ok(()) => {}
            // The file ended with a disk error, which was logged.
            Err(Refused::Closed) => self.writer = None,
            Err(Refused::Full) => {
                let (kind, path) = (self.kind, self.path.display());
                log::error!("{kind} {path} stopped: disk too slow");
                self.writer = None;
            }
        }
    }
}

impl Drop for StreamFile {
    /// Waits until everything is written.
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.finish(None);
        }
    }
}

/// Creates the file, after renaming an existing one. An existing pipe or device is opened unchanged.
fn open(path: &Path) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {
            let mut kept = path.as_os_str().to_owned();
            kept.push(".1");
            fs::rename(path, kept)?;
            create_new(path)
        }
        Ok(_) => open_to_write(path, OpenOptions::new().write(true)),
        Err(_) => create_new(path),
    }
}

/// Creates the file for this user only.
///
/// A file or link that appeared meanwhile is an error: in a shared folder it may belong to another user,
/// which would expose the passwords in the journal.
fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// File behind the queue.
struct StreamSink {
    kind: &'static str,
    path: PathBuf,
    file: File,
    synced: Instant,
    dirty: bool,
}

impl StreamSink {
    fn log_end(&self, error: &io::Error) {
        log::error!("{} {} stopped: {error}", self.kind, self.path.display());
    }
}

impl Sink for StreamSink {
    const ENDS_ON_ERROR: bool = true;

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece).inspect_err(|error| self.log_end(error))?;
        self.dirty = true;
        Ok(())
    }

    fn sync_at(&self) -> Option<Instant> {
        self.dirty.then(|| self.synced + SYNC_INTERVAL)
    }

    fn sync(&mut self) -> io::Result<()> {
        (self.synced, self.dirty) = (Instant::now(), false);
        match self.file.sync_data() {
            // Pipes and devices cannot be synced.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            result => result.inspect_err(|error| self.log_end(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_file_keeps_order_and_older_file() {
        let path = std::env::temp_dir().join(format!("fragd-journal-{}", std::process::id()));
        for round in [b'a', b'b'] {
            let mut file = StreamFile::create("journal", &path).unwrap();
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
    fn full_disk_ends_the_journal_without_blocking() {
        let mut file = StreamFile::create("journal", Path::new("/dev/full")).unwrap();
        file.write(b"x");
        while !file.writer.as_ref().unwrap().has_ended() {
            std::thread::yield_now();
        }
        (0..3).for_each(|_| file.write(b"y"));
        assert!(file.writer.is_none());
    }

    #[cfg(unix)]
    #[test]
    fn f11_journal_rejects_files_and_links_of_others() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = std::env::temp_dir().join(format!("fragd-shared-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let path = folder.join("journal");
        // File of another user, created between the rename and the creation.
        fs::write(&path, "theirs").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(create_new(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        // An existing file is renamed and not written to.
        let mut journal = StreamFile::create("journal", &path).unwrap();
        journal.write(b"secret");
        drop(journal);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&path).unwrap(), b"secret");
        assert_eq!(fs::read(folder.join("journal.1")).unwrap(), b"theirs");
        // Neither a dangling link nor a link to a file is followed.
        let (target, link) = (folder.join("target"), folder.join("link"));
        symlink(&target, &link).unwrap();
        assert!(StreamFile::create("journal", &link).is_err());
        assert!(!target.exists(), "nothing was created behind the link");
        fs::write(&target, "theirs").unwrap();
        drop(StreamFile::create("journal", &link).unwrap());
        assert_eq!(fs::read(&target).unwrap(), b"theirs");
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn unwritable_path_is_named() {
        let error =
            StreamFile::create("journal", Path::new("/no/such/place")).unwrap_err().to_string();
        assert!(error.starts_with("journal /no/such/place not writable: "), "{error}");
    }
}

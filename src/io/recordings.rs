//! Recording files (demos): written by a thread, rotated by total size and number.
//!
//! A file is `NAME.part` until it is complete. Invariants: handing over a piece never waits; at most `BOUNDS`
//! are queued; a full or slow disk ends recordings with a log line and never the node; no link is followed
//! and no existing file is overwritten; the thread starts with the first recording.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::RecvTimeoutError,
    time::SystemTime,
};

use super::{
    byte_queue::{Bounds, Receiver, Refused},
    lazy_writer::LazyWriter,
};
use crate::node::{RecordingContent, RecordingPiece};

/// Bounds of the queue: several seconds of 64 recordings.
const BOUNDS: Bounds = Bounds { messages: 8192, bytes: 32 << 20 };
/// Recordings of one name, e.g. of one player and map within a second.
const MAX_SAME_NAME: u32 = 1000;
/// Extension of a file that is not complete.
const PART: &str = "part";

/// Folder of recordings and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingFolder {
    /// Path of the folder. It is created with the first recording.
    pub path: PathBuf,
    /// Total size in bytes above which the oldest recordings are deleted.
    pub max_bytes: Option<u64>,
    /// Number of files above which the oldest recordings are deleted.
    pub max_files: Option<usize>,
}

/// Handle to the thread that writes recordings.
#[derive(Debug)]
pub struct Recordings {
    folder: RecordingFolder,
    writer: LazyWriter<RecordingPiece>,
    /// Recordings that lost a piece. Their other pieces are dropped.
    cut: BTreeSet<u64>,
    /// Recordings whose end is still to be queued.
    unended: Vec<u64>,
}

impl Recordings {
    /// Creates a handle. The thread starts with the first recording.
    #[must_use]
    pub fn new(folder: RecordingFolder) -> Self {
        let writer = LazyWriter::new("recordings", BOUNDS);
        Self { folder, writer, cut: BTreeSet::new(), unended: Vec::new() }
    }

    /// Queues a piece. Never waits.
    pub fn add(&mut self, piece: RecordingPiece) {
        let folder = &self.folder;
        let sender = self.writer.sender(|| {
            let mut files = Files::new(folder.clone());
            move |receiver| files.write_all(receiver)
        });
        let Some(sender) = sender else { return };
        let end = |recording| RecordingPiece { recording, content: RecordingContent::End };
        while let Some(&recording) = self.unended.last()
            && sender.try_send(end(recording), 0) != Err(Refused::Full)
        {
            self.unended.pop();
        }
        let recording = piece.recording;
        let is_end = piece.content == RecordingContent::End;
        if self.cut.contains(&recording) {
            if is_end {
                self.cut.remove(&recording);
            }
            return;
        }
        let len = piece.len();
        match sender.try_send(piece, len) {
            Ok(()) => {}
            Err(Refused::Full) => {
                self.unended.push(recording);
                if !is_end {
                    log::error!("recording {recording} stopped: disk too slow");
                    self.cut.insert(recording);
                }
            }
            Err(Refused::Closed) => log::error!("recording {recording} stopped: no writer"),
        }
    }

    /// Waits until everything is written.
    pub fn finish(self) {
        self.writer.finish();
    }
}

/// A file that is written.
#[derive(Debug)]
struct OpenFile {
    file: File,
    /// Path of the complete file.
    path: PathBuf,
    len: u64,
}

/// Files of the thread.
#[derive(Debug)]
struct Files {
    folder: RecordingFolder,
    open: BTreeMap<u64, OpenFile>,
    /// Bytes of complete recordings in the folder, as of the last scan.
    complete_bytes: u64,
}

impl Files {
    fn new(folder: RecordingFolder) -> Self {
        Self { folder, open: BTreeMap::new(), complete_bytes: 0 }
    }

    fn write_all(&mut self, mut receiver: Receiver<RecordingPiece>) {
        loop {
            match receiver.recv(None) {
                Ok(piece) => self.write(piece),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        while let Some((&recording, _)) = self.open.first_key_value() {
            self.complete(recording);
        }
    }

    fn write(&mut self, piece: RecordingPiece) {
        let recording = piece.recording;
        match piece.content {
            RecordingContent::Begin { name, extension } => {
                match self.create(&name, &extension) {
                    Ok(open) => drop(self.open.insert(recording, open)),
                    Err(error) => {
                        let folder = self.folder.path.display();
                        log::error!(
                            "recording {name}.{extension} in {folder} not started: {error}"
                        );
                    }
                }
                self.rotate();
            }
            RecordingContent::Data(bytes) => self.append(recording, &bytes),
            RecordingContent::End => {
                self.complete(recording);
                self.rotate();
            }
        }
    }

    /// Creates a file of a name that no file has yet.
    fn create(&self, name: &str, extension: &str) -> io::Result<OpenFile> {
        fs::create_dir_all(&self.folder.path)?;
        for number in 1..=MAX_SAME_NAME {
            let unique = match number {
                1 => format!("{name}.{extension}"),
                _ => format!("{name}_{number}.{extension}"),
            };
            let path = self.folder.path.join(unique);
            if fs::symlink_metadata(&path).is_ok() {
                continue;
            }
            // An exclusive creation fails for any existing file or link.
            match OpenOptions::new().write(true).create_new(true).open(part_of(&path)) {
                Ok(file) => {
                    log::info!("recording {} started", path.display());
                    return Ok(OpenFile { file, path, len: 0 });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many files of this name"))
    }

    /// Appends whole records. On an error the file ends with the records before.
    fn append(&mut self, recording: u64, bytes: &[u8]) {
        let Some(open) = self.open.get_mut(&recording) else { return };
        if let Err(error) = open.file.write_all(bytes) {
            log::error!("recording {} stopped: {error}", open.path.display());
            let _ = open.file.set_len(open.len);
            self.complete(recording);
            return;
        }
        open.len += bytes.len() as u64;
        let Some(max) = self.folder.max_bytes else { return };
        if self.complete_bytes + self.open_bytes() > max {
            self.rotate();
            if self.open_bytes() > max
                && let Some(open) = self.open.get(&recording)
            {
                log::warn!("recording {} stopped: sv_demoSize reached", open.path.display());
                self.complete(recording);
            }
        }
    }

    fn open_bytes(&self) -> u64 {
        self.open.values().map(|open| open.len).sum()
    }

    /// Gives a file its name, or removes an empty one.
    fn complete(&mut self, recording: u64) {
        let Some(open) = self.open.remove(&recording) else { return };
        self.complete_bytes += open.len;
        if open.len == 0 {
            let _ = fs::remove_file(part_of(&open.path));
            return;
        }
        match fs::rename(part_of(&open.path), &open.path) {
            Ok(()) => {
                log::info!("recording {} finished: {} bytes", open.path.display(), open.len);
            }
            Err(error) => log::error!("recording {} not renamed: {error}", open.path.display()),
        }
    }

    /// Deletes the oldest complete recordings above the limits.
    fn rotate(&mut self) {
        let RecordingFolder { max_bytes, max_files, .. } = self.folder;
        if max_bytes.is_none() && max_files.is_none() {
            return;
        }
        let mut complete = complete_files(&self.folder.path);
        complete.sort();
        let mut bytes: u64 = complete.iter().map(|(_, _, len)| len).sum();
        let mut files = complete.len();
        let open = self.open_bytes();
        for (_, path, len) in complete {
            let is_over = max_bytes.is_some_and(|max| bytes + open > max)
                || max_files.is_some_and(|max| files + self.open.len() > max);
            if !is_over {
                break;
            }
            match fs::remove_file(&path) {
                Ok(()) => log::info!("recording {} deleted: limit of the folder", path.display()),
                Err(error) => log::warn!("recording {} not deleted: {error}", path.display()),
            }
            // A file that cannot be deleted is not counted, so that not all others are deleted for it.
            bytes -= len;
            files -= 1;
        }
        self.complete_bytes = bytes;
    }
}

/// Returns the name of a file that is not complete.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(PART);
    name.into()
}

/// Complete recordings of a folder, with time of the last change and length.
fn complete_files(folder: &Path) -> Vec<(SystemTime, PathBuf, u64)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_recording = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        extension.starts_with("dm_") || extension == "mv"
    };
    entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let data = fs::symlink_metadata(&path).ok()?;
            (data.is_file() && is_recording(&path)).then_some(())?;
            Some((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), path, data.len()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("fragd-demos-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }

        fn folder(&self, max_bytes: Option<u64>, max_files: Option<usize>) -> RecordingFolder {
            RecordingFolder { path: self.0.clone(), max_bytes, max_files }
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
            let mut names: Vec<_> =
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn begin(recording: u64, name: &str) -> RecordingPiece {
        let (name, extension) = (name.to_owned(), "dm_68".to_owned());
        RecordingPiece { recording, content: RecordingContent::Begin { name, extension } }
    }

    fn data(recording: u64, bytes: &[u8]) -> RecordingPiece {
        RecordingPiece { recording, content: RecordingContent::Data(bytes.to_vec()) }
    }

    fn end(recording: u64) -> RecordingPiece {
        RecordingPiece { recording, content: RecordingContent::End }
    }

    #[test]
    fn interleaved_recordings_are_files_of_their_own() {
        let scratch = Scratch::new("files");
        let mut recordings = Recordings::new(scratch.folder(None, None));
        for piece in [begin(1, "a"), begin(2, "a"), data(1, b"one"), data(2, b"two"), data(1, b"!")]
        {
            recordings.add(piece);
        }
        recordings.add(end(1));
        recordings.add(data(7, b"never begun"));
        recordings.finish();
        assert_eq!(scratch.names(), ["a.dm_68", "a_2.dm_68"], "a stop completes what is open");
        assert_eq!(fs::read(scratch.0.join("a.dm_68")).unwrap(), b"one!");
        assert_eq!(fs::read(scratch.0.join("a_2.dm_68")).unwrap(), b"two");
    }

    #[test]
    fn handle_without_recordings_touches_nothing() {
        let scratch = Scratch::new("none");
        let recordings = Recordings::new(scratch.folder(Some(1), Some(1)));
        assert!(recordings.writer.started().is_none());
        recordings.finish();
        assert!(!scratch.0.exists());
    }

    #[test]
    fn oldest_recordings_are_deleted_above_the_limits() {
        let scratch = Scratch::new("rotate");
        for (round, limits) in [(0, (Some(35), None)), (1, (None, Some(3)))] {
            let mut files = Files::new(scratch.folder(limits.0, limits.1));
            fs::create_dir_all(&scratch.0).unwrap();
            fs::write(scratch.0.join("notes.txt"), [0; 100]).unwrap();
            for number in 0..6 {
                files.write(begin(number, &format!("{round}-{number}")));
                files.write(data(number, &[0; 10]));
                files.write(end(number));
                let path = scratch.0.join(format!("{round}-{number}.dm_68"));
                let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 * round + number);
                File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
            }
            let kept = [3, 4, 5].map(|number| format!("{round}-{number}.dm_68"));
            let names = scratch.names();
            assert_eq!(names[..names.len() - 1], kept);
            assert_eq!(names.last().unwrap(), "notes.txt", "other files stay");
        }
    }

    #[test]
    fn one_endless_recording_stops_at_the_limit() {
        let scratch = Scratch::new("endless");
        let mut files = Files::new(scratch.folder(Some(25), None));
        files.write(begin(1, "long"));
        for _ in 0..100 {
            files.write(data(1, &[0; 10]));
        }
        assert_eq!(fs::metadata(scratch.0.join("long.dm_68")).unwrap().len(), 30);
        assert!(files.open.is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn full_disk_ends_one_recording() {
        let scratch = Scratch::new("full");
        let mut files = Files::new(scratch.folder(None, None));
        files.write(begin(1, "full"));
        files.write(begin(2, "good"));
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        files.open.get_mut(&1).unwrap().file = full;
        files.write(data(1, b"x"));
        files.write(data(1, b"y"));
        files.write(data(2, b"z"));
        files.write(end(1));
        files.write(end(2));
        assert_eq!(scratch.names(), ["good.dm_68"], "an empty file is removed");
        assert_eq!(fs::read(scratch.0.join("good.dm_68")).unwrap(), b"z");
    }

    #[test]
    #[cfg(unix)]
    fn hanging_disk_drops_recordings_and_never_waits() {
        let scratch = Scratch::new("hang");
        let mut recordings = Recordings::new(scratch.folder(None, None));
        // A thread that reads nothing until it may end.
        let (gate, closed) = std::sync::mpsc::channel::<()>();
        recordings.writer.sender(|| {
            move |receiver| {
                let _ = closed.recv();
                drop(receiver);
            }
        });
        recordings.add(begin(1, "a"));
        for _ in 0..100 {
            recordings.add(data(1, &vec![0; 1 << 20]));
        }
        assert!(recordings.cut.contains(&1));
        let sender = recordings.writer.started().unwrap();
        assert!(sender.held() <= BOUNDS.bytes, "{} bytes wait", sender.held());
        recordings.add(end(1));
        assert!(recordings.cut.is_empty() && recordings.unended.is_empty());
        drop(gate);
        recordings.finish();
    }

    #[test]
    #[cfg(unix)]
    fn f11_links_are_not_followed() {
        let scratch = Scratch::new("links");
        fs::create_dir_all(&scratch.0).unwrap();
        let target = scratch.0.join("target");
        for name in ["a.dm_68", "b.dm_68.part"] {
            std::os::unix::fs::symlink(&target, scratch.0.join(name)).unwrap();
        }
        let mut files = Files::new(scratch.folder(None, None));
        for (number, name) in [(1, "a"), (2, "b")] {
            files.write(begin(number, name));
            files.write(data(number, b"x"));
            files.write(end(number));
        }
        assert!(!target.exists(), "nothing was created behind a link");
        assert!(scratch.names().contains(&"a_2.dm_68".to_owned()));
        assert!(scratch.names().contains(&"b_2.dm_68".to_owned()));
    }
}

//! Game log (`games.log`) and audit log (`audit.jsonl`): written by a background writer, with rotation.
//!
//! Lines of the game log are written at once with `g_logSync`, otherwise within a second.
//! Invariants: at most `BOUNDS` are queued; later pieces are dropped, counted and reported; an unwritable
//! file costs one warning until it is writable again; queued lines are written before the log is dropped,
//! unless the disk hangs.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    background::{BackgroundWriter, Sink, WriterOptions},
    byte_queue::Bounds,
    files::open_to_write,
    state_folder,
};

/// Bounds of the queue.
const BOUNDS: Bounds = Bounds { messages: 4096, bytes: 16 << 20 };
/// Time that lines are gathered before a write.
const GATHER: Duration = Duration::from_secs(1);
/// Maximum wait for the disk on exit.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// Kind of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Log of matches for statistics: five old files are kept, as `games.log.1` to `games.log.5`.
    Game,
    /// Log of administration in the state folder: one old file is kept, as `audit.1.jsonl`. It is for its owner only.
    Audit,
}

impl LogKind {
    /// Name in messages.
    const fn name(self) -> &'static str {
        match self {
            Self::Game => "game log",
            Self::Audit => "audit log",
        }
    }

    /// Number of rotated files kept.
    const fn kept_files(self) -> u32 {
        match self {
            Self::Game => 5,
            Self::Audit => 1,
        }
    }

    /// Path of a rotated file.
    fn numbered(self, path: &Path, number: u32) -> PathBuf {
        match (self, path.extension()) {
            (Self::Audit, Some(end)) => {
                path.with_extension(format!("{number}.{}", end.to_string_lossy()))
            }
            _ => {
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{number}"));
                name.into()
            }
        }
    }
}

/// Path, durability and rotation of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Kind of the log.
    pub kind: LogKind,
    /// Path of the file. Lines are appended.
    pub path: PathBuf,
    /// Whether a write is synced to disk, and those of the game log are made at once.
    pub sync: bool,
    /// Size in bytes at which the file is renamed, and older files with it.
    pub max_bytes: Option<u64>,
}

/// Handle to the background writer of a log.
#[derive(Debug)]
pub struct GameLog {
    name: &'static str,
    writer: BackgroundWriter,
}

impl GameLog {
    /// Starts the writer. The file is opened with the first lines.
    pub fn start(file: LogFile) -> io::Result<Self> {
        let name = file.kind.name();
        let report = Box::new(move |total| {
            log::warn!("{name}: {total} writes lost in all: disk too slow");
        });
        let options = WriterOptions { name, bounds: BOUNDS, report, spare: None };
        Ok(Self { name, writer: BackgroundWriter::start(options, GameLogSink::new(file))? })
    }

    /// Queues whole lines. Never waits.
    pub fn add(&mut self, lines: String) {
        // A refused piece is counted and reported.
        let _ = self.writer.try_write(lines.into_bytes());
    }

    /// Returns how many pieces were dropped because the disk was too slow.
    pub(super) fn dropped(&self) -> u64 {
        self.writer.dropped()
    }

    /// Returns a function that makes the writer reopen its file, e.g. after an external rotation.
    pub fn reopener(&self) -> impl FnMut() + use<> {
        let writer = self.writer.clone();
        move || writer.reopen()
    }

    /// Waits until everything is written. All reopeners must be gone.
    pub fn finish(self) {
        if !self.writer.finish(Some(LAST_WRITE)) {
            log::warn!("{}: last writes lost: disk not responding", self.name);
        }
    }
}

/// File of the game log, with its buffered lines.
struct GameLogSink {
    to: LogFile,
    open: Option<File>,
    /// Bytes in the open file.
    len: u64,
    waiting: Vec<u8>,
    /// Whether the last attempt failed, so that it is logged once.
    failed: bool,
}

impl GameLogSink {
    fn new(to: LogFile) -> Self {
        Self { to, open: None, len: 0, waiting: Vec::new(), failed: false }
    }

    /// Whether lines are gathered before a write. Those of the audit log share one sync, so that a flood of acts hides none.
    fn gathers(&self) -> bool {
        self.to.kind == LogKind::Audit || !self.to.sync
    }

    /// Writes the buffered lines, or drops them on an error.
    fn write_waiting(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let result = self.try_write();
        self.waiting.clear();
        match result {
            Ok(()) if self.failed => {
                self.failed = false;
                log::info!("{} {} writable again", self.to.kind.name(), self.to.path.display());
            }
            Ok(()) => {}
            Err(error) => {
                self.open = None;
                if !self.failed {
                    self.failed = true;
                    let hint = match self.to.kind {
                        LogKind::Game => " (set g_log \"\" to disable)",
                        LogKind::Audit => "",
                    };
                    log::warn!(
                        "{} {} not writable: {error}; continuing without it{hint}",
                        self.to.kind.name(),
                        self.to.path.display()
                    );
                }
            }
        }
    }

    fn try_write(&mut self) -> io::Result<()> {
        let full = |len| self.to.max_bytes.is_some_and(|max| len > 0 && len >= max);
        if self.open.is_some() && full(self.len) {
            self.open = None;
        }
        if self.open.is_none() {
            if fs::metadata(&self.to.path).is_ok_and(|data| data.is_file() && full(data.len())) {
                put_aside(&self.to)?;
            }
            let file = open(&self.to)?;
            self.len = file.metadata()?.len();
            self.open = Some(file);
        }
        let Some(file) = &mut self.open else { return Ok(()) };
        file.write_all(&self.waiting)?;
        self.len += self.waiting.len() as u64;
        if self.to.sync {
            file.sync_data()?;
        }
        Ok(())
    }
}

impl Sink for GameLogSink {
    // An unwritable file drops lines until it is writable again.
    const ENDS_ON_ERROR: bool = false;

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.waiting.extend_from_slice(piece);
        if !self.gathers() {
            self.write_waiting();
        }
        Ok(())
    }

    fn gather(&self) -> Option<Duration> {
        self.gathers().then_some(GATHER)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.write_waiting();
        Ok(())
    }

    fn reopen(&mut self) {
        self.write_waiting();
        self.open = None;
    }
}

/// Opens the file of a log at its end, or creates it.
fn open(to: &LogFile) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    if to.kind == LogKind::Audit {
        if fs::symlink_metadata(&to.path).is_ok_and(|data| !data.is_file()) {
            return Err(io::Error::other("is not a regular file"));
        }
        options.read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // The state folder is created with its first file.
        to.path.parent().map_or(Ok(()), state_folder::create).map_err(io::Error::other)?;
    }
    let mut file = open_to_write(&to.path, &mut options)?;
    if to.kind == LogKind::Audit {
        end_line(&mut file)?;
    }
    Ok(file)
}

/// Ends a last line that a full disk or a loss of power has cut.
fn end_line(file: &mut File) -> io::Result<()> {
    if file.metadata()?.len() == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

/// Rotates the files: each number grows by one, the oldest file is removed.
fn put_aside(to: &LogFile) -> io::Result<()> {
    let numbered = |number| to.kind.numbered(&to.path, number);
    for number in (1..to.kind.kept_files()).rev() {
        match fs::rename(numbered(number), numbered(number + 1)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(&to.path, numbered(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, process, time::Instant};

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("fragd-log-{}-{name}", process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, max_bytes: Option<u64>, sync: bool) -> LogFile {
            LogFile { kind: LogKind::Game, path: self.0.join("games.log"), sync, max_bytes }
        }

        fn read(&self, name: &str) -> Option<String> {
            fs::read_to_string(self.0.join(name)).ok()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// A named pipe without a reader acts as a disk that hangs.
    #[test]
    #[cfg(unix)]
    fn queued_bytes_are_bounded_while_the_disk_hangs() {
        let scratch = Scratch::new("hang");
        let to = scratch.file(None, true);
        let made = process::Command::new("mkfifo").arg(&to.path).status().unwrap();
        assert!(made.success());
        let mut log = GameLog::start(to).unwrap();
        let piece = "x".repeat(1 << 20);
        (0..100).for_each(|_| log.add(piece.clone()));
        let held = log.writer.held();
        assert!(held <= BOUNDS.bytes, "{held} bytes wait");
        assert_eq!(log.dropped(), 100 - (BOUNDS.bytes >> 20) as u64);
    }

    #[test]
    fn lines_are_appended_in_order() {
        let scratch = Scratch::new("append");
        for (round, sync) in [(0, false), (1, true)] {
            let mut log = GameLog::start(scratch.file(None, sync)).unwrap();
            for line in 0..100 {
                log.add(format!("{round} {line}\n"));
            }
            log.finish();
        }
        let expected: String = (0..2)
            .flat_map(|round| (0..100).map(move |line| format!("{round} {line}\n")))
            .collect();
        assert_eq!(scratch.read("games.log"), Some(expected));
    }

    #[test]
    fn full_game_log_rotates_and_keeps_five() {
        let scratch = Scratch::new("rotate");
        let mut writer = GameLogSink::new(scratch.file(Some(10), true));
        for number in 0..8 {
            writer.waiting.extend_from_slice(format!("line {number} of many\n").as_bytes());
            writer.write_waiting();
        }
        assert_eq!(scratch.read("games.log").as_deref(), Some("line 7 of many\n"));
        assert_eq!(scratch.read("games.log.1").as_deref(), Some("line 6 of many\n"));
        assert_eq!(scratch.read("games.log.5").as_deref(), Some("line 2 of many\n"));
        assert_eq!(scratch.read("games.log.6"), None);
        assert!(!writer.failed);
    }

    #[test]
    fn audit_log_ends_a_line_that_was_cut() {
        let scratch = Scratch::new("cut");
        let path = scratch.0.join("audit.jsonl");
        fs::write(&path, "{\"act\":\"to").unwrap();
        let to = LogFile { kind: LogKind::Audit, path: path.clone(), sync: true, max_bytes: None };
        let mut log = GameLog::start(to.clone()).unwrap();
        log.add("{}\n".to_owned());
        log.finish();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"act\":\"to\n{}\n");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let mut writer = GameLogSink::new(to);
        writer.waiting.extend_from_slice(b"{}\n");
        writer.write_waiting();
        assert!(writer.failed, "not a regular file");
    }

    #[test]
    fn audit_log_creates_its_folder_and_keeps_one() {
        let scratch = Scratch::new("audit");
        let path = scratch.0.join("state/audit.jsonl");
        let to =
            LogFile { kind: LogKind::Audit, path: path.clone(), sync: true, max_bytes: Some(10) };
        let mut writer = GameLogSink::new(to);
        for number in 0..4 {
            writer.waiting.extend_from_slice(format!("line {number} of many\n").as_bytes());
            writer.write_waiting();
        }
        assert_eq!(scratch.read("state/audit.jsonl").as_deref(), Some("line 3 of many\n"));
        assert_eq!(scratch.read("state/audit.1.jsonl").as_deref(), Some("line 2 of many\n"));
        assert_eq!(fs::read_dir(scratch.0.join("state")).unwrap().count(), 2);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn existing_game_log_counts_towards_the_size() {
        let scratch = Scratch::new("before");
        fs::write(scratch.0.join("games.log"), "old and long enough\n").unwrap();
        let mut writer = GameLogSink::new(scratch.file(Some(10), false));
        writer.waiting.extend_from_slice(b"new\n");
        writer.write_waiting();
        assert_eq!(scratch.read("games.log").as_deref(), Some("new\n"));
        assert_eq!(scratch.read("games.log.1").as_deref(), Some("old and long enough\n"));
    }

    #[test]
    fn unwritable_game_log_drops_lines_until_writable() {
        let scratch = Scratch::new("missing");
        let folder = scratch.0.join("later");
        let to = LogFile { path: folder.join("games.log"), ..scratch.file(None, false) };
        let mut writer = GameLogSink::new(to);
        for _ in 0..3 {
            writer.waiting.extend_from_slice(b"lost\n");
            writer.write_waiting();
            assert!(writer.failed && writer.waiting.is_empty());
        }
        fs::create_dir(&folder).unwrap();
        writer.waiting.extend_from_slice(b"kept\n");
        writer.write_waiting();
        assert!(!writer.failed);
        assert_eq!(scratch.read("later/games.log").as_deref(), Some("kept\n"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn full_disk_is_a_warning() {
        let path = "/dev/full".into();
        let to = LogFile { kind: LogKind::Game, path, sync: false, max_bytes: Some(1) };
        let mut writer = GameLogSink::new(to);
        writer.waiting.extend_from_slice(b"x\n");
        writer.write_waiting();
        assert!(writer.failed);
    }

    #[test]
    fn moved_game_log_is_reopened_on_request() {
        let scratch = Scratch::new("reopen");
        let mut log = GameLog::start(scratch.file(None, true)).unwrap();
        let mut reopen = log.reopener();
        log.add("first\n".to_owned());
        let end = Instant::now() + Duration::from_secs(20);
        while scratch.read("games.log").as_deref() != Some("first\n") {
            assert!(Instant::now() < end, "the first line was never written");
            std::thread::yield_now();
        }
        fs::rename(scratch.0.join("games.log"), scratch.0.join("moved")).unwrap();
        reopen();
        log.add("second\n".to_owned());
        drop(reopen);
        log.finish();
        assert_eq!(scratch.read("moved").as_deref(), Some("first\n"));
        assert_eq!(scratch.read("games.log").as_deref(), Some("second\n"));
    }
}

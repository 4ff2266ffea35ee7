//! Folder of the files of a game: read at the start, written by a thread.
//!
//! Invariants: nothing outside the folder is read or written, since links are not followed and names are checked;
//! handing over a write never waits; an unwritable file costs one warning until it is writable again.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use super::{
    byte_queue::{Bounds, Receiver},
    lazy_writer::LazyWriter,
};
use crate::model::{FileWrite, assets::GamePath};

/// Bounds of the queue. A write that does not fit stays with the node, which coalesces it.
const BOUNDS: Bounds = Bounds { messages: 64, bytes: 512 << 20 };
/// Bytes in the queue above which the node keeps its writes.
const FULL: usize = 4 << 20;
/// Most folders inside each other that are read.
const MAX_DEPTH: usize = 8;

/// Reads the files of a folder in alphabetical order, up to the limits.
#[must_use]
pub fn read_game_folder(
    root: &Path,
    max_bytes: usize,
    max_files: usize,
) -> Vec<(GamePath, Vec<u8>)> {
    let mut found = Vec::new();
    collect(root, "", 0, &mut found);
    found.sort();
    let (mut files, mut used) = (Vec::new(), 0);
    for (path, place) in found {
        let room = max_bytes - used;
        let mut bytes = Vec::new();
        let read = open_plain(&place, OpenOptions::new().read(true))
            .and_then(|file| file.take(room as u64 + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) if files.len() < max_files && bytes.len() <= room => {
                used += bytes.len();
                files.push((path, bytes));
            }
            Ok(_) => log::warn!("game file {} not read: limit of the folder", place.display()),
            Err(error) => log::warn!("game file {} not read: {error}", place.display()),
        }
    }
    files
}

fn collect(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<(GamePath, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        // The type of an entry is that of a link itself.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < MAX_DEPTH {
            collect(&entry.path(), &name, depth + 1, found);
        } else if kind.is_file()
            && let Some(path) = GamePath::new(name.as_bytes()).filter(GamePath::is_writable)
        {
            found.push((path, entry.path()));
        }
    }
}

/// Handle to the thread that writes files of a game.
#[derive(Debug)]
pub struct GameFolder {
    root: PathBuf,
    writer: LazyWriter<FileWrite>,
}

impl GameFolder {
    /// Creates a handle. The folder and the thread start with the first write.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root, writer: LazyWriter::new("game files", BOUNDS) }
    }

    /// Whether another write may be queued.
    pub(super) fn has_room(&self) -> bool {
        self.writer.started().is_none_or(|sender| sender.held() < FULL)
    }

    /// Queues a write. Never waits.
    pub(super) fn add(&mut self, write: FileWrite) {
        let root = &self.root;
        let sender = self.writer.sender(|| {
            let root = root.clone();
            move |receiver| write_all(&root, receiver)
        });
        let Some(sender) = sender else { return };
        // Every write counts, also a truncation.
        let len = write.bytes.len() + FULL / BOUNDS.messages;
        let path = write.path.clone();
        if sender.try_send(write, len).is_err() {
            log::error!("game file {path} not written: no writer");
        }
    }

    /// Waits until everything is written.
    pub fn finish(self) {
        self.writer.finish();
    }
}

fn write_all(root: &Path, mut receiver: Receiver<FileWrite>) {
    let mut failed = BTreeSet::new();
    while let Ok(write) = receiver.recv(None) {
        let place = || root.join(write.path.as_str()).display().to_string();
        match write_file(root, &write) {
            Ok(()) => {
                if failed.remove(&write.path) {
                    log::info!("game file {} writable again", place());
                }
            }
            Err(error) => {
                if failed.insert(write.path.clone()) {
                    log::warn!("game file {} not written: {error}", place());
                }
            }
        }
    }
}

fn write_file(root: &Path, write: &FileWrite) -> io::Result<()> {
    if !write.path.is_writable() {
        return Err(io::Error::other("invalid name"));
    }
    fs::create_dir_all(root)?;
    let mut place = root.to_owned();
    let mut parts = write.path.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        if parts.peek().is_some() {
            make_folder(&place)?;
        }
    }
    let mut file = open_plain(&place, OpenOptions::new().write(true).create(true))?;
    file.set_len(write.offset)?;
    file.seek(SeekFrom::Start(write.offset))?;
    file.write_all(&write.bytes)?;
    if write.sync { file.sync_data() } else { Ok(()) }
}

/// Makes a folder, unless it exists. A link is an error.
fn make_folder(place: &Path) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Ok(data) if data.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other(format!("{} is not a folder", place.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(place),
        Err(error) => Err(error),
    }
}

/// Opens a regular file. A link is an error.
fn open_plain(place: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let irregular = || io::Error::other("not a regular file");
    if fs::symlink_metadata(place).is_ok_and(|data| !data.is_file()) {
        return Err(irregular());
    }
    #[cfg(unix)]
    {
        use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
        // A link or a pipe may have replaced the file since the check.
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, O_NOFOLLOW | O_NONBLOCK);
    }
    let file = options.open(place)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("fragd-own-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn write(name: &str, offset: u64, bytes: &[u8]) -> FileWrite {
        let path = GamePath::new(name.as_bytes()).unwrap();
        FileWrite { path, offset, bytes: bytes.to_vec(), sync: offset == 0 }
    }

    #[test]
    fn written_files_are_read_at_the_next_start() {
        let scratch = Scratch::new("round");
        let root = scratch.0.join("mod");
        let mut folder = GameFolder::new(root.clone());
        for piece in
            [write("stats/a.txt", 0, b"one"), write("stats/a.txt", 2, b"!!"), write("b", 0, b"")]
        {
            assert!(folder.has_room());
            folder.add(piece);
        }
        folder.finish();
        fs::write(root.join("x.pk3"), b"not a name of a game file").unwrap();
        let names = |files: Vec<(GamePath, Vec<u8>)>| -> Vec<_> {
            files.into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect()
        };
        let b = ("b".to_owned(), Vec::new());
        let a = ("stats/a.txt".to_owned(), b"on!!".to_vec());
        assert_eq!(names(read_game_folder(&root, 100, 10)), [b.clone(), a]);
        assert_eq!(names(read_game_folder(&root, 3, 10)), std::slice::from_ref(&b));
        assert_eq!(names(read_game_folder(&root, 100, 1)), [b]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;

        let scratch = Scratch::new("links");
        let (root, outside) = (scratch.0.join("mod"), scratch.0.join("outside"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("secret"), b"secret").unwrap();
        symlink(&outside, root.join("folder")).unwrap();
        symlink(outside.join("secret"), root.join("file")).unwrap();
        symlink(outside.join("new"), root.join("dangling")).unwrap();
        for name in ["folder/secret", "folder/new", "file", "dangling"] {
            assert!(write_file(&root, &write(name, 0, b"x")).is_err(), "{name}");
        }
        assert_eq!(fs::read(outside.join("secret")).unwrap(), b"secret");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert!(read_game_folder(&root, 100, 10).is_empty());
    }
}

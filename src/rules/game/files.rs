//! Files of a game: game data to read, and files of its own in memory.
//!
//! Changes of own files are handed to the driver, which writes them below a folder of the game.
//! Invariants: own files stay within a limit of bytes and files; no own file is visible to the server, so a game
//! cannot replace maps or modules; only names that [`GamePath::is_writable`] accepts are written.
//! Source: file services of the game interface, version 8. Engine names: `FS_FOpenFileByMode`, `FS_GetFileList`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    rc::Rc,
    sync::Arc,
};

use crate::model::{
    FileWrite,
    assets::{Assets, GamePath, MemoryAssets},
    text,
};

/// Maximum size of game data that a game reads, in bytes.
pub const MAX_READ_LEN: u64 = 4 << 20;

/// Longest part of a name in a log line, in bytes.
const MAX_SHOWN_LEN: usize = 128;

/// Limits of the own files of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// Bytes of all files.
    pub bytes: usize,
    /// Number of files.
    pub files: usize,
}

/// Function that replaces the secrets of a console script.
pub type ScriptMask = fn(&[u8]) -> Vec<u8>;
/// Parts of the names of console scripts, config files, and copies that editors leave of them.
const SCRIPT_NAMES: [&str; 8] = [".cfg", ".toml", ".txt", ".conf", ".bak", ".old", ".orig", "~"];

/// Files of a game.
pub struct GameFiles {
    assets: Rc<dyn Assets>,
    limits: FileLimits,
    /// Own files, once they were read from `assets`.
    own: Option<BTreeMap<GamePath, Vec<u8>>>,
    /// Bytes of the own files.
    used: usize,
    /// Files with changes that the driver has not taken.
    changed: BTreeMap<GamePath, Changes>,
    /// Replacement of secrets in console scripts, which the game may read.
    mask: Option<ScriptMask>,
    /// First refusal that was not taken, and the number of later ones.
    refusal: Option<(String, u64)>,
}

/// Changes of a file since the driver took them.
#[derive(Clone, Copy, Debug)]
struct Changes {
    /// Offset of the first changed byte.
    from: usize,
    sync: bool,
}

impl Default for GameFiles {
    fn default() -> Self {
        Self::new(Rc::new(MemoryAssets::default()), FileLimits { bytes: 0, files: 0 })
    }
}

impl fmt::Debug for GameFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameFiles")
            .field("limits", &self.limits)
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}

impl GameFiles {
    /// Files that read `assets`. Own files of earlier runs come from there, too.
    #[must_use]
    pub fn new(assets: Rc<dyn Assets>, limits: FileLimits) -> Self {
        let changed = BTreeMap::new();
        Self { assets, limits, own: None, used: 0, changed, mask: None, refusal: None }
    }

    /// Sets or removes the mask of console scripts of the game data.
    pub fn set_mask(&mut self, mask: Option<ScriptMask>) {
        self.mask = mask;
    }

    fn own(&mut self) -> &mut BTreeMap<GamePath, Vec<u8>> {
        let Self { assets, limits, own, used, .. } = self;
        own.get_or_insert_with(|| {
            let mut files = BTreeMap::new();
            for (path, bytes) in assets.own_files() {
                if files.len() < limits.files && *used + bytes.len() <= limits.bytes {
                    *used += bytes.len();
                    files.insert(path, bytes);
                }
            }
            files
        })
    }

    /// Returns the content of a file: an own one, or game data of at most [`MAX_READ_LEN`] bytes.
    pub fn read(&mut self, path: &GamePath) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.own().get(path) {
            return Some(bytes.as_slice().into());
        }
        let bytes = self.assets.read(path.as_str(), MAX_READ_LEN).ok()?;
        let name = path.as_str();
        let is_script = SCRIPT_NAMES.iter().any(|part| name.contains(part));
        let mask = self.mask.filter(|_| is_script);
        Some(mask.map_or(bytes.as_slice().into(), |mask| mask(&bytes).into()))
    }

    /// Returns the names of the files directly in a folder that end in `.extension`, in ascending order.
    pub fn list(&mut self, folder: &GamePath, extension: &str) -> Vec<String> {
        let extension = extension.to_ascii_lowercase();
        let own = self.own().keys().filter(|path| path.is_in(folder, &extension)).cloned();
        let mut paths: BTreeSet<GamePath> = own.collect();
        paths.extend(self.assets.list(folder.as_str(), &extension));
        let name = |path: &GamePath| Some(path.as_str().rsplit('/').next()?.to_owned());
        paths.iter().filter_map(name).collect()
    }

    /// Opens an own file for writing: creates it, and truncates it unless `keep`. Returns its length, or `None` if
    /// the name or a limit forbids it.
    pub fn open(&mut self, path: &GamePath, keep: bool) -> Option<usize> {
        let (count, max) = (self.own().len(), self.limits.files);
        if let Some(bytes) = self.own().get_mut(path) {
            let len = bytes.len();
            if keep {
                return Some(len);
            }
            bytes.clear();
            self.used -= len;
            self.note_change(path, 0, false);
            return Some(0);
        }
        if !path.is_writable() || self.conflicts(path) {
            self.refuse_name(path.as_str());
            return None;
        }
        if count >= max {
            self.refuse(path.as_str(), format_args!("limit of {max} files reached"));
            return None;
        }
        self.own().insert(path.clone(), Vec::new());
        self.note_change(path, 0, false);
        Some(0)
    }

    /// Whether a file of this name and a folder of another file would have one name.
    fn conflicts(&mut self, path: &GamePath) -> bool {
        let is_below = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
        };
        let wanted = path.as_str();
        self.own()
            .keys()
            .map(GamePath::as_str)
            .any(|known| is_below(known, wanted) || is_below(wanted, known))
    }

    /// Length of an open own file, in bytes.
    pub fn len(&mut self, path: &GamePath) -> usize {
        self.own().get(path).map_or(0, Vec::len)
    }

    /// Writes bytes at an offset of an open own file; a gap is filled with zeros. Returns false if the limit of
    /// bytes forbids it, and nothing has changed.
    pub fn write(&mut self, path: &GamePath, offset: usize, bytes: &[u8], sync: bool) -> bool {
        let (used, max) = (self.used, self.limits.bytes);
        let Some(file) = self.own().get_mut(path) else { return false };
        let len = file.len();
        let Some(end) = offset.checked_add(bytes.len()) else { return false };
        let grown = end.saturating_sub(len);
        if used.saturating_add(grown) > max {
            self.refuse(path.as_str(), format_args!("limit of {max} bytes reached"));
            return false;
        }
        if bytes.is_empty() {
            return true;
        }
        if grown > 0 {
            file.resize(end, 0);
        }
        file[offset..end].copy_from_slice(bytes);
        self.used = used + grown;
        self.note_change(path, offset.min(len), sync);
        true
    }

    fn note_change(&mut self, path: &GamePath, from: usize, sync: bool) {
        let changes = self.changed.entry(path.clone()).or_insert(Changes { from, sync });
        changes.from = changes.from.min(from);
        changes.sync |= sync;
    }

    fn refuse(&mut self, name: &str, reason: fmt::Arguments<'_>) {
        match &mut self.refusal {
            Some((_, others)) => *others += 1,
            refusal => {
                let name = text::escaped(text::truncated(name, MAX_SHOWN_LEN).as_bytes());
                *refusal = Some((format!("game file {name} not written: {reason}"), 0));
            }
        }
    }

    /// Notes that a file was not opened for writing because of its name.
    pub fn refuse_name(&mut self, name: &str) {
        self.refuse(name, format_args!("invalid name"));
    }

    /// Takes a description of the refusals since the last call, for the log.
    pub fn take_refusal(&mut self) -> Option<String> {
        let (text, others) = self.refusal.take()?;
        Some(if others > 0 { format!("{text} (+{others} more)") } else { text })
    }

    /// Takes the changes of one file. Later changes are coalesced until then.
    pub fn poll_write(&mut self) -> Option<FileWrite> {
        let (path, Changes { from, sync }) = self.changed.pop_first()?;
        let bytes = self.own().get(&path)?.get(from..)?.to_vec();
        Some(FileWrite { path, offset: from as u64, bytes, sync })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> GamePath {
        GamePath::new(name.as_bytes()).expect("a path")
    }

    fn files(bytes: usize, count: usize) -> GameFiles {
        let mut assets = MemoryAssets::default();
        assets.insert("scripts/a.arena", b"data".to_vec()).expect("a path");
        assets.insert("scripts/b.arena", b"more".to_vec()).expect("a path");
        GameFiles::new(Rc::new(assets), FileLimits { bytes, files: count })
    }

    #[test]
    fn own_files_hide_game_data_of_game_only() {
        let mut files = files(100, 10);
        let name = path("scripts/a.arena");
        assert_eq!(files.read(&name).as_deref(), Some(&b"data"[..]));
        assert_eq!(files.open(&name, false), Some(0));
        assert!(files.write(&name, 0, b"own", false));
        assert_eq!(files.read(&name).as_deref(), Some(&b"own"[..]));
        assert_eq!(files.open(&path("scripts/c.arena"), false), Some(0));
        assert_eq!(files.list(&path("scripts"), "ARENA"), ["a.arena", "b.arena", "c.arena"]);
        assert_eq!(files.assets.read("scripts/a.arena", 99), Ok(b"data".to_vec()));
    }

    #[test]
    fn limits_refuse_bytes_and_files() {
        let mut files = files(10, 2);
        let (a, b) = (path("a"), path("b"));
        assert_eq!(files.open(&a, true), Some(0));
        assert_eq!(files.open(&b, true), Some(0));
        assert_eq!(files.open(&path("c"), true), None);
        assert!(files.write(&a, 0, b"12345678", false));
        assert!(!files.write(&b, 0, b"123", false) && files.write(&b, 0, b"12", false));
        assert!(
            !files.write(&a, usize::MAX, b"1", false) && !files.write(&a, 1 << 30, b"1", false)
        );
        assert!(files.write(&a, 3, b"xyz", false), "a change in place needs no room");
        assert_eq!(files.open(&a, false), Some(0));
        assert!(files.write(&b, 4, b"12", false), "truncation frees bytes");
        assert_eq!(files.read(&b).as_deref(), Some(&b"12\0\x0012"[..]));
        let refusal = "game file c not written: limit of 2 files reached (+2 more)";
        assert_eq!(files.take_refusal().as_deref(), Some(refusal));
        for taken in ["a/b", "b/c/d"] {
            assert_eq!(files.open(&path(taken), true), None, "{taken}");
        }
        let refusal = "game file a/b not written: invalid name (+1 more)";
        assert_eq!(files.take_refusal().as_deref(), Some(refusal));
        assert_eq!(files.take_refusal(), None);
    }

    #[test]
    fn changes_are_coalesced_until_taken() {
        let mut files = files(100, 4);
        let a = path("log");
        files.open(&a, true);
        assert!(files.write(&a, 0, b"one ", false) && files.write(&a, 4, b"two ", true));
        let write = files.poll_write().expect("a write");
        assert_eq!((write.offset, &write.bytes[..], write.sync), (0, &b"one two "[..], true));
        assert_eq!(files.poll_write(), None);
        assert!(files.write(&a, 8, b"three", false));
        let write = files.poll_write().expect("a write");
        assert_eq!((write.offset, &write.bytes[..], write.sync), (8, &b"three"[..], false));
        assert!(!files.write(&path("not open"), 0, b"x", false));
    }
}

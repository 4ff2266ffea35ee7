//! Loose game files below a folder, found case-insensitively on case-sensitive file systems.
//!
//! Invariants: only regular files are read, so a pipe cannot block the server; a folder of more than
//! [`MAX_ENTRIES`] entries is searched up to that number.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use crate::{
    io::files::open_regular,
    model::assets::{AssetError, GamePath},
};

/// Maximum entries searched per folder.
pub(super) const MAX_ENTRIES: usize = 65_536;

/// A folder with loose files of a game.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Creates a folder at `root`, which need not exist.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Returns the path and length of a file, if it exists.
    #[must_use]
    pub fn locate(&self, path: &GamePath) -> Option<(PathBuf, u64)> {
        let found = self.resolve(path)?;
        let metadata = fs::metadata(&found).ok()?;
        metadata.is_file().then_some((found, metadata.len()))
    }

    /// Reads a whole file of at most `max` bytes. `None` if it does not exist.
    pub fn read(&self, path: &GamePath, max: u64) -> Option<Result<Vec<u8>, AssetError>> {
        let (found, len) = self.locate(path)?;
        let place = || self.root.display().to_string();
        let too_long = |len| AssetError::TooLong { path: path.clone(), place: place(), len, max };
        if len > max {
            return Some(Err(too_long(len)));
        }
        let mut bytes = Vec::new();
        // The file may have grown since its length was read.
        let read = open_regular(&found).and_then(|file| file.take(max + 1).read_to_end(&mut bytes));
        Some(match read {
            Err(error) => Err(AssetError::Unreadable {
                path: path.clone(),
                place: place(),
                why: error.to_string(),
            }),
            Ok(_) if bytes.len() as u64 > max => Err(too_long(bytes.len() as u64)),
            Ok(_) => Ok(bytes),
        })
    }

    /// Returns the files with an extension directly in one of its folders, or in the folder itself.
    #[must_use]
    pub fn list(&self, folder: Option<&GamePath>, extension: &str) -> Vec<GamePath> {
        let inner = match folder {
            Some(folder) => self.resolve(folder),
            None => Some(self.root.clone()),
        };
        let Some(inner) = inner else { return Vec::new() };
        let named = |name: String| match folder {
            Some(folder) => GamePath::new(format!("{folder}/{name}").as_bytes()),
            None => GamePath::new(name.as_bytes()),
        };
        entries(&inner)
            .filter(|(_, path)| path.is_file())
            .filter_map(|(name, _)| named(name))
            .filter(|path| path.is_directly_in(folder, extension))
            .collect()
    }

    /// Returns the path on disk: each part as written, or the first entry that differs in case only.
    fn resolve(&self, path: &GamePath) -> Option<PathBuf> {
        let mut found = self.root.clone();
        for part in path.as_str().split('/') {
            let exact = found.join(part);
            found = if exact.exists() {
                exact
            } else {
                entries(&found).find(|(name, _)| name.eq_ignore_ascii_case(part))?.1
            };
        }
        Some(found)
    }
}

/// Returns names and paths of the entries of a folder.
pub(super) fn entries(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(MAX_ENTRIES);
    entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
}

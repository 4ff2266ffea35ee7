//! Game data: archives and folders in the engine's search order.
//!
//! A mod's folder is searched before the game's own, an earlier base path before a later one, and loose files
//! before archives, the alphabetically last archive first. The first match wins.
//!
//! Source: the search order of ioquake3; names are compared case-insensitively.

mod builtin;
mod folder;
mod offered;
mod pack;
mod pack_source;
mod search_paths;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    ops::Range,
    path::{Path, PathBuf},
    thread,
};

pub use folder::Folder;
pub use offered::{OfferedPack, OfferedPacks};
pub use pack::{MAX_ENTRY_LEN, Pack, PackError, PackFault};
pub use pack_source::{PackReader, PackSource};
pub use search_paths::base_paths;

use super::game_folder::read_game_folder;
use crate::model::{
    assets::{AssetError, AssetLocation, Assets, GamePath, PackInfo, ScriptPlace},
    map_parallel,
};

/// Maximum archives per folder.
const MAX_PACKS: usize = 1024;
/// Maximum threads that open the archives of a folder.
const MAX_THREADS: usize = 8;

/// Data of a game and an optional mod.
#[derive(Debug, Default)]
pub struct GameData {
    /// Sources in search order.
    sources: Vec<Source>,
    /// Number of sources of the mod, which are the first ones.
    mod_sources: usize,
    packs: Vec<PackInfo>,
    folders: Vec<PathBuf>,
    warnings: Vec<String>,
    offered: OfferedPacks,
    /// Folder of the files that a game writes, with the most bytes and files of it.
    own: Option<(PathBuf, usize, usize)>,
}

#[derive(Debug)]
enum Source {
    Folder(Folder),
    /// An archive and its index in the list of archives.
    Pack(Box<Pack>, usize),
}

impl GameData {
    /// Opens the data of `folders` below `base_paths`, both in search order. The mod's folder comes before
    /// the game's own. Unusable archives are ignored with a warning.
    #[must_use]
    pub fn open(base_paths: &[PathBuf], folders: &[&str]) -> Self {
        let mut data = Self::default();
        let mut opened = HashSet::new();
        for folder in folders.iter().filter(|folder| !folder.is_empty()) {
            data.mod_sources = data.sources.len();
            for base in base_paths {
                data.add_folder(&base.join(folder), folder, &mut opened);
            }
        }
        data
    }

    fn add_folder(&mut self, path: &Path, folder: &str, opened: &mut HashSet<PathBuf>) {
        // Two base paths may name the same folder through links.
        let canonical = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !path.is_dir() || !opened.insert(canonical(path)) {
            return;
        }
        self.folders.push(path.to_owned());
        self.sources.push(Source::Folder(Folder::new(path)));
        let mut names: Vec<_> =
            folder::entries(path).filter(|(name, _)| search_paths::is_pack_name(name)).collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.to_ascii_uppercase()));
        if names.len() > MAX_PACKS {
            let left = names.len() - MAX_PACKS;
            self.warnings.push(format!("{}: {left} archives ignored", path.display()));
            names.truncate(MAX_PACKS);
        }
        let paths: Vec<_> = names
            .into_iter()
            .filter_map(|(_, path)| opened.insert(canonical(&path)).then_some(path))
            .collect();
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        for pack in map_parallel(paths.len(), threads, |at| Pack::open(&paths[at], folder)) {
            match pack {
                Ok(pack) => self.add_pack(pack),
                Err(error) => self.warnings.push(format!("{error}; archive ignored")),
            }
        }
    }

    fn add_pack(&mut self, pack: Pack) {
        self.warnings.extend(pack.warning());
        self.packs.push(pack.info().clone());
        self.sources.push(Source::Pack(Box::new(pack), self.packs.len() - 1));
    }

    /// Adds the archives in the program behind all others, as archives of the game folder `folder`. An archive
    /// of the same name in that folder replaces one.
    #[must_use]
    pub fn with_builtin(mut self, folder: &str) -> Self {
        for (name, bytes) in builtin::PACKS {
            let is_same =
                |pack: &PackInfo| pack.folder == folder && pack.name.eq_ignore_ascii_case(name);
            if self.packs.iter().any(is_same) {
                continue;
            }
            match Pack::builtin(name, bytes, folder) {
                Ok(pack) => self.add_pack(pack),
                Err(error) => self.warnings.push(format!("{error}; archive ignored")),
            }
        }
        self
    }

    /// Sets the folder of the files that a game writes, and the limits of reading it.
    #[must_use]
    pub fn with_own_folder(mut self, folder: PathBuf, max_bytes: usize, max_files: usize) -> Self {
        self.own = Some((folder, max_bytes, max_files));
        self
    }

    /// Returns the set of archives that the server offers for download.
    #[must_use]
    pub fn offered(&self) -> OfferedPacks {
        self.offered.clone()
    }

    fn pack(&self, index: usize) -> Option<&Pack> {
        self.sources.iter().find_map(|source| match source {
            Source::Pack(pack, number) if *number == index => Some(&**pack),
            Source::Pack(..) | Source::Folder(_) => None,
        })
    }

    /// Whether no folder or archive was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.packs.is_empty()
    }

    /// Returns the first file of that name, in search order, that `wanted` accepts. Files of more than `max`
    /// bytes are skipped.
    #[must_use]
    pub fn read_wanted(
        &self,
        name: &str,
        max: u64,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        let path = GamePath::new(name.as_bytes())?;
        let read = |source: &Source| match source {
            Source::Folder(folder) => folder.read(&path, max),
            Source::Pack(pack, _) => pack.read(&path, max),
        };
        self.sources.iter().filter_map(read).flatten().find(|bytes| wanted(bytes))
    }

    /// Whether a folder of the mod was found.
    #[must_use]
    pub fn has_mod(&self) -> bool {
        self.mod_sources > 0
    }

    /// Returns the searched folders in search order.
    #[must_use]
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Warnings about ignored archives, for the log.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Assets for GameData {
    fn find(&self, name: &str) -> Option<AssetLocation> {
        let path = GamePath::new(name.as_bytes())?;
        self.sources.iter().find_map(|source| {
            let (place, pack, len) = match source {
                Source::Folder(folder) => (folder.path(), None, folder.locate(&path)?.1),
                Source::Pack(pack, number) => (pack.path(), Some(*number), pack.len_of(&path)?),
            };
            Some(AssetLocation { place: place.display().to_string(), pack, len })
        })
    }

    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, AssetError> {
        let path = GamePath::new(name.as_bytes())
            .ok_or_else(|| AssetError::Name { name: name.to_owned() })?;
        let mut sources = self.sources.iter();
        let read = sources.find_map(|source| match source {
            Source::Folder(folder) => folder.read(&path, max),
            Source::Pack(pack, _) => pack.read(&path, max),
        });
        read.unwrap_or(Err(AssetError::Missing { path }))
    }

    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        let Some(folder) = GamePath::new(folder.as_bytes()) else { return Vec::new() };
        let extension = extension.to_ascii_lowercase();
        let mut found = BTreeSet::new();
        for source in &self.sources {
            match source {
                Source::Folder(loose) => found.extend(loose.list(&folder, &extension)),
                Source::Pack(pack, _) => {
                    found.extend(
                        pack.files().filter(|path| path.is_in(&folder, &extension)).cloned(),
                    );
                }
            }
        }
        found.into_iter().collect()
    }

    fn packs(&self) -> &[PackInfo] {
        &self.packs
    }

    fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
        let missing = || AssetError::Archive {
            name: format!("archive {pack}"),
            why: "not in the game data".to_owned(),
        };
        self.pack(pack).ok_or_else(missing)?.read_range(range)
    }

    fn offer(&self, packs: &[usize]) {
        for pack in packs.iter().filter_map(|&index| self.pack(index)) {
            let (source, checksum) = (pack.source().clone(), pack.info().checksum());
            self.offered.add(pack.info().file_name(), OfferedPack { source, checksum });
        }
    }

    fn map_started(&self) {
        for source in &self.sources {
            if let Source::Pack(pack, _) = source {
                pack.release();
            }
        }
    }

    fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
        let own = self.own.as_ref();
        own.map(|(folder, bytes, files)| read_game_folder(folder, *bytes, *files))
            .unwrap_or_default()
    }

    fn read_script(&self, name: &str, max: u64, place: ScriptPlace) -> Result<Vec<u8>, AssetError> {
        if place == ScriptPlace::GameData {
            return self.read(name, max);
        }
        let path = GamePath::new(name.as_bytes())
            .ok_or_else(|| AssetError::Name { name: name.to_owned() })?;
        let read = self.sources[..self.mod_sources].iter().find_map(|source| match source {
            Source::Folder(folder) => folder.read(&path, max),
            Source::Pack(..) => None,
        });
        read.unwrap_or(Err(AssetError::Missing { path }))
    }
}

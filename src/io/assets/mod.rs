//! Game data: archives and folders in the engine's search order.
//!
//! A mod's folder is searched before the game's own, an earlier base path before a later one, and loose files
//! before archives, the alphabetically last archive first. The first match wins.
//!
//! Source: the search order of ioquake3; names are compared case-insensitively.

mod builtin;
mod folder;
mod index;
mod installed;
mod offered;
mod pack;
mod pack_directory;
mod pack_source;
#[cfg(feature = "server")]
mod quake;
mod script_file;
mod search_paths;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

pub use folder::Folder;
pub use installed::InstalledArchives;
pub use offered::{OfferedPack, OfferedPacks};
pub use pack::{MAX_ENTRY_LEN, Pack, PackError, PackFault};
pub use pack_source::{PackReader, PackSource};
#[cfg(feature = "server")]
pub use quake::QuakeData;
pub use search_paths::{base_paths, game_folders, home_paths, search_paths};

use self::index::{Index, Search, Source};
use super::game_folder::read_game_folder;
use crate::model::assets::{
    AssetError, AssetLocation, Assets, GAME_MODULE, GamePath, ListedPack, ModCode, ScriptPlace,
    is_native_module, listed_folder,
};

/// Data of a game and an optional mod.
#[derive(Debug, Default)]
pub struct GameData {
    /// Folders to search.
    search: Search,
    /// Archives and folders that were found.
    index: RwLock<Index>,
    offered: OfferedPacks,
    /// Folder of the files that a game writes, with the most bytes and files of it.
    own: Option<(PathBuf, usize, usize)>,
    /// Folders with the own files of the operator.
    homes: Vec<PathBuf>,
}

impl GameData {
    /// Opens the data of `folders` below `base_paths`, both in search order. The mod's folder comes before
    /// the game's own. Unusable archives are ignored with a warning.
    #[must_use]
    pub fn open(base_paths: &[PathBuf], folders: &[&str]) -> Self {
        let search = Search::new(base_paths, folders);
        let index = Index::default().scanned(&search);
        Self { search, index: RwLock::new(index), ..Self::default() }
    }

    /// Adds the archives in the program behind all others, as archives of the game folder `folder`. An archive
    /// of the same name in that folder replaces one.
    #[must_use]
    pub fn with_builtin(mut self, folder: &str) -> Self {
        self.search.builtin = Some(folder.to_owned());
        let index = self.index.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut scanned = index.scanned(&self.search);
        scanned.warnings.splice(0..0, std::mem::take(&mut index.warnings));
        *index = scanned;
        self
    }

    /// Sets the folder of the files that a game writes, and the limits of reading it.
    #[must_use]
    pub fn with_own_folder(mut self, folder: PathBuf, max_bytes: usize, max_files: usize) -> Self {
        self.own = Some((folder, max_bytes, max_files));
        self
    }

    /// Sets the home folders, which hold the own files of the operator.
    #[must_use]
    pub fn with_homes(mut self, homes: Vec<PathBuf>) -> Self {
        self.homes = homes;
        self
    }

    /// Returns the set of archives that the server offers for download.
    #[must_use]
    pub fn offered(&self) -> OfferedPacks {
        self.offered.clone()
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no folder or archive was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index().sources.is_empty()
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
        self.index().sources.iter().filter_map(read).flatten().find(|bytes| wanted(bytes))
    }

    /// Returns the searched folders in search order.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let folder = |source: &Source| match source {
            Source::Folder(folder) => Some(folder.path().to_owned()),
            Source::Pack(..) => None,
        };
        self.index().sources.iter().filter_map(folder).collect()
    }

    /// Warnings about ignored archives, for the log.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.index().warnings.clone()
    }
}

impl Assets for GameData {
    fn find(&self, name: &str) -> Option<AssetLocation> {
        let path = GamePath::new(name.as_bytes())?;
        self.index().sources.iter().find_map(|source| {
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
        let read = self.index().sources.iter().find_map(|source| match source {
            Source::Folder(folder) => folder.read(&path, max),
            Source::Pack(pack, _) => pack.read(&path, max),
        });
        read.unwrap_or(Err(AssetError::Missing { path }))
    }

    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        let Ok(folder) = listed_folder(folder) else { return Vec::new() };
        let extension = extension.to_ascii_lowercase();
        let mut found = BTreeSet::new();
        for source in &self.index().sources {
            match source {
                Source::Folder(loose) => found.extend(loose.list(folder.as_ref(), &extension)),
                Source::Pack(pack, _) => {
                    let is_listed =
                        |path: &&GamePath| path.is_directly_in(folder.as_ref(), &extension);
                    found.extend(pack.files().filter(is_listed).cloned());
                }
            }
        }
        found.into_iter().collect()
    }

    fn packs(&self) -> Arc<[ListedPack]> {
        Arc::clone(&self.index().packs)
    }

    fn rescan(&self) -> bool {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let scanned = index.scanned(&self.search);
        for warning in &scanned.warnings {
            log::warn!("{warning}");
        }
        let changes = index.changes(&scanned);
        if let Some(changes) = &changes {
            log::info!("game data: {changes}");
        }
        *index = scanned;
        self.offered.retain(|source| index.has_source(source));
        changes.is_some()
    }

    fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
        let missing = || AssetError::Archive {
            name: format!("archive {pack}"),
            why: "not in the game data".to_owned(),
        };
        self.index().pack(pack).ok_or_else(missing)?.read_range(range)
    }

    fn offer(&self, packs: &[usize]) {
        let index = self.index();
        for pack in packs.iter().filter_map(|&number| index.pack(number)) {
            let (source, checksum) = (pack.source().clone(), pack.info().checksum());
            self.offered.add(pack.info().file_name(), OfferedPack { source, checksum });
        }
    }

    fn map_started(&self) {
        for source in &self.index().sources {
            if let Source::Pack(pack, _) = source {
                pack.release();
            }
        }
    }

    fn mod_code(&self) -> ModCode {
        let path = GamePath::new(GAME_MODULE.as_bytes());
        let mut code = ModCode::default();
        let index = self.index();
        for source in &index.sources[..index.mod_sources] {
            let (place, has_module, native) = match source {
                Source::Folder(folder) => {
                    let mut names = folder::entries(folder.path()).map(|(name, _)| name);
                    let has = |path: &GamePath| folder.locate(path).is_some();
                    let native = names.find(|name| is_native_module(name));
                    (folder.path(), path.as_ref().is_some_and(has), native)
                }
                Source::Pack(pack, _) => {
                    let has = |path: &GamePath| pack.len_of(path).is_some();
                    let native = pack.files().find(|path| is_native_module(path.as_str()));
                    (pack.path(), path.as_ref().is_some_and(has), native.map(ToString::to_string))
                }
            };
            if has_module && code.bytecode.is_none() {
                code.bytecode = Some(place.display().to_string());
            }
            code.native = code.native.or(native);
        }
        code
    }

    fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
        let own = self.own.as_ref();
        own.map(|(folder, bytes, files)| read_game_folder(folder, *bytes, *files))
            .unwrap_or_default()
    }

    fn read_script(&self, name: &str, max: u64, place: ScriptPlace) -> Result<Vec<u8>, AssetError> {
        match place {
            ScriptPlace::GameData => self.read(name, max),
            ScriptPlace::CommandLine => script_file::read(self, name, max),
            ScriptPlace::ModFolder | ScriptPlace::OwnModFolder => {
                let is_anywhere = place == ScriptPlace::ModFolder;
                let is_own = |folder: &Path| self.homes.iter().any(|home| folder.starts_with(home));
                let path = GamePath::new(name.as_bytes())
                    .ok_or_else(|| AssetError::Name { name: name.to_owned() })?;
                let index = self.index();
                let read =
                    index.sources[..index.mod_sources].iter().find_map(|source| match source {
                        Source::Folder(folder) if is_anywhere || is_own(folder.path()) => {
                            folder.read(&path, max)
                        }
                        Source::Folder(_) | Source::Pack(..) => None,
                    });
                read.unwrap_or(Err(AssetError::Missing { path }))
            }
        }
    }
}

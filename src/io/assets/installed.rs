//! Archives that are installed on this machine, for clients that join pure servers.
//!
//! Folders are read when a server first requires them: that of its mod, then those of the base games. Invariants: the
//! name of a mod comes from a server and never leaves the base paths; at most [`MAX_MODS`] mods are read.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use super::{GameData, Source, base_paths};
use crate::model::{
    assets::GamePath,
    installed_packs::{InstalledPack, InstalledPacks, PROVEN_MODULES, PackTable},
};

/// Most mods whose archives are read.
const MAX_MODS: usize = 64;
/// Longest name of a mod's folder, in bytes.
const MAX_MOD_LEN: usize = 63;
/// Most folders in a message.
const MAX_SHOWN_FOLDERS: usize = 4;

/// Archives of games and mods below base paths.
#[derive(Debug)]
pub struct InstalledArchives {
    /// As of [`base_paths`].
    basepath: String,
    /// Folders of the base games, first searched first.
    games: Vec<String>,
    /// Option that names other folders, for messages.
    option: &'static str,
    found: Mutex<Found>,
}

/// Folders that were read.
#[derive(Debug, Default)]
struct Found {
    /// Tables by folder.
    tables: BTreeMap<String, Arc<PackTable>>,
    /// Paths of the base games that exist.
    searched: Vec<PathBuf>,
}

impl InstalledArchives {
    /// Creates a source of the archives of `games`, first searched first. `basepath` is that of [`base_paths`], and
    /// `option` its name for messages.
    #[must_use]
    pub fn new(basepath: &str, games: &[&str], option: &'static str) -> Self {
        let games = games.iter().map(|&game| game.to_owned()).collect();
        Self { basepath: basepath.to_owned(), games, option, found: Mutex::default() }
    }

    /// Base paths of all games, in search order.
    fn paths(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for path in self.games.iter().flat_map(|game| base_paths(&self.basepath, game)) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }
}

impl Found {
    /// Returns the archives of a base game.
    fn game(&mut self, basepath: &str, game: &str) -> Arc<PackTable> {
        if let Some(table) = self.tables.get(game) {
            return table.clone();
        }
        let data = GameData::open(&base_paths(basepath, game), &[game]);
        self.searched.extend(data.folders());
        let table = Arc::new(PackTable::new(data.with_builtin(game).installed_packs()));
        self.tables.insert(game.to_owned(), table.clone());
        table
    }

    /// Returns the archives of a mod, or `None` for one without.
    fn mod_folder(
        &mut self,
        paths: impl FnOnce() -> Vec<PathBuf>,
        name: &str,
    ) -> Option<Arc<PackTable>> {
        if let Some(table) = self.tables.get(name) {
            return Some(table.clone());
        }
        if self.tables.len() >= MAX_MODS {
            return None;
        }
        let packs = GameData::open(&paths(), &[name]).installed_packs();
        if packs.is_empty() {
            return None;
        }
        let table = Arc::new(PackTable::new(packs));
        self.tables.insert(name.to_owned(), table.clone());
        Some(table)
    }
}

impl InstalledPacks for InstalledArchives {
    fn tables(&self, mod_folder: &str) -> Vec<Arc<PackTable>> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let is_mod =
            is_folder_name(mod_folder) && !self.games.iter().any(|game| game == mod_folder);
        let of_mod = is_mod.then(|| found.mod_folder(|| self.paths(), mod_folder)).flatten();
        let of_games = self.games.iter().map(|game| found.game(&self.basepath, game));
        of_mod.into_iter().chain(of_games).collect()
    }

    fn searched(&self) -> String {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = |paths: &[PathBuf]| {
            let shown = paths.iter().take(MAX_SHOWN_FOLDERS).map(|path| path.display().to_string());
            shown.collect::<Vec<_>>().join(", ")
        };
        let option = self.option;
        if !found.searched.is_empty() {
            return format!("searched {}; {option} names other folders", listed(&found.searched));
        }
        let games = self.games.join(" or ");
        let places = match self.paths() {
            paths if paths.is_empty() => "the usual folders".to_owned(),
            paths => listed(&paths),
        };
        format!("no folder {games} in {places}; {option} names other folders")
    }

    fn refresh(&self) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Found::default();
    }
}

impl GameData {
    /// Returns the archives and the modules in them, first searched first.
    #[must_use]
    pub fn installed_packs(&self) -> Vec<InstalledPack> {
        let modules = PROVEN_MODULES.map(|module| GamePath::new(module.as_bytes()));
        let index = self.index();
        let packs = index.sources.iter().filter_map(|source| match source {
            Source::Pack(pack, _) => Some(pack),
            Source::Folder(_) => None,
        });
        packs
            .map(|pack| InstalledPack {
                info: pack.info().clone(),
                holds: modules.each_ref().map(|module| {
                    module.as_ref().is_some_and(|module| pack.len_of(module).is_some())
                }),
            })
            .collect()
    }
}

/// Whether a name is that of one folder, as mods have it.
fn is_folder_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-+. ".contains(c);
    !name.is_empty()
        && name.len() <= MAX_MOD_LEN
        && !name.starts_with(['.', ' '])
        && name.chars().all(legal)
}

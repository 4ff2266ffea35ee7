//! Map loader: lists the maps of the game data, loads and validates them.
//!
//! Invariant: a map that is rejected changes nothing, and the error names the file and its location.
//! Source: Quake III's map files.

use std::{fmt, rc::Rc};

use thiserror::Error;

use crate::{
    game::Game,
    model::{
        assets::{AssetError, Assets, GamePath},
        near_files::map_suggestion,
    },
    settings::CollisionPrecision,
    world::{
        Bsp, BspError, CollisionError, EntityStringError, MapEntities, TracePrecision, World,
        bsp::MAX_FILE_LEN,
    },
};

/// Map in the program, which runs where no other map is installed.
const BUILTIN_MAP: &str = "fragd1";
/// All maps in the program.
const BUILTIN_MAPS: [&str; 3] = ["course", "fragd1", "fragdctf1"];

/// Loader of map files.
pub(super) struct MapLoader {
    assets: Rc<dyn Assets>,
    is_empty: bool,
}

/// Error of a map load.
#[derive(Debug, PartialEq, Error)]
pub(super) enum MapError {
    /// The file was not found.
    #[error("Can't find map {file}{suggestion}")]
    Missing { file: String, suggestion: String },
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(AssetError),
    /// The file is not valid.
    #[error("{file} in {place}: {fault}")]
    Invalid { file: String, place: String, fault: MapFault },
}

/// Why a map file is not valid.
#[derive(Debug, PartialEq, Error)]
pub(super) enum MapFault {
    #[error(transparent)]
    File(#[from] BspError),
    #[error(transparent)]
    Collision(#[from] CollisionError),
    #[error(transparent)]
    Entities(#[from] EntityStringError),
    #[error("no spawn point")]
    NoSpawnPoint,
}

impl MapLoader {
    pub(super) fn new(assets: Rc<dyn Assets>) -> Self {
        let is_empty = assets.list("maps", "bsp").is_empty();
        Self { assets, is_empty }
    }

    /// Whether no map was found. Every level runs in open space then.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Game files.
    pub(super) fn assets(&self) -> &dyn Assets {
        &*self.assets
    }

    /// Returns the first map. The built-in one replaces a map that is not installed, if the operator chose none or no map
    /// is installed at all.
    pub(super) fn first_map<'a>(&self, asked: &'a str, is_chosen: bool) -> &'a str {
        let replaces = !is_chosen || !self.has_installed();
        if self.is_empty || self.exists(asked) || !replaces || !self.exists(BUILTIN_MAP) {
            return asked;
        }
        let level = if is_chosen { log::Level::Warn } else { log::Level::Info };
        log::log!(level, "map {asked} not installed: running {BUILTIN_MAP}");
        BUILTIN_MAP
    }

    /// Whether a first map may have this name: it exists, or no map is installed.
    pub(super) fn can_be_first(&self, map: &str) -> bool {
        self.is_empty || self.exists(map) || !self.has_installed() && self.exists(BUILTIN_MAP)
    }

    fn exists(&self, map: &str) -> bool {
        self.assets.find(&format!("maps/{map}.bsp")).is_some()
    }

    /// Whether there are maps beside those of the program.
    fn has_installed(&self) -> bool {
        self.names().iter().any(|name| !BUILTIN_MAPS.contains(&name.as_str()))
    }

    /// Names of all maps, in alphabetical order.
    pub(super) fn names(&self) -> Vec<String> {
        Self::names_of(&self.assets.list("maps", "bsp"))
    }

    /// As [`Self::names`], for hints that change nothing.
    pub(super) fn names_for_hint(&self) -> Vec<String> {
        Self::names_of(&self.assets.list_for_hint("maps", "bsp"))
    }

    fn names_of(paths: &[GamePath]) -> Vec<String> {
        let mut names: Vec<String> = paths
            .iter()
            .filter_map(|path| path.as_str().strip_prefix("maps/")?.strip_suffix(".bsp"))
            .filter(|name| super::current_level::is_map_name(name))
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the question behind the error about a missing map: the nearest names.
    pub(super) fn suggestion(&self, map: &str) -> String {
        map_suggestion(&*self.assets, map)
    }

    /// Loads a map for a game and validates all of it. Returns its geometry and the number of its archive.
    pub(super) fn load(
        &self,
        map: &str,
        precision: CollisionPrecision,
        game: &dyn Game,
    ) -> Result<(World, Option<usize>), MapError> {
        let file = format!("maps/{map}.bsp");
        let Some(found) = self.assets.find(&file) else {
            return Err(MapError::Missing { file, suggestion: self.suggestion(map) });
        };
        let bytes = self.assets.read(&file, MAX_FILE_LEN as u64).map_err(MapError::Unreadable)?;
        let world = build(&bytes, precision, game);
        let world = world.map_err(|fault| MapError::Invalid { file, place: found.place, fault })?;
        Ok((world, found.pack))
    }
}

impl fmt::Debug for MapLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapLoader").field("is_empty", &self.is_empty).finish_non_exhaustive()
    }
}

fn build(bytes: &[u8], precision: CollisionPrecision, game: &dyn Game) -> Result<World, MapFault> {
    let bsp = Bsp::load(bytes)?;
    let entities = MapEntities::parse(&bsp.entity_text)?;
    if !game.has_spawn_point(&entities) {
        return Err(MapFault::NoSpawnPoint);
    }
    let family = match precision {
        CollisionPrecision::Single => TracePrecision::Single,
        CollisionPrecision::Double => TracePrecision::Double,
        CollisionPrecision::Fast => TracePrecision::Fast,
    };
    Ok(World::new(bsp, family)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        game::{Flight, Ruleset},
        model::assets::MemoryAssets,
    };

    #[test]
    fn load_errors_name_file_and_location() {
        let mut assets = MemoryAssets::default();
        assert!(MapLoader::new(Rc::new(assets.clone())).is_empty());
        assets.insert("maps/cut.bsp", b"IBSP".to_vec()).unwrap();
        let maps = MapLoader::new(Rc::new(assets));
        assert!(!maps.is_empty());
        let game = Flight::new(Ruleset::BASEOA);
        let load = |name: &str| maps.load(name, CollisionPrecision::Single, &game);
        let error = |name: &str| load(name).unwrap_err().to_string();
        assert_eq!(error("x"), "Can't find map maps/x.bsp");
        assert_eq!(error("cut.bsp"), "Can't find map maps/cut.bsp.bsp; did you mean cut?");
        assert!(error("CUT").starts_with("maps/CUT.bsp in memory: "), "{}", error("CUT"));
    }
}

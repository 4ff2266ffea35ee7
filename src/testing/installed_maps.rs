//! Maps and archives for tests, from installed game data.
//!
//! `FRAGD_BASEPATH` names directories, separated as in `PATH`; otherwise the usual directories are
//! searched. `FRAGD_REQUIRE_MAPS` makes missing data a failure; without it, tests report that they are
//! skipped.

use std::{env, path::PathBuf};

use crate::{
    io::assets::{Pack, base_paths},
    model::assets::Assets,
    world::{Bsp, bsp::MAX_FILE_LEN},
};

use crate::io::GameData;

/// Game folder of the reference vectors.
const GAME: &str = "baseoa";

/// Map by name. Without it, prints that the test is skipped.
pub fn load(name: &str) -> Option<Bsp> {
    let bytes = read(&format!("maps/{name}.bsp"))?;
    Some(Bsp::load(&bytes).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Game file by path. Without it, prints that the test is skipped.
pub fn read(path: &str) -> Option<Vec<u8>> {
    let data = data();
    if data.find(path).is_none() {
        missing(path);
        return None;
    }
    Some(data.read(path, MAX_FILE_LEN as u64).unwrap_or_else(|error| panic!("{error}")))
}

/// Installed data of the game folder.
pub fn data() -> GameData {
    GameData::open(&base_paths("", GAME), &[GAME])
}

/// Archive by name. Without it, prints that the test is skipped.
pub fn pack(name: &str) -> Option<Pack> {
    let file = format!("{name}.pk3");
    let paths = base_paths("", GAME).into_iter();
    let mut candidates = paths.flat_map(|base| {
        // Some of the archives that have vectors belong to mods.
        [GAME, "missionpack"].map(|folder| base.join(folder).join(&file))
    });
    let Some(path): Option<PathBuf> = candidates.find(|path| path.exists()) else {
        missing(&file);
        return None;
    };
    Some(Pack::open(&path, GAME).unwrap_or_else(|error| panic!("{error}")))
}

fn missing(what: &str) {
    assert!(env::var_os("FRAGD_REQUIRE_MAPS").is_none(), "{what} is not installed");
    println!("skipped: {what} is not installed");
}

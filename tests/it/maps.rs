//! Maps for tests, from the data that is installed.
//!
//! `FRAGD_BASEPATH` names directories, separated as in `PATH`; otherwise the usual places are searched.
//! `FRAGD_REQUIRE_MAPS` makes a missing map a failure; without it, tests say that they are skipped.

use std::{env, fs, io::Read, path::PathBuf};

use fragd::world::Bsp;

/// Where distributions put OpenArena.
const USUAL_PLACES: &str = "/usr/share/games/openarena:/usr/lib/openarena";

/// A map by name, or `None`, and a line that says so, when it is not installed.
pub(crate) fn load(name: &str) -> Option<Bsp> {
    let Some(bytes) = find(&format!("maps/{name}.bsp")) else {
        assert!(env::var_os("FRAGD_REQUIRE_MAPS").is_none(), "map {name} is not installed");
        println!("skipped: map {name} is not installed");
        return None;
    };
    Some(Bsp::load(&bytes).unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn find(path: &str) -> Option<Vec<u8>> {
    let places = env::var_os("FRAGD_BASEPATH").unwrap_or_else(|| USUAL_PLACES.into());
    env::split_paths(&places).find_map(|base| {
        let mut archives: Vec<PathBuf> = fs::read_dir(base.join("baseoa"))
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "pk3"))
            .collect();
        archives.sort_unstable();
        archives.iter().rev().find_map(|archive| {
            let mut archive = zip::ZipArchive::new(fs::File::open(archive).ok()?).ok()?;
            let mut bytes = Vec::new();
            archive.by_name(path).ok()?.read_to_end(&mut bytes).ok()?;
            Some(bytes)
        })
    })
}

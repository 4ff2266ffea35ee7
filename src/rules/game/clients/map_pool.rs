//! Map pools: files with the maps that follow a match, by game type.
//!
//! Source: OpenArena's settings `g_autonextmap` and `g_mappools`, and the files of its data, which end in `.org`.

use super::map_names::names_in;
use crate::{
    bg::GameType,
    cvar::engine,
    game::{Host, settings::key},
    model::assets::GamePath,
};

/// Value of `nextmap` that a level load leaves.
const RESTART: &str = "map_restart 0";
/// Values of `g_autonextmap`.
const RANDOM: i32 = 1;

/// Returns the map of the pool that follows, unless `g_autonextmap` is 0 or the operator set `nextmap`.
///
/// With `g_autonextmap` 1 it is any other map than the current one, with 2 the one behind it in the file. The place in
/// the pool is that of the current map, so that nothing has to outlast the server.
pub(in crate::game) fn next_map(
    host: &mut dyn Host,
    game_type: GameType,
    seed: u32,
) -> Option<String> {
    let choice = host.settings().int(key::G_AUTONEXTMAP);
    if choice == 0 || !["", RESTART].contains(&host.settings().text(key::NEXTMAP)) {
        return None;
    }
    let Some((file, bytes)) = read(host, game_type) else {
        let number = game_type as i32;
        host.print(&format!("g_mappools: no file of game type {number} found: the map repeats"));
        return None;
    };
    let current = host.settings().text(engine::key::MAPNAME).to_owned();
    let installed = host.map_names();
    let found = |wanted: String| {
        installed.iter().find(|known| known.eq_ignore_ascii_case(&wanted)).cloned()
    };
    let maps: Vec<String> = names_in(&bytes).filter_map(found).collect();
    let place = maps.iter().position(|map| *map == current);
    let behind = place.map_or(0, |place| place + 1);
    // All maps from the one behind the current one on, around the end of the file.
    let mut others: Vec<&String> = maps.iter().cycle().skip(behind).take(maps.len()).collect();
    others.retain(|map| **map != current);
    let at = if choice == RANDOM { seed as usize % others.len().max(1) } else { 0 };
    let next = others.get(at).map(|map| (*map).clone());
    if next.is_none() {
        host.print(&format!("{file}: no other installed map: the map repeats"));
    }
    next
}

/// Name and content of the pool of a game type.
fn read(host: &mut dyn Host, game_type: GameType) -> Option<(String, std::sync::Arc<[u8]>)> {
    let number = (game_type as i32).to_string();
    let pools = host.settings().text(key::G_MAPPOOLS).trim_start_matches('\\').to_owned();
    let mut parts = pools.split('\\');
    let mut name = None;
    while let (Some(kind), Some(file)) = (parts.next(), parts.next()) {
        if kind == number {
            name = Some(file);
            break;
        }
    }
    let name = name?;
    [name.to_owned(), format!("{name}.org")].into_iter().find_map(|name| {
        let path = GamePath::new(name.as_bytes())?;
        let bytes = host.files()?.read(&path)?;
        Some((name, bytes))
    })
}

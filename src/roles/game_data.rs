//! Game data of a server: the folders that its settings name, and what was found there.

use std::path::{Path, PathBuf};

use fragd::{
    io::{
        GameData,
        assets::{game_folders, search_paths},
    },
    model::{
        assets::Assets as _,
        spelling::{did_you_mean, near_names},
    },
    settings::{Choice as _, RulesMode, Settings, key},
};

/// Maximum names of a suggestion.
const MAX_NEAR: usize = 3;

/// Returns the directories that the settings name, in search order.
pub(super) fn paths(settings: &Settings) -> Vec<PathBuf> {
    let (home, base) = (settings.text(key::FS_HOMEPATH), settings.text(key::FS_BASEPATH));
    search_paths(home, base, settings.choice(key::GAME).name())
}

/// Finds the game data and logs its folders.
///
/// # Errors
/// The folder of `fs_game` does not exist.
pub(super) fn find(settings: &Settings) -> Result<GameData, String> {
    let folder = settings.choice(key::GAME).name();
    let (paths, mod_folder) = (paths(settings), settings.text(key::FS_GAME));
    // The own folder of the game is not a mod: built-in maps need none.
    let is_mod = !mod_folder.is_empty() && !mod_folder.eq_ignore_ascii_case(folder);
    if is_mod && !paths.iter().any(|path| path.join(mod_folder).is_dir()) {
        warn_about_missing(settings);
        return Err(missing_mod(settings, &paths));
    }
    if settings.choice(key::G_RULES) == RulesMode::Flight {
        log::info!("g_rules: running free flight, no map files read");
        return Ok(GameData::default());
    }
    let installed = GameData::open(&paths, &[mod_folder, folder]);
    warn_about_missing(settings);
    let maps = installed.list("maps", "bsp").len();
    let folders = installed.folders();
    let folders: Vec<_> = folders.iter().map(|path| path.display().to_string()).collect();
    let folders = folders.join(", ");
    if maps > 0 {
        log::info!("found {maps} maps in {folders}");
    } else {
        let also = if folders.is_empty() { folders } else { format!(" in {folders}") };
        log::info!(
            "no {folder} maps found{also}, serving built-in maps; set fs_basepath to game data"
        );
    }
    let mut data = installed.with_builtin(folder);
    if let Some(own) = own_folder(settings) {
        let limit = |key| usize::try_from(settings.int(key)).unwrap_or(0);
        let (mebibytes, files) = (limit(key::SV_MODULE_SIZE), limit(key::SV_MODULE_FILES));
        data = data.with_own_folder(own, mebibytes << 20, files);
    }
    for warning in data.warnings() {
        log::warn!("{warning}");
    }
    Ok(data)
}

/// Returns the error about a mod whose folder does not exist. Clients would load it, and the server would not.
fn missing_mod(settings: &Settings, paths: &[PathBuf]) -> String {
    let (origin, wanted) = (settings.origin_of(key::FS_GAME), settings.text(key::FS_GAME));
    let folders = game_folders(paths);
    let near = near_names(wanted, folders.iter().map(String::as_str), MAX_NEAR);
    let near = match near.iter().find(|name| name.eq_ignore_ascii_case(wanted)) {
        Some(same) => did_you_mean(&[same]),
        None => did_you_mean(&near),
    };
    let places: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    let places = match &places[..] {
        [] => "no folder is searched; set fs_basepath".to_owned(),
        places => format!("expected a folder, which may be empty, in {}", places.join(", ")),
    };
    format!("{origin}fs_game: mod {wanted} not found ({places}){near}")
}

/// Warns about folders that the settings name and that do not exist.
fn warn_about_missing(settings: &Settings) {
    for key in [key::FS_HOMEPATH, key::FS_BASEPATH] {
        let name = key.setting().name;
        for path in std::env::split_paths(settings.text(key)).filter(|path| !path.is_dir()) {
            if !path.as_os_str().is_empty() {
                log::warn!("{name}: folder {} not found; no file of it is read", path.display());
            }
        }
    }
}

/// Returns the folder of the files that a game module writes; `None` if they stay in memory.
pub(super) fn own_folder(settings: &Settings) -> Option<PathBuf> {
    let folder = settings.text(key::SV_MODULE_FOLDER);
    let game = match settings.text(key::FS_GAME) {
        "" => settings.choice(key::GAME).name(),
        name => name,
    };
    (!folder.is_empty()).then(|| Path::new(folder).join(game))
}

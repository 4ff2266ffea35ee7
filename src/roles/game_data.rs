//! Game data of a role: folders that settings or options name, and their files.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use fragd::{
    io::{
        GameData,
        assets::{base_paths, game_folders, home_paths, search_paths},
    },
    model::{
        assets::Assets as _,
        spelling::{did_you_mean, near_names},
    },
    settings::{Choice as _, RulesMode, Settings, key},
};

/// Maximum names of a suggestion.
const MAX_NEAR: usize = 3;
/// Environment variable of the base paths.
const BASEPATH_VARIABLE: &str = "FRAGD_BASEPATH";

/// Opens the data that `--basepath` and `--mod` name, with the maps of the program. Warnings go to standard error.
///
/// # Errors
/// The folder of the mod does not exist.
pub(super) fn open(
    basepath: &str,
    mod_folder: Option<&str>,
    game: &str,
) -> Result<GameData, String> {
    open_installed(basepath, mod_folder, game).map(|data| data.with_builtin(game))
}

/// Opens the data that `--basepath` and `--mod` name. Warnings go to standard error.
///
/// # Errors
/// The folder of the mod does not exist.
pub(super) fn open_installed(
    basepath: &str,
    mod_folder: Option<&str>,
    game: &str,
) -> Result<GameData, String> {
    let paths = base_paths(basepath, game);
    let mut warnings = missing_folders("--basepath", basepath);
    let mod_folder = mod_folder.unwrap_or_default();
    let found = if is_missing(&paths, mod_folder, game) {
        Err(missing_mod(("--mod", "--basepath"), mod_folder, &paths))
    } else {
        let data = GameData::open(&paths, &[mod_folder, game]);
        warnings.extend(data.warnings());
        Ok(data)
    };
    for warning in warnings {
        eprintln!("fragd: {warning}");
    }
    found
}

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
    check_mod(settings).inspect_err(|_| warn_about_missing(settings))?;
    if settings.choice(key::G_RULES) == RulesMode::Flight {
        log::info!("g_rules: running free flight, no map files read");
        return Ok(GameData::default());
    }
    let homes = home_paths(settings.text(key::FS_HOMEPATH), folder);
    let installed = GameData::open(&paths, &[mod_folder, folder]).with_homes(homes);
    warn_about_missing(settings);
    let base = std::env::split_paths(settings.text(key::FS_BASEPATH));
    for warning in base.filter_map(|path| without_game(&path, folder, mod_folder)) {
        log::warn!("{}{warning}", settings.origin_of(key::FS_BASEPATH));
    }
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

/// Checks that the folder of `fs_game` exists.
///
/// # Errors
/// The place of the setting, the folders that were searched, and the nearest names.
pub(super) fn check_mod(settings: &Settings) -> Result<(), String> {
    let (paths, mod_folder) = (paths(settings), settings.text(key::FS_GAME));
    if !is_missing(&paths, mod_folder, settings.choice(key::GAME).name()) {
        return Ok(());
    }
    let name = format!("{}fs_game", settings.origin_of(key::FS_GAME));
    Err(missing_mod((&name, "fs_basepath"), mod_folder, &paths))
}

/// Opens the game data that the settings name, for its scripts and names of maps. Nothing is logged.
pub(super) fn of_scripts(settings: &Settings) -> GameData {
    let folder = settings.choice(key::GAME).name();
    let homes = home_paths(settings.text(key::FS_HOMEPATH), folder);
    GameData::open(&paths(settings), &[settings.text(key::FS_GAME), folder])
        .with_homes(homes)
        .with_builtin(folder)
}

/// Whether no path has the folder of a mod. The own folder of the game is not a mod: built-in maps need none.
fn is_missing(paths: &[PathBuf], mod_folder: &str, game: &str) -> bool {
    let is_mod = !mod_folder.is_empty() && !mod_folder.eq_ignore_ascii_case(game);
    is_mod && !paths.iter().any(|path| path.join(mod_folder).is_dir())
}

/// Returns the error about a mod whose folder does not exist. Clients would load it, and the server would not. `names` are
/// those of the mod and of the base paths.
fn missing_mod(names: (&str, &str), wanted: &str, paths: &[PathBuf]) -> String {
    let folders = game_folders(paths);
    let near = near_names(wanted, folders.iter().map(String::as_str), MAX_NEAR);
    let near = match near.iter().find(|name| name.eq_ignore_ascii_case(wanted)) {
        Some(same) => did_you_mean(&[same]),
        None => did_you_mean(&near),
    };
    let places: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    let places = match &places[..] {
        [] => format!("no folder is searched; set {}", names.1),
        places => format!("expected a folder, which may be empty, in {}", places.join(", ")),
    };
    format!("{}: mod {wanted} not found ({places}){near}", names.0)
}

/// Warns about folders that the settings name and that do not exist.
fn warn_about_missing(settings: &Settings) {
    for key in [key::FS_HOMEPATH, key::FS_BASEPATH] {
        let (name, list) = (key.setting().name, settings.text(key));
        let is_base = name == key::FS_BASEPATH.setting().name;
        let warnings =
            if is_base { missing_folders(name, list) } else { missing(name, list.as_ref()) };
        for warning in warnings {
            log::warn!("{warning}");
        }
    }
}

/// Returns warnings about base paths that do not exist: those of `list`, or else of the environment.
pub(super) fn missing_folders(name: &str, list: &str) -> Vec<String> {
    match std::env::var_os(BASEPATH_VARIABLE) {
        Some(variable) if list.is_empty() => missing(BASEPATH_VARIABLE, &variable),
        _ => missing(name, list.as_ref()),
    }
}

/// Returns warnings about folders of `list` that do not exist.
fn missing(name: &str, list: &OsStr) -> Vec<String> {
    let paths = std::env::split_paths(list);
    let missing = paths.filter(|path| !path.as_os_str().is_empty() && !path.is_dir());
    missing
        .map(|path| format!("{name}: folder {} not found; no file of it is read", path.display()))
        .collect()
}

/// Returns the warning about a base path without the folder of the game and without that of the mod.
fn without_game(path: &Path, game: &str, mod_folder: &str) -> Option<String> {
    let has = |folder: &str| !folder.is_empty() && path.join(folder).is_dir();
    if !path.is_dir() || has(game) || has(mod_folder) {
        return None;
    }
    // A common mistake: the folder of the game instead of the one above it.
    let parent = path.file_name().filter(|name| name.eq_ignore_ascii_case(game));
    let above = parent.and_then(|_| path.parent()).map(|above| above.display().to_string());
    let hint = above.map_or_else(String::new, |above| did_you_mean(&[above]));
    let path = path.display();
    Some(format!("fs_basepath: no folder {game} in {path}; no file of it is read{hint}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_path_without_the_game_is_named() {
        let scratch = std::env::temp_dir().join(format!("fragd-base-{}", std::process::id()));
        std::fs::create_dir_all(scratch.join("baseoa")).unwrap();
        let warning = |path: &Path, game| without_game(path, game, "");
        assert_eq!(warning(&scratch, "baseoa"), None);
        let other = warning(&scratch, "baseq3").unwrap();
        assert!(other.contains("no folder baseq3 in ") && !other.contains("did you"), "{other}");
        let inside = warning(&scratch.join("baseoa"), "baseoa").unwrap();
        assert!(inside.ends_with(&format!("did you mean {}?", scratch.display())), "{inside}");
        std::fs::remove_dir_all(scratch).unwrap();
    }
}

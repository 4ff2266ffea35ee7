//! Usual locations of game data: packages, home folders, Steam.
//!
//! The table is data; existing locations are determined once, at start.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::folder::entries;

/// Root of a search path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// Root of the file system.
    Absolute,
    /// Home folder of the user.
    Home,
    /// Folder named by an environment variable.
    Variable(&'static str),
}

/// A usual location of a game's data.
struct SearchPath {
    /// Game folder.
    game: &'static str,
    root: Root,
    path: &'static str,
    /// Whether the location holds the user's own files, in addition to an installation.
    is_home: bool,
}

const fn install(game: &'static str, path: &'static str) -> SearchPath {
    SearchPath { game, root: Root::Absolute, path, is_home: false }
}

const fn home(game: &'static str, path: &'static str) -> SearchPath {
    SearchPath { game, root: Root::Home, path, is_home: true }
}

/// Creates a location of an installation below the home folder or an environment variable's folder.
const fn below(game: &'static str, root: Root, path: &'static str) -> SearchPath {
    SearchPath { game, root, path, is_home: false }
}

const OA: &str = "baseoa";
const Q3: &str = "baseq3";

/// Usual locations in search order.
const PLACES: &[SearchPath] = &[
    home(OA, ".openarena"),
    home(OA, "Library/Application Support/OpenArena"),
    SearchPath { game: OA, root: Root::Variable("APPDATA"), path: "OpenArena", is_home: true },
    install(OA, "/usr/share/games/openarena"),
    install(OA, "/usr/lib/openarena"),
    install(OA, "/usr/lib/openarena-server"),
    install(OA, "/usr/share/openarena"),
    install(OA, "/usr/local/games/openarena"),
    install(OA, "/usr/local/share/openarena"),
    install(OA, "/opt/openarena"),
    below(OA, Root::Home, "openarena"),
    below(OA, Root::Home, "openarena-0.8.8"),
    below(OA, Root::Home, "openarena-0.8.5"),
    below(OA, Root::Variable("ProgramFiles"), "OpenArena"),
    below(OA, Root::Variable("ProgramFiles(x86)"), "OpenArena"),
    install(OA, "/Applications/OpenArena"),
    home(Q3, ".q3a"),
    home(Q3, "Library/Application Support/Quake3"),
    SearchPath { game: Q3, root: Root::Variable("APPDATA"), path: "Quake3", is_home: true },
    install(Q3, "/usr/share/games/quake3"),
    install(Q3, "/usr/lib/quake3"),
    install(Q3, "/usr/lib/ioquake3"),
    install(Q3, "/usr/share/quake3"),
    install(Q3, "/usr/local/games/quake3"),
    install(Q3, "/usr/local/share/quake3"),
    install(Q3, "/opt/quake3"),
    below(Q3, Root::Home, ".local/share/Steam/steamapps/common/Quake 3 Arena"),
    below(Q3, Root::Home, ".steam/steam/steamapps/common/Quake 3 Arena"),
    below(
        Q3,
        Root::Home,
        ".var/app/com.valvesoftware.Steam/.local/share/Steam/steamapps/common/Quake 3 Arena",
    ),
    below(Q3, Root::Home, "Library/Application Support/Steam/steamapps/common/Quake 3 Arena"),
    below(Q3, Root::Variable("ProgramFiles(x86)"), "Steam/steamapps/common/Quake 3 Arena"),
    below(Q3, Root::Variable("ProgramFiles"), "Steam/steamapps/common/Quake 3 Arena"),
    below(Q3, Root::Variable("ProgramFiles(x86)"), "Quake III Arena"),
    below(Q3, Root::Variable("ProgramFiles"), "Quake III Arena"),
    below(Q3, Root::Home, "GOG Games/Quake III Arena"),
    install(Q3, "/Applications/Quake3"),
];

/// Returns the folders to search for data of `game`, in search order. `setting` wins over the variable
/// `FRAGD_BASEPATH`; both are lists in the form of `PATH`. Without them, the folders are the user's own files
/// and the first installation that has an archive of the game.
#[must_use]
pub fn base_paths(setting: &str, game: &str) -> Vec<PathBuf> {
    let listed = |list: &std::ffi::OsStr| -> Vec<PathBuf> {
        env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()
    };
    if !setting.is_empty() {
        return listed(setting.as_ref());
    }
    match env::var_os("FRAGD_BASEPATH") {
        Some(list) if !list.is_empty() => listed(&list),
        _ => usual_places(game, |name| env::var_os(name).map(PathBuf::from)),
    }
}

/// Returns the usual locations of a game that contain an archive of it.
fn usual_places(game: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let mut found = Vec::new();
    let mut is_installed = false;
    for place in PLACES.iter().filter(|place| place.game == game) {
        let root = match place.root {
            Root::Absolute => Some(PathBuf::new()),
            Root::Home => home.clone(),
            Root::Variable(name) => variable(name),
        };
        let Some(path) = root.map(|root| root.join(place.path)) else { continue };
        if (place.is_home || !is_installed) && has_pack(&path.join(game)) {
            is_installed |= !place.is_home;
            found.push(path);
        }
    }
    found
}

fn has_pack(folder: &Path) -> bool {
    entries(folder).any(|(name, _)| is_pack_name(&name))
}

/// Whether a file name is that of an archive.
pub(super) fn is_pack_name(name: &str) -> bool {
    let extension = name.len().checked_sub(4).and_then(|at| name.get(at..));
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(".pk3"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, process};

    #[test]
    fn home_and_one_installation_are_found() {
        let root = env::temp_dir().join(format!("fragd-places-{}", process::id()));
        for path in
            [".q3a/baseq3", "Steam/steamapps/common/Quake 3 Arena/baseq3", "Quake III Arena/baseq3"]
        {
            fs::create_dir_all(root.join(path)).unwrap();
            fs::write(root.join(path).join("PAK0.PK3"), b"").unwrap();
        }
        fs::create_dir_all(root.join("Library/Application Support/Quake3/baseq3")).unwrap();
        let known = |name: &str| ["HOME", "ProgramFiles"].contains(&name).then(|| root.clone());
        let mut found = usual_places("baseq3", known);
        // An installation on this machine counts as the one.
        found.retain(|path| path.starts_with(&root));
        assert_eq!(found[0], root.join(".q3a"));
        assert!(found.len() <= 2);
        assert!(usual_places("nosuchgame", known).is_empty());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn setting_precedes_environment_and_defaults() {
        let list = env::join_paths(["/a b", "/c"]).unwrap();
        assert_eq!(
            base_paths(list.to_str().unwrap(), "baseq3"),
            [PathBuf::from("/a b"), PathBuf::from("/c")]
        );
    }
}

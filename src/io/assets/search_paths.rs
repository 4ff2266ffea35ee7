//! Usual locations of game data: home folders, packages, Steam.
//!
//! The table is data; existing installations are determined once, at start. Home folders are searched first, as
//! other servers search `fs_homepath` before `fs_basepath`, and may also appear later.
//!
//! Source: the folders of ioquake3, of its packages and of OpenArena; the XDG base directory specification.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::folder::entries;
use crate::model::spelling::MAX_NAMES;

/// Root of a search path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// Root of the file system.
    Absolute,
    /// Home folder of the user.
    Home,
    /// Folder named by an environment variable.
    Variable(&'static str),
    /// Folder named by an environment variable, else a folder below the home folder.
    Xdg(&'static str, &'static str),
}

const CONFIG_HOME: Root = Root::Xdg("XDG_CONFIG_HOME", ".config");
const DATA_HOME: Root = Root::Xdg("XDG_DATA_HOME", ".local/share");

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
    own(game, Root::Home, path)
}

const fn own(game: &'static str, root: Root, path: &'static str) -> SearchPath {
    SearchPath { game, root, path, is_home: true }
}

/// Creates a location of an installation below the home folder or an environment variable's folder.
const fn below(game: &'static str, root: Root, path: &'static str) -> SearchPath {
    SearchPath { game, root, path, is_home: false }
}

const OA: &str = "baseoa";
const Q3: &str = "baseq3";

/// Usual locations in search order.
const PLACES: &[SearchPath] = &[
    own(OA, CONFIG_HOME, "OpenArena"),
    own(OA, DATA_HOME, "OpenArena"),
    own(OA, DATA_HOME, "openarena"),
    home(OA, ".openarena"),
    home(OA, "Library/Application Support/OpenArena"),
    own(OA, Root::Variable("APPDATA"), "OpenArena"),
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
    own(Q3, CONFIG_HOME, "Quake3"),
    own(Q3, DATA_HOME, "Quake3"),
    own(Q3, DATA_HOME, "q3a"),
    home(Q3, ".q3a"),
    home(Q3, ".var/app/org.ioquake3.ioquake3/config/Quake3"),
    home(Q3, ".var/app/org.ioquake3.ioquake3/data/Quake3"),
    home(Q3, ".var/app/org.ioquake3.ioquake3/data/q3a"),
    home(Q3, "Library/Application Support/Quake3"),
    own(Q3, Root::Variable("APPDATA"), "Quake3"),
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

/// Returns the directories that a server searches for data of `game`, in search order.
///
/// Home folders precede base paths. `home` replaces the usual home folders, `base` the installation.
#[must_use]
pub fn search_paths(home: &str, base: &str, game: &str) -> Vec<PathBuf> {
    let mut paths = home_paths(home, game);
    paths
        .extend(chosen(base).unwrap_or_else(|| installation(game, variable).into_iter().collect()));
    paths
}

/// Returns the home folders of `game`, which hold the own files of the operator. `home` replaces the usual ones.
#[must_use]
pub fn home_paths(home: &str, game: &str) -> Vec<PathBuf> {
    match listed(home.as_ref()) {
        paths if paths.is_empty() => usual_homes(game, variable),
        paths => paths,
    }
}

/// Returns the directories to search for data of `game`, in search order. `setting` wins over the variable
/// `FRAGD_BASEPATH`; both are lists in the form of `PATH`. Without them, they are the usual home folders and the
/// first installation that has an archive of the game.
#[must_use]
pub fn base_paths(setting: &str, game: &str) -> Vec<PathBuf> {
    chosen(setting).unwrap_or_else(|| {
        let mut paths = usual_homes(game, variable);
        paths.extend(installation(game, variable));
        paths
    })
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn listed(list: &std::ffi::OsStr) -> Vec<PathBuf> {
    env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Base paths of the setting or the environment, if one of them has any.
fn chosen(setting: &str) -> Option<Vec<PathBuf>> {
    let paths = if setting.is_empty() {
        listed(&env::var_os("FRAGD_BASEPATH")?)
    } else {
        listed(setting.as_ref())
    };
    (!paths.is_empty()).then_some(paths)
}

/// Returns the usual locations of a game, whether they hold the user's own files, and exist or not.
fn places(
    game: &str,
    variable: impl Fn(&str) -> Option<PathBuf>,
    is_home: bool,
) -> impl Iterator<Item = PathBuf> {
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    PLACES.iter().filter(move |place| place.game == game && place.is_home == is_home).filter_map(
        move |place| {
            let root = match place.root {
                Root::Absolute => Some(PathBuf::new()),
                Root::Home => home.clone(),
                Root::Variable(name) => variable(name),
                // The specification: a relative path is ignored.
                Root::Xdg(name, below) => variable(name)
                    .filter(|path| path.is_absolute())
                    .or_else(|| home.as_ref().map(|home| home.join(below))),
            };
            root.map(|root| root.join(place.path))
        },
    )
}

/// Returns the usual folders of the user's own files.
fn usual_homes(game: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    places(game, variable, true).collect()
}

/// Returns the first installation that has an archive of the game.
fn installation(game: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    places(game, variable, false).find(|path| has_pack(&path.join(game)))
}

/// Returns the names of the folders below `base_paths`: games and mods.
#[must_use]
pub fn game_folders(base_paths: &[PathBuf]) -> Vec<String> {
    let folders = base_paths.iter().flat_map(|path| entries(path));
    folders.filter(|(_, path)| path.is_dir()).map(|(name, _)| name).take(MAX_NAMES).collect()
}

fn has_pack(folder: &Path) -> bool {
    entries(folder).any(|(name, _)| is_pack_name(&name))
}

/// Whether a file name is that of an archive.
pub(super) fn is_pack_name(name: &str) -> bool {
    ends_with(name, ".pk3")
}

/// Whether a folder name is one that other servers read as an archive.
pub(super) fn is_pack_folder_name(name: &str) -> bool {
    ends_with(name, ".pk3dir")
}

fn ends_with(name: &str, end: &str) -> bool {
    let extension = name.len().checked_sub(end.len()).and_then(|at| name.get(at..));
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, process};

    #[test]
    fn home_folders_precede_one_installation() {
        let root = env::temp_dir().join(format!("fragd-places-{}", process::id()));
        for path in ["Steam/steamapps/common/Quake 3 Arena/baseq3", "Quake III Arena/baseq3"] {
            fs::create_dir_all(root.join(path)).unwrap();
            fs::write(root.join(path).join("PAK0.PK3"), b"").unwrap();
        }
        let known = |name: &str| ["HOME", "ProgramFiles"].contains(&name).then(|| root.clone());
        let homes = usual_homes("baseq3", known);
        assert_eq!(
            homes[..4],
            [".config/Quake3", ".local/share/Quake3", ".local/share/q3a", ".q3a"]
                .map(|path| root.join(path))
        );
        let xdg = |name: &str| match name {
            "XDG_DATA_HOME" => Some(PathBuf::from("/data")),
            "XDG_CONFIG_HOME" => Some(PathBuf::from("relative")),
            _ => known(name),
        };
        let homes = usual_homes("baseq3", xdg);
        assert_eq!(homes[..2], [root.join(".config/Quake3"), PathBuf::from("/data/Quake3")]);
        assert!(usual_homes("baseoa", known).contains(&root.join(".openarena")));
        // An installation on this machine precedes those of the test.
        assert!(installation("baseq3", known).is_some());
        assert!(usual_homes("nosuchgame", known).is_empty());
        assert_eq!(installation("nosuchgame", known), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn settings_precede_environment_and_defaults() {
        let list = env::join_paths(["/a b", "/c"]).unwrap();
        let list = list.to_str().unwrap();
        assert_eq!(base_paths(list, "baseq3"), [PathBuf::from("/a b"), PathBuf::from("/c")]);
        let paths = search_paths("/home", list, "baseq3");
        assert_eq!(paths, ["/home", "/a b", "/c"].map(PathBuf::from));
    }
}

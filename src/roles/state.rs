//! State folder of a server: which folder its settings and the environment name.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    rc::Rc,
};

use fragd::{
    io::DiskState,
    model::state_folder::StateFolder,
    settings::{Settings, key},
};

/// Value of `sv_state` without a folder.
const NONE: &str = "none";
/// Folder of this program below folders of the user.
const PROGRAM: &str = "fragd";

/// Opens the state folder. `None` without one, and for a run that is recorded, since its replay has no files.
///
/// # Errors
/// The folder of `sv_state` is not writable.
pub(super) fn folder(
    settings: &Settings,
    has_journal: bool,
) -> Result<Option<Rc<dyn StateFolder>>, String> {
    let named = settings.text(key::SV_STATE);
    let home = settings.text(key::FS_HOMEPATH);
    let origin = format!("{}sv_state", settings.origin_of(key::SV_STATE));
    let port = settings.int(key::NET_PORT);
    named_folder((&origin, named), (port, home), has_journal)
}

/// Opens the folder that an option names, or else the usual one of a port and `fs_homepath`.
///
/// # Errors
/// The named folder is not writable.
pub(super) fn named_folder(
    (origin, named): (&str, &str),
    (port, home): (i32, &str),
    has_journal: bool,
) -> Result<Option<Rc<dyn StateFolder>>, String> {
    if named == NONE {
        return Ok(None);
    }
    if has_journal {
        log::info!("state folder not used: the run is recorded (--journal)");
        return Ok(None);
    }
    let folder = if named.is_empty() {
        let usual = usual_path_of(port, home, |name| env::var_os(name));
        let Some(path) = usual else {
            // A server on any free port is there for a test.
            let level = if port == 0 { log::Level::Info } else { log::Level::Warn };
            log::log!(
                level,
                "no state folder: bans and settings end with the server ({origin} names one)"
            );
            return Ok(None);
        };
        let folder = DiskState::new(path);
        folder.claim().map_err(|error| format!("{error} (expected another {origin}, or none)"))?;
        folder
    } else {
        let folder = DiskState::new(named.into());
        folder.check().map_err(|error| {
            format!("{origin}: {error} (expected a writable folder of its own, or none)")
        })?;
        folder
    };
    log::info!("state folder {}", folder.path().display());
    Ok(Some(Rc::new(folder)))
}

/// The state folder of a server that may not run. It is neither created nor checked.
pub(super) fn existing(settings: &Settings) -> Option<Rc<dyn StateFolder>> {
    let (named, home) = (settings.text(key::SV_STATE), settings.text(key::FS_HOMEPATH));
    let path = match named {
        NONE => None,
        "" => usual_path_of(settings.int(key::NET_PORT), home, |name| env::var_os(name)),
        path => Some(path.into()),
    };
    path.map(|path| Rc::new(DiskState::new(path)) as Rc<dyn StateFolder>)
}

/// Returns the folder of a node without a named one. A node on any free port has none, since its port changes.
fn usual_path_of(
    port: i32,
    home: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    if let Some(folders) = set("STATE_DIRECTORY") {
        // systemd separates several folders as in PATH.
        return env::split_paths(&folders).find(|path| path.is_absolute());
    }
    let below = |path: &Path| path.join(PROGRAM).join(port.to_string());
    if port == 0 {
        return None;
    }
    if let Some(path) = env::split_paths(home).find(|path| !path.as_os_str().is_empty()) {
        return Some(below(&path));
    }
    let absolute = |name| set(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|path| path.join(".local/state")))
        .or_else(|| absolute("LOCALAPPDATA"));
    user.map(|path| below(&path))
}

#[cfg(all(test, unix))]
mod tests {
    use fragd::settings::{ChangeSource, SetCommand};

    use super::*;

    fn path(pairs: &[(&str, &str)], variables: &[(&str, &str)]) -> Option<String> {
        let mut settings = Settings::default();
        for (name, value) in pairs {
            let set = settings.set_with(SetCommand::Set, ChangeSource::Script, name, value);
            assert!(set.is_ok(), "{name}");
        }
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        let home = settings.text(key::FS_HOMEPATH);
        usual_path_of(settings.int(key::NET_PORT), home, variable)
            .map(|path| path.display().to_string())
    }

    #[test]
    fn state_folder_is_chosen_by_environment_and_port() {
        let home = ("HOME", "/home/a");
        let found = |path: &str| Some(path.to_owned());
        assert_eq!(path(&[], &[home]), found("/home/a/.local/state/fragd/27960"));
        let state = ("STATE_DIRECTORY", "/var/lib/fragd:/var/lib/other");
        assert_eq!(path(&[], &[home, state]), found("/var/lib/fragd"));
        assert_eq!(path(&[], &[home, ("XDG_STATE_HOME", "/s")]), found("/s/fragd/27960"));
        let homepath = ("fs_homepath", "/srv/q3");
        assert_eq!(path(&[homepath], &[home]), found("/srv/q3/fragd/27960"));
        assert_eq!(path(&[("net_port", "0")], &[home]), None);
        assert_eq!(path(&[], &[]), None);
    }
}

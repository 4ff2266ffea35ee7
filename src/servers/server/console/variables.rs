//! Console commands about settings and files: `reset`, `toggle`, `unset`, `cvar_restart`, `dir`, `path`.
//!
//! Source: console commands of Quake III servers. Engine names: `Cvar_Reset_f`, `Cvar_Toggle_f`, `Cvar_Unset_f`, `FS_Dir_f`,
//! `Cvar_Restart_f`, `FS_Path_f`.

use super::{archive, execute, problems::Cause};
use crate::{
    model::{CommandArgs, text, text::counted},
    server::state::Server,
    settings::{Flags, SETTINGS, SetCommand, nearest_setting},
};

/// Maximum number of files that `dir` lists.
const MAX_LISTED: usize = 1000;

/// Sets a setting to its default.
pub(super) fn reset(server: &mut Server, words: &CommandArgs) {
    let name = words.get(1);
    if words.len() != 2 {
        return server.core.console.print("Usage: reset <name>");
    }
    let settings = &server.core.settings;
    if settings.default_of(name).is_some() {
        return execute::reset_setting(server, name);
    }
    let shown = text::escaped(name.as_bytes());
    let reason = match (settings.get(name), nearest_setting(name)) {
        (Some(_), _) => format!("{shown} is a variable without default; unset removes it"),
        (None, Some(near)) => format!("unknown setting {shown}; did you mean {near}?"),
        (None, None) => format!("unknown setting {shown}"),
    };
    execute::report(server, Cause::Failed, reason);
}

/// Removes a variable.
pub(super) fn unset(server: &mut Server, words: &CommandArgs) {
    let name = words.get(1);
    if words.len() != 2 {
        return server.core.console.print("Usage: unset <name>");
    }
    if remove(server, name) {
        return;
    }
    let shown = text::escaped(name.as_bytes());
    let reason = match server.core.settings.get(name) {
        Some(_) => format!("{shown} is a setting, not a variable; reset sets its default"),
        None => format!("unknown variable {shown}"),
    };
    execute::report(server, Cause::Failed, reason);
}

/// Removes a variable, also from the archive. Returns whether there was one.
fn remove(server: &mut Server, name: &str) -> bool {
    let is_removed = server.core.settings.unset(name);
    if is_removed {
        archive::forget(server, name);
    }
    is_removed
}

/// Sets a setting to 1 if it is 0, else to 0; or to the next of the given values.
pub(super) fn toggle(server: &mut Server, words: &CommandArgs) {
    let name = words.get(1);
    if words.len() < 2 {
        return server.core.console.print("Usage: toggle <name> [value 1] [value 2] …");
    }
    // A name that is not set counts as 0.
    let value = server.core.settings.get(name).unwrap_or_default();
    let values = words.arguments().get(1..).unwrap_or(&[]);
    let next = match values {
        [] => if text::atoi(value) == 0 { "1" } else { "0" }.to_owned(),
        [first, ..] => {
            let at = values.iter().position(|known| known.eq_ignore_ascii_case(value));
            at.and_then(|at| values.get(at + 1)).unwrap_or(first).clone()
        }
    };
    execute::change_setting(server, SetCommand::Set, name, &next);
}

/// Sets all settings to their defaults and removes variables. Operator-only settings stay, so that rcon does not lock its
/// user out, as do those of the start.
pub(super) fn reset_all(server: &mut Server) {
    const KEPT: Flags =
        Flags::PROTECTED.and(Flags::INIT).and(Flags::EARLY).and(Flags::READ_ONLY).and(Flags::CHEAT);

    let settings = &server.core.settings;
    let is_changed = |name: &str| {
        settings.default_of(name) != settings.get(name) || settings.latched(name).is_some()
    };
    let names = SETTINGS.iter().map(|setting| setting.name);
    let changed: Vec<_> = names
        .filter(|name| is_changed(name))
        .filter(|name| settings.flags(name).is_some_and(|flags| !flags.has(KEPT)))
        .collect();
    let variables: Vec<_> = settings.variables().map(|(name, ..)| name.to_owned()).collect();
    let mut removed = 0;
    for name in &variables {
        removed += usize::from(remove(server, name));
    }
    for name in &changed {
        execute::reset_setting(server, name);
    }
    let set = counted(changed.len(), "setting");
    let removed = counted(removed, "variable");
    server.core.console.print(format!("{set} set to the default, {removed} removed"));
}

/// Lists archives of the game data in search order.
pub(super) fn list_archives(server: &mut Server) {
    let packs = server.maps.assets().packs();
    for pack in packs.iter() {
        let info = &pack.info;
        let line = format!("{} ({} files)", info.file_name(), info.crcs.len());
        server.core.console.print(line);
    }
    let count = counted(packs.len(), "archive");
    server.core.console.print(format!("{count}; files in folders precede those of archives"));
}

/// Lists files of the game data.
pub(super) fn list_files(server: &mut Server, words: &CommandArgs) {
    if words.len() < 2 {
        return server.core.console.print("Usage: dir <folder> [extension]");
    }
    let (folder, extension) = (words.get(1), words.get(2).trim_start_matches('.'));
    let extension = if extension.is_empty() { "bsp" } else { extension };
    let files = server.maps.assets().list(folder, extension);
    for file in files.iter().take(MAX_LISTED) {
        server.core.console.print(file.as_str());
    }
    let count = files.len();
    server
        .core
        .console
        .print(format!("{count} files .{extension} in {}", text::escaped(folder.as_bytes())));
}

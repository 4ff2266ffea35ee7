//! Console commands about settings and files: `reset`, `toggle`, `unset`, `dir`.
//!
//! Source: console commands of Quake III servers. Engine names: `Cvar_Reset_f`, `Cvar_Toggle_f`, `Cvar_Unset_f`, `FS_Dir_f`.

use super::{execute, problems::Cause};
use crate::{
    model::{CommandArgs, text},
    server::state::Server,
    settings::{SetCommand, nearest_setting},
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
    if server.core.settings.unset(name) {
        return;
    }
    let shown = text::escaped(name.as_bytes());
    let reason = match server.core.settings.get(name) {
        Some(_) => format!("{shown} is a setting, not a variable; reset sets its default"),
        None => format!("unknown variable {shown}"),
    };
    execute::report(server, Cause::Failed, reason);
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

//! Archive of settings on the console: which lines archive a setting, and `writeconfig`.
//!
//! Lines of an administrator archive: a console line, a remote one or a vote. What the start sets is set again by each
//! start; what a mod, a module or a rotation sets does not outlast the server.
//! Source: console commands of Quake III servers. Engine names: `Com_WriteConfig_f`, `Cvar_Set_f`.

use crate::{
    model::{CommandArgs, state_folder::StateFolder, text},
    server::{archive::ARCHIVE_FILE, core::Core, state::Server},
    settings::{SetCommand, key},
};

/// Maximum length of the name of a written file, without its extension.
const MAX_NAME_LEN: usize = 60;

/// Archives a setting that the running line has changed, if the line does that.
pub(super) fn note(server: &mut Server, command: SetCommand, name: &str) {
    let is_asked = command == SetCommand::Seta;
    // A rotation, which the game runs, may have `seta` in its steps.
    let is_run_by_game = server.core.console.runs_game_lines();
    let is_kept = is_asked && !is_run_by_game || server.texts.is_direct();
    if command == SetCommand::Setu || !is_kept || !may_archive(server) {
        return;
    }
    let Core { archive, settings, console, .. } = &mut server.core;
    if let Err(problem) = archive.note(settings, name, is_asked) {
        console.warn(problem);
    }
}

/// Removes a setting from the archive, if the running line may change that.
pub(super) fn forget(server: &mut Server, name: &str) {
    if may_archive(server) {
        server.core.archive.forget(name);
    }
}

/// Number of changes of the address masks that the game bans.
pub(super) fn ban_changes(server: &Server) -> Option<u32> {
    server.core.settings.change_count(key::G_BAN_IPS.setting().name)
}

/// Archives the masks if a command of the game has changed them.
pub(super) fn note_bans(server: &mut Server, before: Option<u32>) {
    if ban_changes(server) != before {
        note(server, SetCommand::Set, key::G_BAN_IPS.setting().name);
    }
}

/// Whether the running line may change what outlasts the server.
fn may_archive(server: &Server) -> bool {
    let is_start = server.core.console.is_start() || server.texts.is_of_start();
    !is_start && server.texts.author().is_operator()
}

/// Writes the archived settings to a script in the state folder.
pub(super) fn write_config(server: &mut Server, words: &CommandArgs) {
    let line = if words.len() != 2 {
        "Usage: writeconfig <name>".to_owned()
    } else {
        match write(server, words.get(1)) {
            Ok(line) => line,
            Err(error) => format!("Error: {error}"),
        }
    };
    server.core.console.print(line);
}

fn write(server: &mut Server, asked: &str) -> Result<String, String> {
    let name = asked.strip_suffix(".cfg").unwrap_or(asked);
    let file = format!("{name}.cfg");
    if !is_script_of_state(&file) {
        let shown = text::shown_name(asked.as_bytes());
        return Err(format!("name {shown} not valid (expected letters, digits, _ and -)"));
    }
    if file.eq_ignore_ascii_case(ARCHIVE_FILE) {
        return Err(format!("{file} is the archive, which is written by itself"));
    }
    // Files of the game data are found first.
    if server.maps.assets().find(&file).is_some() {
        return Err(format!("{file} is a file of the game data, which exec {name} runs"));
    }
    let Core { archive, settings, .. } = &mut server.core;
    let written = archive.settings().snapshot(settings);
    let path = archive.write_beside(&file, written.to_text())?;
    Ok(format!(
        "{} written to {path}; exec {name} sets them",
        text::counted(written.len(), "setting")
    ))
}

/// Reads a script of the state folder. `None` if it has none of that name.
#[must_use]
pub fn state_script(
    folder: &dyn StateFolder,
    name: &str,
    most: u64,
) -> Option<Result<String, String>> {
    if !is_script_of_state(name) {
        return None;
    }
    folder.read(name, most).transpose()
}

/// Whether a name is one of `writeconfig`, so that it is a file in the state folder itself.
fn is_script_of_state(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    name.strip_suffix(".cfg")
        .is_some_and(|name| (1..=MAX_NAME_LEN).contains(&name.len()) && name.bytes().all(legal))
}

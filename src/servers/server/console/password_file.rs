//! File with the rcon password.
//!
//! The file is read once, before the first level, so that neither command line nor scripts hold the password. A journal
//! records it as a script, so that a replay grants the same commands.

use crate::{
    model::assets::ScriptPlace,
    server::state::Server,
    settings::{Author, ChangeSource, SetCommand, key},
};

/// Longest file, in bytes.
const MAX_LEN: u64 = 4096;

/// Sets `rconPassword` to the first line of `rconPasswordFile`, if a file is named.
///
/// # Errors
/// An error that names place, file and reason.
pub(super) fn read(server: &mut Server) -> Result<(), String> {
    let settings = &server.core.settings;
    let named = settings.text(key::RCON_PASSWORD_FILE);
    if named.is_empty() {
        return Ok(());
    }
    // A name without folder is a file of the working directory, never one of the game data, which clients download.
    let is_path = named.starts_with(['/', '.']);
    let path = if is_path { named.to_owned() } else { format!("./{named}") };
    let origin = settings.origin_of(key::RCON_PASSWORD_FILE);
    let failed = |what: String| format!("{origin}rconPasswordFile: {what}");
    let read = server.maps.assets().read_script(&path, MAX_LEN, ScriptPlace::CommandLine);
    let bytes = read.map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let password = text.lines().next().unwrap_or_default().trim_end();
    if password.is_empty() {
        return Err(failed(format!("{path}:1: empty line (expected a password)")));
    }
    let settings = &mut server.core.settings;
    let name = key::RCON_PASSWORD.setting().name;
    settings
        .set_by(Author::Operator, SetCommand::Set, ChangeSource::Operator, name, password)
        .map(drop)
        .map_err(|error| failed(format!("{path}:1: {error}")))
}

//! Files of the operator that hold secrets, named by settings.
//!
//! Such a file is outside the game data, which clients download. A journal records it as a script, so that a replay does the
//! same.

use crate::{
    model::assets::ScriptPlace,
    server::state::Server,
    settings::{Key, Text},
};

/// Text of a file, with its path.
pub(super) struct PrivateFile {
    pub(super) path: String,
    pub(super) text: String,
}

/// Reads the file that a setting names. `None` if the setting is empty.
///
/// # Errors
/// Problem with the file. [`fault`] names the setting.
pub(super) fn read(
    server: &Server,
    setting: Key<Text>,
    most: u64,
) -> Result<Option<PrivateFile>, String> {
    let named = server.core.settings.text(setting);
    if named.is_empty() {
        return Ok(None);
    }
    // A name without folder is a file of the working directory, never one of the game data.
    let is_path = named.starts_with(['/', '.']);
    let path = if is_path { named.to_owned() } else { format!("./{named}") };
    let read = server.maps.assets().read_script(&path, most, ScriptPlace::CommandLine);
    let bytes = read.map_err(|error| fault(server, setting, &error.to_string()))?;
    Ok(Some(PrivateFile { path, text: String::from_utf8_lossy(&bytes).into_owned() }))
}

/// Names the place and the setting in front of a problem.
pub(super) fn fault(server: &Server, setting: Key<Text>, what: &str) -> String {
    let (origin, name) = (server.core.settings.origin_of(setting), setting.setting().name);
    format!("{origin}{name}: {what}")
}

//! File with the rcon password.
//!
//! The file is read once, before the first level, so that neither command line nor scripts hold the password.

use super::private_file::{self, PrivateFile};
use crate::{
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
    let setting = key::RCON_PASSWORD_FILE;
    let Some(PrivateFile { path, text }) = private_file::read(server, setting, MAX_LEN)? else {
        return Ok(());
    };
    let password = text.lines().next().unwrap_or_default().trim_end();
    if password.is_empty() {
        let what = format!("{path}:1: empty line (expected a password)");
        return Err(private_file::fault(server, setting, &what));
    }
    let name = key::RCON_PASSWORD.setting().name;
    let settings = &mut server.core.settings;
    let set =
        settings.set_by(Author::Operator, SetCommand::Set, ChangeSource::Operator, name, password);
    set.map(drop)
        .map_err(|error| private_file::fault(server, setting, &format!("{path}:1: {error}")))
}

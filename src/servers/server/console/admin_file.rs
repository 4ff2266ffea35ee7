//! File of administrators: read at the start and by `rehashadmins`.

use super::{
    admin_acts::tell_client,
    private_file::{self, PrivateFile},
};
use crate::{
    model::text::counted,
    server::{admins::MAX_FILE_LEN, state::Server},
    settings::key,
};

/// Reads the levels and logins of `sv_admins`. Clients whose login is gone lose it. Returns a summary.
///
/// # Errors
/// An error that names place, file, line, key and reason. The old table stays.
pub(super) fn read(server: &mut Server) -> Result<String, String> {
    let setting = key::SV_ADMINS;
    let file = private_file::read(server, setting, MAX_FILE_LEN)?;
    let (path, text) =
        file.map_or_else(Default::default, |PrivateFile { path, text }| (path, text));
    let ([levels, logins], gone) = match server.core.admins.replace(&text) {
        Ok(replaced) => replaced,
        Err((line, what)) => {
            return Err(private_file::fault(server, setting, &format!("{path}:{line}: {what}")));
        }
    };
    for number in server.core.clients.keys() {
        let Some(client) = server.core.clients.get_mut(number) else { continue };
        if client.own.login.take_if(|login| gone.contains(login)).is_some() {
            tell_client(&mut server.core, number, ["Your login has ended."]);
        }
    }
    Ok(format!("{} and {} read", counted(levels, "level"), counted(logins, "login")))
}

/// Reads the file again.
pub(super) fn reload(server: &mut Server) {
    let line = match read(server) {
        Ok(summary) => {
            log::info!("administrators: {summary}");
            summary
        }
        Err(error) => {
            log::error!("{error}; the old logins stay");
            format!("Error: {error}; the old logins stay")
        }
    };
    server.core.console.print(line);
}

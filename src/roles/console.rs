//! Attached console role (`fragd console`), and the socket on which consoles attach to other roles.

use std::path::Path;

use fragd::{
    cli::{ConsoleOptions, ExitStatus},
    io::ConsoleSocket,
};

/// Listens for consoles on a path, if there is one. `option` names it in errors.
pub(super) fn listen(option: &str, path: Option<&Path>) -> Result<Option<ConsoleSocket>, String> {
    let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else { return Ok(None) };
    let socket = ConsoleSocket::bind(path).map_err(|what| format!("{option}: {what}"))?;
    log::info!("consoles attach on {}", path.display());
    Ok(Some(socket))
}

/// Attaches to the console of a server.
#[cfg(unix)]
pub(crate) fn run(options: &ConsoleOptions) -> ExitStatus {
    use std::{io::ErrorKind, time::Duration};

    use fragd::io::{
        LineEditor,
        console_attach::{ConsoleEnd, attach},
    };

    let silence = Duration::from_millis(options.silence_ms.into());
    match attach(&options.path, silence, super::is_secret_line) {
        Ok(ConsoleEnd::Closed) if LineEditor::is_available() => {
            eprintln!("the server has closed the console");
            ExitStatus::Done
        }
        Ok(_) => ExitStatus::Done,
        Err(error) => {
            let hint = match error.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
                    " (expected the sv_console or --console of a process that runs)"
                }
                ErrorKind::PermissionDenied => " (expected the user of that process)",
                _ => "",
            };
            eprintln!("fragd: {}: {error}{hint}", options.path.display());
            ExitStatus::Failed
        }
    }
}

/// Attaches to the console of a server.
#[cfg(not(unix))]
pub(crate) fn run(_: &ConsoleOptions) -> ExitStatus {
    eprintln!("fragd: Unix sockets not supported on this system");
    ExitStatus::Failed
}

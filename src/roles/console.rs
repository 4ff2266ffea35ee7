//! Attached console role (`fragd console`).

use fragd::cli::{ConsoleOptions, ExitStatus};

/// Attaches to the console of a server.
#[cfg(unix)]
pub(crate) fn run(options: &ConsoleOptions) -> ExitStatus {
    use std::{io::ErrorKind, time::Duration};

    use fragd::io::console_attach::attach;

    let silence = Duration::from_millis(options.silence_ms.into());
    match attach(&options.path, silence, super::is_secret_line) {
        Ok(_) => ExitStatus::Done,
        Err(error) => {
            let hint = match error.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
                    " (expected the sv_console of a server that runs)"
                }
                ErrorKind::PermissionDenied => " (expected the user of the server)",
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

//! Secret role (`fragd secret`): salted hashes for the file of administrators.

use std::io::{BufRead as _, IsTerminal as _, Read as _, stdin};

use fragd::{
    cli::{ExitStatus, SecretOptions},
    io,
    server::{SALT_LEN, hashed_secret},
};

/// Longest secret that is read, in bytes.
const MAX_LEN: u64 = 1024;

/// Prints the line of a secret.
pub(crate) fn run(_: &SecretOptions) -> ExitStatus {
    let salt = io::random_bytes::<SALT_LEN>().map_err(|error| error.to_string());
    let hashed = read().and_then(|secret| hashed_secret(&secret, salt?));
    match hashed {
        Ok(hashed) => super::output::show(&format!("secret = \"{hashed}\"\n"), ExitStatus::Done),
        Err(error) => {
            eprintln!("fragd: {error}");
            ExitStatus::UsageError
        }
    }
}

/// Reads a secret from the terminal, or the first line of standard input.
fn read() -> Result<String, String> {
    if stdin().is_terminal() {
        return io::terminal::read_secret("secret: ")
            .map_err(|error| format!("no secret: {error}"));
    }
    let mut line = String::new();
    let read = stdin().lock().take(MAX_LEN).read_line(&mut line);
    read.map_err(|error| format!("standard input not readable: {error}"))?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

//! Options of `console`.

use std::path::PathBuf;

use clap::Args;

use super::number::number;

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd +set sv_console /run/fragd/console         a server with a socket; fragd qw likewise
  fragd console /run/fragd/console                 its console: history, completion, log
  echo status | fragd console /run/fragd/console   a command of a script

Ctrl-D leaves the console, quit ends the server. Only the user of the server can attach.
Exit codes: 0 success, 1 failure, 2 usage error.";

/// Options of `console`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ConsoleOptions {
    /// Socket of a server (sv_console), or of a relay or master (--console)
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Milliseconds of silence behind the last line that end a console without a terminal
    #[arg(long = "silence", value_name = "MS", default_value_t = 300,
        value_parser = number::<u32>(1..=10_000))]
    pub silence_ms: u32,
}

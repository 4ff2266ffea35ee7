//! Program: command line to one role.

mod roles;

use std::process::ExitCode;

use fragd::{
    cli,
    io::{logging, restore_terminal},
};

/// Restores the terminal, also behind a panic.
struct Terminal;

impl Drop for Terminal {
    fn drop(&mut self) {
        restore_terminal();
    }
}

fn main() -> ExitCode {
    let terminal = Terminal;
    let status = match cli::parse(std::env::args_os()) {
        Ok(command) => roles::run(&command),
        Err(error) => roles::output::usage(&error),
    };
    logging::flush();
    drop(terminal);
    status.into()
}

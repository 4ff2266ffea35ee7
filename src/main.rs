//! Program: command line to one role.

mod roles;

use std::process::ExitCode;

use fragd::{cli, io::logging};

fn main() -> ExitCode {
    let status = match cli::parse(std::env::args_os()) {
        Ok(command) => roles::run(&command),
        Err(error) => roles::output::usage(&error),
    };
    logging::flush();
    status.into()
}

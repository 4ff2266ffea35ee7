//! Program: command line to one role.

mod roles;

use std::process::ExitCode;

use fragd::{cli, io::logging};

fn main() -> ExitCode {
    let status = match cli::parse(std::env::args_os()) {
        Ok(command) => roles::run(&command),
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    logging::flush();
    status.into()
}

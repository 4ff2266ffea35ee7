//! Program: command line to one role.

mod roles;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use fragd::{
    cli::{self, Command, ExitStatus, SettingsOptions},
    settings::{self, Settings},
};

fn main() -> ExitCode {
    let outcome = match cli::parse(std::env::args_os()) {
        Ok(Command::Serve(options)) => roles::serve::run(&options),
        Ok(Command::Settings(options)) => explain(&options),
        Ok(Command::Maps(options)) => roles::maps::run(&options),
        Ok(Command::Query(options)) => roles::query::run(&options),
        Ok(Command::Bots(options)) => roles::bots::run(&options),
        Ok(Command::Replay(options)) => roles::replay::run(&options),
        Ok(Command::Sim(options)) => roles::sim::run(&options),
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    fragd::io::logging::flush();
    outcome.into()
}

/// Prints the settings.
fn explain(options: &SettingsOptions) -> ExitStatus {
    let settings = Settings::new(options.game);
    let name = options.name.as_deref();
    let text = if options.toml {
        Ok(settings::config_template())
    } else if options.json {
        settings::json(&settings, name).map(|json| format!("{json:#}\n"))
    } else {
        settings::listing(&settings, name)
    };
    match text {
        Ok(text) => {
            // A closed pipe, e.g. by `head`, is not an error.
            let _ = io::stdout().write_all(text.as_bytes());
            ExitStatus::Done
        }
        Err(what) => {
            eprintln!("fragd: {what}");
            ExitStatus::UsageError
        }
    }
}

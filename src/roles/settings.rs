//! Settings role (`fragd settings`).

use std::io::{self, Write as _};

use fragd::{
    cli::{ExitStatus, SettingsOptions},
    settings::{self, Settings},
};

/// Prints the settings.
pub(crate) fn run(options: &SettingsOptions) -> ExitStatus {
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

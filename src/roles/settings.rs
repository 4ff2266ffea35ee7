//! Settings role (`fragd settings`).

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
        Ok(text) => super::output::show(&text, ExitStatus::Done),
        Err(what) => {
            eprintln!("fragd: {what}");
            ExitStatus::UsageError
        }
    }
}

//! Check role (`fragd check`): judges configuration files without starting a server.

use fragd::{
    cli::{ConfigCheckOptions, ExitStatus},
    model::text::counted,
    settings::{Settings, key, place_of_error},
};
use serde_json::json;

use super::{config_files::ConfigReader, game_data};

/// Checks the files.
pub(crate) fn run(options: &ConfigCheckOptions) -> ExitStatus {
    // The folders of game data are settings of the files: read once for these.
    let mut known = Settings::new(options.game);
    let mut first = ConfigReader::new(None);
    options.files.iter().for_each(|file| first.file(&mut known, file));
    let data = game_data::of_scripts(&known);
    let has_maps = !data.is_empty();
    let mut settings = Settings::new(options.game);
    let mut reader = ConfigReader::new(has_maps.then_some(&data));
    options.files.iter().for_each(|file| reader.file(&mut settings, file));
    if reader.errors.is_empty() {
        if let Err(error) = settings.start() {
            reader.error(format!("{}{error}", place_of_error(&settings, &error)));
        }
        if settings.is_chosen(key::MAP) {
            let from = settings.origin_of(key::MAP);
            reader.check_map(settings.text(key::MAP), &format!("{from}map: "));
        }
    }
    let is_ok = reader.errors.is_empty();
    let status = if is_ok { ExitStatus::Done } else { ExitStatus::UsageError };
    let text = if options.json { as_json(&reader) } else { as_text(&reader, options, has_maps) };
    super::output::show(&text, status)
}

fn as_text(reader: &ConfigReader<'_>, options: &ConfigCheckOptions, has_maps: bool) -> String {
    let mut text = String::new();
    for (kind, problems) in [("error", &reader.errors), ("note", &reader.notes)] {
        for problem in problems {
            text.push_str(&format!("{kind}: {problem}\n"));
        }
    }
    let maps = if has_maps { "" } else { "; no game data found: maps and scripts not checked" };
    text.push_str(&format!(
        "{}: {}, {}; {} of scripts not run{maps}\n",
        counted(options.files.len(), "file"),
        counted(reader.errors.len(), "error"),
        counted(reader.notes.len(), "note"),
        counted(reader.commands, "command")
    ));
    text
}

fn as_json(reader: &ConfigReader<'_>) -> String {
    let rows = |problems: &[String]| -> Vec<_> {
        let row = |problem: &String| {
            let (file, line, text) = placed(problem);
            json!({ "file": file, "line": line, "text": text })
        };
        problems.iter().map(row).collect()
    };
    let all = json!({
        "ok": reader.errors.is_empty(),
        "errors": rows(&reader.errors),
        "notes": rows(&reader.notes),
        "commands": reader.commands,
    });
    format!("{all:#}\n")
}

/// File, line and text of a problem `file:line: text`.
fn placed(problem: &str) -> (Option<&str>, Option<u32>, &str) {
    let whole = (None, None, problem);
    let Some((place, text)) = problem.split_once(": ") else { return whole };
    let Some((file, line)) = place.rsplit_once(':') else { return whole };
    line.parse().map_or(whole, |line| (Some(file), Some(line), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_split_from_problems() {
        assert_eq!(placed("a b.toml:3: sv_fps: x"), (Some("a b.toml"), Some(3), "sv_fps: x"));
        assert_eq!(placed("x.cfg not found"), (None, None, "x.cfg not found"));
        assert_eq!(placed("x: y"), (None, None, "x: y"));
    }
}

//! Check role (`fragd check`): judges configuration files without starting a server.

use std::path::Path;

use fragd::{
    cli::{ConfigCheckOptions, ExitStatus},
    io,
    model::text::counted,
    server::{MAX_ADMIN_FILE_LEN, check_admins},
    settings::{Key, Settings, Text, key, place_of_error},
};
use serde_json::json;

use super::{config_files::ConfigReader, game_data};

/// Longest file of `rconPasswordFile`, in bytes.
const MAX_PASSWORD_FILE_LEN: u64 = 4096;

/// Checks the files.
pub(crate) fn run(options: &ConfigCheckOptions) -> ExitStatus {
    // The folders of game data are settings of the files: read once for these.
    let mut known = Settings::new(options.game);
    let mut first = ConfigReader::new(None, None);
    options.files.iter().for_each(|file| first.file(&mut known, file));
    let data = game_data::of_scripts(&known);
    let has_maps = !data.is_empty();
    let mut settings = Settings::new(options.game);
    let state = super::state::existing(&known);
    let mut reader = ConfigReader::new(has_maps.then_some(&data), state);
    options.files.iter().for_each(|file| reader.file(&mut settings, file));
    if reader.errors.is_empty() {
        if let Err(error) = settings.start() {
            reader.error(format!("{}{error}", place_of_error(&settings, &error)));
        }
        if let Some(error) = reader.missing_map(settings.text(key::MAP))
            && settings.is_chosen(key::MAP)
        {
            reader.error(format!("{}map: {error}", settings.origin_of(key::MAP)));
        }
    }
    reader.check_rotations(&settings);
    if let Err(error) = game_data::check_mod(&settings) {
        reader.error(error);
    }
    files_that_are_missing(&settings).into_iter().for_each(|note| reader.note(note));
    if let Err(error) = check_admin_file(&settings) {
        reader.error(error);
    }
    let is_ok = reader.errors.is_empty();
    let status = if is_ok { ExitStatus::Done } else { ExitStatus::UsageError };
    let text = if options.json { as_json(&reader) } else { as_text(&reader, options, has_maps) };
    super::output::show(&text, status)
}

/// Notes files and folders that the start needs. They may exist where the server runs, or for its user.
fn files_that_are_missing(settings: &Settings) -> Vec<String> {
    let named = |key: Key<Text>| Some(settings.text(key)).filter(|name| !name.is_empty());
    let password = named(key::RCON_PASSWORD_FILE).and_then(|path| {
        let error = io::read_regular_file(Path::new(path), MAX_PASSWORD_FILE_LEN).err()?;
        Some((key::RCON_PASSWORD_FILE, error.to_string()))
    });
    let console = named(key::SV_CONSOLE).and_then(|path| {
        let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty())?;
        let missing = format!("folder {} not found", folder.display());
        (!folder.is_dir()).then_some((key::SV_CONSOLE, missing))
    });
    let state = named(key::SV_STATE).filter(|path| *path != "none").and_then(|path| {
        let is_file = Path::new(path).exists() && !Path::new(path).is_dir();
        is_file.then(|| (key::SV_STATE, format!("{path} is not a folder")))
    });
    let found = [password, console, state].into_iter().flatten();
    found
        .map(|(key, what)| format!("{}{}: {what}", settings.origin_of(key), key.setting().name))
        .collect()
}

/// Checks the file that `sv_admins` names.
fn check_admin_file(settings: &Settings) -> Result<(), String> {
    let path = settings.text(key::SV_ADMINS);
    if path.is_empty() {
        return Ok(());
    }
    let origin = settings.origin_of(key::SV_ADMINS);
    let bytes = io::read_regular_file(Path::new(path), MAX_ADMIN_FILE_LEN)
        .map_err(|error| format!("{origin}sv_admins: {error}"))?;
    check_admins(&String::from_utf8_lossy(&bytes))
        .map_err(|(line, what)| format!("{path}:{line}: {what}"))
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

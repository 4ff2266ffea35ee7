//! Values that were kept as texts for a game module, read again when no module runs.
//!
//! Invariant: with the rules of the program, each number is one that its row accepts.

use super::{
    store::Settings,
    table::{SETTINGS, is_of_game},
};
use crate::cvar::{SettingKind, Value};

/// Whether a row keeps its text for a game module, which reads it itself.
pub(super) fn is_kept(row: usize) -> bool {
    is_of_game(row) && Value::is_number(&SETTINGS[row].kind)
}

/// Reads the texts as those of scripts, since no module runs. Another number than the given one is noted. Returns an
/// error for each text without an accepted number, with its place; its setting has the default.
pub(super) fn read_again(settings: &mut Settings) -> Vec<String> {
    let outer = settings.notes.place.take();
    let mut errors = Vec::new();
    for row in (0..SETTINGS.len()).filter(|&row| is_kept(row)) {
        settings.notes.place.clone_from(&settings.slots[row].place);
        if let Some(latched) = settings.slots[row].latched.take() {
            settings.slots[row].latched = read(settings, row, &latched, &mut errors);
        }
        let value = settings.values().value(row).clone();
        let value =
            read(settings, row, &value, &mut errors).unwrap_or_else(|| default(settings, row));
        // The value of a row alone breaks no constraint.
        let _ = settings.replace(row, value);
    }
    settings.notes.place = outer;
    errors
}

/// Returns the number that a text gives; `None` with an error if it gives none.
fn read(
    settings: &mut Settings,
    row: usize,
    given: &Value,
    errors: &mut Vec<String>,
) -> Option<Value> {
    let (name, kind): (_, &SettingKind) = (SETTINGS[row].name, &SETTINGS[row].kind);
    match Value::read(name, kind, settings.row_flags(row), &given.text) {
        Ok((value, is_other)) => {
            if is_other {
                let (given, taken) = (&given.text, &value.text);
                settings
                    .notes
                    .push(format!("{name}: \"{given}\" read as {taken} (expected {kind})"));
            }
            Some(value)
        }
        Err(error) => {
            errors.push(format!("{}{error}", settings.notes.current_place()));
            None
        }
    }
}

/// Default value of a row.
fn default(settings: &Settings, row: usize) -> Value {
    let setting = &SETTINGS[row];
    let text = setting.in_game(settings.game()).default;
    Value::parse(setting.name, &setting.kind, settings.row_flags(row), text)
        .expect("a row accepts its default")
}

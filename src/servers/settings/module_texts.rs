//! Values that were kept as texts for a game module, when none runs.
//!
//! Invariant: with the rules of the program, each number is one that its row accepts.

use super::{
    store::Settings,
    table::{SETTINGS, is_of_game},
};
use crate::cvar::{Value, quoted};

/// Whether a row keeps its text for a game module, which reads it itself.
pub(super) fn is_kept(row: usize) -> bool {
    is_of_game(row) && SETTINGS[row].kind.is_number()
}

/// Reads the texts as those of scripts, since the rules of the program were selected. Another number than the given one
/// is noted. Returns an error for each text without an accepted number, with its place; its setting has the default.
pub(super) fn read_again(settings: &mut Settings) -> Vec<String> {
    let mut errors = Vec::new();
    at_each_text(settings, |settings, row, text| {
        let setting = &SETTINGS[row];
        let (name, flags) = (setting.name, settings.row_flags(row));
        let value = match Value::read(name, &setting.kind, flags, text) {
            Ok((value, is_other)) => {
                if is_other {
                    note_number(settings, row, text, &value.text);
                }
                value
            }
            Err(error) => {
                errors.push(format!("{}{error}", settings.notes.current_place()));
                let default = setting.in_game(settings.game()).default;
                Value::parse(name, &setting.kind, flags, default)
                    .expect("a row accepts its default")
            }
        };
        // The value of a row alone breaks no constraint.
        let _ = settings.replace(row, value);
    });
    errors
}

/// Notes which numbers the rules of the program read, since the module does not run. The texts stay for it.
pub(super) fn note_numbers(settings: &mut Settings) {
    at_each_text(settings, |settings, row, text| {
        let read = settings.values().value(row).number(&SETTINGS[row].kind);
        if read != text {
            let (place, name) = (settings.notes.current_place(), SETTINGS[row].name);
            let (given, kind) = (quoted(text), &SETTINGS[row].kind);
            settings.notes.push(format!(
                "{place}{name}: {given} kept for the module; the rules of the program use {read} (expected {kind})"
            ));
        }
    });
}

/// Calls a function with each text that is kept for a module, at the place where it was set.
fn at_each_text(settings: &mut Settings, mut call: impl FnMut(&mut Settings, usize, &str)) {
    let outer = settings.notes.place.take();
    for row in (0..SETTINGS.len()).filter(|&row| is_kept(row)) {
        settings.notes.place.clone_from(&settings.slots[row].place);
        let text = settings.row_text(row).to_owned();
        call(settings, row, &text);
    }
    settings.notes.place = outer;
}

fn note_number(settings: &mut Settings, row: usize, given: &str, taken: &str) {
    let setting = &SETTINGS[row];
    let (place, name, given) = (settings.notes.current_place(), setting.name, quoted(given));
    let kind = &setting.kind;
    settings.notes.push(format!("{place}{name}: {given} read as {taken} (expected {kind})"));
}

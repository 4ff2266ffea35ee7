//! Notes for the operator: accepted changes that are not as given, and undeclared names.

use std::collections::VecDeque;

use super::store::Settings;
use crate::cvar::Key;

/// Maximum number of pending notes; later ones are counted.
const MAX_NOTES: usize = 64;

/// A note about an accepted change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The sentence for the operator.
    pub text: String,
    /// Undeclared name that the note is about: a later `vstr` may show that it is meant.
    pub undeclared: Option<String>,
}

/// Pending notes, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pending: VecDeque<Note>,
    /// Number of notes beyond the limit.
    left_out: usize,
    /// Place of the change that runs, e.g. `server.cfg:5`.
    pub(super) place: Option<String>,
}

impl Notes {
    pub(super) fn push(&mut self, text: String) {
        self.add(Note { text, undeclared: None });
    }

    /// Adds a note about an undeclared name.
    pub(super) fn push_about(&mut self, name: &str, text: String) {
        self.add(Note { text, undeclared: Some(name.to_owned()) });
    }

    pub(super) fn add(&mut self, note: Note) {
        if self.pending.len() < MAX_NOTES {
            self.pending.push_back(note);
        } else {
            self.left_out += 1;
        }
    }

    /// Place of the change that runs, in front of a note.
    pub(super) fn current_place(&self) -> String {
        self.place.as_deref().map(|place| format!("{place}: ")).unwrap_or_default()
    }

    pub(super) fn take(&mut self) -> Option<Note> {
        self.pending.pop_front().or_else(|| {
            let left_out = std::mem::take(&mut self.left_out);
            (left_out > 0).then(|| Note {
                text: format!("notes about settings (+{left_out} suppressed)"),
                undeclared: None,
            })
        })
    }
}

impl Settings {
    /// Next note for the operator, oldest first.
    pub fn poll_note(&mut self) -> Option<String> {
        self.take_note().map(|note| note.text)
    }

    /// Next note for the operator with the name that it is about, oldest first.
    pub fn take_note(&mut self) -> Option<Note> {
        self.notes.take()
    }

    /// Sets the place of the changes that follow, e.g. `server.cfg:5`, for notes that come later.
    pub fn set_place(&mut self, place: Option<String>) {
        self.notes.place = place;
    }

    /// Place of the last change of a setting, in front of an error about its value.
    #[must_use]
    pub fn origin_of<T>(&self, key: Key<T>) -> String {
        let place = self.slots[key.row()].place.as_deref();
        place.map(|place| format!("{place}: ")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_beyond_the_limit_are_counted() {
        let mut notes = Notes::default();
        (0..MAX_NOTES + 3).for_each(|at| notes.push(at.to_string()));
        let texts: Vec<_> = std::iter::from_fn(|| notes.take()).map(|note| note.text).collect();
        assert_eq!(texts.len(), MAX_NOTES + 1);
        assert_eq!(texts[MAX_NOTES], "notes about settings (+3 suppressed)");
    }
}

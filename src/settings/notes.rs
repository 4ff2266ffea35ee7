//! Notes for the operator: accepted changes that are not as given, and undeclared names.

use std::collections::VecDeque;

/// Maximum number of pending notes; later ones are lost.
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
pub(super) struct Notes(VecDeque<Note>);

impl Notes {
    pub(super) fn push(&mut self, text: String, undeclared: Option<String>) {
        if self.0.len() < MAX_NOTES {
            self.0.push_back(Note { text, undeclared });
        }
    }

    pub(super) fn take(&mut self) -> Option<Note> {
        self.0.pop_front()
    }
}

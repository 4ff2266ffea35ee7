//! Completion of console lines.

use crate::model::TypedLine;

/// Candidates for the last word of a console line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Position of the word in the line, in bytes.
    pub start: usize,
    /// Words that may replace it.
    pub words: Vec<String>,
}

impl Completion {
    /// Returns the names that begin with the last word of a line.
    #[must_use]
    pub fn of(typed: &TypedLine<'_>, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { start: typed.start, words: typed.candidates(names) }
    }
}

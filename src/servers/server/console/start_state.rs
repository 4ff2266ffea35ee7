//! State of the start: the first level that was chosen, errors, and misspellings to report.

use std::collections::BTreeSet;

use crate::settings::Note;

/// Maximum number of misspellings that are reported at the end of the start.
const MAX_HINTS: usize = 64;

/// A level that a `map` command has chosen.
#[derive(Debug)]
pub(super) struct FirstLevel {
    pub(super) map: String,
    /// File and line of the command in front of an error, or nothing.
    pub(super) origin: String,
    /// Whether the settings behind the command belong to the next level.
    pub(super) has_begun: bool,
}

/// State of the start.
#[derive(Debug, Default)]
pub(in crate::server) struct Startup {
    pub(super) chosen: Option<FirstLevel>,
    /// Whether commands of the command line run.
    pub(super) is_command_line: bool,
    /// Misspellings with their places. A later `vstr` of the name removes them.
    pub(super) hints: Vec<(Option<String>, Note)>,
    /// Number of misspellings beyond the limit.
    pub(super) hints_left_out: usize,
    /// Names that `vstr` has run, in lower case.
    pub(super) used: BTreeSet<String>,
    /// Last step of a map rotation that the start has run.
    pub(super) step: Option<String>,
    /// Error about the first map that was not found.
    pub(super) missing_map: Option<String>,
    /// Whether an error ends the start.
    pub(in crate::server) is_strict: bool,
    error: Option<String>,
}

impl Startup {
    /// The state before the start. `is_strict`: an error ends it.
    pub(in crate::server) fn new(is_strict: bool) -> Self {
        Self { is_strict, ..Self::default() }
    }

    /// The error that ends the start.
    pub(in crate::server) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Records the first error.
    pub(in crate::server) fn fail(&mut self, error: String) {
        self.error.get_or_insert(error);
    }

    /// Whether a script has chosen the first level, so that latched values wait for the next one.
    pub(super) fn has_begun_level(&self) -> bool {
        self.chosen.as_ref().is_some_and(|level| level.has_begun)
    }

    /// Whether the start has failed, so that nothing more runs.
    pub(super) fn is_over(&self) -> bool {
        self.is_strict && self.error.is_some()
    }

    pub(super) fn add_hint(&mut self, place: Option<String>, note: Note) {
        if self.hints.len() < MAX_HINTS {
            self.hints.push((place, note));
        } else {
            self.hints_left_out += 1;
        }
    }

    pub(super) fn use_variable(&mut self, name: &str) {
        self.used.insert(name.to_ascii_lowercase());
    }
}

//! Problems of a map's source: file, line, what is wrong and what would be right.

use std::{collections::BTreeMap, fmt};

use thiserror::Error;

use super::vector::Vector;
use crate::model::text::counted;

/// Maximum number of errors that one build reports.
const MAX_ERRORS: usize = 50;
/// Maximum number of warnings that one build reports.
const MAX_WARNINGS: usize = 20_000;
/// Maximum number of warnings in a short list.
const MAX_SHORT: usize = 300;
/// Maximum number of warnings of one kind in a short list.
const MAX_OF_KIND: usize = 12;

/// One problem of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the file.
    pub file: String,
    /// Line number, from 1; 0 for the file as a whole.
    pub line: u32,
    /// The problem, and in parentheses what would be right.
    pub message: String,
}

impl Diagnostic {
    /// Creates a diagnostic. Control characters of names in the source are escaped.
    pub fn new(file: &str, line: u32, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.contains(char::is_control) {
            let escaped = |c: char| {
                if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
            };
            message = message.chars().map(escaped).collect();
        }
        Self { file: file.to_owned(), line, message }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}: {}", self.file, self.message),
        }
    }
}

/// Way from an entity to the outside of a map that is not closed.
#[derive(Clone, Debug, PartialEq)]
pub struct Leak {
    /// Class of the entity from which the outside is reached.
    pub class: String,
    /// Line of that entity in the source.
    pub line: u32,
    /// Points of the way: the entity's origin, then the middle of each opening.
    pub points: Vec<Vector>,
}

impl Leak {
    /// Returns the text of the `.lin` file that editors show: one point a line.
    #[must_use]
    pub fn lin(&self) -> String {
        let line = |point: &Vector| format!("{:.6} {:.6} {:.6}\n", point[0], point[1], point[2]);
        self.points.iter().map(line).collect()
    }

    /// Returns the way in words, with whole coordinates.
    #[must_use]
    pub fn way(&self) -> String {
        let text = |point: &Vector| format!("({:.0} {:.0} {:.0})", point[0], point[1], point[2]);
        let shown: Vec<_> = self.points.iter().take(12).map(text).collect();
        let rest = self.points.len().saturating_sub(shown.len());
        let rest =
            if rest > 0 { format!(" and {}", counted(rest, "more point")) } else { String::new() };
        shown.join(" -> ") + &rest
    }
}

/// A build that failed. Nothing of it is usable.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{}", self.text())]
pub struct BuildError {
    /// Problems that stopped the build, at least one.
    pub errors: Vec<Diagnostic>,
    /// Problems that alone would not have stopped it.
    pub warnings: Vec<Diagnostic>,
}

impl BuildError {
    fn text(&self) -> String {
        let lines: Vec<_> = self.errors.iter().map(Diagnostic::to_string).collect();
        lines.join("\n")
    }
}

impl From<Diagnostic> for BuildError {
    fn from(error: Diagnostic) -> Self {
        Self { errors: vec![error], warnings: Vec::new() }
    }
}

/// Problems of one source file, collected during a build.
#[derive(Debug, Default)]
pub(super) struct Findings {
    file: String,
    errors: Vec<Diagnostic>,
    /// Number of errors beyond the limit, by file.
    more_errors: BTreeMap<String, usize>,
    warnings: Vec<Diagnostic>,
    /// Number of warnings beyond the limit.
    more_warnings: usize,
}

impl Findings {
    /// Creates an empty collection for a file.
    #[must_use]
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), ..Self::default() }
    }

    /// Returns the name of the source file.
    #[must_use]
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Adds a problem that stops the build.
    pub(super) fn error(&mut self, line: u32, message: impl Into<String>) {
        let file = self.file.clone();
        self.error_in(&file, line, message);
    }

    /// Adds a problem of another file that stops the build.
    pub(super) fn error_in(&mut self, file: &str, line: u32, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(Diagnostic::new(file, line, message));
        } else {
            self.more_errors(file, 1);
        }
    }

    /// Counts problems of a file that stop the build and are not told.
    pub(super) fn more_errors(&mut self, file: &str, count: usize) {
        if count > 0 {
            *self.more_errors.entry(file.to_owned()).or_default() += count;
        }
    }

    /// Adds a problem that does not stop the build.
    pub(super) fn warn(&mut self, line: u32, message: impl Into<String>) {
        let file = self.file.clone();
        self.warn_in(&file, line, message);
    }

    /// Adds a problem of another file that does not stop the build.
    pub(super) fn warn_in(&mut self, file: &str, line: u32, message: impl Into<String>) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(Diagnostic::new(file, line, message));
        } else {
            self.more_warnings += 1;
        }
    }

    /// Returns the number of errors so far.
    #[must_use]
    pub(super) fn error_count(&self) -> usize {
        self.errors.len() + self.more_errors.values().sum::<usize>()
    }

    /// Adds the way out of a map that is not closed.
    pub(super) fn leak(&mut self, leak: &Leak) {
        let what = format!(
            "map is not closed: {} reaches the outside: {}; built without visibility data (expected solid \
             brushes around all rooms; open the .lin file in the editor)",
            leak.class,
            leak.way()
        );
        self.warn(leak.line, what);
    }

    /// Stops the build if there are errors.
    ///
    /// # Errors
    /// Returns all problems found so far.
    pub(super) fn check(&mut self) -> Result<(), BuildError> {
        if self.errors.is_empty() { Ok(()) } else { Err(self.fail()) }
    }

    /// Returns all problems as a failed build.
    pub(super) fn fail(&mut self) -> BuildError {
        let mut errors = std::mem::take(&mut self.errors);
        let warnings = self.take_warnings();
        errors.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        errors.dedup();
        for (file, count) in std::mem::take(&mut self.more_errors) {
            errors.push(Diagnostic::new(&file, 0, counted(count, "more error")));
        }
        BuildError { errors, warnings }
    }

    /// Returns the warnings, and the number of those that were too many.
    #[must_use]
    pub(super) fn into_warnings(mut self) -> Vec<Diagnostic> {
        self.take_warnings()
    }

    fn take_warnings(&mut self) -> Vec<Diagnostic> {
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        let more = std::mem::take(&mut self.more_warnings);
        if more > 0 {
            warnings.push(Diagnostic::new(&self.file, 0, counted(more, "more warning")));
        }
        warnings
    }
}

/// Returns a short list of warnings: the first ones of each kind, and the numbers of the others.
///
/// A kind is the message up to the first value.
#[must_use]
pub fn shortened(file: &str, warnings: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut short = Vec::new();
    for warning in warnings {
        let kind = warning.message.split([':', ';', '(']).next().unwrap_or_default().trim_end();
        let count = kinds.entry(kind).or_default();
        *count += 1;
        if *count <= MAX_OF_KIND && short.len() < MAX_SHORT {
            short.push(warning.clone());
        }
    }
    let mut told = short.len();
    for (kind, count) in kinds {
        if count > MAX_OF_KIND && short.len() < 2 * MAX_SHORT {
            let more = count - MAX_OF_KIND;
            told += more;
            short.push(Diagnostic::new(
                file,
                0,
                format!("{kind}: {}", counted(more, "more warning")),
            ));
        }
    }
    if warnings.len() > told {
        let more = counted(warnings.len() - told, "more warning");
        short.push(Diagnostic::new(file, 0, format!("{more} of other kinds")));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_a_short_list_are_counted() {
        let mut findings = Findings::new("a.map");
        (0..40).for_each(|line| findings.warn(line, format!("image missing: {line}")));
        (0..13).for_each(|line| findings.warn(line, "brush dropped"));
        findings.warn(99, "map is not closed: item");
        let all = findings.into_warnings();
        assert_eq!(all.len(), 54, "a build reports all");
        let told: Vec<_> = shortened("a.map", &all).iter().map(Diagnostic::to_string).collect();
        assert_eq!(told.len(), 2 * MAX_OF_KIND + 3);
        assert_eq!(told[2 * MAX_OF_KIND], "a.map:99: map is not closed: item");
        let counts = &told[2 * MAX_OF_KIND + 1..];
        let expected =
            ["a.map: brush dropped: 1 more warning", "a.map: image missing: 28 more warnings"];
        assert_eq!(counts, expected);
        let mut findings = Findings::new("a.map");
        (0..MAX_WARNINGS as u32 + 1)
            .for_each(|line| findings.warn(line, format!("kind {line}: x")));
        let all = findings.fail().warnings;
        assert_eq!(all.last().unwrap().to_string(), "a.map: 1 more warning");
        let told = shortened("a.map", &all);
        assert_eq!(told.len(), MAX_SHORT + 1);
        assert_eq!(told[MAX_SHORT].to_string(), "a.map: 19701 more warnings of other kinds");
    }

    #[test]
    fn errors_beyond_the_limit_are_counted() {
        let mut findings = Findings::new("a.map");
        (0..MAX_ERRORS as u32 + 7).for_each(|line| findings.error(line, "wrong"));
        findings.error_in("a.shader", 1, "wrong");
        let failed = findings.fail();
        assert_eq!(failed.errors.len(), MAX_ERRORS + 2);
        assert_eq!(failed.errors[MAX_ERRORS].to_string(), "a.map: 7 more errors");
        assert_eq!(failed.errors[MAX_ERRORS + 1].to_string(), "a.shader: 1 more error");
    }

    #[test]
    fn control_characters_of_names_are_escaped() {
        let told = Diagnostic::new("a.map", 3, "target of \u{1b}[31mx does not exist");
        assert_eq!(told.to_string(), "a.map:3: target of \\u{1b}[31mx does not exist");
    }
}

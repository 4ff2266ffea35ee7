//! Problems of console commands: causes, counts for summaries of scripts, limit of their lines.
//!
//! Invariants: while texts run, each cause gives a bounded number of lines, and equal lines are printed once; the number
//! of suppressed lines follows at the end.

use std::{array, collections::BTreeSet};

/// Cause of a problem of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Cause {
    /// A value that was taken in another form.
    Changed,
    /// An unknown command, or a value that was refused.
    Refused,
    /// A variable beyond their maximum number.
    Full,
    /// A script that was not run.
    Script,
    /// A map that was not found.
    Map,
    /// A command that would run deeper than `exec` and `vstr` may.
    Nesting,
    /// A comment without end.
    Comment,
    /// A `wait` before the first level.
    Wait,
    /// A command of other servers without effect.
    Ignored,
    /// Any other command that did nothing.
    Failed,
}

impl Cause {
    const ALL: [Self; 10] = [
        Self::Changed,
        Self::Refused,
        Self::Full,
        Self::Script,
        Self::Map,
        Self::Nesting,
        Self::Comment,
        Self::Wait,
        Self::Ignored,
        Self::Failed,
    ];

    /// Maximum number of lines. One line says all about the causes that every further command meets again.
    const fn max_lines(self) -> u64 {
        match self {
            Self::Full | Self::Nesting | Self::Wait => 1,
            Self::Changed
            | Self::Refused
            | Self::Script
            | Self::Map
            | Self::Comment
            | Self::Ignored
            | Self::Failed => 64,
        }
    }

    /// Words behind a number, for one and for several.
    const fn words(self) -> [&'static str; 2] {
        match self {
            Self::Changed => ["value changed", "values changed"],
            Self::Refused => ["not understood"; 2],
            Self::Full => ["variable not stored", "variables not stored"],
            Self::Script => ["script not run", "scripts not run"],
            Self::Map => ["map not found", "maps not found"],
            Self::Nesting => ["command nested too deep", "commands nested too deep"],
            Self::Comment => ["comment not closed", "comments not closed"],
            Self::Wait => ["wait skipped", "waits skipped"],
            Self::Ignored => ["command ignored", "commands ignored"],
            Self::Failed => ["command failed", "commands failed"],
        }
    }
}

/// A number and the words behind it, for one and for several.
pub(super) fn counted(count: usize, words: [&str; 2]) -> String {
    format!("{count} {}", words[usize::from(count != 1)])
}

/// Numbers of problems, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProblemCounts([u32; Cause::ALL.len()]);

impl ProblemCounts {
    pub(super) fn add(&mut self, cause: Cause) {
        self.0[cause as usize] += 1;
    }

    /// Parts of a summary, such as `2 maps not found`.
    pub(super) fn parts(&self) -> impl Iterator<Item = String> {
        let counts = Cause::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0);
        counts.map(|(cause, count)| counted(count as usize, cause.words()))
    }
}

/// Lines of one cause.
#[derive(Debug, Default)]
struct CauseLines {
    shown: u64,
    suppressed: u64,
}

/// Lines of problems that were printed since texts began to run.
#[derive(Debug)]
pub(super) struct ProblemLines {
    /// Whether texts run. Problems outside are not bounded here.
    runs: bool,
    causes: [CauseLines; Cause::ALL.len()],
    shown: BTreeSet<String>,
}

impl Default for ProblemLines {
    fn default() -> Self {
        Self {
            runs: false,
            causes: array::from_fn(|_| CauseLines::default()),
            shown: BTreeSet::new(),
        }
    }
}

impl ProblemLines {
    /// Begins the bound. Returns whether it had not begun before.
    pub(super) fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.runs, true)
    }

    /// Whether a line may be printed. If not, it is counted.
    pub(super) fn admits(&mut self, cause: Cause, line: &str) -> bool {
        if !self.runs {
            return true;
        }
        let lines = &mut self.causes[cause as usize];
        let is_shown = lines.shown < cause.max_lines() && self.shown.insert(line.to_owned());
        lines.shown += u64::from(is_shown);
        lines.suppressed += u64::from(!is_shown);
        is_shown
    }

    /// Ends the bound. Returns a line for each cause with suppressed lines.
    pub(super) fn end(&mut self) -> Vec<String> {
        let ended = std::mem::take(self);
        let suppressed = Cause::ALL.into_iter().zip(ended.causes);
        let suppressed = suppressed.filter(|(_, lines)| lines.suppressed > 0);
        let line = |(cause, lines): (Cause, CauseLines)| {
            format!("{} (+{} suppressed)", cause.words()[1], lines.suppressed)
        };
        suppressed.map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_cause_are_bounded_and_counted() {
        let mut lines = ProblemLines::default();
        assert!(lines.admits(Cause::Nesting, "a") && lines.admits(Cause::Nesting, "a"));
        assert!(lines.begin() && !lines.begin());
        let admitted = |lines: &mut ProblemLines, cause, text: &dyn Fn(u32) -> String| {
            (0..1000).filter(|&at| lines.admits(cause, &text(at))).count()
        };
        assert_eq!(admitted(&mut lines, Cause::Refused, &|_| "equal".to_owned()), 1);
        assert_eq!(admitted(&mut lines, Cause::Map, &|at| at.to_string()), 64);
        assert_eq!(admitted(&mut lines, Cause::Full, &|at| at.to_string()), 1);
        let ends = [
            "not understood (+999 suppressed)",
            "variables not stored (+999 suppressed)",
            "maps not found (+936 suppressed)",
        ];
        assert_eq!(lines.end(), ends);
        assert!(lines.begin() && lines.end().is_empty());
    }

    #[test]
    fn causes_are_in_the_order_of_their_numbers() {
        assert!(Cause::ALL.into_iter().enumerate().all(|(at, cause)| cause as usize == at));
    }
}

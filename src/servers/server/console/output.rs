//! Console streams: output for the operator or the remote console, and lines queued by the game.

use std::collections::VecDeque;

use super::problems::{Cause, ProblemLines};
use crate::settings::Author;

/// Maximum length of all queued lines, in bytes. Engine name: `MAX_CMD_BUFFER`.
const MAX_QUEUED_LEN: usize = 64 * 1024;

/// Maximum number of texts of the start that are kept.
const MAX_START_MESSAGES: usize = 256;

/// Lines of output that queued lines print at once, and those that each frame adds.
const MAX_GAME_OUTPUT: usize = 1024;
const GAME_OUTPUT_PER_FRAME: usize = 8;

/// Output of queued lines, which a game may cause without end.
#[derive(Debug)]
struct GameOutput {
    /// Whether queued lines run.
    runs: bool,
    /// Lines that may be printed.
    left: usize,
    /// Lines that were not printed.
    cut: usize,
}

impl Default for GameOutput {
    fn default() -> Self {
        Self { runs: false, left: MAX_GAME_OUTPUT, cut: 0 }
    }
}

impl GameOutput {
    /// Whether a text may be printed.
    fn allows(&mut self, text: &str) -> bool {
        if !self.runs {
            return true;
        }
        let lines = text.matches('\n').count();
        let allows = self.left > 0;
        self.left = self.left.saturating_sub(lines);
        self.cut += if allows { 0 } else { lines };
        allows
    }
}

/// Output and queued lines of the console.
#[derive(Debug, Default)]
pub(in crate::server) struct ConsoleStreams {
    output: VecDeque<String>,
    game_output: GameOutput,
    /// Output of the remote command that runs.
    redirected: Option<Vec<String>>,
    /// Lines that the game queued, with their authors.
    queued: VecDeque<(Author, String)>,
    /// Bytes of the queued lines.
    queued_len: usize,
    /// Whether a line was discarded since the last one was taken.
    overflowed: bool,
    /// File and line of the running command, if it belongs to a script.
    place: Option<String>,
    /// Output of the start, which goes to the log.
    start: Vec<String>,
    is_start: bool,
    problems: ProblemLines,
    /// First line that the running command has printed, while it is listened to.
    heard: Option<String>,
}

impl ConsoleStreams {
    /// Prints a line to the operator, or to the remote console whose command runs.
    pub(in crate::server) fn print(&mut self, text: impl Into<String>) {
        let mut text = text.into();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if let Some(heard) = self.heard.as_mut().filter(|heard| heard.is_empty()) {
            heard.push_str(text.lines().next().unwrap_or_default());
        }
        match &mut self.redirected {
            Some(collected) => collected.push(text),
            None if self.is_start => self.log_start(log::Level::Info, text),
            None if self.game_output.allows(&text) => self.output.push_back(text),
            None => {}
        }
    }

    /// Keeps the first line that is printed from now on, for the audit log.
    pub(super) fn listen(&mut self) {
        self.heard = Some(String::new());
    }

    /// Returns the first line since [`Self::listen`].
    pub(super) fn end_listening(&mut self) -> String {
        self.heard.take().unwrap_or_default()
    }

    /// Prints line by line, so that rcon packets end at line ends.
    pub(super) fn print_lines(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.print(line);
        }
    }

    /// Prints names and values.
    pub(super) fn print_pairs<'a>(&mut self, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
        for (name, value) in pairs {
            self.print(format!("{name:<20} {value}"));
        }
    }

    /// Prints a problem of a command, with the place of the command. Lines of a cause are bounded while texts run.
    pub(in crate::server) fn report(&mut self, cause: Cause, text: impl AsRef<str>) {
        let text = self.placed(text.as_ref());
        if self.problems.admits(cause, &text) {
            self.warn(text);
        }
    }

    /// Begins the bound of lines of problems. Returns whether it had not begun before.
    pub(super) fn begin_problems(&mut self) -> bool {
        self.problems.begin()
    }

    /// Ends the bound, and prints the numbers of suppressed lines.
    pub(super) fn end_problems(&mut self) {
        self.problems.end().into_iter().for_each(|line| self.warn(line));
    }

    /// Prints a line that the operator should act on.
    pub(in crate::server) fn warn(&mut self, text: String) {
        if self.is_start && self.redirected.is_none() {
            self.log_start(log::Level::Warn, text);
        } else {
            self.print(text);
        }
    }

    /// Returns a message behind the place of the running command.
    pub(in crate::server) fn placed(&self, text: &str) -> String {
        self.place.as_deref().map_or_else(|| text.to_owned(), |place| format!("{place}: {text}"))
    }

    pub(in crate::server) fn set_place(&mut self, place: Option<String>) {
        self.place = place;
    }

    pub(in crate::server) fn clear_place(&mut self) {
        self.place = None;
    }

    /// Logs output from now on, in order with what the start logs otherwise.
    pub(in crate::server) fn begin_start(&mut self) {
        self.is_start = true;
    }

    pub(in crate::server) fn end_start(&mut self) {
        self.is_start = false;
        self.place = None;
    }

    pub(in crate::server) fn is_start(&self) -> bool {
        self.is_start
    }

    /// Output of the start.
    pub(in crate::server) fn start_messages(&self) -> &[String] {
        &self.start
    }

    fn log_start(&mut self, level: log::Level, text: String) {
        for line in text.lines() {
            log::log!(level, "{line}");
        }
        if self.start.len() < MAX_START_MESSAGES {
            self.start.push(text);
        }
    }

    /// Whether lines of the game run.
    pub(in crate::server) fn runs_game_lines(&self) -> bool {
        self.game_output.runs
    }

    /// Limits output from now on, since queued lines run.
    pub(in crate::server) fn begin_game_lines(&mut self) {
        let output = &mut self.game_output;
        output.runs = true;
        output.left = (output.left + GAME_OUTPUT_PER_FRAME).min(MAX_GAME_OUTPUT);
        if output.cut > 0 {
            let cut = std::mem::take(&mut output.cut);
            self.print(format!("{cut} lines of console output of the game not shown"));
        }
    }

    /// Ends the limit of output.
    pub(in crate::server) fn end_game_lines(&mut self) {
        self.game_output.runs = false;
    }

    /// Collects output from now on instead of printing it.
    pub(in crate::server) fn redirect(&mut self) {
        self.redirected = Some(Vec::new());
    }

    /// Ends the redirection. Returns what was printed, print by print.
    pub(in crate::server) fn end_redirect(&mut self) -> Vec<String> {
        self.redirected.take().unwrap_or_default()
    }

    pub(in crate::server) fn poll(&mut self) -> Option<String> {
        self.output.pop_front()
    }

    /// Queues a line that runs after the current frame.
    pub(in crate::server) fn queue(&mut self, author: Author, line: &str) {
        if self.has_room(line) {
            self.queued.push_back((author, line.to_owned()));
        }
    }

    /// Inserts a line before the queued ones.
    pub(in crate::server) fn insert(&mut self, author: Author, line: &str) {
        if self.has_room(line) {
            self.queued.push_front((author, line.to_owned()));
        }
    }

    /// Whether a line fits the queue. If so, its length is added.
    fn has_room(&mut self, line: &str) -> bool {
        let len = line.len().max(1);
        if self.queued_len + len > MAX_QUEUED_LEN {
            if !std::mem::replace(&mut self.overflowed, true) {
                log::warn!("console queue full: lines of the game discarded");
            }
            return false;
        }
        self.queued_len += len;
        true
    }

    /// Number of queued lines.
    pub(in crate::server) fn queued(&self) -> usize {
        self.queued.len()
    }

    pub(in crate::server) fn next_queued(&mut self) -> Option<(Author, String)> {
        let (author, line) = self.queued.pop_front()?;
        self.queued_len -= line.len().max(1);
        self.overflowed = false;
        Some((author, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queued_lines_are_bounded_and_inserted_lines_run_first() {
        let mut streams = ConsoleStreams::default();
        streams.queue(Author::Operator, "a");
        streams.queue(Author::Module, "b");
        streams.insert(Author::Mod, "c");
        let taken: Vec<_> = std::iter::from_fn(|| streams.next_queued()).collect();
        let expected = [(Author::Mod, "c"), (Author::Operator, "a"), (Author::Module, "b")];
        assert_eq!(taken, expected.map(|(author, line)| (author, line.to_owned())));
        let line = "x".repeat(1024);
        for _ in 0..100 {
            streams.queue(Author::Module, &line);
            streams.insert(Author::Module, &line);
        }
        assert_eq!(streams.queued(), MAX_QUEUED_LEN / line.len());
        streams.next_queued();
        streams.queue(Author::Module, &line);
        assert_eq!(streams.queued(), MAX_QUEUED_LEN / line.len());
    }

    #[test]
    fn output_of_queued_lines_is_limited() {
        let mut streams = ConsoleStreams::default();
        let shown = |streams: &mut ConsoleStreams| std::iter::from_fn(|| streams.poll()).count();
        for _ in 0..100 {
            streams.begin_game_lines();
            (0..500).for_each(|_| streams.print("unknown command: x"));
            streams.end_game_lines();
        }
        let count = shown(&mut streams);
        assert!((1024..=1024 + 100 * GAME_OUTPUT_PER_FRAME).contains(&count), "{count}");
        (0..5000).for_each(|_| streams.print("asked by the operator"));
        assert_eq!(shown(&mut streams), 5000);
        streams.begin_game_lines();
        let note = streams.poll().expect("a note");
        assert_eq!(note, "493 lines of console output of the game not shown\n");
    }
}

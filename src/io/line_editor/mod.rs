//! Lines that the user of a terminal edits: cursor keys, history in memory, completion.
//!
//! Texts of the process appear above the line, see `screen`. A process in the background leaves the terminal alone.
//!
//! Invariants: the terminal is in its former state after [`restore_terminal`]; the history has no line that its owner
//! declares secret.

mod keys;
mod line;
#[cfg(unix)]
mod terminal;

use std::io;
#[cfg(unix)]
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

#[cfg(unix)]
use self::{
    keys::KeyReader,
    line::{EditedLine, Effect},
};
#[cfg(unix)]
use super::screen;
use crate::node::Completion;

/// Finds the candidates for the last word of a text.
pub(super) type Complete = Box<dyn Fn(&str) -> Completion + Send>;

/// Interval between looks at the terminal: its size, its mode, its foreground process.
#[cfg(unix)]
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Maximum number of candidates that are listed.
#[cfg(unix)]
const MAX_LISTED: usize = 200;

/// Use of Ctrl-C and Ctrl-Z.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminalSignals {
    /// They are signals to the process.
    Sent,
    /// Ctrl-C ends the input.
    EndInput,
}

/// Editor of the lines of a terminal.
#[cfg(unix)]
pub struct LineEditor {
    prompt: String,
    is_secret: fn(&str) -> bool,
    complete: Complete,
    signals: TerminalSignals,
    keys: KeyReader,
    line: EditedLine,
    /// Bytes that were read and not handled.
    pending: VecDeque<u8>,
    columns: usize,
    /// Whether the input is to end without a key.
    is_over: Arc<AtomicBool>,
}

#[cfg(unix)]
impl LineEditor {
    /// Whether standard input and output are a terminal on which lines can be edited.
    #[must_use]
    pub fn is_available() -> bool {
        terminal::is_available()
    }

    /// Opens an editor. Lines for which `is_secret` is true are left out of the history.
    ///
    /// # Errors
    /// System errors of the terminal.
    pub(super) fn open(
        prompt: &str,
        signals: TerminalSignals,
        is_secret: fn(&str) -> bool,
        complete: Complete,
    ) -> io::Result<Self> {
        terminal::keep()?;
        Ok(Self {
            prompt: prompt.to_owned(),
            is_secret,
            complete,
            signals,
            keys: KeyReader::default(),
            line: EditedLine::default(),
            pending: VecDeque::new(),
            columns: 80,
            is_over: Arc::default(),
        })
    }

    /// Ends the input soon after the flag is set.
    pub(super) fn end_when(&mut self, is_over: Arc<AtomicBool>) {
        self.is_over = is_over;
    }

    /// Opens an editor without completion, whose input Ctrl-C ends.
    ///
    /// # Errors
    /// System errors of the terminal.
    pub fn plain(prompt: &str, is_secret: fn(&str) -> bool) -> io::Result<Self> {
        let complete = Box::new(|_: &str| Completion::default());
        Self::open(prompt, TerminalSignals::EndInput, is_secret, complete)
    }

    /// Reads a line; none at the end of the input.
    ///
    /// # Errors
    /// System errors of the terminal.
    pub fn read_line(&mut self) -> io::Result<Option<String>> {
        self.draw();
        loop {
            while let Some(byte) = self.pending.pop_front() {
                let Some(key) = self.keys.read(byte) else { continue };
                match self.line.press(key, &*self.complete) {
                    Effect::Changed => self.draw(),
                    Effect::ClearScreen => {
                        screen::clear();
                        self.draw();
                    }
                    Effect::Candidates(words) => {
                        screen::print(&columns(&words, self.columns));
                        self.draw();
                    }
                    Effect::Line(line) => {
                        screen::end_line();
                        if !(self.is_secret)(&line) {
                            self.line.remember(&line);
                        }
                        return Ok(Some(line));
                    }
                    Effect::End => {
                        screen::end_line();
                        restore_terminal();
                        return Ok(None);
                    }
                }
            }
            if !self.wait()? || !terminal::read(&mut self.pending)? {
                restore_terminal();
                return Ok(None);
            }
        }
    }

    /// Waits for input in the foreground. Returns false when the input is to end.
    fn wait(&mut self) -> io::Result<bool> {
        loop {
            if self.is_over.load(Ordering::Acquire) {
                return Ok(false);
            }
            if !terminal::is_in_foreground() {
                screen::hide_line();
                terminal::wait_for_foreground()?;
            }
            let is_changed = terminal::take(self.signals)?;
            let columns = terminal::columns().unwrap_or(80);
            if is_changed || columns != self.columns {
                // A shell, or the terminal itself, has changed the row.
                screen::hide_line();
                self.columns = columns;
                self.draw();
            }
            if terminal::has_input(LOOK_AGAIN)? && terminal::is_in_foreground() {
                return Ok(true);
            }
        }
    }

    fn draw(&self) {
        screen::show_line(self.line.row(&self.prompt, self.columns));
    }
}

/// Words in columns, each row with its end.
#[cfg(unix)]
fn columns(words: &[String], columns: usize) -> String {
    use std::fmt::Write as _;

    let shown = &words[..words.len().min(MAX_LISTED)];
    let width = shown.iter().map(|word| word.chars().count()).max().unwrap_or(0) + 2;
    let per_row = (columns / width.max(1)).max(1);
    let mut text = String::new();
    for row in shown.chunks(per_row) {
        for word in row {
            let _ = write!(text, "{word:<width$}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    if words.len() > shown.len() {
        let _ = writeln!(text, "{} more", words.len() - shown.len());
    }
    text
}

/// Waits until this process is the foreground reader of the terminal.
///
/// # Errors
/// Standard input has ceased to be a terminal.
#[cfg(unix)]
pub(super) fn wait_for_foreground() -> io::Result<()> {
    terminal::wait_for_foreground()
}

/// Restores the terminal that an editor changed, and erases its line.
pub fn restore_terminal() {
    #[cfg(unix)]
    {
        if terminal::accepts_output() {
            screen::hide_line_soon();
        }
        terminal::restore();
    }
}

/// Other systems edit no lines here.
#[cfg(not(unix))]
pub struct LineEditor(std::convert::Infallible);

#[cfg(not(unix))]
impl LineEditor {
    /// Whether lines can be edited.
    #[must_use]
    pub fn is_available() -> bool {
        false
    }

    /// Opens an editor.
    ///
    /// # Errors
    /// Always.
    pub fn plain(_: &str, _: fn(&str) -> bool) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Never, since no editor exists.
    pub fn read_line(&mut self) -> io::Result<Option<String>> {
        match self.0 {}
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_listed_in_columns() {
        let words = ["status", "stoprecord", "say"].map(str::to_owned);
        assert_eq!(columns(&words, 30), "status      stoprecord\nsay\n");
        assert_eq!(columns(&words, 5), "status\nstoprecord\nsay\n");
        let many: Vec<_> = (0..300).map(|number| number.to_string()).collect();
        assert!(columns(&many, 80).ends_with("\n100 more\n"));
    }
}

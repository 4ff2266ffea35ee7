//! Line that is edited: text, cursor, history, completion, and its form on the screen.
//!
//! Invariants: the cursor is in the text; the text has no control characters and at most [`MAX_CHARS`] characters; the
//! form on the screen is one row.

use std::collections::VecDeque;

use super::keys::Key;
use crate::node::Completion;

/// Longest text, in characters. The console reports lines that are too long for it.
const MAX_CHARS: usize = 4096;
/// Maximum number of remembered lines.
const MAX_HISTORY: usize = 500;

/// Effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The line has changed.
    Changed,
    /// The line is complete.
    Line(String),
    /// Words that complete the line.
    Candidates(Vec<String>),
    /// The screen is to be cleared.
    ClearScreen,
    /// The input ends.
    End,
}

/// A line and those before it.
#[derive(Debug, Default)]
pub(super) struct EditedLine {
    text: Vec<char>,
    cursor: usize,
    history: VecDeque<String>,
    /// Line of the history that is shown, counted from the newest one; 0 for the own text.
    recalled: usize,
    /// The own text while a line of the history is shown.
    draft: Vec<char>,
}

impl EditedLine {
    /// Handles a key. `complete` finds the candidates for the last word of a text.
    pub(super) fn press(&mut self, key: Key, complete: &dyn Fn(&str) -> Completion) -> Effect {
        match key {
            Key::Char(char) if self.text.len() < MAX_CHARS => {
                self.text.insert(self.cursor, char);
                self.cursor += 1;
            }
            Key::Char(_) => {}
            Key::Enter => {
                self.cursor = 0;
                self.recalled = 0;
                return Effect::Line(std::mem::take(&mut self.text).into_iter().collect());
            }
            Key::Tab => return self.complete(complete),
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            Key::Backspace => {}
            Key::EndOrDelete if self.text.is_empty() => return Effect::End,
            Key::Delete | Key::EndOrDelete => {
                if self.cursor < self.text.len() {
                    self.text.remove(self.cursor);
                }
            }
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::WordLeft => self.cursor = self.word_left(),
            Key::WordRight => self.cursor = self.word_right(),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::Up => self.recall(self.recalled + 1),
            Key::Down => self.recall(self.recalled.saturating_sub(1)),
            Key::KillRight => self.text.truncate(self.cursor),
            Key::KillLeft => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            Key::KillWord => {
                let start = self.word_left();
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            Key::ClearScreen => return Effect::ClearScreen,
            Key::Cancel => return Effect::End,
        }
        Effect::Changed
    }

    /// Adds a line to the history, unless it is empty or the newest one.
    pub(super) fn remember(&mut self, line: &str) {
        if line.trim().is_empty() || self.history.back().is_some_and(|newest| newest == line) {
            return;
        }
        if self.history.len() == MAX_HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(line.to_owned());
    }

    /// Shows a line of the history, or the own text.
    fn recall(&mut self, wanted: usize) {
        if wanted > self.history.len() {
            return;
        }
        if self.recalled == 0 {
            self.draft = self.text.clone();
        }
        self.recalled = wanted;
        self.text = match wanted {
            0 => std::mem::take(&mut self.draft),
            _ => self.history[self.history.len() - wanted].chars().collect(),
        };
        self.cursor = self.text.len();
    }

    fn word_left(&self) -> usize {
        let before = &self.text[..self.cursor];
        let end = before.iter().rposition(|char| *char != ' ').map_or(0, |last| last + 1);
        before[..end].iter().rposition(|char| *char == ' ').map_or(0, |space| space + 1)
    }

    fn word_right(&self) -> usize {
        let behind = &self.text[self.cursor..];
        let start = behind.iter().position(|char| *char != ' ').unwrap_or(behind.len());
        let len = behind[start..].iter().position(|char| *char == ' ');
        self.cursor + len.map_or(behind.len(), |len| start + len)
    }

    /// Completes the word before the cursor as far as the candidates agree.
    fn complete(&mut self, complete: &dyn Fn(&str) -> Completion) -> Effect {
        let head: String = self.text[..self.cursor].iter().collect();
        let Completion { start, mut words } = complete(&head);
        // Candidates may come from another process.
        words.retain(|word| !word.contains(char::is_control));
        let (Some(typed), false) = (head.get(start..), words.is_empty()) else {
            return Effect::Changed;
        };
        let mut agreed = agreement(&words);
        if words.len() == 1 {
            agreed.push(' ');
        } else if agreed.chars().count() <= typed.chars().count() {
            return Effect::Candidates(words);
        }
        let from = head[..start].chars().count();
        if self.text.len() + agreed.len() <= MAX_CHARS {
            self.text.splice(from..self.cursor, agreed.chars());
            self.cursor = from + agreed.chars().count();
        }
        Effect::Changed
    }

    /// Returns the row of the screen: the text around the cursor behind the prompt, with the cursor at its place.
    pub(super) fn row(&self, prompt: &str, columns: usize) -> String {
        let used = prompt.chars().count();
        // The last column stays free, since a terminal may break the row there.
        let width = columns.saturating_sub(used + 1).max(1);
        let first = (self.cursor + 1).saturating_sub(width);
        let shown: String = self.text[first..].iter().take(width).collect();
        let at = used + self.cursor - first;
        format!("\r{prompt}{shown}\u{1b}[K\r\u{1b}[{at}C")
    }
}

/// Returns the begin that words share, in the case of the first one.
fn agreement(words: &[String]) -> String {
    let Some(first) = words.first() else { return String::new() };
    let mut agreed = first.as_str();
    for word in words {
        let same = agreed.chars().zip(word.chars());
        let len: usize =
            same.take_while(|(a, b)| a.eq_ignore_ascii_case(b)).map(|(a, _)| a.len_utf8()).sum();
        agreed = &agreed[..len];
    }
    agreed.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn none(_: &str) -> Completion {
        Completion::default()
    }

    fn maps(line: &str) -> Completion {
        let typed = crate::model::TypedLine::parse(line);
        Completion::of(&typed, ["fragd1", "fragdctf1", "course", "two words"])
    }

    fn type_text(line: &mut EditedLine, text: &str) {
        for char in text.chars() {
            assert_eq!(line.press(Key::Char(char), &none), Effect::Changed);
        }
    }

    fn text(line: &EditedLine) -> String {
        line.text.iter().collect()
    }

    #[test]
    fn keys_edit_text_at_the_cursor() {
        let mut line = EditedLine::default();
        type_text(&mut line, "ap one two");
        for key in [Key::Home, Key::Right, Key::Delete, Key::Char('b'), Key::Char('c')] {
            line.press(key, &none);
        }
        assert_eq!(text(&line), "abc one two");
        for key in [Key::End, Key::WordLeft, Key::WordLeft, Key::KillWord] {
            line.press(key, &none);
        }
        assert_eq!((text(&line).as_str(), line.cursor), ("one two", 0));
        for key in [Key::WordRight, Key::Backspace, Key::KillRight] {
            line.press(key, &none);
        }
        assert_eq!(text(&line), "on");
        assert_eq!(line.press(Key::Enter, &none), Effect::Line("on".to_owned()));
        assert_eq!(line.press(Key::EndOrDelete, &none), Effect::End);
    }

    #[test]
    fn history_returns_to_own_text() {
        let mut line = EditedLine::default();
        for old in ["one", "two", "two", " "] {
            line.remember(old);
        }
        type_text(&mut line, "own");
        let mut shown = |key| {
            line.press(key, &none);
            text(&line)
        };
        let keys = [Key::Up, Key::Up, Key::Up, Key::Down, Key::Down, Key::Down];
        assert_eq!(keys.map(&mut shown), ["two", "one", "one", "two", "own", "own"]);
    }

    #[test]
    fn words_are_completed_as_far_as_they_agree() {
        let mut line = EditedLine::default();
        type_text(&mut line, "map F");
        assert_eq!(line.press(Key::Tab, &maps), Effect::Changed);
        assert_eq!(text(&line), "map fragd");
        let words = ["fragd1", "fragdctf1"].map(str::to_owned).to_vec();
        assert_eq!(line.press(Key::Tab, &maps), Effect::Candidates(words));
        type_text(&mut line, "c");
        line.press(Key::Tab, &maps);
        assert_eq!(text(&line), "map fragdctf1 ");
        let mut line = EditedLine::default();
        type_text(&mut line, "kick tw");
        line.press(Key::Tab, &maps);
        assert_eq!(text(&line), "kick \"two words\" ");
        // An answer that does not fit the line.
        let wrong = |_: &str| Completion { start: 99, words: vec!["x\u{1b}[2J".to_owned()] };
        line.press(Key::Tab, &wrong);
        assert_eq!(text(&line), "kick \"two words\" ");
    }

    #[test]
    fn row_shows_text_around_the_cursor() {
        let mut line = EditedLine::default();
        type_text(&mut line, "0123456789");
        assert_eq!(line.row("> ", 20), "\r> 0123456789\u{1b}[K\r\u{1b}[12C");
        assert_eq!(line.row("> ", 8), "\r> 6789\u{1b}[K\r\u{1b}[6C");
        line.press(Key::Home, &none);
        assert_eq!(line.row("> ", 8), "\r> 01234\u{1b}[K\r\u{1b}[2C");
    }

    proptest! {
        #[test]
        fn any_keys_keep_the_cursor_in_the_text(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), columns in 0usize..40,
        ) {
            let mut reader = super::super::keys::KeyReader::default();
            let mut line = EditedLine::default();
            for key in bytes.into_iter().filter_map(|byte| reader.read(byte)) {
                if let Effect::Line(typed) = line.press(key, &maps) {
                    line.remember(&typed);
                }
                prop_assert!(line.cursor <= line.text.len());
                prop_assert!(line.row("> ", columns).chars().count() <= columns.max(4) + 20);
            }
        }
    }
}

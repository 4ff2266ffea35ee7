//! Shadow of the reliable commands of one direction: texts by number, as the receiver stores them.
//!
//! Invariants: at most 256 texts; a number keeps its first text, as in the receiver. Source: Quake III
//! protocol 68, reliable commands, scrambling.

use crate::model::{CommandNum, limits::MAX_STRING_LEN, text::truncated};

/// Number of texts kept. Scrambled messages show only the low byte of a number.
const KEPT: usize = 256;

/// Texts of the commands of one direction.
#[derive(Debug)]
pub(super) struct CommandTexts {
    slots: Vec<Option<(CommandNum, String)>>,
    last: CommandNum,
}

impl CommandTexts {
    /// Creates the state before the first command: number 0 has the empty text.
    pub(super) fn new() -> Self {
        let mut texts = Self::unknown();
        texts.slots[0] = Some((CommandNum(0), String::new()));
        texts
    }

    /// Creates the state of a connection whose start was not observed.
    pub(super) fn unknown() -> Self {
        Self { slots: vec![None; KEPT], last: CommandNum(0) }
    }

    /// Whether the command was stored before.
    pub(super) fn has(&self, number: CommandNum) -> bool {
        number.distance(self.last) <= 0
    }

    /// Stores a command, unless it is a repetition.
    pub(super) fn store(&mut self, number: CommandNum, text: &str) {
        if self.has(number) {
            return;
        }
        self.last = number;
        let text = truncated(text, MAX_STRING_LEN);
        let slot = &mut self.slots[usize::from(number.0 as u8)];
        match slot {
            Some((old, kept)) => {
                *old = number;
                text.clone_into(kept);
            }
            None => *slot = Some((number, text.to_owned())),
        }
    }

    /// Returns the newest text whose number has this low byte.
    pub(super) fn by_low_byte(&self, low: u8) -> Option<&str> {
        self.slots[usize::from(low)].as_ref().map(|(_, text)| text.as_str())
    }

    /// Returns the text of a command.
    pub(super) fn get(&self, number: CommandNum) -> Option<&str> {
        let found = self.slots[usize::from(number.0 as u8)].as_ref();
        found.filter(|(stored, _)| *stored == number).map(|(_, text)| text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_texts_keep_first_and_newest() {
        let mut texts = CommandTexts::new();
        assert_eq!(texts.get(CommandNum(0)), Some(""));
        texts.store(CommandNum(5), "five");
        texts.store(CommandNum(5), "other");
        texts.store(CommandNum(-1), "negative");
        assert_eq!((texts.get(CommandNum(5)), texts.by_low_byte(5)), (Some("five"), Some("five")));
        texts.store(CommandNum(261), "newer");
        assert_eq!((texts.get(CommandNum(5)), texts.by_low_byte(5)), (None, Some("newer")));
        assert_eq!(CommandTexts::unknown().by_low_byte(0), None);
    }
}

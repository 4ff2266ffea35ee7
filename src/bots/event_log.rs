//! Event log of the bots: one line per event, with repeats merged.
//!
//! Each text is reported for a few bots by name, and for the others in one line.

use std::collections::HashMap;

/// Lines with a bot's name for each text.
const BY_NAME: u32 = 3;
/// Maximum different texts, and maximum lines that are not yet read.
const MAX_TEXTS: usize = 64;
const MAX_LINES: usize = 256;

/// Unread lines and the count of each text.
#[derive(Debug, Default)]
pub(super) struct EventLog {
    lines: Vec<String>,
    said: HashMap<String, u32>,
}

impl EventLog {
    /// Adds an event of a bot.
    pub(super) fn add(&mut self, name: &str, text: &str) {
        if self.lines.len() >= MAX_LINES {
            return;
        }
        let is_known = self.said.contains_key(text);
        if !is_known && self.said.len() >= MAX_TEXTS {
            return;
        }
        let count = self.said.entry(text.to_owned()).or_insert(0);
        *count = count.saturating_add(1);
        if *count <= BY_NAME {
            self.lines.push(format!("{name}: {text}\n"));
        } else if *count == BY_NAME + 1 {
            self.lines.push(format!("and others: {text}\n"));
        }
    }

    /// Returns the lines since the last call.
    pub(super) fn take(&mut self) -> Option<String> {
        (!self.lines.is_empty()).then(|| self.lines.drain(..).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_log_merges_repeated_lines() {
        let mut event_log = EventLog::default();
        for number in 1..=60 {
            event_log.add(&format!("bot{number:02}"), "refused: Server is full");
        }
        event_log.add("bot61", "dropped: kicked");
        assert_eq!(
            event_log.take().unwrap(),
            "bot01: refused: Server is full\nbot02: refused: Server is full\n\
             bot03: refused: Server is full\nand others: refused: Server is full\n\
             bot61: dropped: kicked\n"
        );
        assert_eq!(event_log.take(), None);
        for number in 0..1000 {
            event_log.add("bot", &number.to_string());
        }
        assert!(event_log.take().unwrap().lines().count() <= MAX_TEXTS);
    }
}

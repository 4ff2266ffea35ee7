//! Game log buffer: match events with server time, for the driver to poll.
//!
//! `  4:07 say: kim: well played`: minutes in three columns, seconds in two, a space. Invariants: a
//! name cannot split a line; the buffer is bounded. Source: the log format that statistics tools
//! read.
//! Engine names: `G_LogPrintf`, `games.log`.

use std::fmt::Write as _;

use crate::model::text::truncated;

/// Maximum bytes of buffered lines; further lines are lost.
const MAX_BUFFERED: usize = 1 << 20;

/// Maximum bytes of a line that the game has formatted; the rest is cut off.
const MAX_LINE_LEN: usize = 4096;

/// Lines that were not polled yet.
#[derive(Debug, Default)]
pub(super) struct GameLogBuffer {
    text: String,
    /// Line of [`Self::push_text`] that has not ended.
    open_line: String,
}

impl GameLogBuffer {
    /// Adds a line, given without line end.
    pub(super) fn push(&mut self, clock_ms: i32, line: &str) {
        if self.text.len() + line.len() > MAX_BUFFERED {
            return;
        }
        let seconds = clock_ms.max(0) / 1000;
        let _ = write!(self.text, "{:3}:{:02} ", seconds / 60, seconds % 60);
        self.text.extend(line.chars().map(|c| if c.is_control() { ' ' } else { c }));
        self.text.push('\n');
    }

    /// Adds text that the game has formatted. Its lines may span several calls.
    pub(super) fn push_text(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            let line = part.strip_suffix('\n');
            let room = MAX_LINE_LEN.saturating_sub(self.open_line.len());
            let shown = truncated(line.unwrap_or(part), room);
            self.open_line.extend(shown.chars().map(|c| if c.is_control() { ' ' } else { c }));
            if line.is_some() {
                if self.text.len() + self.open_line.len() < MAX_BUFFERED {
                    self.text.push_str(&self.open_line);
                    self.text.push('\n');
                }
                self.open_line.clear();
            }
        }
    }

    /// Removes and returns all lines.
    pub(super) fn take(&mut self) -> Option<String> {
        (!self.text.is_empty()).then(|| std::mem::take(&mut self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_has_seven_columns() {
        let mut buffer = GameLogBuffer::default();
        for ms in [0, 999, 1000, 59_999, 60_000, 605_000, 59_999_000, 60_000_000, -5] {
            buffer.push(ms, "x");
        }
        let lines = buffer.take().expect("lines");
        let clocks: Vec<_> = lines.lines().map(|line| line.trim_end_matches('x')).collect();
        assert_eq!(
            clocks,
            [
                "  0:00 ", "  0:00 ", "  0:01 ", "  0:59 ", "  1:00 ", " 10:05 ", "999:59 ",
                "1000:00 ", "  0:00 "
            ]
        );
        assert_eq!(buffer.take(), None);
    }

    #[test]
    fn control_characters_cannot_split_a_line() {
        let mut buffer = GameLogBuffer::default();
        buffer.push(0, "say: a\nKill: 0 1 2\r\u{1b}[2J: hi");
        assert_eq!(buffer.take().as_deref(), Some("  0:00 say: a Kill: 0 1 2  [2J: hi\n"));
    }

    #[test]
    fn formatted_text_is_kept_by_whole_lines() {
        let mut buffer = GameLogBuffer::default();
        buffer.push_text("  0:00 Init");
        assert_eq!(buffer.take(), None, "the line has not ended");
        buffer.push_text("Game: \\a\\b\n  0:01 say: \u{1b}[2J\r\nrest");
        assert_eq!(buffer.take().as_deref(), Some("  0:00 InitGame: \\a\\b\n  0:01 say:  [2J \n"));
        buffer.push_text(&"x".repeat(100_000));
        buffer.push_text("\n");
        assert_eq!(buffer.take().map(|text| text.len()), Some(4097));
        for _ in 0..100_000 {
            buffer.push_text("0123456789012345678901234567890\n");
        }
        assert!(buffer.take().is_some_and(|text| text.len() <= MAX_BUFFERED));
    }

    #[test]
    fn buffer_is_bounded() {
        let mut buffer = GameLogBuffer::default();
        let line = "x".repeat(1000);
        for _ in 0..2000 {
            buffer.push(0, &line);
        }
        let text = buffer.take().expect("lines");
        assert!(text.len() <= MAX_BUFFERED + 8 && text.len() > MAX_BUFFERED - 1100);
        assert!(text.lines().all(|line| line.len() == 1007));
    }
}

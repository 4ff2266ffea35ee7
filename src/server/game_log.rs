//! Game log buffer: match events with server time, for the driver to poll.
//!
//! `  4:07 say: kim: well played`: minutes in three columns, seconds in two, a space. Invariants: a
//! name cannot split a line; the buffer is bounded. Source: the log format that statistics tools
//! read.
//! Engine names: `G_LogPrintf`, `games.log`.

use std::fmt::Write as _;

/// Maximum bytes of buffered lines; further lines are lost.
const MAX_BUFFERED: usize = 1 << 20;

/// Lines that were not polled yet.
#[derive(Debug, Default)]
pub(super) struct GameLogBuffer {
    text: String,
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

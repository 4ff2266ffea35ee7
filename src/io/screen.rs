//! Standard output and standard error beside an edited line, with copies for attached consoles.
//!
//! While a line is edited on the terminal, text is printed above it. Other processes see the text as it was.
//! Invariant: the row of the line and a text are written under one lock, so that neither tears the other.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use super::{colors::Colors, console_clients};

/// Row of the line that is edited on the terminal, with the position of the cursor.
static ROW: Mutex<Option<String>> = Mutex::new(None);

/// Erases the row of the cursor.
const ERASE: &str = "\r\u{1b}[K";

fn row() -> MutexGuard<'static, Option<String>> {
    ROW.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes to the terminal. An error has no remedy here.
fn write(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Shows the row of an edited line in place of the one before it.
pub(super) fn show_line(new: String) {
    let mut row = row();
    if row.as_ref() != Some(&new) {
        write(&new);
    }
    *row = Some(new);
}

/// Leaves the edited line on the screen, and begins the next row.
pub(super) fn end_line() {
    if row().take().is_some() {
        write("\n");
    }
}

/// Erases the edited line.
pub(super) fn hide_line() {
    if row().take().is_some() {
        write(ERASE);
    }
}

/// Erases the edited line at the end of the process, unless a blocked stream holds it.
pub(super) fn hide_line_soon() {
    for _ in 0..20 {
        if let Ok(mut row) = ROW.try_lock() {
            if row.take().is_some() {
                write(ERASE);
            }
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Clears the screen, for a row that is drawn again.
pub(super) fn clear() {
    let mut row = row();
    write("\u{1b}[H\u{1b}[J");
    *row = None;
}

/// Prints a text above the edited line.
pub(super) fn print(text: &str) {
    let row = row();
    write(&above(&row, text));
}

/// Returns a text that replaces the row, with the row behind it.
fn above(row: &Option<String>, text: &str) -> String {
    let Some(row) = row else { return text.to_owned() };
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{ERASE}{text}{end}{row}")
}

/// A standard stream of this process.
pub(super) struct Screen<W> {
    stream: W,
    is_terminal: bool,
    /// Treatment of color codes; none passes text as it is.
    colors: Option<Colors>,
}

impl<W: Write> Screen<W> {
    /// The stream of a log, which has its own colors and no control characters.
    pub(super) fn log(stream: W, is_terminal: bool) -> Self {
        Self { stream, is_terminal, colors: None }
    }

    /// The stream of console output.
    pub(super) fn output(stream: W, is_terminal: bool) -> Self {
        Self { stream, is_terminal, colors: is_terminal.then(Colors::of_stdout) }
    }
}

impl<W: Write> Write for Screen<W> {
    /// Writes a whole piece.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        console_clients::publish(piece);
        if !self.is_terminal {
            self.stream.write_all(piece)?;
            return Ok(piece.len());
        }
        let text = String::from_utf8_lossy(piece);
        let text = match self.colors {
            Some(colors) => colors.shown(&text),
            None => text.into_owned(),
        };
        let row = row();
        self.stream.write_all(above(&row, &text).as_bytes())?;
        self.stream.flush()?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_appears_above_the_edited_line() {
        assert_eq!(above(&None, "log\n"), "log\n");
        let row = Some("\r> sta\u{1b}[K\r\u{1b}[5C".to_owned());
        let shown = above(&row, "log");
        assert_eq!(shown, "\r\u{1b}[Klog\n\r> sta\u{1b}[K\r\u{1b}[5C");
    }

    #[test]
    fn output_on_terminal_has_colors_and_pipe_has_codes() {
        let written = |is_terminal| {
            let mut bytes = Vec::new();
            let mut screen = Screen::output(&mut bytes, is_terminal);
            screen.colors = screen.colors.map(|_| Colors::Ansi);
            screen.write_all(b"^1x\x07\n").unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(written(false), "^1x\u{7}\n");
        assert_eq!(written(true), "\u{1b}[31mx\\u0007\u{1b}[0m\n");
    }
}

//! Full-screen terminal: lines out, keys in; secrets that are typed without an echo.
//!
//! Invariant: the terminal is in its former state after [`Terminal`] is dropped, also after a panic.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal as _, Read, Stdout, Write},
};

use crossterm::{
    cursor::{Hide, MoveTo, Show},
    event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read},
    queue,
    style::{Attribute, Print, SetAttribute},
    terminal::{
        Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen,
        LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
    },
};

/// Style of a line on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain text.
    Plain,
    /// Less prominent text.
    Dim,
    /// Head of a table.
    Bold,
    /// Selected line.
    Reverse,
}

/// Terminal in full-screen mode.
pub struct Terminal {
    out: Stdout,
    /// Screen size and lines as drawn last, so that an unchanged line costs nothing.
    drawn: ((u16, u16), Vec<(Style, String)>),
}

impl Terminal {
    /// Whether standard input and output are a terminal.
    #[must_use]
    pub fn is_available() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Switches the terminal to full-screen mode.
    ///
    /// # Errors
    /// System errors of the terminal.
    pub fn open() -> io::Result<Self> {
        enable_raw_mode()?;
        let mut this = Self { out: io::stdout(), drawn: ((0, 0), Vec::new()) };
        queue!(this.out, EnterAlternateScreen, Hide, DisableLineWrap)?;
        this.out.flush()?;
        Ok(this)
    }

    /// Returns the number of columns and lines.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        size().unwrap_or((80, 24))
    }

    /// Draws the lines from the top and clears the rest.
    ///
    /// # Errors
    /// System errors of the terminal.
    pub fn draw(&mut self, lines: Vec<(Style, String)>) -> io::Result<()> {
        let size = self.size();
        let (drawn_size, drawn) = &self.drawn;
        let same_size = *drawn_size == size;
        if !same_size {
            queue!(self.out, Clear(ClearType::All))?;
        }
        for (row, line) in (0..size.1).zip(&lines) {
            if same_size && drawn.get(usize::from(row)) == Some(line) {
                continue;
            }
            let (style, text) = line;
            let attribute = match style {
                Style::Plain => Attribute::Reset,
                Style::Dim => Attribute::Dim,
                Style::Bold => Attribute::Bold,
                Style::Reverse => Attribute::Reverse,
            };
            queue!(
                self.out,
                MoveTo(0, row),
                SetAttribute(attribute),
                Print(text),
                SetAttribute(Attribute::Reset),
                Clear(ClearType::UntilNewLine)
            )?;
        }
        if lines.len() < usize::from(size.1) {
            let end = u16::try_from(lines.len()).unwrap_or(size.1);
            queue!(self.out, MoveTo(0, end), Clear(ClearType::FromCursorDown))?;
        }
        self.drawn = (size, lines);
        self.out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // An error has no remedy here.
        let _ = queue!(self.out, EnableLineWrap, Show, LeaveAlternateScreen);
        let _ = self.out.flush();
        let _ = disable_raw_mode();
    }
}

/// Reader of a terminal's keys: one line with the name of each key, or the character itself.
#[derive(Debug, Default)]
pub struct Keys {
    line: VecDeque<u8>,
}

impl Read for Keys {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.line.is_empty() {
            if let Event::Key(key) = read()?
                && let Some(name) = key_name(key)
            {
                self.line.extend(name.bytes());
                self.line.push_back(b'\n');
            }
        }
        self.line.read(buffer)
    }
}

/// Longest secret, in characters.
const MAX_SECRET: usize = 256;

/// Raw mode of the terminal, until it is dropped.
struct RawMode;

impl Drop for RawMode {
    fn drop(&mut self) {
        // An error has no remedy here.
        let _ = disable_raw_mode();
    }
}

/// Reads a line without an echo, behind a prompt on standard error.
///
/// # Errors
/// Standard error or the keyboard is not a terminal, or the input was canceled.
pub fn read_secret(prompt: &str) -> io::Result<String> {
    if !io::stderr().is_terminal() {
        return Err(io::Error::other("not on a terminal"));
    }
    let mut out = io::stderr();
    enable_raw_mode()?;
    let mode = RawMode;
    write!(out, "{prompt}")?;
    out.flush()?;
    let mut secret = String::new();
    let result = loop {
        if let Event::Key(key) = read()?
            && let Some(end) = edit_secret(&mut secret, key)
        {
            break end;
        }
    };
    drop(mode);
    writeln!(out)?;
    result.map(|()| secret)
}

/// Changes a secret by a pressed key. Returns the end of the input.
fn edit_secret(secret: &mut String, key: KeyEvent) -> Option<io::Result<()>> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Enter => return Some(Ok(())),
        KeyCode::Char('c' | 'd') if control => {
            return Some(Err(io::Error::new(io::ErrorKind::Interrupted, "canceled")));
        }
        KeyCode::Char('u') if control => secret.clear(),
        KeyCode::Backspace => drop(secret.pop()),
        KeyCode::Char(letter) if !control && secret.chars().count() < MAX_SECRET => {
            secret.push(letter);
        }
        _ => {}
    }
    None
}

/// Returns the name of a pressed key.
fn key_name(key: KeyEvent) -> Option<String> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let name = match key.code {
        KeyCode::Char('c' | 'q') if control => "quit",
        KeyCode::Char('r' | 'l') if control => "refresh",
        KeyCode::Char(_) if control => return None,
        KeyCode::Char(' ') => "space",
        KeyCode::Char(letter) => return Some(letter.to_string()),
        KeyCode::Backspace => "backspace",
        KeyCode::Left => "left",
        KeyCode::Right => "right",
        KeyCode::Up => "up",
        KeyCode::Down => "down",
        KeyCode::PageUp => "pageup",
        KeyCode::PageDown => "pagedown",
        KeyCode::Home => "home",
        KeyCode::End => "end",
        KeyCode::Tab | KeyCode::BackTab => "tab",
        KeyCode::Enter => "enter",
        KeyCode::Esc => "escape",
        KeyCode::F(5) => "refresh",
        _ => return None,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_edited_until_enter() {
        let mut secret = String::new();
        let mut press = |code, modifiers| edit_secret(&mut secret, KeyEvent::new(code, modifiers));
        for letter in "xab".chars() {
            assert!(press(KeyCode::Char(letter), KeyModifiers::NONE).is_none());
        }
        assert!(press(KeyCode::Char('u'), KeyModifiers::CONTROL).is_none());
        for letter in "sesamE".chars() {
            assert!(press(KeyCode::Char(letter), KeyModifiers::SHIFT).is_none());
        }
        assert!(press(KeyCode::Backspace, KeyModifiers::NONE).is_none());
        assert!(matches!(press(KeyCode::Enter, KeyModifiers::NONE), Some(Ok(()))));
        assert!(matches!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Err(_))));
        assert_eq!(secret, "sesam");
    }

    #[test]
    fn keys_have_names() {
        let name = |code, modifiers| key_name(KeyEvent::new(code, modifiers));
        assert_eq!(name(KeyCode::Char('x'), KeyModifiers::NONE).as_deref(), Some("x"));
        assert_eq!(name(KeyCode::Char(' '), KeyModifiers::NONE).as_deref(), Some("space"));
        assert_eq!(name(KeyCode::Char('c'), KeyModifiers::CONTROL).as_deref(), Some("quit"));
        assert_eq!(name(KeyCode::Char('x'), KeyModifiers::CONTROL), None);
        assert_eq!(name(KeyCode::F(5), KeyModifiers::NONE).as_deref(), Some("refresh"));
        assert_eq!(name(KeyCode::F(6), KeyModifiers::NONE), None);
    }
}

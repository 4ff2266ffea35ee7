//! Color codes of texts from servers and players, as a terminal shows them.
//!
//! Invariant: the result has no control character but line ends, tabs and the escape sequences made here, so a name or
//! an answer runs nothing in a terminal.

use std::{
    env,
    fmt::Write as _,
    io::{self, IsTerminal as _},
};

/// Treatment of color codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// Escape sequences of terminals.
    Ansi,
    /// No colors and no codes.
    Removed,
}

impl Colors {
    /// Returns the treatment for standard output: colors on a terminal, unless `NO_COLOR` is set.
    #[must_use]
    pub fn of_stdout() -> Self {
        let is_off = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if io::stdout().is_terminal() && !is_off { Self::Ansi } else { Self::Removed }
    }

    /// Returns the text without codes and control characters.
    #[must_use]
    pub fn shown(self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len() + 16);
        let mut is_colored = false;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let code = chars.peek().copied().filter(|code| char == '^' && is_code(*code));
            if let Some(code) = code {
                chars.next();
                if self == Self::Ansi {
                    is_colored = true;
                    shown.push_str(sequence(code));
                }
                continue;
            }
            // A color ends with its line, so that it does not reach a prompt.
            if char == '\n' && std::mem::take(&mut is_colored) {
                shown.push_str(RESET);
            }
            if char.is_control() && !matches!(char, '\n' | '\t') {
                let _ = write!(shown, "\\u{:04x}", u32::from(char));
            } else {
                shown.push(char);
            }
        }
        if is_colored {
            shown.push_str(RESET);
        }
        shown
    }
}

/// Sequence of the terminal's own color.
const RESET: &str = "\u{1b}[0m";

/// Whether `^` and this character are a color code. Letters are those of mods.
const fn is_code(char: char) -> bool {
    char.is_ascii_alphanumeric()
}

/// Returns the sequence of a code. Engines take the low three bits.
const fn sequence(code: char) -> &'static str {
    match (code as u32).wrapping_sub('0' as u32) & 7 {
        // Black is invisible on most terminals.
        0 => "\u{1b}[90m",
        1 => "\u{1b}[31m",
        2 => "\u{1b}[32m",
        3 => "\u{1b}[33m",
        4 => "\u{1b}[94m",
        5 => "\u{1b}[36m",
        6 => "\u{1b}[35m",
        // White is invisible on a bright terminal.
        _ => RESET,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_sequences_or_nothing() {
        let text = "^1red^7 plain ^xpart\nnext 2^^3\n";
        assert_eq!(Colors::Removed.shown(text), "red plain part\nnext 2^\n");
        let shown = Colors::Ansi.shown("a ^1b\nc ^2d");
        assert_eq!(shown, "a \u{1b}[31mb\u{1b}[0m\nc \u{1b}[32md\u{1b}[0m");
        assert_eq!(Colors::Ansi.shown("plain ^"), "plain ^");
        assert_eq!(Colors::Removed.shown("^ é ^1"), "^ é ");
    }

    #[test]
    fn control_characters_are_escaped() {
        for colors in [Colors::Ansi, Colors::Removed] {
            let shown = colors.shown("x\u{1b}]0;title\u{7}\r\u{9b}2J\u{0}\ty\n");
            assert_eq!(shown, "x\\u001b]0;title\\u0007\\u000d\\u009b2J\\u0000\ty\n");
        }
        let hidden = Colors::Removed.shown("^1\u{1b}[2J^\u{1b}[2J");
        assert!(!hidden.contains('\u{1b}'), "{hidden}");
    }
}

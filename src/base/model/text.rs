//! Text functions: color codes, log escapes, spreadsheet cells, C number parsing.

use std::{borrow::Cow, fmt::Write as _};

/// Whether `rest` starts with a color code: `^` and any byte but `^` and the end.
fn begins_with_colour(rest: &[u8]) -> bool {
    rest.len() >= 2 && rest[0] == b'^' && rest[1] != b'^'
}

/// Color codes that are removed from text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorCodes {
    /// `^` and one character.
    #[default]
    Short,
    /// These, and the codes of mods with hexadecimal digits: `^xRRGGBB` and `^xRGB`.
    Hex,
}

impl ColorCodes {
    /// Length of the color code at the start of `rest`; 0 without one.
    fn len_at(self, rest: &[u8]) -> usize {
        if !begins_with_colour(rest) {
            return 0;
        }
        let is_hex = self == Self::Hex && matches!(rest[1], b'x' | b'X');
        let digits = rest[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        match digits {
            6.. if is_hex => 8,
            3.. if is_hex => 5,
            _ => 2,
        }
    }

    /// Returns the text without these codes and bytes outside printable ASCII.
    #[must_use]
    pub fn strip(self, text: &str) -> String {
        let mut rest = text.as_bytes();
        let mut plain = String::with_capacity(rest.len());
        while let Some(&byte) = rest.first() {
            let code = self.len_at(rest);
            if code == 0 && (0x20..0x7f).contains(&byte) {
                plain.push(byte as char);
            }
            rest = &rest[code.max(1)..];
        }
        plain
    }
}

/// Returns a number with its noun, which is plural unless the number is 1: `1 area`, `2 areas`, `2 brushes`.
#[must_use]
pub fn counted(count: impl std::fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    if count == "1" {
        return format!("1 {noun}");
    }
    let ends_hissing = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if ends_hissing => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// Returns the text without color codes and bytes outside printable ASCII, as for name matching.
#[must_use]
pub fn strip_colors(text: &str) -> String {
    ColorCodes::Short.strip(text)
}

/// Escapes the text for a log line: everything outside printable ASCII. The text then cannot forge
/// a line or control a terminal.
#[must_use]
pub fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            0x20..=0x7e if byte != b'\\' => shown.push(byte as char),
            b'\\' => shown.push_str("\\\\"),
            b'\n' => shown.push_str("\\n"),
            _ => {
                let _ = write!(shown, "\\x{byte:02x}");
            }
        }
    }
    shown
}

/// Returns a text for a quoted argument of a command, cut to `len` bytes: without quotes and control characters.
#[must_use]
pub fn quotable(text: &str, len: usize) -> String {
    let safe = |c: char| match c {
        '"' => '\'',
        c if c.is_control() => ' ',
        c => c,
    };
    truncated(text, len).chars().map(safe).collect()
}

/// Longest name of a file's content in a log line or an error, in characters.
pub const MAX_SHOWN_NAME: usize = 96;

/// Returns a name from a file for a log line: escaped, and cut to [`MAX_SHOWN_NAME`] characters.
#[must_use]
pub fn shown_name(bytes: &[u8]) -> String {
    // An escaped byte has at least one character, so the rest of a long name is not escaped in vain.
    let head = &bytes[..bytes.len().min(MAX_SHOWN_NAME + 1)];
    let mut shown = escaped(head);
    if head.len() < bytes.len() || shown.len() > MAX_SHOWN_NAME {
        shown.truncate(MAX_SHOWN_NAME - 3);
        shown.push_str("...");
    }
    shown
}

/// Returns the text for a cell of a CSV file, which a spreadsheet does not run as a formula.
#[must_use]
pub fn formula_free(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}").into()
    } else {
        text.into()
    }
}

/// Returns at most `len` bytes of `text`, cut at a character boundary.
#[must_use]
pub fn truncated(text: &str, len: usize) -> &str {
    let mut end = len.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the integer at the start of `text` as C's `atoi`: sign, digits, then anything; 0 without
/// one. Saturates instead of overflowing.
#[must_use]
pub fn atoi(text: &str) -> i32 {
    let text = text.trim_start();
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let mut value: i64 = 0;
    for digit in digits.bytes().take_while(u8::is_ascii_digit) {
        value = (value * 10 + i64::from(digit - b'0')).min(1 << 32);
    }
    if negative {
        value = -value;
    }
    value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_are_plural_unless_counted_once() {
        let counts =
            [(0, "area"), (1, "brush"), (2, "brush"), (3, "entity"), (1, "entity"), (2, "key")];
        let texts = counts.map(|(count, noun)| counted(count, noun));
        assert_eq!(texts, ["0 areas", "1 brush", "2 brushes", "3 entities", "1 entity", "2 keys"]);
    }

    #[test]
    fn colors_and_control_bytes_are_removed() {
        assert_eq!(strip_colors("^1Sa^^7rge\x1b[2J"), "Sa^rge[2J");
        assert_eq!(strip_colors("end^"), "end^");
    }

    #[test]
    fn hex_colors_are_removed_on_request() {
        for (text, short, hex) in [
            ("^xFF8000Ann^7", "FF8000Ann", "Ann"),
            ("^xF0Fzoe", "F0Fzoe", "zoe"),
            ("^XabcdeGil", "abcdeGil", "deGil"),
            ("^x12 ^xzz^1Bo", "12 zzBo", "12 zzBo"),
            ("^xFF", "FF", "FF"),
            ("^^x123abc", "^123abc", "^"),
        ] {
            assert_eq!(ColorCodes::Short.strip(text), short, "{text}");
            assert_eq!(ColorCodes::Hex.strip(text), hex, "{text}");
        }
    }

    #[test]
    fn log_text_cannot_break_its_line() {
        assert_eq!(escaped(b"a\n\x1b\xff\\"), "a\\n\\x1b\\xff\\\\");
    }

    #[test]
    fn shown_names_are_bounded_and_printable() {
        assert_eq!(shown_name(b"maps/q3dm17.bsp"), "maps/q3dm17.bsp");
        assert_eq!(shown_name(b"a\n\x1b[31m"), "a\\n\\x1b[31m");
        assert_eq!(shown_name(&[b'x'; MAX_SHOWN_NAME]), "x".repeat(MAX_SHOWN_NAME));
        let cut = "x".repeat(MAX_SHOWN_NAME - 3) + "...";
        for len in [MAX_SHOWN_NAME + 1, 65_535] {
            assert_eq!(shown_name(&vec![b'x'; len]), cut);
        }
        assert_eq!(shown_name(&[0xff; 65_535]).len(), MAX_SHOWN_NAME);
    }

    #[test]
    fn cells_are_no_formulas() {
        for text in ["=1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"] {
            assert_eq!(formula_free(text), format!("'{text}"));
        }
        assert_eq!(formula_free("q3dm17=1"), "q3dm17=1");
    }

    #[test]
    fn integers_parse_as_atoi() {
        for (text, value) in
            [("12abc", 12), ("", 0), ("-7", -7), ("  +3", 3), ("99999999999", i32::MAX), ("x", 0)]
        {
            assert_eq!(atoi(text), value, "{text:?}");
        }
    }
}

//! Text of the network, filtered to printable ASCII without `%`.
//!
//! Every implementation replaces bytes above 127, and `%`, by a period, on writing and on reading,
//! because old ones pass received text to `printf`. [`WireText`] borrows the bytes of a datagram
//! and filters them on access, without cost or allocation until then.
//! Source: Quake III protocol 68, strings.

use std::fmt::{self, Write as _};

use crate::model::{ArgRanges, text};

use super::bits::safe_byte;

/// Bytes of a datagram as text. Two texts are equal when their filtered bytes are.
#[derive(Clone, Copy, Default)]
pub struct WireText<'a>(&'a [u8]);

impl<'a> WireText<'a> {
    /// Empty text.
    pub const EMPTY: Self = Self(b"");

    /// Wraps bytes as text.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes as received, without the filter, for games with another character set.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Iterates over the filtered bytes.
    pub fn bytes(self) -> impl ExactSizeIterator<Item = u8> + Clone + 'a {
        self.0.iter().map(|&byte| safe_byte(byte))
    }

    /// Number of bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Whether the text is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns at most the first `len` bytes.
    #[must_use]
    pub fn truncated(self, len: usize) -> Self {
        Self(&self.0[..len.min(self.0.len())])
    }

    /// Returns the text up to the first line feed or zero byte.
    #[must_use]
    pub fn first_line(self) -> Self {
        self.up_to(|byte| byte == b'\n' || byte == 0)
    }

    /// Returns the text up to the first zero byte, the terminator of strings.
    #[must_use]
    pub fn up_to_zero(self) -> Self {
        self.up_to(|byte| byte == 0)
    }

    /// Splits a line into words. The filter does not change separators, so filtering after the
    /// split is correct.
    pub fn words(self) -> impl Iterator<Item = Self> + Clone + 'a {
        ArgRanges::new(self.0).map(move |range| Self(&self.0[range]))
    }

    /// Returns the integer at the start as C's `atoi`; 0 without one.
    #[must_use]
    pub fn atoi(self) -> i32 {
        let ascii = self.0.iter().position(|byte| !byte.is_ascii()).unwrap_or(self.0.len());
        std::str::from_utf8(&self.0[..ascii]).map_or(0, text::atoi)
    }

    /// Whether the text equals a command name, without regard to case.
    #[must_use]
    pub fn eq_ignore_case(self, other: &str) -> bool {
        self.0.eq_ignore_ascii_case(other.as_bytes())
    }

    /// Returns the text without its first `len` bytes.
    #[must_use]
    pub fn skip(self, len: usize) -> Self {
        Self(self.0.get(len..).unwrap_or_default())
    }

    /// Iterates over the lines, without their terminators.
    pub fn lines(self) -> impl Iterator<Item = Self> + 'a {
        self.0.split(|&byte| byte == b'\n').map(Self)
    }

    /// Splits the text at each ASCII `separator`.
    pub fn split(self, separator: u8) -> impl Iterator<Item = Self> + 'a {
        self.0.split(move |&byte| byte == separator).map(Self)
    }

    /// Whether the text is an integer and nothing else.
    #[must_use]
    pub fn is_integer(self) -> bool {
        let digits = self.0.strip_prefix(b"-").unwrap_or(self.0);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    }

    /// Returns the whole text as an integer, as C's `strtol` with base 0.
    ///
    /// Digits are decimal, hexadecimal behind `0x`, octal behind `0`.
    #[must_use]
    pub fn to_integer(self) -> Option<i32> {
        let text = std::str::from_utf8(self.0).ok()?;
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let (radix, digits) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
            [b'0', _, ..] => (8, &digits[1..]),
            _ => (10, digits),
        };
        // No second sign, which the parser would accept.
        let number = digits.starts_with(|c: char| c.is_ascii_alphanumeric());
        let number = i64::from_str_radix(digits, radix).ok().filter(|_| number)?;
        i32::try_from(sign * number).ok()
    }

    /// Returns the text without leading separators.
    #[must_use]
    pub fn trimmed(self) -> Self {
        self.skip(self.0.iter().take_while(|&&byte| byte <= b' ').count())
    }

    /// Splits the text before the first separator.
    #[must_use]
    pub fn split_at_space(self) -> (Self, Self) {
        let word = self.up_to(|byte| byte <= b' ');
        (word, self.skip(word.len()))
    }

    /// Returns the text after the first quote; empty without a quote.
    #[must_use]
    pub fn after_quote(self) -> Self {
        self.skip(self.up_to(|byte| byte == b'"').len() + 1)
    }

    /// Returns the text between the first quote and the last.
    #[must_use]
    pub fn between_quotes(self) -> Option<Self> {
        let first = self.0.iter().position(|&byte| byte == b'"')?;
        let last = self.0.iter().rposition(|&byte| byte == b'"')?;
        self.0.get(first + 1..last).map(Self)
    }

    /// Returns the text after `prefix`, if it starts with it.
    #[must_use]
    pub fn strip_prefix(self, prefix: &str) -> Option<Self> {
        self.0.strip_prefix(prefix.as_bytes()).map(Self)
    }

    /// Appends the text as one word of a command line, quoted if necessary. Bytes that would end
    /// the word or the line are left out.
    pub fn push_word_to(self, out: &mut Vec<u8>) {
        let comment = |pair: &[u8]| matches!(pair, b"//" | b"/*");
        let quoted = self.0.is_empty() || self.0.contains(&b' ') || self.0.windows(2).any(comment);
        let harmless = |byte: u8| if byte == b'"' || byte.is_ascii_control() { b'.' } else { byte };
        let quote = if quoted { &b"\""[..] } else { b"" };
        out.extend_from_slice(quote);
        out.extend(self.bytes().map(harmless));
        out.extend_from_slice(quote);
    }

    /// Appends the filtered bytes.
    pub fn push_to(self, out: &mut Vec<u8>) {
        out.extend(self.bytes());
    }

    fn up_to(self, ends: impl Fn(u8) -> bool) -> Self {
        let end = self.0.iter().position(|&byte| ends(byte));
        self.truncated(end.unwrap_or(self.0.len()))
    }
}

impl<'a> From<&'a str> for WireText<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}

impl PartialEq for WireText<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.bytes().eq(other.bytes())
    }
}

impl Eq for WireText<'_> {}

impl PartialEq<str> for WireText<'_> {
    fn eq(&self, other: &str) -> bool {
        *self == WireText::from(other)
    }
}

impl PartialEq<&str> for WireText<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == WireText::from(*other)
    }
}

/// Filtered text. Control bytes are still in it: escape it for a log or a terminal.
impl fmt::Display for WireText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().try_for_each(|byte| f.write_char(char::from(byte)))
    }
}

impl fmt::Debug for WireText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", text::escaped(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_bytes_become_periods() {
        let text = WireText::new(b"100%\xfe\xff\x7f");
        assert_eq!(text.to_string(), "100...\x7f");
        assert_eq!(text, "100%\u{e9}\x7f", "both sides are filtered");
        assert_ne!(text, "100...");
    }

    #[test]
    fn lines_and_strings_end_at_their_terminators() {
        assert_eq!(WireText::new(b"a\nb\0c").first_line(), "a");
        assert_eq!(WireText::new(b"a\0\nb").first_line(), "a");
        assert_eq!(WireText::new(b"a\nb\0c").up_to_zero(), "a\nb");
        assert_eq!(WireText::new(b"abc").first_line(), "abc");
    }

    #[test]
    fn pushed_word_stays_one_word() {
        for (text, word) in [
            ("abc", "abc"),
            ("a b", "\"a b\""),
            ("", "\"\""),
            ("http://x", "\"http://x\""),
            ("a\"b\nc", "a.b.c"),
        ] {
            let mut out = Vec::new();
            WireText::from(text).push_word_to(&mut out);
            assert_eq!(out, word.as_bytes());
            assert_eq!(WireText::new(&out).words().count(), 1);
        }
    }

    #[test]
    fn number_stops_at_first_non_digit() {
        assert_eq!(WireText::new(b"-12\xff").atoi(), -12);
        assert_eq!(WireText::new(b"\xff12").atoi(), 0);
    }
}

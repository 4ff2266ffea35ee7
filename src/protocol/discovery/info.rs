//! Info strings of datagrams, read in place.

use crate::wire::text::WireText;

/// Longest key or value that masters read, in bytes.
pub const MAX_INFO_PART: usize = 255;

/// Info string of a datagram: `\key\value\key\value…`.
///
/// The first backslash may be missing, and so may the last value. A key may be there twice: readers take
/// the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InfoText<'a>(WireText<'a>);

impl<'a> InfoText<'a> {
    /// Wraps text.
    #[must_use]
    pub const fn new(text: WireText<'a>) -> Self {
        Self(text)
    }

    /// Returns the text.
    #[must_use]
    pub const fn text(self) -> WireText<'a> {
        self.0
    }

    /// Iterates over keys and values in the order of the text.
    pub fn pairs(self) -> impl Iterator<Item = (WireText<'a>, WireText<'a>)> {
        let text = self.0.strip_prefix("\\").unwrap_or(self.0);
        let mut parts = text.split(b'\\');
        let mut left = !text.is_empty();
        std::iter::from_fn(move || {
            let key = parts.next().filter(|_| left)?;
            let value = parts.next();
            left = value.is_some();
            Some((key, value.unwrap_or_default()))
        })
    }

    /// Returns the value of `key` in this letter case, as masters read it.
    #[must_use]
    pub fn get(self, key: &str) -> Option<WireText<'a>> {
        self.pairs().find(|(found, _)| *found == key).map(|(_, value)| value)
    }

    /// Returns the value of `key` in any letter case, as the games read it.
    #[must_use]
    pub fn get_ignore_case(self, key: &str) -> Option<WireText<'a>> {
        self.pairs().find(|(found, _)| found.eq_ignore_case(key)).map(|(_, value)| value)
    }

    /// Whether a key or value is longer than masters read.
    #[must_use]
    pub fn has_long_part(self) -> bool {
        self.0.split(b'\\').any(|part| part.len() > MAX_INFO_PART)
    }
}

/// Returns the value of a text that is an integer and nothing else, as masters read it.
///
/// A sign may come first. `0x` makes the digits hexadecimal, a leading `0` octal.
#[must_use]
pub fn integer(text: WireText<'_>) -> Option<i32> {
    let text = std::str::from_utf8(text.raw()).ok()?;
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        None => (10, digits),
    };
    // The parser accepts a sign of its own.
    let value = digits.starts_with(|c: char| c.is_ascii_hexdigit()).then_some(digits)?;
    let value = i64::from_str_radix(value, radix).ok()?;
    i32::try_from(if is_negative { -value } else { value }).ok()
}

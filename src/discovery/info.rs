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

//! Info strings: `\key\value\key\value…`, the one map type of the protocol.
//!
//! Invariants of an [`InfoString`] from any input: keys are unique without regard to case and never
//! empty; neither keys nor values hold `\`, `;`, `"` or control bytes; the text is no longer than
//! its kind allows. It can therefore be quoted in a command and read by every engine.
//! Source: Quake III protocol 68, info strings.

use std::{cmp::Ordering, fmt};

use thiserror::Error;

use crate::model::{
    limits::{MAX_BIG_STRING_LEN, MAX_INFO_LEN},
    text::{atoi, truncated},
};

use super::text::WireText;

/// Reasons to reject a pair or a whole info string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InfoError {
    /// Byte that info strings cannot carry.
    #[error("byte {byte:#04x} at {at} may not be in an info string")]
    Forbidden {
        /// Byte.
        byte: u8,
        /// Offset in the key or value, or in the whole text.
        at: usize,
    },
    /// Empty key.
    #[error("empty key")]
    EmptyKey,
    /// More pairs than any client sends.
    #[error("too many pairs in a userinfo: {pairs} (max {limit})")]
    TooManyPairs {
        /// Number of pairs.
        pairs: usize,
        /// Limit.
        limit: usize,
    },
    /// Text longer than the buffers of engines.
    #[error("info string too long: {len} bytes (max {limit})")]
    TooLong {
        /// Length of the text, in bytes.
        len: usize,
        /// Limit, in bytes.
        limit: usize,
    },
}

/// Kind of an info string: length limit and meaning of an empty value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum InfoKind {
    /// At most 1023 bytes; setting an empty value removes the key.
    #[default]
    Normal,
    /// At most 8191 bytes; keeps empty values. Systeminfo is one.
    Big,
}

impl InfoKind {
    const fn limit(self) -> usize {
        match self {
            Self::Normal => MAX_INFO_LEN,
            Self::Big => MAX_BIG_STRING_LEN,
        }
    }

    const fn keeps_empty(self) -> bool {
        matches!(self, Self::Big)
    }
}

/// An info string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InfoString {
    text: String,
    kind: InfoKind,
}

impl InfoString {
    /// Creates an empty info string of the normal kind.
    #[must_use]
    pub const fn normal() -> Self {
        Self { text: String::new(), kind: InfoKind::Normal }
    }

    /// Creates an empty info string of the big kind.
    #[must_use]
    pub const fn big() -> Self {
        Self { text: String::new(), kind: InfoKind::Big }
    }

    /// Parses untrusted text as the normal kind.
    ///
    /// The first of duplicate keys is used. Pairs without a key or value and pairs beyond the limit
    /// are dropped; forbidden bytes become periods.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::normal().read(text)
    }

    /// Parses untrusted text as the big kind, which keeps pairs without a value.
    #[must_use]
    pub fn parse_big(text: &str) -> Self {
        Self::big().read(text)
    }

    /// Parses text of a datagram, as [`parse`](Self::parse) does.
    #[must_use]
    pub fn from_wire(text: WireText<'_>) -> Self {
        Self::parse(&text.truncated(MAX_INFO_LEN).to_string())
    }

    /// Returns the value of `key`, without regard to case.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(found, _)| found.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Returns the value of `key` as C's `atoi` reads it; `None` without the key.
    #[must_use]
    pub fn int(&self, key: &str) -> Option<i32> {
        self.get(key).map(atoi)
    }

    /// Sets `key` at the end of the text. In the normal kind an empty value removes the key.
    ///
    /// # Errors
    /// Rejects forbidden bytes, an empty key, and a text over the limit; nothing is changed then.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), InfoError> {
        if key.is_empty() {
            return Err(InfoError::EmptyKey);
        }
        for part in [key, value] {
            if let Some(at) = part.bytes().position(is_forbidden) {
                return Err(InfoError::Forbidden { byte: part.as_bytes()[at], at });
            }
        }
        if value.is_empty() && !self.kind.keeps_empty() {
            self.remove(key);
            return Ok(());
        }
        let old = self.get(key).map_or(0, |old| pair_len(key, old));
        let len = self.text.len() - old + pair_len(key, value);
        let limit = self.kind.limit();
        if len > limit {
            return Err(InfoError::TooLong { len, limit });
        }
        self.remove(key);
        self.push(key, value);
        Ok(())
    }

    /// Sets `key` to a value whose forbidden bytes become periods, for operator texts shown to
    /// players.
    ///
    /// # Errors
    /// As [`set`](Self::set), for the key and for the length.
    pub fn set_cleaned(&mut self, key: &str, value: &str) -> Result<(), InfoError> {
        self.set(key, &cleaned(value, is_forbidden))
    }

    /// Removes `key` and returns whether it was present.
    pub fn remove(&mut self, key: &str) -> bool {
        let mut end = 0;
        let place = self.iter().find_map(|(found, value)| {
            let start = end;
            end += pair_len(found, value);
            found.eq_ignore_ascii_case(key).then_some(start..end)
        });
        let Some(place) = place else { return false };
        self.text.replace_range(place, "");
        true
    }

    /// Iterates over keys and values in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        pairs(&self.text)
    }

    /// Returns the text. It starts with a backslash unless it is empty.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the info string has no pairs.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds the valid pairs of `text` to the empty info string.
    fn read(mut self, text: &str) -> Self {
        let limit = self.kind.limit();
        let clean = cleaned(truncated(text, limit), |byte| byte != b'\\' && is_forbidden(byte));
        let pairs: Vec<_> = pairs(&clean).collect();
        let firsts = first_occurrences(&pairs, compare_keys);
        for ((key, value), first) in pairs.into_iter().zip(firsts) {
            let fits = self.text.len() + pair_len(key, value) <= limit;
            let wanted = !key.is_empty() && (!value.is_empty() || self.kind.keeps_empty());
            if fits && wanted && first {
                self.push(key, value);
            }
        }
        self
    }

    fn push(&mut self, key: &str, value: &str) {
        for part in ["\\", key, "\\", value] {
            self.text.push_str(part);
        }
    }
}

impl fmt::Display for InfoString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a byte is forbidden in keys and values.
pub(super) const fn is_forbidden(byte: u8) -> bool {
    matches!(byte, b'\\' | b';' | b'"') || byte.is_ascii_control()
}

/// Returns the text with each byte that `forbidden` selects (ASCII only) replaced by a period.
fn cleaned(text: &str, forbidden: impl Fn(u8) -> bool) -> String {
    let clean = |c: char| if c.is_ascii() && forbidden(c as u8) { '.' } else { c };
    text.chars().map(clean).collect()
}

/// Returns the length of a pair, in bytes.
const fn pair_len(key: &str, value: &str) -> usize {
    1 + key.len() + 1 + value.len()
}

/// Returns whether each pair is the first with its key. Sorting limits the number of comparisons to
/// about `n * log2(n)` for any keys.
fn first_occurrences(
    pairs: &[(&str, &str)],
    mut compare: impl FnMut(&str, &str) -> Ordering,
) -> Vec<bool> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    // The sort is stable: of equal keys the first in the text comes first.
    order.sort_by(|&a, &b| compare(pairs[a].0, pairs[b].0));
    let mut firsts = vec![true; pairs.len()];
    for neighbors in order.windows(2) {
        let same = compare(pairs[neighbors[0]].0, pairs[neighbors[1]].0).is_eq();
        firsts[neighbors[1]] = !same;
    }
    firsts
}

/// Compares keys without regard to ASCII case.
fn compare_keys(a: &str, b: &str) -> Ordering {
    let lower = |byte: u8| byte.to_ascii_lowercase();
    a.bytes().map(lower).cmp(b.bytes().map(lower))
}

/// Iterates over keys and values of any text; a missing last value is empty.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut parts = text.strip_prefix('\\').unwrap_or(text).split('\\');
    let mut left = !text.is_empty();
    std::iter::from_fn(move || {
        let key = parts.next().filter(|_| left)?;
        let value = parts.next();
        left = value.is_some();
        Some((key, value.unwrap_or("")))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, normalized: &str) {
        assert_eq!(InfoString::parse(text).as_str(), normalized, "{text:?}");
    }

    #[test]
    fn hostile_pairs_are_normalized() {
        check("\\name\\a\\name\\b", "\\name\\a");
        check("\\name\\a\\NAME\\b\\x\\1", "\\name\\a\\x\\1");
        check("\\name", "");
        check("\\\\\\\\", "");
        check("\\\\a\\b\\c", "\\b\\c");
        check("name\\a", "\\name\\a");
        check("\\a\\\\A\\2\\b\\3", "\\b\\3");
        check("", "");
        check("\\", "");
        check("\\a\\x\ny;\"z", "\\a\\x.y..z");
    }

    #[test]
    fn text_over_the_limit_loses_its_last_pairs() {
        let long = format!("\\a\\{}\\b\\1", "x".repeat(1100));
        let info = InfoString::parse(&long);
        assert_eq!(info.as_str().len(), 1023);
        assert_eq!(info.get("b"), None);
        // The missing backslash makes it one byte too long.
        let info = InfoString::parse(&format!("a\\{}", "x".repeat(1021)));
        assert!(info.is_empty());
        assert_eq!(InfoString::parse_big(&long).get("b"), Some("1"));
    }

    #[test]
    fn key_lookup_ignores_case() {
        let mut info = InfoString::parse("\\Name\\a\\rate\\25000x");
        assert_eq!(info.get("nAME"), Some("a"));
        assert_eq!(info.int("RATE"), Some(25_000));
        assert_eq!(info.int("snaps"), None);
        assert_eq!(info.set("NAME", "b"), Ok(()));
        assert_eq!(info.as_str(), "\\rate\\25000x\\NAME\\b");
        assert!(info.remove("Rate"));
        assert!(!info.remove("rate"));
        assert_eq!(info.as_str(), "\\NAME\\b");
    }

    #[test]
    fn empty_value_removes_key_in_normal_kind_only() {
        let mut normal = InfoString::parse("\\a\\1");
        assert_eq!(normal.set("a", ""), Ok(()));
        assert_eq!(normal.as_str(), "");
        let mut big = InfoString::parse_big("\\sv_paks\\\\a\\1");
        assert_eq!(big.as_str(), "\\sv_paks\\\\a\\1");
        assert_eq!(big.set("a", ""), Ok(()));
        assert_eq!(big.iter().collect::<Vec<_>>(), [("sv_paks", ""), ("a", "")]);
    }

    #[test]
    fn unreadable_pairs_are_rejected() {
        let mut info = InfoString::parse("\\a\\1");
        let before = info.clone();
        for (key, value, error) in [
            ("a", "x;y", InfoError::Forbidden { byte: b';', at: 1 }),
            ("a", "\\", InfoError::Forbidden { byte: b'\\', at: 0 }),
            ("a\"", "", InfoError::Forbidden { byte: b'"', at: 1 }),
            ("a", "x\n", InfoError::Forbidden { byte: b'\n', at: 1 }),
            ("a", "\x7f", InfoError::Forbidden { byte: 0x7f, at: 0 }),
            ("", "x", InfoError::EmptyKey),
        ] {
            assert_eq!(info.set(key, value), Err(error), "{key:?} {value:?}");
        }
        assert_eq!(info, before);
        assert_eq!(info.set_cleaned("b", "x;\\y\t"), Ok(()));
        assert_eq!(info.get("b"), Some("x..y."));
    }

    #[test]
    fn length_limit_counts_freed_bytes_of_replaced_value() {
        let mut info = InfoString::normal();
        assert_eq!(info.set("a", &"x".repeat(1020)), Ok(()));
        assert_eq!(info.set("A", &"y".repeat(1020)), Ok(()));
        let error = InfoError::TooLong { len: 1024, limit: 1023 };
        assert_eq!(info.set("a", &"z".repeat(1021)), Err(error));
        assert_eq!(info.get("a").map(|value| &value[..1]), Some("y"));
        let mut big = InfoString::big();
        assert_eq!(big.set("a", &"x".repeat(8188)), Ok(()));
        assert!(big.set("b", "").is_err());
    }

    /// Returns the key comparisons that parsing a text takes, and its number of pairs.
    fn comparisons(text: &str) -> (usize, usize) {
        let pairs: Vec<_> = pairs(text).collect();
        let mut compared = 0;
        first_occurrences(&pairs, |a, b| {
            compared += 1;
            compare_keys(a, b)
        });
        (compared, pairs.len())
    }

    #[test]
    fn key_comparisons_grow_like_a_sort() {
        let short = |n: usize| -> String {
            // Short distinct keys, which give a connect packet the most pairs.
            (0..n).map(|i| format!("\\{}{}\\1", (b'a' + (i % 26) as u8) as char, i / 26)).collect()
        };
        let same: String = "\\a\\1".repeat(255);
        let reversed: String = (0..1600).rev().map(|i| format!("\\{i:04}\\")).collect();
        for (text, log2) in [(short(209), 8), (same, 8), (reversed, 11)] {
            let (compared, pairs) = comparisons(&text);
            assert!(pairs >= 200, "{pairs}");
            // The sort, a little over log2 of the number of pairs for each, and one pass over neighbors.
            assert!(compared <= pairs * (log2 + 3), "{compared} comparisons of {pairs} keys");
        }
    }

    fn assert_valid(info: &InfoString) {
        let pairs: Vec<_> = info.iter().collect();
        for (number, (key, value)) in pairs.iter().enumerate() {
            assert!(!key.is_empty() && !format!("{key}{value}").bytes().any(is_forbidden));
            assert!(!value.is_empty() || info.kind.keeps_empty());
            assert!(!pairs[..number].iter().any(|(k, _)| k.eq_ignore_ascii_case(key)));
        }
        assert!(info.as_str().len() <= info.kind.limit());
        assert_eq!(&info.emptied().read(info.as_str()), info, "reading changes it no more");
    }

    impl InfoString {
        fn emptied(&self) -> Self {
            Self { text: String::new(), kind: self.kind }
        }
    }

    proptest! {
        #[test]
        fn any_text_becomes_a_sound_info(text in r#"[\\a-cA-C;"\n\x00-\x7fé]{0,60}"#) {
            assert_valid(&InfoString::parse(&text));
            assert_valid(&InfoString::parse_big(&text));
        }

        #[test]
        fn every_accepted_value_is_read_back(
            steps in prop::collection::vec(("[a-cA-C]{0,2}", "[x\\\\;é ]{0,300}"), 0..30)
        ) {
            let (mut normal, mut big) = (InfoString::normal(), InfoString::big());
            for (key, value) in &steps {
                if normal.set(key, value).is_ok() {
                    prop_assert_eq!(normal.get(key).unwrap_or(""), value);
                }
                if big.set_cleaned(key, value).is_ok() {
                    prop_assert_eq!(big.get(key).map(str::len), Some(value.len()));
                }
            }
            assert_valid(&normal);
            assert_valid(&big);
        }
    }
}

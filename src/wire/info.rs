//! InfoString strings: `\key\value\key\value…`, the one map type of the protocol.
//!
//! Invariants of an [`InfoString`], whatever it was made of: keys are unique without regard to case and never
//! empty; neither keys nor values hold `\`, `;`, `"` or control bytes; the text is no longer than its
//! kind allows. So it can be put between quotes in a command and be read by every peer.
//! Source: Quake III protocol 68, info strings.

use std::{cmp::Ordering, fmt};

use thiserror::Error;

use crate::model::{
    limits::{MAX_BIG_STRING_LEN, MAX_INFO_LEN},
    text::{leading_int, truncated},
};

use super::text::Text;

/// Why a pair, or a whole info string, was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InfoError {
    /// A byte that info strings cannot carry.
    #[error("byte {byte:#04x} at {at} may not be in an info string")]
    Forbidden {
        /// The byte.
        byte: u8,
        /// Where it stands: in the key or value given, or in the whole text.
        at: usize,
    },
    /// A key without a letter.
    #[error("a key is empty")]
    EmptyKey,
    /// More pairs than any client sends.
    #[error("too many pairs in a userinfo: {pairs} (max {limit})")]
    TooManyPairs {
        /// How many there are.
        pairs: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The text would be longer than every peer's buffer.
    #[error("{len} bytes are more than the {limit} an info string may have")]
    TooLong {
        /// How long it would be.
        len: usize,
        /// How long it may be.
        limit: usize,
    },
}

/// How long the text may be, and what an empty value means.
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
    /// An empty one of the normal kind.
    #[must_use]
    pub const fn normal() -> Self {
        Self { text: String::new(), kind: InfoKind::Normal }
    }

    /// An empty one of the big kind.
    #[must_use]
    pub const fn big() -> Self {
        Self { text: String::new(), kind: InfoKind::Big }
    }

    /// Reads text of unknown origin as the normal kind.
    ///
    /// Of keys that occur twice the first counts; pairs without a key or value go, and so do pairs
    /// beyond the limit; bytes that may not be there become full stops.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::normal().read(text)
    }

    /// Reads text of unknown origin as the big kind, which keeps pairs without a value.
    #[must_use]
    pub fn parse_big(text: &str) -> Self {
        Self::big().read(text)
    }

    /// Reads text out of a datagram, as [`parse`](Self::parse) does.
    #[must_use]
    pub fn from_wire(text: Text<'_>) -> Self {
        Self::parse(&text.truncated(MAX_INFO_LEN).to_string())
    }

    /// The value of `key`, whose case does not matter.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(found, _)| found.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// The number a C program would read from the value of `key`; `None` when there is no such key.
    #[must_use]
    pub fn int(&self, key: &str) -> Option<i32> {
        self.get(key).map(leading_int)
    }

    /// Gives `key` a value, at the end of the text. In the normal kind an empty value removes it.
    ///
    /// # Errors
    /// Refuses bytes that may not be there, an empty key, and a text over the limit; then nothing has
    /// changed.
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

    /// Gives `key` a value of which bytes that may not be there become full stops, as when an
    /// operator's words are shown to players.
    ///
    /// # Errors
    /// Like [`set`](Self::set), for the key and for the length.
    pub fn set_cleaned(&mut self, key: &str, value: &str) -> Result<(), InfoError> {
        self.set(key, &cleaned(value, is_forbidden))
    }

    /// Takes `key` out. True when it was there.
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

    /// Keys and values in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        pairs(&self.text)
    }

    /// The text, beginning with a backslash unless it is empty.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether there is no pair.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes what is good out of `text`. `self` is empty.
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

/// Whether a key or value may not hold this byte.
pub(super) const fn is_forbidden(byte: u8) -> bool {
    matches!(byte, b'\\' | b';' | b'"') || byte.is_ascii_control()
}

/// The text with the bytes that `forbidden` finds, all ASCII, made full stops.
fn cleaned(text: &str, forbidden: impl Fn(u8) -> bool) -> String {
    let clean = |c: char| if c.is_ascii() && forbidden(c as u8) { '.' } else { c };
    text.chars().map(clean).collect()
}

/// Bytes that a pair takes.
const fn pair_len(key: &str, value: &str) -> usize {
    1 + key.len() + 1 + value.len()
}

/// For each pair, whether no pair before it has the same key. Sorting keeps the number of comparisons
/// near `n * log2(n)`, whatever the keys are.
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

/// Order of keys without regard to ASCII case.
fn compare_keys(a: &str, b: &str) -> Ordering {
    let lower = |byte: u8| byte.to_ascii_lowercase();
    a.bytes().map(lower).cmp(b.bytes().map(lower))
}

/// Keys and values of any text; a value that is missing at the end is empty.
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
    fn hostile_pairs_are_put_in_order() {
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
    fn text_over_the_limit_loses_what_does_not_fit() {
        let long = format!("\\a\\{}\\b\\1", "x".repeat(1100));
        let info = InfoString::parse(&long);
        assert_eq!(info.as_str().len(), 1023);
        assert_eq!(info.get("b"), None);
        // The missing backslash is one byte more than there is room for.
        let info = InfoString::parse(&format!("a\\{}", "x".repeat(1021)));
        assert!(info.is_empty());
        assert_eq!(InfoString::parse_big(&long).get("b"), Some("1"));
    }

    #[test]
    fn a_key_is_found_whatever_its_case() {
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
    fn an_empty_value_removes_only_in_the_normal_kind() {
        let mut normal = InfoString::parse("\\a\\1");
        assert_eq!(normal.set("a", ""), Ok(()));
        assert_eq!(normal.as_str(), "");
        let mut big = InfoString::parse_big("\\sv_paks\\\\a\\1");
        assert_eq!(big.as_str(), "\\sv_paks\\\\a\\1");
        assert_eq!(big.set("a", ""), Ok(()));
        assert_eq!(big.iter().collect::<Vec<_>>(), [("sv_paks", ""), ("a", "")]);
    }

    #[test]
    fn what_no_peer_could_read_is_refused() {
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
    fn the_limit_counts_what_a_replaced_value_frees() {
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

    /// Comparisons of keys that reading a text takes, and the pairs in it.
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
    fn key_comparisons_grow_no_faster_than_a_sort() {
        let short = |n: usize| -> String {
            // Short distinct keys, which fill a connect packet with the most pairs.
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

    fn assert_sound(info: &InfoString) {
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
            assert_sound(&InfoString::parse(&text));
            assert_sound(&InfoString::parse_big(&text));
        }

        #[test]
        fn whatever_is_set_can_be_read(
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
            assert_sound(&normal);
            assert_sound(&big);
        }
    }
}

//! Pattern of player names.
//!
//! `*` matches any text, `?` one character. Colors, case and repeated spaces do not count.

use std::fmt;

use crate::model::text;

/// Longest pattern, in bytes.
pub(super) const MAX_PATTERN_LEN: usize = 64;
/// Longest part of a name that is compared, in bytes. Names of players are shorter.
const MAX_NAME_LEN: usize = 64;

/// Pattern of player names, without colors, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamePattern(String);

impl NamePattern {
    /// Parses a pattern. `None` if it has no letter, digit or sign to compare, since it would match every name, and if
    /// it is too long.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > 2 * MAX_PATTERN_LEN {
            return None;
        }
        let plain = plain_name(text);
        let compares = plain.chars().any(|c| !matches!(c, '*' | '?' | ' '));
        (compares && plain.len() <= MAX_PATTERN_LEN).then_some(Self(plain))
    }

    /// Pattern of a player's name. `None` for a name without text.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        // A name with stars would match the names of others.
        Self::parse(&text::truncated(name, 2 * MAX_PATTERN_LEN).replace('*', "?"))
    }

    /// Whether the pattern matches several names.
    #[must_use]
    pub fn has_wildcard(&self) -> bool {
        self.0.contains(['*', '?'])
    }

    /// Whether the pattern matches a name that [`plain_name`] returned.
    pub(super) fn matches_plain(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Place behind the last star, and the part of the name that it matches up to.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    star = Some((p + 1, n));
                    p += 1;
                }
                Some(&byte) if byte == b'?' || byte == name[n] => {
                    p += 1;
                    n += 1;
                }
                _ => match &mut star {
                    Some((after, matched)) => {
                        *matched += 1;
                        (p, n) = (*after, *matched);
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&byte| byte == b'*')
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a name without colors, invisible characters and outer or repeated spaces, in lower case.
pub(super) fn plain_name(name: &str) -> String {
    let stripped = text::strip_colors(text::truncated(name, 4 * MAX_NAME_LEN));
    let words: Vec<_> = stripped.split_ascii_whitespace().collect();
    words.join(" ").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        NamePattern::parse(pattern).expect(pattern).matches_plain(&plain_name(name))
    }

    #[test]
    fn names_match_without_colors_and_case() {
        for (pattern, name, expected) in [
            ("Sarge", "^1s^2ARge", true),
            ("^3Sarge", "sarge", true),
            ("sarge", "sarge2", false),
            ("sarge*", "Sarge2", true),
            ("*bot*", "my ^4B^5oT 7", true),
            ("*bot*", "bo t", false),
            ("p?ayer", "pLayer", true),
            ("p?ayer", "payer", false),
            ("a*b*c", "aXXbYYc", true),
            ("a*b*c", "aXXbYY", false),
            ("two words", "  two   ^1words ", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_compare_something() {
        for pattern in ["", "*", "**?", "^1", " ", "\u{1}\u{2}"] {
            assert_eq!(NamePattern::parse(pattern), None, "{pattern:?}");
        }
        assert_eq!(NamePattern::parse(&"x".repeat(MAX_PATTERN_LEN + 1)), None);
        let of_player = NamePattern::of_name("*a*").expect("a pattern");
        assert!(of_player.matches_plain("*a*") && !of_player.matches_plain("banana"));
        let worst = NamePattern::parse(&"*a".repeat(MAX_PATTERN_LEN / 2)).expect("a pattern");
        assert!(!worst.matches_plain(&"a".repeat(30)));
    }
}

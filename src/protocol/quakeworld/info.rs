//! Info strings: settings as `\key\value` pairs, with the limits of QuakeWorld.
//!
//! Source: QuakeWorld protocol 28, userinfo and serverinfo.

use thiserror::Error;

/// Longest key or value.
pub const MAX_WORD_LEN: usize = 63;
/// Longest userinfo on servers of the publisher.
pub const PUBLISHER_USERINFO_LEN: usize = 195;
/// Longest info string of MVDSV, and of the line that it arrives in.
pub const MAX_INFO_LEN: usize = 1022;

/// Reasons to refuse a setting. The info string is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InfoError {
    /// Key or value with a backslash, quote or control character.
    #[error("character not allowed in info string")]
    Character,
    /// Key that only the program sets.
    #[error("key starts with *")]
    Protected,
    /// Missing key.
    #[error("key is empty")]
    NoKey,
    /// Key or value too long.
    #[error("key or value too long: {0} bytes (max {MAX_WORD_LEN})")]
    WordLength(usize),
    /// Info string too long.
    #[error("info string too long: {0} bytes")]
    Length(usize),
}

/// Iterates over keys and values of an info string. A key without value ends it.
pub fn pairs(info: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut words = info.strip_prefix(b"\\").unwrap_or(info).split(|&byte| byte == b'\\');
    std::iter::from_fn(move || Some((words.next()?, words.next()?)))
}

/// Returns the value of a key.
#[must_use]
pub fn value<'a>(info: &'a [u8], key: &str) -> Option<&'a [u8]> {
    pairs(info).find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| value)
}

/// Returns the value of a key as a number.
#[must_use]
pub fn number(info: &[u8], key: &str) -> Option<i64> {
    super::bytes::Text::new(value(info, key)?).number()
}

/// Whether an info string of a peer is well-formed: pairs, each key once and not empty, words within their limit.
#[must_use]
pub fn is_valid(info: &[u8], max_len: usize) -> bool {
    let has_pairs = info.first() == Some(&b'\\')
        && info.iter().filter(|&&byte| byte == b'\\').count().is_multiple_of(2);
    let is_word = |word: &[u8]| word.len() <= MAX_WORD_LEN && word.iter().all(|&b| is_allowed(b));
    info.len() <= max_len
        && (info.is_empty() || has_pairs)
        && pairs(info).enumerate().all(|(at, (key, value))| {
            let is_first = !pairs(info).take(at).any(|(other, _)| other == key);
            !key.is_empty() && is_word(key) && is_word(value) && is_first
        })
}

/// Whether a byte may occur in a key or value. Those above 127 are colored letters.
const fn is_allowed(byte: u8) -> bool {
    !matches!(byte, 0..=0x0f | b'\\' | b'"')
}

/// Info string that is kept and changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    text: Vec<u8>,
    max_len: usize,
}

impl Info {
    /// Creates an empty info string of at most `max_len` bytes.
    #[must_use]
    pub const fn new(max_len: usize) -> Self {
        Self { text: Vec::new(), max_len }
    }

    /// Takes over the valid pairs of a received info string, as far as they fit.
    #[must_use]
    pub fn from_received(info: &[u8], max_len: usize) -> Self {
        let mut all = Self::new(max_len);
        for (key, value) in pairs(info).take(max_len / 2) {
            // Invalid pairs are left out.
            let _ = all.set_any(key, value);
        }
        all
    }

    /// Returns the text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        value(&self.text, key)
    }

    /// Sets a key of the user. An empty value removes it.
    ///
    /// # Errors
    /// See [`InfoError`].
    pub fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), InfoError> {
        if key.first() == Some(&b'*') {
            return Err(InfoError::Protected);
        }
        self.set_any(key, value)
    }

    /// Sets a key of the user or of the program. An empty value removes it.
    ///
    /// # Errors
    /// See [`InfoError`].
    pub fn set_any(&mut self, key: &[u8], value: &[u8]) -> Result<(), InfoError> {
        if key.is_empty() {
            return Err(InfoError::NoKey);
        }
        for word in [key, value] {
            if word.len() > MAX_WORD_LEN {
                return Err(InfoError::WordLength(word.len()));
            }
            if !word.iter().all(|&byte| is_allowed(byte)) {
                return Err(InfoError::Character);
            }
        }
        let old = pairs(&self.text).find(|(name, _)| *name == key);
        let old_len = old.map_or(0, |(_, value)| key.len() + value.len() + 2);
        let new_len = if value.is_empty() { 0 } else { key.len() + value.len() + 2 };
        let len = self.text.len() - old_len + new_len;
        if len > self.max_len {
            return Err(InfoError::Length(len));
        }
        self.remove(key);
        if !value.is_empty() {
            for word in [key, value] {
                self.text.push(b'\\');
                self.text.extend_from_slice(word);
            }
        }
        Ok(())
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &[u8]) {
        let mut start = 0;
        let found = pairs(&self.text).find_map(|(name, value)| {
            let len = name.len() + value.len() + 2;
            start += len;
            (name == key).then_some(start - len..start)
        });
        if let Some(range) = found {
            self.text.drain(range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_keeps_order_and_replaces_values() {
        let mut info = Info::new(40);
        info.set(b"name", b"a").unwrap();
        info.set(b"team", b"red").unwrap();
        info.set(b"name", b"bc").unwrap();
        assert_eq!(info.as_bytes(), b"\\team\\red\\name\\bc");
        info.set(b"team", b"").unwrap();
        assert_eq!(info.as_bytes(), b"\\name\\bc");
        assert_eq!(info.get("name"), Some(&b"bc"[..]));
    }

    #[test]
    fn info_refuses_invalid_settings_unchanged() {
        let mut info = Info::new(20);
        info.set(b"k", b"v").unwrap();
        let long = [b'x'; MAX_WORD_LEN + 1];
        for (key, value, error) in [
            (&b"*ver"[..], &b"1"[..], InfoError::Protected),
            (b"", b"1", InfoError::NoKey),
            (b"a\\b", b"1", InfoError::Character),
            (b"a", b"\"", InfoError::Character),
            (b"a", b"\n", InfoError::Character),
            (b"a", &long, InfoError::WordLength(64)),
            (b"k", b"0123456789abcdefgh", InfoError::Length(21)),
        ] {
            assert_eq!(info.set(key, value), Err(error));
            assert_eq!(info.as_bytes(), b"\\k\\v");
        }
        info.set_any(b"*ver", b"1").unwrap();
    }

    #[test]
    fn received_info_is_checked() {
        assert!(is_valid(b"\\name\\a\\*z_ext\\511", MAX_INFO_LEN));
        for info in
            [&b"name\\a"[..], b"\\name", b"\\\\a", b"\\a\\1\\a\\2", b"\\a\\\n", b"\\a\\1\\b"]
        {
            assert!(!is_valid(info, MAX_INFO_LEN), "{}", info.escape_ascii());
        }
        let kept = Info::from_received(b"\\a\\1\\b\\\x01\\c\\3\\d", MAX_INFO_LEN);
        assert_eq!(kept.as_bytes(), b"\\a\\1\\c\\3");
        assert_eq!(number(kept.as_bytes(), "c"), Some(3));
    }
}

//! What `getinfo` and `getstatus` carry, and what of it may be sent back.

use crate::wire::text::Text;

use super::push_argument;

/// Longest challenge that a query is answered with.
pub const MAX_ECHO_LEN: usize = 128;

/// The argument of `getinfo` and `getstatus`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// What the asker wants to see again in the answer; empty when it did not care.
    pub challenge: Text<'a>,
}

/// How a query is to be answered, as far as its challenge goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo<'a> {
    /// With `challenge` set to this.
    Send(Text<'a>),
    /// Without the key.
    Omit,
    /// Not at all: nobody who wants an answer asks so.
    Silence,
}

impl<'a> Query<'a> {
    pub(super) fn parse(mut words: impl Iterator<Item = Text<'a>>) -> Self {
        Self { challenge: words.next().unwrap_or_default() }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        if !self.challenge.is_empty() {
            push_argument(out, self.challenge);
        }
    }

    /// What the answer does with the challenge. Text that could add keys of its own to the answer is
    /// never sent back.
    #[must_use]
    pub fn echo(self) -> Echo<'a> {
        let harmless = |byte| (0x20..0x7f).contains(&byte) && !matches!(byte, b'\\' | b';' | b'"');
        if self.challenge.len() > MAX_ECHO_LEN {
            Echo::Silence
        } else if self.challenge.is_empty() || !self.challenge.bytes().all(harmless) {
            Echo::Omit
        } else {
            Echo::Send(self.challenge)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_challenges_are_echoed() {
        let echo = |text: &'static [u8]| Query { challenge: Text::new(text) }.echo();
        assert_eq!(echo(b"xyz"), Echo::Send(Text::from("xyz")));
        assert_eq!(echo(b"a b"), Echo::Send(Text::from("a b")));
        assert_eq!(echo(b"%s\xfe"), Echo::Send(Text::from(".s.")));
        for omitted in [&b""[..], b"a\\hostname\\evil", b"a;b", b"a\"b", b"a\tb", b"a\x7f"] {
            assert_eq!(echo(omitted), Echo::Omit);
        }
        assert!(matches!(echo(&[b'A'; 128]), Echo::Send(_)));
        assert_eq!(echo(&[b'A'; 129]), Echo::Silence);
    }
}

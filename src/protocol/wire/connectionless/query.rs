//! Queries: `getinfo` and `getstatus` with the challenge to echo.

use crate::wire::text::WireText;

use super::push_argument;

/// Longest challenge of an answered query, in bytes.
pub const MAX_ECHO_LEN: usize = 128;

/// Argument of `getinfo` and `getstatus`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// Challenge to repeat in the response; empty when not sent.
    pub challenge: WireText<'a>,
}

/// Treatment of a query's challenge in the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo<'a> {
    /// Respond with this `challenge`.
    Send(WireText<'a>),
    /// Respond without the key.
    Omit,
    /// Do not respond: no query tool sends such a challenge.
    Silence,
}

impl<'a> Query<'a> {
    pub(super) fn parse(mut words: impl Iterator<Item = WireText<'a>>) -> Self {
        Self { challenge: words.next().unwrap_or_default() }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        if !self.challenge.is_empty() {
            push_argument(out, self.challenge);
        }
    }

    /// Decides how the response treats the challenge. Text that could add keys of its own to the
    /// response is never echoed.
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
        let echo = |text: &'static [u8]| Query { challenge: WireText::new(text) }.echo();
        assert_eq!(echo(b"xyz"), Echo::Send(WireText::from("xyz")));
        assert_eq!(echo(b"a b"), Echo::Send(WireText::from("a b")));
        assert_eq!(echo(b"%s\xfe"), Echo::Send(WireText::from(".s.")));
        for omitted in [&b""[..], b"a\\hostname\\evil", b"a;b", b"a\"b", b"a\tb", b"a\x7f"] {
            assert_eq!(echo(omitted), Echo::Omit);
        }
        assert!(matches!(echo(&[b'A'; 128]), Echo::Send(_)));
        assert_eq!(echo(&[b'A'; 129]), Echo::Silence);
    }
}

//! Script tokenizer of the bot library: strings, literals, numbers, names and punctuation.
//!
//! Comments are skipped, and adjacent strings are joined. Preprocessor lines are not evaluated; their `#` is
//! punctuation. Invariants: any bytes are accepted; work is bounded by the length of the script; a token has at
//! most [`MAX_TOKEN_LEN`] bytes, and the rest of a longer one is discarded.
//! Source: the game interface, version 8. Engine names: `pc_token_t`, `PC_ReadToken`, `TT_NUMBER`.

use std::sync::Arc;

/// Longest token, in bytes.
pub(super) const MAX_TOKEN_LEN: usize = 1023;
/// Longest name of a script, in bytes.
const MAX_NAME_LEN: usize = 63;

/// Punctuation by number, from 1. Longer signs come before their prefixes.
const PUNCTUATION: [&str; 52] = [
    ">>=", "<<=", "...", "##", "&&", "||", ">=", "<=", "==", "!=", "*=", "/=", "%=", "+=", "-=",
    "++", "--", "&=", "|=", "^=", ">>", "<<", "->", "::", ".*", "*", "/", "%", "+", "-", "=", "&",
    "|", "^", "~", "!", ">", "<", ".", ",", ";", ":", "?", "(", ")", "{", "}", "[", "]", "\\", "#",
    "$",
];

/// Kinds of tokens and flags of numbers, as modules know them.
mod kind {
    pub(super) const STRING: i32 = 1;
    pub(super) const LITERAL: i32 = 2;
    pub(super) const NUMBER: i32 = 3;
    pub(super) const NAME: i32 = 4;
    pub(super) const PUNCTUATION: i32 = 5;
    pub(super) const DECIMAL: i32 = 0x0008;
    pub(super) const HEXADECIMAL: i32 = 0x0100;
    pub(super) const OCTAL: i32 = 0x0200;
    pub(super) const BINARY: i32 = 0x0400;
    pub(super) const FLOAT: i32 = 0x0800;
    pub(super) const INTEGER: i32 = 0x1000;
}

/// A token.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Token {
    pub(super) kind: i32,
    /// Length of a string or name, number of a punctuation, flags of a number.
    pub(super) subtype: i32,
    pub(super) integer: i32,
    pub(super) float: f32,
    pub(super) text: Vec<u8>,
}

/// A script that is read token by token.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) name: String,
    bytes: Arc<[u8]>,
    at: usize,
    /// Line of the next byte, from 1.
    pub(super) line: i32,
}

impl Script {
    pub(super) fn new(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        let name = crate::model::text::truncated(name, MAX_NAME_LEN).to_owned();
        Self { name, bytes: bytes.into(), at: 0, line: 1 }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn advance(&mut self, count: usize) {
        let passed = self.rest().iter().take(count);
        let lines = passed.filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(i32::try_from(lines).unwrap_or(i32::MAX));
        self.at = (self.at + count).min(self.bytes.len());
    }

    fn skip_space_and_comments(&mut self) {
        loop {
            let rest = self.rest();
            let space = rest.iter().take_while(|byte| **byte <= b' ').count();
            let until = |end: &[u8]| rest.windows(end.len()).position(|part| part == end);
            let skipped = match rest {
                _ if space > 0 => space,
                [b'/', b'/', ..] => until(b"\n").unwrap_or(rest.len()),
                [b'/', b'*', ..] => {
                    let body = rest.get(2..).unwrap_or_default();
                    let end = body.windows(2).position(|part| part == b"*/");
                    end.map_or(rest.len(), |end| end + 4)
                }
                _ => return,
            };
            self.advance(skipped);
        }
    }

    /// Returns the next token, or `None` at the end.
    pub(super) fn next_token(&mut self) -> Option<Token> {
        self.skip_space_and_comments();
        let rest = self.rest();
        let digit_at = |at: usize| rest.get(at).is_some_and(u8::is_ascii_digit);
        match *rest.first()? {
            b'"' => Some(self.strings()),
            b'\'' => {
                let text = self.quoted(b'\'');
                let integer = i32::from(text.first().copied().unwrap_or(0));
                let subtype = text.len() as i32;
                Some(Token { kind: kind::LITERAL, subtype, integer, text, ..Token::default() })
            }
            byte if byte.is_ascii_digit() || byte == b'.' && digit_at(1) => Some(self.number()),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                let len = rest.iter().take_while(is_part).count();
                let text = self.take(len);
                let subtype = text.len() as i32;
                Some(Token { kind: kind::NAME, subtype, text, ..Token::default() })
            }
            _ => Some(self.punctuation()),
        }
    }

    /// Takes bytes as the text of a token.
    fn take(&mut self, len: usize) -> Vec<u8> {
        let text = self.rest().iter().take(len.min(MAX_TOKEN_LEN)).copied().collect();
        self.advance(len);
        text
    }

    /// Joins adjacent strings.
    fn strings(&mut self) -> Token {
        let mut text = Vec::new();
        while self.rest().first() == Some(&b'"') {
            text.extend(self.quoted(b'"'));
            text.truncate(MAX_TOKEN_LEN);
            self.skip_space_and_comments();
        }
        let subtype = text.len() as i32;
        Token { kind: kind::STRING, subtype, text, ..Token::default() }
    }

    /// Reads a quoted text with escapes, up to its closing quote or the end of the script.
    fn quoted(&mut self, quote: u8) -> Vec<u8> {
        let mut text = Vec::new();
        self.advance(1);
        loop {
            let (byte, len) = match *self.rest() {
                [] => break,
                [byte, ..] if byte == quote => {
                    self.advance(1);
                    break;
                }
                [b'\\', escaped, ..] => (unescaped(escaped), 2),
                [byte, ..] => (byte, 1),
            };
            if text.len() < MAX_TOKEN_LEN && byte != 0 {
                text.push(byte);
            }
            self.advance(len);
        }
        text
    }

    fn number(&mut self) -> Token {
        let rest = self.rest();
        let count = |from: usize, is_part: fn(&u8) -> bool| {
            rest.iter().skip(from).take_while(|byte| is_part(byte)).count()
        };
        let (len, subtype) = match rest {
            [b'0', b'x' | b'X', ..] => (2 + count(2, u8::is_ascii_hexdigit), kind::HEXADECIMAL),
            [b'0', b'b' | b'B', ..] => {
                (2 + count(2, |byte| matches!(byte, b'0' | b'1')), kind::BINARY)
            }
            _ => {
                let len = count(0, |byte| byte.is_ascii_digit() || *byte == b'.');
                let has_point = rest.iter().take(len).any(|byte| *byte == b'.');
                let is_octal = rest.first() == Some(&b'0') && len > 1;
                let flags = match (has_point, is_octal) {
                    (true, _) => kind::DECIMAL | kind::FLOAT,
                    (false, true) => kind::OCTAL,
                    (false, false) => kind::DECIMAL,
                };
                (len, flags)
            }
        };
        let text = self.take(len);
        let digits = std::str::from_utf8(&text).unwrap_or("");
        let wrapped = |digits: &str, radix| {
            u64::from_str_radix(digits, radix).map_or(u32::MAX, |value| value as u32) as i32
        };
        let is_float = subtype & kind::FLOAT != 0;
        let integer = match subtype {
            kind::HEXADECIMAL => wrapped(digits.get(2..).unwrap_or(""), 16),
            kind::BINARY => wrapped(digits.get(2..).unwrap_or(""), 2),
            kind::OCTAL => wrapped(digits, 8),
            _ if is_float => digits.parse::<f32>().unwrap_or(0.0) as i32,
            _ => wrapped(digits, 10),
        };
        let float = if is_float { digits.parse().unwrap_or(0.0) } else { integer as f32 };
        let subtype = subtype | if is_float { 0 } else { kind::INTEGER };
        Token { kind: kind::NUMBER, subtype, integer, float, text }
    }

    fn punctuation(&mut self) -> Token {
        let rest = self.rest();
        let known = PUNCTUATION.iter().position(|sign| rest.starts_with(sign.as_bytes()));
        // Any other byte is punctuation without a number.
        let (subtype, len) =
            known.map_or((0, 1), |index| (index as i32 + 1, PUNCTUATION[index].len()));
        let text = self.take(len);
        Token { kind: kind::PUNCTUATION, subtype, text, ..Token::default() }
    }
}

/// Byte of an escape.
fn unescaped(escaped: u8) -> u8 {
    match escaped {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'v' => 11,
        b'b' => 8,
        b'f' => 12,
        b'a' => 7,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str) -> Vec<(i32, i32, String)> {
        let mut script = Script::new("a.txt", text.as_bytes().to_vec());
        std::iter::from_fn(|| script.next_token())
            .map(|token| (token.kind, token.subtype, String::from_utf8(token.text).unwrap()))
            .collect()
    }

    #[test]
    fn tokens_have_kinds_and_subtypes() {
        let found =
            tokens("// note\nbot_1 { skill 0x1F, \"a\\\"b\" \"c\" } /* end */ -2.5 >>= 'x' 017 @");
        let expected = [
            (4, 5, "bot_1"),
            (5, 46, "{"),
            (4, 5, "skill"),
            (3, 0x1100, "0x1F"),
            (5, 40, ","),
            (1, 4, "a\"bc"),
            (5, 47, "}"),
            (5, 30, "-"),
            (3, 0x808, "2.5"),
            (5, 1, ">>="),
            (2, 1, "x"),
            (3, 0x1200, "017"),
            (5, 0, "@"),
        ];
        let expected = expected.map(|(kind, subtype, text)| (kind, subtype, text.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_have_values_of_both_kinds() {
        for (text, integer, float) in [
            ("7", 7, 7.0),
            ("2.75", 2, 2.75),
            ("0x10", 16, 16.0),
            ("010", 8, 8.0),
            ("1.2.3", 0, 0.0),
        ] {
            let token = Script::new("", text.as_bytes()).next_token().unwrap();
            assert_eq!((token.integer, token.float), (integer, float), "{text}");
        }
    }

    #[test]
    fn lines_are_counted() {
        let mut script = Script::new("a.txt", b"one\n\"two\nthree\"\n/*\n*/ four".to_vec());
        let lines: Vec<_> =
            std::iter::from_fn(|| script.next_token().map(|_| script.line)).collect();
        assert_eq!(lines, [1, 5, 5]);
    }

    proptest! {
        #[test]
        fn any_bytes_end_with_bounded_tokens(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            let count = bytes.len();
            let mut script = Script::new("a.txt", bytes);
            let all: Vec<_> = std::iter::from_fn(|| script.next_token()).collect();
            prop_assert!(all.len() <= count);
            prop_assert!(all.iter().all(|token| token.text.len() <= MAX_TOKEN_LEN));
        }
    }
}

//! Tokens of the entity string.
//!
//! Source: the base game's parser.

use super::{EntityStringError, EntityStringErrorKind, MAX_TOKEN_LEN};

/// Tokens of the text with the line that each ends on.
pub(super) struct Tokens<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) line: u32,
}

/// Position in an entity string from which tokens are read one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenCursor(usize);

impl TokenCursor {
    /// Returns the next token of the text and moves behind it; `None` at the end.
    pub fn next_token<'a>(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        let mut tokens = Tokens { text, at: self.0.min(text.len()), line: 1 };
        let token = tokens.next();
        self.0 = tokens.at;
        token
    }
}

impl<'a> Tokens<'a> {
    pub(super) fn fault(&self, fault: EntityStringErrorKind) -> EntityStringError {
        EntityStringError { line: self.line, fault }
    }

    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_to_token();
        let token = if self.peek() == Some(b'"') {
            self.at += 1;
            let token = self.take_while(|byte| byte != b'"');
            // Skip the closing quote, unless the text has ended.
            self.at = self.text.len().min(self.at + 1);
            token
        } else {
            self.peek()?;
            self.take_while(|byte| !is_space(byte))
        };
        Some(&token[..token.len().min(MAX_TOKEN_LEN)])
    }

    fn skip_to_token(&mut self) {
        loop {
            self.take_while(is_space);
            match self.text.get(self.at..self.at + 2) {
                Some(b"//") => {
                    self.take_while(|byte| byte != b'\n');
                }
                Some(b"/*") => {
                    let body = &self.text[self.at + 2..];
                    let len = body.windows(2).position(|pair| pair == b"*/");
                    let end = len.map_or(self.text.len(), |len| self.at + 2 + len + 2);
                    self.advance(end);
                }
                _ => return,
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a [u8] {
        let start = self.at;
        let len = self.text[start..].iter().position(|&byte| !keep(byte));
        self.advance(len.map_or(self.text.len(), |len| start + len));
        &self.text[start..self.at]
    }

    fn advance(&mut self, end: usize) {
        let lines = self.text[self.at..end].iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(lines as u32);
        self.at = end;
    }
}

/// Whether a byte separates words. Bytes beyond ASCII do, as with signed characters in C.
pub(super) const fn is_space(byte: u8) -> bool {
    byte <= b' ' || byte >= 0x80
}

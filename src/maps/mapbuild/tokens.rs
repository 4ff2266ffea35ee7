//! Tokens of map sources and shader scripts, with their lines.
//!
//! White space separates tokens, as a byte order mark in front of one does. `//` and `/* */` are comments, and double
//! quotes enclose a token without escapes, which ends with its line. Parentheses are tokens of their own; braces and brackets only when they
//! stand alone, because texture names of older games begin with them.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Line, from 1.
    pub line: u32,
    /// Text without the quotes.
    pub text: &'a str,
    /// Whether a quote began it.
    pub quoted: bool,
    /// Whether the quote at its end is missing.
    pub is_open: bool,
}

impl Token<'_> {
    /// Whether the token is this punctuation, without quotes.
    pub(super) fn is(&self, text: &str) -> bool {
        !self.quoted && self.text == text
    }

    /// Returns the token for an error message, shortened to one line.
    pub(super) fn shown(&self) -> String {
        let line = self.text.chars().take_while(|c| !c.is_control());
        let short: String = line.take(40).collect();
        format!("\"{short}\"")
    }
}

/// Reader of tokens.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    open_comment: Option<u32>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, open_comment: None }
    }

    /// Returns the reader in front of the next token, or at the end.
    pub(super) fn at_next(&self) -> Self {
        let mut ahead = self.clone();
        ahead.skip_space();
        ahead
    }

    /// Line of a comment that is not closed, once the reader is at the end.
    pub(super) fn open_comment(&self) -> Option<u32> {
        self.open_comment
    }

    /// Returns the next tokens without consuming them.
    pub(super) fn ahead(&self) -> impl Iterator<Item = Token<'a>> + use<'a> {
        self.clone()
    }

    /// Iterates over the tokens of the current line that follow, without consuming them.
    pub(super) fn rest_of_line(&self) -> impl Iterator<Item = Token<'a>> + use<'a> {
        let line = self.line;
        self.ahead().take_while(move |token| token.line == line)
    }

    /// Current line, from 1.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// Byte offset behind the last token.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.clone().next()
    }

    fn skip_space(&mut self) {
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            match rest {
                [byte, ..] if *byte <= b' ' => self.advance(1),
                // A byte order mark, also one that editors leave where files were joined.
                [0xef, 0xbb, 0xbf, ..] => self.at += 3,
                [b'/', b'/', ..] => {
                    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
                    self.at += rest.iter().position(is_end).unwrap_or(rest.len());
                }
                [b'/', b'*', ..] => {
                    let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                    if end.is_none() {
                        self.open_comment = Some(self.line);
                    }
                    self.advance(end.map_or(rest.len(), |end| end + 4));
                }
                _ => return,
            }
        }
    }

    /// Consumes bytes and counts their lines, which end with LF, CR LF or CR.
    fn advance(&mut self, len: usize) {
        let bytes = self.text.as_bytes();
        let end = self.at + len;
        let is_end = |at: &usize| match bytes[*at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        self.line += (self.at..end).filter(is_end).count() as u32;
        self.at = end;
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_space();
        let line = self.line;
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let mut is_open = false;
        let (start, len, end) = match bytes.first()? {
            b'"' => {
                let ends = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r');
                let len = bytes[1..].iter().position(ends).unwrap_or(bytes.len() - 1);
                is_open = bytes.get(len + 1) != Some(&b'"');
                (1, len, len + 1 + usize::from(!is_open))
            }
            b'(' | b')' => (0, 1, 1),
            _ => {
                let ends = |byte: &u8| *byte <= b' ' || matches!(byte, b'(' | b')' | b'"');
                let len = bytes.iter().position(ends).unwrap_or(bytes.len());
                (0, len, len)
            }
        };
        self.advance(end);
        Some(Token { line, text: &rest[start..start + len], quoted: start == 1, is_open })
    }
}

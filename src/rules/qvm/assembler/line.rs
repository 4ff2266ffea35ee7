//! Words, names and strings of an assembler line.

/// A name in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// Name that is known in the whole text.
    Global(&'a str),
    /// Label that is known up to the next global code label, without its `@`.
    Local(&'a str),
}

/// Rest of a line.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.$".contains(c)
}

/// Length of the name at the start of a text, 0 without one.
fn name_len(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return 0;
    }
    text.find(|c| !is_name(c)).unwrap_or(text.len())
}

/// Whether a text is a name as a whole.
pub(in crate::qvm) fn is_global_name(text: &str) -> bool {
    !text.is_empty() && name_len(text) == text.len()
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        let mut cursor = Self { rest: line };
        cursor.skip_blanks();
        cursor
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        self.skip_blanks();
        taken
    }

    /// Whether only a comment is left.
    pub(super) fn at_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(';')
    }

    /// Rejects text behind the end of a statement.
    pub(super) fn end(&self) -> Result<(), String> {
        if self.at_end() {
            return Ok(());
        }
        Err(format!("unexpected text: {}", shown(self.rest)))
    }

    /// Takes one character if it is next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.rest.starts_with(c);
        if found {
            self.take(c.len_utf8());
        }
        found
    }

    pub(super) fn comma(&mut self) -> bool {
        self.eat(',')
    }

    /// Takes a name and the colon behind it.
    pub(super) fn label(&mut self) -> Option<Name<'a>> {
        let local = usize::from(self.rest.starts_with('@'));
        let text = &self.rest[local..];
        let len = if local == 1 {
            text.find(|c| !is_name(c)).unwrap_or(text.len())
        } else {
            name_len(text)
        };
        if len == 0 || !text[len..].starts_with(':') {
            return None;
        }
        let name = &text[..len];
        self.take(local + len + 1);
        Some(if local == 1 { Name::Local(name) } else { Name::Global(name) })
    }

    /// Takes a directive, without its period.
    pub(super) fn directive(&mut self) -> Option<&'a str> {
        let text = self.rest.strip_prefix('.')?;
        Some(&self.take(1 + name_len(text))[1..])
    }

    /// Takes a name without `@`.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        match name_len(self.rest) {
            0 => None,
            len => Some(self.take(len)),
        }
    }

    /// Takes a name of either kind.
    pub(super) fn name(&mut self) -> Option<Name<'a>> {
        if let Some(text) = self.rest.strip_prefix('@') {
            let len = text.find(|c| !is_name(c)).unwrap_or(text.len());
            return (len > 0).then(|| Name::Local(&self.take(1 + len)[1..]));
        }
        self.word().map(Name::Global)
    }

    /// Takes the characters of a number: digits, letters, periods, and a sign behind an exponent.
    pub(super) fn number(&mut self) -> Option<&'a str> {
        if !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let is_hex = self.rest.starts_with("0x") || self.rest.starts_with("0X");
        let mut before = ' ';
        let end = self.rest.find(|c: char| {
            let exponent = !is_hex && matches!(before, 'e' | 'E') && matches!(c, '+' | '-');
            before = c;
            !(c.is_ascii_alphanumeric() || c == '.' || exponent)
        });
        Some(self.take(end.unwrap_or(self.rest.len())))
    }

    /// Takes a character in single quotes as its number.
    pub(super) fn character(&mut self) -> Result<Option<u8>, String> {
        match self.quoted('\'')? {
            None => Ok(None),
            Some(bytes) => match bytes.as_slice() {
                [byte] => Ok(Some(*byte)),
                _ => Err("not a single character in quotes".to_owned()),
            },
        }
    }

    /// Takes a string in double quotes.
    pub(super) fn string(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.quoted('"')
    }

    fn quoted(&mut self, quote: char) -> Result<Option<Vec<u8>>, String> {
        if !self.rest.starts_with(quote) {
            return Ok(None);
        }
        let text = &self.rest.as_bytes()[1..];
        let (mut bytes, mut at) = (Vec::new(), 0);
        loop {
            let &byte = text.get(at).ok_or("end of the quoted text missing")?;
            at += 1;
            match byte {
                b'\\' => {
                    let (byte, len) = escape(&text[at..])?;
                    bytes.push(byte);
                    at += len;
                }
                _ if byte == quote as u8 => break,
                _ => bytes.push(byte),
            }
        }
        self.take(1 + at);
        Ok(Some(bytes))
    }

    /// Rest of the line for messages, cut.
    pub(super) fn shown(&self) -> String {
        shown(self.rest)
    }
}

/// Byte of an escape and the length of its text behind the backslash.
fn escape(text: &[u8]) -> Result<(u8, usize), String> {
    let digit = |at: usize| text.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    match text {
        [b'n', ..] => Ok((b'\n', 1)),
        [b't', ..] => Ok((b'\t', 1)),
        [b'r', ..] => Ok((b'\r', 1)),
        [b'0', ..] => Ok((0, 1)),
        [byte @ (b'\\' | b'"' | b'\''), ..] => Ok((*byte, 1)),
        [b'x', ..] => match (digit(1), digit(2)) {
            (Some(high), Some(low)) => Ok(((high * 16 + low) as u8, 3)),
            _ => Err("invalid escape: \\x (expected two hexadecimal digits)".to_owned()),
        },
        _ => Err("unknown escape (expected \\n \\t \\r \\0 \\\\ \\\" \\' or \\xHH)".to_owned()),
    }
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

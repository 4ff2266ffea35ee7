//! Console commands of a server, put together from texts that may hold parts of lines.
//!
//! Source: QuakeWorld protocol 28, `stufftext`.

/// Longest line that is put together.
const MAX_LINE: usize = 4096;

/// Lines of a server.
#[derive(Debug, Default)]
pub(super) struct StuffText {
    line: Vec<u8>,
    is_too_long: bool,
}

impl StuffText {
    /// Adds a text and calls `run` with each line that it ends.
    pub(super) fn push(&mut self, text: &[u8], mut run: impl FnMut(&[u8])) {
        for piece in text.split_inclusive(|&byte| byte == b'\n') {
            let (piece, is_end) = match piece.strip_suffix(b"\n") {
                Some(piece) => (piece, true),
                None => (piece, false),
            };
            if self.line.len() + piece.len() > MAX_LINE {
                self.is_too_long = true;
            } else {
                self.line.extend_from_slice(piece);
            }
            if is_end {
                if !self.is_too_long {
                    run(&self.line);
                }
                self.clear();
            }
        }
    }

    /// Forgets an incomplete line.
    pub(super) fn clear(&mut self) {
        self.line.clear();
        self.is_too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_together_and_limited() {
        let mut lines = Vec::new();
        let mut stuff = StuffText::default();
        for text in [&b"cmd ne"[..], b"w\ncmd pext\nskins", b"", b"\n"] {
            stuff.push(text, |line| lines.push(String::from_utf8(line.to_vec()).unwrap()));
        }
        assert_eq!(lines, ["cmd new", "cmd pext", "skins"]);
        stuff.push(&[b'x'; MAX_LINE], |_| panic!());
        stuff.push(b"xx\nok\n", |line| assert_eq!(line, b"ok"));
    }
}

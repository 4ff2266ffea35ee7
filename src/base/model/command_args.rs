//! Command arguments: a line split into words as in every Quake III engine.
//!
//! Used for console lines, config lines, reliable commands and connectionless packets.
//!
//! Words are separated by bytes up to the space; `"…"` is one word without its quotes and has no
//! escapes; a quote inside a bare word starts a new word; `//` ends the line; `/* … */` is skipped.
//! Source: Quake III protocol 68, connectionless packets.

use std::ops::Range;

/// Maximum number of words of a line; the rest is dropped.
pub const MAX_WORDS: usize = 1024;

/// Words of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandArgs {
    words: Vec<String>,
}

impl CommandArgs {
    /// Splits `line` into words.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let word = |range: Range<usize>| line.get(range).unwrap_or_default().to_owned();
        Self { words: ArgRanges::new(line.as_bytes()).map(word).collect() }
    }

    /// Returns word `index`, or the empty string.
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// Returns the command: word 0, or the empty string.
    #[must_use]
    pub fn command(&self) -> &str {
        self.get(0)
    }

    /// Returns the words from `index` on, joined by single spaces.
    #[must_use]
    pub fn rest(&self, index: usize) -> String {
        self.words.get(index..).unwrap_or(&[]).join(" ")
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether the line has no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Words after the command.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or(&[])
    }

    /// Changes every word in place, e.g. to sanitize client text.
    pub fn for_each_mut(&mut self, change: impl FnMut(&mut String)) {
        self.words.iter_mut().for_each(change);
    }
}

/// Ranges of the words of a line, found one by one without copying; at most [`MAX_WORDS`].
///
/// A range is within the line and contains no quotes. It starts and ends at character boundaries
/// when the line is UTF-8, because every separator is ASCII.
/// line is UTF-8: every separator is ASCII.
#[derive(Clone, Debug)]
pub struct ArgRanges<'a> {
    line: &'a [u8],
    at: usize,
    left: usize,
}

impl<'a> ArgRanges<'a> {
    /// Creates the iterator for `line`.
    #[must_use]
    pub const fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0, left: MAX_WORDS }
    }

    /// Returns the range of `len` bytes at the current position and advances to `next`.
    fn word(&mut self, len: usize, next: usize) -> Option<Range<usize>> {
        let range = self.at..self.at + len;
        self.at = next.min(self.line.len());
        self.left -= 1;
        Some(range)
    }
}

impl Iterator for ArgRanges<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while self.left > 0 {
            let rest = self.line.get(self.at..)?;
            match rest {
                [] | [b'/', b'/', ..] => return None,
                [0..=b' ', ..] => self.at += 1,
                [b'/', b'*', comment @ ..] => {
                    let end = comment.windows(2).position(|pair| pair == b"*/");
                    self.at = end.map_or(self.line.len(), |end| self.at + 2 + end + 2);
                }
                [b'"', quoted @ ..] => {
                    let len = quoted.iter().position(|&byte| byte == b'"').unwrap_or(quoted.len());
                    self.at += 1;
                    return self.word(len, self.at + len + 1);
                }
                bare => {
                    let len = bare_word_len(bare);
                    return self.word(len, self.at + len);
                }
            }
        }
        None
    }
}

/// Returns the length of a bare word: up to a separator, a quote, or the start of a comment.
fn bare_word_len(text: &[u8]) -> usize {
    let ends = |at: usize| {
        let comment = matches!(text[at..], [b'/', b'/' | b'*', ..]);
        text[at] <= b' ' || text[at] == b'"' || comment
    };
    (0..text.len()).find(|&at| ends(at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let words = CommandArgs::parse(line);
        assert_eq!(words.words, expected, "{line:?}");
    }

    #[test]
    fn lines_are_split_as_in_the_engine() {
        check("say hello  world\n", &["say", "hello", "world"]);
        check("cs 5 \"a b\"", &["cs", "5", "a b"]);
        check("a\"b c\"d", &["a", "b c", "d"]);
        check("map q3dm1 // the best", &["map", "q3dm1"]);
        check("a /* gone */ b /* open", &["a", "b"]);
        check("http://x", &["http:"]);
        check("say \"open", &["say", "open"]);
        check("say \"\" x", &["say", "", "x"]);
        check("", &[]);
        check("\t \r\n", &[]);
    }

    #[test]
    fn word_ranges_match_their_line() {
        let ranges: Vec<_> = ArgRanges::new(b"rcon \"a b\" \xff").collect();
        assert_eq!(ranges, [0..4, 6..9, 11..12]);
        assert_eq!(ArgRanges::new(b"\"").next(), Some(1..1));
        check("t\u{e9}l\u{e9} \"\u{e9}", &["t\u{e9}l\u{e9}", "\u{e9}"]);
    }

    #[test]
    fn words_of_a_line_are_bounded() {
        assert_eq!(CommandArgs::parse(&"a ".repeat(5000)).len(), MAX_WORDS);
    }

    #[test]
    fn missing_words_are_empty() {
        let words = CommandArgs::parse("tell 3 hi there");
        assert_eq!((words.get(1), words.get(9), words.rest(2).as_str()), ("3", "", "hi there"));
        assert_eq!(words.arguments(), ["3", "hi", "there"]);
    }
}

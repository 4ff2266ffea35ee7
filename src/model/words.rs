//! A command line cut into words, as every engine of the family cuts it: console lines, config lines,
//! reliable commands and connectionless requests.
//!
//! Words are separated by bytes up to the space; `"…"` is one word without its quotes and knows no
//! escapes; a quote inside a bare word begins a new word; `//` ends the line; `/* … */` is skipped.
//! Source: Quake III protocol 68, connectionless packets.

/// Words kept of one line; the rest of the line is dropped.
const MAX_WORDS: usize = 1024;

/// The words of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    words: Vec<String>,
}

impl Words {
    /// Cuts `line`.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let mut words = Vec::new();
        let mut rest = line;
        while words.len() < MAX_WORDS {
            rest = rest.trim_start_matches(|c: char| c <= ' ');
            if rest.is_empty() || rest.starts_with("//") {
                break;
            }
            if let Some(comment) = rest.strip_prefix("/*") {
                rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
            } else if let Some(quoted) = rest.strip_prefix('"') {
                let end = quoted.find('"').unwrap_or(quoted.len());
                words.push(quoted[..end].to_owned());
                rest = quoted.get(end + 1..).unwrap_or("");
            } else {
                let end = bare_word_end(rest);
                words.push(rest[..end].to_owned());
                rest = &rest[end..];
            }
        }
        Self { words }
    }

    /// Word `index`, or the empty string.
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// The command: word 0, or the empty string.
    #[must_use]
    pub fn command(&self) -> &str {
        self.get(0)
    }

    /// Words from `index` on, joined by single spaces.
    #[must_use]
    pub fn from(&self, index: usize) -> String {
        self.words.get(index..).unwrap_or(&[]).join(" ")
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether the line held no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words after the command.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or(&[])
    }

    /// Changes every word in place, as a server cleans what a client sent.
    pub fn for_each_mut(&mut self, change: impl FnMut(&mut String)) {
        self.words.iter_mut().for_each(change);
    }
}

/// Where a bare word ends: at a separator, a quote, or the start of a comment.
fn bare_word_end(text: &str) -> usize {
    text.char_indices()
        .find(|&(at, c)| {
            let comment = c == '/' && matches!(text.as_bytes().get(at + 1), Some(b'/' | b'*'));
            c <= ' ' || c == '"' || comment
        })
        .map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let words = Words::parse(line);
        assert_eq!(words.words, expected, "{line:?}");
    }

    #[test]
    fn lines_are_cut_as_the_engines_cut_them() {
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
    fn a_line_of_many_words_is_bounded() {
        assert_eq!(Words::parse(&"a ".repeat(5000)).len(), MAX_WORDS);
    }

    #[test]
    fn absent_words_are_empty() {
        let words = Words::parse("tell 3 hi there");
        assert_eq!((words.get(1), words.get(9), words.from(2).as_str()), ("3", "", "hi there"));
        assert_eq!(words.arguments(), ["3", "hi", "there"]);
    }
}

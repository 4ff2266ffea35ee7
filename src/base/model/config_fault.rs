//! Errors of TOML files: line, key, and the accepted type, in words of the file.
//!
//! Invariant: the work is linear in the length of the text. Errors show at most 64 bytes of it.

use std::ops::Range;

use super::text::{escaped, truncated};

/// Longest part of a text that an error repeats, in bytes.
const SHOWN_LEN: usize = 64;
/// Types in the words of the parser, and in those of a file.
const TYPES: [(&str, &str); 14] = [
    ("a string", "text in quotes"),
    ("string", "text in quotes"),
    ("a boolean", "true or false"),
    ("a sequence", "a list in brackets [ ]"),
    ("sequence", "a list in brackets [ ]"),
    ("a map", "a table"),
    ("map", "a table"),
    ("a nonzero u16", "an integer from 1 to 65535"),
    ("a nonzero u32", "an integer above 0"),
    ("u8", "an integer from 0 to 255"),
    ("u16", "an integer from 0 to 65535"),
    ("u32", "an integer of 0 or above"),
    ("u64", "an integer of 0 or above"),
    ("i64", "an integer"),
];

/// Returns the line number, from 1, of a byte of `text`.
#[must_use]
pub fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}

/// Returns the line and the sentence of an error in the form of a file, at `span`.
#[must_use]
pub fn form_fault(text: &str, span: Option<Range<usize>>, message: &str) -> (usize, String) {
    let span = span.unwrap_or_default();
    let what = message.replace('\n', ", ");
    let named = text.get(span.clone()).filter(|_| what == "duplicate key");
    let what = match named {
        Some(key) => format!("duplicate key {}", shown(key)),
        None => what,
    };
    (line_of(text, span.start), what)
}

/// Returns the line and the sentence of an error in a value of a file, at `span`.
#[must_use]
pub fn value_fault(text: &str, span: Option<Range<usize>>, message: &str) -> (usize, String) {
    let span = span.unwrap_or_default();
    let mut what = message.replace('\n', ", ");
    if what.starts_with("invalid ")
        && let Some((problem, expected)) = what.split_once(", expected ")
    {
        let known = TYPES.iter().find(|(theirs, _)| *theirs == expected);
        what = format!("{problem} (expected {})", known.map_or(expected, |(_, ours)| ours));
    }
    let names_key = ["missing field", "unknown field", "duplicate field"];
    if !names_key.iter().any(|start| what.starts_with(start))
        && let Some(key) = key_before(text.get(..span.start).unwrap_or_default())
    {
        what = format!("{}: {what}", shown(key));
    }
    (line_of(text, span.start), what)
}

/// Returns the key whose value begins behind `before`, or that of the list which holds the value.
fn key_before(before: &str) -> Option<&str> {
    let trimmed = before.trim_end();
    let key = match trimmed.strip_suffix('=') {
        Some(rest) => rest,
        // The value is in a list, which may have several lines.
        None => trimmed.lines().rev().find_map(|line| line.split_once('=')).map(|(key, _)| key)?,
    };
    let key = key.trim_end().rsplit(|c: char| c.is_whitespace() || "{,[".contains(c)).next()?;
    (!key.is_empty()).then_some(key)
}

fn shown(key: &str) -> String {
    escaped(truncated(key, SHOWN_LEN).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, marked: &str, message: &str, expected: (usize, &str)) {
        let start = text.rfind(marked).expect("marked text");
        let (line, what) = value_fault(text, Some(start..start + marked.len()), message);
        assert_eq!((line, what.as_str()), expected);
    }

    #[test]
    fn value_errors_name_key_and_type() {
        let text = "invalid type: integer `5`, expected a string";
        let sentence = "motd: invalid type: integer `5` (expected text in quotes)";
        check("a = 1\nmotd = 5", "5", text, (2, sentence));
        check("[x]\nl = [{ a = 1, motd = 5 }]", "5", text, (2, sentence));
        let sentence = "allow: invalid type: integer `5` (expected text in quotes)";
        check("allow = [\n  \"any\",\n  5,\n]\n", "5", text, (3, sentence));
        let number = "invalid type: string \"x\", expected u16";
        let sentence = "p: invalid type: string \"x\" (expected an integer from 0 to 65535)";
        check("p = \"x\"", "\"x\"", number, (1, sentence));
        let missing = "missing field `name`";
        check("a = 1\n[[server]]\n", "[[server]]", missing, (2, missing));
        check("5", "5", text, (1, "invalid type: integer `5` (expected text in quotes)"));
        assert_eq!(value_fault("é", Some(1..9), "x"), (1, "x".to_owned()));
    }

    #[test]
    fn duplicate_key_is_named() {
        let fault = form_fault("a = 1\nsv_fps = 2", Some(6..12), "duplicate key");
        assert_eq!(fault, (2, "duplicate key sv_fps".to_owned()));
        assert_eq!(form_fault("", None, "a\nb"), (1, "a, b".to_owned()));
        assert_eq!(form_fault("é", Some(1..2), "duplicate key").1, "duplicate key");
    }
}

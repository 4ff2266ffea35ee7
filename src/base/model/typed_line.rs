//! Console line that is being typed: the word at its end, for completion.
//!
//! Words and commands are split as [`CommandArgs`](super::CommandArgs) and [`ConsoleCommands`](super::ConsoleCommands) do:
//! by spaces and `;` outside quotes.

/// Maximum number of candidates.
const MAX_CANDIDATES: usize = 1000;

/// The last command of a line that is being typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedLine<'a> {
    /// Its first word; empty while that is typed.
    pub command: &'a str,
    /// Number of words before the last one.
    pub index: usize,
    /// Position of the last word in the line, with its quote.
    pub start: usize,
    /// The last word as far as it is typed, without a quote.
    pub head: &'a str,
}

impl<'a> TypedLine<'a> {
    /// Reads a line.
    #[must_use]
    pub fn parse(line: &'a str) -> Self {
        let mut command = "";
        let (mut index, mut start, mut is_quoted, mut is_word) = (0, line.len(), false, false);
        for (at, char) in line.char_indices() {
            let is_end = !is_quoted && char == ';';
            if is_end || !is_quoted && char.is_whitespace() {
                if is_word && index == 0 {
                    command = line[start..at].trim_matches('"');
                }
                index += usize::from(is_word);
                if is_end {
                    (index, command) = (0, "");
                }
                (start, is_word) = (line.len(), false);
                continue;
            }
            if !is_word {
                (start, is_word) = (at, true);
            }
            is_quoted ^= char == '"';
        }
        let head = &line[start..];
        Self { command, index, start, head: head.strip_prefix('"').unwrap_or(head) }
    }

    /// Returns the names that begin with the last word, sorted. Names with spaces are quoted.
    #[must_use]
    pub fn candidates(&self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
        let begins = |name: &str| {
            let head = name.get(..self.head.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(self.head))
        };
        let quoted = |name: &str| {
            let is_plain = !name.is_empty() && !name.contains([' ', ';']);
            if is_plain { name.to_owned() } else { format!("\"{name}\"") }
        };
        let names = names.into_iter();
        let mut found: Vec<_> = names
            .filter(|name| begins(name.as_ref()) && !name.as_ref().contains('"'))
            .map(|name| name.as_ref().to_owned())
            .collect();
        found.sort_unstable_by_key(|name| name.to_ascii_lowercase());
        found.dedup();
        found.truncate(MAX_CANDIDATES);
        found.iter().map(|name| quoted(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn last_word_of_last_command_is_found() {
        for (line, command, index, start, head) in [
            ("", "", 0, 0, ""),
            ("sta", "", 0, 0, "sta"),
            ("map ", "map", 1, 4, ""),
            ("map q3d", "map", 1, 4, "q3d"),
            ("set a 1;  kick \"two w", "kick", 1, 15, "two w"),
            ("say \"a;b\" c", "say", 2, 10, "c"),
            ("echo x;", "", 0, 7, ""),
        ] {
            let typed = TypedLine { command, index, start, head };
            assert_eq!(TypedLine::parse(line), typed, "{line}");
        }
    }

    #[test]
    fn candidates_begin_with_the_word() {
        let names = ["Kim", "kim junior", "Ken", "kim\"x", "Kim"];
        assert_eq!(TypedLine::parse("kick ki").candidates(names), ["Kim", "\"kim junior\""]);
        assert_eq!(TypedLine::parse("kick \"KIM J").candidates(names), ["\"kim junior\""]);
        let many: Vec<_> = (0..5000).map(|number| format!("map{number}")).collect();
        assert_eq!(TypedLine::parse("map m").candidates(&many).len(), MAX_CANDIDATES);
    }

    proptest! {
        #[test]
        fn any_line_has_a_last_word(line in "[a-z\"; \u{e9}]{0,40}") {
            let typed = TypedLine::parse(&line);
            prop_assert!(line[typed.start..].ends_with(typed.head));
            let _ = typed.candidates(["\u{e9}a", "b c", ""]);
        }
    }
}

//! Commands of a console text: separated by line ends, and by `;` outside quotes.
//!
//! A quote is closed by the end of its line. A separator in a comment separates nothing; `//` ends with its line, and
//! `/* … */` may hold line ends. Invariants: any text is accepted; the work is bounded by its length.
//! Source: config files of Quake III servers.

/// Iterator over the commands of a console text, without the `//` comments behind them.
#[derive(Clone, Debug)]
pub struct ConsoleCommands<'a> {
    text: &'a str,
    rest: &'a str,
    open_comment: Option<usize>,
    cuts_word: bool,
    open_quote: bool,
}

impl<'a> ConsoleCommands<'a> {
    /// Creates the iterator for `text`.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, rest: text, open_comment: None, cuts_word: false, open_quote: false }
    }

    /// Text behind the commands that were returned.
    #[must_use]
    pub const fn rest(&self) -> &'a str {
        self.rest
    }

    /// Position of a `/*` without end in the commands that were returned. It takes the rest of the text.
    #[must_use]
    pub const fn open_comment(&self) -> Option<usize> {
        self.open_comment
    }

    /// Whether a `//` comment cuts the last word of the command, as in a URL.
    #[must_use]
    pub const fn cuts_word(&self) -> bool {
        self.cuts_word
    }

    /// Whether the end of its line closes a quote of the command.
    #[must_use]
    pub const fn has_open_quote(&self) -> bool {
        self.open_quote
    }
}

impl<'a> Iterator for ConsoleCommands<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let (len, open_comment, open_quote) = command_len(self.rest.as_bytes());
        self.open_quote = open_quote;
        let begin = self.text.len() - self.rest.len();
        self.open_comment = open_comment.map(|at| begin + at);
        let (command, rest) = self.rest.split_at(len);
        self.cuts_word = rest.starts_with("//")
            && !command.is_empty()
            && !command.ends_with([' ', '\t', '\n', '"']);
        // Only a comment leaves more than the separator.
        let end = if rest.starts_with(';') { Some(0) } else { rest.find('\n') };
        self.rest = end.map_or("", |end| &rest[end + 1..]);
        Some(command)
    }
}

/// Length of the first command, position of a comment without end, and whether a quote is open. The command ends at a
/// separator, a `//` comment or the end of the text.
fn command_len(text: &[u8]) -> (usize, Option<usize>, bool) {
    let mut is_quoted = false;
    let mut open_comment = None;
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        match rest {
            [] | [b'\n', ..] => break,
            [b'"', ..] => is_quoted = !is_quoted,
            [b';', ..] | [b'/', b'/', ..] if !is_quoted => break,
            [b'/', b'*', comment @ ..] if !is_quoted => {
                let end = comment.windows(2).position(|pair| pair == b"*/");
                open_comment = end.is_none().then_some(at);
                at += end.map_or(rest.len(), |end| end + 4);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    (at.min(text.len()), open_comment, is_quoted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::CommandArgs;

    fn split(text: &str) -> Vec<&str> {
        ConsoleCommands::new(text).collect()
    }

    #[test]
    fn commands_are_split_outside_quotes_and_comments() {
        assert_eq!(split("a;b \"c;d\"; e"), ["a", "b \"c;d\"", " e"]);
        assert_eq!(split("a\r\nb\n"), ["a\r", "b"]);
        assert_eq!(split("a \"b;c\nd;e"), ["a \"b;c", "d", "e"], "a line end closes a quote");
        assert_eq!(split("// no; quit\na // don't; quit\nb"), ["", "a ", "b"]);
        assert_eq!(split("a /* b;\nc\" */ d;e"), ["a /* b;\nc\" */ d", "e"]);
        assert_eq!(split("a \"http://x\";b /* open;c"), ["a \"http://x\"", "b /* open;c"]);
        assert_eq!(split(";;"), ["", ""]);
        assert!(split("").is_empty());
    }

    #[test]
    fn comment_without_end_has_a_position() {
        let open = |text| {
            let mut commands = ConsoleCommands::new(text);
            commands.by_ref().for_each(drop);
            commands.open_comment()
        };
        assert_eq!(open("a;b /* c\nd"), Some(4));
        assert_eq!(open("/* a */ /*"), Some(8));
        for text in ["a /* b */ c", "a \"/* b\"", "// /* a", "/*/ a */", ""] {
            assert_eq!(open(text), None, "{text}");
        }
    }

    #[test]
    fn quote_that_its_line_closes_is_noticed() {
        let open = |text| {
            let mut commands = ConsoleCommands::new(text);
            std::iter::from_fn(|| commands.next().map(|_| commands.has_open_quote()))
                .collect::<Vec<_>>()
        };
        assert_eq!(open("set a \"b;c\nset d \"e\"\nset f g\""), [true, false, true]);
        assert_eq!(open("set a \"// b\n// don\"t\n/* \" */ c"), [true, false, false]);
    }

    #[test]
    fn comment_that_cuts_a_word_is_noticed() {
        let cuts = |text| {
            let mut commands = ConsoleCommands::new(text);
            commands.next().map(|_| commands.cuts_word())
        };
        assert_eq!(cuts("set u http://a;b"), Some(true));
        for text in ["set u \"http://a\"", "set u \"a\"// b", "set u a\t// b", "set u a/b", "a"] {
            assert_eq!(cuts(text), Some(false), "{text}");
        }
        assert_eq!(cuts("// a"), Some(false));
    }

    proptest! {
        #[test]
        fn words_of_texts_are_those_of_their_commands(text in "[a\"/*;\n é]{0,40}") {
            let total: usize = split(&text).iter().map(|command| command.len()).sum();
            prop_assert!(total <= text.len());
            for command in split(&text) {
                for word in CommandArgs::parse(command).arguments() {
                    prop_assert!(text.contains(word.as_str()));
                }
            }
        }
    }
}

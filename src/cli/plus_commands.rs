//! Console commands on the command line, as Quake III servers accept them:
//! `+set net_port 27961 +map q3dm17 +say hello`.
//!
//! A word that starts with `+` and has no space starts a command; after a lone `+`, the next word is the
//! command. All words before the first command are options.

use std::ffi::{OsStr, OsString};

use crate::{
    model::{spelling::distance, text::truncated},
    settings::SetCommand,
};

/// Commands given on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlusCommands {
    /// `+set`, `+seta`, `+sets` and `+setu` in order: command, name, value.
    pub sets: Vec<(SetCommand, String, String)>,
    /// The last `+map` or `+devmap`.
    pub map: Option<FirstMap>,
    /// All commands but the sets in order, as console lines.
    pub lines: Vec<String>,
}

/// Commands that name the map of the first level, and whether cheats are on.
const MAP_COMMANDS: [(&str, bool); 2] = [("map", false), ("devmap", true)];

/// Map of the first level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstMap {
    /// Name of the map.
    pub name: String,
    /// Whether cheats are on: `+devmap`.
    pub has_cheats: bool,
}

/// Splits arguments into options and commands.
#[must_use]
pub fn split(mut arguments: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    // The first argument is the program name.
    let own = arguments.iter().skip(1).take_while(|word| !begins_command(word)).count();
    let plus = arguments.split_off(arguments.len().min(own + 1));
    (arguments, plus)
}

/// Maximum edits between a word and the option that was probably meant.
const MAX_OPTION_EDITS: usize = 2;

/// Finds an option of `options` among the words of commands, where it would become part of a value. Returns the
/// error, which shows no value.
pub(super) fn find_option(words: &[OsString], options: &[String]) -> Option<String> {
    let is_set = |word: &OsString| {
        let name = word.to_str().unwrap_or_default().trim_start_matches('+');
        SetCommand::named(name).is_some()
    };
    let mut command = String::new();
    for (at, word) in words.iter().enumerate() {
        let Some(text) = word.to_str() else { continue };
        if begins_command(word) {
            command = truncated(text, 64).to_owned();
            continue;
        }
        if at > 0 && is_set(&words[at - 1]) {
            // The name of a setting.
            command = format!("{command} {}", truncated(text, 64));
        }
        let Some(option) = text.strip_prefix("--") else { continue };
        let option = option.split('=').next().unwrap_or_default();
        let near = options.iter().map(|known| (distance(known, option), known)).min();
        // A short word has few letters to mistake.
        let limit = if option.len() < 4 { 0 } else { MAX_OPTION_EDITS };
        let Some((edits, near)) = near.filter(|&(edits, _)| edits <= limit) else { continue };
        let what = if edits == 0 {
            format!("--{near} is an option of fragd serve and would be part of the command")
        } else {
            let shown = truncated(option, 64);
            format!("--{shown}: did you mean the option --{near}? It would be part of the command")
        };
        return Some(format!(
            "{command}: {what}; put options before the first word that starts with +, or write '\"{}\"' \
             for this text",
            truncated(text.split('=').next().unwrap_or_default(), 64)
        ));
    }
    None
}

fn begins_command(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.first() == Some(&b'+') && !bytes.iter().any(|byte| byte.is_ascii_whitespace())
}

impl PlusCommands {
    /// Parses the arguments from the first command on.
    ///
    /// # Errors
    /// An error message for a command with missing arguments.
    pub fn read(arguments: &[OsString]) -> Result<Self, String> {
        let mut commands = Self::default();
        let mut rest = arguments;
        while let Some(first) = rest.first() {
            let words = 1 + rest[1..].iter().take_while(|word| !begins_command(word)).count();
            let (command, others) = rest.split_at(words);
            rest = others;
            let mut words = Vec::with_capacity(command.len());
            for word in command {
                let text = word.to_str();
                words.push(unquoted(
                    text.ok_or_else(|| format!("{} is not UTF-8", word.to_string_lossy()))?,
                ));
            }
            if first == "+" {
                words.remove(0);
            } else {
                words[0] = words[0].trim_start_matches('+');
            }
            commands.take(&words)?;
        }
        Ok(commands)
    }

    /// Whether the list of commands is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn take(&mut self, words: &[&str]) -> Result<(), String> {
        let Some((&command, arguments)) = words.split_first().filter(|(name, _)| !name.is_empty())
        else {
            return Err("command missing after + (expected e.g. +map NAME)".to_owned());
        };
        if let Some(set) = SetCommand::named(command) {
            let [name, value @ ..] = arguments else {
                return Err(format!("+{command}: missing name and value"));
            };
            if value.is_empty() {
                let name = truncated(name, 64);
                return Err(format!("+{command}: missing value of {name}"));
            }
            self.sets.push((set, (*name).to_owned(), value.join(" ")));
        } else if let Some(&(command, has_cheats)) =
            MAP_COMMANDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(command))
        {
            let [map] = arguments else {
                return Err(format!("+{command}: expected the name of one map"));
            };
            self.map = Some(FirstMap { name: (*map).to_owned(), has_cheats });
            self.lines.push(format!("{command} {}", requoted(map)));
        } else {
            self.lines.push(words.iter().map(|word| requoted(word)).collect::<Vec<_>>().join(" "));
        }
        Ok(())
    }
}

/// A word without quotes around it; scripts often leave them there.
fn unquoted(word: &str) -> &str {
    word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(word)
}

/// A word quoted so that the console parses it as one word. The console has no escapes: inner quotes and
/// line breaks are removed.
fn requoted(word: &str) -> String {
    let plain = !word.is_empty()
        && word.chars().all(|c| c > ' ' && c != ';' && c != '"')
        && !word.contains("//")
        && !word.contains("/*");
    if plain {
        return word.to_owned();
    }
    let inner: String = word.chars().filter(|&c| c != '"' && (c >= ' ' || c == '\t')).collect();
    format!("\"{inner}\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::CommandArgs;

    fn arguments(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn read(words: &[&str]) -> Result<PlusCommands, String> {
        PlusCommands::read(&arguments(words))
    }

    #[test]
    fn options_end_at_the_first_command() {
        for (words, own) in [
            (&["fragd"][..], 1),
            (&["fragd", "serve", "--port", "1", "+set", "a", "b"], 4),
            (&["fragd", "+map", "x", "--port", "1"], 1),
            (&["+fragd", "--port", "1"], 3),
            (&["fragd", "--config", "+ +.toml", "+", "map", "x"], 3),
            (&[], 0),
        ] {
            let (flags, plus) = split(arguments(words));
            assert_eq!((flags.len(), plus.len()), (own, words.len() - own), "{words:?}");
        }
    }

    #[test]
    fn commands_are_split_into_sets_map_and_lines() {
        let commands = read(&[
            "+set",
            "sv_hostname",
            "My server",
            "+SETA",
            "g_motd",
            "two",
            "words",
            "+map",
            "oa_dm1",
            "+",
            "say",
            "hi there; all",
            "+sets",
            "Admin",
            "\"Kim\"",
            "+addbot",
            "sarge",
            "4",
            "+set",
            "g_password",
            "",
            "+map",
            "oa_dm3",
            "+status",
        ])
        .unwrap();
        let sets = [
            (SetCommand::Set, "sv_hostname", "My server"),
            (SetCommand::Seta, "g_motd", "two words"),
            (SetCommand::Sets, "Admin", "Kim"),
            (SetCommand::Set, "g_password", ""),
        ];
        let sets = sets.map(|(set, name, value)| (set, name.to_owned(), value.to_owned()));
        assert_eq!(commands.sets, sets);
        assert_eq!(commands.map, Some(FirstMap { name: "oa_dm3".to_owned(), has_cheats: false }));
        let lines =
            ["map oa_dm1", "say \"hi there; all\"", "addbot sarge 4", "map oa_dm3", "status"];
        assert_eq!(commands.lines, lines);
    }

    #[test]
    fn last_map_command_decides_about_cheats() {
        let map = |words: &[&str]| read(words).unwrap().map.unwrap();
        let dev = FirstMap { name: "b".to_owned(), has_cheats: true };
        assert_eq!(map(&["+map", "a", "+DevMap", "b"]), dev);
        let plain = FirstMap { name: "a".to_owned(), has_cheats: false };
        assert_eq!(map(&["+devmap", "b", "+map", "a"]), plain);
    }

    #[test]
    fn missing_arguments_are_rejected() {
        assert_eq!(read(&["+set"]).unwrap_err(), "+set: missing name and value");
        let error = read(&["+set", "sv_fps", "+map", "x"]).unwrap_err();
        assert_eq!(error, "+set: missing value of sv_fps");
        assert_eq!(read(&["+map"]).unwrap_err(), "+map: expected the name of one map");
        assert_eq!(read(&["+map", "a", "b"]).unwrap_err(), "+map: expected the name of one map");
        for words in [&["+"][..], &["+", "+status"], &["+map", "x", "+"], &["+", ""]] {
            let error = read(words).unwrap_err();
            assert_eq!(error, "command missing after + (expected e.g. +map NAME)", "{words:?}");
        }
        assert_eq!(read(&["+devmap"]).unwrap_err(), "+devmap: expected the name of one map");
    }

    #[cfg(unix)]
    #[test]
    fn invalid_utf8_is_rejected() {
        use std::os::unix::ffi::OsStringExt as _;
        let words = [OsString::from("+say"), OsString::from_vec(vec![b'a', 0xff])];
        assert!(PlusCommands::read(&words).is_err());
    }

    proptest! {
        #[test]
        fn lines_parse_back_into_their_words(
            words in proptest::collection::vec("[^\"\\p{Cc}]{0,20}", 1..6),
        ) {
            let mut given = vec!["+echo".to_owned()];
            given.extend(words.iter().filter(|word| !begins_command(OsStr::new(word))).cloned());
            let given: Vec<&str> = given.iter().map(String::as_str).collect();
            let commands = read(&given).unwrap();
            let line = CommandArgs::parse(&commands.lines[0]);
            prop_assert_eq!(line.arguments(), &given[1..]);
        }

        #[test]
        fn arguments_never_panic(words in proptest::collection::vec("\\PC{0,9}|\\+|\\+set|\\+map", 0..9)) {
            let (_, plus) = split(words.iter().map(OsString::from).collect());
            let _ = PlusCommands::read(&plus);
        }
    }
}

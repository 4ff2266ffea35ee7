//! File of administrators: levels with their commands, and logins with their secrets.
//!
//! ```toml
//! [[level]]
//! name = "moderator"
//! commands = ["kick", "mute"]
//! max_time = "2h"
//!
//! [[login]]
//! name = "anna"
//! level = "moderator"
//! secret = "pbkdf2-sha256:…"
//! ```
//!
//! Invariants: a file is accepted as a whole or not at all; errors name line, key and expected value, never a secret.

use serde::Deserialize;
use toml::Spanned;

use super::{
    Level, Login,
    commands::{command_named, names},
    secret::Secret,
};
use crate::{
    bans::Span,
    model::{
        config_fault::{form_fault, line_of, value_fault},
        text,
    },
};

/// Largest number of levels and logins. Each hash of a login delays the server at a login.
const MAX_LEVELS: usize = 16;
const MAX_LOGINS: usize = 32;
/// Longest name of a level or login, in characters.
const MAX_NAME_LEN: usize = 31;
/// Word for all commands.
const ALL: &str = "all";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AdminFile {
    #[serde(default)]
    level: Vec<LevelRow>,
    #[serde(default)]
    login: Vec<LoginRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelRow {
    name: Spanned<Name>,
    commands: Vec<CommandName>,
    max_time: Option<MaxTime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoginRow {
    name: Spanned<Name>,
    level: Spanned<String>,
    secret: SecretText,
}

/// Name of a level or login.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if (1..=MAX_NAME_LEN).contains(&name.len()) && name.chars().all(is_legal) {
            return Ok(Self(name));
        }
        let shown = text::shown_name(name.as_bytes());
        Err(format!(
            "invalid name '{shown}' (expected 1 to {MAX_NAME_LEN} letters, digits, _, - and .)"
        ))
    }
}

/// Command of a level, or `all`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct CommandName(String);

impl TryFrom<String> for CommandName {
    type Error = String;

    fn try_from(given: String) -> Result<Self, String> {
        let name = given.strip_prefix('!').unwrap_or(&given);
        if name == ALL || command_named(name).is_some() {
            return Ok(Self(name.to_owned()));
        }
        let all: Vec<_> = names().collect();
        let shown = text::shown_name(given.as_bytes());
        Err(format!("unknown command '{shown}' (expected {ALL}, or {})", all.join(", ")))
    }
}

/// Longest ban of a level.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct MaxTime(String);

impl TryFrom<String> for MaxTime {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if Span::parse(&word).is_some() {
            return Ok(Self(word));
        }
        let shown = text::shown_name(word.as_bytes());
        Err(format!("invalid time '{shown}' (expected e.g. 30m, 2h or 7d)"))
    }
}

/// Secret of a login. A value of another type is not shown.
#[derive(Deserialize)]
#[serde(try_from = "toml::Value")]
struct SecretText(Secret);

impl TryFrom<toml::Value> for SecretText {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let text = value.as_str().ok_or("invalid type (expected text in quotes)")?;
        Secret::parse(text).map(Self)
    }
}

/// Line of a fault and its sentence.
pub(super) type FileFault = (usize, String);

/// Parses a file. Levels are returned from the lowest to the highest.
///
/// # Errors
/// Line and sentence.
pub(super) fn parse(text: &str) -> Result<(Vec<Level>, Vec<Login>), FileFault> {
    let file: AdminFile = toml::from_str(text).map_err(|error: toml::de::Error| {
        match toml::de::DeTable::parse(text) {
            Ok(_) => value_fault(text, error.span(), error.message()),
            Err(error) => form_fault(text, error.span(), error.message()),
        }
    })?;
    for (count, most, noun) in
        [(file.level.len(), MAX_LEVELS, "levels"), (file.login.len(), MAX_LOGINS, "logins")]
    {
        if count > most {
            return Err((1, format!("{count} {noun} (expected {most} at most)")));
        }
    }
    let mut levels = Vec::new();
    for row in file.level {
        levels.push(level_of(text, row, &levels)?);
    }
    let mut logins = Vec::new();
    for row in file.login {
        logins.push(login_of(text, row, &levels, &logins)?);
    }
    Ok((levels, logins))
}

/// Level of a table, behind the `known` ones.
fn level_of(text: &str, row: LevelRow, known: &[Level]) -> Result<Level, FileFault> {
    let LevelRow { name, commands: allowed, max_time } = row;
    let line = line_of(text, name.span().start);
    let name = name.into_inner().0;
    if known.iter().any(|level| level.name == name) {
        return Err((line, format!("name: level '{name}' twice (expected another name)")));
    }
    let is_allowed = |name: &&str| {
        allowed.iter().any(|CommandName(word)| word == ALL || word.eq_ignore_ascii_case(name))
    };
    let commands = names().filter(is_allowed).collect();
    Ok(Level { name, commands, max_time: max_time.map(|time| time.0) })
}

/// Login of a table, behind the `known` ones.
fn login_of(
    text: &str,
    row: LoginRow,
    levels: &[Level],
    known: &[Login],
) -> Result<Login, FileFault> {
    let LoginRow { name, level, secret: SecretText(secret) } = row;
    let line = line_of(text, name.span().start);
    let name = name.into_inner().0;
    if known.iter().any(|login| login.name == name) {
        return Err((line, format!("name: login '{name}' twice (expected another name)")));
    }
    if let Some(same) = known.iter().find(|login| login.secret == secret) {
        let same = &same.name;
        return Err((line, format!("secret: equal to that of '{same}' (expected another one)")));
    }
    let level_line = line_of(text, level.span().start);
    let level = level.into_inner();
    let rank = levels.iter().position(|known| known.name == level).ok_or_else(|| {
        let names: Vec<_> = levels.iter().map(|level| level.name.as_str()).collect();
        let shown = text::shown_name(level.as_bytes());
        let expected = match &*names.join(", ") {
            "" => format!("a [[level]] with name = \"{shown}\""),
            names => format!("one of: {names}"),
        };
        (level_line, format!("level: unknown level '{shown}' (expected {expected})"))
    })?;
    Ok(Login { name, rank, secret })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: &str = "[[level]]\nname = \"low\"\ncommands = [\"!kick\", \"mute\"]\n";

    #[test]
    fn levels_rise_in_order_of_file() {
        let text = format!(
            "{LEVEL}max_time = \"2h\"\n[[level]]\nname = \"high\"\ncommands = [\"all\"]\n\
             [[login]]\nname = \"anna\"\nlevel = \"high\"\nsecret = \"longsecret\"\n"
        );
        let (levels, logins) = parse(&text).unwrap();
        assert_eq!(levels[0].commands, ["kick", "mute"]);
        assert_eq!(
            (levels[0].max_time.as_deref(), levels[1].max_time.as_deref()),
            (Some("2h"), None)
        );
        assert_eq!(levels[1].commands.len(), names().count());
        assert_eq!((logins[0].name.as_str(), logins[0].rank), ("anna", 1));
        assert!(parse("").is_ok_and(|(levels, logins)| levels.is_empty() && logins.is_empty()));
    }

    #[test]
    fn faults_name_line_and_key() {
        let login = |lines: &str| format!("{LEVEL}[[login]]\nname = \"anna\"\n{lines}");
        let twice = "level = \"low\"\nsecret = \"longsecret\"\n[[login]]\nname = \"anna\"\n\
                     level = \"low\"\nsecret = \"othersecret\"\n";
        let equal = twice.replace("[[login]]\nname = \"anna\"", "[[login]]\nname = \"bea\"");
        for (text, line, expected) in [
            (
                "[[level]]\nname = \"a b\"\ncommands = []".to_owned(),
                2,
                "name: invalid name 'a b' (",
            ),
            (
                "[[level]]\nname = \"a\"\ncommands = [\"x\"]".to_owned(),
                3,
                "commands: unknown command 'x' (",
            ),
            (
                format!("{LEVEL}max_time = \"2\"\n"),
                4,
                "max_time: invalid time '2' (expected e.g. 30m",
            ),
            (format!("{LEVEL}{LEVEL}"), 5, "name: level 'low' twice"),
            (
                login("level = \"top\"\nsecret = \"longsecret\"\n"),
                6,
                "level: unknown level 'top' (expected one of: low)",
            ),
            (
                login("level = \"low\"\nsecret = \"short\"\n"),
                7,
                "secret: secret of 5 characters (expected 8",
            ),
            (
                login("level = \"low\"\nsecret = 12345678\n"),
                7,
                "secret: invalid type (expected text",
            ),
            (login("level = \"low\"\n"), 4, "missing field `secret`"),
            (login(twice), 9, "name: login 'anna' twice"),
            (
                login(&equal.replace("othersecret", "longsecret")),
                9,
                "secret: equal to that of 'anna'",
            ),
            ("levels = 1".to_owned(), 1, "unknown field `levels`"),
            ("[[level]\n".to_owned(), 1, ""),
        ] {
            let (found, what) = parse(&text).err().unwrap_or_default();
            assert!(found == line && what.starts_with(expected), "{text}: {found}: {what}");
            assert!(!what.contains("1234") && !what.contains("longsecret"), "{what}");
        }
        let many = "[[level]]\nname = \"a\"\ncommands = []\n".repeat(17);
        assert_eq!(parse(&many).unwrap_err().1, "17 levels (expected 16 at most)");
    }
}

//! Player userinfo: name, model, colors, handicap and preferences, sanitized.
//!
//! Userinfo is hostile text. Invariant: values returned here are safe inside quotes of a server command
//! and in an info string, i.e. printable ASCII without quote, backslash and semicolon, truncated to a
//! maximum length. A player entry has four lengths ([`Detail`]), so that the entries of all slots fit a
//! gamestate. Source: the base game's userinfo rules; OpenArena's default names.

use super::ruleset::DefaultName;
use crate::model::{
    ClientNum,
    text::{atoi, truncated},
};

/// Maximum length of a name, in bytes.
pub const MAX_NAME_LEN: usize = 35;
/// Maximum consecutive spaces in a name.
const MAX_SPACES: usize = 3;
/// Maximum length of a model or skin name, in bytes.
const MAX_MODEL_LEN: usize = 31;
/// Maximum length of a team name, in bytes.
const MAX_TEAM_NAME_LEN: usize = 15;
/// Maximum length of a color or skill, in bytes.
const MAX_DIGITS_LEN: usize = 3;
/// Maximum length of the name in the shortest player entry, in bytes.
const SHORT_NAME_LEN: usize = 15;
/// Model in player entries without room for the client's choice.
const DEFAULT_MODEL: &str = "sarge";
/// Highest team task.
const MAX_TASK: i32 = 9;

/// Userinfo string in the engine's form: `\key\value\key\value`.
#[derive(Clone, Copy, Debug)]
pub struct PlayerUserinfo<'a>(&'a str);

impl<'a> PlayerUserinfo<'a> {
    /// Wraps a userinfo string. Returns `None` for text with forbidden characters.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let forbidden = |c: char| c == '"' || c == ';' || c.is_ascii_control();
        (!text.contains(forbidden)).then_some(Self(text))
    }

    /// Returns the first value of a key, ignoring case; empty if the key is missing.
    #[must_use]
    pub fn value(&self, key: &str) -> &'a str {
        let mut parts = self.0.strip_prefix('\\').unwrap_or(self.0).split('\\');
        while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            if name.eq_ignore_ascii_case(key) {
                return value;
            }
        }
        ""
    }

    /// Returns the string with a new value for a key. The first one is replaced, further ones are dropped.
    #[must_use]
    pub fn with(&self, key: &str, value: &str) -> String {
        let mut text = String::with_capacity(self.0.len() + key.len() + value.len() + 2);
        let mut parts = self.0.strip_prefix('\\').unwrap_or(self.0).split('\\');
        let mut done = false;
        while let (Some(name), Some(old)) = (parts.next(), parts.next()) {
            let same = name.eq_ignore_ascii_case(key);
            if !(same && done) {
                let new = if same { value } else { old };
                text.extend(["\\", name, "\\", new]);
            }
            done |= same;
        }
        if !done {
            text.extend(["\\", key, "\\", value]);
        }
        text
    }

    /// Returns the sanitized name, or the ruleset's default name.
    #[must_use]
    pub fn name(&self, client: ClientNum, default_name: DefaultName) -> String {
        clean_name(self.value("name")).unwrap_or_else(|| match default_name {
            DefaultName::Fixed(name) => name.to_owned(),
            DefaultName::Numbered(name) => format!("{name}{client}"),
        })
    }

    /// Returns the handicap: maximum health from 1 to 100.
    #[must_use]
    pub fn handicap(&self) -> i32 {
        let handicap = atoi(self.value("handicap"));
        if (1..=100).contains(&handicap) { handicap } else { 100 }
    }

    /// Returns the team task, 0 to 9.
    #[must_use]
    pub fn team_task(&self) -> i32 {
        team_task(atoi(self.value("teamtask")))
    }

    /// Whether the client requests the team overlay.
    #[must_use]
    pub fn wants_overlay(&self) -> bool {
        let wish = self.value("teamoverlay");
        wish.is_empty() || atoi(wish) != 0
    }

    fn clean(&self, key: &str, len: usize) -> String {
        clean_value(self.value(key), len)
    }
}

/// Fields of a player entry that are not in the userinfo.
#[derive(Clone, Copy, Debug)]
pub struct PlayerEntryFields {
    /// Team number.
    pub team: i32,
    /// Tournament games won.
    pub wins: i32,
    /// Tournament games lost.
    pub losses: i32,
    /// Whether the player leads its team.
    pub leader: bool,
    /// Whether the game is a team game, with team models.
    pub in_team: bool,
    /// Whether the player is a bot: the entry has a skill instead of team names.
    pub bot: bool,
    /// Color of its rail trails instead of its own ones.
    pub color: Option<&'static str>,
}

/// Clamps a team task to the range that clients know.
#[must_use]
pub fn team_task(number: i32) -> i32 {
    number.clamp(0, MAX_TASK)
}

/// Length of a player entry; each variant omits more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Complete.
    Full,
    /// Without team names.
    NoTeamNames,
    /// Also with the default model.
    DefaultModel,
    /// Also with a truncated name.
    ShortName,
}

impl Detail {
    /// All variants, the longest first.
    pub const ALL: [Self; 4] = [Self::Full, Self::NoTeamNames, Self::DefaultModel, Self::ShortName];
}

/// Returns the player entry sent to all clients, as an info string.
#[must_use]
pub fn player_entry(
    info: &PlayerUserinfo<'_>,
    name: &str,
    fields: &PlayerEntryFields,
    detail: Detail,
) -> String {
    let [model, head] =
        if fields.in_team { ["team_model", "team_headmodel"] } else { ["model", "headmodel"] };
    let [model, head] = [model, head].map(|key| {
        if detail < Detail::DefaultModel {
            info.clean(key, MAX_MODEL_LEN)
        } else {
            DEFAULT_MODEL.to_owned()
        }
    });
    let name = if detail < Detail::ShortName { name } else { truncated(name, SHORT_NAME_LEN) };
    let [color1, color2] = ["color1", "color2"].map(|key| match fields.color {
        Some(color) => color.to_owned(),
        None => info.clean(key, MAX_DIGITS_LEN),
    });
    let handicap = info.handicap();
    let PlayerEntryFields { team, wins, losses, leader, bot, .. } = *fields;
    let task = info.team_task();
    let leader = i32::from(leader);
    if bot {
        let skill = info.clean("skill", MAX_DIGITS_LEN);
        format!(
            "n\\{name}\\t\\{team}\\model\\{model}\\hmodel\\{head}\\c1\\{color1}\\c2\\{color2}\
             \\hc\\{handicap}\\w\\{wins}\\l\\{losses}\\skill\\{skill}\\tt\\{task}\\tl\\{leader}"
        )
    } else {
        let most = if detail < Detail::NoTeamNames { MAX_TEAM_NAME_LEN } else { 0 };
        let red = info.clean("g_redteam", most);
        let blue = info.clean("g_blueteam", most);
        format!(
            "n\\{name}\\t\\{team}\\model\\{model}\\hmodel\\{head}\\g_redteam\\{red}\
             \\g_blueteam\\{blue}\\c1\\{color1}\\c2\\{color2}\\hc\\{handicap}\\w\\{wins}\
             \\l\\{losses}\\tt\\{task}\\tl\\{leader}"
        )
    }
}

/// Sanitizes chat text: printable, without quotes, line breaks replaced by spaces.
#[must_use]
pub fn clean_text(text: &str, len: usize) -> String {
    let kept = text.chars().filter_map(|c| match c {
        '\n' | '\r' | '\t' => Some(' '),
        '"' => None,
        // Strings are ASCII on the wire; engines send a dot for other characters.
        ' '..='~' => Some(c),
        _ if c.is_control() => None,
        _ => Some('.'),
    });
    kept.take(len).collect()
}

fn clean_value(value: &str, len: usize) -> String {
    let printable = |c: &char| (' '..='~').contains(c) && !matches!(c, '"' | '\\' | ';');
    value.chars().filter(printable).take(len).collect()
}

/// Sanitizes a name: printable, without leading spaces, long gaps and black. Returns `None` if nothing
/// visible is left.
fn clean_name(raw: &str) -> Option<String> {
    let mut name = String::with_capacity(MAX_NAME_LEN);
    let mut spaces = 0;
    for c in clean_value(raw, usize::MAX).chars() {
        if name.len() == MAX_NAME_LEN {
            break;
        }
        if c != '^' && name.ends_with('^') {
            // Check against the output: removing one color code must not form another.
            if is_black(c) {
                name.pop();
            } else {
                name.push(c);
            }
        } else if c == ' ' {
            if name.is_empty() || spaces == MAX_SPACES {
                continue;
            }
            spaces += 1;
            name.push(c);
        } else {
            if c != '^' {
                spaces = 0;
            }
            name.push(c);
        }
    }
    is_visible(&name).then_some(name)
}

/// Whether clients show a character of a name. A `^` before another one, or at the end, is not a color code.
fn is_visible(name: &str) -> bool {
    let mut rest = name.as_bytes();
    loop {
        rest = match rest {
            [] => return false,
            [b'^', code, rest @ ..] if *code != b'^' => rest,
            [b' ', rest @ ..] => rest,
            _ => return true,
        };
    }
}

/// Whether a color code is black. Clients take the character's code modulo eight.
fn is_black(code: char) -> bool {
    (code as u32).wrapping_sub('0' as u32) & 7 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn client(number: usize) -> ClientNum {
        ClientNum::new(number).expect("a client number")
    }

    #[test]
    fn names_are_sanitized() {
        for (raw, clean) in [
            ("alpha", "alpha"),
            ("   alpha", "alpha"),
            ("a     b", "a   b"),
            ("a b c d e", "a b c d e"),
            ("^1Sarge", "^1Sarge"),
            ("^0dark", "dark"),
            ("^8dark^Htoo", "darktoo"),
            ("^^00x", "x"),
            ("a^", "a^"),
            ("with\"quote", "withquote"),
            ("back\\slash;", "backslash"),
            ("esc\x1b[2J", "esc[2J"),
            ("0123456789012345678901234567890123456789", "01234567890123456789012345678901234"),
            ("", "UnnamedPlayer"),
            ("   ", "UnnamedPlayer"),
            ("^1^2^3", "UnnamedPlayer"),
            ("^", "^"),
            ("^1^", "^1^"),
            ("^^1", "^^1"),
            ("^^00", "UnnamedPlayer"),
            ("^1 ^2 ", "UnnamedPlayer"),
            ("\u{202e}\u{200b}", "UnnamedPlayer"),
        ] {
            let name = clean_name(raw).unwrap_or_else(|| "UnnamedPlayer".to_owned());
            assert_eq!(name, clean, "{raw:?}");
        }
    }

    #[test]
    fn empty_names_become_default_name() {
        let info = PlayerUserinfo::parse("\\rate\\25000").expect("legal");
        assert_eq!(info.name(client(7), DefaultName::Numbered("Nameless")), "Nameless7");
        assert_eq!(info.name(client(7), DefaultName::Fixed("UnnamedPlayer")), "UnnamedPlayer");
    }

    #[test]
    fn userinfo_returns_first_value_of_key() {
        let info = PlayerUserinfo::parse("\\Name\\a\\name\\b\\team\\\\x").expect("legal");
        assert_eq!((info.value("NAME"), info.value("team"), info.value("x")), ("a", "", ""));
        assert_eq!(PlayerUserinfo::parse("name\\a").map(|i| i.value("name")), Some("a"));
        for bad in ["\\name\\a\"b", "\\name\\a;quit", "\\name\\a\n"] {
            assert!(PlayerUserinfo::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn userinfo_replaces_values_in_place() {
        let info = PlayerUserinfo::parse("\\name\\a\\rate\\1\\NAME\\b").expect("legal");
        assert_eq!(info.with("name", "c"), "\\name\\c\\rate\\1");
        assert_eq!(info.with("teamtask", "2"), "\\name\\a\\rate\\1\\NAME\\b\\teamtask\\2");
    }

    #[test]
    fn player_entry_has_documented_form() {
        let info =
            "\\name\\alpha\\model\\sarge\\headmodel\\sarge\\color1\\4\\color2\\5\\handicap\\100";
        let info = PlayerUserinfo::parse(info).expect("legal");
        let fields = PlayerEntryFields {
            color: None,
            team: 0,
            wins: 0,
            losses: 0,
            leader: false,
            in_team: false,
            bot: false,
        };
        assert_eq!(
            player_entry(&info, "alpha", &fields, Detail::Full),
            "n\\alpha\\t\\0\\model\\sarge\\hmodel\\sarge\\g_redteam\\\\g_blueteam\\\\c1\\4\\c2\\5\\hc\\100\\w\\0\\l\\0\\tt\\0\\tl\\0"
        );
        let bot = PlayerEntryFields { bot: true, team: 3, ..fields };
        assert_eq!(
            player_entry(&info, "alpha", &bot, Detail::Full),
            "n\\alpha\\t\\3\\model\\sarge\\hmodel\\sarge\\c1\\4\\c2\\5\\hc\\100\\w\\0\\l\\0\\skill\\\\tt\\0\\tl\\0"
        );
    }

    #[test]
    fn player_entry_shortens_in_steps_and_keeps_form() {
        let long = "W".repeat(200);
        let keys = ["name", "model", "headmodel", "color1", "color2", "g_redteam", "g_blueteam"];
        let text: String = keys.iter().map(|key| format!("\\{key}\\{long}")).collect();
        let text = text + "\\teamtask\\-2147483648";
        let info = PlayerUserinfo::parse(&text).expect("legal");
        let name = info.name(client(0), DefaultName::Fixed(""));
        let fields = PlayerEntryFields {
            color: None,
            team: 0,
            wins: 9999,
            losses: 9999,
            leader: true,
            in_team: false,
            bot: false,
        };
        let entries = Detail::ALL.map(|detail| player_entry(&info, &name, &fields, detail));
        assert_eq!(entries.each_ref().map(String::len), [216, 186, 134, 114]);
        let keys =
            |entry: &String| entry.split('\\').step_by(2).map(str::to_owned).collect::<Vec<_>>();
        assert!(entries.iter().all(|entry| keys(entry) == keys(&entries[0])));
        assert!(entries[3].starts_with("n\\WWWWWWWWWWWWWWW\\t\\0\\model\\sarge\\hmodel\\sarge\\"));
        assert!(entries[3].ends_with("\\tt\\0\\tl\\1"));
    }

    #[test]
    fn handicap_out_of_range_is_100() {
        for (text, handicap) in [("50", 50), ("0", 100), ("101", 100), ("-3", 100), ("nan", 100)] {
            let text = format!("\\handicap\\{text}");
            assert_eq!(
                PlayerUserinfo::parse(&text).map(|i| i.handicap()),
                Some(handicap),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn names_are_safe_inside_quotes(raw in "\\PC*|[\\^0 8a\"\\\\;\x01]{0,60}") {
            if let Some(name) = clean_name(&raw) {
                prop_assert!(name.len() <= MAX_NAME_LEN);
                let printable = |c| (' '..='~').contains(&c);
                prop_assert!(name.chars().all(printable), "{:?}", name);
                prop_assert!(!name.contains(['"', '\\', ';']));
                prop_assert!(!name.contains("    ") && !name.starts_with(' '));
                let codes = name.as_bytes().windows(2).filter(|w| w[0] == b'^' && w[1] != b'^');
                for code in codes {
                    prop_assert!(!is_black(code[1] as char), "{:?}", name);
                }
                // Cleaning what is clean changes nothing.
                prop_assert_eq!(clean_name(&name), Some(name));
            }
        }
    }
}

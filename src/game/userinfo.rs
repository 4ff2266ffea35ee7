//! What a client says of itself, read and cleaned: name, model, colours, handicap, wishes.
//!
//! Userinfo is hostile text. What leaves here can stand in quotes inside a server command and in an
//! info string: printable ASCII without quote, backslash and semicolon, each value cut to a length that
//! lets 64 player entries fit beside everything else a gamestate holds.
//! Source: the base game's userinfo rules; OpenArena's names for the nameless.

use super::profile::Nameless;
use crate::model::{ClientNum, text::leading_int};

/// Longest name, in bytes.
pub const MAX_NAME_LEN: usize = 35;
/// Spaces a name may have in a row.
const MAX_SPACES: usize = 3;
/// Longest model or skin name, in bytes.
const MAX_MODEL_LEN: usize = 31;
/// Longest team name, in bytes.
const MAX_TEAM_NAME_LEN: usize = 15;
/// Longest colour or task, in bytes.
const MAX_DIGITS_LEN: usize = 3;

/// A userinfo string, as the engine keeps it: `\key\value\key\value`.
#[derive(Clone, Copy, Debug)]
pub struct Userinfo<'a>(&'a str);

impl<'a> Userinfo<'a> {
    /// Looks at `text`, or `None` when it holds characters that no userinfo may hold.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let forbidden = |c: char| c == '"' || c == ';' || c.is_ascii_control();
        (!text.contains(forbidden)).then_some(Self(text))
    }

    /// The first value of a key, whatever the key's case; empty without one.
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

    /// The text with another value for a key: the first one replaced, further ones dropped.
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

    /// The cleaned name, or what the nameless are called.
    #[must_use]
    pub fn name(&self, client: ClientNum, nameless: Nameless) -> String {
        clean_name(self.value("name")).unwrap_or_else(|| match nameless {
            Nameless::Fixed(name) => name.to_owned(),
            Nameless::Numbered(name) => format!("{name}{client}"),
        })
    }

    /// Highest health, 1 to 100.
    #[must_use]
    pub fn handicap(&self) -> i32 {
        let handicap = leading_int(self.value("handicap"));
        if (1..=100).contains(&handicap) { handicap } else { 100 }
    }

    /// Whether the client wants to be told where its team mates are.
    #[must_use]
    pub fn wants_overlay(&self) -> bool {
        let wish = self.value("teamoverlay");
        wish.is_empty() || leading_int(wish) != 0
    }

    fn clean(&self, key: &str, len: usize) -> String {
        clean_value(self.value(key), len)
    }
}

/// What a player entry says besides the userinfo.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Number of the team.
    pub team: i32,
    /// Tournament games won.
    pub wins: i32,
    /// Tournament games lost.
    pub losses: i32,
    /// Leads the team.
    pub leader: bool,
    /// In a game of teams, which has models of its own.
    pub in_team: bool,
    /// Plays by itself: told by its skill, without team names.
    pub bot: bool,
}

/// The player entry that everybody is told: an info string.
#[must_use]
pub fn player_entry(info: &Userinfo<'_>, name: &str, standing: &Standing) -> String {
    let [model, head] =
        if standing.in_team { ["team_model", "team_headmodel"] } else { ["model", "headmodel"] };
    let model = info.clean(model, MAX_MODEL_LEN);
    let head = info.clean(head, MAX_MODEL_LEN);
    let colour1 = info.clean("color1", MAX_DIGITS_LEN);
    let colour2 = info.clean("color2", MAX_DIGITS_LEN);
    let handicap = info.handicap();
    let Standing { team, wins, losses, leader, bot, .. } = *standing;
    let task = leading_int(info.value("teamtask"));
    let leader = i32::from(leader);
    if bot {
        let skill = info.clean("skill", MAX_DIGITS_LEN);
        format!(
            "n\\{name}\\t\\{team}\\model\\{model}\\hmodel\\{head}\\c1\\{colour1}\\c2\\{colour2}\
             \\hc\\{handicap}\\w\\{wins}\\l\\{losses}\\skill\\{skill}\\tt\\{task}\\tl\\{leader}"
        )
    } else {
        let red = info.clean("g_redteam", MAX_TEAM_NAME_LEN);
        let blue = info.clean("g_blueteam", MAX_TEAM_NAME_LEN);
        format!(
            "n\\{name}\\t\\{team}\\model\\{model}\\hmodel\\{head}\\g_redteam\\{red}\
             \\g_blueteam\\{blue}\\c1\\{colour1}\\c2\\{colour2}\\hc\\{handicap}\\w\\{wins}\
             \\l\\{losses}\\tt\\{task}\\tl\\{leader}"
        )
    }
}

/// Text that players may send each other: printable, without quotes, line breaks as spaces.
#[must_use]
pub fn clean_text(text: &str, len: usize) -> String {
    let kept = text.chars().filter_map(|c| match c {
        '\n' | '\r' | '\t' => Some(' '),
        '"' => None,
        // A character beyond ASCII cannot travel; engines write a dot for each.
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

/// A name that shows: no leading spaces, no gaps, no black, nothing that is not printed. `None` when
/// nothing visible is left.
fn clean_name(raw: &str) -> Option<String> {
    let mut name = String::with_capacity(MAX_NAME_LEN);
    let mut spaces = 0;
    let mut visible = false;
    for c in clean_value(raw, usize::MAX).chars() {
        if name.len() == MAX_NAME_LEN {
            break;
        }
        if c != '^' && name.ends_with('^') {
            // Decided on what is kept, so that taking one code out cannot make another.
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
                visible = true;
            }
            name.push(c);
        }
    }
    visible.then_some(name)
}

/// Whether a colour code's character paints black: clients take its number modulo eight.
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
    fn names_are_cleaned() {
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
            ("^", "UnnamedPlayer"),
            ("^1 ^2 ", "UnnamedPlayer"),
            ("\u{202e}\u{200b}", "UnnamedPlayer"),
        ] {
            let name = clean_name(raw).unwrap_or_else(|| "UnnamedPlayer".to_owned());
            assert_eq!(name, clean, "{raw:?}");
        }
    }

    #[test]
    fn the_nameless_are_called_as_the_game_says() {
        let info = Userinfo::parse("\\rate\\25000").expect("legal");
        assert_eq!(info.name(client(7), Nameless::Numbered("Nameless")), "Nameless7");
        assert_eq!(info.name(client(7), Nameless::Fixed("UnnamedPlayer")), "UnnamedPlayer");
    }

    #[test]
    fn values_are_found_by_their_first_key() {
        let info = Userinfo::parse("\\Name\\a\\name\\b\\team\\\\x").expect("legal");
        assert_eq!((info.value("NAME"), info.value("team"), info.value("x")), ("a", "", ""));
        assert_eq!(Userinfo::parse("name\\a").map(|i| i.value("name")), Some("a"));
        for bad in ["\\name\\a\"b", "\\name\\a;quit", "\\name\\a\n"] {
            assert!(Userinfo::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn values_are_replaced_in_place() {
        let info = Userinfo::parse("\\name\\a\\rate\\1\\NAME\\b").expect("legal");
        assert_eq!(info.with("name", "c"), "\\name\\c\\rate\\1");
        assert_eq!(info.with("teamtask", "2"), "\\name\\a\\rate\\1\\NAME\\b\\teamtask\\2");
    }

    #[test]
    fn player_entries_have_the_documented_form() {
        let info =
            "\\name\\alpha\\model\\sarge\\headmodel\\sarge\\color1\\4\\color2\\5\\handicap\\100";
        let info = Userinfo::parse(info).expect("legal");
        let standing =
            Standing { team: 0, wins: 0, losses: 0, leader: false, in_team: false, bot: false };
        assert_eq!(
            player_entry(&info, "alpha", &standing),
            "n\\alpha\\t\\0\\model\\sarge\\hmodel\\sarge\\g_redteam\\\\g_blueteam\\\\c1\\4\\c2\\5\\hc\\100\\w\\0\\l\\0\\tt\\0\\tl\\0"
        );
        let bot = Standing { bot: true, team: 3, ..standing };
        assert_eq!(
            player_entry(&info, "alpha", &bot),
            "n\\alpha\\t\\3\\model\\sarge\\hmodel\\sarge\\c1\\4\\c2\\5\\hc\\100\\w\\0\\l\\0\\skill\\\\tt\\0\\tl\\0"
        );
    }

    #[test]
    fn sixty_four_greedy_entries_fit_in_a_gamestate() {
        let long = "m".repeat(200);
        let keys = ["name", "model", "headmodel", "color1", "color2", "g_redteam", "g_blueteam"];
        let text: String = keys.iter().map(|key| format!("\\{key}\\{long}")).collect();
        let text = text + "\\teamtask\\-2147483648";
        let info = Userinfo::parse(&text).expect("legal");
        let name = info.name(client(0), Nameless::Fixed(""));
        let standing = Standing {
            team: 0,
            wins: 9999,
            losses: 9999,
            leader: true,
            in_team: false,
            bot: false,
        };
        let entry = player_entry(&info, &name, &standing);
        assert!(64 * (entry.len() + 1) < 15_500, "{} bytes: {entry}", entry.len());
    }

    #[test]
    fn handicaps_out_of_range_are_none() {
        for (text, handicap) in [("50", 50), ("0", 100), ("101", 100), ("-3", 100), ("nan", 100)] {
            let text = format!("\\handicap\\{text}");
            assert_eq!(Userinfo::parse(&text).map(|i| i.handicap()), Some(handicap), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_name_escapes_its_quotes(raw in "\\PC*|[\\^0 8a\"\\\\;\x01]{0,60}") {
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

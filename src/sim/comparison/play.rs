//! Plays: map, settings, players and timed input, with their text form.
//!
//! One directive per line; `#` starts a comment. `play NAME` starts a play, `about`, `rules`, `map`, `luck`, `set`, `file`,
//! `each`, `box`, `entity`, `part`, `chance` and `player` describe it, and `wait`, `keys`, `place`, `lag`, `cmd`, `console`,
//! `join`, `leave` and `begin` are its actions. `head NAME` starts lines that plays with `use NAME` share.
//!
//! Invariants: numbers of actions, players and milliseconds are bounded; an error names its line.

use std::fmt;

use thiserror::Error;

use super::arena::{Arena, Material};
use crate::model::{Buttons, UserCmd};

/// Most plays and actions of a text, and the longest text in bytes.
const MAX_PLAYS: usize = 1000;
const MAX_ACTIONS: usize = 20_000;
const MAX_TEXT: usize = 1 << 20;
/// Most players of a play.
const MAX_PLAYERS: usize = 16;
/// Value of every random number of a play without `luck`: about 0.27 in `0..1`.
const LUCK: u16 = 9001;
/// Longest virtual time of one `wait`, in ms.
const MAX_WAIT: u32 = 600_000;
/// Most age of the usercmds of a player, in ms.
const MAX_LAG: u16 = 1000;

/// Held keys and view direction of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Keys {
    /// Movement, buttons and weapon; its time and angles are not used.
    pub(super) input: UserCmd,
    /// View direction: pitch and yaw, in degrees; `None` keeps that of the playerstate.
    pub(super) view: Option<[f32; 2]>,
}

/// One action of a play.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PlayAction {
    /// Lets this many milliseconds pass.
    Wait(u32),
    /// Holds keys from now on.
    Keys(usize, Keys),
    /// Gives the usercmds of a player this age from now on, in ms.
    Lag(usize, u16),
    /// Sends a client command.
    Command(usize, String),
    /// Runs a console line.
    Console(String),
    /// Connects another player with these userinfo pairs.
    Join(Vec<(String, String)>),
    /// Disconnects a player.
    Leave(usize),
    /// Starts the comparison. Without it the comparison starts with the level.
    Begin,
}

/// A play.
#[derive(Clone, Debug, PartialEq)]
pub struct Play {
    /// Name, for reports.
    pub name: String,
    /// Name without the value of its `each` line.
    pub(super) family: String,
    /// Lines that it was read from, without those that only describe it.
    pub(super) source: String,
    /// Value of every random number, 0 to 32767.
    pub luck: u16,
    /// One sentence about what it does.
    pub about: String,
    /// Ruleset that it is limited to.
    pub rules: Option<String>,
    /// Map of the game data; empty for the play's own arena.
    pub map: String,
    pub(super) arena: Arena,
    pub(super) settings: Vec<(String, String)>,
    /// Names and texts of more files of the game data.
    pub(super) files: Vec<(String, String)>,
    /// Userinfo pairs of the players that join at the start.
    pub(super) players: Vec<Vec<(String, String)>>,
    /// Kinds of differences that chance explains, each with its reason.
    pub(super) chances: Vec<(String, String)>,
    /// Whether the comparison ends with a difference of rounding, since later ones may follow from it.
    pub(super) ends_at_rounding: bool,
    pub(super) actions: Vec<PlayAction>,
}

impl Default for Play {
    fn default() -> Self {
        Self {
            name: String::new(),
            family: String::new(),
            source: String::new(),
            luck: LUCK,
            about: String::new(),
            rules: None,
            map: String::new(),
            arena: Arena::default(),
            settings: Vec::new(),
            files: Vec::new(),
            players: Vec::new(),
            chances: Vec::new(),
            ends_at_rounding: false,
            actions: Vec::new(),
        }
    }
}

/// Reason why a text is not a list of plays.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {why}")]
pub struct PlayError {
    /// Number of the line, from 1.
    pub line: usize,
    why: String,
}

/// Creates an error for which the caller adds the line.
fn wrong(why: impl fmt::Display) -> String {
    why.to_string()
}

impl Play {
    /// Reads a list of plays.
    ///
    /// # Errors
    /// The first line that is not valid.
    pub fn parse(text: &str) -> Result<Vec<Self>, PlayError> {
        if text.len() > MAX_TEXT {
            let why = format!("text too long: {} bytes (max {MAX_TEXT})", text.len());
            return Err(PlayError { line: 1, why });
        }
        let mut blocks = Blocks::default();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split_once('#').map_or(text, |(text, _)| text).trim();
            if text.starts_with("play ") || text.starts_with("head ") {
                blocks.end_block()?;
            }
            match text.strip_prefix("use ") {
                Some(name) => blocks.use_head(line, name.trim())?,
                None if text.is_empty() => {}
                None => blocks.push(line, text)?,
            }
        }
        blocks.end_block()?;
        Ok(blocks.plays)
    }

    /// Lets milliseconds pass, as a step.
    pub(super) fn wait(&mut self, ms: u32) {
        self.actions.push(PlayAction::Wait(ms));
    }

    fn directive(&mut self, word: &str, rest: &str) -> Result<(), String> {
        let owned = || rest.to_owned();
        match word {
            "play" => (self.name, self.family) = (owned(), owned()),
            "luck" => match rest.parse() {
                Ok(value @ 0..=0x7fff) => self.luck = value,
                _ => return Err(format!("invalid number '{rest}' (expected 0 to 32767)")),
            },
            "about" => self.about = owned(),
            "rules" => self.rules = Some(owned()),
            "map" => self.map = owned(),
            "each" => {}
            "set" => {
                let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
                self.settings.push((name.to_owned(), value.trim().to_owned()));
            }
            "file" => {
                let (name, line) = rest.split_once(' ').ok_or("expected NAME LINE")?;
                match self.files.iter_mut().find(|(own, _)| own == name) {
                    Some((_, text)) => *text += &format!("{line}\n"),
                    None => self.files.push((name.to_owned(), format!("{line}\n"))),
                }
            }
            "entity" => self.arena.add_entity(pairs(rest)?),
            "box" | "part" => {
                let (material, corners) = material_and_corners(rest)?;
                if word == "part" {
                    self.arena.add_part(material, corners).map_err(wrong)?;
                } else {
                    self.arena.add_box(material, corners);
                }
            }
            "chance" => {
                let (kind, why) = rest.split_once(' ').ok_or("expected KIND REASON")?;
                self.chances.push((kind.to_owned(), why.to_owned()));
            }
            "player" => {
                self.players.push(pairs(rest)?);
                if self.players.len() > MAX_PLAYERS {
                    return Err(format!("too many players (max {MAX_PLAYERS})"));
                }
            }
            _ => {
                let action = self.action(word, rest)?;
                self.actions.push(action);
                if self.actions.len() > MAX_ACTIONS {
                    return Err(format!("too many steps (max {MAX_ACTIONS})"));
                }
            }
        }
        Ok(())
    }

    fn action(&self, word: &str, rest: &str) -> Result<PlayAction, String> {
        let client = || -> Result<(usize, &str), String> {
            let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let number: usize = number.parse().map_err(|_| format!("invalid client '{number}'"))?;
            if number >= MAX_PLAYERS {
                return Err(format!("invalid client {number} (max {})", MAX_PLAYERS - 1));
            }
            Ok((number, rest.trim()))
        };
        Ok(match word {
            "wait" => match rest.parse() {
                Ok(ms) if ms <= MAX_WAIT => PlayAction::Wait(ms),
                _ => return Err(format!("invalid time '{rest}' (expected 0 to {MAX_WAIT} ms)")),
            },
            "keys" => {
                client().and_then(|(client, rest)| Ok(PlayAction::Keys(client, keys(rest)?)))?
            }
            "place" => {
                let (client, place) = client()?;
                numbers::<4>(place)?;
                PlayAction::Command(client, format!("setviewpos {place}"))
            }
            "lag" => {
                let (client, rest) = client()?;
                match rest.parse() {
                    Ok(ms) if ms <= MAX_LAG => PlayAction::Lag(client, ms),
                    _ => return Err(format!("invalid lag '{rest}' (expected 0 to {MAX_LAG} ms)")),
                }
            }
            "cmd" => client().map(|(client, rest)| PlayAction::Command(client, rest.to_owned()))?,
            "console" => PlayAction::Console(rest.to_owned()),
            "join" => PlayAction::Join(pairs(rest)?),
            "leave" => client().map(|(client, _)| PlayAction::Leave(client))?,
            "begin" => PlayAction::Begin,
            _ => return Err(format!("unknown directive '{word}'")),
        })
    }
}

/// Reader of blocks: lines of a play or of a head.
#[derive(Default)]
struct Blocks<'a> {
    plays: Vec<Play>,
    heads: Vec<(&'a str, Vec<(usize, &'a str)>)>,
    block: Vec<(usize, &'a str)>,
}

impl<'a> Blocks<'a> {
    fn push(&mut self, line: usize, text: &'a str) -> Result<(), PlayError> {
        if self.block.len() >= MAX_ACTIONS {
            let why = format!("too many lines (max {MAX_ACTIONS})");
            return Err(PlayError { line, why });
        }
        self.block.push((line, text));
        Ok(())
    }

    /// Adds the lines of a head to the block.
    fn use_head(&mut self, line: usize, name: &str) -> Result<(), PlayError> {
        let head = self.heads.iter().find(|(own, _)| *own == name);
        let Some((_, lines)) = head else {
            return Err(PlayError { line, why: format!("unknown head '{name}'") });
        };
        for (line, text) in lines.clone() {
            self.push(line, text)?;
        }
        Ok(())
    }

    /// Ends the block: stores a head, or adds the plays.
    fn end_block(&mut self) -> Result<(), PlayError> {
        let block = std::mem::take(&mut self.block);
        match block.first().and_then(|(_, text)| text.strip_prefix("head ")) {
            Some(name) => self.heads.push((name.trim(), block[1..].to_vec())),
            None => add_block(&mut self.plays, &block)?,
        }
        Ok(())
    }
}

/// Whether a line describes a play without an effect on its course.
fn is_description(word: &str) -> bool {
    matches!(word, "play" | "about" | "chance" | "each")
}

/// Adds the plays of a block: one for each value of its `each` line, or one.
fn add_block(plays: &mut Vec<Play>, block: &[(usize, &str)]) -> Result<(), PlayError> {
    let Some(&(first, start)) = block.first() else { return Ok(()) };
    let error = |line, why: &str| PlayError { line, why: why.to_owned() };
    if !start.starts_with("play ") {
        return Err(error(first, "expected play NAME"));
    }
    let each = block.iter().find_map(|&(line, text)| Some((line, text.strip_prefix("each ")?)));
    let (key, values) = match each {
        None => (String::new(), vec![""]),
        Some((line, text)) => {
            let (key, values) =
                text.split_once('=').ok_or_else(|| error(line, "expected each KEY=VALUE …"))?;
            (format!("${key}"), values.split_whitespace().collect())
        }
    };
    for value in values {
        let mut play = Play::default();
        for &(line, text) in block {
            let text = if key.is_empty() { text.to_owned() } else { text.replace(&key, value) };
            let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
            if !is_description(word) {
                play.source += &format!("{word} {}\n", rest.trim());
            }
            play.directive(word, rest.trim()).map_err(|why| PlayError { line, why })?;
        }
        if !value.is_empty() {
            play.name = format!("{} {value}", play.name);
        }
        plays.push(play);
        if plays.len() > MAX_PLAYS {
            return Err(error(first, &format!("too many plays (max {MAX_PLAYS})")));
        }
    }
    Ok(())
}

/// Reads pairs of `key=value`; a value may be quoted.
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=').ok_or("expected KEY=VALUE")?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or("missing closing quote")?,
            None => after.split_once(' ').unwrap_or((after, "")),
        };
        pairs.push((key.to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    Ok(pairs)
}

fn numbers<const N: usize>(text: &str) -> Result<[f32; N], String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let expected = || format!("invalid numbers '{text}' (expected {N})");
    if words.len() != N {
        return Err(expected());
    }
    let mut numbers = [0.0; N];
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = word.parse().map_err(|_| expected())?;
        if !(-65_536.0..=65_536.0).contains(number) {
            return Err(expected());
        }
    }
    Ok(numbers)
}

fn material_and_corners(text: &str) -> Result<(Material, [f32; 6]), String> {
    let (name, rest) = text.split_once(' ').ok_or("expected MATERIAL and 6 numbers")?;
    let material = Material::named(name).ok_or_else(|| format!("unknown material '{name}'"))?;
    Ok((material, numbers(rest)?))
}

/// Reads held keys.
fn keys(text: &str) -> Result<Keys, String> {
    let mut keys = Keys::default();
    let input = &mut keys.input;
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let number = || value.parse::<f32>().map_err(|_| format!("invalid number '{value}'"));
        let mut press = |button: Buttons| input.buttons.0 |= button.0;
        match name {
            "forward" => input.forwardmove = 127,
            "back" => input.forwardmove = -127,
            "left" => input.rightmove = -127,
            "right" => input.rightmove = 127,
            "up" => input.upmove = 127,
            "down" => input.upmove = -127,
            "attack" => press(Buttons::ATTACK),
            "use" => press(Buttons::USE_HOLDABLE),
            "walk" => press(Buttons::WALKING),
            "gesture" => press(Buttons::GESTURE),
            "talk" => press(Buttons::TALK),
            "buttons" => press(Buttons(number()? as i32 & 0xffff)),
            "weapon" => input.weapon = number()? as u8,
            "yaw" => keys.view.get_or_insert_default()[1] = number()?,
            "pitch" => keys.view.get_or_insert_default()[0] = number()?,
            _ => return Err(format!("unknown key '{name}'")),
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plays_are_read_with_each_value() {
        let text = "play weapon\neach number=2 3\nset fraglimit 0 # none\nplayer name=\"a b\" handicap=50\n\
                    keys 0 forward attack weapon=$number yaw=90\nwait 500\n\nplay idle\nwait 1\n";
        let plays = Play::parse(text).unwrap();
        let names: Vec<_> = plays.iter().map(|play| play.name.as_str()).collect();
        assert_eq!(names, ["weapon 2", "weapon 3", "idle"]);
        let PlayAction::Keys(0, keys) = &plays[1].actions[0] else { panic!("{plays:?}") };
        assert_eq!((keys.input.weapon, keys.view), (3, Some([0.0, 90.0])));
        assert_eq!(plays[0].players[0][0], ("name".to_owned(), "a b".to_owned()));
        assert_eq!(plays[0].settings, [("fraglimit".to_owned(), "0".to_owned())]);
    }

    #[test]
    fn plays_share_the_lines_of_a_head() {
        let text = "head two\nplayer\nplayer\nwait 5\n\nplay a\nabout A\nuse two\nlag 1 250\n\nplay b\nuse two\n";
        let plays = Play::parse(text).unwrap();
        assert_eq!(plays.iter().map(|play| play.players.len()).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(plays[0].actions, [PlayAction::Wait(5), PlayAction::Lag(1, 250)]);
        assert_eq!(plays[0].source, "player \nplayer \nwait 5\nlag 1 250\n");
    }

    #[test]
    fn errors_of_plays_name_their_line() {
        for (text, line) in [
            ("wait 5", 1),
            ("play a\nwait x", 2),
            ("play a\n\nkeys 99 up", 3),
            ("play a\nfly 0", 2),
            ("play a\nbox solid 1 2", 2),
            ("play a\npart solid 0 0 0 1 1 1", 2),
            ("play a\nentity classname", 2),
            ("play a\nfile sprees.dat", 2),
            ("play a\nplace 0 1 2 nan 4", 2),
            ("play a\nuse b", 2),
            ("play a\nlag 0 1001", 2),
        ] {
            let error = Play::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
        }
    }
}

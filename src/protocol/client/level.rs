//! Level state of a client: configstrings, baselines, server id.
//!
//! Invariants: configstring text stays within the memory of an unmodified client for any input; the
//! server id is that of the current systeminfo. Source: Quake III protocol 68, server commands
//! handled by the client itself, systeminfo.

use std::collections::BTreeMap;

use crate::{
    model::{
        Baselines, ClientNum, CommandArgs, ConfigIndex, PlayerState, ServerId,
        limits::{MAX_BIG_STRING_LEN, MAX_GAMESTATE_CHARS},
        text::atoi,
    },
    wire::{gamestate::Gamestate, info::InfoString},
};

use super::event::ProtocolErrorKind;

/// State of a level.
#[derive(Debug)]
pub struct LevelState {
    configstrings: BTreeMap<ConfigIndex, Box<str>>,
    /// Size as clients count it: each string with its terminator, and one byte more.
    chars: usize,
    /// Baselines.
    pub baselines: Baselines,
    /// Client number of the connection; `None` until a snapshot tells it where gamestates do not.
    pub client_num: Option<ClientNum>,
    /// Checksum feed.
    pub checksum_feed: Option<i32>,
    /// Server id of the systeminfo.
    pub server_id: ServerId,
    /// Whether a snapshot has shown the client in the game.
    pub(super) entered: bool,
    /// Parts of a long configstring received so far.
    pieces: Option<(i32, String)>,
}

/// Effect of a server command on the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEffect {
    /// Changed configstring.
    Configstring(ConfigIndex),
    /// Part of a long configstring, without effect yet.
    Piece,
    /// Restart of the level.
    MapRestart,
    /// Disconnect, with the reason.
    Disconnect(String),
    /// None: a command for the game.
    Passed,
}

impl LevelState {
    /// Creates the level of a gamestate, whose reader limits its size.
    #[must_use]
    pub fn new(gamestate: Gamestate) -> Self {
        let mut level = Self {
            configstrings: BTreeMap::new(),
            chars: 1,
            baselines: Baselines::new(gamestate.baselines),
            client_num: gamestate.client_num,
            checksum_feed: gamestate.checksum_feed,
            server_id: ServerId(0),
            entered: false,
            pieces: None,
        };
        for (index, text) in gamestate.configstrings {
            level.insert(index, &text);
        }
        level.read_systeminfo();
        level
    }

    /// Learns the client number from the client's own playerstate.
    pub(crate) fn learn_client_num(&mut self, player: &PlayerState) {
        let told = || usize::try_from(player.client_num).ok().and_then(ClientNum::new);
        self.client_num = self.client_num.or_else(told);
    }

    /// Returns a configstring; empty where none is set.
    #[must_use]
    pub fn configstring(&self, index: ConfigIndex) -> &str {
        self.configstrings.get(&index).map_or("", |text| text)
    }

    /// Configstrings that are set, ascending by index.
    pub fn configstrings(&self) -> impl Iterator<Item = (ConfigIndex, &str)> {
        self.configstrings.iter().map(|(index, text)| (*index, &**text))
    }

    /// Index and text so far of a long configstring that has begun and not ended.
    #[must_use]
    pub fn open_configstring(&self) -> Option<(i32, &str)> {
        self.pieces.as_ref().map(|(index, text)| (*index, text.as_str()))
    }

    /// Applies a server command if it is one for the client itself.
    ///
    /// # Errors
    /// [`ProtocolErrorKind`]; the level is unchanged.
    pub fn apply_command(&mut self, text: &str) -> Result<CommandEffect, ProtocolErrorKind> {
        // Most commands are for the game; those are not split into words.
        let name = text.trim_start_matches(|c: char| c <= ' ');
        let name = &name[..name.find(|c: char| c <= ' ').unwrap_or(name.len())];
        if !matches!(name, "cs" | "bcs0" | "bcs1" | "bcs2" | "map_restart" | "disconnect") {
            return Ok(CommandEffect::Passed);
        }
        let words = CommandArgs::parse(text);
        let index = atoi(words.get(1));
        match name {
            "cs" => self.set(index, &words.rest(2)),
            "bcs0" => {
                self.pieces = None;
                self.append(index, String::new(), words.get(2))
            }
            "map_restart" => Ok(CommandEffect::MapRestart),
            "disconnect" => Ok(CommandEffect::Disconnect(words.rest(1).trim_end().to_owned())),
            // Middle or last part.
            _ => {
                let (index, begun) =
                    self.pieces.take().ok_or(ProtocolErrorKind::BigConfigstring)?;
                self.append(index, begun, words.get(2))?;
                if name == "bcs1" {
                    return Ok(CommandEffect::Piece);
                }
                let (index, whole) =
                    self.pieces.take().ok_or(ProtocolErrorKind::BigConfigstring)?;
                self.set(index, &whole)
            }
        }
    }

    /// Appends a part of a long configstring to the previous ones.
    fn append(
        &mut self,
        index: i32,
        mut begun: String,
        piece: &str,
    ) -> Result<CommandEffect, ProtocolErrorKind> {
        if begun.len() + piece.len() > MAX_BIG_STRING_LEN {
            return Err(ProtocolErrorKind::BigConfigstring);
        }
        begun.push_str(piece);
        self.pieces = Some((index, begun));
        Ok(CommandEffect::Piece)
    }

    fn set(&mut self, number: i32, text: &str) -> Result<CommandEffect, ProtocolErrorKind> {
        let index = usize::try_from(number).ok().and_then(ConfigIndex::new);
        let index = index.ok_or(ProtocolErrorKind::ConfigIndex(number))?;
        let chars = self.chars + pair_len(text) - pair_len(self.configstring(index));
        if chars > MAX_GAMESTATE_CHARS {
            return Err(ProtocolErrorKind::ConfigOverflow);
        }
        self.insert(index, text);
        if index == ConfigIndex::SYSTEMINFO {
            self.read_systeminfo();
        }
        Ok(CommandEffect::Configstring(index))
    }

    fn insert(&mut self, index: ConfigIndex, text: &str) {
        self.chars = self.chars + pair_len(text) - pair_len(self.configstring(index));
        if text.is_empty() {
            self.configstrings.remove(&index);
        } else {
            self.configstrings.insert(index, text.into());
        }
    }

    fn read_systeminfo(&mut self) {
        let systeminfo = InfoString::parse_big(self.configstring(ConfigIndex::SYSTEMINFO));
        self.server_id = ServerId(systeminfo.int("sv_serverid").unwrap_or(0));
    }
}

/// Returns the memory of a configstring in a client; zero for an empty one.
fn pair_len(text: &str) -> usize {
    if text.is_empty() { 0 } else { text.len() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CommandNum;

    fn level(configstrings: &[(u16, &str)]) -> LevelState {
        LevelState::new(Gamestate {
            command_num: CommandNum(0),
            configstrings: configstrings
                .iter()
                .map(|&(index, text)| (ConfigIndex::at(index), text.to_owned()))
                .collect(),
            baselines: Vec::new(),
            client_num: ClientNum::new(3),
            checksum_feed: Some(0),
        })
    }

    #[test]
    fn configstring_is_all_text_behind_its_index() {
        let mut level = level(&[(5, "old")]);
        for (command, value) in [
            ("cs 5 \"a  b\"\n", "a  b"),
            ("cs 5 a   b \"c\"", "a b c"),
            ("cs 5 \"\"", ""),
            ("cs 5 \"\\a\\1\"", "\\a\\1"),
        ] {
            let index = ConfigIndex::at(5);
            assert_eq!(
                level.apply_command(command),
                Ok(CommandEffect::Configstring(index)),
                "{command}"
            );
            assert_eq!(level.configstring(index), value, "{command}");
        }
        for (command, number) in [("cs 1024 x", 1024), ("cs -1 x", -1)] {
            assert_eq!(level.apply_command(command), Err(ProtocolErrorKind::ConfigIndex(number)));
        }
    }

    #[test]
    fn systeminfo_sets_server_id() {
        let mut level = level(&[(1, "\\sv_serverid\\12")]);
        assert_eq!(level.server_id, ServerId(12));
        level.apply_command("cs 1 \"\\sv_pure\\0\\sv_serverid\\13\"").unwrap();
        assert_eq!(level.server_id, ServerId(13));
        level.apply_command("cs 1 \"\"").unwrap();
        assert_eq!(level.server_id, ServerId(0));
    }

    #[test]
    fn long_configstring_is_joined_from_parts() {
        let mut level = level(&[]);
        assert_eq!(level.apply_command("bcs0 7 \"one \"\n"), Ok(CommandEffect::Piece));
        assert_eq!(level.apply_command("print \"between\""), Ok(CommandEffect::Passed));
        assert_eq!(level.apply_command("bcs1 7 \" two \"\n"), Ok(CommandEffect::Piece));
        let index = ConfigIndex::at(7);
        assert_eq!(
            level.apply_command("bcs2 7 \"three\"\n"),
            Ok(CommandEffect::Configstring(index))
        );
        assert_eq!(level.configstring(index), "one  two three");
        for command in ["bcs1 7 \"x\"", "bcs2 7 \"x\""] {
            assert_eq!(
                level.apply_command(command),
                Err(ProtocolErrorKind::BigConfigstring),
                "nothing was begun"
            );
        }
    }

    #[test]
    fn configstring_memory_is_bounded() {
        let mut level = level(&[]);
        let piece = "x".repeat(999);
        level.apply_command(&format!("bcs0 2 \"{piece}\"")).unwrap();
        for _ in 0..7 {
            level.apply_command(&format!("bcs1 2 \"{piece}\"")).unwrap();
        }
        assert_eq!(
            level.apply_command(&format!("bcs1 2 \"{piece}\"")),
            Err(ProtocolErrorKind::BigConfigstring)
        );
        let overflows = (0..1024)
            .filter(|index| level.apply_command(&format!("cs {index} \"{piece}\"")).is_err())
            .count();
        assert_eq!(overflows, 1024 - 15, "each counts 1000 of 16 000, one is taken");
        assert_eq!(
            level.apply_command("cs 3 \"short\""),
            Ok(CommandEffect::Configstring(ConfigIndex::at(3)))
        );
    }

    #[test]
    fn disconnect_and_restart_are_applied_others_are_passed() {
        let mut level = level(&[]);
        for (command, obeyed) in [
            ("disconnect", CommandEffect::Disconnect(String::new())),
            ("disconnect \"was kicked\"", CommandEffect::Disconnect("was kicked".to_owned())),
            ("disconnect was kicked", CommandEffect::Disconnect("was kicked".to_owned())),
            ("map_restart\n", CommandEffect::MapRestart),
            ("print \"cs 5 x\"", CommandEffect::Passed),
            ("disconnected", CommandEffect::Passed),
            ("", CommandEffect::Passed),
        ] {
            assert_eq!(level.apply_command(command), Ok(obeyed), "{command}");
        }
    }
}

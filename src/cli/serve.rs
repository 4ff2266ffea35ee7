//! What a server is started with: config file, then flags, then `+set`, the later over the earlier.

use std::path::PathBuf;

use clap::Args;

use super::plus::PlusCommands;
use crate::settings::{ChangeSource, Choice, GameFolder, Kind, SetCommand, Settings, key};

/// What `serve` is asked.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeOptions {
    /// Config file (TOML); fragd settings --toml prints one
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// UDP port, as +set net_port; 0 takes any free one
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// First map, as +map
    #[arg(long, value_name = "NAME")]
    pub map: Option<String>,
    /// Whose game data the clients have: baseoa (OpenArena) or baseq3 (Quake III Arena)
    #[arg(long, value_name = "NAME", value_parser = game_profile)]
    pub game: Option<GameFolder>,
    /// Write down all that the server is told, for fragd replay; it holds passwords
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Stop recording after MIB mebibytes while the server keeps running; 0 sets no limit [default: 4096]
    #[arg(long, value_name = "MIB", requires = "journal")]
    pub journal_limit: Option<u32>,
    /// What stood behind the first `+`.
    #[arg(skip)]
    pub plus: PlusCommands,
}

/// Mebibytes of a journal unless the command line says otherwise: eleven hours of 64 players.
const JOURNAL_MEBIBYTES: u32 = 4096;

impl ServeOptions {
    /// Returns how many bytes a journal may have.
    #[must_use]
    pub fn journal_bytes(&self) -> u64 {
        match self.journal_limit.unwrap_or(JOURNAL_MEBIBYTES) {
            0 => u64::MAX,
            mebibytes => u64::from(mebibytes) << 20,
        }
    }

    pub(super) fn with_plus(self, plus: PlusCommands) -> Self {
        Self { plus, ..self }
    }

    /// The settings that the server starts with, and the console lines to run once it is up.
    ///
    /// `config` is the config file's name, for messages, and its text. Notes for the operator wait in
    /// the settings.
    ///
    /// # Errors
    /// What is wrong and what would be right, one line for each fault.
    pub fn build(&self, config: Option<(&str, &str)>) -> Result<(Settings, Vec<String>), String> {
        let mut settings = Settings::default();
        if let Some((path, text)) = config {
            settings.read_config(path, text).map_err(|error| error.to_string())?;
        }
        let mut faults = Vec::new();
        for (origin, command, name, value) in self.changes() {
            if let Err(error) = settings.set_with(command, ChangeSource::Operator, name, &value) {
                faults.push(format!("{origin}: {error}"));
            }
        }
        if faults.is_empty()
            && let Err(error) = settings.start()
        {
            faults.push(error.to_string());
        }
        if faults.is_empty() {
            Ok((settings, self.plus.lines.clone()))
        } else {
            Err(faults.join("\n"))
        }
    }

    /// What the command line changes, in order, with the words to blame.
    fn changes(&self) -> impl Iterator<Item = (&str, SetCommand, &str, String)> {
        let set = |origin, name, value: Option<String>| {
            value.map(|value| (origin, SetCommand::Set, name, value))
        };
        let flags = [
            set("--game", key::GAME.setting().name, self.game.map(|game| game.to_string())),
            set("--port", key::NET_PORT.setting().name, self.port.map(|port| port.to_string())),
            set("--map", key::MAP.setting().name, self.map.clone()),
        ];
        let sets = self
            .plus
            .sets
            .iter()
            .map(|(command, name, value)| ("+set", *command, name.as_str(), value.clone()));
        let map = set("+map", key::MAP.setting().name, self.plus.map.clone());
        flags.into_iter().flatten().chain(sets).chain(map)
    }
}

/// Reads the name of a game.
pub(super) fn game_profile(word: &str) -> Result<GameFolder, String> {
    GameFolder::named(word).ok_or_else(|| format!("it takes {}", Kind::Choice(GameFolder::NAMES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &[&str]) -> ServeOptions {
        let arguments = std::iter::once(&"fragd").chain(words).map(Into::into);
        match super::super::parse(arguments) {
            Ok(super::super::Command::Serve(options)) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_its_end_over_its_start() {
        let file = "net_port = 1\nmap = \"a\"\nsv_hostname = \"file\"\nsv_fps = 30";
        let options = options(&[
            "--port",
            "2",
            "--map",
            "b",
            "+set",
            "net_port",
            "3",
            "+set",
            "sv_hostname",
            "line",
            "+map",
            "c",
            "+status",
        ]);
        let (settings, lines) = options.build(Some(("f.toml", file))).unwrap();
        assert_eq!(settings.int(key::NET_PORT), 3);
        assert_eq!(settings.text(key::MAP), "c");
        assert_eq!(settings.text(key::SV_HOSTNAME), "line");
        assert_eq!(settings.int(key::SV_FPS), 30);
        assert_eq!(lines, ["status"]);
    }

    #[test]
    fn a_game_is_chosen_by_flag_file_or_set() {
        let q3 = |options: &ServeOptions, file| {
            let (settings, _) = options.build(file).unwrap();
            assert_eq!(settings.text(key::GAMENAME), "baseq3");
            assert_eq!(settings.int(key::PMOVE_MSEC), 8);
            assert_eq!(settings.text(key::MAP), "q3dm17");
            assert_eq!(settings.int(key::PROTOCOL), 68);
        };
        q3(&options(&["--game", "baseq3"]), None);
        q3(&options(&["+set", "game", "baseq3"]), None);
        q3(&options(&[]), Some(("f.toml", "game = \"baseq3\"")));
        q3(&options(&["--game", "baseq3"]), Some(("f.toml", "game = \"baseoa\"")));
    }

    #[test]
    fn every_fault_is_named_with_its_place() {
        let wrong =
            options(&["--map", "../x", "+set", "sv_fps", "1", "+sets", "rconPassword", "x"]);
        let error = wrong.build(None).unwrap_err();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(lines.len(), 3, "{error}");
        assert!(lines[0].starts_with("--map: map cannot be \"../x\": "), "{error}");
        assert_eq!(
            lines[1],
            "+set: sv_fps cannot be \"1\": it takes a whole number from 10 to 125"
        );
        assert_eq!(lines[2], "+set: rconPassword is secret and stays out of the serverinfo");
        let error = options(&[]).build(Some(("f.toml", "\nsv_fps = 1"))).unwrap_err();
        assert_eq!(
            error,
            "f.toml:2: sv_fps cannot be \"1\": it takes a whole number from 10 to 125"
        );
        let error = options(&["+set", "dedicated", "2", "+set", "rconPassword", "short"])
            .build(None)
            .unwrap_err();
        assert_eq!(
            error,
            "rconPassword needs at least 8 characters while dedicated is 2 or sv_rconAllow names a \
             network beyond this machine, or none at all"
        );
    }

    #[test]
    fn habits_of_other_servers_are_taken() {
        let habits = options(&[
            "+set",
            "dedicated",
            "1",
            "+set",
            "com_hunkmegs",
            "256",
            "+set",
            "fs_homepath",
            "/srv/q3",
            "+set",
            "vm_game",
            "2",
            "+set",
            "net_port",
            "27961",
            "+set",
            "sv_pure",
            "0",
            "+seta",
            "rconPassword",
            "hunter2hunter2",
            "+map",
            "oa_dm3",
        ]);
        let (mut settings, lines) = habits.build(None).unwrap();
        assert_eq!(settings.int(key::NET_PORT), 27961);
        assert_eq!(settings.get("com_hunkMegs"), Some("256"));
        assert_eq!(settings.poll_note(), None);
        assert!(lines.is_empty());
    }
}

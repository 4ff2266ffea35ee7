//! Options of `serve`: config file, then options, then `+set`; later values override earlier ones.

use std::path::PathBuf;

use clap::Args;

use super::number::{ANY_U32, number};
use super::{PlusCommands, TraceFiles, game_folder};
use crate::settings::{
    ChangeSource, ExpectedCode, GameFolder, SetCommand, Settings, key, place_of_error,
};

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd serve --config fragd.toml
  fragd serve --port 27961 --map oa_dm3
  fragd serve --game baseq3 --map q3dm6
  fragd serve --map oa_dm1 --journal /var/lib/fragd/server.journal
  fragd serve --trace server.jsonl --pcap server.pcapng
  fragd serve +set dedicated 2 +set sv_hostname \"My server\" +map oa_dm1 +say hello

All words from the first one that starts with + are console commands, as for other Quake III servers.
+set, +seta, +sets and +setu change settings and override the config file. All other commands run in order:
+exec and +execq run scripts of the game folders, or a file by its path, and the last map that +map or a script starts is \
the first level.";

/// Options of `serve`.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeOptions {
    /// Config file (TOML); fragd settings --toml prints one [default: the file that FRAGD_CONFIG names]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// UDP port, as +set net_port; 0 selects any free port
    #[arg(long, value_name = "N", value_parser = number::<u16>(0..=65535))]
    pub port: Option<u16>,
    /// First map, as +map
    #[arg(long, value_name = "NAME")]
    pub map: Option<String>,
    /// Game data of the clients: baseoa (OpenArena) or baseq3 (Quake III Arena)
    #[arg(long, value_name = "NAME", value_parser = game_folder)]
    pub game: Option<GameFolder>,
    /// Record all input to FILE for fragd replay (contains passwords)
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Stop recording after MIB mebibytes; the server keeps running; 0 disables the limit [default: 4096]
    #[arg(long, value_name = "MIB", requires = "journal", value_parser = number::<u32>(ANY_U32))]
    pub journal_limit: Option<u32>,
    /// Trace and packet capture.
    #[command(flatten)]
    pub files: TraceFiles,
    /// Console commands after the first `+`.
    #[arg(skip)]
    pub plus: PlusCommands,
}

/// Default size limit of a journal, in MiB: eleven hours of 64 players.
pub(super) const JOURNAL_MEBIBYTES: u32 = 4096;

impl ServeOptions {
    /// Maximum size of a journal, in bytes.
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

    /// The initial settings.
    ///
    /// `config` is the name of the config file, for errors, and its text. Notes for the operator are queued
    /// in the settings.
    ///
    /// # Errors
    /// All errors with the accepted values, one line each.
    pub fn build(&self, config: Option<(&str, &str)>) -> Result<Settings, String> {
        let mut settings = Settings::default();
        let last = |setting: &str| {
            let named = self.changes().filter(|(.., name, _)| name.eq_ignore_ascii_case(setting));
            named.last().map(|(.., value)| value)
        };
        settings.expect_code(ExpectedCode {
            has_module: last(key::VM_GAME.setting().name).map(|code| code != "0"),
            has_mod: last(key::FS_GAME.setting().name).is_some_and(|name| !name.is_empty()),
        });
        let mut errors = Vec::new();
        // Before all others, since some settings need cheats.
        if self.plus.map.as_ref().is_some_and(|map| map.has_cheats)
            && let Err(error) = settings.choose(key::SV_CHEATS, 1)
        {
            errors.push(error.to_string());
        }
        if let Some((path, text)) = config {
            settings.read_config(path, text).map_err(|error| error.to_string())?;
        }
        for (origin, command, name, value) in self.changes() {
            settings.set_place(Some(origin.to_owned()));
            if let Err(error) = settings.set_with(command, ChangeSource::Script, name, &value) {
                errors.push(format!("{origin}: {error}"));
            }
        }
        settings.set_place(None);
        settings.expect_code(ExpectedCode::default());
        if errors.is_empty()
            && let Err(error) = settings.start()
        {
            errors.push(format!("{}{error}", place_of_error(&settings, &error)));
        }
        if errors.is_empty() { Ok(settings) } else { Err(errors.join("\n")) }
    }

    /// Changes by the command line, which override the configuration of a mod: the last one of each name.
    #[must_use]
    pub fn overrides(&self) -> Vec<(SetCommand, String, String)> {
        let mut changes: Vec<(SetCommand, String, String)> = Vec::new();
        for (_, command, name, value) in self.changes() {
            changes.retain(|(_, known, _)| !known.eq_ignore_ascii_case(name));
            changes.push((command, name.to_owned(), value));
        }
        changes
    }

    /// Console lines that run in order around the first level.
    #[must_use]
    pub fn start_lines(&self) -> Vec<String> {
        self.plus.lines.clone()
    }

    /// Changes by the command line in order, each with its origin for errors.
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
        let first = self.plus.map.as_ref().and_then(|map| {
            let origin = if map.has_cheats { "+devmap" } else { "+map" };
            set(origin, key::MAP.setting().name, Some(map.name.clone()))
        });
        flags.into_iter().flatten().chain(sets).chain(first)
    }
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
    fn later_values_override_earlier_ones() {
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
            "+EXEC",
            "server",
        ]);
        let settings = options.build(Some(("f.toml", file))).unwrap();
        assert_eq!(options.start_lines(), ["map c", "status", "EXEC server"]);
        let overrides = options.overrides();
        let overrides = overrides.iter().map(|(_, name, value)| (name.as_str(), value.as_str()));
        let expected = [("net_port", "3"), ("sv_hostname", "line"), ("map", "c")];
        assert_eq!(overrides.collect::<Vec<_>>(), expected);
        assert_eq!(settings.int(key::NET_PORT), 3);
        assert_eq!(settings.text(key::MAP), "c");
        assert_eq!(settings.text(key::SV_HOSTNAME), "line");
        assert_eq!(settings.int(key::SV_FPS), 30);
    }

    #[test]
    fn game_is_set_by_option_file_or_set() {
        let q3 = |options: &ServeOptions, file| {
            let settings = options.build(file).unwrap();
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
    fn devmap_is_the_first_level_with_cheats() {
        let built = |words: &[&str], config| options(words).build(config);
        let settings = built(
            &["+set", "game", "baseq3", "+set", "timescale", "2", "+devmap", "a"],
            Some(("f.toml", "map = \"b\"")),
        )
        .unwrap();
        assert_eq!(settings.text(key::MAP), "a");
        assert!(settings.flag(key::SV_CHEATS));
        assert_eq!(settings.get("timescale"), Some("2"));
        let settings = built(&["+devmap", "a", "+map", "c"], None).unwrap();
        assert_eq!(settings.text(key::MAP), "c");
        assert!(!settings.flag(key::SV_CHEATS));
        assert!(built(&["+set", "timescale", "2", "+map", "a"], None).is_err());
        let error = built(&["+devmap", "../x"], None).unwrap_err();
        assert!(error.starts_with("+devmap: "), "{error}");
    }

    #[test]
    fn errors_name_their_origin() {
        let wrong =
            options(&["--map", "../x", "+set", "sv_fps", "fast", "+sets", "rconPassword", "x"]);
        let error = wrong.build(None).unwrap_err();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(lines.len(), 3, "{error}");
        assert!(lines[0].starts_with("--map: map: invalid value \"../x\" "), "{error}");
        assert_eq!(
            lines[1],
            "+set: sv_fps: invalid value \"fast\" (expected an integer from 10 to 125)"
        );
        assert_eq!(lines[2], "+set: rconPassword is secret: not allowed in the serverinfo");
        let error = options(&[]).build(Some(("f.toml", "\nsv_fps = 1"))).unwrap_err();
        assert_eq!(
            error,
            "f.toml:2: sv_fps: invalid value \"1\" (expected an integer from 10 to 125)"
        );
        let error = options(&["+set", "dedicated", "2", "+set", "rconPassword", "short"])
            .build(None)
            .unwrap_err();
        assert_eq!(
            error,
            "+set: rconPassword too short (expected at least 8 characters, or none, while dedicated is 2 or \
             sv_rconAllow allows more than loopback)"
        );
    }

    #[test]
    fn errors_of_combinations_name_their_origin() {
        let file = "dedicated = 2\nrconPassword = \"short\"";
        let error = options(&[]).build(Some(("f.toml", file))).unwrap_err();
        assert!(
            error.starts_with("f.toml:2: rconPassword too short (expected at least 8 "),
            "{error}"
        );
        let error = options(&["+set", "g_movement", "quake3"]).build(None).unwrap_err();
        assert!(error.starts_with("+set: g_movement: invalid value quake3 while"), "{error}");
    }

    #[test]
    fn values_of_set_are_read_as_on_a_console() {
        let words = ["+set", "sv_fps", "1", "+set", "timelimit", "7.5", "+set", "xp_config", "x"];
        let mut settings = options(&words).build(None).unwrap();
        assert_eq!((settings.int(key::SV_FPS), settings.int(key::TIMELIMIT)), (10, 7));
        let notes: Vec<_> = std::iter::from_fn(|| settings.poll_note()).collect();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert_eq!(notes[0], "sv_fps: \"1\" read as 10 (expected an integer from 10 to 125)");
    }

    #[test]
    fn private_slots_are_compared_at_first_level() {
        for config in [None, Some(("f.toml", "sv_maxclients = 4\nsv_privateClients = 10"))] {
            let words = ["+set", "sv_privateClients", "10"];
            let words = if config.is_none() { &words[..] } else { &[] };
            let mut settings = options(words).build(config).unwrap();
            settings.begin_first_level();
            let place = if config.is_none() { "+set" } else { "f.toml:2" };
            let note = settings.poll_note().expect("a note");
            let start = format!("{place}: sv_privateClients: \"10\" read as ");
            assert!(note.starts_with(&start), "{note}");
        }
    }

    #[test]
    fn options_of_other_servers_are_accepted() {
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
        let mut settings = habits.build(None).unwrap();
        assert_eq!(settings.int(key::NET_PORT), 27961);
        assert_eq!(settings.get("com_hunkMegs"), Some("256"));
        assert_eq!(settings.poll_note(), None);
        assert_eq!(habits.start_lines(), ["map oa_dm3"]);
    }
}

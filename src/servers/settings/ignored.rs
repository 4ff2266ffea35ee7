//! Cvars of other servers' config files that are stored and have no effect, with the reasons.
//!
//! Source of names: config files and defaults of ioquake3, Quake3e and OpenArena 0.8.8 servers.

use super::store::Settings;
use crate::{cvar::quoted, model::text::atoi};

/// A cvar that is accepted and ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Usual spelling.
    pub name: &'static str,
    /// Reason: completes "ignored: …".
    pub reason: &'static str,
    /// Whether a game module reads the cvar, so that it has an effect there.
    pub is_of_module: bool,
}

const fn row(name: &'static str, reason: &'static str) -> Ignored {
    Ignored { name, reason, is_of_module: false }
}

const fn of_module(name: &'static str, reason: &'static str) -> Ignored {
    Ignored { name, reason, is_of_module: true }
}

const CLIENT: &str = "read by clients only";
const MEMORY: &str = "memory is allocated as needed";
const BOTS: &str = "the rules of the program have no bots; a game module adds them";
const TERMINAL: &str = "standard input and output are the console";
const TRACES: &str = "the options --trace and --pcap record packets";
const LOG: &str = "the log goes to standard error; sv_logLevel selects its lines";
const PATHS: &str = "fs_basepath and fs_homepath name the folders of the game data";
const VOIP: &str = "voice is not relayed";

/// Cvars that are accepted and ignored, by name.
pub const IGNORED: &[Ignored] = &[
    of_module("bot_enable", BOTS),
    of_module("bot_minplayers", BOTS),
    row("cl_motd", CLIENT),
    row("com_ansiColor", TERMINAL),
    row("com_basegame", "game names the game data"),
    row("com_busyWait", "the event loop sleeps until the next frame"),
    row("com_homepath", PATHS),
    row("com_hunkMegs", MEMORY),
    row("com_maxfps", CLIENT),
    row("com_pipefile", TERMINAL),
    row("com_soundMegs", CLIENT),
    row("com_standalone", "game names the game data"),
    row("com_zoneMegs", MEMORY),
    row("developer", LOG),
    row("fs_cdpath", PATHS),
    row("fs_copyfiles", "files are never copied"),
    row("fs_debug", LOG),
    row("fs_excludeReference", "sv_allowDownload selects the offered files"),
    row("fs_homeconfigpath", PATHS),
    row("fs_homedatapath", PATHS),
    row("fs_homestatepath", PATHS),
    row("logfile", LOG),
    row("showdrop", TRACES),
    row("showpackets", TRACES),
    row("sv_clientTLD", "countries of clients are not looked up"),
    row("sv_killserver", "the command quit stops the server"),
    row("sv_levelTimeReset", "the level time continues across maps"),
    row("sv_padPackets", TRACES),
    row("sv_showloss", TRACES),
    row("sv_voip", VOIP),
    row("sv_voipProtocol", VOIP),
    row("ttycon", TERMINAL),
    row("ttycon_ansicolor", TERMINAL),
    row("vm_cgame", CLIENT),
    row("vm_ui", CLIENT),
];

/// Row of an ignored cvar by its name, case-insensitive.
#[must_use]
pub fn ignored_named(name: &str) -> Option<&'static Ignored> {
    IGNORED.iter().find(|ignored| ignored.name.eq_ignore_ascii_case(name))
}

/// Whether a name is in [`IGNORED`], case-insensitive.
#[must_use]
pub fn is_ignored(name: &str) -> bool {
    ignored_named(name).is_some()
}

/// One line for each ignored cvar that was given a value other than empty and 0.
#[must_use]
pub fn ignored_values(settings: &Settings) -> Vec<String> {
    IGNORED.iter().filter_map(|row| ignored_value(settings, row.name)).collect()
}

/// The line about an ignored cvar that was given a value other than empty and 0.
#[must_use]
pub fn ignored_value(settings: &Settings, name: &str) -> Option<String> {
    let row = ignored_named(name)?;
    let value = settings.get(row.name)?;
    let is_off = value.is_empty() || value.trim_start().starts_with('0') && atoi(value) == 0;
    let has_effect = row.is_of_module && settings.hosts_module();
    (!is_off && !has_effect)
        .then(|| format!("{} {} ignored: {}", row.name, quoted(value), row.reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ExpectedCode;

    #[test]
    fn ignored_values_are_named_with_their_reason() {
        let mut settings = Settings::default();
        for (name, value) in [("bot_minplayers", "8"), ("sv_killserver", "0"), ("LOGFILE", "3")] {
            settings.set(name, value).expect("a variable");
        }
        let lines = ignored_values(&settings);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("bot_minplayers \"8\" ignored: "), "{lines:?}");
        assert!(lines[1].starts_with("logfile \"3\" ignored: "), "{lines:?}");
        settings.expect_code(ExpectedCode { has_module: Some(true), ..ExpectedCode::default() });
        assert_eq!(ignored_values(&settings).len(), 1, "a module adds bots");
    }

    #[test]
    fn ignored_names_are_sorted() {
        let lower = |row: &Ignored| row.name.to_ascii_lowercase();
        assert!(IGNORED.is_sorted_by_key(lower));
    }
}

//! Table of all settings: lookup by name, and the cvar names that are accepted and ignored.

pub use crate::game::settings::SETTINGS;

use super::Setting;

/// Typed keys of all settings.
pub mod key {
    pub use crate::{cvar::engine::key::*, game::settings::key::*};
}

/// Cvars of other servers' config files that have no meaning here: stored and ignored, without a warning.
pub const IGNORED: &[&str] = &[
    "bot_enable",
    "bot_minplayers",
    "cl_motd",
    "com_ansiColor",
    "com_basegame",
    "com_busyWait",
    "com_homepath",
    "com_hunkMegs",
    "com_maxfps",
    "com_pipefile",
    "com_soundMegs",
    "com_standalone",
    "com_zoneMegs",
    "developer",
    "fs_cdpath",
    "fs_copyfiles",
    "fs_debug",
    "fs_excludeReference",
    "fs_homeconfigpath",
    "fs_homedatapath",
    "fs_homepath",
    "fs_homestatepath",
    "logfile",
    "showdrop",
    "showpackets",
    "sv_clientTLD",
    "sv_killserver",
    "sv_levelTimeReset",
    "sv_padPackets",
    "sv_showloss",
    "sv_voip",
    "sv_voipProtocol",
    "ttycon",
    "ttycon_ansicolor",
    "vm_cgame",
    "vm_ui",
];

/// Index of a setting by its name, case-insensitive.
pub(super) fn row_named(name: &str) -> Option<usize> {
    SETTINGS.iter().position(|setting| setting.name.eq_ignore_ascii_case(name))
}

/// Row of a setting by its name, case-insensitive.
#[must_use]
pub fn setting_named(name: &str) -> Option<&'static Setting> {
    row_named(name).map(|row| &SETTINGS[row])
}

/// Whether a name is in [`IGNORED`], case-insensitive.
#[must_use]
pub fn is_ignored(name: &str) -> bool {
    IGNORED.iter().any(|ignored| ignored.eq_ignore_ascii_case(name))
}

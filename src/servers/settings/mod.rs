//! Settings of a server: the table of all rows, their values, the config file, listings.
//!
//! [`SETTINGS`] is the table: rows of the engine and of the game. [`key`] holds a typed key for each row,
//! [`Settings`] the values. Names are those of Quake III cvars, case-insensitive. Names outside the table
//! become variables if `set` creates them; in the config file they are errors.
//!
//! Invariants: a row accepts its value. Serverinfo and systeminfo always fit their configstrings. No
//! function here shows a secret value. Source: settings, console and config rules of ioquake3, Quake3e and
//! OpenArena 0.8.8 servers.

mod archive;
mod author;
mod change;
mod config;
mod constraints;
mod error;
mod ignored;
mod listing;
mod module_texts;
mod notes;
mod relations;
mod script;
mod secrets;
mod startup;
mod store;
mod suggestion;
mod table;
mod template;
mod variables;

pub use archive::{ArchivedSettings, MAX_ARCHIVE_LEN};
pub use author::{Author, author_of, is_trusted, shown_to_module};
pub use change::{Change, ChangeSource, SetCommand};
pub use config::{ConfigError, MAX_CONFIG_LEN};
pub use constraints::{check_first_level, place_of_error};
pub use error::SettingError;
pub use ignored::{IGNORED, Ignored, ignored_named, ignored_value, ignored_values, is_ignored};
pub use listing::{json, listing, name_matches};
pub use notes::Note;
pub use script::{ScriptFindings, read_script};
pub use secrets::{MASK, is_secret_name, masked_arguments, masked_line, masked_script};
pub use startup::ExpectedCode;
pub use store::{Settings, write_back};
pub use suggestion::{nearest_of, nearest_setting};
pub use table::{SETTINGS, key, setting_named};
pub use template::config_template;

pub use crate::cvar::{
    Address, Choice, CollisionPrecision, Endpoint, Flag, Flags, Float, GameCode, GameFaultPolicy,
    GameFolder, Group, Int, Key, LogLevel, MovementChoice, MovementPrecision, Networks, PerGame,
    Protocol71, RulesMode, ScrambledProtocol, Setting, SettingKind, StatusStyle, Text, ValueError,
    Values,
};

/// Maximum length of a variable name, in bytes.
pub const MAX_NAME_LEN: usize = 63;
/// Minimum length of `rconPassword` on a server that others may administer, in bytes.
pub const MIN_PUBLIC_RCON_PASSWORD_LEN: usize = 8;

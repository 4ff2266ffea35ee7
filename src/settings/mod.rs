//! What an operator may say: one table of settings, and the values they have now.
//!
//! [`SETTINGS`] is the table; [`key`] holds a typed key for each row; [`Settings`] holds the values.
//! Settings carry the names that Quake III administrators know, in any case. Names that are in no
//! table become the operator's own variables when they come through `set`; in the config file they
//! are errors.
//!
//! Invariants: a value is always one that its row takes; serverinfo and systeminfo always fit their
//! configstrings; a secret value is shown by nothing here. Source: settings, console and config rules
//! of ioquake3, Quake3e and OpenArena 0.8.8 servers.

mod change;
mod config;
mod error;
mod nearest;
mod networks;
mod rules;
mod setting;
mod show;
mod store;
mod table;
mod template;
mod value;

pub use change::{Change, SetCommand, Writer};
pub use config::{ConfigError, MAX_CONFIG_LEN};
pub use error::SettingError;
pub use nearest::nearest_setting;
pub use networks::Networks;
pub use setting::{
    Address, Choice, Column, Flag, Flags, Float, GameProfile, Group, Int, Key, Kind, LogLevel,
    Movement, Precision, Rules, Setting, StatusStyle, Text, Wire71,
};
pub use show::{json, listing, name_matches};
pub use store::Settings;
pub use table::{IGNORED, SETTINGS, is_ignored, key, setting_named};
pub use template::config_template;

/// Longest name of a variable, in bytes.
pub const MAX_NAME_LEN: usize = 63;
/// Shortest password that guards the remote console of a public server, in bytes.
pub const MIN_PUBLIC_RCON_PASSWORD_LEN: usize = 8;

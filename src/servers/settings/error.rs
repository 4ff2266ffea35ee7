//! Errors of settings: rejected values, forbidden changes, invalid combinations.

use thiserror::Error;

use super::{MAX_NAME_LEN, author::Author};
use crate::cvar::{GameFolder, MovementChoice, ValueError};

/// Reason for rejecting a change of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingError {
    /// A value that the row does not accept.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A setting that only the server and the game write.
    #[error("{name} is read only.")]
    ReadOnly {
        /// Name of the setting.
        name: String,
    },
    /// `reset` of a name without default.
    #[error("{name} has no default")]
    NoDefault {
        /// Name of the setting.
        name: String,
    },
    /// A startup-only setting, after the start.
    #[error(
        "{name} is write protected. It is startup only: set it {}",
        if *in_scripts { "in the config file, with +set or in a script of +exec" } else { "in the config file or with +set" }
    )]
    InitOnly {
        /// Name of the setting.
        name: String,
        /// Whether scripts before the first level may set it.
        in_scripts: bool,
    },
    /// A cheat-protected setting without cheats.
    #[error("{name} is cheat protected.")]
    Cheat {
        /// Name of the setting.
        name: String,
    },
    /// An operator-only setting, in a text of another author.
    #[error("{name} is operator only: not changed by {author} (sv_trustMod 1 permits it)")]
    Protected {
        /// Name of the setting.
        name: String,
        /// Author of the text.
        author: Author,
    },
    /// `sets` with a secret setting.
    #[error("{name} is secret: not allowed in the serverinfo")]
    Secret {
        /// Name of the setting.
        name: String,
    },
    /// An info string beyond its maximum length.
    #[error(
        "{name} does not fit: {info} too long: {len} bytes (max {max}); shorten it or another of its values"
    )]
    InfoFull {
        /// Name of the setting.
        name: String,
        /// Name of the info string.
        info: &'static str,
        /// Length after the change, in bytes.
        len: usize,
        /// Maximum length, in bytes.
        max: usize,
    },
    /// An invalid name of a variable.
    #[error(
        "invalid name {name} (expected 1 to {MAX_NAME_LEN} printable ASCII characters without \\, \" and ;)"
    )]
    BadName {
        /// The name, quoted and escaped.
        name: String,
    },
    /// Too many variables.
    #[error("{name} not stored: too many variables (max {max})")]
    TooMany {
        /// Name of the variable.
        name: String,
        /// Maximum number of variables.
        max: usize,
    },
    /// An rcon password that can be guessed.
    #[error(
        "rconPassword too short (expected at least {min} characters, or none, while dedicated is 2 or \
         sv_rconAllow allows more than loopback)"
    )]
    RconPasswordShort {
        /// Minimum length, in bytes.
        min: usize,
    },
    /// An rcon password that examples use, on a server that others may administer.
    #[error(
        "rconPassword is a placeholder of examples (expected another one, or none, while dedicated is 2 or \
         sv_rconAllow allows more than loopback)"
    )]
    RconPasswordPlaceholder,
    /// A pmove variant that clients of the game do not have.
    #[error(
        "g_movement: invalid value {movement} while game is {game} (expected auto, {} or {})",
        known[0], known[1]
    )]
    Movement {
        /// The rejected variant.
        movement: MovementChoice,
        /// Game of the clients.
        game: GameFolder,
        /// Variants of that game.
        known: [MovementChoice; 2],
    },
}

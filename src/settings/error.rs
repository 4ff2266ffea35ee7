//! Why a setting could not be changed, in a sentence that says what would be right.

use thiserror::Error;

use super::{
    MAX_NAME_LEN,
    setting::{GameProfile, Movement},
};
use crate::model::text::{escaped, truncated};

/// Longest piece of a refused value that a message repeats, in bytes.
const SHOWN_LEN: usize = 64;

/// Why a setting was not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingError {
    /// The value is none of those that the setting takes.
    #[error("{name} cannot be {given}: it takes {right}")]
    Value {
        /// The setting.
        name: String,
        /// The value, made fit for a line.
        given: String,
        /// What it takes.
        right: String,
    },
    /// A character that the value may not hold.
    #[error("{name} cannot contain {character}: it takes printable ASCII without {forbidden}")]
    Character {
        /// The setting.
        name: String,
        /// The character, made fit for a line.
        character: String,
        /// The printable ones that are forbidden.
        forbidden: &'static str,
    },
    /// More text than the setting holds.
    #[error("{name} cannot be {len} characters long: it takes at most {max}")]
    TooLong {
        /// The setting.
        name: String,
        /// Length that was given, in bytes.
        len: usize,
        /// Length that is possible, in bytes.
        max: usize,
    },
    /// Only the server and the game write it.
    #[error("{name} is read only.")]
    ReadOnly {
        /// The setting.
        name: String,
    },
    /// Too late to change it.
    #[error("{name} is write protected. It is chosen at start, in the config file or with +set")]
    InitOnly {
        /// The setting.
        name: String,
    },
    /// Cheats are off.
    #[error("{name} is cheat protected.")]
    Cheat {
        /// The setting.
        name: String,
    },
    /// It would have been shown to everybody.
    #[error("{name} is secret and stays out of the serverinfo")]
    Secret {
        /// The setting.
        name: String,
    },
    /// An info string would no longer fit.
    #[error(
        "{name} does not fit: the {info} would take {len} bytes of at most {max}; shorten it or another of its values"
    )]
    InfoFull {
        /// The setting.
        name: String,
        /// Which info string.
        info: &'static str,
        /// Length it would have, in bytes.
        len: usize,
        /// Length it may have, in bytes.
        max: usize,
    },
    /// No variable can have that name.
    #[error(
        "{name} cannot be a name: a name has 1 to {MAX_NAME_LEN} printable ASCII characters without spaces, \\, \" and ;"
    )]
    BadName {
        /// The name, made fit for a line.
        name: String,
    },
    /// The operator's own variables have no end.
    #[error("{name} is one variable too many: at most {max} of your own are kept")]
    TooMany {
        /// The variable.
        name: String,
        /// How many are kept.
        max: usize,
    },
    /// A remote console that could be guessed open.
    #[error(
        "rconPassword needs at least {min} characters while dedicated is 2 or sv_rconAllow names a network \
         beyond this machine, or none at all"
    )]
    RconPasswordShort {
        /// Length that is enough, in bytes.
        min: usize,
    },
    /// Clients with the game's data move otherwise.
    #[error(
        "g_movement cannot be {movement} while game is {game}: it takes auto, {} or {}",
        known[0], known[1]
    )]
    Movement {
        /// What was chosen.
        movement: Movement,
        /// Whose data clients have.
        game: GameProfile,
        /// What goes with it.
        known: [Movement; 2],
    },
    /// More slots kept than there are.
    #[error("sv_privateClients cannot be {private}: sv_maxclients leaves at most {slots}")]
    PrivateClients {
        /// Slots to be kept.
        private: i32,
        /// Slots there are.
        slots: i32,
    },
}

/// Text from outside as a message repeats it: in quotes, escaped, not too long.
pub(super) fn quoted(given: &str) -> String {
    let short = truncated(given, SHOWN_LEN);
    let more = if short.len() < given.len() { "…" } else { "" };
    format!("\"{}{more}\"", escaped(short.as_bytes()))
}

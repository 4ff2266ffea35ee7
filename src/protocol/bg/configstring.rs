//! Configstring layout: the index of each configstring.
//!
//! Indices are compiled into the client game and equal in all games. A block is named by its first index
//! and its length. Source: the base game's configstring layout. Engine names: `CS_*`.

use crate::model::{ClientNum, ConfigIndex};

/// Music of the level: a file, or an intro and a loop.
pub const MUSIC: ConfigIndex = ConfigIndex::at(2);
/// Title of the level.
pub const MESSAGE: ConfigIndex = ConfigIndex::at(3);
/// Message of the day, shown while loading.
pub const MOTD: ConfigIndex = ConfigIndex::at(4);
/// Warm-up: empty, `-1` while waiting for players, else the level time at which the match starts.
pub const WARMUP: ConfigIndex = ConfigIndex::at(5);
/// Red score or best score; [`NO_SCORE`] without one.
pub const SCORES1: ConfigIndex = ConfigIndex::at(6);
/// Blue score or second-best score; [`NO_SCORE`] without one.
pub const SCORES2: ConfigIndex = ConfigIndex::at(7);
/// Level time at which a vote began; empty without a vote.
pub const VOTE_TIME: ConfigIndex = ConfigIndex::at(8);
/// Proposal of the vote.
pub const VOTE_STRING: ConfigIndex = ConfigIndex::at(9);
/// Number of yes votes.
pub const VOTE_YES: ConfigIndex = ConfigIndex::at(10);
/// Number of no votes.
pub const VOTE_NO: ConfigIndex = ConfigIndex::at(11);
/// Game version, compared by clients before anything else.
pub const GAME_VERSION: ConfigIndex = ConfigIndex::at(20);
/// Level time of the start; clients count the match clock from it.
pub const LEVEL_START_TIME: ConfigIndex = ConfigIndex::at(21);
/// `1` while an intermission is queued or shown.
pub const INTERMISSION: ConfigIndex = ConfigIndex::at(22);
/// Status of the flags.
pub const FLAG_STATUS: ConfigIndex = ConfigIndex::at(23);
/// Shader remaps.
pub const SHADER_STATE: ConfigIndex = ConfigIndex::at(24);
/// Item bits: `1` for each item that clients load at the start.
pub const ITEMS: ConfigIndex = ConfigIndex::at(27);

/// First of 256 model names; index 0 is unused.
pub const MODELS: u16 = 32;
/// First of 256 sound names; index 0 is unused.
pub const SOUNDS: u16 = 288;
/// First of 64 player entries.
pub const PLAYERS: u16 = 544;
/// First of 64 location names.
pub const LOCATIONS: u16 = 608;
/// Locations of a map.
pub const MAX_LOCATIONS: usize = 64;

/// Score shown for an empty position in the ranking.
pub const NO_SCORE: i32 = -9999;

/// Burning sound of a player, the first sound of every level.
pub const FRY_SOUND: ConfigIndex = ConfigIndex::at(SOUNDS + 1);
/// File of [`FRY_SOUND`].
pub const FRY_SOUND_FILE: &str = "sound/player/fry.wav";

/// Returns the index of a client's player entry.
///
/// # Panics
/// Never: every client number has an entry.
#[must_use]
pub fn player(client: ClientNum) -> ConfigIndex {
    ConfigIndex::at(PLAYERS + client.index() as u16)
}

/// Configstring with the name of a location; `None` for a number that no location has.
#[must_use]
pub fn location(number: usize) -> Option<ConfigIndex> {
    (number < MAX_LOCATIONS).then(|| ConfigIndex::at(LOCATIONS + number as u16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::{MAX_CLIENTS, MAX_CONFIGSTRINGS};

    #[test]
    fn configstring_blocks_do_not_overlap() {
        assert!(ITEMS.index() < MODELS as usize);
        assert_eq!(MODELS + 256, SOUNDS);
        assert_eq!(SOUNDS + 256, PLAYERS);
        assert_eq!(PLAYERS as usize + MAX_CLIENTS, LOCATIONS as usize);
        assert!(usize::from(LOCATIONS) + MAX_LOCATIONS < MAX_CONFIGSTRINGS);
        let last = ClientNum::all().next_back().expect("there are client numbers");
        assert_eq!(player(last).index(), 607);
    }
}

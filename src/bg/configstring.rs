//! What stands in which configstring.
//!
//! Numbers are those the client's game is compiled with; both games of the family share them. A block
//! of strings is named by its first and its length. Source: the base game's configstring layout.

use crate::model::{ClientNum, ConfigIndex};

/// Music of the level: a file, or an intro and a loop.
pub const MUSIC: ConfigIndex = ConfigIndex::at(2);
/// Title of the level.
pub const MESSAGE: ConfigIndex = ConfigIndex::at(3);
/// Message of the day, shown while loading.
pub const MOTD: ConfigIndex = ConfigIndex::at(4);
/// Empty, `-1` while waiting for players, else the level time at which the match starts.
pub const WARMUP: ConfigIndex = ConfigIndex::at(5);
/// Red or best score; [`NO_SCORE`] when there is none.
pub const SCORES1: ConfigIndex = ConfigIndex::at(6);
/// Blue or second-best score; [`NO_SCORE`] when there is none.
pub const SCORES2: ConfigIndex = ConfigIndex::at(7);
/// Level time at which a vote began; empty when there is none.
pub const VOTE_TIME: ConfigIndex = ConfigIndex::at(8);
/// What is voted on.
pub const VOTE_STRING: ConfigIndex = ConfigIndex::at(9);
/// Votes in favour.
pub const VOTE_YES: ConfigIndex = ConfigIndex::at(10);
/// Votes against.
pub const VOTE_NO: ConfigIndex = ConfigIndex::at(11);
/// The version that the client's game compares with its own before anything else.
pub const GAME_VERSION: ConfigIndex = ConfigIndex::at(20);
/// Level time of the start; clients count the clock from it.
pub const LEVEL_START_TIME: ConfigIndex = ConfigIndex::at(21);
/// `1` while the end of a level is queued or shown.
pub const INTERMISSION: ConfigIndex = ConfigIndex::at(22);
/// Where the flags are.
pub const FLAG_STATUS: ConfigIndex = ConfigIndex::at(23);
/// Shaders that are drawn in place of others.
pub const SHADER_STATE: ConfigIndex = ConfigIndex::at(24);
/// One `0` or `1` for each item: whether the client loads it at the start.
pub const ITEMS: ConfigIndex = ConfigIndex::at(27);

/// First of 256 model names; place 0 is never used.
pub const MODELS: u16 = 32;
/// First of 256 sound names; place 0 is never used.
pub const SOUNDS: u16 = 288;
/// First of 64 player entries.
pub const PLAYERS: u16 = 544;
/// First of 64 names of places.
pub const LOCATIONS: u16 = 608;

/// What the score strings say when nobody holds the place.
pub const NO_SCORE: i32 = -9999;

/// The sound that is registered first in every level: a player on fire.
pub const FRY_SOUND: ConfigIndex = ConfigIndex::at(SOUNDS + 1);
/// Its file.
pub const FRY_SOUND_FILE: &str = "sound/player/fry.wav";

/// Where a client's player entry stands.
///
/// # Panics
/// Never: every client number has a place.
#[must_use]
pub fn player(client: ClientNum) -> ConfigIndex {
    ConfigIndex::at(PLAYERS + client.index() as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::{MAX_CLIENTS, MAX_CONFIGSTRINGS};

    #[test]
    fn blocks_follow_each_other_without_overlap() {
        assert!(ITEMS.index() < MODELS as usize);
        assert_eq!(MODELS + 256, SOUNDS);
        assert_eq!(SOUNDS + 256, PLAYERS);
        assert_eq!(PLAYERS as usize + MAX_CLIENTS, LOCATIONS as usize);
        assert!(usize::from(LOCATIONS) + 64 < MAX_CONFIGSTRINGS);
        let last = ClientNum::all().next_back().expect("there are client numbers");
        assert_eq!(player(last).index(), 607);
    }
}

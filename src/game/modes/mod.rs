//! Game modes: differences between game types, one file and one row each.
//!
//! A mode is data and hooks. The rest of the game reads the mode and never compares game types. A new mode
//! needs a variant of [`GameType`], a file with its [`Mode`] and a row in [`MODES`].
//!
//! Invariants: rows follow the order of the game types' numbers. Source: the base game's rules by game
//! type; OpenArena's.

mod capture_the_flag;
mod free_for_all;
mod single_player;
mod team_deathmatch;
mod tournament;

use crate::bg::GameType;

/// Player counts that decide whether a match can start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::game) struct PlayerCounts {
    pub(in crate::game) players: usize,
    pub(in crate::game) red: usize,
    pub(in crate::game) blue: usize,
    /// Whether the ruleset starts team deathmatch with two players of one team.
    pub(in crate::game) any_two: bool,
}

/// Score limit that ends a match, beside the time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) enum ScoreLimit {
    /// `fraglimit`, reached by one player.
    PlayerFrags,
    /// `fraglimit`, reached by a team.
    TeamFrags,
    /// `capturelimit`, reached by a team.
    Captures,
}

/// Game mode.
#[derive(Debug)]
pub(in crate::game) struct Mode {
    pub(in crate::game) game_type: GameType,
    /// Maximum number of players, if lower than the operator's limit.
    pub(in crate::game) max_players: Option<usize>,
    /// Whether spectators queue to play: the loser makes room, and a player who leaves loses.
    pub(in crate::game) plays_in_turn: bool,
    /// Whether spectator chat is hidden from players.
    pub(in crate::game) mutes_spectators: bool,
    /// Whether the settings can enable a warm-up.
    pub(in crate::game) has_warmup: bool,
    /// Whether the player counts allow a match.
    pub(in crate::game) enough_players: fn(PlayerCounts) -> bool,
    /// Machine gun rounds at each spawn.
    pub(in crate::game) spawn_bullets: i32,
    /// Whether weapons use their team game damage.
    pub(in crate::game) team_damage: bool,
    /// Whether weapon pickups give full ammo and respawn after `g_weaponTeamRespawn`.
    pub(in crate::game) team_weapons: bool,
    /// Whether dead players drop their powerups.
    pub(in crate::game) drops_powerups: bool,
    /// Whether a player's score counts for its team.
    pub(in crate::game) shares_score: bool,
    pub(in crate::game) score_limit: ScoreLimit,
}

impl Mode {
    /// Returns the mode of a game type.
    pub(in crate::game) const fn of(game_type: GameType) -> &'static Self {
        MODES[game_type as usize]
    }
}

/// All modes, by the number of their game type.
const MODES: [&Mode; 5] = [
    &free_for_all::MODE,
    &tournament::MODE,
    &single_player::MODE,
    &team_deathmatch::MODE,
    &capture_the_flag::MODE,
];

const _: () = {
    let mut number = 0;
    while number < MODES.len() {
        assert!(MODES[number].game_type as usize == number, "a mode's row is out of order");
        number += 1;
    }
};

/// Whether at least two players are in the game, of any team.
const fn two_players(present: PlayerCounts) -> bool {
    present.players >= 2
}

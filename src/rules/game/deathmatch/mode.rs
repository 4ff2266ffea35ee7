//! Game mode: differences between game types, as data. The rows are in `modes`.

use crate::bg::GameType;
use crate::game::clients::{Clients, JoinRules};
use crate::model::ClientNum;

/// Limit on score that the match has hit, for the two leaders.
type ScoreLimit = fn(&Clients, [Option<ClientNum>; 2]) -> Option<LimitHit>;

/// Limit that ends the match.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LimitHit {
    /// Text printed to all clients.
    pub(super) text: String,
    /// Reason in the game log.
    pub(super) reason: &'static str,
}

/// Player counts that decide whether a match can start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlayerCounts {
    pub(super) players: usize,
    pub(super) red: usize,
    pub(super) blue: usize,
    /// Whether the ruleset starts team deathmatch with two players of one team.
    pub(super) any_two: bool,
}

/// Data of a game mode. The rest of the game reads it and never compares game types.
#[derive(Debug)]
pub(super) struct Mode {
    pub(super) game_type: GameType,
    pub(super) join: JoinRules,
    /// Whether the settings can enable a warm-up.
    pub(super) has_warmup: bool,
    /// Machine gun rounds at each spawn.
    pub(super) spawn_bullets: i32,
    /// Whether weapons use their team game damage.
    pub(super) team_damage: bool,
    /// Whether weapon pickups give full ammo and respawn after `g_weaponTeamRespawn`.
    pub(super) team_weapons: bool,
    /// Whether dead players drop their powerups.
    pub(super) drops_powerups: bool,
    /// Whether a player's score counts for its team.
    pub(super) shares_score: bool,
    /// Whether the level repeats after the match, without map rotation.
    pub(super) repeats_level: bool,
    /// Whether the player counts allow a match.
    pub(super) enough_players: fn(PlayerCounts) -> bool,
    /// Returns the score limit that the match has hit.
    pub(super) score_limit: ScoreLimit,
}

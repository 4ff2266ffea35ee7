//! Game modes: differences between game types, one file and one row each.
//!
//! A mode is data and hooks. The rest of the game reads the mode and never compares game types. A new mode
//! needs a variant of [`GameType`], a file with its [`Mode`] and a row in [`MODES`]. A hook that a mode does
//! not need is the one of [`free_for_all`].
//!
//! Invariants: rows follow the order of the game types' numbers. Source: the base game's rules by game
//! type; OpenArena's.

mod capture_the_flag;
mod free_for_all;
mod single_player;
mod team_deathmatch;
mod tournament;

use super::{
    context::Context, matches::exit_rules::LimitHit, spawn_points::SpawnPoint,
    spawn_points::SpawnPoints, systems::Systems,
};
use crate::bg::GameType;
use crate::game::clients::{Clients, JoinRules};
use crate::model::ClientNum;

/// Player counts that decide whether a match can start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlayerCounts {
    pub(super) players: usize,
    pub(super) red: usize,
    pub(super) blue: usize,
    /// Whether the ruleset starts team deathmatch with two players of one team.
    pub(super) any_two: bool,
}

/// Game mode: data, then hooks in the order of a match.
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
    /// Runs in each frame with players, before the warm-up.
    pub(super) frame: fn(&mut Context<'_>, &mut Systems),
    /// Selects the spawn point of a player; `None` leaves it to the common rules.
    pub(super) spawn_point: fn(&SpawnPoints, &mut Context<'_>, ClientNum) -> Option<SpawnPoint>,
    /// Whether a dead player may respawn now.
    pub(super) may_respawn: fn(&Context<'_>, ClientNum) -> bool,
    /// Adds the bonus score of a kill: victim, killer. The victim still carries its items.
    pub(super) kill_bonus: fn(&mut Context<'_>, &mut Systems, ClientNum, ClientNum),
    /// Returns the score limit that the match has hit, for the two leaders.
    pub(super) score_limit: fn(&Clients, [Option<ClientNum>; 2]) -> Option<LimitHit>,
    /// Runs when the intermission begins.
    pub(super) match_end: fn(&mut Context<'_>),
    /// Runs when the intermission ends.
    pub(super) level_end: fn(&mut Context<'_>, &mut Systems),
    /// Runs when a client disconnects, before it leaves the game.
    pub(super) disconnect: fn(&mut Context<'_>, &mut Systems, ClientNum),
}

impl Mode {
    /// Returns the mode of a game type.
    pub(super) const fn of(game_type: GameType) -> &'static Self {
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

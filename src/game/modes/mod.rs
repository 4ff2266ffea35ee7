//! Game modes: what differs between game types, one file and one row each.
//!
//! A mode is data and hooks. The rest of the game asks the mode and never compares game types. To add
//! one: a variant of [`GameType`], a file with its [`Mode`], a row in [`MODES`].
//!
//! Invariant: the rows stand in the order of the game types' numbers. Source: the base game's rules by
//! game type; OpenArena's.

mod capture_the_flag;
mod free_for_all;
mod single_player;
mod team_deathmatch;
mod tournament;

use crate::bg::GameType;

/// Players in the game, for the decision whether a match can start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::game) struct Presence {
    pub(in crate::game) players: usize,
    pub(in crate::game) red: usize,
    pub(in crate::game) blue: usize,
    /// Whether two players of one team are enough in team deathmatch: a rule of the ruleset.
    pub(in crate::game) any_two: bool,
}

/// What ends a match beside its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) enum ScoreLimit {
    /// `fraglimit`, reached by one player.
    PlayerFrags,
    /// `fraglimit`, reached by a team.
    TeamFrags,
    /// `capturelimit`, reached by a team.
    Captures,
}

/// One game mode.
#[derive(Debug)]
pub(in crate::game) struct Mode {
    pub(in crate::game) game_type: GameType,
    /// Limit of players at a time, below the operator's.
    pub(in crate::game) max_players: Option<usize>,
    /// Whether spectators wait in a queue: the loser of a game makes room, and leaving loses the game.
    pub(in crate::game) plays_in_turn: bool,
    /// Whether spectators are not heard by players.
    pub(in crate::game) mutes_spectators: bool,
    /// Whether the settings may ask for a warm-up.
    pub(in crate::game) has_warmup: bool,
    /// Whether enough players are there for a match.
    pub(in crate::game) enough_players: fn(Presence) -> bool,
    /// Rounds of the machine gun at each spawn.
    pub(in crate::game) spawn_bullets: i32,
    /// Whether weapons do their damage of team games.
    pub(in crate::game) team_damage: bool,
    /// Whether weapons bring all of their rounds and come back after `g_weaponTeamRespawn`.
    pub(in crate::game) team_weapons: bool,
    /// Whether the dead drop their powerups.
    pub(in crate::game) drops_powerups: bool,
    /// Whether a player's score counts for the team.
    pub(in crate::game) shares_score: bool,
    pub(in crate::game) score_limit: ScoreLimit,
}

impl Mode {
    /// The mode of a game type.
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

/// Two players, whatever their teams.
const fn two_players(present: Presence) -> bool {
    present.players >= 2
}

//! Game modes: differences between game types, one file and one row each.
//!
//! A mode is data and hooks. A new mode needs a variant of [`GameType`], a file with its [`ModeRow`] and a
//! row in [`MODES`]. A hook that a mode does not need is the one of [`ModeHooks::NONE`].
//!
//! Invariants: rows follow the order of the game types' numbers. Source: the base game's rules by game
//! type; OpenArena's.

mod capture_the_flag;
mod free_for_all;
mod single_player;
mod team_deathmatch;
mod tournament;

use super::{mode::Mode, mode::PlayerCounts, systems::ModeHooks};
use crate::bg::GameType;

/// Row of a mode: its data and its hooks.
#[derive(Debug)]
pub(super) struct ModeRow {
    pub(super) mode: Mode,
    pub(super) hooks: ModeHooks,
}

impl ModeRow {
    /// Returns the row of a game type.
    pub(super) const fn of(game_type: GameType) -> &'static Self {
        MODES[game_type as usize]
    }
}

/// All modes, by the number of their game type.
const MODES: [&ModeRow; 5] = [
    &free_for_all::ROW,
    &tournament::ROW,
    &single_player::ROW,
    &team_deathmatch::ROW,
    &capture_the_flag::ROW,
];

const _: () = {
    let mut number = 0;
    while number < MODES.len() {
        assert!(MODES[number].mode.game_type as usize == number, "a mode's row is out of order");
        number += 1;
    }
};

/// Whether at least two players are in the game, of any team.
const fn two_players(present: PlayerCounts) -> bool {
    present.players >= 2
}

//! Tournament: one against one, with a queue of spectators.

use super::{Mode, free_for_all};
use crate::bg::GameType;

/// Number of players in a game.
const DUELISTS: usize = 2;

pub(super) const MODE: Mode = Mode {
    game_type: GameType::Tournament,
    max_players: Some(DUELISTS),
    plays_in_turn: true,
    mutes_spectators: true,
    enough_players: |present| present.players == DUELISTS,
    ..free_for_all::MODE
};

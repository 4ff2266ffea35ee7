//! Tournament: one against one, the other clients wait for their turn.

use super::{Mode, free_for_all};
use crate::bg::GameType;

/// Players of a game.
const DUELISTS: usize = 2;

pub(super) const MODE: Mode = Mode {
    game_type: GameType::Tournament,
    max_players: Some(DUELISTS),
    plays_in_turn: true,
    mutes_spectators: true,
    enough_players: |present| present.players == DUELISTS,
    ..free_for_all::MODE
};

//! Tournament: one against one, with a queue of spectators.

use super::{Mode, free_for_all};
use crate::{
    bg::GameType,
    game::{
        clients::JoinRules,
        deathmatch::matches::tournament::{
            add_tournament_player, forfeit, record_tournament_result, remove_tournament_loser,
        },
    },
};

/// Number of players in a game.
const DUELISTS: usize = 2;

pub(super) const MODE: Mode = Mode {
    game_type: GameType::Tournament,
    join: JoinRules { max_players: Some(DUELISTS), plays_in_turn: true, mutes_spectators: true },
    repeats_level: true,
    enough_players: |present| present.players == DUELISTS,
    frame: add_tournament_player,
    match_end: record_tournament_result,
    level_end: remove_tournament_loser,
    disconnect: forfeit,
    ..free_for_all::MODE
};

//! Tournament: one against one, with a queue of spectators.

use crate::bg::GameType;
use crate::game::clients::JoinRules;
use crate::game::deathmatch::matches::tournament::{
    add_tournament_player, forfeit, record_tournament_result, remove_tournament_loser,
};
use crate::game::deathmatch::modes::{Mode, free_for_all};

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

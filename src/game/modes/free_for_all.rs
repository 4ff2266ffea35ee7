//! Free for all: no teams.

use super::{Mode, ScoreLimit, two_players};
use crate::bg::GameType;

pub(super) const MODE: Mode = Mode {
    game_type: GameType::FreeForAll,
    max_players: None,
    plays_in_turn: false,
    mutes_spectators: false,
    has_warmup: true,
    enough_players: two_players,
    spawn_bullets: 100,
    team_damage: false,
    team_weapons: false,
    drops_powerups: true,
    shares_score: false,
    score_limit: ScoreLimit::PlayerFrags,
};

//! Free for all: no teams.

use crate::bg::GameType;
use crate::game::clients::JoinRules;
use crate::game::deathmatch::{
    matches::exit_rules::player_fraglimit, modes::Mode, modes::two_players,
};

pub(super) const MODE: Mode = Mode {
    game_type: GameType::FreeForAll,
    join: JoinRules::UNLIMITED,
    has_warmup: true,
    spawn_bullets: 100,
    team_damage: false,
    team_weapons: false,
    drops_powerups: true,
    shares_score: false,
    repeats_level: false,
    enough_players: two_players,
    frame: |_, _| {},
    spawn_point: |_, _, _| None,
    may_respawn: |_, _| true,
    kill_bonus: |_, _, _, _| {},
    score_limit: player_fraglimit,
    match_end: |_| {},
    level_end: |_, _| {},
    disconnect: |_, _, _| {},
};

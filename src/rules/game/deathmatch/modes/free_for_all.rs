//! Free for all: no teams.

use crate::bg::GameType;
use crate::game::clients::JoinRules;
use crate::game::deathmatch::{
    matches::exit_rules::player_fraglimit, mode::Mode, modes::ModeRow, modes::two_players,
    systems::ModeHooks,
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
    score_limit: player_fraglimit,
};

pub(super) const ROW: ModeRow = ModeRow { mode: MODE, hooks: ModeHooks::NONE };

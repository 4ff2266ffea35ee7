//! Team deathmatch: red against blue, frags count for the team.

use crate::bg::GameType;
use crate::game::deathmatch::modes::{ModeRow, free_for_all, two_players};
use crate::game::deathmatch::{
    matches::exit_rules::team_fraglimit, mode::Mode, mode::PlayerCounts, systems::ModeHooks,
};

pub(super) const ROW: ModeRow = ModeRow {
    mode: Mode {
        game_type: GameType::TeamDeathmatch,
        spawn_bullets: 50,
        team_damage: true,
        team_weapons: true,
        drops_powerups: false,
        shares_score: true,
        enough_players,
        score_limit: team_fraglimit,
        ..free_for_all::MODE
    },
    hooks: ModeHooks::NONE,
};

const fn enough_players(present: PlayerCounts) -> bool {
    if present.any_two { two_players(present) } else { present.red > 0 && present.blue > 0 }
}

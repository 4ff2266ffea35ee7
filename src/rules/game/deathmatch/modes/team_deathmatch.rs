//! Team deathmatch: red against blue, frags count for the team.

use crate::bg::GameType;
use crate::game::deathmatch::matches::exit_rules::team_fraglimit;
use crate::game::deathmatch::modes::{Mode, PlayerCounts, free_for_all, two_players};

pub(super) const MODE: Mode = Mode {
    game_type: GameType::TeamDeathmatch,
    spawn_bullets: 50,
    team_damage: true,
    team_weapons: true,
    drops_powerups: false,
    shares_score: true,
    enough_players,
    score_limit: team_fraglimit,
    ..free_for_all::MODE
};

const fn enough_players(present: PlayerCounts) -> bool {
    if present.any_two { two_players(present) } else { present.red > 0 && present.blue > 0 }
}

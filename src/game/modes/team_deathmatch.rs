//! Team deathmatch: red against blue, frags count for the team.

use super::{Mode, PlayerCounts, ScoreLimit, free_for_all, two_players};
use crate::bg::GameType;

pub(super) const MODE: Mode = Mode {
    game_type: GameType::TeamDeathmatch,
    enough_players,
    spawn_bullets: 50,
    team_damage: true,
    team_weapons: true,
    drops_powerups: false,
    shares_score: true,
    score_limit: ScoreLimit::TeamFrags,
    ..free_for_all::MODE
};

const fn enough_players(present: PlayerCounts) -> bool {
    if present.any_two { two_players(present) } else { present.red > 0 && present.blue > 0 }
}

//! Capture the flag: red against blue for each other's flag.

use crate::bg::GameType;
use crate::game::deathmatch::{
    matches::exit_rules::capturelimit, modes::Mode, modes::free_for_all, spawn_points::SpawnPoints,
    teams::frag_bonuses::add_frag_bonus,
};

pub(super) const MODE: Mode = Mode {
    game_type: GameType::CaptureTheFlag,
    enough_players: |present| present.red > 0 && present.blue > 0,
    spawn_point: SpawnPoints::select_team_spawn_point,
    kill_bonus: add_frag_bonus,
    score_limit: capturelimit,
    ..free_for_all::MODE
};

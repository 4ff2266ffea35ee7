//! Capture the flag: red against blue for each other's flag.

use super::{Mode, ScoreLimit, free_for_all};
use crate::bg::GameType;

pub(super) const MODE: Mode = Mode {
    game_type: GameType::CaptureTheFlag,
    enough_players: |present| present.red > 0 && present.blue > 0,
    score_limit: ScoreLimit::Captures,
    ..free_for_all::MODE
};

//! State of the level by owner: each subsystem's fields are private to its module.

use super::{
    body_queue::BodyQueue, combat::Combat, items::Items, matches::MatchState,
    move_caches::MoveCaches, spawn_points::SpawnPoints, targets::Targets, teams::TeamState,
    weapons::LagCompensation, weapons::Projectiles,
};

/// The subsystems that own state beside the entity table.
///
/// A function takes the one subsystem that it changes. Only functions that can kill a player, and so cause
/// drops, scores and the end of the match, take all of them.
#[derive(Debug, Default)]
pub(super) struct Systems {
    pub(super) combat: Combat,
    pub(super) items: Items,
    pub(super) team_state: TeamState,
    pub(super) match_state: MatchState,
    pub(super) projectiles: Projectiles,
    pub(super) lag: LagCompensation,
    pub(super) spawn_points: SpawnPoints,
    pub(super) targets: Targets,
    pub(super) body_queue: BodyQueue,
    pub(super) moves: MoveCaches,
}

//! State of the level by owner: each subsystem's fields are private to its module.

use super::{
    body_queue::BodyQueue, combat::Combat, items::Items, matches::Course, spots::Spots,
    targets::Targets, teams::Fight, weapons::Projectiles,
};

/// The subsystems that own state beside the entity table.
///
/// A function takes the one subsystem that it changes; only what may lead to a player's death, and with it
/// to drops, scores and the end of the match, takes all of them.
#[derive(Debug, Default)]
pub(super) struct Systems {
    pub(super) combat: Combat,
    pub(super) items: Items,
    pub(super) fight: Fight,
    pub(super) course: Course,
    pub(super) projectiles: Projectiles,
    pub(super) spots: Spots,
    pub(super) targets: Targets,
    pub(super) body_queue: BodyQueue,
}

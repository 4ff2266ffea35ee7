//! Subsystems of a match, and the groups `Fight` and `Systems` that functions take.
//!
//! Invariant: the fields of a subsystem are private to its module, except the combat state of players.

use super::{
    body_queue::BodyQueue, combat::Combat, context::Context, items::Items,
    lag_compensation::LagCompensation, matches::MatchState, move_caches::MoveCaches,
    projectiles::Projectiles, spawn_points::SpawnPoints, targets::Targets, teams::TeamState,
};
use crate::model::ClientNum;

/// The subsystems that own state beside the entity table.
///
/// A function takes the one subsystem that it changes. Functions that can kill or move a player take [`Fight`]; those
/// that spawn a player or fire targets take [`Systems`].
#[derive(Debug, Default)]
pub(super) struct Systems {
    pub(super) fight: Fight,
    pub(super) spawn_points: SpawnPoints,
    pub(super) targets: Targets,
    pub(super) body_queue: BodyQueue,
    pub(super) moves: MoveCaches,
}

/// The subsystems that damage changes: a death causes drops, scores and the end of the match.
#[derive(Debug, Default)]
pub(super) struct Fight {
    /// Hooks of the level's mode.
    pub(super) hooks: &'static ModeHooks,
    pub(super) combat: Combat,
    pub(super) items: Items,
    pub(super) team_state: TeamState,
    pub(super) match_state: MatchState,
    pub(super) projectiles: Projectiles,
    pub(super) lag: LagCompensation,
}

/// Hooks of a mode, in the order of a match.
#[derive(Debug)]
pub(super) struct ModeHooks {
    /// Runs in each frame with players, before the warm-up.
    pub(super) frame: fn(&mut Context<'_>, &mut Systems),
    /// Adds the bonus score of a kill: victim, killer. The victim still carries its items.
    pub(super) kill_bonus: fn(&mut Context<'_>, &mut Fight, ClientNum, ClientNum),
    /// Runs when the intermission begins.
    pub(super) match_end: fn(&mut Context<'_>),
    /// Runs when the intermission ends.
    pub(super) level_end: fn(&mut Context<'_>, &mut Systems),
    /// Runs when a client disconnects, before it leaves the game.
    pub(super) disconnect: fn(&mut MatchState, &mut Context<'_>, ClientNum),
}

impl ModeHooks {
    /// Hooks without effect.
    pub(super) const NONE: Self = Self {
        frame: |_, _| {},
        kill_bonus: |_, _, _, _| {},
        match_end: |_| {},
        level_end: |_, _| {},
        disconnect: |_, _, _| {},
    };
}

impl Default for &'static ModeHooks {
    fn default() -> Self {
        &ModeHooks::NONE
    }
}

//! State of a trigger or target.

use crate::model::{ClientNum, EntityNum, Vec3};
use std::sync::Arc;

/// Kind of a trigger or target.
#[derive(Clone, Debug)]
pub(crate) enum TargetKind {
    /// Touched or used: fires its targets, then waits. Without a wait it fires once.
    Multiple,
    /// Fires once, after the level start.
    Always,
    /// Fires repeatedly while on.
    Timer,
    /// Used: fires its targets.
    Relay,
    /// Used: fires its targets later.
    Delay,
    /// Used: center print.
    Print(Arc<str>),
    /// Used: teleports the activator to the target.
    Teleport,
    /// Used: kills the activator.
    Kill,
    /// Used: sets the activator's velocity to the state's `origin2`, with this sound.
    Push(i32),
    /// Used: gives the activator the targeted items.
    Give,
    /// Used: removes the activator's powerups.
    Strip,
    /// Used: adds points to the activator's score.
    Score(i32),
    /// Used: plays a sound.
    Speaker(i32),
    /// Used: toggles the laser.
    Laser(Laser),
    /// Used: fires a projectile.
    Shooter(Shooter),
}

/// State of a trigger or target.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    /// Base wait, in seconds.
    pub(crate) wait: f32,
    /// Random deviation of the wait, in seconds; of a shooter's direction, in degrees.
    pub(crate) random: f32,
    /// Activator of the pending think.
    pub(crate) activator: Option<ClientNum>,
}

/// State of a laser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laser {
    pub(crate) damage: i32,
    /// Direction of the beam without a target.
    pub(crate) direction: Vec3,
    /// Target of the beam.
    pub(crate) aim: Option<EntityNum>,
    /// Whether the target was resolved; before that, use has no effect.
    pub(crate) ready: bool,
}

/// State of a shooter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shooter {
    /// Direction of fire without a target.
    pub(crate) direction: Vec3,
    /// Entity that it fires at, picked once.
    pub(crate) enemy: Option<EntityNum>,
}

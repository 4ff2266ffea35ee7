//! Triggers: boxes that act on the players in them.

use crate::model::Vec3;

/// A box with an effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trigger {
    /// Lower corner.
    pub low: Vec3,
    /// Upper corner.
    pub high: Vec3,
    /// Effect on a player.
    pub effect: Effect,
}

/// Effect of a trigger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Moves a player to a place.
    Teleport {
        /// Place.
        origin: Vec3,
        /// View angles there, in degrees.
        angles: Vec3,
    },
    /// Sets the velocity.
    Push {
        /// Velocity.
        velocity: Vec3,
    },
    /// Takes health once a second.
    Hurt {
        /// Health.
        damage: i32,
    },
}

impl Trigger {
    /// Whether a box touches the trigger.
    #[must_use]
    pub fn touches(&self, low: Vec3, high: Vec3) -> bool {
        (0..3).all(|axis| self.low[axis] <= high[axis] && low[axis] <= self.high[axis])
    }
}

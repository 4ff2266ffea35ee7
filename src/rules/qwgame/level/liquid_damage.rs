//! Damage by liquids, as a table.

use super::super::game::Cause;
use crate::bsp29::Contents;

/// Damage by a liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiquidDamage {
    /// Liquid.
    pub liquid: Contents,
    /// Health lost, by water level.
    pub damage: i32,
    /// Interval, in seconds.
    pub interval: f64,
    /// Cause.
    pub cause: Cause,
}

/// Liquids that hurt.
pub const LIQUID_DAMAGES: [LiquidDamage; 2] = [
    LiquidDamage { liquid: Contents::LAVA, damage: 10, interval: 0.2, cause: Cause::Lava },
    LiquidDamage { liquid: Contents::SLIME, damage: 4, interval: 1.0, cause: Cause::Slime },
];

/// Time under water before the first damage, in seconds.
pub(super) const AIR_SECONDS: f64 = 12.0;
/// Damage of the first second without air; each further one costs as much more.
pub(super) const DROWN_DAMAGE: i32 = 2;
/// Damage of a second without air from which it starts at [`DROWN_DAMAGE_AGAIN`].
pub(super) const MAX_DROWN_DAMAGE: i32 = 15;
/// Damage after the limit.
pub(super) const DROWN_DAMAGE_AGAIN: i32 = 10;
/// Speed of a fall that hurts, in units per second.
pub(super) const HARMFUL_FALL: f32 = -650.0;
/// Damage of such a fall.
pub(super) const FALL_DAMAGE: i32 = 5;

/// Returns the damage by a liquid; `None` for harmless ones.
#[must_use]
pub fn liquid_damage(liquid: Option<Contents>) -> Option<&'static LiquidDamage> {
    LIQUID_DAMAGES.iter().find(|harm| Some(harm.liquid) == liquid)
}

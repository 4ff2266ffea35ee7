//! Hits on entities.
//!
//! Engine names: `G_Damage`, `DAMAGE_*`.

use crate::bg::MeansOfDeath;
use crate::model::{ClientNum, EntityNum, Vec3};

/// Damage that always kills.
pub(super) const LETHAL: i32 = 100_000;

/// One hit on an entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) damage: i32,
    pub(super) means: MeansOfDeath,
    /// Player who caused the damage; none for the world.
    pub(super) attacker: Option<ClientNum>,
    /// Entity that caused the damage, if not the attacker.
    pub(super) inflictor: Option<EntityNum>,
    /// Knockback direction, of any length.
    pub(super) direction: Option<Vec3>,
    /// Point of impact.
    pub(super) point: Option<Vec3>,
    /// Whether the hit is splash damage.
    pub(super) is_splash: bool,
    pub(super) no_armor: bool,
    /// Whether the hit has no knockback.
    pub(super) no_knockback: bool,
    /// Whether god mode, teammates and spawn protection are ignored.
    pub(super) no_protection: bool,
}

impl Hit {
    /// Returns a hit by the level itself.
    pub(super) const fn by_world(damage: i32, means: MeansOfDeath) -> Self {
        Self {
            damage,
            means,
            attacker: None,
            inflictor: None,
            direction: None,
            point: None,
            is_splash: false,
            no_armor: false,
            no_knockback: false,
            no_protection: false,
        }
    }

    /// Returns the hit of a player who spawns or teleports inside the victim.
    pub(super) const fn telefrag(by: ClientNum) -> Self {
        Self {
            attacker: Some(by),
            no_protection: true,
            ..Self::by_world(LETHAL, MeansOfDeath::Telefrag)
        }
    }
}

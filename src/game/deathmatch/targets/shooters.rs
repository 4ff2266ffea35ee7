//! Shooters: map entities that fire projectiles when used.
//!
//! Source: the base game's shooters. Engine names: `InitShooter`, `Use_Shooter`.

use super::{TargetKind, center};
use crate::game::deathmatch::{
    context::Context, entities::Entities, systems::Systems, targets::Targets, targets::pick_target,
    weapons::missiles::launch,
};
use crate::model::EntityNum;
use crate::world::entity_string::MapEntity;
use crate::{
    bg::{Event, Weapon},
    game::{
        deathmatch::{entities::EntityKind, movers::direction_of, weapons::perpendicular},
        movement::velocity::direction,
    },
};

/// Default spread, in degrees.
const SPREAD: f32 = 1.0;

/// `shooter_rocket`.
pub(in crate::game::deathmatch) fn rocket_shooter(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    map_entity: &MapEntity,
) {
    sys.targets.add_shooter(cx, map_entity, Weapon::RocketLauncher);
}

/// `shooter_plasma`.
pub(in crate::game::deathmatch) fn plasma_shooter(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    map_entity: &MapEntity,
) {
    sys.targets.add_shooter(cx, map_entity, Weapon::PlasmaGun);
}

/// `shooter_grenade`.
pub(in crate::game::deathmatch) fn grenade_shooter(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    map_entity: &MapEntity,
) {
    sys.targets.add_shooter(cx, map_entity, Weapon::GrenadeLauncher);
}

impl Targets {
    fn add_shooter(&mut self, cx: &mut Context<'_>, map_entity: &MapEntity, weapon: Weapon) {
        let Some(number) = self.add_target(cx, map_entity, TargetKind::Shooter) else { return };
        if let Some(entity) = cx.entities.get_mut(number) {
            entity.state.weapon = weapon as i32;
            if let EntityKind::Target(target) = &mut entity.kind {
                target.random = map_entity.float("random").filter(|&r| r != 0.0).unwrap_or(SPREAD);
            }
        }
        cx.entities.link(cx.host, number);
    }
}

impl Entities {
    /// Iterates the weapons of all shooters, which clients load at the start.
    pub(in crate::game::deathmatch) fn shooters(&self) -> impl Iterator<Item = i32> {
        let numbers = self.numbers();
        numbers.filter_map(|number| {
            let (entity, target) = self.target(number)?;
            matches!(target.kind, TargetKind::Shooter).then_some(entity.state.weapon)
        })
    }
}

/// Fires a projectile along the shooter's direction or at its target, with spread.
pub(in crate::game::deathmatch) fn shoot(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let aim = pick_target(cx, number).and_then(|aim| cx.entities.get(aim)).map(center);
    let Some((entity, target)) = cx.entities.target(number) else { return };
    let (from, weapon) = (entity.state.origin, entity.state.weapon);
    let spread = (target.random.clamp(-180.0, 180.0).to_radians()).sin();
    let forward = match aim {
        Some(aim) => aim - from,
        None => direction_of(entity.state.angles),
    };
    let up = perpendicular(direction(forward));
    let right = up.cross(forward);
    let mut stray = || cx.rng.crandom() * spread;
    let along = forward.add_scaled(up, stray()).add_scaled(right, stray());
    launch(cx, number, weapon, from, along);
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.add_event(Event::FireWeapon, 0, now);
    }
}

//! Shooters: map entities that fire projectiles when used.
//!
//! Source: the base game's shooters. Engine names: `InitShooter`, `Use_Shooter`.

use crate::bg::{Event, Weapon};
use crate::game::deathmatch::entity_kinds::{EntityKind, Shooter, TargetKind};
use crate::game::deathmatch::{
    context::Context, entities::Entities, projectiles::missiles::launch, targets::Targets,
    targets::direction_of, targets::pick_target,
};
use crate::game::movement::{angles::perpendicular, velocity::direction};
use crate::model::{EntityNum, Vec3};
use crate::world::entity_string::MapEntity;

/// Delay after which a shooter picks its target, in ms.
const AIM_MS: i32 = 500;
/// Default spread, in degrees.
const SPREAD: f32 = 1.0;

/// `shooter_rocket`.
pub(crate) fn rocket_shooter(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_shooter(cx, map_entity, Weapon::RocketLauncher);
}

/// `shooter_plasma`.
pub(crate) fn plasma_shooter(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_shooter(cx, map_entity, Weapon::PlasmaGun);
}

/// `shooter_grenade`.
pub(crate) fn grenade_shooter(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_shooter(cx, map_entity, Weapon::GrenadeLauncher);
}

impl Targets {
    fn add_shooter(&mut self, cx: &mut Context<'_>, map_entity: &MapEntity, weapon: Weapon) {
        let shooter = Shooter { direction: direction_of(map_entity.angles()), enemy: None };
        let kind = TargetKind::Shooter(shooter);
        let due = cx.clients.now + AIM_MS;
        let Some(number) = self.add_target(cx, map_entity, kind) else { return };
        if let Some(entity) = cx.entities.get_mut(number) {
            entity.state.weapon = weapon as i32;
            entity.state.angles = Vec3::ZERO;
            entity.think_at = (!entity.target.is_empty()).then_some(due);
            if let EntityKind::Target(target) = &mut entity.kind {
                target.random = map_entity.float("random").filter(|&r| r != 0.0).unwrap_or(SPREAD);
            }
        }
        cx.entities.link(cx.host, number);
    }
}

impl Entities {
    /// Iterates the weapons of all shooters, which clients load at the start.
    pub(crate) fn shooters(&self) -> impl Iterator<Item = i32> {
        let numbers = self.numbers();
        numbers.filter_map(|number| {
            let (entity, target) = self.target(number)?;
            matches!(target.kind, TargetKind::Shooter(_)).then_some(entity.state.weapon)
        })
    }
}

/// Picks the entity that a shooter fires at from now on.
pub(crate) fn aim_shooter(cx: &mut Context<'_>, number: EntityNum, shooter: Shooter) {
    let enemy = pick_target(cx, number);
    if let Some(entity) = cx.entities.get_mut(number)
        && let EntityKind::Target(target) = &mut entity.kind
    {
        target.kind = TargetKind::Shooter(Shooter { enemy, ..shooter });
    }
}

/// Fires a projectile along the shooter's direction or at its target, with spread.
pub(crate) fn shoot(cx: &mut Context<'_>, number: EntityNum, shooter: Shooter) {
    let now = cx.clients.now;
    let aim = shooter.enemy.and_then(|enemy| cx.origin_of(enemy));
    let Some((entity, target)) = cx.entities.target(number) else { return };
    let (from, weapon) = (entity.state.origin, entity.state.weapon);
    let spread = (target.random.clamp(-180.0, 180.0).to_radians()).sin();
    let forward = aim.map_or(shooter.direction, |aim| direction(aim - from));
    let up = perpendicular(forward);
    let right = up.cross(forward);
    let mut stray = || cx.rng.crandom() * spread;
    let along = forward.add_scaled(up, stray()).add_scaled(right, stray());
    launch(cx, number, weapon, from, along);
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.add_event(Event::FireWeapon, 0, now);
    }
}

//! Lasers: beams that damage the first entity that they hit.
//!
//! Source: the base game's laser. Engine names: `SP_target_laser`, `target_laser_think`.

use crate::bg::{EntityType, MeansOfDeath};
use crate::game::deathmatch::entity_kinds::{EntityKind, Laser, TargetKind};
use crate::game::deathmatch::{
    combat::damage::damage_entity, context::Context, directions::direction_of, hit::Hit,
    systems::Systems, targets::center,
};
use crate::game::movement::velocity::direction;
use crate::model::{ClientNum, EntityNum, Vec3, contents::content};
use crate::world::entity_string::MapEntity;

/// Spawn flag of a laser that starts on.
const ON: i32 = 1;
/// Interval of damage, and delay of the first think, in ms.
const STEP_MS: i32 = 100;
/// Length of the beam, in units.
const REACH: f32 = 2048.0;
/// Contents that stop the beam.
const STOPS: i32 = content::SOLID | content::BODY | content::CORPSE;

/// `target_laser`.
pub(crate) fn laser(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    let laser = Laser {
        damage: map_entity.int("dmg").filter(|&damage| damage != 0).unwrap_or(1),
        direction: direction_of(map_entity.angles()),
        aim: None,
        ready: false,
    };
    let due = cx.clients.now + STEP_MS;
    let number = sys.targets.add_target(cx, map_entity, TargetKind::Laser(laser));
    if let Some(entity) = number.and_then(|number| cx.entities.get_mut(number)) {
        entity.state.e_type = EntityType::Beam as i32;
        entity.think_at = Some(due);
    }
}

/// Runs a laser's think: resolves its target first, then damages.
pub(super) fn run_laser(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    mut laser: Laser,
    activator: Option<ClientNum>,
) {
    if !laser.ready {
        laser.ready = true;
        let name = cx.entities.get(number).map_or_else(Box::default, |own| own.target.clone());
        laser.aim = cx.entities.named(&name).next();
        let Some(entity) = cx.entities.get_mut(number) else { return };
        if let EntityKind::Target(target) = &mut entity.kind {
            target.kind = TargetKind::Laser(laser);
        }
        if entity.spawnflags & ON == 0 {
            return;
        }
    }
    fire_laser(cx, sys, number, laser, activator);
}

pub(super) fn toggle_laser(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    laser: Laser,
    activator: Option<ClientNum>,
) {
    if !laser.ready {
        return;
    }
    if cx.entities.get(number).is_some_and(|entity| entity.think_at.is_some()) {
        cx.entities.schedule(number, None, activator);
        cx.entities.unlink(cx.host, number);
    } else {
        fire_laser(cx, sys, number, laser, activator);
    }
}

fn fire_laser(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    laser: Laser,
    activator: Option<ClientNum>,
) {
    let Some(from) = cx.entities.get(number).map(|entity| entity.state.origin) else { return };
    let aim = laser.aim.and_then(|aim| cx.entities.get(aim));
    let along = aim.map_or(laser.direction, |aim| direction(center(aim) - from));
    let end = from.add_scaled(along, REACH);
    let trace = cx
        .host
        .world()
        .map(|world| world.scene(&*cx, number).trace(from, Vec3::ZERO, Vec3::ZERO, end, STOPS));
    let (end, hit_entity) = trace.map_or((end, None), |trace| (trace.endpos, Some(trace.entity)));
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.state.origin2 = end;
    }
    cx.entities.link(cx.host, number);
    cx.entities.schedule(number, Some(cx.clients.now + STEP_MS), activator);
    let Some(hit_entity) = hit_entity else { return };
    let hit = Hit::by_world(laser.damage, MeansOfDeath::TargetLaser);
    let hit = Hit {
        attacker: activator,
        inflictor: Some(number),
        direction: Some(along),
        point: Some(end),
        no_knockback: true,
        ..hit
    };
    damage_entity(cx, sys, hit_entity, &hit);
}

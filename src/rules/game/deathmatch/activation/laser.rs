//! Use and think of lasers: beams that damage the first entity that they hit.
//!
//! Source: the base game's laser. Engine names: `target_laser_think`.

use crate::bg::MeansOfDeath;
use crate::game::deathmatch::entity_kinds::{EntityKind, Laser, TargetKind};
use crate::game::deathmatch::{
    context::Context, damage::damage_entity, hit::Hit, systems::Fight, targets::center,
    targets::laser::LASER_INTERVAL_MS,
};
use crate::game::movement::velocity::direction;
use crate::model::{ClientNum, EntityNum, contents::content};
use crate::world::TraceQuery;

/// Spawn flag of a laser that starts on.
const ON: i32 = 1;
/// Length of the beam, in units.
const REACH: f32 = 2048.0;
/// Contents that stop the beam.
const STOPS: i32 = content::SOLID | content::BODY | content::CORPSE;

/// Runs a laser's think: resolves its target first, then damages.
pub(super) fn run_laser(
    cx: &mut Context<'_>,
    fight: &mut Fight,
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
    fire_laser(cx, fight, number, laser, activator);
}

pub(super) fn toggle_laser(
    cx: &mut Context<'_>,
    fight: &mut Fight,
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
        fire_laser(cx, fight, number, laser, activator);
    }
}

fn fire_laser(
    cx: &mut Context<'_>,
    fight: &mut Fight,
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
        .map(|world| world.scene(&*cx, number).trace(&TraceQuery::line(from, end, STOPS)));
    let (end, hit_entity) = trace.map_or((end, None), |trace| (trace.endpos, Some(trace.entity)));
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.state.origin2 = end;
    }
    cx.entities.link(cx.host, number);
    cx.entities.schedule(number, Some(cx.clients.now + LASER_INTERVAL_MS), activator);
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
    damage_entity(cx, fight, hit_entity, &hit);
}

//! Rotating, bobbing, swinging and static brush models.
//!
//! Source: the base game's rotating, bobbing, pendulum and static movers.

use crate::game::deathmatch::{
    context::Context, entity_kinds::Mover, entity_kinds::MoverKind, movers::number,
    movers::number_or, targets::Targets,
};
use crate::game::movement::trajectory;
use crate::model::{EntityNum, TrajectoryKind};
use crate::world::entity_string::MapEntity;

/// Minimum length of a pendulum, in units.
const MIN_PENDULUM: f32 = 8.0;

/// `func_static`.
pub(crate) fn fixed(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_mover(cx, map_entity, Mover::new(MoverKind::Free, map_entity));
}

/// `func_rotating`.
pub(crate) fn rotating(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let mover_num = targets.add_mover(cx, map_entity, Mover::new(MoverKind::Free, map_entity));
    let speed = number_or(map_entity, "speed", 100.0);
    let Some(entity) = mover_num.and_then(|mover_num| cx.entities.get_mut(mover_num)) else {
        return;
    };
    let axis = match entity.spawnflags {
        flags if flags & 4 != 0 => 2,
        flags if flags & 8 != 0 => 0,
        _ => 1,
    };
    entity.state.apos.kind = TrajectoryKind::Linear as i32;
    entity.state.apos.delta[axis] = speed;
    set_going(cx, mover_num);
}

/// `func_bobbing`.
pub(crate) fn bobbing(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let mover_num = targets.add_mover(cx, map_entity, Mover::new(MoverKind::Free, map_entity));
    let period_ms = (number(map_entity, "speed", 4.0) * 1000.0) as i32;
    let Some(entity) = mover_num.and_then(|mover_num| cx.entities.get_mut(mover_num)) else {
        return;
    };
    let axis = match entity.spawnflags {
        flags if flags & 1 != 0 => 0,
        flags if flags & 2 != 0 => 1,
        _ => 2,
    };
    let pos = &mut entity.state.pos;
    pos.kind = TrajectoryKind::Sine as i32;
    pos.duration = period_ms.max(1);
    pos.time = (pos.duration as f32 * number(map_entity, "phase", 0.0)) as i32;
    pos.delta[axis] = number(map_entity, "height", 32.0);
    set_going(cx, mover_num);
}

/// `func_pendulum`.
pub(crate) fn pendulum(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let mover_num = targets.add_mover(cx, map_entity, Mover::new(MoverKind::Free, map_entity));
    let gravity = cx.clients.settings.gravity.max(1) as f32;
    let Some(entity) = mover_num.and_then(|mover_num| cx.entities.get_mut(mover_num)) else {
        return;
    };
    let length = entity.shared.mins[2].abs().max(MIN_PENDULUM);
    let frequency = (gravity / (3.0 * length)).sqrt() / (std::f32::consts::PI * 2.0);
    let apos = &mut entity.state.apos;
    apos.kind = TrajectoryKind::Sine as i32;
    apos.base = entity.state.angles;
    apos.duration = ((1000.0 / frequency) as i32).max(1);
    apos.time = (apos.duration as f32 * number(map_entity, "phase", 0.0)) as i32;
    apos.delta[2] = number(map_entity, "speed", 30.0);
    set_going(cx, mover_num);
}

/// Moves an entity to the current position of its trajectories and links it.
fn set_going(cx: &mut Context<'_>, number: Option<EntityNum>) {
    let now = cx.clients.now;
    let Some(number) = number else { return };
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.shared.current_origin = trajectory::position(&entity.state.pos, now);
        entity.shared.current_angles = trajectory::position(&entity.state.apos, now);
    }
    cx.entities.link(cx.host, number);
}

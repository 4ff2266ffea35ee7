//! Spawn functions of relays: entities that fire targets on touch, use, time or start.
//!
//! Source: the base game's triggers, timer, relay and delay. Engine names: `SP_trigger_multiple`,
//! `SP_trigger_always`, `SP_func_timer`, `SP_target_relay`, `SP_target_delay`.

use crate::game::Host;
use crate::game::deathmatch::entity_kinds::{EntityKind, Target, TargetKind};
use crate::game::deathmatch::{context::Context, targets::Targets};
use crate::world::entity_string::MapEntity;

/// Delay between the level start and a `trigger_always`, in ms.
const START_MS: i32 = 300;
/// Delay between the level start and the first firing of a timer, in ms.
const CLOCK_MS: i32 = 100;
/// Subtracted from the wait to replace a `random` that is not below it.
///
/// It is a frame in milliseconds, though the wait is in seconds, as in the base game. Such timers are
/// erratic, and maps rely on that.
const RANDOM_EXCESS: f32 = 100.0;
/// Spawn flag of a timer that starts on.
const ON: i32 = 1;

/// Creates a target with the map's wait and random keys.
fn resting(
    host: &mut dyn Host,
    map_entity: &MapEntity,
    kind: TargetKind,
    wait: f32,
    random: f32,
) -> EntityKind {
    let mut target = Target::new(kind);
    target.wait = map_entity.float("wait").unwrap_or(wait);
    target.random = map_entity.float("random").unwrap_or(random);
    if target.wait >= 0.0 && target.random >= target.wait {
        target.random = target.wait - RANDOM_EXCESS;
        host.print(&format!("line {}: \"random\" must be less than \"wait\"", map_entity.line()));
    }
    EntityKind::Target(Box::new(target))
}

/// `trigger_multiple`.
pub(crate) fn multiple(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let kind = resting(cx.host, map_entity, TargetKind::Multiple, 0.5, 0.0);
    targets.add_trigger(cx, map_entity, kind, None);
}

/// `trigger_always`.
pub(crate) fn always(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let due = cx.clients.now + START_MS;
    if let Some(number) = targets.add_target(cx, map_entity, TargetKind::Always) {
        cx.entities.schedule(number, Some(due), None);
    }
}

/// `func_timer`.
pub(crate) fn timer(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let due = cx.clients.now + CLOCK_MS;
    let kind = resting(cx.host, map_entity, TargetKind::Timer, 1.0, 1.0);
    let Some(entity) =
        targets.add(cx, map_entity, kind).and_then(|number| cx.entities.get_mut(number))
    else {
        return;
    };
    entity.think_at = (entity.spawnflags & ON != 0).then_some(due);
}

/// `target_relay`.
pub(crate) fn relay(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_target(cx, map_entity, TargetKind::Relay);
}

/// `target_delay`.
pub(crate) fn delay(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let mut target = Target::new(TargetKind::Delay);
    let wait = map_entity.float("delay").or_else(|| map_entity.float("wait"));
    target.wait = wait.filter(|&wait| wait != 0.0).unwrap_or(1.0);
    target.random = map_entity.float("random").unwrap_or(0.0);
    targets.add(cx, map_entity, EntityKind::Target(Box::new(target)));
}

//! Relays: entities that fire their targets on touch, on use, by timer or at the start.
//!
//! Source: the base game's triggers, timer, relay and delay. Engine names: `multi_trigger`,
//! `func_timer_think`, `target_relay_use`, `Think_Target_Delay`.

use crate::game::Host;
use crate::game::deathmatch::entity_kinds::{EntityKind, Target, TargetKind};
use crate::game::deathmatch::targets::{fire, is_for_other_team, pick_target, random_wait, use_in};
use crate::game::deathmatch::{context::Context, systems::Systems};
use crate::model::{ClientNum, EntityNum};
use crate::world::entity_string::MapEntity;

/// Delay between the level start and a `trigger_always`, in ms.
const START_MS: i32 = 300;
/// Delay between the level start and the first firing of a timer, in ms.
const CLOCK_MS: i32 = 100;
/// Time between the firing and the removal of a trigger that fires once, in ms.
const LAST_MS: i32 = 100;
/// Subtracted from the wait to replace a `random` that is not below it.
///
/// It is a frame in milliseconds, though the wait is in seconds, as in the base game. Such timers are
/// erratic, and maps rely on that.
const RANDOM_EXCESS: f32 = 100.0;
/// Spawn flag of a timer that starts on.
const ON: i32 = 1;
/// Spawn flag of a relay that fires one random target.
const RANDOM_TARGET: i32 = 4;

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
pub(crate) fn multiple(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    let kind = resting(cx.host, map_entity, TargetKind::Multiple, 0.5, 0.0);
    sys.targets.add_trigger(cx, map_entity, kind, None);
}

/// `trigger_always`.
pub(crate) fn always(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    let due = cx.clients.now + START_MS;
    if let Some(number) = sys.targets.add_target(cx, map_entity, TargetKind::Always) {
        cx.entities.schedule(number, Some(due), None);
    }
}

/// `func_timer`.
pub(crate) fn timer(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    let due = cx.clients.now + CLOCK_MS;
    let kind = resting(cx.host, map_entity, TargetKind::Timer, 1.0, 1.0);
    let Some(entity) =
        sys.targets.add(cx, map_entity, kind).and_then(|number| cx.entities.get_mut(number))
    else {
        return;
    };
    entity.think_at = (entity.spawnflags & ON != 0).then_some(due);
}

/// `target_relay`.
pub(crate) fn relay(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    sys.targets.add_target(cx, map_entity, TargetKind::Relay);
}

/// `target_delay`.
pub(crate) fn delay(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    let mut target = Target::new(TargetKind::Delay);
    let wait = map_entity.float("delay").or_else(|| map_entity.float("wait"));
    target.wait = wait.filter(|&wait| wait != 0.0).unwrap_or(1.0);
    target.random = map_entity.float("random").unwrap_or(0.0);
    sys.targets.add(cx, map_entity, EntityKind::Target(Box::new(target)));
}

pub(super) fn use_multiple(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    let Some((entity, target)) = cx.entities.target(number) else { return };
    let (resting, flags, wait) = (entity.think_at.is_some(), entity.spawnflags, target.wait);
    if resting || activator.is_some_and(|client| is_for_other_team(cx, flags, client)) {
        return;
    }
    let rest = if wait > 0.0 { random_wait(cx, number) } else { LAST_MS };
    // Before it fires: its targets can use it again.
    cx.entities.schedule(number, Some(cx.clients.now + rest), activator);
    fire(cx, sys, number, activator, links);
}

pub(super) fn use_relay(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    let Some(flags) = cx.entities.get(number).map(|entity| entity.spawnflags) else { return };
    if activator.is_some_and(|client| is_for_other_team(cx, flags, client)) {
        return;
    }
    if flags & RANDOM_TARGET == 0 {
        fire(cx, sys, number, activator, links);
    } else if let Some(target) = pick_target(cx, number)
        && links > 0
    {
        use_in(cx, sys, target, activator, links - 1);
    }
}

/// Stops a running timer, or starts it with an immediate firing.
pub(super) fn toggle_timer(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    if cx.entities.get(number).is_some_and(|entity| entity.think_at.is_some()) {
        cx.entities.schedule(number, None, activator);
    } else {
        fire_timer(cx, sys, number, activator, links);
    }
}

pub(crate) fn fire_timer(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    let rest = random_wait(cx, number);
    cx.entities.schedule(number, Some(cx.clients.now + rest), activator);
    fire(cx, sys, number, activator, links);
}

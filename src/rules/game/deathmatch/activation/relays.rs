//! Use and think of relays and timers.
//!
//! Source: the base game's triggers, timer and relay. Engine names: `multi_trigger`, `func_timer_think`,
//! `target_relay_use`.

use crate::game::deathmatch::targets::{is_for_other_team, pick_target, random_wait};
use crate::game::deathmatch::{
    activation::fire, activation::use_in, context::Context, systems::Systems,
};
use crate::model::{ClientNum, EntityNum};

/// Time between the firing and the removal of a trigger that fires once, in ms.
const LAST_MS: i32 = 100;
/// Spawn flag of a relay that fires one random target.
const RANDOM_TARGET: i32 = 4;

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

pub(super) fn fire_timer(
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

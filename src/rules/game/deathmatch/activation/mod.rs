//! Activation: entities that fire their targets, and the use of each kind of entity.
//!
//! Invariants: a chain of targets ends after [`MAX_CHAIN`] links, and a frame uses a limited number of entities,
//! even with circular targets. Source: the base game's triggers and targets. Engine names: `G_UseTargets`,
//! `Think_Target_Delay`.

pub(super) mod actions;
mod laser;
mod relays;

use self::relays::{fire_timer, toggle_timer, use_multiple, use_relay};
use self::{actions::apply_to_activator, laser::run_laser, laser::toggle_laser};
use super::{
    context::Context, entity_kinds::EntityKind, entity_kinds::TargetKind, items::respawn::use_item,
    movers::two_position::use_mover, systems::Systems, targets::actions::aim_push,
    targets::actions::print_target, targets::random_wait, targets::shooters::aim_shooter,
    targets::shooters::shoot, targets::speakers::play_speaker, triggers::toggle_hurt_trigger,
};
use crate::model::{ClientNum, EntityNum};

/// Maximum length of a chain of targets that fire targets.
const MAX_CHAIN: u8 = 16;

/// Uses all targets of an entity.
pub(super) fn fire_targets(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
) {
    fire(cx, sys, number, activator, MAX_CHAIN);
}

fn fire(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    sys.targets.remap_shader(cx, number);
    let Some(entity) = cx.entities.get(number) else { return };
    if entity.target.is_empty() || links == 0 {
        return;
    }
    let name = entity.target.clone();
    for target in cx.entities.numbers() {
        let aimed_at = cx
            .entities
            .get(target)
            .is_some_and(|entity| entity.targetname.eq_ignore_ascii_case(&name));
        if aimed_at && target != number {
            use_in(cx, sys, target, activator, links - 1);
        }
    }
}

/// Uses an entity.
pub(super) fn use_entity(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
) {
    use_in(cx, sys, number, activator, MAX_CHAIN);
}

fn use_in(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    activator: Option<ClientNum>,
    links: u8,
) {
    if !sys.targets.spend_use() {
        return;
    }
    let Some(entity) = cx.entities.get(number) else { return };
    match &entity.kind {
        EntityKind::Mover(_) => use_mover(cx, number, activator),
        EntityKind::Hurt(_) => toggle_hurt_trigger(cx, number),
        EntityKind::Item(_) => use_item(cx, number),
        EntityKind::Target(target) => {
            let kind = target.kind.clone();
            activate(cx, sys, number, &kind, activator, links);
        }
        _ => {}
    }
}

fn activate(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
    kind: &TargetKind,
    activator: Option<ClientNum>,
    links: u8,
) {
    match kind {
        TargetKind::Multiple => use_multiple(cx, sys, number, activator, links),
        TargetKind::Always => {}
        TargetKind::Timer => toggle_timer(cx, sys, number, activator, links),
        TargetKind::Relay => use_relay(cx, sys, number, activator, links),
        TargetKind::Delay => {
            let at = cx.clients.now + random_wait(cx, number);
            cx.entities.schedule(number, Some(at), activator);
        }
        TargetKind::Laser(laser) => toggle_laser(cx, &mut sys.fight, number, *laser, activator),
        TargetKind::Shooter(shooter) => shoot(cx, number, *shooter),
        TargetKind::Speaker(sound) => play_speaker(cx, number, *sound, activator),
        TargetKind::Print(text) => print_target(cx, number, text, activator),
        TargetKind::Teleport
        | TargetKind::Kill
        | TargetKind::Push(_)
        | TargetKind::Give
        | TargetKind::Strip
        | TargetKind::Score(_) => {
            if let Some(client) = activator {
                apply_to_activator(cx, &mut sys.fight, number, kind, client);
            }
        }
    }
}

/// Runs the think of a target: timer, delay, end of a wait, laser.
pub(super) fn run_target(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, target)) = cx.entities.target(number) else { return };
    if entity.think_at.is_none_or(|at| at.distance(now) > 0) {
        return;
    }
    let (wait, activator) = (target.wait, target.activator);
    let kind = target.kind.clone();
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.think_at = None;
    }
    match kind {
        TargetKind::Always => {
            fire_targets(cx, sys, number, None);
            cx.entities.remove(cx.host, number, now);
        }
        TargetKind::Delay => fire_targets(cx, sys, number, activator),
        TargetKind::Timer => fire_timer(cx, sys, number, activator, MAX_CHAIN),
        // Without a wait it is removed.
        TargetKind::Multiple if wait <= 0.0 => cx.entities.remove(cx.host, number, now),
        TargetKind::Laser(laser) => run_laser(cx, &mut sys.fight, number, laser, activator),
        TargetKind::Push(_) => aim_push(cx, number),
        TargetKind::Shooter(shooter) => aim_shooter(cx, number, shooter),
        _ => {}
    }
}

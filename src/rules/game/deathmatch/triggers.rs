//! Triggers: jump pads, teleporters, hurt triggers.
//!
//! Source: the base game's triggers. Engine names: `SP_trigger_push`, `AimAtTarget`.

use super::targets::{Targets, pick_target, set_brush_model};
use super::{
    asset_index::PAD_SOUND, asset_index::sound_index, context::Context, entity_kinds::EntityKind,
    entity_kinds::Hurt,
};
use crate::bg::{EntityType, contents};
use crate::game::movement::impulses;
use crate::model::{EntityNum, LevelTime, SvFlags, Vec3};
use crate::world::entity_string::MapEntity;

/// Delay between the level start and the aiming of push triggers, in ms.
const AIM_MS: i32 = 100;
/// Spawn flag of a teleporter for spectators only.
const SPECTATORS_ONLY: i32 = 1;
/// Spawn flags of a hurt trigger.
const HURT_STARTS_OFF: i32 = 1;

/// `trigger_push`.
pub(super) fn push_trigger(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    sound_index(cx.host, PAD_SOUND);
    let due = cx.clients.now + AIM_MS;
    let number =
        targets.add_trigger(cx, map_entity, EntityKind::PushTrigger, Some(EntityType::PushTrigger));
    if let Some(pad) = number.and_then(|number| cx.entities.get_mut(number)) {
        pad.think_at = Some(due);
    }
}

/// `trigger_teleport`.
pub(super) fn teleporter(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    sound_index(cx.host, PAD_SOUND);
    let spectators_only = map_entity.int("spawnflags").unwrap_or(0) & SPECTATORS_ONLY != 0;
    let shown = (!spectators_only).then_some(EntityType::TeleportTrigger);
    targets.add_trigger(cx, map_entity, EntityKind::Teleporter { spectators_only }, shown);
}

/// `trigger_hurt`.
pub(super) fn hurt_trigger(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let flags = map_entity.int("spawnflags").unwrap_or(0);
    let kind = EntityKind::Hurt(Hurt {
        points: map_entity.int("dmg").filter(|&points| points != 0).unwrap_or(5),
        sound: sound_index(cx.host, "sound/world/electro.wav"),
        next: cx.clients.now,
    });
    let number = targets.add_trigger(cx, map_entity, kind, None);
    if let Some(number) = number.filter(|_| flags & HURT_STARTS_OFF != 0) {
        cx.entities.unlink(cx.host, number);
    }
}

impl Targets {
    /// Adds a trigger with a brush model. It is sent to clients only with a `shown` type.
    pub(super) fn add_trigger(
        &mut self,
        cx: &mut Context<'_>,
        map_entity: &MapEntity,
        kind: EntityKind,
        shown: Option<EntityType>,
    ) -> Option<EntityNum> {
        let number = self.add(cx, map_entity, kind)?;
        if !set_brush_model(cx, map_entity, number, contents::TRIGGER) {
            cx.entities.remove(cx.host, number, cx.clients.now);
            return None;
        }
        let entity = cx.entities.get_mut(number)?;
        entity.state.angles = Vec3::ZERO;
        match shown {
            Some(kind) => entity.state.e_type = kind as i32,
            None => entity.shared.sv_flags = SvFlags::NO_CLIENT,
        }
        cx.entities.link(cx.host, number);
        Some(number)
    }
}

/// Turns a hurt trigger on or off.
pub(super) fn toggle_hurt_trigger(cx: &mut Context<'_>, number: EntityNum) {
    if cx.entities.get(number).is_some_and(|hurt| hurt.shared.is_linked()) {
        cx.entities.unlink(cx.host, number);
    } else {
        cx.entities.link(cx.host, number);
    }
}

/// Computes the velocity of a push trigger once its target exists.
///
/// A push trigger without a reachable target is removed.
pub(super) fn aim_push_trigger(cx: &mut Context<'_>, number: EntityNum) {
    let now = cx.clients.now;
    let due = |at: LevelTime| at.distance(now) <= 0;
    if !cx.entities.get(number).is_some_and(|pad| pad.think_at.is_some_and(due)) {
        return;
    }
    let target = pick_target(cx, number).and_then(|target| cx.entities.get(target));
    let target = target.map(|target| target.state.origin);
    let (gravity, length) = (cx.clients.settings.gravity as f32, cx.frame.movement.variant.length);
    let Some(pad) = cx.entities.get_mut(number) else { return };
    pad.think_at = None;
    let center = (pad.shared.absmin + pad.shared.absmax) * 0.5;
    match target.and_then(|target| impulses::pad_velocity(center, target, gravity, length)) {
        Some(velocity) => pad.state.origin2 = velocity,
        None => cx.entities.remove(cx.host, number, now),
    }
}

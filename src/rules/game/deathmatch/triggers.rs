//! Touch triggers: jump pads, teleporters, hurt triggers.
//!
//! Source: the base game's triggers. Engine names: `G_TouchTriggers`.

use super::entity_kinds::{EntityKind, Hurt, TargetKind};
use super::targets::{Targets, pick_target, use_entity};
use super::{
    asset_index::PAD_SOUND, asset_index::sound_index, combat::damage::damage_player,
    context::Context, hit::Hit, items::touch::stands_on_item, items::touch::touch_item,
    level_init::set_brush_model, movers::bump_mover, movers::doors::touch_door_trigger,
    movers::plats::touch_plat_trigger, systems::Systems, targets::actions::teleport_to_target,
};
use crate::bg::{EntityType, Event, MeansOfDeath, contents};
use crate::game::movement::impulses;
use crate::model::{ClientNum, EntityNum, LevelTime, SvFlags, Vec3, limits::MAX_ENTITIES};
use crate::world::{entity_string::MapEntity, links::MAX_NEARBY};

/// Half size of the box around a player in which triggers are searched.
const REACH: Vec3 = Vec3::new(40.0, 40.0, 52.0);
/// Delay between the level start and the aiming of push triggers, in ms.
const AIM_MS: i32 = 100;
/// Spawn flag of a teleporter for spectators only.
const SPECTATORS_ONLY: i32 = 1;
/// Spawn flags of a hurt trigger.
const HURT_STARTS_OFF: i32 = 1;
const HURT_SILENT: i32 = 4;
/// Ignores all protection.
const HURT_UNSTOPPABLE: i32 = 8;
/// Hurts once a second.
const HURT_SLOW: i32 = 16;
/// Interval of a hurt trigger, fast and slow, in ms.
const HURT_MS: (i32, i32) = (100, 1000);

/// `trigger_push`.
pub(super) fn push_trigger(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    sound_index(cx.host, PAD_SOUND);
    let due = cx.clients.now + AIM_MS;
    let number = sys.targets.add_trigger(
        cx,
        map_entity,
        EntityKind::PushTrigger,
        Some(EntityType::PushTrigger),
    );
    if let Some(pad) = number.and_then(|number| cx.entities.get_mut(number)) {
        pad.think_at = Some(due);
    }
}

/// `trigger_teleport`.
pub(super) fn teleporter(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    sound_index(cx.host, PAD_SOUND);
    let spectators_only = map_entity.int("spawnflags").unwrap_or(0) & SPECTATORS_ONLY != 0;
    let shown = (!spectators_only).then_some(EntityType::TeleportTrigger);
    sys.targets.add_trigger(cx, map_entity, EntityKind::Teleporter { spectators_only }, shown);
}

/// `trigger_hurt`.
pub(super) fn hurt_trigger(cx: &mut Context<'_>, sys: &mut Systems, map_entity: &MapEntity) {
    let flags = map_entity.int("spawnflags").unwrap_or(0);
    let kind = EntityKind::Hurt(Hurt {
        points: map_entity.int("dmg").filter(|&points| points != 0).unwrap_or(5),
        sound: sound_index(cx.host, "sound/world/electro.wav"),
        next: cx.clients.now,
    });
    let number = sys.targets.add_trigger(cx, map_entity, kind, None);
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

/// Touches all triggers that a client's bounds overlap.
pub(super) fn touch_triggers(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum) {
    let plays = cx.clients.role(client).plays();
    if plays && cx.is_dead(client) {
        return;
    }
    let Some(player) = cx.clients.player(client) else { return };
    let origin = player.state.origin;
    let bounds = [origin + player.shared.mins, origin + player.shared.maxs];
    let Some(world) = cx.host.world() else { return leave_jump_pad(cx, client) };
    let (mins, maxs) = (origin - REACH, origin + REACH);
    let mut near = [EntityNum::NONE; MAX_NEARBY];
    if let Some(count) = world.nearby_bodies(sys.moves.of(client), mins, maxs, &mut near) {
        touch_each(cx, sys, client, bounds, &near[..count]);
    } else {
        let mut found = [EntityNum::NONE; MAX_ENTITIES];
        let count = world.bodies_in_box(mins, maxs, &mut found);
        touch_each(cx, sys, client, bounds, &found[..count]);
    }
    leave_jump_pad(cx, client);
}

fn leave_jump_pad(cx: &mut Context<'_>, client: ClientNum) {
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        impulses::leave_jump_pad(&mut player.state);
    }
}

/// Touches those of some entities that are triggers and overlap a client's bounds.
fn touch_each(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
    [mins, maxs]: [Vec3; 2],
    found: &[EntityNum],
) {
    let plays = cx.clients.role(client).plays();
    for &number in found {
        let Some(entity) = cx.entities.get(number) else { continue };
        if entity.shared.contents & contents::TRIGGER == 0 {
            continue;
        }
        let for_all =
            matches!(entity.kind, EntityKind::Teleporter { .. } | EntityKind::DoorTrigger { .. });
        if !plays && !for_all {
            continue;
        }
        let touched = if matches!(entity.kind, EntityKind::Item(_)) {
            stands_on_item(cx, client, number)
        } else {
            cx.host
                .world()
                .is_some_and(|world| world.scene(&*cx, client.into()).touches(mins, maxs, number))
        };
        if touched {
            touch(cx, sys, client, number);
        }
    }
}

fn touch(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum, number: EntityNum) {
    let plays = cx.clients.role(client).plays();
    let Some(entity) = cx.entities.get(number) else { return };
    match entity.kind {
        EntityKind::PushTrigger => {
            let velocity = entity.state.origin2;
            if let Some(player) = cx.clients.players[client.index()].as_mut() {
                impulses::touch_jump_pad(&mut player.state, number.index() as i32, velocity);
            }
        }
        EntityKind::Teleporter { spectators_only }
            if !(spectators_only && plays || cx.is_dead(client)) =>
        {
            teleport_to_target(cx, sys, client, number);
        }
        EntityKind::Hurt(_) => touch_hurt_trigger(cx, sys, client, number),
        EntityKind::Target(ref target) if matches!(target.kind, TargetKind::Multiple) => {
            use_entity(cx, sys, number, Some(client));
        }
        EntityKind::DoorTrigger { .. } => touch_door_trigger(cx, number, client),
        EntityKind::PlatTrigger(plat) => touch_plat_trigger(cx, plat, client),
        EntityKind::Item(_) => touch_item(cx, sys, client, number),
        _ => {}
    }
}

/// Touches an entity that stopped a player's move.
pub(super) fn bump(cx: &mut Context<'_>, client: ClientNum, number: EntityNum) {
    bump_mover(cx, number, client);
}

fn touch_hurt_trigger(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
    number: EntityNum,
) {
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get_mut(number) else { return };
    let (flags, (fast, slow)) = (entity.spawnflags, HURT_MS);
    let EntityKind::Hurt(hurt) = &mut entity.kind else { return };
    if hurt.next.distance(now) > 0 {
        return;
    }
    hurt.next = now + if flags & HURT_SLOW != 0 { slow } else { fast };
    let hurt = *hurt;
    if flags & HURT_SILENT == 0
        && let Some(player) = cx.clients.player(client)
    {
        let at = player.shared.current_origin;
        cx.temp_entity(at, Event::GeneralSound, |state, _| state.event_parm = hurt.sound);
    }
    let hit = Hit {
        inflictor: Some(number),
        no_protection: flags & HURT_UNSTOPPABLE != 0,
        ..Hit::by_world(hurt.points, MeansOfDeath::TriggerHurt)
    };
    damage_player(cx, sys, client, &hit);
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

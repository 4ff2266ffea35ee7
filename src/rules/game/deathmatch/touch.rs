//! Touch of triggers: jump pads, teleporters, hurt triggers, doors, items.
//!
//! Source: the base game's triggers. Engine names: `G_TouchTriggers`.

use super::entity_kinds::{EntityKind, ItemThink, TargetKind};
use super::pickups::{TouchResult, announce, is_of_use, pick_up};
use super::{
    activation::actions::teleport_to_target, activation::fire_targets, activation::use_entity,
    context::Context, damage::damage_player, hit::Hit, items::remove_item,
    items::respawn::hide_item, items::schedule, movers::doors::touch_door_trigger,
    movers::plats::touch_plat_trigger, projectiles::portals::way_through, systems::Fight,
    systems::Systems, teleport::teleport,
};
use crate::bg::{Event, MeansOfDeath, contents};
use crate::game::movement::{impulses, pickup as rules, trajectory};
use crate::model::{ClientNum, EntityNum, Vec3, limits::MAX_ENTITIES};
use crate::world::links::MAX_NEARBY;

/// Half size of the box around a player in which triggers are searched.
const REACH: Vec3 = Vec3::new(40.0, 40.0, 52.0);
const HURT_SILENT: i32 = 4;
/// Ignores all protection.
const HURT_UNSTOPPABLE: i32 = 8;
/// Hurts once a second.
const HURT_SLOW: i32 = 16;
/// Interval of a hurt trigger, fast and slow, in ms.
const HURT_MS: (i32, i32) = (100, 1000);

/// Maximum respawn time, in seconds.
const MAX_RESPAWN_S: f32 = 172_800.0;

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
            teleport_to_target(cx, &mut sys.fight, client, number);
        }
        EntityKind::Portal(_) if !cx.is_dead(client) => {
            let Some(exit) = way_through(cx, number) else { return };
            let fight = &mut sys.fight;
            fight.items.drop_flags(cx, client);
            if let Some((origin, angles)) = exit.place {
                teleport(cx, fight, client, origin, angles);
            }
            if exit.is_lethal {
                let hit = Hit { inflictor: Some(client.into()), ..Hit::telefrag(client) };
                damage_player(cx, fight, client, &hit);
            }
        }
        EntityKind::Hurt(_) => touch_hurt_trigger(cx, &mut sys.fight, client, number),
        EntityKind::Target(ref target) if matches!(target.kind, TargetKind::Multiple) => {
            use_entity(cx, sys, number, Some(client));
        }
        EntityKind::DoorTrigger { .. } => touch_door_trigger(cx, number, client),
        EntityKind::PlatTrigger(plat) => touch_plat_trigger(cx, plat, client),
        EntityKind::Item(_) => touch_item(cx, sys, client, number),
        _ => {}
    }
}

fn touch_hurt_trigger(
    cx: &mut Context<'_>,
    fight: &mut Fight,
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
    damage_player(cx, fight, client, &hit);
}

/// Whether a player's position touches an item.
fn stands_on_item(cx: &Context<'_>, client: ClientNum, number: EntityNum) -> bool {
    let (Some(entity), Some(player)) = (cx.entities.get(number), cx.clients.player(client)) else {
        return false;
    };
    let at = trajectory::position(&entity.state.pos, cx.clients.now);
    rules::is_in_reach(at, player.state.origin)
}

/// Handles the touch of an item by a player.
pub(super) fn touch_item(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    client: ClientNum,
    number: EntityNum,
) {
    let Some((entity, pickup)) = cx.entities.pickup(number) else { return };
    let is_there = entity.shared.contents & contents::TRIGGER != 0;
    if !is_there || !is_of_use(cx, client, &entity.state) {
        return;
    }
    let (state, at, pickup) = (entity.state, entity.state.pos.base, pickup.clone());
    let TouchResult::Taken(respawn_s) =
        pick_up(cx, &mut sys.fight, client, &pickup, &state, Some(number))
    else {
        return;
    };
    announce(cx, client, &pickup, at);
    fire_targets(cx, sys, number, Some(client));
    if pickup.is_dropped {
        remove_item(cx, number);
        return;
    }
    hide_item(cx, number);
    if pickup.wait < 0.0 {
        cx.entities.unlink(cx.host, number);
        return;
    }
    let respawn_s = if pickup.wait > 0.0 { Some(pickup.wait) } else { respawn_s };
    if let Some(seconds) = respawn_s {
        // Whole seconds, cut before and after the random part.
        let varied = seconds.trunc() + cx.rng.crandom() * pickup.random;
        let seconds = if pickup.random > 0.0 { varied.max(1.0) } else { seconds };
        let ms = seconds.clamp(0.0, MAX_RESPAWN_S) as i32 * 1000;
        schedule(cx, number, ItemThink::Respawn, ms);
    }
}

//! Portal surfaces and mirrors, and their cameras.
//!
//! Source: the base game's portal surfaces and cameras. Engine names: `SP_misc_portal_surface`,
//! `locateCamera`.

use crate::bg::EntityType;
use crate::game::deathmatch::{
    context::Context, entity_kinds::EntityKind, targets::Targets, targets::direction_of,
    targets::pick_target,
};
use crate::game::{direction_bytes::dir_to_byte, movement::velocity::direction};
use crate::model::{EntityNum, SvFlags};
use crate::world::entity_string::MapEntity;

/// Spawn flags of a camera: slow rotation, fast rotation, no swing.
const SLOW: i32 = 1;
const FAST: i32 = 2;
const STEADY: i32 = 4;

/// `misc_portal_surface`.
pub(crate) fn portal(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let Some(number) = targets.add(cx, map_entity, EntityKind::Static) else { return };
    let Some(entity) = cx.entities.get_mut(number) else { return };
    entity.state.e_type = EntityType::Portal as i32;
    entity.shared.sv_flags = SvFlags::PORTAL;
    if entity.target.is_empty() {
        entity.state.origin2 = entity.state.origin;
    }
    cx.entities.link(cx.host, number);
}

/// `misc_portal_camera`.
pub(crate) fn camera(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let Some(number) = targets.add(cx, map_entity, EntityKind::Static) else { return };
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.shared.sv_flags = SvFlags::NO_CLIENT;
        let roll = map_entity.float("roll").unwrap_or(0.0);
        entity.state.client_num = ((roll / 360.0 * 256.0) as i32) & 0xff;
    }
    cx.entities.link(cx.host, number);
}

/// Connects portal surfaces to their cameras, once all entities exist.
///
/// A surface without a target is a mirror. A surface without a camera is removed.
pub(crate) fn aim_portals(cx: &mut Context<'_>) {
    for number in cx.entities.numbers() {
        let wants_camera = cx.entities.get(number).is_some_and(|entity| {
            entity.state.e_type == EntityType::Portal && !entity.target.is_empty()
        });
        if !wants_camera {
            continue;
        }
        if let Some(camera) = pick_target(cx, number) {
            connect_camera(cx, number, camera);
        } else {
            cx.host.print("misc_portal_surface removed: camera not found");
            cx.entities.remove(cx.host, number, cx.clients.now);
        }
    }
}

fn connect_camera(cx: &mut Context<'_>, portal: EntityNum, camera: EntityNum) {
    let Some(seen) = cx.entities.get(camera) else { return };
    let (at, angles) = (seen.state.origin, seen.state.angles);
    let (flags, roll) = (seen.spawnflags, seen.state.client_num);
    let looks_at = pick_target(cx, camera).and_then(|target| cx.entities.get(target));
    let along =
        looks_at.map_or_else(|| direction_of(angles), |target| direction(target.state.origin - at));
    let Some(entity) = cx.entities.get_mut(portal) else { return };
    entity.shared.owner_num = camera.index() as i32;
    entity.state.origin2 = at;
    entity.state.frame = match flags {
        flags if flags & SLOW != 0 => 25,
        flags if flags & FAST != 0 => 75,
        _ => 0,
    };
    entity.state.powerups = i32::from(flags & STEADY == 0);
    entity.state.client_num = roll;
    entity.state.event_parm = dir_to_byte(along);
}

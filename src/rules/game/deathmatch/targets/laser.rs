//! Spawn function of lasers. Their beams are in `activation`.
//!
//! Source: the base game's laser. Engine names: `SP_target_laser`.

use crate::bg::EntityType;
use crate::game::deathmatch::{
    context::Context, entity_kinds::Laser, entity_kinds::TargetKind, targets::Targets,
    targets::direction_of,
};
use crate::world::entity_string::MapEntity;

/// Interval of damage, and delay of the first think, in ms.
pub(crate) const LASER_INTERVAL_MS: i32 = 100;

/// `target_laser`.
pub(crate) fn laser(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let laser = Laser {
        damage: map_entity.int("dmg").filter(|&damage| damage != 0).unwrap_or(1),
        direction: direction_of(map_entity.angles()),
        aim: None,
        ready: false,
    };
    let due = cx.clients.now + LASER_INTERVAL_MS;
    let number = targets.add_target(cx, map_entity, TargetKind::Laser(laser));
    if let Some(entity) = number.and_then(|number| cx.entities.get_mut(number)) {
        entity.state.e_type = EntityType::Beam as i32;
        entity.think_at = Some(due);
    }
}

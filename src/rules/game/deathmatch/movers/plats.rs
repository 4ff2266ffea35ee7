//! Plats: lifts that rise for a player and wait at the top.
//!
//! Source: the base game's plats. Engine names: `SP_func_plat`, `Touch_PlatCenterTrigger`.

use crate::game::deathmatch::entity_kinds::{EntityKind, Mover, MoverKind, MoverState};
use crate::game::deathmatch::movers::two_position::{rest_at, return_after, use_mover};
use crate::game::deathmatch::{
    asset_index::sound_index, context::Context, movers::add_trigger_box, movers::number,
    targets::Targets,
};
use crate::model::{ClientNum, EntityNum, Vec3};
use crate::world::entity_string::MapEntity;

/// Spawn flag of a plat that does not reverse when blocked.
const CRUSHER: i32 = 4;
/// Distance of the trigger box from the sides of the plat, in units.
const INSET: f32 = 33.0;
/// Height of the trigger box above the plat, in units.
const RISE: f32 = 8.0;
/// Wait at the top, in ms; a player on the plat restarts it.
const WAIT_MS: i32 = 1000;

/// `func_plat`.
pub(crate) fn plat(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let mut mover = Mover::new(MoverKind::Plat, map_entity);
    mover.start_sound = sound_index(cx.host, "sound/movers/plats/pt1_strt.wav");
    mover.return_sound = mover.start_sound;
    mover.arrival_sound = sound_index(cx.host, "sound/movers/plats/pt1_end.wav");
    mover.crusher = map_entity.int("spawnflags").unwrap_or(0) & CRUSHER != 0;
    mover.wait_ms = WAIT_MS;
    let Some(mover_num) = targets.add_mover(cx, map_entity, mover) else { return };
    let lip = number(map_entity, "lip", 8.0);
    let speed = number(map_entity, "speed", 200.0);
    cx.entities.with_mover(mover_num, |entity, mover| {
        let tall = entity.shared.maxs[2] - entity.shared.mins[2];
        let top = map_entity.origin();
        let mut bottom = top;
        bottom[2] -= number(map_entity, "height", tall - lip);
        entity.state.angles = Vec3::ZERO;
        mover.set_positions([bottom, top], speed);
    });
    rest_at(cx, mover_num, 0);
    if cx.entities.get(mover_num).is_some_and(|entity| entity.targetname.is_empty()) {
        add_plat_trigger(cx, mover_num);
    }
}

fn add_plat_trigger(cx: &mut Context<'_>, plat: EntityNum) {
    let Some((entity, mover)) = cx.entities.mover(plat) else { return };
    let bottom = mover.positions[0];
    let (mut mins, mut maxs) = (bottom + entity.shared.mins, bottom + entity.shared.maxs);
    for axis in 0..2 {
        mins[axis] += INSET;
        maxs[axis] -= INSET;
        if maxs[axis] <= mins[axis] {
            let middle = (mins[axis] + maxs[axis]) * 0.5;
            (mins[axis], maxs[axis]) = (middle, middle + 1.0);
        }
    }
    maxs[2] += RISE;
    add_trigger_box(cx, EntityKind::PlatTrigger(plat), [mins, maxs]);
}

/// Raises a lowered plat for a player in its trigger box.
pub(crate) fn touch_plat_trigger(cx: &mut Context<'_>, plat: EntityNum, client: ClientNum) {
    if cx.entities.mover(plat).is_some_and(|(_, mover)| mover.state == MoverState::At(0)) {
        use_mover(cx, plat, Some(client));
    }
}

/// Restarts the wait of a raised plat.
pub(super) fn delay_plat(cx: &mut Context<'_>, plat: EntityNum) {
    return_after(cx, plat, WAIT_MS);
}

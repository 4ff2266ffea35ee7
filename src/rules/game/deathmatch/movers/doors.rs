//! Doors and buttons: movers that slide by their own size.
//!
//! Source: the base game's doors and buttons. Engine names: `SP_func_door`, `Think_SpawnNewDoorTrigger`,
//! `Touch_DoorTrigger`.

use crate::bg::entity_flag;
use crate::game::deathmatch::entity_kinds::{EntityKind, Mover, MoverKind, MoverState};
use crate::game::deathmatch::movers::{add_trigger_box, number, number_or};
use crate::game::deathmatch::{
    asset_index::sound_index, context::Context, movers::two_position::rest_at,
    movers::two_position::use_mover, targets::Targets, targets::direction_of,
};
use crate::model::{ClientNum, EntityNum, Vec3};
use crate::world::entity_string::MapEntity;

/// Spawn flag of a door that starts in its open position.
const STARTS_OPEN: i32 = 1;
/// Spawn flag of a door that does not reverse when blocked.
const CRUSHER: i32 = 4;
/// Reach of the trigger box on each side of a door, in units.
const REACH: f32 = 120.0;
/// Margin at both ends of the trigger box in which spectators are not moved, in units.
const PASSAGE: f32 = 100.0;
/// Depth in the far margin at which a spectator appears, in units.
const BEYOND: f32 = 10.0;

/// `func_door`.
pub(crate) fn door(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let flags = map_entity.int("spawnflags").unwrap_or(0);
    let mut mover = Mover::new(MoverKind::Door, map_entity);
    mover.start_sound = sound_index(cx.host, "sound/movers/doors/dr1_strt.wav");
    mover.return_sound = mover.start_sound;
    mover.arrival_sound = sound_index(cx.host, "sound/movers/doors/dr1_end.wav");
    mover.crusher = flags & CRUSHER != 0;
    mover.shootable = mover.damage_only;
    mover.wait_ms = (number_or(map_entity, "wait", 2.0) * 1000.0) as i32;
    let speed = number_or(map_entity, "speed", 400.0);
    targets.add_slider(cx, map_entity, mover, speed, 8.0, flags & STARTS_OPEN != 0);
}

/// `func_button`.
pub(crate) fn button(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let mut mover = Mover::new(MoverKind::Button, map_entity);
    mover.start_sound = sound_index(cx.host, "sound/movers/switches/butn2.wav");
    mover.shootable = mover.damage_only;
    mover.wait_ms = (number_or(map_entity, "wait", 1.0) * 1000.0) as i32;
    let speed = number_or(map_entity, "speed", 40.0);
    targets.add_slider(cx, map_entity, mover, speed, 4.0, false);
}

impl Targets {
    fn add_slider(
        &mut self,
        cx: &mut Context<'_>,
        map_entity: &MapEntity,
        mover: Mover,
        speed: f32,
        lip: f32,
        starts_open: bool,
    ) {
        let Some(mover_num) = self.add_mover(cx, map_entity, mover) else { return };
        let direction = direction_of(map_entity.angles());
        let lip = number(map_entity, "lip", lip);
        cx.entities.with_mover(mover_num, |entity, mover| {
            let size = entity.shared.maxs - entity.shared.mins;
            let along = Vec3(direction.0.map(f32::abs)).dot(size) - lip;
            let mut positions =
                [map_entity.origin(), map_entity.origin().add_scaled(direction, along)];
            if starts_open {
                positions.swap(0, 1);
            }
            entity.state.angles = Vec3::ZERO;
            mover.set_positions(positions, speed);
        });
        rest_at(cx, mover_num, 0);
    }
}

/// Adds the trigger box of a door that no other entity opens.
///
/// Such a door opens to damage as well.
pub(super) fn add_door_trigger(cx: &mut Context<'_>, door: EntityNum) {
    let Some((entity, mover)) = cx.entities.mover(door) else { return };
    let opens_itself =
        mover.kind == MoverKind::Door && !mover.damage_only && mover.team_master == door;
    if !opens_itself || !entity.targetname.is_empty() {
        return;
    }
    let (mut mins, mut maxs) = (entity.shared.absmin, entity.shared.absmax);
    for &member in &*cx.entities.team_of(door) {
        cx.entities.with_mover(member, |member, mover| {
            mover.shootable = true;
            for axis in 0..3 {
                mins[axis] = mins[axis].min(member.shared.absmin[axis]);
                maxs[axis] = maxs[axis].max(member.shared.absmax[axis]);
            }
        });
    }
    let mut axis = 0;
    for other in 1..3 {
        if maxs[other] - mins[other] < maxs[axis] - mins[axis] {
            axis = other;
        }
    }
    mins[axis] -= REACH;
    maxs[axis] += REACH;
    add_trigger_box(cx, EntityKind::DoorTrigger { door, axis }, [mins, maxs]);
}

/// Opens a door, or keeps it open, for a player in its trigger box.
///
/// A spectator is moved to the other side.
pub(crate) fn touch_door_trigger(cx: &mut Context<'_>, helper: EntityNum, client: ClientNum) {
    let Some(entity) = cx.entities.get(helper) else { return };
    let EntityKind::DoorTrigger { door, axis } = entity.kind else { return };
    let Some((_, mover)) = cx.entities.mover(door) else { return };
    let state = mover.state;
    if cx.clients.role(client).plays() {
        if state != MoverState::To(1) {
            use_mover(cx, door, Some(client));
        }
    } else if matches!(state, MoverState::At(0) | MoverState::To(0)) {
        let (low, high) = (entity.shared.absmin[axis], entity.shared.absmax[axis]);
        move_spectator_through_door(cx, client, axis, low + PASSAGE, high - PASSAGE);
    }
}

fn move_spectator_through_door(
    cx: &mut Context<'_>,
    client: ClientNum,
    axis: usize,
    low: f32,
    high: f32,
) {
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    let at = player.state.origin[axis];
    if at < low || at > high {
        return;
    }
    let from_high = (at - high).abs() < (at - low).abs();
    player.state.origin[axis] = if from_high { low - BEYOND } else { high + BEYOND };
    player.state.origin[2] += 1.0;
    player.state.e_flags ^= entity_flag::TELEPORT;
    player.shared.current_origin = player.state.origin;
}

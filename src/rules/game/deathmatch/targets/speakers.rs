//! Speakers: sounds that loop, repeat or play when used.
//!
//! Source: the base game's speakers. Engine names: `SP_target_speaker`, `Use_Target_Speaker`.

use crate::bg::{EntityType, Event};
use crate::game::deathmatch::{
    asset_index::sound_index, context::Context, entity_kinds::TargetKind, targets::Targets,
};
use crate::model::{ClientNum, EntityNum, SvFlags};
use crate::world::entity_string::MapEntity;

/// Spawn flag of a speaker that loops from the start.
const LOOPS: i32 = 1;
/// Spawn flag of a speaker that loops once used.
const LOOPS_LATER: i32 = 2;
/// Spawn flag of a speaker that is heard everywhere.
const GLOBAL: i32 = 4;
/// Spawn flag of a speaker whose sound comes from the activator.
const ACTIVATOR: i32 = 8;

/// `target_speaker`.
pub(crate) fn speaker(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let Some(noise) = map_entity.spawn_value("noise").filter(|noise| !noise.is_empty()) else {
        cx.host.print(&format!("line {}: a target_speaker without a noise", map_entity.line()));
        return;
    };
    let name = if noise.contains(".wav") { noise.to_owned() } else { format!("{noise}.wav") };
    let number = sound_index(cx.host, &name);
    let Some(entity_num) = targets.add_target(cx, map_entity, TargetKind::Speaker(number)) else {
        return;
    };
    let Some(entity) = cx.entities.get_mut(entity_num) else { return };
    if noise.starts_with('*') {
        // Sounds of player models play on the activator.
        entity.spawnflags |= ACTIVATOR;
    }
    let tenths = |key| (map_entity.float(key).unwrap_or(0.0) * 10.0) as i32;
    entity.state.e_type = EntityType::Speaker as i32;
    entity.state.event_parm = number;
    entity.state.frame = tenths("wait");
    entity.state.client_num = tenths("random");
    if entity.spawnflags & LOOPS != 0 {
        entity.state.loop_sound = number;
    }
    if entity.spawnflags & GLOBAL != 0 {
        entity.shared.sv_flags = SvFlags::BROADCAST;
    }
    cx.entities.link(cx.host, entity_num);
}

pub(crate) fn play_speaker(
    cx: &mut Context<'_>,
    number: EntityNum,
    sound: i32,
    activator: Option<ClientNum>,
) {
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get_mut(number) else { return };
    let flags = entity.spawnflags;
    if flags & (LOOPS | LOOPS_LATER) != 0 {
        entity.state.loop_sound = if entity.state.loop_sound == 0 { sound } else { 0 };
    } else if let Some(client) = activator.filter(|_| flags & ACTIVATOR != 0) {
        cx.add_player_event(client, Event::GeneralSound, sound);
    } else if flags & GLOBAL != 0 {
        entity.add_event(Event::GlobalSound, sound, now);
    } else {
        entity.add_event(Event::GeneralSound, sound, now);
    }
}

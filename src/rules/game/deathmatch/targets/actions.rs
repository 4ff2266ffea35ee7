//! Spawn functions of targets that act on their activator.
//!
//! The text of a print, and the direction and throw of a push, are computed here.
//! Source: the base game's targets. Engine names: `SP_target_print`, `SP_target_push`, `Use_Target_Print`,
//! `AimAtTarget`.

use crate::bg::{Event, Persistent, PmType, Powerup, Team};
use crate::game::deathmatch::targets::{
    BLUE_ONLY, RED_ONLY, Targets, center, direction_of, pick_target,
};
use crate::game::deathmatch::{
    asset_index::PAD_SOUND, asset_index::sound_index, combat::Combat, context::Context,
    entity_kinds::TargetKind,
};
use crate::game::{movement::impulses::pad_velocity, userinfo::clean_text};
use crate::model::{ClientNum, EntityNum};
use crate::world::entity_string::MapEntity;
use std::sync::Arc;

/// Spawn flag of a print for the activator only.
const PRIVATE: i32 = 4;
/// Spawn flag of a push with the sound of a jump pad.
const JUMP_PAD_SOUND: i32 = 1;
/// Maximum length of a center print, in bytes.
const MAX_TEXT: usize = 1000;
/// Default sound of a push.
const WIND_SOUND: &str = "sound/misc/windfly.wav";
/// Delay between the level start and the aiming of a push, in ms.
const AIM_MS: i32 = 100;
/// Minimum time between two push sounds of a player, in ms.
const PUSH_SOUND_MS: i32 = 1500;
/// Maximum change of a score, in either direction.
const MAX_POINTS: i32 = 32_767;

/// `target_print`.
pub(crate) fn print(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let text = map_entity.text_field("message").unwrap_or_default();
    let lines: Vec<String> = text.split('\n').map(|line| clean_text(line, MAX_TEXT)).collect();
    let mut text = lines.join("\n");
    text.truncate(MAX_TEXT);
    targets.add_target(cx, map_entity, TargetKind::Print(text.into()));
}

/// `target_teleporter`.
pub(crate) fn teleporter(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_target(cx, map_entity, TargetKind::Teleport);
}

/// `target_kill`.
pub(crate) fn kill(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_target(cx, map_entity, TargetKind::Kill);
}

/// `target_give`.
pub(crate) fn give(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_target(cx, map_entity, TargetKind::Give);
}

/// `target_remove_powerups`.
pub(crate) fn strip(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_target(cx, map_entity, TargetKind::Strip);
}

/// `target_score`.
pub(crate) fn score(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let points = map_entity.int("count").filter(|&points| points != 0).unwrap_or(1);
    targets.add_target(cx, map_entity, TargetKind::Score(points.clamp(-MAX_POINTS, MAX_POINTS)));
}

/// `target_push`.
pub(crate) fn push(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let like_a_pad = map_entity.int("spawnflags").unwrap_or(0) & JUMP_PAD_SOUND != 0;
    let noise = sound_index(cx.host, if like_a_pad { PAD_SOUND } else { WIND_SOUND });
    let speed = map_entity.float("speed").filter(|&speed| speed != 0.0).unwrap_or(1000.0);
    let due = cx.clients.now + AIM_MS;
    let Some(number) = targets.add_target(cx, map_entity, TargetKind::Push(noise)) else {
        return;
    };
    let Some(entity) = cx.entities.get_mut(number) else { return };
    entity.state.origin2 = direction_of(map_entity.angles()) * speed.clamp(-100_000.0, 100_000.0);
    entity.think_at = (!entity.target.is_empty()).then_some(due);
}

pub(crate) fn print_target(
    cx: &mut Context<'_>,
    number: EntityNum,
    text: &Arc<str>,
    activator: Option<ClientNum>,
) {
    let flags = cx.entities.get(number).map_or(0, |entity| entity.spawnflags);
    let command = format!("cp \"{text}\"");
    if let Some(client) = activator.filter(|_| flags & PRIVATE != 0) {
        cx.host.send_command(Some(client), &command);
        return;
    }
    if flags & (RED_ONLY | BLUE_ONLY) == 0 {
        cx.host.send_command(None, &command);
        return;
    }
    for (bit, team) in [(RED_ONLY, Team::Red), (BLUE_ONLY, Team::Blue)] {
        let members = ClientNum::all().filter(|&client| {
            flags & bit != 0
                && cx
                    .clients
                    .active(client)
                    .is_some_and(|player| player.state.persistant[Persistent::Team] == team as i32)
        });
        for client in members {
            cx.host.send_command(Some(client), &command);
        }
    }
}

/// Aims a push at its target, which becomes the apex of the flight.
///
/// A push without a reachable target is removed.
pub(crate) fn aim_push(cx: &mut Context<'_>, number: EntityNum) {
    let target = pick_target(cx, number).and_then(|target| cx.entities.get(target));
    let target = target.map(|target| target.state.origin);
    let (gravity, length) = (cx.clients.settings.gravity as f32, cx.frame.movement.variant.length);
    let Some(entity) = cx.entities.get_mut(number) else { return };
    let center = center(entity);
    match target.and_then(|target| pad_velocity(center, target, gravity, length)) {
        Some(velocity) => entity.state.origin2 = velocity,
        None => cx.entities.remove(cx.host, number, cx.clients.now),
    }
}
impl Combat {
    pub(crate) fn throw(
        &mut self,
        cx: &mut Context<'_>,
        number: EntityNum,
        sound: i32,
        client: ClientNum,
    ) {
        let now = cx.clients.now;
        let Some(velocity) = cx.entities.get(number).map(|entity| entity.state.origin2) else {
            return;
        };
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        if player.state.pm_type != PmType::Normal || player.state.powerups[Powerup::Flight] != 0 {
            return;
        }
        player.state.velocity = velocity;
        let at = player.shared.current_origin;
        let body = &mut self.players[client.index()];
        if now.distance(body.fly_sound_until) > 0 {
            body.fly_sound_until = now + PUSH_SOUND_MS;
            cx.temp_entity(at, Event::GeneralSound, |state, _| state.event_parm = sound);
        }
    }
}

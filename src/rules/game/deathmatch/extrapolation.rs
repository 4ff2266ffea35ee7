//! Extrapolation of players whose usercmds are late, so that others see them move on.
//!
//! Invariant: only the entity moves; the next usercmd starts at the player's own place. Source: OpenArena's.

use super::{
    context::Context, move_caches::MoveCaches, player_world::clip_mask, player_world::player_world,
};
use crate::game::movement::{Extrapolation, extrapolate};
use crate::model::{ClientNum, PlayerState};

/// Frames without usercmds for which a player is extrapolated.
const MAX_FRAMES: u32 = 2;

/// Extrapolates the entity of a player from whom no usercmd came in the last frames.
pub(super) fn extrapolate_missed_frames(
    cx: &mut Context<'_>,
    caches: &mut MoveCaches,
    client: ClientNum,
) {
    let Some(player) = cx.clients.player(client) else { return };
    let missed = player.missed_frames(cx.clients.frame).min(MAX_FRAMES);
    if missed == 0 {
        return;
    }
    let ms = cx.frame.ms * missed as i32;
    let extrapolation = Extrapolation {
        mins: player.shared.mins,
        maxs: player.shared.maxs,
        mask: clip_mask(player),
        seconds: ms as f32 / 1000.0,
    };
    let entity = player.entity;
    let origin = {
        let state = PlayerState { origin: entity.pos.base, ..player.state };
        let mut world = player_world(cx, caches, client, &state, ms);
        extrapolate(&entity, extrapolation, &cx.frame.movement, &mut world)
    };
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.entity.pos.base = origin.truncated();
    }
}

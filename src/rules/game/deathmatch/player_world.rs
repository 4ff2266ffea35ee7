//! World of one player's pmove, as its level has it.

use super::{context::Context, move_caches::MoveCaches};
use crate::bg::player_box;
use crate::game::{clients::Player, movement::HEALTH, movement::OpenSpace, movement::PmoveWorld};
use crate::model::{ClientNum, PlayerState, Trace, Vec3, contents::mask};
use crate::world::{TraceQuery, links::MoveScene};

/// Margin around a stationary player for collision candidates: a step up or down.
const REACH: f32 = 20.0;
/// Bound of the speed gained during a usercmd, in units per second, added to the margin.
const GAIN: f32 = 400.0;

/// World of one player's pmove; empty space without a map.
pub(super) struct PlayerWorld<'a, 'b> {
    scene: Option<MoveScene<'a, Context<'b>>>,
}

impl PmoveWorld for PlayerWorld<'_, '_> {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        match &mut self.scene {
            Some(scene) => scene.trace(query),
            None => OpenSpace.trace(query),
        }
    }

    fn point_contents(&mut self, point: Vec3) -> i32 {
        match &mut self.scene {
            Some(scene) => scene.point_contents(point),
            None => OpenSpace.point_contents(point),
        }
    }

    fn has_contents(&mut self, point: Vec3, mask: i32) -> bool {
        self.scene.as_mut().is_some_and(|scene| scene.has_contents(point, mask))
    }
}

/// Returns the world of a pmove of `ms` milliseconds.
pub(super) fn player_world<'a, 'b>(
    cx: &'a Context<'b>,
    caches: &'a mut MoveCaches,
    client: ClientNum,
    state: &PlayerState,
    ms: i32,
) -> PlayerWorld<'a, 'b> {
    let way = (state.velocity.length() + GAIN) * ms as f32 / 1000.0;
    let reach = Vec3([REACH + way; 3]);
    let bounds = [state.origin + player_box::MINS - reach, state.origin + player_box::MAXS + reach];
    let cache = caches.of(client);
    // A datagram usually has two usercmds of the same length.
    let world = cx.host.world();
    let scene = world.map(move |world| world.move_scene(cx, client.into(), cache, bounds, way));
    PlayerWorld { scene }
}

/// Returns the contents that stop a player.
pub(super) fn clip_mask(player: &Player) -> i32 {
    match (player.is_bot, player.state.stats[HEALTH] <= 0) {
        (true, _) => mask::BOT_SOLID,
        (false, true) => mask::DEAD_SOLID,
        (false, false) => mask::PLAYER_SOLID,
    }
}

//! Reach of explosions: distance and line of sight from a point to an entity.
//!
//! Source: the base game's radius damage. Engine names: `CanDamage`.

use super::context::Context;
use crate::game::ruleset::SplashTracePoints;
use crate::model::{EntityNum, Vec3, contents::content};
use crate::world::TraceQuery;

/// Offset of the further trace points from an entity's center, in units.
const CORNER_OFFSET: f32 = 15.0;

/// Returns the distance from a point to an entity's bounding box.
pub(super) fn distance_to_box(cx: &Context<'_>, number: EntityNum, point: Vec3) -> Option<f32> {
    let shared = cx.shared(number)?;
    let away = |axis: usize| {
        let (low, high) = (shared.absmin[axis], shared.absmax[axis]);
        (low - point[axis]).max(point[axis] - high).max(0.0)
    };
    Some(Vec3([0, 1, 2].map(away)).length())
}

/// Whether the map leaves a line of sight from a point to the center or a corner of an entity.
pub(super) fn can_damage(cx: &Context<'_>, from: Vec3, number: EntityNum) -> bool {
    let Some(shared) = cx.shared(number) else { return false };
    let Some(world) = cx.host.world() else { return true };
    let middle = (shared.absmin + shared.absmax) * 0.5;
    let scene = world.scene(cx, EntityNum::NONE);
    let trace = |to| scene.trace(&TraceQuery::line(from, to, content::SOLID));
    let direct = trace(middle);
    if direct.fraction >= 1.0 || direct.entity == number {
        return true;
    }
    let heights: &[f32] = match cx.clients.ruleset.combat.corners {
        SplashTracePoints::Four => &[0.0],
        SplashTracePoints::Eight => &[CORNER_OFFSET, -CORNER_OFFSET],
    };
    let sides = [
        (CORNER_OFFSET, CORNER_OFFSET),
        (CORNER_OFFSET, -CORNER_OFFSET),
        (-CORNER_OFFSET, CORNER_OFFSET),
        (-CORNER_OFFSET, -CORNER_OFFSET),
    ];
    heights
        .iter()
        .any(|&z| sides.iter().any(|&(x, y)| trace(middle + Vec3::new(x, y, z)).fraction >= 1.0))
}

//! Splash damage: falls off with distance, blocked by walls.
//!
//! Source: the base game's radius damage.
//!
//! Engine names: `G_RadiusDamage`, `CanDamage`.

use crate::bg::MeansOfDeath;
use crate::game::deathmatch::{
    combat::damage::damage_entity, context::Context, hit::Hit, systems::Systems,
};
use crate::game::ruleset::SplashTracePoints;
use crate::model::{ClientNum, EntityNum, Vec3, contents::content, limits::MAX_ENTITIES};

/// Offset of the further trace points from an entity's center, in units.
const CORNER_OFFSET: f32 = 15.0;
/// Upward bias of the knockback direction, in units.
const KNOCKBACK_UP: f32 = 24.0;

/// One explosion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplashDamage {
    pub(crate) center: Vec3,
    /// Damage at the center.
    pub(crate) damage: f32,
    pub(crate) radius: f32,
    pub(crate) means: MeansOfDeath,
    pub(crate) attacker: Option<ClientNum>,
    /// Entity that takes no damage.
    pub(crate) spared: Option<EntityNum>,
}

/// Damages every entity in a radius. Returns whether an enemy of the attacker was hit.
pub(crate) fn splash_damage(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    splash: &SplashDamage,
) -> bool {
    let SplashDamage { center, damage, .. } = *splash;
    let radius = splash.radius.max(1.0);
    let reach = Vec3([radius; 3]);
    let mut found = [EntityNum::NONE; MAX_ENTITIES];
    let count = cx
        .host
        .world()
        .map_or(0, |world| world.bodies_in_box(center - reach, center + reach, &mut found));
    let mut hit_enemy = false;
    for &number in &found[..count] {
        if splash.spared == Some(number) || !sys.combat.is_damageable(cx, number) {
            continue;
        }
        let Some(distance) = distance_to_box(cx, number, center) else { continue };
        if distance >= radius || !can_damage(cx, center, number) {
            continue;
        }
        let Some(origin) = cx.origin_of(number) else { continue };
        hit_enemy |=
            splash.attacker.is_some_and(|attacker| sys.combat.is_good_hit(cx, attacker, number));
        let mut direction = origin - center;
        direction[2] += KNOCKBACK_UP;
        let hit = Hit {
            attacker: splash.attacker,
            direction: Some(direction),
            point: Some(center),
            is_splash: true,
            ..Hit::by_world((damage * (1.0 - distance / radius)) as i32, splash.means)
        };
        damage_entity(cx, sys, number, &hit);
    }
    hit_enemy
}

/// Returns the distance from a point to an entity's bounding box.
pub(crate) fn distance_to_box(cx: &Context<'_>, number: EntityNum, point: Vec3) -> Option<f32> {
    let shared = cx.shared(number)?;
    let away = |axis: usize| {
        let (low, high) = (shared.absmin[axis], shared.absmax[axis]);
        (low - point[axis]).max(point[axis] - high).max(0.0)
    };
    Some(Vec3([0, 1, 2].map(away)).length())
}

/// Whether the map leaves a line of sight from a point to the center or a corner of an entity.
pub(crate) fn can_damage(cx: &Context<'_>, from: Vec3, number: EntityNum) -> bool {
    let Some(shared) = cx.shared(number) else { return false };
    let Some(world) = cx.host.world() else { return true };
    let middle = (shared.absmin + shared.absmax) * 0.5;
    let scene = world.scene(cx, EntityNum::NONE);
    let trace = |to| scene.trace(from, Vec3::ZERO, Vec3::ZERO, to, content::SOLID);
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

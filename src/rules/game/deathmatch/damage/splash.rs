//! Splash damage: falls off with distance, blocked by walls.
//!
//! Source: the base game's radius damage. Engine names: `G_RadiusDamage`.

use crate::bg::MeansOfDeath;
use crate::game::deathmatch::{
    context::Context, damage::damage_entity, hit::Hit, reach::can_damage, reach::distance_to_box,
    systems::Fight,
};
use crate::model::{ClientNum, EntityNum, Vec3, limits::MAX_ENTITIES};

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
    fight: &mut Fight,
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
        if splash.spared == Some(number) || !fight.combat.is_damageable(cx, number) {
            continue;
        }
        let Some(distance) = distance_to_box(cx, number, center) else { continue };
        if distance >= radius || !can_damage(cx, center, number) {
            continue;
        }
        let Some(origin) = cx.origin_of(number) else { continue };
        hit_enemy |=
            splash.attacker.is_some_and(|attacker| fight.combat.is_good_hit(cx, attacker, number));
        let mut direction = origin - center;
        direction[2] += KNOCKBACK_UP;
        let hit = Hit {
            attacker: splash.attacker,
            direction: Some(direction),
            point: Some(center),
            is_splash: true,
            ..Hit::by_world((damage * (1.0 - distance / radius)) as i32, splash.means)
        };
        damage_entity(cx, fight, number, &hit);
    }
    hit_enemy
}

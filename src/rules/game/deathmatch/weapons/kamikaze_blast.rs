//! Explosion, shockwave and earthquake of a kamikaze, which expand for two seconds.
//!
//! Source: OpenArena's kamikaze. Engine names: `KamikazeDamage`, `KamikazeShockWave`.

use crate::bg::MeansOfDeath;
use crate::game::deathmatch::{
    combat::Combat, context::Context, damage::damage_entity, damage::damage_player,
    entity_kinds::EntityKind, entity_kinds::Kamikaze, hit::Hit, hit::LETHAL,
    projectiles::kamikaze::GROWTH_INTERVAL_MS, projectiles::kamikaze::explode_kamikaze,
    reach::distance_to_box, systems::Fight,
};
use crate::game::{Host, movement::angles, movement::velocity};
use crate::model::{ClientNum, EntityNum, Vec3, limits::MAX_ENTITIES};

/// Start and growth time of the explosion, growth time of the shockwave, and end of the effect, in ms.
const BLAST_FROM_MS: i32 = 250;
const BLAST_GROWS_MS: i32 = 1750;
const SHOCKWAVE_GROWS_MS: i32 = 2000;
const END_MS: i32 = 2000;
/// Maximum radius, damage and knockback of the explosion and the shockwave.
const BLAST_RADIUS: i32 = 720;
const BLAST_DAMAGE: i32 = 400;
const SHOCKWAVE_RADIUS: i32 = 1320;
const SHOCKWAVE_DAMAGE: i32 = 25;
const SHOCKWAVE_SPEED: f32 = 400.0;
const SHOCKWAVE_LIFT: f32 = 100.0;
/// Time for which a player is immune after a hit, in ms.
const REHIT_MS: i32 = 3000;
/// Horizontal speed, lift and view angle of the earthquake.
const SHAKE_SPEED: f32 = 120.0;
const SHAKE_LIFT: f32 = 30.0;
const SHAKE_ANGLE: f32 = 2.0;

/// Starts the kamikaze of a player.
pub(crate) fn start_kamikaze(cx: &mut Context<'_>, fight: &mut Fight, client: ClientNum) {
    let Some(player) = cx.clients.player(client) else { return };
    let at = player.entity.pos.base.truncated();
    explode_kamikaze(cx, client, at);
    let hit = Hit {
        attacker: Some(client),
        inflictor: Some(client.into()),
        no_protection: true,
        ..Hit::by_world(LETHAL, MeansOfDeath::Kamikaze)
    };
    damage_player(cx, fight, client, &hit);
}

/// Runs the frame of a kamikaze.
pub(crate) fn run_kamikaze(cx: &mut Context<'_>, fight: &mut Fight, number: EntityNum) {
    let now = cx.clients.now;
    let Some(entity) = cx.entities.get(number) else { return };
    let (EntityKind::Kamikaze(kamikaze), true) =
        (&entity.kind, entity.think_at.is_some_and(|at| at.distance(now) <= 0))
    else {
        return;
    };
    let (kamikaze, at) = (*kamikaze, entity.shared.current_origin);
    let age_ms = now.distance(kamikaze.since);
    // Whole units, at least one.
    let grown = |from_ms: i32, grows_ms: i32, most: i32| {
        ((age_ms - from_ms).clamp(0, grows_ms) * most / grows_ms).max(1) as f32
    };
    shockwave(cx, fight, &kamikaze, at, grown(0, SHOCKWAVE_GROWS_MS, SHOCKWAVE_RADIUS));
    if age_ms >= BLAST_FROM_MS {
        expand_blast(cx, fight, &kamikaze, at, grown(BLAST_FROM_MS, BLAST_GROWS_MS, BLAST_RADIUS));
    }
    if age_ms >= END_MS {
        return cx.entities.remove(cx.host, number, now);
    }
    let view_turn = shake(cx, kamikaze.view_turn);
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.kind = EntityKind::Kamikaze(Kamikaze { view_turn, ..kamikaze });
        entity.think_at = Some(now + GROWTH_INTERVAL_MS);
    }
}

/// Applies the explosion: the same damage for every entity within the radius, once per player.
fn expand_blast(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    kamikaze: &Kamikaze,
    at: Vec3,
    radius: f32,
) {
    let now = cx.clients.now;
    let (found, count) = entities_around(&*cx.host, at, radius);
    for &number in &found[..count] {
        if !fight.combat.is_within(cx, number, at, radius) {
            continue;
        }
        if let Some(client) = number.client() {
            let immune_until = fight.projectiles.blast_immunity(client);
            if immune_until.is_some_and(|until| until.distance(now) > 0) {
                continue;
            }
            *immune_until = Some(now + REHIT_MS);
        }
        let hit = kamikaze_hit(cx, kamikaze, at, number, BLAST_DAMAGE);
        damage_entity(cx, fight, number, &hit);
    }
}

/// Returns the hit on an entity, with knockback away from `at`.
fn kamikaze_hit(
    cx: &Context<'_>,
    kamikaze: &Kamikaze,
    at: Vec3,
    number: EntityNum,
    damage: i32,
) -> Hit {
    let mut direction = cx.origin_of(number).unwrap_or(at) - at;
    direction[2] += 24.0;
    Hit {
        attacker: Some(kamikaze.by),
        direction: Some(direction),
        point: Some(at),
        is_splash: true,
        ..Hit::by_world(damage, MeansOfDeath::Kamikaze)
    }
}

/// Applies the shockwave: damages and throws each player within the radius once, also a gibbed one.
fn shockwave(cx: &mut Context<'_>, fight: &mut Fight, kamikaze: &Kamikaze, at: Vec3, radius: f32) {
    let now = cx.clients.now;
    let (found, count) = entities_around(&*cx.host, at, radius);
    for &number in &found[..count] {
        let Some(client) = number.client() else { continue };
        let immune_until = *fight.projectiles.shockwave_immunity(client);
        if immune_until.is_some_and(|until| until.distance(now) > 0)
            || !is_near(cx, number, at, radius)
        {
            continue;
        }
        *fight.projectiles.shockwave_immunity(client) = Some(now + REHIT_MS);
        let hit = kamikaze_hit(cx, kamikaze, at, number, SHOCKWAVE_DAMAGE);
        damage_player(cx, fight, client, &hit);
        let mut away = hit.direction.unwrap_or(Vec3::ZERO);
        away[2] = 0.0;
        let mut thrown = velocity::direction(away) * SHOCKWAVE_SPEED;
        thrown[2] = SHOCKWAVE_LIFT;
        if let Some(player) = cx.clients.players[client.index()].as_mut() {
            player.state.velocity = thrown;
        }
    }
}

impl Combat {
    fn is_within(&self, cx: &Context<'_>, number: EntityNum, at: Vec3, radius: f32) -> bool {
        self.is_damageable(cx, number) && is_near(cx, number, at, radius)
    }
}

fn is_near(cx: &Context<'_>, number: EntityNum, at: Vec3, radius: f32) -> bool {
    distance_to_box(cx, number, at).is_some_and(|distance| distance < radius)
}

fn entities_around(host: &dyn Host, at: Vec3, radius: f32) -> ([EntityNum; MAX_ENTITIES], usize) {
    let reach = Vec3([radius; 3]);
    let mut found = [EntityNum::NONE; MAX_ENTITIES];
    let count =
        host.world().map_or(0, |world| world.bodies_in_box(at - reach, at + reach, &mut found));
    (found, count)
}

/// Shakes the view of every player, without a roll, and throws those on the ground. The views keep the last turn.
fn shake(cx: &mut Context<'_>, view_turn: Vec3) -> Vec3 {
    let mut draw = |most: f32| cx.rng.crandom() * most;
    let next = Vec3::new(draw(SHAKE_ANGLE), draw(SHAKE_ANGLE), 0.0);
    let none = EntityNum::NONE.index() as i32;
    for client in ClientNum::all() {
        if cx.clients.active(client).is_none() {
            continue;
        }
        let (x, y, z) = (cx.rng.random(), cx.rng.random(), cx.rng.random());
        let Some(player) = cx.clients.players[client.index()].as_mut() else { continue };
        let state = &mut player.state;
        if state.ground_entity_num != none {
            state.velocity[0] += 2.0 * (x - 0.5) * SHAKE_SPEED;
            state.velocity[1] += 2.0 * (y - 0.5) * SHAKE_SPEED;
            state.velocity[2] = SHAKE_LIFT + z * 25.0;
        }
        for axis in 0..3 {
            let turn = angles::to_short(next[axis] - view_turn[axis]) & 0xffff;
            state.delta_angles[axis] = state.delta_angles[axis].wrapping_add(turn);
        }
    }
    next
}

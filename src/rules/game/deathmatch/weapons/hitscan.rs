//! Hitscan weapons: machine gun, lightning gun, railgun.
//!
//! Source: the base game's hitscan weapons.
//!
//! Engine names: `Bullet_Fire`, `Weapon_LightningFire`, `weapon_railgun_fire`.

use crate::bg::{Event, Weapon, weapons};
use crate::game::deathmatch::projectiles::aim::{Aim, apply_spread, seeded_draws};
use crate::game::deathmatch::{
    context::Context, damage::damage_entity, hit::Hit, projectiles::invulnerability::follow_shot,
    projectiles::snap::snap_toward, systems::Fight, weapons::count_accurate,
    weapons::leaves_no_mark,
};
use crate::game::{BaseGame, direction_bytes::dir_to_byte};
use crate::model::{ClientNum, EntityNum, Trace, Vec3, contents::content};

/// Event parameter of a rail trail without an impact mark.
const NO_MARK: i32 = 255;
/// Maximum number of entities that a rail shot penetrates.
const MAX_PENETRATIONS: usize = 4;
/// Offset of the rail trail from the muzzle, right and up, in units.
const TRAIL_RIGHT: f32 = 4.0;
const TRAIL_UP: f32 = -1.0;

/// Fires one bullet.
pub(super) fn fire_bullet(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    aim: &Aim,
    number: i32,
    spread: f32,
    damage: i32,
) {
    let draws = if cx.clients.ruleset.combat.seeded_by_time {
        seeded_draws(fight.projectiles.shot_seed(cx, client))
    } else {
        [cx.rng.random(), cx.rng.crandom(), cx.rng.crandom()]
    };
    let end = apply_spread(aim, spread, draws);
    let shot = follow_shot(cx, client, aim.muzzle, end);
    if leaves_no_mark(&shot.trace) || shot.trace.entity == EntityNum::NONE {
        return;
    }
    let target = shot.trace.entity;
    let quirks = cx.clients.ruleset.combat;
    let at = snap_toward(shot.trace.endpos, shot.start, quirks.end_rounding);
    let shooter = client.index() as i32;
    let into_flesh = target.client().is_some() && fight.combat.is_damageable(cx, target);
    let (event, parm) = if into_flesh {
        (Event::BulletHitFlesh, target.index() as i32)
    } else {
        (Event::BulletHitWall, dir_to_byte(shot.trace.plane.normal))
    };
    cx.temp_entity(at, event, |state, _| {
        state.event_parm = parm;
        state.other_entity_num = shooter;
        if quirks.names_shooters {
            state.client_num = shooter;
        }
    });
    if fight.combat.is_good_hit(cx, client, target) {
        count_accurate(cx, client, number);
    }
    let hit = Hit {
        attacker: Some(client),
        // The view direction: spread and deflections do not turn the knockback.
        direction: Some(aim.axes.forward),
        point: Some(at),
        ..Hit::by_world(damage, weapons::weapon(number).means)
    };
    damage_entity(cx, fight, target, &hit);
}

/// Fires the lightning gun for one usercmd.
pub(super) fn fire_lightning(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    aim: &Aim,
    range: f32,
    damage: i32,
) {
    let end = aim.muzzle.add_scaled(aim.axes.forward, range);
    let shot = follow_shot(cx, client, aim.muzzle, end);
    if shot.deflections > 0 {
        let far = shot.trace.endpos;
        cx.temp_entity(shot.start, Event::LightningBolt, |state, _| state.origin2 = far);
    }
    let target = shot.trace.entity;
    if target == EntityNum::NONE {
        return;
    }
    let normal = dir_to_byte(shot.trace.plane.normal);
    // OpenArena counts a hit after its damage: one that kills is not counted.
    let counts_late = cx.clients.ruleset.base == BaseGame::OpenArena;
    if target.client().is_some() && fight.combat.is_damageable(cx, target) {
        cx.temp_entity(shot.trace.endpos, Event::MissileHit, |state, _| {
            state.other_entity_num = target.index() as i32;
            state.event_parm = normal;
            state.weapon = Weapon::Lightning as i32;
        });
        if !counts_late && fight.combat.is_good_hit(cx, client, target) {
            count_accurate(cx, client, Weapon::Lightning);
        }
    } else if !leaves_no_mark(&shot.trace) {
        cx.temp_entity(shot.trace.endpos, Event::MissileMiss, |state, _| {
            state.event_parm = normal;
        });
    }
    let hit = Hit {
        attacker: Some(client),
        direction: Some(shot.direction),
        point: Some(shot.trace.endpos),
        ..Hit::by_world(damage, Weapon::Lightning.spec().means)
    };
    damage_entity(cx, fight, target, &hit);
    if counts_late && fight.combat.is_good_hit(cx, client, target) {
        count_accurate(cx, client, Weapon::Lightning);
    }
}

/// Damages every entity on the line, up to a maximum. The shot ends at a solid.
pub(super) fn fire_rail(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    aim: &Aim,
    range: f32,
    bodies: usize,
    damage: i32,
) {
    let end = aim.muzzle.add_scaled(aim.axes.forward, range);
    let mut hits = 0;
    let mut passed = [EntityNum::NONE; MAX_PENETRATIONS];
    let mut count = 0;
    let mut shot = follow_shot(cx, client, aim.muzzle, end);
    loop {
        let target = shot.trace.entity;
        if target.index() >= EntityNum::WORLD.index() {
            break;
        }
        if fight.combat.is_damageable(cx, target) {
            hits += i32::from(fight.combat.is_good_hit(cx, client, target));
            let hit = Hit {
                attacker: Some(client),
                direction: Some(aim.axes.forward),
                point: Some(shot.trace.endpos),
                ..Hit::by_world(damage, Weapon::Railgun.spec().means)
            };
            damage_entity(cx, fight, target, &hit);
        }
        if shot.trace.contents & content::SOLID != 0 {
            break;
        }
        // Unlinked for the rest of the trace.
        cx.unlink_entity(target);
        passed[count] = target;
        count += 1;
        if count >= bodies.min(MAX_PENETRATIONS) {
            break;
        }
        let reached = shot.start;
        shot = follow_shot(cx, client, reached, end);
    }
    for &number in &passed[..count] {
        cx.relink_entity(number);
    }
    show_rail_trail(cx, client, aim, &shot.trace);
    if hits > 0 {
        count_accurate(cx, client, Weapon::Railgun);
    }
    fight.combat.count_rail_hits(cx, &fight.match_state, client, hits);
}

fn show_rail_trail(cx: &mut Context<'_>, client: ClientNum, aim: &Aim, trace: &Trace) {
    let how = cx.clients.ruleset.combat.end_rounding;
    let at = snap_toward(trace.endpos, aim.muzzle, how);
    let start: Vec3 =
        aim.muzzle.add_scaled(aim.axes.right, TRAIL_RIGHT).add_scaled(aim.axes.up, TRAIL_UP);
    let mark = if leaves_no_mark(trace) { NO_MARK } else { dir_to_byte(trace.plane.normal) };
    cx.temp_entity(at, Event::RailTrail, |state, _| {
        state.client_num = client.index() as i32;
        state.origin2 = start;
        state.event_parm = mark;
    });
}

//! Shotgun: pellet pattern from a direction and a seed.
//!
//! Clients draw the pellets from the direction and the seed of the event, so the server traces the same
//! ones.
//!
//! Source: the base game's pellet pattern.
//!
//! Engine names: `ShotgunPattern`, `EV_SHOTGUN`.

use crate::bg::{Event, Weapon, weapons::BULLET_RANGE};
use crate::game::deathmatch::{
    context::Context, damage::damage_entity, hit::Hit, projectiles::aim::Aim,
    projectiles::aim::SPREAD_SCALE, projectiles::invulnerability::follow_shot, systems::Fight,
    weapons::count_accurate, weapons::leaves_no_mark,
};
use crate::game::{movement::angles::perpendicular, movement::velocity, rng::SharedRng};
use crate::model::{ClientNum, Vec3};

/// Factor of the direction before it is truncated to integers for the event.
const SENT_SCALE: f32 = 4096.0;

pub(super) fn fire_shotgun(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    aim: &Aim,
    count: usize,
    spread: f32,
    damage: i32,
) {
    let seed = fight.projectiles.shot_seed(cx, client);
    let sent = (aim.axes.forward * SENT_SCALE).truncated();
    cx.temp_entity(aim.muzzle, Event::Shotgun, |state, _| {
        state.origin2 = sent;
        state.event_parm = seed;
        state.other_entity_num = client.index() as i32;
    });
    let mut accurate = false;
    for end in pattern(aim.muzzle, sent, seed, count, spread) {
        let shot = follow_shot(cx, client, aim.muzzle, end);
        if leaves_no_mark(&shot.trace) || !fight.combat.is_damageable(cx, shot.trace.entity) {
            continue;
        }
        // Before the damage: a player that dies of it receives the scores.
        if !accurate && fight.combat.is_good_hit(cx, client, shot.trace.entity) {
            accurate = true;
            count_accurate(cx, client, Weapon::Shotgun);
        }
        let turned = shot.deflections > 0;
        let hit = Hit {
            attacker: Some(client),
            direction: Some(if turned { shot.direction } else { aim.axes.forward }),
            point: Some(shot.trace.endpos),
            ..Hit::by_world(damage, Weapon::Shotgun.spec().means)
        };
        damage_entity(cx, fight, shot.trace.entity, &hit);
    }
}

/// Returns the end points of the pellets of one shot.
fn pattern(
    start: Vec3,
    sent: Vec3,
    seed: i32,
    count: usize,
    spread: f32,
) -> impl Iterator<Item = Vec3> {
    let forward = velocity::direction(sent);
    let right = perpendicular(forward);
    let up = forward.cross(right);
    let ahead = start.add_scaled(forward, BULLET_RANGE);
    offsets(seed, count, spread)
        .map(move |(along, above)| ahead.add_scaled(right, along).add_scaled(up, above))
}

/// Returns the offset of each pellet, right and up, in units.
fn offsets(seed: i32, count: usize, spread: f32) -> impl Iterator<Item = (f32, f32)> {
    let mut rng = SharedRng(seed);
    let mut next = move || rng.crandom() * spread * SPREAD_SCALE;
    (0..count).map(move |_| (next(), next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pellet_pattern_matches_client() {
        let mut rows = 0;
        for line in include_str!("../../../../../tests/vectors/game/pellets.csv").lines().skip(1) {
            let row: Vec<f64> = line.split(',').map(|word| word.parse().unwrap()).collect();
            let (seed, pellet) = (row[0] as i32, row[1] as usize);
            let (right, up) = offsets(seed, 11, 700.0).nth(pellet).unwrap();
            assert!((f64::from(right) - row[2]).abs() < 0.01, "{line}: {right}");
            assert!((f64::from(up) - row[3]).abs() < 0.01, "{line}: {up}");
            rows += 1;
        }
        assert_eq!(rows, 66);
    }
}

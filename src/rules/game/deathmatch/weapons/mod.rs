//! Weapon fire: dispatch by weapon, damage of a shot, shots in the past.
//!
//! Muzzles and launches are in `projectiles`. Source: the base game's weapons; OpenArena's. Engine names:
//! `FireWeapon`.

pub(super) mod gauntlet;
mod hitscan;
pub(super) mod kamikaze_blast;
pub(super) mod missile_flight;
mod shotgun;
#[cfg(test)]
mod tests;

use self::hitscan::{fire_bullet, fire_lightning, fire_rail};
use self::shotgun::fire_shotgun;
use super::projectiles::aim::{ShotCone, aim, missile_direction};
use super::{
    context::Context, projectiles::damage_multiplier, projectiles::missiles::launch, systems::Fight,
};
use crate::bg::weapons::{Attack, BULLET_RANGE, WeaponSpec};
use crate::model::{ClientNum, Trace, contents::surface};

/// Fires a player's weapon. Pmove has subtracted the ammunition.
pub(crate) fn fire_weapon(cx: &mut Context<'_>, fight: &mut Fight, client: ClientNum) {
    let Some(player) = cx.clients.player(client) else { return };
    let number = player.entity.weapon;
    if number > cx.clients.ruleset.equipment.last_weapon {
        return;
    }
    let weapon = crate::bg::weapons::weapon(number);
    fight.combat.players[client.index()].protected_until = None;
    let shots = match weapon.attack {
        Attack::Nothing | Attack::Melee { .. } | Attack::Grapple(_) => 0,
        Attack::Missile(missile) => missile.count,
        Attack::Bullet { .. }
        | Attack::Pellets { .. }
        | Attack::Lightning { .. }
        | Attack::Rail { .. } => 1,
    };
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.accuracy.fire(number, shots);
    }
    let Some(aim) = aim(cx, client) else { return };
    let damage = scaled_by_powerups(cx, client, base_damage(cx, weapon));
    let cone = |range, spread| ShotCone::new(&aim, range, spread);
    match weapon.attack {
        // The gauntlet attack ran before the move.
        Attack::Nothing | Attack::Melee { .. } => {}
        Attack::Bullet { spread } => {
            in_the_past(cx, fight, client, &cone(BULLET_RANGE, spread), |cx, fight| {
                fire_bullet(cx, fight, client, &aim, number, spread, damage);
            })
        }
        Attack::Pellets { count, spread } => {
            in_the_past(cx, fight, client, &cone(BULLET_RANGE, spread), |cx, fight| {
                fire_shotgun(cx, fight, client, &aim, count, spread, damage);
            })
        }
        Attack::Lightning { range } => {
            in_the_past(cx, fight, client, &cone(range, 0.0), |cx, fight| {
                fire_lightning(cx, fight, client, &aim, range, damage);
            })
        }
        Attack::Rail { range, bodies } => {
            in_the_past(cx, fight, client, &cone(range, 0.0), |cx, fight| {
                fire_rail(cx, fight, client, &aim, range, bodies, damage);
            })
        }
        Attack::Missile(missile) => {
            for _ in 0..missile.count {
                let direction = missile_direction(cx, &missile, &aim);
                launch(cx, client.into(), number, aim.muzzle, direction);
            }
        }
        Attack::Grapple(_) => fight.projectiles.fire_hook(cx, client, &aim),
    }
}

/// Returns the damage of a weapon in the current game type and settings.
fn base_damage(cx: &Context<'_>, weapon: &WeaponSpec) -> i32 {
    if cx.frame.combat.loadout.is_instagib() {
        weapon.instagib_damage
    } else if cx.mode().team_damage {
        weapon.team_damage
    } else {
        weapon.damage
    }
}

fn scaled_by_powerups(cx: &Context<'_>, client: ClientNum, damage: i32) -> i32 {
    (damage as f32 * damage_multiplier(cx, client)) as i32
}

/// Counts a hit for the accuracy statistic.
fn count_accurate(cx: &mut Context<'_>, client: ClientNum, weapon: impl Into<i32>) {
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.accuracy.hit(weapon.into());
    }
}

/// Fires a hitscan weapon against earlier positions of the other players.
fn in_the_past(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    shooter: ClientNum,
    cone: &ShotCone,
    fire: impl FnOnce(&mut Context<'_>, &mut Fight),
) {
    if !cx.clients.ruleset.combat.compensates_lag {
        return fire(cx, fight);
    }
    let attack_time = fight.projectiles.attack_time(shooter);
    fight.lag.shift(cx, shooter, attack_time, cone);
    fire(cx, fight);
    fight.lag.restore_all(cx);
}

/// Whether a shot leaves no impact mark.
const fn leaves_no_mark(trace: &Trace) -> bool {
    trace.surface_flags & surface::NOIMPACT != 0
}

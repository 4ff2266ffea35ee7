//! Missiles in flight: frame, impact, explosion.
//!
//! Source: the base game's missiles. Engine names: `G_RunMissile`, `G_MissileImpact`, `G_ExplodeMissile`.

use crate::bg::{Event, MeansOfDeath, Powerup, weapons::ImpactBehavior};
use crate::game::deathmatch::projectiles::mines::{arm_mine, check_proximity, stick};
use crate::game::deathmatch::projectiles::missiles::{
    bounce, deflect_missile, end_missile, update_left_owner,
};
use crate::game::deathmatch::{
    context::Context, damage::damage_entity, damage::damage_player, damage::splash::SplashDamage,
    damage::splash::splash_damage, entity_kinds::Missile, entity_kinds::MissileState, hit::Hit,
    projectiles::snap::snap_toward, systems::Fight, weapons::count_accurate,
    weapons::leaves_no_mark,
};
use crate::game::{direction_bytes::dir_to_byte, movement::trajectory};
use crate::model::{ClientNum, EntityNum, Trace, Vec3, contents::surface, limits::MAX_CLIENTS};

/// Up vector.
const UP: Vec3 = Vec3::new(0.0, 0.0, 1.0);

/// Damage of a mine to a player inside an invulnerability sphere.
const JUICED_DAMAGE: i32 = 1000;

/// Runs every missile, in rulesets that run missiles after all other entities. Missiles never sleep.
pub(crate) fn run_missiles(cx: &mut Context<'_>, fight: &mut Fight) {
    let mut next = MAX_CLIENTS;
    while let Some(number) = cx.entities.next_awake(next) {
        next = number.index() + 1;
        run_missile(cx, fight, number);
    }
}

/// Runs the frame of a missile.
pub(crate) fn run_missile(cx: &mut Context<'_>, fight: &mut Fight, number: EntityNum) {
    let Some((_, missile)) = cx.entities.missile(number) else { return };
    if missile.state == MissileState::Flying {
        move_missile(cx, fight, number);
    }
    think_missile(cx, fight, number);
    let Some((_, missile)) = cx.entities.missile(number) else { return };
    if missile.state == MissileState::Armed {
        check_proximity(cx, number);
    }
}

/// Runs the timer of a missile. Rulesets that run missiles after all other entities run it in their order also, so
/// that a missile whose time has come explodes before it moves.
pub(crate) fn think_missile(cx: &mut Context<'_>, fight: &mut Fight, number: EntityNum) {
    let Some((entity, missile)) = cx.entities.missile(number) else { return };
    if entity.think_at.is_none_or(|at| at.distance(cx.clients.now) > 0) {
        return;
    }
    match missile.state {
        MissileState::Flying if missile.on_impact == ImpactBehavior::Hooks => {
            fight.projectiles.remove_missile(cx, number);
        }
        MissileState::Flying | MissileState::Triggered | MissileState::Armed => {
            explode(cx, fight, number);
        }
        MissileState::Hooked(victim) => fight.combat.follow_victim(cx, number, victim),
        MissileState::Arming => arm_mine(cx, number),
        MissileState::OnPlayer(client) => explode_on_player(cx, fight, number, client),
    }
}

/// Moves a missile to its current position or to its collision.
fn move_missile(cx: &mut Context<'_>, fight: &mut Fight, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, missile)) = cx.entities.missile(number) else { return };
    let from = entity.shared.current_origin;
    let to = trajectory::position(&entity.state.pos, now);
    let pass = match missile.leaving_sphere {
        Some(sphere) => sphere,
        None if missile.has_left_owner => number,
        None => missile.owner,
    };
    let leaves_owner = missile.on_impact == ImpactBehavior::Sticks && !missile.has_left_owner;
    let mut trace = cx.shot_trace(from, to, pass);
    if trace.startsolid || trace.allsolid {
        trace = cx.shot_trace(from, from, pass);
        trace.fraction = 0.0;
    } else if let Some(entity) = cx.entities.get_mut(number) {
        entity.shared.current_origin = trace.endpos;
    }
    cx.entities.link(cx.host, number);
    if trace.fraction < 1.0 {
        if leaves_no_mark(&trace) {
            fight.projectiles.remove_missile(cx, number);
            return;
        }
        missile_impact(cx, fight, number, &trace);
    }
    if leaves_owner {
        update_left_owner(cx, number);
    }
}

/// Handles the collision of a missile.
fn missile_impact(cx: &mut Context<'_>, fight: &mut Fight, number: EntityNum, trace: &Trace) {
    let Some((_, &missile)) = cx.entities.missile(number) else { return };
    let other = trace.entity;
    let damageable = fight.combat.is_damageable(cx, other);
    if !damageable && missile.on_impact == ImpactBehavior::Bounces {
        bounce(cx, number, trace);
        let now = cx.clients.now;
        if let Some(entity) = cx.entities.get_mut(number) {
            entity.add_event(Event::GrenadeBounce, 0, now);
        }
        return;
    }
    if let Some(sphere) = other.client()
        && missile.on_impact != ImpactBehavior::Sticks
        && cx.is_invulnerable(sphere)
    {
        return deflect_missile(cx, number, sphere, trace);
    }
    let mut hit_enemy = false;
    if damageable && missile.damage > 0 {
        hit_enemy = hit_directly(cx, fight, number, other);
    }
    match missile.on_impact {
        ImpactBehavior::Sticks => {
            return stick(cx, &mut fight.projectiles, &fight.combat, number, trace);
        }
        ImpactBehavior::Hooks => return fight.combat.attach_hook(cx, number, trace),
        ImpactBehavior::Bounces | ImpactBehavior::Explodes => {}
    }
    // A player that the hit has gibbed is not there any more.
    let to_flesh = other.client().is_some() && fight.combat.is_damageable(cx, other);
    let event = if to_flesh {
        Event::MissileHit
    } else if trace.surface_flags & surface::METALSTEPS != 0 {
        Event::MissileMissMetal
    } else {
        Event::MissileMiss
    };
    let how = cx.clients.ruleset.combat.end_rounding;
    let normal = dir_to_byte(trace.plane.normal);
    let Some((entity, _)) = cx.entities.missile_mut(number) else { return };
    let at = snap_toward(trace.endpos, entity.state.pos.base, how);
    if to_flesh {
        entity.state.other_entity_num = other.index() as i32;
    }
    end_missile(cx, number, at, event, normal);
    splash(cx, fight, &missile, at, Some(other), !hit_enemy);
}

/// Damages the entity that a missile hit. Returns whether that was an enemy.
fn hit_directly(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    number: EntityNum,
    other: EntityNum,
) -> bool {
    let now = cx.clients.now;
    let Some((entity, &missile)) = cx.entities.missile(number) else { return false };
    let mut direction = trajectory::velocity(&entity.state.pos, now);
    if direction == Vec3::ZERO {
        direction = UP;
    }
    let at = entity.shared.current_origin;
    let shooter = missile.shooter();
    let hit_enemy = shooter.is_some_and(|shooter| fight.combat.is_good_hit(cx, shooter, other));
    if let Some(shooter) = shooter.filter(|_| hit_enemy) {
        count_accurate(cx, shooter, missile.number);
    }
    let hit = Hit {
        attacker: shooter,
        inflictor: Some(number),
        direction: Some(direction),
        point: Some(at),
        ..Hit::by_world(missile.damage, missile.means)
    };
    damage_entity(cx, fight, other, &hit);
    hit_enemy
}

/// Applies the splash damage of a missile. Counts as a hit if the missile had none before.
pub(crate) fn splash(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    missile: &Missile,
    center: Vec3,
    spared: Option<EntityNum>,
    counts: bool,
) {
    if missile.splash_damage <= 0.0 {
        return;
    }
    let explosion = SplashDamage {
        center,
        damage: missile.splash_damage,
        radius: missile.splash_radius,
        means: missile.splash_means,
        attacker: missile.shooter(),
        spared,
    };
    let hit = splash_damage(cx, fight, &explosion);
    if let Some(shooter) = missile.shooter().filter(|_| hit && counts) {
        count_accurate(cx, shooter, missile.number);
    }
}

/// Explodes a missile at its position.
pub(crate) fn explode(cx: &mut Context<'_>, fight: &mut Fight, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, &missile)) = cx.entities.missile(number) else { return };
    let at = trajectory::position(&entity.state.pos, now).truncated();
    end_missile(cx, number, at, Event::MissileMiss, dir_to_byte(UP));
    splash(cx, fight, &missile, at, Some(number), true);
}

/// Explodes the mine on a player.
fn explode_on_player(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    number: EntityNum,
    client: ClientNum,
) {
    fight.projectiles.detach_mine(cx, client);
    let invulnerable = cx.is_invulnerable(client);
    let Some(player) = cx.clients.players[client.index()].as_mut() else {
        return explode(cx, fight, number);
    };
    let at = player.entity.pos.base;
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.set_origin(at);
    }
    if invulnerable {
        player.state.powerups[Powerup::Invulnerability] = 0;
        let shooter = cx.entities.missile(number).and_then(|(_, missile)| missile.shooter());
        let hit = Hit {
            attacker: shooter,
            no_knockback: true,
            ..Hit::by_world(JUICED_DAMAGE, MeansOfDeath::Juiced)
        };
        cx.temp_entity(at, Event::Juiced, |_, _| {});
        damage_player(cx, fight, client, &hit);
    }
    explode(cx, fight, number);
}

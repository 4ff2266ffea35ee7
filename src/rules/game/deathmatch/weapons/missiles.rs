//! Projectiles: launch, flight, bounce and impact.
//!
//! Clients compute the flight from the trajectory, so a missile changes its course only at a collision.
//! Source: the base game's missiles.
//!
//! Engine names: `G_RunMissile`, `G_MissileImpact`, `G_BounceMissile`, `G_ExplodeMissile`.

use crate::bg::weapons::{self, Attack, ImpactBehavior};
use crate::bg::{EntityType, Event, entity_flag};
use crate::game::deathmatch::combat::splash::{SplashDamage, distance_to_box, splash_damage};
use crate::game::deathmatch::entity_kinds::{EntityKind, Missile, MissileState};
use crate::game::deathmatch::weapons::mines::{
    arm_mine, check_proximity, explode_on_player, stick,
};
use crate::game::deathmatch::weapons::{Projectiles, client_of, count_accurate, damage_multiplier};
use crate::game::deathmatch::{
    combat::damage::damage_entity, context::Context, entities::Entities, entities::Entity,
    hit::Hit, systems::Systems, weapons::hitscan::leaves_no_mark,
    weapons::invulnerability::deflect_off_sphere, weapons::snap::snap_toward,
};
use crate::game::{direction_bytes::dir_to_byte, movement::trajectory, movement::velocity};
use crate::model::{
    ClientNum, EntityNum, SvFlags, Trace, Trajectory, TrajectoryKind, Vec3, contents::surface,
    limits::MAX_CLIENTS,
};

/// Fraction of the speed that is left after a bounce.
const BOUNCE: f32 = 0.65;
/// Minimum slope normal and maximum speed of a missile that comes to rest.
const REST_MIN_NORMAL: f32 = 0.2;
const REST_MAX_SPEED: f32 = 40.0;
/// Up vector.
const UP: Vec3 = Vec3::new(0.0, 0.0, 1.0);
/// Cap of the multiplied damage.
const MAX_DAMAGE: f32 = 1_000_000.0;

impl Missile {
    /// Returns the player who fired the missile.
    pub(super) fn shooter(&self) -> Option<ClientNum> {
        client_of(self.owner)
    }

    /// Whether the missile is an armed mine, which can be shot.
    pub(crate) fn is_armed(&self) -> bool {
        matches!(self.state, MissileState::Armed | MissileState::Triggered)
    }
}

impl Entities {
    pub(crate) fn missile(&self, number: EntityNum) -> Option<(&Entity, &Missile)> {
        let entity = self.get(number)?;
        let EntityKind::Missile(missile) = &entity.kind else { return None };
        Some((entity, missile))
    }

    pub(super) fn missile_mut(&mut self, number: EntityNum) -> Option<(&mut Entity, Missile)> {
        let entity = self.get_mut(number)?;
        let EntityKind::Missile(missile) = entity.kind else { return None };
        Some((entity, missile))
    }

    pub(super) fn set_missile_state(&mut self, number: EntityNum, state: MissileState) {
        if let Some(entity) = self.get_mut(number)
            && let EntityKind::Missile(missile) = &mut entity.kind
        {
            missile.state = state;
        }
    }
}

/// Launches a missile. A player's powerups raise the damage; a shooter of the map has none. A weapon without
/// missiles is ignored.
pub(crate) fn launch(
    cx: &mut Context<'_>,
    owner: EntityNum,
    number: i32,
    start: Vec3,
    direction: Vec3,
) -> Option<EntityNum> {
    let multiplier = client_of(owner).map_or(1.0, |client| damage_multiplier(cx, client));
    let weapon = weapons::weapon(number);
    let (Attack::Missile(kind) | Attack::Grapple(kind)) = weapon.attack else { return None };
    let (now, started) = cx.clock();
    let faster = if kind.random_speed > 0.0 { cx.rng.random() * kind.random_speed } else { 0.0 };
    let speed = kind.speed + faster;
    let scaled = |damage: i32| (damage as f32 * multiplier).min(MAX_DAMAGE);
    let missile = Missile {
        owner,
        number,
        damage: scaled(weapon.damage) as i32,
        splash_damage: scaled(kind.splash_damage).trunc(),
        splash_radius: kind.splash_radius,
        means: weapon.means,
        splash_means: kind.splash_means,
        on_impact: kind.on_impact,
        state: MissileState::Flying,
        leaving_sphere: None,
        has_left_owner: false,
        base: None,
    };
    let mut entity = Entity::new(EntityKind::Missile(missile), start);
    let falls = if kind.falls { TrajectoryKind::Gravity } else { TrajectoryKind::Linear };
    entity.state.pos = Trajectory {
        kind: falls as i32,
        time: (now - kind.prestep_ms).0,
        duration: 0,
        base: start,
        delta: (velocity::direction(direction) * speed).truncated(),
    };
    entity.state.e_type = EntityType::Missile as i32;
    entity.state.weapon = number;
    entity.shared.sv_flags = SvFlags::USE_CURRENT_ORIGIN;
    entity.shared.owner_num = owner.index() as i32;
    if cx.clients.ruleset.combat.names_shooters {
        entity.state.other_entity_num = owner.index() as i32;
    }
    match kind.on_impact {
        ImpactBehavior::Bounces => entity.state.e_flags = entity_flag::BOUNCE_HALF,
        ImpactBehavior::Sticks => {
            entity.state.generic1 =
                missile.shooter().map_or(0, |shooter| cx.clients.team(shooter) as i32);
        }
        ImpactBehavior::Hooks => entity.state.other_entity_num = owner.index() as i32,
        ImpactBehavior::Explodes => {}
    }
    entity.think_at = Some(now + kind.life_ms);
    let number = cx.entities.add(entity, now, started)?;
    cx.entities.link(cx.host, number);
    Some(number)
}

/// Runs every missile, in rulesets that run missiles after all other entities. Missiles never sleep.
pub(crate) fn run_missiles(cx: &mut Context<'_>, sys: &mut Systems) {
    let mut next = MAX_CLIENTS;
    while let Some(number) = cx.entities.next_awake(next) {
        next = number.index() + 1;
        run_missile(cx, sys, number);
    }
}

/// Runs the frame of a missile.
pub(crate) fn run_missile(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let Some((_, missile)) = cx.entities.missile(number) else { return };
    if missile.state == MissileState::Flying {
        move_missile(cx, sys, number);
    }
    think_missile(cx, sys, number);
    let Some((_, missile)) = cx.entities.missile(number) else { return };
    if missile.state == MissileState::Armed {
        check_proximity(cx, number);
    }
}

/// Runs the timer of a missile. Rulesets that run missiles after all other entities run it in their order also, so
/// that a missile whose time has come explodes before it moves.
pub(crate) fn think_missile(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let Some((entity, missile)) = cx.entities.missile(number) else { return };
    if entity.think_at.is_none_or(|at| at.distance(cx.clients.now) > 0) {
        return;
    }
    match missile.state {
        MissileState::Flying if missile.on_impact == ImpactBehavior::Hooks => {
            sys.projectiles.remove_missile(cx, number);
        }
        MissileState::Flying | MissileState::Triggered | MissileState::Armed => {
            explode(cx, sys, number);
        }
        MissileState::Hooked(victim) => sys.combat.follow_victim(cx, number, victim),
        MissileState::Arming => arm_mine(cx, number),
        MissileState::OnPlayer(client) => explode_on_player(cx, sys, number, client),
    }
}

/// Moves a missile to its current position or to its collision.
fn move_missile(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
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
            sys.projectiles.remove_missile(cx, number);
            return;
        }
        missile_impact(cx, sys, number, &trace);
    }
    if leaves_owner {
        update_left_owner(cx, number);
    }
}

/// Records whether a mine has left its owner's bounding box.
fn update_left_owner(cx: &mut Context<'_>, number: EntityNum) {
    let Some((entity, missile)) = cx.entities.missile(number) else { return };
    let at = entity.shared.current_origin;
    let owner = missile.owner;
    let trace = cx.shot_trace(at, at, number);
    let inside = trace.startsolid && encloses(cx, owner, at);
    if let Some(entity) = cx.entities.get_mut(number)
        && let EntityKind::Missile(missile) = &mut entity.kind
    {
        missile.has_left_owner = !inside;
    }
}

fn encloses(cx: &Context<'_>, number: EntityNum, point: Vec3) -> bool {
    distance_to_box(cx, number, point).is_some_and(|distance| distance <= 0.0)
}

/// Handles the collision of a missile.
fn missile_impact(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum, trace: &Trace) {
    let Some((_, &missile)) = cx.entities.missile(number) else { return };
    let other = trace.entity;
    let damageable = sys.combat.is_damageable(cx, other);
    if !damageable && missile.on_impact == ImpactBehavior::Bounces {
        bounce(cx, number, trace);
        let now = cx.clients.now;
        if let Some(entity) = cx.entities.get_mut(number) {
            entity.add_event(Event::GrenadeBounce, 0, now);
        }
        return;
    }
    if let Some(sphere) = client_of(other)
        && missile.on_impact != ImpactBehavior::Sticks
        && cx.is_invulnerable(sphere)
    {
        return deflect_missile(cx, number, sphere, trace);
    }
    let mut hit_enemy = false;
    if damageable && missile.damage > 0 {
        hit_enemy = hit_directly(cx, sys, number, other);
    }
    match missile.on_impact {
        ImpactBehavior::Sticks => return stick(cx, sys, number, trace),
        ImpactBehavior::Hooks => return sys.combat.attach_hook(cx, number, trace),
        ImpactBehavior::Bounces | ImpactBehavior::Explodes => {}
    }
    // A player that the hit has gibbed is not there any more.
    let to_flesh = client_of(other).is_some() && sys.combat.is_damageable(cx, other);
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
    splash(cx, sys, &missile, at, Some(other), !hit_enemy);
}

/// Damages the entity that a missile hit. Returns whether that was an enemy.
fn hit_directly(
    cx: &mut Context<'_>,
    sys: &mut Systems,
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
    let hit_enemy = shooter.is_some_and(|shooter| sys.combat.is_good_hit(cx, shooter, other));
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
    damage_entity(cx, sys, other, &hit);
    hit_enemy
}

/// Applies the splash damage of a missile. Counts as a hit if the missile had none before.
fn splash(
    cx: &mut Context<'_>,
    sys: &mut Systems,
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
    let hit = splash_damage(cx, sys, &explosion);
    if let Some(shooter) = missile.shooter().filter(|_| hit && counts) {
        count_accurate(cx, shooter, missile.number);
    }
}

/// Explodes a missile at its position.
pub(crate) fn explode(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, &missile)) = cx.entities.missile(number) else { return };
    let at = trajectory::position(&entity.state.pos, now).truncated();
    end_missile(cx, number, at, Event::MissileMiss, dir_to_byte(UP));
    splash(cx, sys, &missile, at, Some(number), true);
}

/// Turns a missile into the event of its explosion.
fn end_missile(cx: &mut Context<'_>, number: EntityNum, at: Vec3, event: Event, parm: i32) {
    let now = cx.clients.now;
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.kind = EntityKind::TempEntity;
        entity.state.e_type = EntityType::General as i32;
        entity.state.loop_sound = 0;
        entity.shared.contents = 0;
        entity.shared.sv_flags.0 &= !SvFlags::NO_CLIENT.0;
        entity.think_at = None;
        entity.set_origin(at);
        entity.add_event(event, parm, now);
    }
    cx.entities.link(cx.host, number);
}

/// Bounces a missile off a surface, or brings it to rest.
fn bounce(cx: &mut Context<'_>, number: EntityNum, trace: &Trace) {
    let now = cx.clients.now;
    let hit_at = cx.time_within_frame(trace.fraction);
    let Some((entity, missile)) = cx.entities.missile_mut(number) else { return };
    let velocity = trajectory::velocity(&entity.state.pos, hit_at);
    let normal = trace.plane.normal;
    let mut away = velocity.add_scaled(normal, -2.0 * velocity.dot(normal));
    if missile.on_impact == ImpactBehavior::Bounces {
        away = away * BOUNCE;
        if normal[2] > REST_MIN_NORMAL && away.length() < REST_MAX_SPEED {
            entity.set_origin(trace.endpos);
            // Clients draw a grenade with a time as lying still.
            entity.state.time = now.0 / 4;
            return;
        }
    }
    let from = entity.shared.current_origin + normal;
    entity.shared.current_origin = from;
    entity.state.pos.delta = away;
    entity.state.pos.base = from;
    entity.state.pos.time = now.0;
}

/// Deflects a missile off an invulnerability sphere.
fn deflect_missile(cx: &mut Context<'_>, number: EntityNum, sphere: ClientNum, trace: &Trace) {
    let Some((entity, _)) = cx.entities.missile(number) else { return };
    let (direction, at) = (entity.state.pos.delta, entity.shared.current_origin);
    if let Some((_, normal)) = deflect_off_sphere(cx, sphere, at, direction) {
        let now = cx.clients.now;
        if let Some(entity) = cx.entities.get_mut(number) {
            let velocity = trajectory::velocity(&entity.state.pos, now);
            let away = velocity.add_scaled(normal, -2.0 * velocity.dot(normal));
            entity.shared.current_origin = trace.endpos + normal;
            entity.state.pos.base = entity.shared.current_origin;
            entity.state.pos.delta = away;
            entity.state.pos.time = now.0;
        }
    }
    if let Some(entity) = cx.entities.get_mut(number)
        && let EntityKind::Missile(missile) = &mut entity.kind
    {
        missile.leaving_sphere = Some(sphere.into());
    }
}
impl Projectiles {
    /// Removes a missile without an explosion; a hook is released.
    pub(crate) fn remove_missile(&mut self, cx: &mut Context<'_>, number: EntityNum) {
        let now = cx.clients.now;
        if let Some((_, missile)) = cx.entities.missile(number)
            && let Some(shooter) = missile.shooter()
            && self.players[shooter.index()].hook == Some(number)
        {
            self.clear_hook(cx, shooter);
        }
        cx.entities.remove(cx.host, number, now);
    }
}

#[cfg(test)]
impl Entities {
    /// Returns the current positions of all missiles.
    pub(super) fn missile_positions(&self) -> Vec<Vec3> {
        let flying = self.numbers().filter_map(|number| self.missile(number));
        flying.map(|(entity, _)| entity.shared.current_origin).collect()
    }
}

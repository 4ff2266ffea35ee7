//! Projectiles: launch, flight, bounce and impact.
//!
//! Clients compute the way from the trajectory, so a missile changes course only where it meets
//! something. Source: the base game's missiles.

use super::{
    Attack, Entity, EntityKind, EntityNum, Hit, SplashDamage, Vec3, client_of,
    hitscan::leaves_no_mark, snap::snap_toward,
};
use crate::game::deathmatch::{
    combat::damage::damage_entity,
    combat::splash::{distance_to_box, splash_damage},
    context::Context,
    entities::Entities,
    systems::Systems,
    weapons::Projectiles,
    weapons::invulnerability::deflect_off_sphere,
    weapons::mines::{arm_mine, check_proximity, explode_on_player, stick},
    weapons::{count_accurate, damage_multiplier},
};
use crate::model::{
    ClientNum, LevelTime, SvFlags, Trace, Trajectory, TrajectoryKind, contents::surface,
};
use crate::{
    bg::{
        EntityType, Event, MeansOfDeath, entity_flag,
        weapons::{self, ImpactBehavior},
    },
    game::{
        direction_bytes::dir_to_byte,
        movement::{trajectory, velocity},
    },
};

/// What is left of the speed after a bounce.
const BOUNCE: f32 = 0.65;
/// How level a surface must be to rest on it, and how slow what rests.
const RESTS_ABOVE: f32 = 0.2;
const RESTS_BELOW: f32 = 40.0;
/// Up.
const UP: Vec3 = Vec3::new(0.0, 0.0, 1.0);
/// Fastest that anything is thrown, whatever multiplies it.
const MAX_DAMAGE: f32 = 1_000_000.0;

/// What a missile is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissileState {
    /// Flies.
    Flying,
    /// A hook that holds, in the world or in somebody.
    Hooked(Option<EntityNum>),
    /// A mine that sticks and is not ready yet.
    Settling,
    /// A mine that waits for somebody.
    Waiting,
    /// A mine that goes off in a moment.
    Triggered,
    /// A mine that ticks on somebody.
    OnPlayer(ClientNum),
}

/// What only the server knows of a missile.
#[derive(Clone, Copy, Debug)]
pub(in crate::game::deathmatch) struct Missile {
    /// Who or what fired it.
    pub(super) owner: EntityNum,
    pub(super) number: i32,
    pub(super) damage: i32,
    pub(super) splash_damage: f32,
    pub(super) splash_radius: f32,
    pub(super) means: MeansOfDeath,
    pub(super) splash_means: MeansOfDeath,
    pub(super) on_impact: ImpactBehavior,
    pub(super) state: MissileState,
    /// A shell that turned it away and that it leaves first.
    pub(super) leaving: Option<EntityNum>,
    /// A mine that has left who laid it.
    pub(super) is_out: bool,
}

impl Missile {
    /// The player that fired it.
    pub(super) fn shooter(&self) -> Option<ClientNum> {
        client_of(self.owner)
    }

    /// Whether it is a mine that can be shot.
    pub(in crate::game::deathmatch) fn is_armed(&self) -> bool {
        matches!(self.state, MissileState::Waiting | MissileState::Triggered)
    }
}

impl Entities {
    pub(in crate::game::deathmatch) fn missile(
        &self,
        number: EntityNum,
    ) -> Option<(&Entity, &Missile)> {
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

/// Throws a missile for whoever or whatever owns it: a player, whose powerups make it stronger, or a
/// shooter of the map. The numbers of weapons that throw nothing do nothing.
pub(in crate::game::deathmatch) fn launch(
    cx: &mut Context<'_>,
    owner: EntityNum,
    number: i32,
    start: Vec3,
    direction: Vec3,
) -> Option<EntityNum> {
    let strength = client_of(owner).map_or(1.0, |client| damage_multiplier(cx, client));
    let weapon = weapons::weapon(number);
    let (Attack::Missile(kind) | Attack::Grapple(kind)) = weapon.attack else { return None };
    let (now, started) = cx.clock();
    let faster = if kind.random_speed > 0.0 { cx.rng.chance() * kind.random_speed } else { 0.0 };
    let speed = kind.speed + faster;
    let raised = |damage: i32| (damage as f32 * strength).min(MAX_DAMAGE);
    let missile = Missile {
        owner,
        number,
        damage: raised(weapon.damage) as i32,
        splash_damage: raised(kind.splash_damage).trunc(),
        splash_radius: kind.splash_radius,
        means: weapon.means,
        splash_means: kind.splash_means,
        on_impact: kind.on_impact,
        state: MissileState::Flying,
        leaving: None,
        is_out: false,
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
    let place = cx.entities.add(entity, now, started)?;
    cx.entities.link(cx.host, place);
    Some(place)
}

/// Every missile's frame, where they fly after all else.
pub(in crate::game::deathmatch) fn run_missiles(cx: &mut Context<'_>, sys: &mut Systems) {
    for number in cx.entities.numbers() {
        if cx.entities.missile(number).is_some() {
            run_missile(cx, sys, number);
        }
    }
}

/// A missile's frame.
pub(in crate::game::deathmatch) fn run_missile(
    cx: &mut Context<'_>,
    sys: &mut Systems,
    number: EntityNum,
) {
    let Some((_, missile)) = cx.entities.missile(number) else { return };
    if missile.state == MissileState::Flying {
        move_missile(cx, sys, number);
    }
    let Some((entity, missile)) = cx.entities.missile(number) else { return };
    let due = entity.think_at.is_some_and(|at| at.distance(cx.clients.now) <= 0);
    match missile.state {
        MissileState::Flying if due && missile.on_impact == ImpactBehavior::Hooks => {
            sys.projectiles.release(cx, number);
        }
        MissileState::Flying | MissileState::Triggered if due => explode(cx, sys, number),
        MissileState::Hooked(victim) if due => sys.combat.follow_victim(cx, number, victim),
        MissileState::Settling if due => arm_mine(cx, number),
        MissileState::Waiting => check_proximity(cx, sys, number, due),
        MissileState::OnPlayer(client) if due => explode_on_player(cx, sys, number, client),
        MissileState::Flying
        | MissileState::Hooked(_)
        | MissileState::Settling
        | MissileState::Triggered
        | MissileState::OnPlayer(_) => {}
    }
}

/// Moves a missile to where it is now, or to what stops it.
fn move_missile(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, missile)) = cx.entities.missile(number) else { return };
    let from = entity.shared.current_origin;
    let to = trajectory::position(&entity.state.pos, now);
    let pass = match missile.leaving {
        Some(shell) => shell,
        None if missile.is_out => number,
        None => missile.owner,
    };
    let leaves_owner = missile.on_impact == ImpactBehavior::Sticks && !missile.is_out;
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
            sys.projectiles.release(cx, number);
            return;
        }
        missile_impact(cx, sys, number, &trace);
    }
    if leaves_owner {
        leave_owner(cx, number);
    }
}

/// Notes that a mine has left the body of who laid it.
fn leave_owner(cx: &mut Context<'_>, number: EntityNum) {
    let Some((entity, missile)) = cx.entities.missile(number) else { return };
    let at = entity.shared.current_origin;
    let owner = missile.owner;
    let trace = cx.shot_trace(at, at, number);
    let inside = trace.startsolid && encloses(cx, owner, at);
    if let Some(entity) = cx.entities.get_mut(number)
        && let EntityKind::Missile(missile) = &mut entity.kind
    {
        missile.is_out = !inside;
    }
}

fn encloses(cx: &Context<'_>, number: EntityNum, point: Vec3) -> bool {
    distance_to_box(cx, number, point).is_some_and(|distance| distance <= 0.0)
}

/// A missile has met something.
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
    if let Some(shell) = client_of(other)
        && missile.on_impact != ImpactBehavior::Sticks
        && cx.is_invulnerable(shell)
    {
        return deflect_missile(cx, number, shell, trace);
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
    let to_flesh = damageable && client_of(other).is_some();
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

/// Hurts what a missile hit. True when that was an enemy.
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
    let good = shooter.is_some_and(|shooter| sys.combat.is_good_hit(cx, shooter, other));
    if let Some(shooter) = shooter.filter(|_| good) {
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
    good
}

/// The blast of a missile that ended. It counts as a hit when none was counted yet.
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
    let force = SplashDamage {
        center,
        damage: missile.splash_damage,
        radius: missile.splash_radius,
        means: missile.splash_means,
        attacker: missile.shooter(),
        spared,
    };
    let hit = splash_damage(cx, sys, &force);
    if let Some(shooter) = missile.shooter().filter(|_| hit && counts) {
        count_accurate(cx, shooter, missile.number);
    }
}

/// A missile ends where it is, of itself.
pub(super) fn explode(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, &missile)) = cx.entities.missile(number) else { return };
    let at = trajectory::position(&entity.state.pos, now).truncated();
    end_missile(cx, number, at, Event::MissileMiss, dir_to_byte(UP));
    splash(cx, sys, &missile, at, Some(number), true);
}

/// Turns a missile into the event that shows its end.
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

/// Goes on from a surface, more slowly, or comes to rest on it.
fn bounce(cx: &mut Context<'_>, number: EntityNum, trace: &Trace) {
    let now = cx.clients.now;
    let before = now - cx.frame.ms;
    let hit_at = LevelTime(before.0.wrapping_add((cx.frame.ms as f32 * trace.fraction) as i32));
    let Some((entity, missile)) = cx.entities.missile_mut(number) else { return };
    let velocity = trajectory::velocity(&entity.state.pos, hit_at);
    let normal = trace.plane.normal;
    let mut away = velocity.add_scaled(normal, -2.0 * velocity.dot(normal));
    if missile.on_impact == ImpactBehavior::Bounces {
        away = away * BOUNCE;
        if normal[2] > RESTS_ABOVE && away.length() < RESTS_BELOW {
            entity.set_origin(trace.endpos);
            return;
        }
    }
    let from = entity.shared.current_origin + normal;
    entity.shared.current_origin = from;
    entity.state.pos.delta = away;
    entity.state.pos.base = from;
    entity.state.pos.time = now.0;
}

/// A shell turns a missile away.
fn deflect_missile(cx: &mut Context<'_>, number: EntityNum, shell: ClientNum, trace: &Trace) {
    let Some((entity, _)) = cx.entities.missile(number) else { return };
    let (way, at) = (entity.state.pos.delta, entity.shared.current_origin);
    if let Some((_, normal)) = deflect_off_sphere(cx, shell, at, way) {
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
        missile.leaving = Some(shell.into());
    }
}
impl Projectiles {
    /// A missile is gone without a trace; a hook lets go.
    pub(in crate::game::deathmatch) fn release(&mut self, cx: &mut Context<'_>, number: EntityNum) {
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
    /// Where everything that flies is now.
    pub(super) fn missile_positions(&self) -> Vec<Vec3> {
        let flying = self.numbers().filter_map(|number| self.missile(number));
        flying.map(|(entity, _)| entity.shared.current_origin).collect()
    }
}

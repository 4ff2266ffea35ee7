//! Missiles: launch, bounce, deflection and end.
//!
//! Clients compute the flight from the trajectory, so a missile changes its course only at a collision.
//! Source: the base game's missiles.
//!
//! Engine names: `fire_rocket`, `G_BounceMissile`.

use crate::bg::weapons::{self, Attack, ImpactBehavior};
use crate::bg::{EntityType, Event, entity_flag};
use crate::game::deathmatch::entity_kinds::{EntityKind, Missile, MissileState};
use crate::game::deathmatch::projectiles::{Projectiles, damage_multiplier};
use crate::game::deathmatch::{
    context::Context, entities::Entities, entities::Entity,
    projectiles::invulnerability::deflect_off_sphere, reach::distance_to_box,
};
use crate::game::movement::{trajectory, velocity};
use crate::model::{ClientNum, EntityNum, SvFlags, Trace, Trajectory, TrajectoryKind, Vec3};

/// Fraction of the speed that is left after a bounce.
const BOUNCE: f32 = 0.65;
/// Minimum slope normal and maximum speed of a missile that comes to rest.
const REST_MIN_NORMAL: f32 = 0.2;
const REST_MAX_SPEED: f32 = 40.0;
/// Cap of the multiplied damage.
const MAX_DAMAGE: f32 = 1_000_000.0;

impl Entities {
    pub(crate) fn missile(&self, number: EntityNum) -> Option<(&Entity, &Missile)> {
        let entity = self.get(number)?;
        let EntityKind::Missile(missile) = &entity.kind else { return None };
        Some((entity, missile))
    }

    pub(crate) fn missile_mut(&mut self, number: EntityNum) -> Option<(&mut Entity, Missile)> {
        let entity = self.get_mut(number)?;
        let EntityKind::Missile(missile) = entity.kind else { return None };
        Some((entity, missile))
    }

    pub(crate) fn set_missile_state(&mut self, number: EntityNum, state: MissileState) {
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
    let multiplier = owner.client().map_or(1.0, |client| damage_multiplier(cx, client));
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

/// Records whether a mine has left its owner's bounding box.
pub(crate) fn update_left_owner(cx: &mut Context<'_>, number: EntityNum) {
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

/// Turns a missile into the event of its explosion.
pub(crate) fn end_missile(
    cx: &mut Context<'_>,
    number: EntityNum,
    at: Vec3,
    event: Event,
    parm: i32,
) {
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
pub(crate) fn bounce(cx: &mut Context<'_>, number: EntityNum, trace: &Trace) {
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
pub(crate) fn deflect_missile(
    cx: &mut Context<'_>,
    number: EntityNum,
    sphere: ClientNum,
    trace: &Trace,
) {
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
    pub(crate) fn missile_positions(&self) -> Vec<Vec3> {
        let flying = self.numbers().filter_map(|number| self.missile(number));
        flying.map(|(entity, _)| entity.shared.current_origin).collect()
    }
}

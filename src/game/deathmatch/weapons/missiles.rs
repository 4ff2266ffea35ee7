//! What flies: grenades, rockets, plasma, nails, mines and hooks on their way, and where it ends.
//!
//! Clients compute the way from the trajectory, so a missile changes course only where it meets
//! something. Source: the base game's missiles.

use super::{
    Attack, Blast, Deathmatch, EntityNum, Hit, Host, Thing, Vec3, What, client_of,
    end::rounded_toward, hitscan::leaves_nothing,
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
        direction_bytes::direction_byte,
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
const MAX_POINTS: f32 = 1_000_000.0;

/// What a missile is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
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
    pub(super) points: i32,
    pub(super) splash_points: f32,
    pub(super) splash_radius: f32,
    pub(super) means: MeansOfDeath,
    pub(super) splash_means: MeansOfDeath,
    pub(super) on_impact: ImpactBehavior,
    pub(super) stage: Stage,
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
        matches!(self.stage, Stage::Waiting | Stage::Triggered)
    }
}

impl Deathmatch {
    pub(super) fn missile(&self, number: EntityNum) -> Option<(&Thing, &Missile)> {
        let thing = self.things.get(number)?;
        let What::Missile(missile) = &thing.what else { return None };
        Some((thing, missile))
    }

    pub(super) fn missile_mut(&mut self, number: EntityNum) -> Option<(&mut Thing, Missile)> {
        let thing = self.things.get_mut(number)?;
        let What::Missile(missile) = thing.what else { return None };
        Some((thing, missile))
    }

    pub(super) fn set_stage(&mut self, number: EntityNum, stage: Stage) {
        if let Some(thing) = self.things.get_mut(number)
            && let What::Missile(missile) = &mut thing.what
        {
            missile.stage = stage;
        }
    }

    /// Throws a missile for whoever or whatever owns it: a player, whose powerups make it stronger, or a
    /// shooter of the map. The numbers of weapons that throw nothing do nothing.
    pub(in crate::game::deathmatch) fn launch(
        &mut self,
        host: &mut dyn Host,
        owner: EntityNum,
        number: i32,
        start: Vec3,
        direction: Vec3,
    ) -> Option<EntityNum> {
        let strength = client_of(owner).map_or(1.0, |client| self.strength(client));
        let weapon = weapons::weapon(number);
        let (Attack::Missile(kind) | Attack::Grapple(kind)) = weapon.attack else { return None };
        let (now, started) = self.clock();
        let faster = if kind.random_speed > 0.0 { self.chance() * kind.random_speed } else { 0.0 };
        let speed = kind.speed + faster;
        let raised = |points: i32| (points as f32 * strength).min(MAX_POINTS);
        let missile = Missile {
            owner,
            number,
            points: raised(weapon.damage) as i32,
            splash_points: raised(kind.splash_damage).trunc(),
            splash_radius: kind.splash_radius,
            means: weapon.means,
            splash_means: kind.splash_means,
            on_impact: kind.on_impact,
            stage: Stage::Flying,
            leaving: None,
            is_out: false,
        };
        let mut thing = Thing::new(What::Missile(missile), start);
        let falls = if kind.falls { TrajectoryKind::Gravity } else { TrajectoryKind::Linear };
        thing.state.pos = Trajectory {
            kind: falls as i32,
            time: (now - kind.prestep_ms).0,
            duration: 0,
            base: start,
            delta: (velocity::direction(direction) * speed).truncated(),
        };
        thing.state.e_type = EntityType::Missile as i32;
        thing.state.weapon = number;
        thing.shared.sv_flags = SvFlags::USE_CURRENT_ORIGIN;
        thing.shared.owner_num = owner.index() as i32;
        if self.people.profile.fights.names_shooters {
            thing.state.other_entity_num = owner.index() as i32;
        }
        match kind.on_impact {
            ImpactBehavior::Bounces => thing.state.e_flags = entity_flag::BOUNCE_HALF,
            ImpactBehavior::Sticks => {
                thing.state.generic1 =
                    missile.shooter().map_or(0, |shooter| self.people.team(shooter) as i32);
            }
            ImpactBehavior::Hooks => thing.state.other_entity_num = owner.index() as i32,
            ImpactBehavior::Explodes => {}
        }
        thing.think_at = Some(now + kind.life_ms);
        let place = self.things.add(thing, now, started)?;
        self.things.link(host, place);
        Some(place)
    }

    /// Every missile's frame, where they fly after all else.
    pub(in crate::game::deathmatch) fn run_missiles(&mut self, host: &mut dyn Host) {
        for number in self.things.numbers() {
            if self.missile(number).is_some() {
                self.run_missile(host, number);
            }
        }
    }

    /// A missile's frame.
    pub(in crate::game::deathmatch) fn run_missile(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
    ) {
        let Some((_, missile)) = self.missile(number) else { return };
        if missile.stage == Stage::Flying {
            self.fly_on(host, number);
        }
        let Some((thing, missile)) = self.missile(number) else { return };
        let due = thing.think_at.is_some_and(|at| at.distance(self.people.now) <= 0);
        match missile.stage {
            Stage::Flying if due && missile.on_impact == ImpactBehavior::Hooks => {
                self.release(host, number);
            }
            Stage::Flying | Stage::Triggered if due => self.explode(host, number),
            Stage::Hooked(victim) if due => self.follow_victim(host, number, victim),
            Stage::Settling if due => self.arm_mine(host, number),
            Stage::Waiting => self.watch_for_victims(host, number, due),
            Stage::OnPlayer(client) if due => self.explode_on_player(host, number, client),
            Stage::Flying
            | Stage::Hooked(_)
            | Stage::Settling
            | Stage::Triggered
            | Stage::OnPlayer(_) => {}
        }
    }

    /// Moves a missile to where it is now, or to what stops it.
    fn fly_on(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        let Some((thing, missile)) = self.missile(number) else { return };
        let from = thing.shared.current_origin;
        let to = trajectory::position(&thing.state.pos, now);
        let pass = match missile.leaving {
            Some(shell) => shell,
            None if missile.is_out => number,
            None => missile.owner,
        };
        let leaves_owner = missile.on_impact == ImpactBehavior::Sticks && !missile.is_out;
        let mut trace = self.shot_trace(&*host, from, to, pass);
        if trace.startsolid || trace.allsolid {
            trace = self.shot_trace(&*host, from, from, pass);
            trace.fraction = 0.0;
        } else if let Some(thing) = self.things.get_mut(number) {
            thing.shared.current_origin = trace.endpos;
        }
        self.things.link(host, number);
        if trace.fraction < 1.0 {
            if leaves_nothing(&trace) {
                self.release(host, number);
                return;
            }
            self.meet(host, number, &trace);
        }
        if leaves_owner {
            self.leave_owner(&*host, number);
        }
    }

    /// Notes that a mine has left the body of who laid it.
    fn leave_owner(&mut self, host: &dyn Host, number: EntityNum) {
        let Some((thing, missile)) = self.missile(number) else { return };
        let at = thing.shared.current_origin;
        let owner = missile.owner;
        let trace = self.shot_trace(host, at, at, number);
        let inside = trace.startsolid && self.encloses(owner, at);
        if let Some(thing) = self.things.get_mut(number)
            && let What::Missile(missile) = &mut thing.what
        {
            missile.is_out = !inside;
        }
    }

    fn encloses(&self, number: EntityNum, point: Vec3) -> bool {
        self.distance_to_box(number, point).is_some_and(|distance| distance <= 0.0)
    }

    /// A missile has met something.
    fn meet(&mut self, host: &mut dyn Host, number: EntityNum, trace: &Trace) {
        let Some((_, &missile)) = self.missile(number) else { return };
        let other = trace.entity;
        let damageable = self.is_damageable(other);
        if !damageable && missile.on_impact == ImpactBehavior::Bounces {
            self.bounce(number, trace);
            let now = self.people.now;
            if let Some(thing) = self.things.get_mut(number) {
                thing.raise(Event::GrenadeBounce, 0, now);
            }
            return;
        }
        if let Some(shell) = client_of(other)
            && missile.on_impact != ImpactBehavior::Sticks
            && self.is_invulnerable(shell)
        {
            return self.turn_away(host, number, shell, trace);
        }
        let mut hit_enemy = false;
        if damageable && missile.points > 0 {
            hit_enemy = self.hit_directly(host, number, other);
        }
        match missile.on_impact {
            ImpactBehavior::Sticks => return self.stick(host, number, trace),
            ImpactBehavior::Hooks => return self.hook_into(host, number, trace),
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
        let how = self.people.profile.fights.end_rounding;
        let normal = direction_byte(trace.plane.normal);
        let Some((thing, _)) = self.missile_mut(number) else { return };
        let at = rounded_toward(trace.endpos, thing.state.pos.base, how);
        if to_flesh {
            thing.state.other_entity_num = other.index() as i32;
        }
        self.end_missile(host, number, at, event, normal);
        self.splash(host, &missile, at, Some(other), !hit_enemy);
    }

    /// Hurts what a missile hit. True when that was an enemy.
    fn hit_directly(&mut self, host: &mut dyn Host, number: EntityNum, other: EntityNum) -> bool {
        let now = self.people.now;
        let Some((thing, &missile)) = self.missile(number) else { return false };
        let mut direction = trajectory::velocity(&thing.state.pos, now);
        if direction == Vec3::ZERO {
            direction = UP;
        }
        let at = thing.shared.current_origin;
        let shooter = missile.shooter();
        let good = shooter.is_some_and(|shooter| self.is_good_hit(shooter, other));
        if let Some(shooter) = shooter.filter(|_| good) {
            self.count_accurate(shooter, missile.number);
        }
        let hit = Hit {
            attacker: shooter,
            inflictor: Some(number),
            direction: Some(direction),
            point: Some(at),
            ..Hit::by_world(missile.points, missile.means)
        };
        self.harm(host, other, &hit);
        good
    }

    /// The blast of a missile that ended. It counts as a hit when none was counted yet.
    fn splash(
        &mut self,
        host: &mut dyn Host,
        missile: &Missile,
        center: Vec3,
        spared: Option<EntityNum>,
        counts: bool,
    ) {
        if missile.splash_points <= 0.0 {
            return;
        }
        let blast = Blast {
            center,
            points: missile.splash_points,
            radius: missile.splash_radius,
            means: missile.splash_means,
            attacker: missile.shooter(),
            spared,
        };
        let hit = self.blast(host, &blast);
        if let Some(shooter) = missile.shooter().filter(|_| hit && counts) {
            self.count_accurate(shooter, missile.number);
        }
    }

    /// A missile ends where it is, of itself.
    pub(super) fn explode(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        let Some((thing, &missile)) = self.missile(number) else { return };
        let at = trajectory::position(&thing.state.pos, now).truncated();
        self.end_missile(host, number, at, Event::MissileMiss, direction_byte(UP));
        self.splash(host, &missile, at, Some(number), true);
    }

    /// Turns a missile into the event that shows its end.
    fn end_missile(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        at: Vec3,
        event: Event,
        parm: i32,
    ) {
        let now = self.people.now;
        if let Some(thing) = self.things.get_mut(number) {
            thing.what = What::Event;
            thing.state.e_type = EntityType::General as i32;
            thing.state.loop_sound = 0;
            thing.shared.contents = 0;
            thing.shared.sv_flags.0 &= !SvFlags::NO_CLIENT.0;
            thing.think_at = None;
            thing.put(at);
            thing.raise(event, parm, now);
        }
        self.things.link(host, number);
    }

    /// Goes on from a surface, more slowly, or comes to rest on it.
    fn bounce(&mut self, number: EntityNum, trace: &Trace) {
        let now = self.people.now;
        let before = now - self.frame_ms;
        let hit_at =
            LevelTime(before.0.wrapping_add((self.frame_ms as f32 * trace.fraction) as i32));
        let Some((thing, missile)) = self.missile_mut(number) else { return };
        let velocity = trajectory::velocity(&thing.state.pos, hit_at);
        let normal = trace.plane.normal;
        let mut away = velocity.add_scaled(normal, -2.0 * velocity.dot(normal));
        if missile.on_impact == ImpactBehavior::Bounces {
            away = away * BOUNCE;
            if normal[2] > RESTS_ABOVE && away.length() < RESTS_BELOW {
                thing.put(trace.endpos);
                return;
            }
        }
        let from = thing.shared.current_origin + normal;
        thing.shared.current_origin = from;
        thing.state.pos.delta = away;
        thing.state.pos.base = from;
        thing.state.pos.time = now.0;
    }

    /// A shell turns a missile away.
    fn turn_away(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        shell: ClientNum,
        trace: &Trace,
    ) {
        let Some((thing, _)) = self.missile(number) else { return };
        let (way, at) = (thing.state.pos.delta, thing.shared.current_origin);
        if let Some((_, normal)) = self.bounce_off_shell(host, shell, at, way) {
            let now = self.people.now;
            if let Some(thing) = self.things.get_mut(number) {
                let velocity = trajectory::velocity(&thing.state.pos, now);
                let away = velocity.add_scaled(normal, -2.0 * velocity.dot(normal));
                thing.shared.current_origin = trace.endpos + normal;
                thing.state.pos.base = thing.shared.current_origin;
                thing.state.pos.delta = away;
                thing.state.pos.time = now.0;
            }
        }
        if let Some(thing) = self.things.get_mut(number)
            && let What::Missile(missile) = &mut thing.what
        {
            missile.leaving = Some(shell.into());
        }
    }

    /// A missile is gone without a trace; a hook lets go.
    pub(super) fn release(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        if let Some((_, missile)) = self.missile(number)
            && let Some(shooter) = missile.shooter()
            && self.bodies[shooter.index()].hook == Some(number)
        {
            self.forget_hook(shooter);
        }
        self.things.remove(host, number, now);
    }
}

#[cfg(test)]
impl Deathmatch {
    /// Where everything that flies is now.
    pub(super) fn missile_places(&self) -> Vec<Vec3> {
        let flying = self.things.numbers().filter_map(|number| self.missile(number));
        flying.map(|(thing, _)| thing.shared.current_origin).collect()
    }
}

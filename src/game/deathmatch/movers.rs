//! Moving parts of the map: what turns and swings by itself, and what goes to and fro between two places.
//!
//! Clients compute where a mover is from its trajectory, so each change of course starts exactly where
//! and when the last one ended. Movers of one team move together, led by a captain. Source: the base
//! game's movers.

use super::{
    Deathmatch,
    level::{model, sound},
    things::{Thing, What},
};
use crate::game::{
    Host,
    movement::trajectory,
    numbers::{EntityType, contents, event},
};
use crate::model::{ClientNum, EntityNum, LevelTime, SvFlags, Trajectory, TrajectoryKind, Vec3};
use crate::world::{Entities, entities::Entity};

/// How long after its use a mover sets out, in milliseconds.
const HESITATION_MS: i32 = 50;
/// How far the box that opens a door reaches.
const DOOR_REACH: f32 = 120.0;
/// How far the box above a lift stays from its sides, and how much higher it is.
const PLAT_INSET: f32 = 33.0;
const PLAT_RISE: f32 = 8.0;
/// How long a lift waits for who stands on it, in milliseconds.
const PLAT_WAIT_MS: i32 = 1000;
/// Most corners of a train's way.
const MAX_CORNERS: usize = 256;
/// Shortest pendulum.
const MIN_PENDULUM: f32 = 8.0;

/// What a mover is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Stays, turns or swings by itself.
    Free,
    Door {
        crusher: bool,
    },
    Plat,
    Button,
    Train(Vec<Corner>),
}

/// A corner of a train's way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Corner {
    at: Vec3,
    /// Milliseconds that it waits here, and then takes to the next.
    wait_ms: i32,
    travel_ms: i32,
}

/// Where a mover with two places is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    At(usize),
    To(usize),
}

/// What only the server knows of a mover.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    pub(super) kind: Kind,
    pub(super) ends: [Vec3; 2],
    pub(super) leg: Leg,
    /// Time from end to end.
    pub(super) travel_ms: i32,
    pub(super) wait_ms: i32,
    pub(super) damage: i32,
    start_sound: i32,
    end_sound: i32,
    /// Leads the team; itself when it is alone.
    pub(super) captain: Option<EntityNum>,
    team: Box<str>,
    /// Opened by damage only.
    armoured: bool,
    activator: Option<ClientNum>,
    /// The corner of its way that a train is at or comes from.
    corner: usize,
}

impl Mover {
    fn new(kind: Kind, entity: &Entity) -> Self {
        Self {
            kind,
            ends: [entity.origin(); 2],
            leg: Leg::At(0),
            travel_ms: 0,
            wait_ms: 0,
            damage: entity.spawn_value("dmg").map_or(2, crate::model::text::leading_int),
            start_sound: 0,
            end_sound: 0,
            captain: None,
            team: entity.field("team").unwrap_or_default().into(),
            armoured: entity.int("health").unwrap_or(0) != 0,
            activator: None,
            corner: 0,
        }
    }
}

/// A course that ends.
fn course(from: Vec3, to: Vec3, ms: i32, at: LevelTime) -> Trajectory {
    let ms = ms.max(1);
    Trajectory {
        kind: TrajectoryKind::LinearStop as i32,
        time: at.0,
        duration: ms,
        base: from,
        delta: (to - from) * (1000.0 / ms as f32),
    }
}

/// A number from the map, within what makes sense.
fn number(entity: &Entity, key: &str, default: f32) -> f32 {
    entity.float(key).unwrap_or(default).clamp(-100_000.0, 100_000.0)
}

impl Deathmatch {
    pub(super) fn mover(&self, number: EntityNum) -> Option<(&Thing, &Mover)> {
        let thing = self.things.get(number)?;
        let What::Mover(mover) = &thing.what else { return None };
        Some((thing, mover))
    }

    /// Changes a thing and its mover at once.
    pub(super) fn with_mover<R>(
        &mut self,
        number: EntityNum,
        change: impl FnOnce(&mut Thing, &mut Mover) -> R,
    ) -> Option<R> {
        let thing = self.things.get_mut(number)?;
        let What::Mover(mover) = &mut thing.what else { return None };
        let mut mover = std::mem::replace(&mut **mover, Mover::nobody());
        let result = change(thing, &mut mover);
        if let What::Mover(place) = &mut thing.what {
            **place = mover;
        }
        Some(result)
    }

    /// What all movers have: brushes, a second model, a sound, light.
    fn add_mover(
        &mut self,
        host: &mut dyn Host,
        entity: &Entity,
        mover: Mover,
    ) -> Option<EntityNum> {
        let number = self.add(entity, What::Mover(Box::new(mover)))?;
        if !self.give_brushes(host, entity, number, -1) {
            self.things.remove(host, number, self.people.now);
            return None;
        }
        self.set_type(number, EntityType::Mover);
        let second = entity.field("model2").map_or(0, |name| model(host, name));
        let noise = entity.spawn_value("noise").map_or(0, |name| sound(host, name));
        let light = light_of(entity);
        let thing = self.things.get_mut(number)?;
        thing.state.modelindex2 = second;
        thing.state.loop_sound = noise;
        thing.state.constant_light = light;
        thing.shared.sv_flags = SvFlags::USE_CURRENT_ORIGIN;
        thing.state.apos = Trajectory::stationary(Vec3::ZERO, LevelTime(0));
        self.things.link(host, number);
        Some(number)
    }

    pub(super) fn spawn_static(&mut self, host: &mut dyn Host, entity: &Entity) {
        self.add_mover(host, entity, Mover::new(Kind::Free, entity));
    }

    pub(super) fn spawn_rotating(&mut self, host: &mut dyn Host, entity: &Entity) {
        let place = self.add_mover(host, entity, Mover::new(Kind::Free, entity));
        let speed = match number(entity, "speed", 100.0) {
            0.0 => 100.0,
            speed => speed,
        };
        let now = self.people.now;
        let Some(thing) = place.and_then(|place| self.things.get_mut(place)) else { return };
        let axis = match thing.spawnflags {
            flags if flags & 4 != 0 => 2,
            flags if flags & 8 != 0 => 0,
            _ => 1,
        };
        thing.state.apos.kind = TrajectoryKind::Linear as i32;
        thing.state.apos.time = 0;
        thing.state.apos.base = thing.state.angles;
        thing.state.apos.delta[axis] = speed;
        thing.shared.current_angles = trajectory::position(&thing.state.apos, now);
        self.relink(host, place);
    }

    pub(super) fn spawn_bobbing(&mut self, host: &mut dyn Host, entity: &Entity) {
        let place = self.add_mover(host, entity, Mover::new(Kind::Free, entity));
        let period_ms = (number(entity, "speed", 4.0) * 1000.0) as i32;
        let height = number(entity, "height", 32.0);
        let phase = number(entity, "phase", 0.0);
        let now = self.people.now;
        let Some(thing) = place.and_then(|place| self.things.get_mut(place)) else { return };
        let axis = match thing.spawnflags {
            flags if flags & 1 != 0 => 0,
            flags if flags & 2 != 0 => 1,
            _ => 2,
        };
        let pos = &mut thing.state.pos;
        pos.kind = TrajectoryKind::Sine as i32;
        pos.duration = period_ms.max(1);
        pos.time = (pos.duration as f32 * phase) as i32;
        pos.delta[axis] = height;
        thing.shared.current_origin = trajectory::position(&thing.state.pos, now);
        self.relink(host, place);
    }

    pub(super) fn spawn_pendulum(&mut self, host: &mut dyn Host, entity: &Entity) {
        let place = self.add_mover(host, entity, Mover::new(Kind::Free, entity));
        let swing = number(entity, "speed", 30.0);
        let phase = number(entity, "phase", 0.0);
        let gravity = self.people.rules.gravity.max(1) as f32;
        let now = self.people.now;
        let Some(thing) = place.and_then(|place| self.things.get_mut(place)) else { return };
        let length = thing.shared.mins[2].abs().max(MIN_PENDULUM);
        let frequency = (gravity / (3.0 * length)).sqrt() / (std::f32::consts::PI * 2.0);
        let apos = &mut thing.state.apos;
        apos.kind = TrajectoryKind::Sine as i32;
        apos.base = thing.state.angles;
        apos.duration = ((1000.0 / frequency) as i32).max(1);
        apos.time = (apos.duration as f32 * phase) as i32;
        apos.delta[2] = swing;
        thing.shared.current_angles = trajectory::position(&thing.state.apos, now);
        self.relink(host, place);
    }

    fn relink(&mut self, host: &mut dyn Host, number: Option<EntityNum>) {
        if let Some(number) = number {
            self.things.link(host, number);
        }
    }

    pub(super) fn spawn_door(&mut self, host: &mut dyn Host, entity: &Entity) {
        let start = sound(host, "sound/movers/doors/dr1_strt.wav");
        let end = sound(host, "sound/movers/doors/dr1_end.wav");
        let crusher = entity.int("spawnflags").unwrap_or(0) & 4 != 0;
        let mut mover = Mover::new(Kind::Door { crusher }, entity);
        (mover.start_sound, mover.end_sound) = (start, end);
        mover.wait_ms = (number(entity, "wait", 2.0) * 1000.0) as i32;
        self.spawn_slider(host, entity, mover, 400.0, 8.0);
    }

    pub(super) fn spawn_button(&mut self, host: &mut dyn Host, entity: &Entity) {
        let mut mover = Mover::new(Kind::Button, entity);
        mover.start_sound = sound(host, "sound/movers/switches/butn2.wav");
        mover.wait_ms = (number(entity, "wait", 1.0) * 1000.0) as i32;
        self.spawn_slider(host, entity, mover, 40.0, 4.0);
    }

    /// Something that slides out of its place in a direction by its own size.
    fn spawn_slider(
        &mut self,
        host: &mut dyn Host,
        entity: &Entity,
        mover: Mover,
        speed: f32,
        lip: f32,
    ) {
        let starts_open =
            mover.kind != Kind::Button && entity.int("spawnflags").unwrap_or(0) & 1 != 0;
        let Some(place) = self.add_mover(host, entity, mover) else { return };
        let direction = Self::direction_of(entity.angles());
        let lip = number(entity, "lip", lip);
        let speed = number(entity, "speed", speed);
        self.with_mover(place, |thing, mover| {
            let size = thing.shared.maxs - thing.shared.mins;
            let along = Vec3(direction.0.map(f32::abs)).dot(size) - lip;
            mover.ends[1] = mover.ends[0].add_scaled(direction, along);
            if starts_open {
                mover.ends.swap(0, 1);
            }
            thing.state.angles = Vec3::ZERO;
            mover.set_out(speed);
        });
        self.rest_at(host, place, 0);
    }

    pub(super) fn spawn_plat(&mut self, host: &mut dyn Host, entity: &Entity) {
        let start = sound(host, "sound/movers/plats/pt1_strt.wav");
        let end = sound(host, "sound/movers/plats/pt1_end.wav");
        let mut mover = Mover::new(Kind::Plat, entity);
        (mover.start_sound, mover.end_sound) = (start, end);
        mover.wait_ms = PLAT_WAIT_MS;
        let Some(place) = self.add_mover(host, entity, mover) else { return };
        let lip = number(entity, "lip", 8.0);
        let height = entity.float("height");
        let speed = number(entity, "speed", 200.0);
        self.with_mover(place, |thing, mover| {
            let tall = thing.shared.maxs[2] - thing.shared.mins[2];
            mover.ends[1] = entity.origin();
            mover.ends[0] = entity.origin();
            mover.ends[0][2] -= height.unwrap_or(tall - lip);
            thing.state.angles = Vec3::ZERO;
            mover.set_out(speed);
        });
        self.rest_at(host, place, 0);
        if self.things.get(place).is_some_and(|thing| thing.targetname.is_empty()) {
            self.add_plat_helper(host, place);
        }
    }

    fn add_plat_helper(&mut self, host: &mut dyn Host, plat: EntityNum) {
        let Some((thing, mover)) = self.mover(plat) else { return };
        let (mut mins, mut maxs) =
            (mover.ends[0] + thing.shared.mins, mover.ends[0] + thing.shared.maxs);
        for axis in 0..2 {
            mins[axis] += PLAT_INSET;
            maxs[axis] -= PLAT_INSET;
            if maxs[axis] <= mins[axis] {
                let middle = (mins[axis] + maxs[axis]) * 0.5;
                (mins[axis], maxs[axis]) = (middle, middle + 1.0);
            }
        }
        maxs[2] += PLAT_RISE;
        self.add_helper(host, What::PlatHelper(plat), [mins, maxs]);
    }

    fn add_helper(&mut self, host: &mut dyn Host, what: What, [mins, maxs]: [Vec3; 2]) {
        let (now, started) = self.clock();
        let mut helper = Thing::new(what, Vec3::ZERO);
        helper.shared.mins = mins;
        helper.shared.maxs = maxs;
        helper.shared.contents = contents::TRIGGER;
        helper.shared.sv_flags = SvFlags::NO_CLIENT;
        if let Some(number) = self.things.add(helper, now, started) {
            self.things.link(host, number);
        }
    }

    pub(super) fn spawn_train(&mut self, host: &mut dyn Host, entity: &Entity) {
        self.add_mover(host, entity, Mover::new(Kind::Free, entity));
    }

    /// A train, with the corners of its way.
    pub(super) fn spawn_train_on(
        &mut self,
        host: &mut dyn Host,
        entity: &Entity,
        entities: &Entities,
    ) {
        let speed = match number(entity, "speed", 100.0) {
            0.0 => 100.0,
            speed => speed.abs(),
        };
        let next = |from: &Entity| {
            let name = from.field("target")?;
            entities
                .targets(name)
                .find(|corner| corner.classname().eq_ignore_ascii_case("path_corner"))
        };
        let first = next(entity);
        let mut way: Vec<&Entity> = Vec::new();
        let mut at = first;
        while let Some(corner) = at {
            if way.len() == MAX_CORNERS || way.iter().any(|known| std::ptr::eq(*known, corner)) {
                break;
            }
            way.push(corner);
            at = next(corner);
        }
        if way.len() < 2 {
            host.print("a train has no way to go; it stays");
            return self.spawn_static(host, entity);
        }
        let corners: Vec<Corner> = way
            .iter()
            .enumerate()
            .map(|(place, corner)| {
                let following = way[(place + 1) % way.len()];
                let distance = (following.origin() - corner.origin()).length();
                let pace = match number(corner, "speed", speed) {
                    0.0 => speed,
                    pace => pace.abs(),
                };
                Corner {
                    at: corner.origin(),
                    wait_ms: (number(corner, "wait", 0.0) * 1000.0).max(0.0) as i32,
                    travel_ms: ((distance * 1000.0 / pace.max(1.0)) as i32).max(1),
                }
            })
            .collect();
        let begin = corners[0].at;
        let mut mover = Mover::new(Kind::Train(corners), entity);
        if entity.int("spawnflags").unwrap_or(0) & 4 != 0 {
            mover.damage = 0;
        }
        let now = self.people.now;
        let Some(place) = self.add_mover(host, entity, mover) else { return };
        if let Some(thing) = self.things.get_mut(place) {
            thing.state.angles = Vec3::ZERO;
            thing.put(begin);
            // The way is known from the first frame on.
            thing.think_at = Some(now + 100);
        }
        self.things.link(host, place);
    }

    /// Forms teams, and the boxes that open doors, once everything is there.
    pub(super) fn join_mover_teams(&mut self, host: &mut dyn Host) {
        for number in self.things.numbers() {
            let Some((_, mover)) = self.mover(number) else { continue };
            let team = mover.team.clone();
            let captain = self
                .things
                .numbers()
                .find(|&other| {
                    !team.is_empty()
                        && self.mover(other).is_some_and(|(_, other)| other.team == team)
                })
                .unwrap_or(number);
            self.with_mover(number, |_, mover| mover.captain = Some(captain));
        }
        for number in self.things.numbers() {
            let Some((thing, mover)) = self.mover(number) else { continue };
            let is_door = matches!(mover.kind, Kind::Door { .. }) && !mover.armoured;
            if !is_door || mover.captain != Some(number) || !thing.targetname.is_empty() {
                continue;
            }
            let mut bounds: Option<[Vec3; 2]> = None;
            for part in self.team_of(number) {
                let Some(part) = self.things.get(part) else { continue };
                let own = [part.shared.absmin, part.shared.absmax];
                let joined = bounds.map_or(own, |[mins, maxs]| {
                    let pick = |f: fn(f32, f32) -> f32, a: Vec3, b: Vec3| {
                        Vec3([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])])
                    };
                    [pick(f32::min, mins, own[0]), pick(f32::max, maxs, own[1])]
                });
                bounds = Some(joined);
            }
            let Some([mut mins, mut maxs]) = bounds else { continue };
            let mut thinnest = 0;
            for axis in 1..3 {
                if maxs[axis] - mins[axis] < maxs[thinnest] - mins[thinnest] {
                    thinnest = axis;
                }
            }
            mins[thinnest] -= DOOR_REACH;
            maxs[thinnest] += DOOR_REACH;
            self.add_helper(host, What::DoorHelper(number), [mins, maxs]);
        }
    }

    /// The movers that a captain leads, itself included.
    pub(super) fn team_of(&self, captain: EntityNum) -> Vec<EntityNum> {
        let led = |&number: &EntityNum| {
            self.mover(number).is_some_and(|(_, mover)| mover.captain == Some(captain))
        };
        self.things.numbers().filter(led).collect()
    }

    /// Somebody has run into a mover: buttons move.
    pub(super) fn bump_mover(&mut self, host: &mut dyn Host, number: EntityNum, client: ClientNum) {
        let Some((_, mover)) = self.mover(number) else { return };
        match (&mover.kind, mover.leg) {
            (Kind::Button, Leg::At(0)) => self.use_mover(host, number, Some(client)),
            (Kind::Plat, Leg::At(1)) if !self.is_dead(client) => {
                self.return_later(number, PLAT_WAIT_MS);
            }
            _ => {}
        }
    }

    pub(super) fn stand_on_plat(
        &mut self,
        host: &mut dyn Host,
        plat: EntityNum,
        client: ClientNum,
    ) {
        if self.mover(plat).is_some_and(|(_, mover)| mover.leg == Leg::At(0)) {
            self.use_mover(host, plat, Some(client));
        }
    }

    fn return_later(&mut self, number: EntityNum, wait_ms: i32) {
        let now = self.people.now;
        if let Some(thing) = self.things.get_mut(number) {
            thing.think_at = Some(now + wait_ms);
        }
    }

    /// Sets a mover with two places, and its team, going or turns them around.
    pub(super) fn use_mover(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
    ) {
        let now = self.people.now;
        let captain = self.mover(number).and_then(|(_, mover)| mover.captain).unwrap_or(number);
        let Some((_, mover)) = self.mover(captain) else { return };
        if matches!(mover.kind, Kind::Free | Kind::Train(_)) {
            return;
        }
        let (leg, wait_ms) = (mover.leg, mover.wait_ms);
        self.with_mover(captain, |_, mover| mover.activator = activator);
        match leg {
            Leg::At(0) => {
                for part in self.team_of(captain) {
                    self.send_to(host, part, 1, now + HESITATION_MS);
                }
                self.sound_start(captain);
                self.set_portals(host, captain, true);
            }
            Leg::At(_) => self.return_later(captain, wait_ms.max(0)),
            Leg::To(end) => self.turn_around(host, captain, end),
        }
    }

    /// Every part of a team goes back to where it came from, from where it is.
    pub(super) fn turn_around(&mut self, host: &mut dyn Host, captain: EntityNum, end: usize) {
        let now = self.people.now;
        for part in self.team_of(captain) {
            let back = self.with_mover(part, |thing, mover| {
                let passed = now.distance(LevelTime(thing.state.pos.time));
                now - (mover.travel_ms - passed.clamp(0, mover.travel_ms))
            });
            if let Some(since) = back {
                self.send_to(host, part, 1 - end, since);
            }
        }
        self.sound_start(captain);
    }

    fn sound_start(&mut self, number: EntityNum) {
        let now = self.people.now;
        self.with_mover(number, |thing, mover| {
            if mover.start_sound != 0 {
                thing.raise(event::GENERAL_SOUND, mover.start_sound, now);
            }
        });
    }

    fn send_to(&mut self, host: &mut dyn Host, number: EntityNum, end: usize, at: LevelTime) {
        let now = self.people.now;
        self.with_mover(number, |thing, mover| {
            mover.leg = Leg::To(end);
            let (from, to) = (mover.ends[1 - end], mover.ends[end]);
            thing.state.pos = course(from, to, mover.travel_ms, at);
            thing.shared.current_origin = trajectory::position(&thing.state.pos, now);
            thing.think_at = None;
        });
        self.things.link(host, number);
    }

    fn rest_at(&mut self, host: &mut dyn Host, number: EntityNum, end: usize) {
        let now = self.people.now;
        self.with_mover(number, |thing, mover| {
            mover.leg = Leg::At(end);
            thing.state.pos = Trajectory::stationary(mover.ends[end], now);
            thing.shared.current_origin = mover.ends[end];
        });
        self.things.link(host, number);
    }

    /// Opens or shuts what a team of doors hides.
    fn set_portals(&mut self, host: &mut dyn Host, captain: EntityNum, open: bool) {
        let Some(world) = host.world_mut() else { return };
        let Some([first, second]) = world.occupancy(captain).map(|seen| seen.areas()) else {
            return;
        };
        let changed = world.areas_mut().set_portal(first, second, open);
        if let Err(error) = changed {
            host.print(&error.to_string());
        }
    }

    /// A team's frame: moves, arrives, sets out again.
    pub(super) fn run_mover_team(&mut self, host: &mut dyn Host, captain: EntityNum) {
        let Some((thing, mover)) = self.mover(captain) else { return };
        if mover.captain != Some(captain) {
            return;
        }
        let alone = mover.team.is_empty();
        let rests = |thing: &Thing| {
            thing.state.pos.kind == TrajectoryKind::Stationary as i32
                && thing.state.apos.kind == TrajectoryKind::Stationary as i32
        };
        if alone && rests(thing) && thing.think_at.is_none() {
            return;
        }
        let team = if alone { vec![captain] } else { self.team_of(captain) };
        let moves = team.iter().any(|&part| self.things.get(part).is_some_and(|t| !rests(t)));
        if moves && self.push_team(host, &team) {
            for &part in &team {
                self.arrive(host, part);
            }
        }
        self.set_out_again(host, captain);
    }

    fn arrive(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        let Some((thing, mover)) = self.mover(number) else { return };
        let pos = thing.state.pos;
        if pos.kind != TrajectoryKind::LinearStop as i32
            || now.distance(LevelTime(pos.time)) < pos.duration
        {
            return;
        }
        let is_captain = mover.captain == Some(number);
        let (wait_ms, activator) = (mover.wait_ms, mover.activator);
        if let Kind::Train(corners) = &mover.kind {
            let corner = (mover.corner + 1) % corners.len();
            let (at, wait_ms) = (corners[corner].at, corners[corner].wait_ms);
            self.with_mover(number, |thing, mover| {
                mover.corner = corner;
                thing.put(at);
                thing.think_at = Some(now + wait_ms);
            });
            self.things.link(host, number);
            return;
        }
        let Leg::To(end) = mover.leg else { return };
        if is_captain && end == 0 {
            self.set_portals(host, number, false);
        }
        self.rest_at(host, number, end);
        self.with_mover(number, |thing, mover| {
            if mover.end_sound != 0 {
                thing.raise(event::GENERAL_SOUND, mover.end_sound, now);
            }
        });
        if end == 1 {
            if is_captain {
                self.return_later(number, wait_ms.max(0));
            }
            self.fire_targets(host, number, activator);
        }
    }

    fn set_out_again(&mut self, host: &mut dyn Host, captain: EntityNum) {
        let now = self.people.now;
        let Some(thing) = self.things.get_mut(captain) else { return };
        if thing.think_at.is_none_or(|at| at.distance(now) > 0) {
            return;
        }
        thing.think_at = None;
        let Some((_, mover)) = self.mover(captain) else { return };
        if let Kind::Train(corners) = &mover.kind {
            let (from, to) =
                (corners[mover.corner].at, corners[(mover.corner + 1) % corners.len()].at);
            let ms = corners[mover.corner].travel_ms;
            self.with_mover(captain, |thing, _| thing.state.pos = course(from, to, ms, now));
            return;
        }
        if mover.leg == Leg::At(1) {
            for part in self.team_of(captain) {
                self.send_to(host, part, 0, now);
            }
            self.sound_start(captain);
        }
    }
}

impl Mover {
    /// Stands in while the mover itself is being changed.
    fn nobody() -> Self {
        Self {
            kind: Kind::Free,
            ends: [Vec3::ZERO; 2],
            leg: Leg::At(0),
            travel_ms: 0,
            wait_ms: 0,
            damage: 0,
            start_sound: 0,
            end_sound: 0,
            captain: None,
            team: "".into(),
            armoured: false,
            activator: None,
            corner: 0,
        }
    }

    fn set_out(&mut self, speed: f32) {
        let distance = (self.ends[1] - self.ends[0]).length();
        let speed = if speed == 0.0 { 100.0 } else { speed.abs() };
        self.travel_ms = ((distance * 1000.0 / speed) as i32).max(1);
    }
}

/// Light and colour of a mover in one number.
fn light_of(entity: &Entity) -> i32 {
    let light = entity.float("light");
    let color = entity.vec3("color");
    if light.is_none() && color.is_none() {
        return 0;
    }
    let byte = |value: f32| (value as i32).clamp(0, 255);
    let Vec3([red, green, blue]) = color.unwrap_or(Vec3::new(1.0, 1.0, 1.0)) * 255.0;
    byte(red) | byte(green) << 8 | byte(blue) << 16 | byte(light.unwrap_or(100.0) / 4.0) << 24
}

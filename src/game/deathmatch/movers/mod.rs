//! Moving parts of the map: what turns and swings by itself, what goes to and fro between two places, and
//! trains.
//!
//! Clients compute where a mover is from its trajectory, so each change of course starts exactly where
//! and when the last one ended. Movers of one team move together, led by a captain: the first of them in
//! the entity text. Source: the base game's movers.

mod doors;
mod ends;
mod plats;
mod trains;
mod turning;

use std::sync::Arc;

use super::{
    Deathmatch,
    names::{model, sound},
    things::{Thing, What},
};
use crate::model::{
    ClientNum, EntityNum, LevelTime, SvFlags, Trajectory, TrajectoryKind, Vec3, text::leading_int,
};
use crate::world::{bsp::AreaNum, entity_string::MapEntity};
use crate::{
    bg::{EntityType, contents},
    game::{Host, movement::angles},
};

pub(super) use doors::{button, door};
pub(super) use ends::Leg;
pub(super) use plats::plat;
pub(super) use trains::{Corner, corner, train};
pub(super) use turning::{bobbing, fixed, pendulum, rotating};

use trains::Route;

/// Damage of a mover unless the map says otherwise.
const DAMAGE: i32 = 2;
/// Largest number that a map gives a mover: beyond the size of the world, so that trains can be elsewhere
/// at once.
const MOST: f32 = 10_000_000.0;
/// Light of a mover whose map says only its colour.
const LIGHT: f32 = 100.0;

/// What a mover is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Stays, turns or swings by itself.
    Free,
    Door,
    Plat,
    Button,
    Train(Route),
}

/// What only the server knows of a mover.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    pub(super) kind: Kind,
    /// The two places of those that go to and fro.
    ends: [Vec3; 2],
    pub(super) leg: Leg,
    /// Time from end to end.
    travel_ms: i32,
    wait_ms: i32,
    /// What it does to a player in its way.
    pub(super) damage: i32,
    /// Goes on against what is in its way.
    pub(super) crusher: bool,
    /// Numbers of the sounds of setting out, of setting out back and of arriving; 0 for none.
    out_sound: i32,
    back_sound: i32,
    end_sound: i32,
    /// Set off by damage.
    shootable: bool,
    /// Set off by damage and not by touch.
    armoured: bool,
    /// Leads the team; itself when it is alone.
    captain: EntityNum,
    /// Of a captain: all that move with it, itself first.
    parts: Arc<[EntityNum]>,
    team: Box<str>,
    activator: Option<ClientNum>,
    /// The areas between which it holds a door open.
    joined: [Option<AreaNum>; 2],
    /// Origin and angles before the push of this frame.
    pub(super) before: [Vec3; 2],
}

impl Mover {
    fn new(kind: Kind, entity: &MapEntity) -> Self {
        let armoured = entity.int("health").unwrap_or(0) != 0;
        Self {
            kind,
            ends: [entity.origin(); 2],
            leg: Leg::At(0),
            travel_ms: 0,
            wait_ms: 0,
            damage: entity.spawn_value("dmg").map_or(DAMAGE, leading_int),
            crusher: false,
            out_sound: 0,
            back_sound: 0,
            end_sound: 0,
            shootable: false,
            armoured,
            captain: EntityNum::NONE,
            parts: Arc::new([]),
            team: entity.field("team").unwrap_or_default().into(),
            activator: None,
            joined: [None; 2],
            before: [Vec3::ZERO; 2],
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
fn number(entity: &MapEntity, key: &str, default: f32) -> f32 {
    entity.float(key).unwrap_or(default).clamp(-MOST, MOST)
}

/// A number from the map where 0 means the same as nothing.
fn number_or(entity: &MapEntity, key: &str, default: f32) -> f32 {
    match number(entity, key, default) {
        0.0 => default,
        number => number,
    }
}

/// Whether a thing's trajectories lead nowhere.
fn rests(thing: &Thing) -> bool {
    let still = TrajectoryKind::Stationary as i32;
    thing.state.pos.kind == still && thing.state.apos.kind == still
}

/// Whether it is time for what a thing does next.
fn is_due(thing: &Thing, now: LevelTime) -> bool {
    thing.think_at.is_some_and(|at| at.distance(now) <= 0)
}

/// The direction that a map's angles mean for what moves or looks: two of them are up and down.
pub(super) fn direction_of(given: Vec3) -> Vec3 {
    match given.0 {
        [0.0, -1.0, 0.0] => Vec3::new(0.0, 0.0, 1.0),
        [0.0, -2.0, 0.0] => Vec3::new(0.0, 0.0, -1.0),
        _ => angles::axes(given).forward,
    }
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
        match std::mem::replace(&mut thing.what, What::Scenery) {
            What::Mover(mut mover) => {
                let result = change(thing, &mut mover);
                thing.what = What::Mover(mover);
                Some(result)
            }
            other => {
                thing.what = other;
                None
            }
        }
    }

    /// What all movers have: brushes, a second model, a sound, light.
    fn add_mover(
        &mut self,
        host: &mut dyn Host,
        entity: &MapEntity,
        mover: Mover,
    ) -> Option<EntityNum> {
        let number = self.add(entity, What::Mover(Box::new(mover)))?;
        if !self.give_brushes(host, entity, number, -1) {
            self.things.remove(host, number, self.people.now);
            return None;
        }
        let second = entity.field("model2").map_or(0, |name| model(host, name));
        let noise = entity.spawn_value("noise").map_or(0, |name| sound(host, name));
        let light = light_of(entity);
        self.with_mover(number, |thing, mover| {
            thing.state.e_type = EntityType::Mover as i32;
            thing.state.modelindex2 = second;
            thing.state.loop_sound = noise;
            thing.state.constant_light = light;
            thing.shared.sv_flags = SvFlags::USE_CURRENT_ORIGIN;
            thing.state.apos = Trajectory::stationary(Vec3::ZERO, LevelTime(0));
            mover.captain = number;
            mover.parts = Arc::new([number]);
        });
        self.things.link(host, number);
        Some(number)
    }

    /// A space around a mover that sets it off, unseen.
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

    /// Forms teams, and the boxes that open doors, once everything is there.
    pub(super) fn join_mover_teams(&mut self, host: &mut dyn Host) {
        let numbers: Vec<EntityNum> =
            self.things.numbers().filter(|&number| self.mover(number).is_some()).collect();
        for &captain in &numbers {
            let Some((_, mover)) = self.mover(captain) else { continue };
            if mover.team.is_empty() || mover.captain != captain {
                continue;
            }
            let team = mover.team.clone();
            let same = |&number: &EntityNum| {
                self.mover(number).is_some_and(|(_, mover)| mover.team == team)
            };
            let parts: Arc<[EntityNum]> = numbers.iter().copied().filter(same).collect();
            if parts.first() != Some(&captain) {
                continue;
            }
            for &part in &parts[1..] {
                // Who uses one of a team means its captain.
                let name = self.with_mover(part, |thing, mover| {
                    mover.captain = captain;
                    mover.parts = Arc::new([]);
                    std::mem::take(&mut thing.targetname)
                });
                if let Some(name) = name.filter(|name| !name.is_empty())
                    && let Some(thing) = self.things.get_mut(captain)
                {
                    thing.targetname = name;
                }
            }
            self.with_mover(captain, |_, mover| mover.parts = parts);
        }
        for number in numbers {
            self.add_door_helper(host, number);
        }
    }

    /// The movers that a captain leads, itself first.
    fn parts_of(&self, captain: EntityNum) -> Arc<[EntityNum]> {
        self.mover(captain).map(|(_, mover)| Arc::clone(&mover.parts)).unwrap_or_default()
    }

    /// Whether damage sets a mover off.
    pub(super) fn is_shootable(&self, number: EntityNum) -> bool {
        self.mover(number).is_some_and(|(_, mover)| mover.shootable)
    }

    /// Somebody or something damages a mover: one that is where it belongs and that damage sets off is
    /// used, others do not care.
    pub(super) fn shoot_mover(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        attacker: Option<ClientNum>,
    ) {
        let at_rest = self.mover(number).is_some_and(|(_, mover)| mover.leg == Leg::At(0));
        if at_rest && self.is_shootable(number) {
            self.use_mover(host, number, attacker);
        }
    }

    /// Somebody has run into a mover: buttons move, raised lifts wait.
    pub(super) fn bump_mover(&mut self, host: &mut dyn Host, number: EntityNum, client: ClientNum) {
        let Some((_, mover)) = self.mover(number) else { return };
        match (&mover.kind, mover.leg) {
            (Kind::Button, Leg::At(0)) if !mover.armoured => {
                self.use_mover(host, number, Some(client));
            }
            (Kind::Plat, Leg::At(1)) if !self.is_dead(client) => self.hold_plat(number),
            _ => {}
        }
    }

    /// A team's frame: moves, arrives, sets out again.
    pub(super) fn run_mover_team(&mut self, host: &mut dyn Host, captain: EntityNum) {
        let now = self.people.now;
        let Some((_, mover)) = self.mover(captain) else { return };
        if mover.captain != captain {
            return;
        }
        let parts = Arc::clone(&mover.parts);
        let moves = |&part: &EntityNum| self.things.get(part).is_some_and(|thing| !rests(thing));
        if parts.iter().any(moves) && self.push_team(host, &parts) {
            for &part in &*parts {
                self.arrive(host, part);
            }
        }
        let Some(thing) = self.things.get_mut(captain) else { return };
        if !is_due(thing, now) {
            return;
        }
        thing.think_at = None;
        match self.mover(captain) {
            Some((_, Mover { kind: Kind::Train(_), .. })) => self.run_train(host, captain),
            Some((_, Mover { leg: Leg::At(1), .. })) => self.go_back(host, captain),
            _ => {}
        }
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
        match (&mover.kind, mover.leg) {
            (Kind::Train(_), _) => self.reach_next_corner(host, number),
            (_, Leg::To(end)) => self.arrive_at(host, number, end),
            (_, Leg::At(_)) => {}
        }
    }
}

/// Light and colour of a mover in one number.
fn light_of(entity: &MapEntity) -> i32 {
    let light = entity.float("light");
    let color = entity.vec3("color");
    if light.is_none() && color.is_none() {
        return 0;
    }
    let byte = |value: f32| (value as i32).clamp(0, 255);
    let Vec3([red, green, blue]) = color.unwrap_or(Vec3::new(1.0, 1.0, 1.0)) * 255.0;
    byte(red) | byte(green) << 8 | byte(blue) << 16 | byte(light.unwrap_or(LIGHT) / 4.0) << 24
}

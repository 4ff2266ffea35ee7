//! Movers that go to and fro between two places: doors, lifts, buttons.
//!
//! Invariants: areas are joined when a captain leaves its first place, and parted again, the same two,
//! when it is back; parts of a team change their course together. Source: the base game's movers with
//! two positions.

use super::{Mover, course};
use crate::model::{ClientNum, EntityNum, LevelTime, Trajectory, Vec3};
use crate::{
    bg::Event,
    game::{Host, deathmatch::Deathmatch, movement::trajectory},
};

/// How long after its use a mover sets out, in milliseconds.
const HESITATION_MS: i32 = 50;
/// Speed of what the map gives no sensible one, units per second.
const SPEED: f32 = 100.0;

/// Where a mover with two places is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game::deathmatch) enum Leg {
    /// At one of them.
    At(usize),
    /// On its way there.
    To(usize),
}

impl Mover {
    /// Where it goes to and fro, and how fast.
    pub(super) fn set_out(&mut self, ends: [Vec3; 2], speed: f32) {
        self.ends = ends;
        let distance = (ends[1] - ends[0]).length();
        let speed = if speed == 0.0 { SPEED } else { speed.abs() };
        self.travel_ms = ((distance * 1000.0 / speed) as i32).max(1);
    }
}

impl Deathmatch {
    /// Sets a mover with two places, and its team, going or turns them around.
    pub(in crate::game::deathmatch) fn use_mover(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
    ) {
        let now = self.people.now;
        let Some(captain) = self.mover(number).map(|(_, mover)| mover.captain) else { return };
        let Some((_, mover)) = self.mover(captain) else { return };
        if matches!(mover.kind, super::Kind::Free | super::Kind::Train(_)) {
            return;
        }
        let (leg, wait_ms) = (mover.leg, mover.wait_ms);
        self.with_mover(captain, |_, mover| mover.activator = activator);
        match leg {
            Leg::At(0) => {
                for &part in &*self.parts_of(captain) {
                    self.send_to(host, part, 1, now + HESITATION_MS);
                }
                self.sound_start(captain, 1);
                self.join_areas(host, captain);
            }
            Leg::At(_) => self.return_later(captain, wait_ms),
            Leg::To(end) => self.turn_around(host, captain, end),
        }
    }

    /// Every part of a team goes back to where it came from, from where it is.
    fn turn_around(&mut self, host: &mut dyn Host, captain: EntityNum, end: usize) {
        let now = self.people.now;
        for &part in &*self.parts_of(captain) {
            let since = self.with_mover(part, |thing, mover| {
                let passed = match mover.leg {
                    Leg::To(_) => now.distance(LevelTime(thing.state.pos.time)),
                    Leg::At(_) => mover.travel_ms,
                };
                now - (mover.travel_ms - passed.clamp(0, mover.travel_ms))
            });
            if let Some(since) = since {
                self.send_to(host, part, 1 - end, since);
            }
        }
        self.sound_start(captain, 1 - end);
    }

    /// The wait at the second place is over.
    pub(super) fn go_back(&mut self, host: &mut dyn Host, captain: EntityNum) {
        let now = self.people.now;
        for &part in &*self.parts_of(captain) {
            self.send_to(host, part, 0, now);
        }
        self.sound_start(captain, 0);
    }

    /// A mover leaves its second place after a while. A wait below zero, which maps write for "never",
    /// is over at once.
    pub(super) fn return_later(&mut self, number: EntityNum, wait_ms: i32) {
        let now = self.people.now;
        if let Some(thing) = self.things.get_mut(number) {
            thing.think_at = Some(now + wait_ms.max(0));
        }
    }

    pub(super) fn arrive_at(&mut self, host: &mut dyn Host, number: EntityNum, end: usize) {
        let now = self.people.now;
        self.rest_at(host, number, end);
        let arrived = self.with_mover(number, |thing, mover| {
            if mover.end_sound != 0 {
                thing.raise(Event::GeneralSound, mover.end_sound, now);
            }
            (mover.captain, mover.wait_ms, mover.activator)
        });
        let Some((captain, wait_ms, activator)) = arrived else { return };
        if end == 0 {
            self.part_areas(host, number);
            return;
        }
        if captain == number {
            self.return_later(number, wait_ms);
        }
        self.fire_targets(host, number, activator);
    }

    fn sound_start(&mut self, number: EntityNum, end: usize) {
        let now = self.people.now;
        self.with_mover(number, |thing, mover| {
            let sound = if end == 1 { mover.out_sound } else { mover.back_sound };
            if sound != 0 {
                thing.raise(Event::GeneralSound, sound, now);
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

    pub(super) fn rest_at(&mut self, host: &mut dyn Host, number: EntityNum, end: usize) {
        let now = self.people.now;
        self.with_mover(number, |thing, mover| {
            mover.leg = Leg::At(end);
            thing.state.pos = Trajectory::stationary(mover.ends[end], now);
            thing.shared.current_origin = mover.ends[end];
        });
        self.things.link(host, number);
    }

    /// Opens the view between the areas that a door stands between.
    fn join_areas(&mut self, host: &mut dyn Host, captain: EntityNum) {
        let Some(world) = host.world_mut() else { return };
        let Some(areas) = world.pvs_location(captain).map(|seen| seen.areas()) else { return };
        match world.areas_mut().set_portal(areas[0], areas[1], true) {
            Ok(()) => {
                self.with_mover(captain, |_, mover| mover.joined = areas);
            }
            Err(error) => host.print(&error.to_string()),
        }
    }

    /// Shuts it again.
    fn part_areas(&mut self, host: &mut dyn Host, captain: EntityNum) {
        let joined = self.with_mover(captain, |_, mover| std::mem::take(&mut mover.joined));
        let Some(([first, second], world)) = joined.zip(host.world_mut()) else { return };
        if let Err(error) = world.areas_mut().set_portal(first, second, false) {
            host.print(&error.to_string());
        }
    }
}

//! Two-position movers: doors, plats and buttons.
//!
//! Invariants: areas are joined when a captain leaves its first place, and parted again, the same two,
//! when it is back; parts of a team change their course together. Source: the base game's movers with
//! two positions.

use super::{Mover, course};
use crate::game::deathmatch::{context::Context, systems::Systems, targets::fire_targets};
use crate::model::{ClientNum, EntityNum, LevelTime, Trajectory, Vec3};
use crate::{bg::Event, game::movement::trajectory};

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

/// Sets a mover with two places, and its team, going or turns them around.
pub(in crate::game::deathmatch) fn use_mover(
    cx: &mut Context<'_>,
    number: EntityNum,
    activator: Option<ClientNum>,
) {
    let now = cx.clients.now;
    let Some(captain) = cx.entities.mover(number).map(|(_, mover)| mover.captain) else { return };
    let Some((_, mover)) = cx.entities.mover(captain) else { return };
    if matches!(mover.kind, super::Kind::Free | super::Kind::Train(_)) {
        return;
    }
    let (leg, wait_ms) = (mover.leg, mover.wait_ms);
    cx.entities.with_mover(captain, |_, mover| mover.activator = activator);
    match leg {
        Leg::At(0) => {
            for &part in &*cx.entities.parts_of(captain) {
                send_to(cx, part, 1, now + HESITATION_MS);
            }
            sound_start(cx, captain, 1);
            join_areas(cx, captain);
        }
        Leg::At(_) => return_later(cx, captain, wait_ms),
        Leg::To(end) => turn_around(cx, captain, end),
    }
}

/// Every part of a team goes back to where it came from, from where it is.
fn turn_around(cx: &mut Context<'_>, captain: EntityNum, end: usize) {
    let now = cx.clients.now;
    for &part in &*cx.entities.parts_of(captain) {
        let since = cx.entities.with_mover(part, |entity, mover| {
            let passed = match mover.leg {
                Leg::To(_) => now.distance(LevelTime(entity.state.pos.time)),
                Leg::At(_) => mover.travel_ms,
            };
            now - (mover.travel_ms - passed.clamp(0, mover.travel_ms))
        });
        if let Some(since) = since {
            send_to(cx, part, 1 - end, since);
        }
    }
    sound_start(cx, captain, 1 - end);
}

/// The wait at the second place is over.
pub(super) fn go_back(cx: &mut Context<'_>, captain: EntityNum) {
    let now = cx.clients.now;
    for &part in &*cx.entities.parts_of(captain) {
        send_to(cx, part, 0, now);
    }
    sound_start(cx, captain, 0);
}

/// A mover leaves its second place after a while. A wait below zero, which maps write for "never",
/// is over at once.
pub(super) fn return_later(cx: &mut Context<'_>, number: EntityNum, wait_ms: i32) {
    let now = cx.clients.now;
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.think_at = Some(now + wait_ms.max(0));
    }
}

pub(super) fn arrive_at(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum, end: usize) {
    let now = cx.clients.now;
    rest_at(cx, number, end);
    let arrived = cx.entities.with_mover(number, |entity, mover| {
        if mover.end_sound != 0 {
            entity.add_event(Event::GeneralSound, mover.end_sound, now);
        }
        (mover.captain, mover.wait_ms, mover.activator)
    });
    let Some((captain, wait_ms, activator)) = arrived else { return };
    if end == 0 {
        part_areas(cx, number);
        return;
    }
    if captain == number {
        return_later(cx, number, wait_ms);
    }
    fire_targets(cx, sys, number, activator);
}

fn sound_start(cx: &mut Context<'_>, number: EntityNum, end: usize) {
    let now = cx.clients.now;
    cx.entities.with_mover(number, |entity, mover| {
        let sound = if end == 1 { mover.out_sound } else { mover.back_sound };
        if sound != 0 {
            entity.add_event(Event::GeneralSound, sound, now);
        }
    });
}

fn send_to(cx: &mut Context<'_>, number: EntityNum, end: usize, at: LevelTime) {
    let now = cx.clients.now;
    cx.entities.with_mover(number, |entity, mover| {
        mover.leg = Leg::To(end);
        let (from, to) = (mover.ends[1 - end], mover.ends[end]);
        entity.state.pos = course(from, to, mover.travel_ms, at);
        entity.shared.current_origin = trajectory::position(&entity.state.pos, now);
        entity.think_at = None;
    });
    cx.entities.link(cx.host, number);
}

pub(super) fn rest_at(cx: &mut Context<'_>, number: EntityNum, end: usize) {
    let now = cx.clients.now;
    cx.entities.with_mover(number, |entity, mover| {
        mover.leg = Leg::At(end);
        entity.state.pos = Trajectory::stationary(mover.ends[end], now);
        entity.shared.current_origin = mover.ends[end];
    });
    cx.entities.link(cx.host, number);
}

/// Opens the view between the areas that a door stands between.
fn join_areas(cx: &mut Context<'_>, captain: EntityNum) {
    let Some(world) = cx.host.world_mut() else { return };
    let Some(areas) = world.pvs_location(captain).map(|seen| seen.areas()) else { return };
    match world.areas_mut().set_portal(areas[0], areas[1], true) {
        Ok(()) => {
            cx.entities.with_mover(captain, |_, mover| mover.joined = areas);
        }
        Err(error) => cx.host.print(&error.to_string()),
    }
}

/// Shuts it again.
fn part_areas(cx: &mut Context<'_>, captain: EntityNum) {
    let joined = cx.entities.with_mover(captain, |_, mover| std::mem::take(&mut mover.joined));
    let Some(([first, second], world)) = joined.zip(cx.host.world_mut()) else { return };
    if let Err(error) = world.areas_mut().set_portal(first, second, false) {
        cx.host.print(&error.to_string());
    }
}

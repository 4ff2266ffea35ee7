//! Frames of mover teams: push, arrival, targets of positions and corners.
//!
//! Source: the base game's movers. Engine names: `G_RunMover`, `Reached_BinaryMover`, `Reached_Train`.

mod push;

use self::push::push_team;
use super::entity_kinds::{Mover, MoverKind, MoverState, Route};
use super::movers::two_position::{close_area_portal, rest_at, return_after, return_to_start};
use super::{
    activation::fire_targets, context::Context, entities::Entity, movers::trains::leave_corner,
    movers::trains::set_train_visible, systems::Systems,
};
use crate::bg::Event;
use crate::model::{EntityNum, LevelTime, Trajectory, TrajectoryKind};
use std::sync::Arc;

/// Runs the frame of a mover team: push, arrival, next think.
pub(super) fn run_mover_team(cx: &mut Context<'_>, sys: &mut Systems, team_master: EntityNum) {
    let now = cx.clients.now;
    let Some((_, mover)) = cx.entities.mover(team_master) else { return };
    if mover.team_master != team_master {
        return;
    }
    let team = Arc::clone(&mover.team);
    let moves = |&member: &EntityNum| cx.entities.get(member).is_some_and(|entity| !rests(entity));
    if team.iter().any(moves) && push_team(cx, &mut sys.fight, &team) {
        for &member in &*team {
            arrive(cx, sys, member);
        }
    }
    let Some(entity) = cx.entities.get_mut(team_master) else { return };
    if !is_due(entity, now) {
        return;
    }
    entity.think_at = None;
    match cx.entities.mover(team_master) {
        Some((_, Mover { kind: MoverKind::Train(_), .. })) => run_train(cx, sys, team_master),
        Some((_, Mover { state: MoverState::At(1), .. })) => return_to_start(cx, team_master),
        _ => {}
    }
}

fn arrive(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum) {
    let now = cx.clients.now;
    let Some((entity, mover)) = cx.entities.mover(number) else { return };
    let pos = entity.state.pos;
    if pos.kind != TrajectoryKind::LinearStop as i32
        || now.distance(LevelTime(pos.time)) < pos.duration
    {
        return;
    }
    match (&mover.kind, mover.state) {
        (MoverKind::Train(_), _) => reach_next_corner(cx, sys, number),
        (_, MoverState::To(end)) => arrive_at(cx, sys, number, end),
        (_, MoverState::At(_)) => {}
    }
}

/// Whether both trajectories of an entity are stationary.
fn rests(entity: &Entity) -> bool {
    let still = TrajectoryKind::Stationary as i32;
    entity.state.pos.kind == still && entity.state.apos.kind == still
}

/// Whether an entity's next think is due.
fn is_due(entity: &Entity, now: LevelTime) -> bool {
    entity.think_at.is_some_and(|at| at.distance(now) <= 0)
}

fn arrive_at(cx: &mut Context<'_>, sys: &mut Systems, number: EntityNum, end: usize) {
    let now = cx.clients.now;
    rest_at(cx, number, end);
    let arrived = cx.entities.with_mover(number, |entity, mover| {
        if mover.arrival_sound != 0 {
            entity.add_event(Event::GeneralSound, mover.arrival_sound, now);
        }
        (mover.team_master, mover.wait_ms, mover.activator)
    });
    let Some((team_master, wait_ms, activator)) = arrived else { return };
    if end == 0 {
        close_area_portal(cx, number);
        return;
    }
    if team_master == number {
        return_after(cx, number, wait_ms);
    }
    fire_targets(cx, sys, number, activator);
}

/// Runs a train's think: finds its route, or leaves a corner.
fn run_train(cx: &mut Context<'_>, sys: &mut Systems, train: EntityNum) {
    let Some((entity, Mover { kind: MoverKind::Train(route), .. })) = cx.entities.mover(train)
    else {
        return;
    };
    if !route.stops.is_empty() {
        leave_corner(cx, train);
        return;
    }
    let (speed, target) = (route.speed, entity.target.clone());
    let stops = cx.entities.find_route(&target, speed);
    if stops.is_empty() {
        cx.host.print("func_train disabled: path_corner chain does not loop");
        return;
    }
    cx.entities
        .with_mover(train, |_, mover| mover.kind = MoverKind::Train(Route { speed, stops, at: 0 }));
    reach_corner(cx, sys, train, 0);
}

fn reach_next_corner(cx: &mut Context<'_>, sys: &mut Systems, train: EntityNum) {
    let Some((_, Mover { kind: MoverKind::Train(route), .. })) = cx.entities.mover(train) else {
        return;
    };
    if let Some(stop) = route.stops.get(route.at) {
        let next = stop.next;
        reach_corner(cx, sys, train, next);
    }
}

/// Arrives at a corner: fires its targets, then waits or leaves.
fn reach_corner(cx: &mut Context<'_>, sys: &mut Systems, train: EntityNum, at: usize) {
    let now = cx.clients.now;
    let stop = cx.entities.with_mover(train, |_, mover| {
        let MoverKind::Train(route) = &mut mover.kind else { return None };
        route.at = at;
        route.stops.get(at).copied()
    });
    let Some(stop) = stop.flatten() else { return };
    fire_targets(cx, sys, stop.corner, None);
    if stop.wait_ms > 0 {
        if let Some(entity) = cx.entities.get_mut(train) {
            entity.state.pos = Trajectory::stationary(stop.origin, now);
            entity.shared.current_origin = stop.origin;
            entity.think_at = Some(now + stop.wait_ms);
        }
        set_train_visible(cx, train, true);
    } else {
        leave_corner(cx, train);
    }
}

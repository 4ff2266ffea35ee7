//! Two-position movers: doors, plats and buttons.
//!
//! Invariants: the area portal opens when the team master leaves its first position, and the same portal
//! closes when it is back. Team members change direction together. Source: the base game's two-position
//! movers. Engine names: `Use_BinaryMover`, `MatchTeam`, `SetMoverState`.

use crate::bg::Event;
use crate::game::deathmatch::{
    context::Context, entity_kinds::Mover, entity_kinds::MoverState, movers::linear_stop,
};
use crate::game::movement::trajectory;
use crate::model::{ClientNum, EntityNum, LevelTime, Trajectory, Vec3};

/// Delay between the use and the start of a mover, in ms.
const START_DELAY_MS: i32 = 50;
/// Speed of a mover without one in the map, in units per second.
const SPEED: f32 = 100.0;

impl Mover {
    /// Sets the two positions and the speed.
    pub(super) fn set_positions(&mut self, positions: [Vec3; 2], speed: f32) {
        self.positions = positions;
        let distance = (positions[1] - positions[0]).length();
        let speed = if speed == 0.0 { SPEED } else { speed.abs() };
        self.travel_ms = ((distance * 1000.0 / speed) as i32).max(1);
    }
}

/// Starts a two-position mover and its team, or reverses them.
pub(crate) fn use_mover(cx: &mut Context<'_>, number: EntityNum, activator: Option<ClientNum>) {
    let now = cx.clients.now;
    let Some(team_master) = cx.entities.mover(number).map(|(_, mover)| mover.team_master) else {
        return;
    };
    let Some((_, mover)) = cx.entities.mover(team_master) else { return };
    if matches!(mover.kind, super::MoverKind::Free | super::MoverKind::Train(_)) {
        return;
    }
    let (state, wait_ms) = (mover.state, mover.wait_ms);
    cx.entities.with_mover(team_master, |_, mover| mover.activator = activator);
    match state {
        MoverState::At(0) => {
            for &member in &*cx.entities.team_of(team_master) {
                send_to(cx, member, 1, now + START_DELAY_MS);
            }
            sound_start(cx, team_master, 1);
            open_area_portal(cx, team_master);
        }
        MoverState::At(_) => return_after(cx, team_master, wait_ms),
        MoverState::To(end) => reverse(cx, team_master, end),
    }
}

/// Reverses all members of a moving team at their current positions.
fn reverse(cx: &mut Context<'_>, team_master: EntityNum, end: usize) {
    let now = cx.clients.now;
    for &member in &*cx.entities.team_of(team_master) {
        let since = cx.entities.with_mover(member, |entity, mover| {
            let passed = match mover.state {
                MoverState::To(_) => now.distance(LevelTime(entity.state.pos.time)),
                MoverState::At(_) => mover.travel_ms,
            };
            now - (mover.travel_ms - passed.clamp(0, mover.travel_ms))
        });
        if let Some(since) = since {
            send_to(cx, member, 1 - end, since);
        }
    }
    sound_start(cx, team_master, 1 - end);
}

/// Returns a team to the first position after its wait.
pub(crate) fn return_to_start(cx: &mut Context<'_>, team_master: EntityNum) {
    let now = cx.clients.now;
    for &member in &*cx.entities.team_of(team_master) {
        send_to(cx, member, 0, now);
    }
    sound_start(cx, team_master, 0);
}

/// Schedules the return of a mover.
///
/// A negative wait, which maps write for "never", is over at once.
pub(crate) fn return_after(cx: &mut Context<'_>, number: EntityNum, wait_ms: i32) {
    let now = cx.clients.now;
    if let Some(entity) = cx.entities.get_mut(number) {
        entity.think_at = Some(now + wait_ms.max(0));
    }
}

fn sound_start(cx: &mut Context<'_>, number: EntityNum, end: usize) {
    let now = cx.clients.now;
    cx.entities.with_mover(number, |entity, mover| {
        let sound = if end == 1 { mover.start_sound } else { mover.return_sound };
        if sound != 0 {
            entity.add_event(Event::GeneralSound, sound, now);
        }
    });
}

fn send_to(cx: &mut Context<'_>, number: EntityNum, end: usize, at: LevelTime) {
    let now = cx.clients.now;
    cx.entities.with_mover(number, |entity, mover| {
        mover.state = MoverState::To(end);
        let (from, to) = (mover.positions[1 - end], mover.positions[end]);
        entity.state.pos = linear_stop(from, to, mover.travel_ms, at);
        entity.shared.current_origin = trajectory::position(&entity.state.pos, now);
        entity.think_at = None;
    });
    cx.entities.link(cx.host, number);
}

pub(crate) fn rest_at(cx: &mut Context<'_>, number: EntityNum, end: usize) {
    let now = cx.clients.now;
    cx.entities.with_mover(number, |entity, mover| {
        mover.state = MoverState::At(end);
        entity.state.pos = Trajectory::stationary(mover.positions[end], now);
        entity.shared.current_origin = mover.positions[end];
    });
    cx.entities.link(cx.host, number);
}

/// Opens the area portal of a door.
fn open_area_portal(cx: &mut Context<'_>, team_master: EntityNum) {
    let Some(world) = cx.host.world_mut() else { return };
    match world.set_area_portal(team_master, true) {
        Ok(areas) => {
            cx.entities.with_mover(team_master, |_, mover| mover.open_portal = areas);
        }
        Err(error) => cx.host.print(&error.to_string()),
    }
}

/// Closes the area portal of a door.
pub(crate) fn close_area_portal(cx: &mut Context<'_>, team_master: EntityNum) {
    let open_portal =
        cx.entities.with_mover(team_master, |_, mover| std::mem::take(&mut mover.open_portal));
    let Some(([first, second], world)) = open_portal.zip(cx.host.world_mut()) else { return };
    if let Err(error) = world.areas_mut().set_portal(first, second, false) {
        cx.host.print(&error.to_string());
    }
}

//! Trains: movers that follow a loop of path corners.
//!
//! Invariants: a route loops: each stop has a next one. Source: the base game's trains. Engine names:
//! `SP_func_train`, `SP_path_corner`, `Think_BeginMoving`.

use crate::game::deathmatch::entity_kinds::{
    EntityKind, Mover, MoverKind, PathCorner, Route, Stop,
};
use crate::game::deathmatch::movers::{linear_stop, number, number_or};
use crate::game::deathmatch::{context::Context, entities::Entities, targets::Targets};
use crate::model::{EntityNum, SvFlags, Vec3};
use crate::world::entity_string::MapEntity;

/// Spawn flag of a train without damage.
const HARMLESS: i32 = 4;
/// Delay between the level start and the route search, in ms.
const START_MS: i32 = 100;
/// Maximum number of stops of a route.
const MAX_CORNERS: usize = 256;

/// `path_corner`.
pub(crate) fn corner(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let corner = PathCorner {
        speed: number(map_entity, "speed", 0.0).abs(),
        wait_ms: (number(map_entity, "wait", 0.0) * 1000.0).max(0.0) as i32,
    };
    targets.add(cx, map_entity, EntityKind::PathCorner(corner));
}

/// `func_train`.
pub(crate) fn train(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    let speed = number_or(map_entity, "speed", 100.0).abs();
    let route = Route { speed, ..Route::default() };
    let mut mover = Mover::new(MoverKind::Train(route), map_entity);
    if map_entity.int("spawnflags").unwrap_or(0) & HARMLESS != 0 {
        mover.damage = 0;
    }
    let due = cx.clients.now + START_MS;
    let Some(mover_num) = targets.add_mover(cx, map_entity, mover) else { return };
    if let Some(entity) = cx.entities.get_mut(mover_num) {
        entity.state.angles = Vec3::ZERO;
        entity.think_at = Some(due);
    }
}

impl Entities {
    /// Returns the route from the first corner of a name; empty if it does not loop.
    pub(crate) fn find_route(&self, first: &str, speed: f32) -> Vec<Stop> {
        let mut stops: Vec<Stop> = Vec::new();
        let mut at = self.corner_named(first);
        while let Some((number, origin, corner)) = at {
            let next = self.get(number).and_then(|entity| self.corner_named(&entity.target));
            let Some((following, end, _)) = next else { break };
            let pace = if corner.speed == 0.0 { speed } else { corner.speed };
            let travel_ms = ((end - origin).length() * 1000.0 / pace.max(1.0)) as i32;
            let (wait_ms, last) = (corner.wait_ms, stops.len());
            stops.push(Stop { corner: number, origin, wait_ms, travel_ms, next: last + 1 });
            if let Some(seen) = stops.iter().position(|stop| stop.corner == following) {
                stops[last].next = seen;
                return stops;
            }
            if stops.len() == MAX_CORNERS {
                break;
            }
            at = next;
        }
        Vec::new()
    }

    fn corner_named(&self, name: &str) -> Option<(EntityNum, Vec3, PathCorner)> {
        self.named(name).find_map(|number| {
            let entity = self.get(number)?;
            let EntityKind::PathCorner(corner) = entity.kind else { return None };
            Some((number, entity.state.origin, corner))
        })
    }
}

pub(crate) fn leave_corner(cx: &mut Context<'_>, train: EntityNum) {
    let now = cx.clients.now;
    let Some((_, Mover { kind: MoverKind::Train(route), .. })) = cx.entities.mover(train) else {
        return;
    };
    let Some(stop) = route.stops.get(route.at).copied() else { return };
    let Some(next) = route.stops.get(stop.next).copied() else { return };
    if let Some(entity) = cx.entities.get_mut(train) {
        entity.state.pos = linear_stop(stop.origin, next.origin, stop.travel_ms, now);
        entity.shared.current_origin = stop.origin;
    }
    set_train_visible(cx, train, stop.travel_ms > 0);
}

/// Shows or hides a train; a jumping train is hidden on its way.
pub(crate) fn set_train_visible(cx: &mut Context<'_>, train: EntityNum, shown: bool) {
    if let Some(entity) = cx.entities.get_mut(train) {
        let hidden = if shown { SvFlags::default() } else { SvFlags::NO_CLIENT };
        entity.shared.sv_flags = SvFlags::USE_CURRENT_ORIGIN | hidden;
    }
    cx.entities.link(cx.host, train);
}

//! World and entities as one moving entity meets them: traces and contents.
//!
//! Invariants: the excluded entity and those that it owns stop nothing. A trace against nearby entities has the result
//! of one against all. Source: the collision document, server trace. Engine names: `SV_Trace`, `SV_PointContents`.

use std::cell::Cell;

use super::{
    EntityViews, World,
    passing::Passage,
    sectors::{Aabb, NearbyEntities},
};
use crate::{
    model::{EntityNum, EntityShared, EntityState, Trace, Vec3},
    world::collision::{CollisionMap, Hull, TraceQuery, TraceTarget, TraceWork},
};

/// Work of an entity that a query meets, without its brush model.
const ENTITY_WORK: TraceWork = TraceWork { nodes: 0, contents: 1, planes: BOX_PLANES };
/// Planes of an entity's box.
const BOX_PLANES: usize = 6;

/// World and entities of a query, with one entity excluded.
#[derive(Debug)]
pub struct CollisionScene<'a, E: ?Sized> {
    pub(super) world: &'a World,
    entities: &'a E,
    pass: EntityNum,
    /// Owner of the excluded entity, if any.
    pass_owner: Option<i32>,
    work: Cell<TraceWork>,
}

impl<'a, E: EntityViews + ?Sized> CollisionScene<'a, E> {
    /// Creates the scene of an entity. [`EntityNum::NONE`] excludes no entity.
    pub(super) fn new(world: &'a World, entities: &'a E, pass: EntityNum) -> Self {
        let owner = entities.view(pass).map(|(_, shared)| shared.owner_num);
        let pass_owner = owner.filter(|&owner| owner != EntityNum::NONE.index() as i32);
        Self { world, entities, pass, pass_owner, work: Cell::default() }
    }

    /// Traces a box or point through map and entities.
    #[must_use]
    pub fn trace(&self, query: &TraceQuery) -> Trace {
        self.trace_hull(Hull::Box, query)
    }

    /// Traces a hull in the same way.
    #[must_use]
    pub fn trace_hull(&self, hull: Hull, query: &TraceQuery) -> Trace {
        let (mut best, work) = self.world.map.trace_with_work(hull, query);
        self.record(work);
        self.stop_at_entities(&mut best, None, hull, query);
        best
    }

    /// Returns the work of all queries so far.
    #[must_use]
    pub fn work(&self) -> TraceWork {
        self.work.get()
    }

    fn record(&self, work: TraceWork) {
        self.work.set(self.work.get().plus(work));
    }

    /// Clips a trace that the map has stopped, or not, against the entities.
    pub(super) fn stop_at_entities(
        &self,
        best: &mut Trace,
        near: Option<&NearbyEntities>,
        hull: Hull,
        query: &TraceQuery,
    ) {
        if best.fraction == 0.0 {
            return;
        }
        let swept = Aabb::swept(query);
        let sectors = &self.world.sectors;
        let mut stop = |number| self.stop_at_entity(best, number, hull, query);
        if let Some(near) = near.filter(|near| near.covers(&swept)) {
            sectors.visit_near(near, &swept, |number| {
                self.obstacle(number, query.mask).is_none() || stop(number)
            });
            return;
        }
        // The trace is long: it passes by most of the boxes that its bounds touch.
        let passage = Passage::new(query);
        let found = sectors.search(&swept, |number| {
            self.obstacle(number, query.mask).is_some_and(|shared| {
                hull != Hull::Box || shared.bmodel != 0 || !passage.misses(shared)
            })
        });
        found.iter().all(|&number| stop(number));
    }

    /// Returns an entity that has contents of a mask and is not excluded.
    #[inline]
    fn obstacle(&self, number: EntityNum, mask: i32) -> Option<&EntityShared> {
        let (_, shared) = self.entities.view(number)?;
        let is_own = self.pass != EntityNum::NONE
            && (number == self.pass
                || shared.owner_num == self.pass.index() as i32
                || self.pass_owner == Some(shared.owner_num));
        (!is_own && shared.contents & mask != 0).then_some(shared)
    }

    /// Clips a trace against an entity. Returns whether others can still stop it.
    fn stop_at_entity(
        &self,
        best: &mut Trace,
        number: EntityNum,
        hull: Hull,
        query: &TraceQuery,
    ) -> bool {
        let Some((state, shared)) = self.entities.view(number) else { return true };
        self.record(ENTITY_WORK);
        let trace = if hull == Hull::Box && shared.bmodel == 0 {
            let bounds = [shared.mins, shared.maxs];
            self.world.map.trace_body(bounds, shared.current_origin, query)
        } else {
            Some(self.trace_against(state, shared, hull, query))
        };
        let Some(trace) = trace else { return true };
        if trace.allsolid {
            best.allsolid = true;
        } else {
            best.startsolid |= trace.startsolid;
        }
        if trace.fraction < best.fraction {
            let startsolid = best.startsolid || trace.startsolid;
            *best = Trace { startsolid, entity: number, ..trace };
        }
        !best.allsolid
    }

    /// Traces a hull against one entity.
    fn trace_against(
        &self,
        state: &EntityState,
        shared: &EntityShared,
        hull: Hull,
        query: &TraceQuery,
    ) -> Trace {
        let (trace, work) = against(&self.world.map, state, shared).trace(hull, query);
        self.record(work);
        trace
    }

    /// Returns the contents of map and entities at a point. Every entity without a brush model
    /// counts as `CONTENTS_BODY`, independent of its own contents.
    #[must_use]
    pub fn point_contents(&self, point: Vec3) -> i32 {
        let (contents, work) = self.world.map.contents_with_work(point);
        self.record(work);
        self.add_contents(contents, None, point)
    }

    /// Adds the contents of the entities at a point.
    pub(super) fn add_contents(
        &self,
        mut contents: i32,
        near: Option<&NearbyEntities>,
        point: Vec3,
    ) -> i32 {
        let mut add = |number| {
            if number != self.pass
                && let Some((state, shared)) = self.entities.view(number)
            {
                let (own, work) = against(&self.world.map, state, shared).contents(point);
                self.record(work.plus(ENTITY_WORK));
                contents |= own;
            }
            true
        };
        let (sectors, extent) = (&self.world.sectors, Aabb::of(&[point, point]));
        match near.filter(|near| near.covers(&extent)) {
            Some(near) => sectors.visit_near(near, &extent, add),
            None => sectors.search(&extent, |_| true).into_iter().for_each(|number| {
                add(number);
            }),
        }
        contents
    }

    /// Whether a box in the world touches one entity's model or box.
    #[must_use]
    pub fn touches(&self, mins: Vec3, maxs: Vec3, entity: EntityNum) -> bool {
        self.entities.view(entity).is_some_and(|(state, shared)| {
            let query = TraceQuery::line(Vec3::ZERO, Vec3::ZERO, -1).with_box(mins, maxs);
            self.trace_against(state, shared, Hull::Box, &query).startsolid
        })
    }

    /// Traces a box against one entity only.
    #[must_use]
    pub fn trace_entity(&self, query: &TraceQuery, entity: EntityNum) -> Trace {
        let found = self.entities.view(entity);
        let Some((state, shared)) = found.filter(|(_, shared)| shared.contents & query.mask != 0)
        else {
            return Trace::free(query.end);
        };
        let mut trace = self.trace_against(state, shared, Hull::Box, query);
        if trace.fraction < 1.0 {
            trace.entity = entity;
        }
        trace
    }
}

/// Collision data of one entity.
struct Collider<'a> {
    map: &'a CollisionMap,
    target: TraceTarget,
    origin: Vec3,
    angles: Vec3,
}

fn against<'a>(map: &'a CollisionMap, state: &EntityState, shared: &EntityShared) -> Collider<'a> {
    let target = if shared.bmodel == 0 {
        TraceTarget::Box { mins: shared.mins, maxs: shared.maxs }
    } else {
        // A negative number is a model that no map has.
        TraceTarget::Model(usize::try_from(state.modelindex).unwrap_or(usize::MAX))
    };
    Collider { map, target, origin: shared.current_origin, angles: shared.current_angles }
}

impl Collider<'_> {
    fn trace(&self, hull: Hull, query: &TraceQuery) -> (Trace, TraceWork) {
        self.map.trace_target_with_work(hull, self.target, self.origin, self.angles, query)
    }

    fn contents(&self, point: Vec3) -> (i32, TraceWork) {
        self.map.target_contents(self.target, self.origin, self.angles, point)
    }
}

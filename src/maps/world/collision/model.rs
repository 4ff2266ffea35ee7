//! Brush models and entity boxes at any origin and rotation.
//!
//! Source: the collision document, models; checked by the vectors of traces against models.

use super::{
    CollisionMap, TracePrecision,
    arithmetic::model_axes,
    brush::{box_holds, stop_at_box, stop_capsule_at_box},
    capsule::{Capsule, Hull},
    query::TraceQuery,
    sweep::{Lanes, Sweep, TraceHit, TraceWork, is_same, reached},
};
use crate::model::{Trace, Vec3, contents::content};

/// Target of a trace other than the unmoved world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceTarget {
    /// Model of the map, by number. An unknown number never stops a trace.
    Model(usize),
    /// Box around an entity's origin, of `CONTENTS_BODY`. It does not rotate.
    Box {
        /// Lower corner, relative to the origin.
        mins: Vec3,
        /// Upper corner, relative to the origin.
        maxs: Vec3,
    },
}

/// Rotation into a model's frame: rows that a vector is multiplied by.
#[derive(Clone, Copy, Debug)]
struct Rotation([Vec3; 3]);

impl Rotation {
    /// Creates the rotation of a model's angles; `None` without rotation.
    fn new(target: TraceTarget, angles: Vec3) -> Option<Self> {
        let turns = matches!(target, TraceTarget::Model(_)) && !is_same(angles, Vec3::ZERO);
        turns.then(|| Self(model_axes(angles)))
    }

    fn into_model(self, vector: Vec3) -> Vec3 {
        Vec3(self.0.map(|row| row.dot(vector)))
    }

    fn into_world(self, vector: Vec3) -> Vec3 {
        let column = |axis: usize| Vec3(self.0.map(|row| row[axis]));
        Vec3([0, 1, 2].map(|axis| column(axis).dot(vector)))
    }
}

impl CollisionMap {
    /// Traces a hull against one target at `origin`, rotated by `angles`. Otherwise as
    /// [`CollisionMap::trace`].
    ///
    /// The hull itself is never rotated. The plane's distance in the result stays in the frame of
    /// the target.
    #[must_use]
    pub fn trace_target(
        &self,
        hull: Hull,
        target: TraceTarget,
        origin: Vec3,
        angles: Vec3,
        query: &TraceQuery,
    ) -> Trace {
        self.trace_target_with_work(hull, target, origin, angles, query).0
    }

    /// Traces a hull in the same way, and returns the work.
    pub(in crate::world) fn trace_target_with_work(
        &self,
        hull: Hull,
        target: TraceTarget,
        origin: Vec3,
        angles: Vec3,
        query: &TraceQuery,
    ) -> (Trace, TraceWork) {
        let TraceQuery { start, mins, maxs, end, mask } = *query;
        if let (Hull::Box, TraceTarget::Box { mins: low, maxs: high }) = (hull, target) {
            let hit = self.trace_body([low, high], origin, query);
            let free = || TraceHit::NONE.trace(reached(start, end, 1.0));
            return (hit.unwrap_or_else(free), TraceWork::default());
        }
        let offset = (mins + maxs) * 0.5;
        let (low, high) = (mins - offset, maxs - offset);
        let rotation = Rotation::new(target, angles);
        let into_model = |point: Vec3| {
            let moved = point + offset - origin;
            rotation.map_or(moved, |rotation| rotation.into_model(moved))
        };
        let (from, to) = (into_model(start), into_model(end));
        let mut sweep = Sweep::new(&TraceQuery::line(from, to, mask).with_box(low, high));
        if hull == Hull::Capsule {
            let mut capsule = Capsule::in_box(high);
            if let Some(rotation) = rotation {
                // Engines rotate the second component the wrong way.
                let Vec3([x, y, z]) = rotation.into_model(capsule.offset);
                capsule.offset = Vec3::new(x, -y, z);
            }
            sweep = sweep.with(capsule);
        }
        self.run_against(target, is_same(from, to), &mut sweep);
        if let Some(rotation) = rotation
            && sweep.found.fraction != 1.0
        {
            sweep.found.plane.normal = rotation.into_world(sweep.found.plane.normal);
        }
        // Computed even for a free path, whose result may differ from `end` in the last bit.
        (sweep.found.trace(reached(start, end, sweep.found.fraction)), sweep.work)
    }

    /// Returns the contents of a target at `origin`, rotated by `angles`, at a point, and the work.
    pub(in crate::world) fn target_contents(
        &self,
        target: TraceTarget,
        origin: Vec3,
        angles: Vec3,
        point: Vec3,
    ) -> (i32, TraceWork) {
        let moved = point - origin;
        let rotation = Rotation::new(target, angles);
        let point = rotation.map_or(moved, |rotation| rotation.into_model(moved));
        match target {
            TraceTarget::Model(0) => self.contents_with_work(point),
            TraceTarget::Model(number) => {
                self.models.get(number).map_or_else(Default::default, |model| {
                    self.contents_of(self.brushes_in(&model.contents), point)
                })
            }
            TraceTarget::Box { mins, maxs } => {
                let inside = |axis: usize| (mins[axis]..=maxs[axis]).contains(&point[axis]);
                (if (0..3).all(inside) { content::BODY } else { 0 }, TraceWork::default())
            }
        }
    }

    /// Traces a box against an entity's box at `origin`, as [`CollisionMap::trace_target`] does. Returns `None` for
    /// a free path.
    #[must_use]
    pub fn trace_body(&self, bounds: [Vec3; 2], origin: Vec3, query: &TraceQuery) -> Option<Trace> {
        let TraceQuery { start, mins, maxs, end, mask } = *query;
        if mask & content::BODY == 0 {
            return None;
        }
        let mut found = TraceHit::NONE;
        let offset = (mins + maxs) * 0.5;
        let (low, high) = (mins - offset, maxs - offset);
        let (from, to) = (start + offset - origin, end + offset - origin);
        let near_body = TraceQuery::line(from, to, mask).with_box(low, high);
        if is_same(from, to) {
            let mut sweep = Sweep::new(&near_body);
            if box_holds(&bounds, &sweep) {
                sweep.is_stuck(content::BODY);
            }
            found = sweep.found;
        } else {
            let lanes = Lanes::new(&near_body);
            match self.family {
                // The sides of a box are axial.
                TracePrecision::Single | TracePrecision::Fast => {
                    stop_at_box::<f32>(&bounds, &lanes, &mut found);
                }
                TracePrecision::Double => stop_at_box::<f64>(&bounds, &lanes, &mut found),
            }
        }
        let is_free = found.fraction == 1.0 && !found.startsolid;
        (!is_free).then(|| found.trace(reached(start, end, found.fraction)))
    }

    /// Runs a sweep against a model, or the sweep of a capsule against an entity's box.
    fn run_against(&self, target: TraceTarget, at_rest: bool, sweep: &mut Sweep) {
        let (mins, maxs) = match target {
            TraceTarget::Model(number) => return self.run(number, at_rest, sweep),
            TraceTarget::Box { mins, maxs } => (mins, maxs),
        };
        let Some(capsule) = sweep.capsule.filter(|_| sweep.contents_mask & content::BODY != 0)
        else {
            return;
        };
        let bounds = [mins, maxs];
        match self.family {
            _ if at_rest => {
                if box_holds(&bounds, sweep) {
                    sweep.is_stuck(content::BODY);
                }
            }
            TracePrecision::Single | TracePrecision::Fast => {
                stop_capsule_at_box::<f32>(&bounds, &capsule, sweep);
            }
            TracePrecision::Double => stop_capsule_at_box::<f64>(&bounds, &capsule, sweep),
        }
    }
}

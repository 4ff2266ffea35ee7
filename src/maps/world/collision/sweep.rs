//! State of one trace: a box or point in motion, and its nearest hit so far.
//!
//! Invariants: start and end are those of the box center; `found.fraction` never grows. Source: the
//! collision document, preparing a trace; checked by the trace vectors.

use super::{
    arithmetic::{Arithmetic, SURFACE_CLIP},
    bounds::{Corner, PaddedBounds, corner, each, point},
    capsule::Capsule,
    query::TraceQuery,
};
use crate::model::{EntityNum, Trace, TracePlane, Vec3};

/// Number of recently tested brushes to remember.
const RECENT: usize = 16;

/// A sweep of a box, or a box at rest.
#[derive(Debug)]
pub(super) struct Sweep {
    pub(super) lanes: Lanes,
    /// Lower corner of the swept bounds.
    low: Corner,
    high: Corner,
    /// Capsule in the box, if the hull is a capsule.
    pub(super) capsule: Option<Capsule>,
    /// Contents that stop the trace.
    pub(super) contents_mask: i32,
    /// Whether the box is a point.
    pub(super) is_point: bool,
    /// Nearest hit so far.
    pub(super) found: TraceHit,
    /// Recently tested brushes, indexed by the low bits of their numbers. A second test changes
    /// nothing, so an evicted number costs time only.
    recent: [u32; RECENT],
    /// Work done.
    pub(super) work: TraceWork,
}

/// Work of one query, the same for the same map, entities and query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceWork {
    /// Nodes of the tree visited.
    pub nodes: usize,
    /// Brushes, patches and entities whose bounds were tested.
    pub contents: usize,
    /// Planes of those whose bounds were met.
    pub planes: usize,
}

impl TraceWork {
    /// Returns the sum of two.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(other.nodes),
            contents: self.contents.saturating_add(other.contents),
            planes: self.planes.saturating_add(other.planes),
        }
    }
}

/// Path and box of a sweep, in the layout of vector instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    /// Start of the box center.
    pub(super) start: Corner,
    /// Requested end of the box center.
    pub(super) end: Corner,
    /// Lower and upper corner of the box, relative to its center.
    pub(super) size: [Corner; 2],
}

impl Lanes {
    /// Creates the path of a query's box.
    #[inline]
    pub(super) fn new(query: &TraceQuery) -> Self {
        let TraceQuery { start, mins, maxs, end, .. } = *query;
        let [start, mins, maxs, end] = [start, mins, maxs, end].map(corner);
        let offset = each(|at| (mins[at] + maxs[at]) * 0.5);
        Self {
            start: each(|at| start[at] + offset[at]),
            end: each(|at| end[at] + offset[at]),
            size: [each(|at| mins[at] - offset[at]), each(|at| maxs[at] - offset[at])],
        }
    }

    /// Lower and upper corner of the swept bounds.
    #[inline]
    pub(super) fn bounds(&self) -> [Corner; 2] {
        let [least, most] = self.ends();
        [each(|at| least[at] + self.size[0][at]), each(|at| most[at] + self.size[1][at])]
    }

    /// Returns the lower and the upper coordinate of start and end along each axis.
    #[inline]
    pub(super) fn ends(&self) -> [Corner; 2] {
        let Self { start, end, .. } = self;
        [
            each(|at| if start[at] < end[at] { start[at] } else { end[at] }),
            each(|at| if start[at] < end[at] { end[at] } else { start[at] }),
        ]
    }
}

/// Nearest hit of a sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceHit {
    pub(super) fraction: f32,
    pub(super) plane: TracePlane,
    pub(super) allsolid: bool,
    pub(super) startsolid: bool,
    pub(super) contents: i32,
    pub(super) surface_flags: i32,
}

impl Sweep {
    /// Creates the sweep of a query's box.
    pub(super) fn new(query: &TraceQuery) -> Self {
        let lanes = Lanes::new(query);
        let [low, high] = lanes.bounds();
        Self {
            lanes,
            low,
            high,
            capsule: None,
            contents_mask: query.mask,
            is_point: (0..4).fold(true, |zero, at| zero & (lanes.size[0][at] == 0.0)),
            found: TraceHit::NONE,
            recent: [u32::MAX; RECENT],
            work: TraceWork::default(),
        }
    }

    /// Start of the box center.
    #[inline]
    pub(super) fn start(&self) -> Vec3 {
        point(self.lanes.start)
    }

    /// Requested end of the box center.
    #[inline]
    pub(super) fn end(&self) -> Vec3 {
        point(self.lanes.end)
    }

    /// Lower and upper corner of the box, relative to its center.
    pub(super) fn size(&self) -> [Vec3; 2] {
        self.lanes.size.map(point)
    }

    /// Half size of the box along each axis, for the tree walk.
    #[inline]
    pub(super) fn extents(&self) -> Vec3 {
        if self.is_point { Vec3::ZERO } else { point(self.lanes.size[1]) }
    }

    /// Replaces the box by the capsule inside it.
    pub(super) fn with(mut self, capsule: Capsule) -> Self {
        let [least, most] = self.lanes.ends();
        for axis in 0..3 {
            self.low[axis] = least[axis] - capsule.reach(axis);
            self.high[axis] = most[axis] + capsule.reach(axis);
        }
        self.capsule = Some(capsule);
        self
    }

    /// Returns the box corner that reaches farthest against a normal with these sign bits.
    pub(super) fn corner(&self, sign_bits: u8) -> Vec3 {
        let pick = |axis: usize| self.lanes.size[usize::from(sign_bits >> axis & 1)][axis];
        Vec3::new(pick(0), pick(1), pick(2))
    }

    /// Whether the swept bounds miss padded bounds.
    #[inline]
    pub(super) fn misses(&self, reach: &PaddedBounds) -> bool {
        reach.excludes(&self.low, &self.high)
    }

    /// Whether a box at rest is outside of bounds; touching is inside.
    pub(super) fn is_outside(&self, bounds: &[Corner; 2]) -> bool {
        let [mins, maxs] = bounds;
        (0..4).fold(false, |outside, axis| {
            outside | (self.high[axis] < mins[axis]) | (self.low[axis] > maxs[axis])
        })
    }

    /// Whether a brush is tested for the first time, as far as remembered.
    pub(super) fn first_look(&mut self, brush: u32) -> bool {
        std::mem::replace(&mut self.recent[brush as usize % RECENT], brush) != brush
    }

    /// Records that the box starts in solid, which ends the trace.
    pub(super) fn is_stuck(&mut self, contents: i32) {
        self.found.startsolid = true;
        self.found.allsolid = true;
        self.found.fraction = 0.0;
        self.found.contents = contents;
    }
}

impl TraceHit {
    /// A free path.
    pub(super) const NONE: Self = Self {
        fraction: 1.0,
        plane: TracePlane { normal: Vec3::ZERO, dist: 0.0 },
        allsolid: false,
        startsolid: false,
        contents: 0,
        surface_flags: 0,
    };

    /// Returns the result of a trace from `start` to `end`.
    pub(super) fn trace(&self, endpos: Vec3) -> Trace {
        Trace {
            fraction: self.fraction,
            endpos,
            plane: self.plane,
            allsolid: self.allsolid,
            startsolid: self.startsolid,
            contents: self.contents,
            surface_flags: self.surface_flags,
            entity: if self.fraction == 1.0 { EntityNum::NONE } else { EntityNum::WORLD },
        }
    }
}

/// Whether two points are equal. Faster than a comparison of arrays.
#[inline]
pub(super) fn is_same(Vec3([x, y, z]): Vec3, Vec3([other_x, other_y, other_z]): Vec3) -> bool {
    (x == other_x) & (y == other_y) & (z == other_z)
}

/// Returns the point that a trace reaches; after a free path exactly its end.
#[inline]
pub(super) fn end_of(query: &TraceQuery, fraction: f32) -> Vec3 {
    if fraction == 1.0 { query.end } else { reached(query.start, query.end, fraction) }
}

/// Free fraction of a line.
pub(super) fn reached(start: Vec3, end: Vec3, fraction: f32) -> Vec3 {
    start + (end - start) * fraction
}

/// Interval of a line inside a convex volume.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClipInterval {
    enter: f32,
    leave: f32,
    start_out: bool,
    end_out: bool,
    /// Side with the last entry.
    side: Option<usize>,
}

impl ClipInterval {
    /// The interval before any side is clipped.
    pub(super) const fn new() -> Self {
        Self { enter: -1.0, leave: 1.0, start_out: false, end_out: false, side: None }
    }

    /// Clips against one side. `from` and `to` are the distances of start and end in front of it.
    /// Returns false when the whole line stays in front, outside the volume.
    #[must_use]
    #[inline]
    pub(super) fn cross<A: Arithmetic>(&mut self, side: usize, from: A, to: A) -> bool {
        let (from_out, to_out) = (from > A::ZERO, to > A::ZERO);
        self.start_out |= from_out;
        self.end_out |= to_out;
        if stays_out(from, to) {
            return false;
        }
        if from_out || to_out {
            self.limit(side, from, to);
        }
        true
    }

    /// Clips against the six sides of a box, numbered 0 to 5: lower and upper of each axis in turn.
    /// The result equals six calls of [`cross`](Self::cross).
    #[must_use]
    #[inline]
    pub(super) fn cross_box<A: Arithmetic>(&mut self, bounds: &[Corner; 2], lanes: &Lanes) -> bool {
        let far: [[A; 4]; 2] = [
            std::array::from_fn(|at| A::of(bounds[0][at]) - A::of(lanes.size[1][at])),
            std::array::from_fn(|at| A::of(bounds[1][at]) - A::of(lanes.size[0][at])),
        ];
        let distances = |point: &Corner| -> [[A; 4]; 2] {
            [
                std::array::from_fn(|at| far[0][at] - A::of(point[at])),
                std::array::from_fn(|at| A::of(point[at]) - far[1][at]),
            ]
        };
        let (from, to) = (distances(&lanes.start), distances(&lanes.end));
        let any = |is: fn(A, A) -> bool| {
            (0..4).fold(false, |any, at| {
                any | is(from[0][at], to[0][at]) | is(from[1][at], to[1][at])
            })
        };
        if any(stays_out) {
            return false;
        }
        let start_out = any(|from, _| from > A::ZERO);
        let end_out = any(|_, to| to > A::ZERO);
        self.start_out |= start_out;
        self.end_out |= end_out;
        if start_out || end_out {
            for side in 0..6 {
                let (from, to) = (from[side % 2][side / 2], to[side % 2][side / 2]);
                if from > A::ZERO || to > A::ZERO {
                    self.limit(side, from, to);
                }
            }
        }
        true
    }

    /// Records where the line crosses a side. One end is in front and one behind, or both are in
    /// front and near.
    fn limit<A: Arithmetic>(&mut self, side: usize, from: A, to: A) {
        if from > to {
            let part = A::part(from, to, -SURFACE_CLIP).max(0.0);
            if part > self.enter {
                self.enter = part;
                self.side = Some(side);
            }
        } else {
            self.leave = self.leave.min(A::part(from, to, SURFACE_CLIP));
        }
    }

    /// Stops a sweep at a volume whose sides are all clipped. Returns the side that it hits, if
    /// any.
    pub(super) fn stop(&self, found: &mut TraceHit, contents: i32) -> Option<usize> {
        if !self.start_out {
            found.startsolid = true;
            if !self.end_out {
                found.allsolid = true;
                found.fraction = 0.0;
                found.contents = contents;
            }
            return None;
        }
        if self.enter < self.leave && self.enter > -1.0 && self.enter < found.fraction {
            found.fraction = self.enter;
            found.contents = contents;
            return self.side;
        }
        None
    }
}

/// Whether a line stays in front of a side.
#[inline]
fn stays_out<A: Arithmetic>(from: A, to: A) -> bool {
    (from > A::ZERO) & ((to >= A::of(SURFACE_CLIP as f32)) | (to >= from))
}

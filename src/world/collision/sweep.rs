//! State of one trace: a box or point in motion, and its nearest hit so far.
//!
//! Invariants: start and end are those of the box center; `found.fraction` never grows. Source: the
//! collision document, preparing a trace; checked by the trace vectors.

use super::{
    arithmetic::{Arithmetic, SURFACE_CLIP},
    bounds::{Corner, PaddedBounds, corner, each},
    capsule::Capsule,
};
use crate::model::{EntityNum, Trace, TracePlane, Vec3};

/// Brushes that are remembered as looked at.
const RECENT: usize = 16;

/// A sweep, or a box at rest.
#[derive(Debug)]
pub(super) struct Sweep {
    /// Where the middle of the box is first.
    pub(super) start: Vec3,
    /// Where it wants to be.
    pub(super) end: Vec3,
    /// Lower and upper corner of the box from its middle.
    pub(super) size: [Vec3; 2],
    /// The same once more, as a processor takes them at once.
    pub(super) lanes: Lanes,
    /// Lower and upper corner of the space moved through.
    low: Corner,
    high: Corner,
    /// What of the box moves, when not all of it.
    pub(super) capsule: Option<Capsule>,
    /// Contents that matter.
    pub(super) contents_mask: i32,
    /// The box has no size.
    pub(super) is_point: bool,
    /// How far the box reaches along each axis, as the tree sees it.
    pub(super) extents: Vec3,
    /// What was found so far.
    pub(super) found: TraceHit,
    /// Brushes looked at, each in the place of its number's low bits. To look twice changes nothing, so
    /// what falls out costs time only.
    recent: [u32; RECENT],
    /// Work done, for tests of its bounds.
    #[cfg(test)]
    pub(super) steps: Steps,
}

/// Work of a trace.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// Nodes of the tree visited.
    pub(super) nodes: usize,
    /// Brushes and patches tested.
    pub(super) contents: usize,
}

/// Start, end, lower and upper corner of the box, as in [`Sweep`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    pub(super) start: Corner,
    pub(super) end: Corner,
    pub(super) size: [Corner; 2],
}

/// What a sweep ran into.
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
    /// Moves a box with corners `mins` and `maxs` from its reference point, which goes from `start` to
    /// `end`.
    pub(super) fn new(start: Vec3, mins: Vec3, maxs: Vec3, end: Vec3, contents_mask: i32) -> Self {
        let offset = (mins + maxs) * 0.5;
        let size = [mins - offset, maxs - offset];
        let is_point = is_same(size[0], Vec3::ZERO);
        let (start, end) = (start + offset, end + offset);
        let lanes = Lanes { start: corner(start), end: corner(end), size: size.map(corner) };
        let least =
            each(
                |at| {
                    if lanes.start[at] < lanes.end[at] { lanes.start[at] } else { lanes.end[at] }
                },
            );
        let most =
            each(
                |at| {
                    if lanes.start[at] < lanes.end[at] { lanes.end[at] } else { lanes.start[at] }
                },
            );
        let low = each(|at| least[at] + lanes.size[0][at]);
        let high = each(|at| most[at] + lanes.size[1][at]);
        Self {
            start,
            end,
            size,
            lanes,
            low,
            high,
            capsule: None,
            contents_mask,
            is_point,
            extents: if is_point { Vec3::ZERO } else { size[1] },
            found: TraceHit {
                fraction: 1.0,
                plane: TracePlane::default(),
                allsolid: false,
                startsolid: false,
                contents: 0,
                surface_flags: 0,
            },
            recent: [u32::MAX; RECENT],
            #[cfg(test)]
            steps: Steps::default(),
        }
    }

    /// Moves a capsule in the box instead of the box.
    pub(super) fn with(mut self, capsule: Capsule) -> Self {
        for axis in 0..3 {
            let (from, to) = (self.start[axis], self.end[axis]);
            let (least, most) = if from < to { (from, to) } else { (to, from) };
            self.low[axis] = least - capsule.reach(axis);
            self.high[axis] = most + capsule.reach(axis);
        }
        self.capsule = Some(capsule);
        self
    }

    /// The corner of the box that reaches farthest against a normal with these sign bits.
    pub(super) fn corner(&self, sign_bits: u8) -> Vec3 {
        let pick = |axis: usize| self.size[usize::from(sign_bits >> axis & 1)][axis];
        Vec3::new(pick(0), pick(1), pick(2))
    }

    /// Whether the whole move passes something by.
    #[inline]
    pub(super) fn misses(&self, reach: &PaddedBounds) -> bool {
        reach.excludes(&self.low, &self.high)
    }

    /// Whether a box that does not move is outside of bounds; touching is inside.
    pub(super) fn is_outside(&self, bounds: &[Corner; 2]) -> bool {
        let [mins, maxs] = bounds;
        (0..4).fold(false, |outside, axis| {
            outside | (self.high[axis] < mins[axis]) | (self.low[axis] > maxs[axis])
        })
    }

    /// Whether a brush is looked at for the first time, as far as remembered.
    pub(super) fn first_look(&mut self, brush: u32) -> bool {
        std::mem::replace(&mut self.recent[brush as usize % RECENT], brush) != brush
    }

    /// The box is inside something: nothing else matters.
    pub(super) fn is_stuck(&mut self, contents: i32) {
        self.found.startsolid = true;
        self.found.allsolid = true;
        self.found.fraction = 0.0;
        self.found.contents = contents;
    }
}

impl TraceHit {
    /// The answer, for a way from `start` to `end`.
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

/// Whether two points are equal. Faster than to compare them as arrays.
#[inline]
pub(super) fn is_same(Vec3([x, y, z]): Vec3, Vec3([other_x, other_y, other_z]): Vec3) -> bool {
    (x == other_x) & (y == other_y) & (z == other_z)
}

/// The part of a way that is free.
pub(super) fn reached(start: Vec3, end: Vec3, fraction: f32) -> Vec3 {
    start + (end - start) * fraction
}

/// How a move gets into and out of a convex volume.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClipInterval {
    enter: f32,
    leave: f32,
    start_out: bool,
    end_out: bool,
    /// The side that it enters through last.
    side: Option<usize>,
}

impl ClipInterval {
    /// Before any side was looked at.
    pub(super) const fn new() -> Self {
        Self { enter: -1.0, leave: 1.0, start_out: false, end_out: false, side: None }
    }

    /// Takes in one side, `from` and `to` being how far start and end are in front of it. False when the
    /// move stays in front: it does not meet the volume at all.
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

    /// Takes in the six sides of a box, as numbers 0 to 5: lower and upper of each axis in turn. Equal to
    /// [`cross`](Self::cross) for each.
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

    /// Takes in where the move goes through a side, one end in front of it and one behind, or both in
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

    /// Stops a sweep by a volume all of whose sides were taken in. The side that it hit, if it did.
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

/// Whether a move stays in front of a side.
#[inline]
fn stays_out<A: Arithmetic>(from: A, to: A) -> bool {
    (from > A::ZERO) & ((to >= A::of(SURFACE_CLIP as f32)) | (to >= from))
}

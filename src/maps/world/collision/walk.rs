//! Walks through a BSP tree: along a trace, to a point.
//!
//! Invariant: children are inside the tables, and recursion is bounded by the depth of the tree. Source: the
//! collision document, walking the tree; checked by the trace and point vectors.

use super::{
    arithmetic::{Arithmetic, SURFACE_CLIP},
    bounds::{Corner, PaddedBounds, corner, each},
    sweep::{Lanes, Sweep},
};
use crate::model::Vec3;

/// Padding of slanted planes for boxes of any size, in units.
pub(super) const SLANTED_REACH: f32 = 2048.0;

/// A child: a node, or the complement of a leaf.
pub(super) type Below = i32;

/// Axis value of a plane that needs all three components.
pub(super) const SLANTED: usize = 3;

/// Node data for walks along a line: two nodes share a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Node {
    pub(super) normal: Vec3,
    pub(super) dist: f32,
    /// Axis of an axial plane, [`SLANTED`] for any other.
    pub(super) axis: u32,
    /// Children. A subtree without contents is replaced by one of its leafs, all of them empty.
    pub(super) children: [Below; 2],
}

/// Nodes of a tree, or of a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paths<'a> {
    pub(super) root: Below,
    pub(super) nodes: &'a [Node],
    /// Padded bounds of the contents below each child, by node. A walk skips a child whose bounds
    /// it misses.
    pub(super) reaches: &'a [[PaddedBounds; 2]],
}

impl Paths<'_> {
    /// Returns the leaf at a point, or an equally empty leaf.
    pub(super) fn leaf_at(&self, point: Vec3) -> usize {
        self.leaf_and_depth(point).0
    }

    /// Returns the same leaf, and the number of nodes above it.
    #[inline]
    pub(super) fn leaf_and_depth(&self, point: Vec3) -> (usize, usize) {
        let place = corner(point);
        let (mut below, mut depth) = (self.root, 0);
        // The complement of a leaf is beyond the table.
        while let Some(node) = self.nodes.get(below as usize) {
            let axis = node.axis as usize % 4;
            let along = if axis == SLANTED { node.normal.dot(point) } else { place[axis] };
            below = node.children[usize::from(along < node.dist)];
            depth += 1;
        }
        (!below as usize, depth)
    }

    /// Calls `visit` with each leaf that a sweep may touch, in the order of the path. Stops behind
    /// the nearest hit.
    pub(super) fn sweep<A: Arithmetic>(
        &self,
        sweep: &mut Sweep,
        visit: &mut impl FnMut(usize, &mut Sweep),
    ) {
        let Vec3([x, y, z]) = sweep.extents();
        let slanted = if sweep.is_point { 0.0 } else { SLANTED_REACH };
        let margins = [x, y, z, slanted].map(|reach| {
            let reach = A::of(reach);
            let clear = reach + A::ONE;
            Margin { reach, front: clear, back: -clear }
        });
        let Lanes { start, end, .. } = sweep.lanes;
        let way = Segment { from: 0.0, to: 1.0, start, end };
        self.walk::<A>(self.root, &way, &margins, sweep, visit);
    }

    /// Walks one segment of the path below a node or into a leaf.
    fn walk<A: Arithmetic>(
        &self,
        mut below: Below,
        way: &Segment,
        margins: &[Margin<A>; 4],
        sweep: &mut Sweep,
        visit: &mut impl FnMut(usize, &mut Sweep),
    ) {
        let mut way = *way;
        loop {
            if sweep.found.fraction <= way.from {
                return;
            }
            let [least, most] = way.bounds();
            let mut visited = 0;
            // Skip nodes whose plane has the whole segment on one side.
            let split = loop {
                let Some(node) = self.nodes.get(below as usize) else {
                    // The complement of a leaf is beyond the table.
                    sweep.work.nodes += visited;
                    visit(!below as usize, sweep);
                    return;
                };
                visited += 1;
                let axis = node.axis as usize % 4;
                let Margin { reach, front, back } = margins[axis];
                below = if axis == SLANTED {
                    let of = |[x, y, z, _]: Corner| {
                        A::dot(node.normal, Vec3::new(x, y, z)) - A::of(node.dist)
                    };
                    let (start, end) = (of(way.start), of(way.end));
                    if start >= front && end >= front {
                        node.children[0]
                    } else if start < back && end < back {
                        node.children[1]
                    } else {
                        break Split::new(node.children, start, end, reach);
                    }
                } else {
                    // Rounding keeps their order, so the nearer end decides for both.
                    let of = |point: &Corner| A::of(point[axis] - node.dist);
                    if of(&least) >= front {
                        node.children[0]
                    } else if of(&most) < back {
                        node.children[1]
                    } else {
                        break Split::new(node.children, of(&way.start), of(&way.end), reach);
                    }
                };
            };
            sweep.work.nodes += visited;
            let (near, far) = (split.near, 1 - split.near);
            let reaches = &self.reaches[below as usize];
            if !sweep.misses(&reaches[near]) {
                if split.children[near] < 0 {
                    // All contents of a leaf are tested, for any segment in it.
                    visit(!split.children[near] as usize, sweep);
                } else {
                    let piece = way.up_to(split.until());
                    self.walk::<A>(split.children[near], &piece, margins, sweep, visit);
                }
            }
            if sweep.misses(&reaches[far]) {
                return;
            }
            way = way.beyond(split.since());
            below = split.children[far];
        }
    }
}

/// Half size of a box along a plane's normal, and the distances at which the box is clear.
#[derive(Clone, Copy, Debug)]
struct Margin<A> {
    reach: A,
    front: A,
    back: A,
}

/// A segment of a sweep: fractions of the whole and the box centers at those.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: f32,
    to: f32,
    start: Corner,
    end: Corner,
}

impl Segment {
    /// Lower and upper coordinate of both ends along each axis.
    fn bounds(&self) -> [Corner; 2] {
        let Self { start, end, .. } = self;
        [
            each(|at| if start[at] < end[at] { start[at] } else { end[at] }),
            each(|at| if start[at] < end[at] { end[at] } else { start[at] }),
        ]
    }

    fn up_to(&self, part: f32) -> Self {
        let (to, end) = self.at(part);
        Self { to, end, ..*self }
    }

    fn beyond(&self, part: f32) -> Self {
        let (from, start) = self.at(part);
        Self { from, start, ..*self }
    }

    fn at(&self, part: f32) -> (f32, Corner) {
        let part = part.clamp(0.0, 1.0);
        let mut place = self.start;
        for (along, end) in place.iter_mut().zip(self.end) {
            *along += (end - *along) * part;
        }
        (self.from + (self.to - self.from) * part, place)
    }
}

/// A segment that crosses a plane or is near it.
struct Split<A> {
    children: [Below; 2],
    /// Child to walk first.
    near: usize,
    start: A,
    end: A,
    reach: A,
}

impl<A: Arithmetic> Split<A> {
    fn new(children: [Below; 2], start: A, end: A, reach: A) -> Self {
        Self { children, near: usize::from(start < end), start, end, reach }
    }

    /// Returns the fraction up to which the near side matters.
    fn until(&self) -> f32 {
        if self.start < self.end {
            self.part(self.start - self.reach, SURFACE_CLIP)
        } else if self.start > self.end {
            self.part(self.start + self.reach, SURFACE_CLIP)
        } else {
            1.0
        }
    }

    /// Returns the fraction from which the far side matters.
    fn since(&self) -> f32 {
        if self.start < self.end {
            self.part(self.start + self.reach, SURFACE_CLIP)
        } else if self.start > self.end {
            self.part(self.start - self.reach, -SURFACE_CLIP)
        } else {
            0.0
        }
    }

    fn part(&self, distance: A, margin: f64) -> f32 {
        let inverse = (1.0 / (self.start - self.end).double()) as f32;
        ((distance.double() + margin) * f64::from(inverse)) as f32
    }
}

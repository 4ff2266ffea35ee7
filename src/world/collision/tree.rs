//! BSP tree walks: along a trace, to a point, through a box.
//!
//! Invariants: children lie within the tables, and the tree ends within
//! [`MAX_TREE_DEPTH`](crate::world::bsp::MAX_TREE_DEPTH) steps, as the map loader guarantees, so
//! recursion is bounded. Source: the collision document, walking the tree; the map document, box
//! queries; checked by the trace, point and link vectors.

use super::{
    arithmetic::{Arithmetic, SURFACE_CLIP},
    bounds::{Corner, PaddedBounds, corner, each},
    sweep::Sweep,
};
use crate::{
    model::Vec3,
    world::bsp::{Bsp, Child, Plane, Sides},
};

/// Half the thickness that slanted planes get for boxes of any size.
const SLANTED_REACH: f32 = 2048.0;

/// Where a walk continues: a node, or as complement a leaf.
type Below = i32;

/// The tree of a map.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Box<[Node]>,
    /// By node, where something below each child can be met: elsewhere there is no need to walk there.
    reaches: Box<[[PaddedBounds; 2]]>,
    /// By node, what boxes at rest go by.
    forks: Box<[Fork]>,
}

/// A node as boxes at rest take it, who count all leafs that they touch.
#[derive(Clone, Copy, Debug)]
struct Fork {
    plane: Plane,
    children: [Below; 2],
}

/// What every walk needs of a node: two of them fill a line of a processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Node {
    normal: Vec3,
    dist: f32,
    /// The axis of an axial plane, [`SLANTED`] for any other.
    axis: u32,
    /// In place of nodes with nothing to meet below them, one of the leafs there: all are as empty.
    children: [Below; 2],
}

/// In place of an axis: a plane that needs all three.
const SLANTED: usize = 3;

/// The first node.
const ROOT: Below = 0;

impl Tree {
    /// The tree of a map, with where the contents of each leaf are reached.
    pub(super) fn new(bsp: &Bsp, leafs: &[PaddedBounds]) -> Self {
        let below = |child: Child| match child {
            Child::Node(node) => node.index() as Below,
            Child::Leaf(leaf) => !(leaf.index() as Below),
        };
        let node = |node: &crate::world::bsp::Node| {
            let plane = &bsp.planes[node.plane];
            Node {
                normal: plane.normal,
                dist: plane.dist,
                axis: plane.kind.axis().unwrap_or(SLANTED) as u32,
                children: node.children.map(below),
            }
        };
        let mut tree = Self {
            nodes: bsp.nodes.iter().map(node).collect(),
            reaches: vec![[PaddedBounds::NONE; 2]; bsp.nodes.len()].into(),
            forks: bsp
                .nodes
                .iter()
                .map(|node| Fork {
                    plane: bsp.planes[node.plane],
                    children: node.children.map(below),
                })
                .collect(),
        };
        tree.spread(ROOT, leafs);
        tree
    }

    /// Fills in the reaches of all nodes below one, and gives the reach of all that is there.
    fn spread(&mut self, below: Below, leafs: &[PaddedBounds]) -> PaddedBounds {
        if below < 0 {
            return leafs[!below as usize];
        }
        let children = self.nodes[below as usize].children;
        let reach = children.map(|child| self.spread(child, leafs));
        for (side, child) in children.into_iter().enumerate() {
            if child >= 0 && reach[side].is_none() {
                // Nothing is met below it, so its own children are leafs by now.
                self.nodes[below as usize].children[side] = self.nodes[child as usize].children[0];
            }
        }
        self.reaches[below as usize] = reach;
        reach[0].union(reach[1])
    }

    /// Memory that it takes, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.reaches) + size_of_val(&*self.forks)
    }

    /// The leaf that holds a point; where nothing can be met, one as empty.
    pub(super) fn leaf_at(&self, point: Vec3) -> usize {
        let place = corner(point);
        let mut below = ROOT;
        // The complement that stands for a leaf is beyond the table.
        while let Some(node) = self.nodes.get(below as usize) {
            let axis = node.axis as usize % 4;
            let along = if axis == SLANTED { node.normal.dot(point) } else { place[axis] };
            below = node.children[usize::from(along < node.dist)];
        }
        !below as usize
    }

    /// Calls `visit` with each leaf that a box touches, front before back, until it returns false.
    pub(super) fn leafs_in_box(
        &self,
        mins: Vec3,
        maxs: Vec3,
        mut visit: impl FnMut(usize) -> bool,
    ) {
        self.visit_box(ROOT, mins, maxs, &mut visit);
    }

    fn visit_box(
        &self,
        mut below: Below,
        mins: Vec3,
        maxs: Vec3,
        visit: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        while below >= 0 {
            let node = &self.forks[below as usize];
            below = match node.plane.sides_of(mins, maxs) {
                Sides::Front => node.children[0],
                Sides::Back => node.children[1],
                Sides::Both => {
                    if !self.visit_box(node.children[0], mins, maxs, visit) {
                        return false;
                    }
                    node.children[1]
                }
            };
        }
        visit(!below as usize)
    }

    /// Calls `visit` with each leaf that a sweep may touch, in the order in which it gets there, and
    /// not beyond what stopped it.
    pub(super) fn sweep<A: Arithmetic>(
        &self,
        sweep: &mut Sweep,
        visit: &mut impl FnMut(usize, &mut Sweep),
    ) {
        let Vec3([x, y, z]) = sweep.extents;
        let slanted = if sweep.is_point { 0.0 } else { SLANTED_REACH };
        let margins = [x, y, z, slanted].map(|reach| {
            let reach = A::of(reach);
            let clear = reach + A::ONE;
            Margin { reach, front: clear, back: -clear }
        });
        let way =
            Segment { from: 0.0, to: 1.0, start: corner(sweep.start), end: corner(sweep.end) };
        self.walk::<A>(ROOT, &way, &margins, sweep, visit);
    }

    /// Walks one piece of the way below a node or into a leaf.
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
            // The nodes that all of the piece is on one side of.
            let split = loop {
                let Some(node) = self.nodes.get(below as usize) else {
                    // The complement that stands for a leaf is beyond the table.
                    visit(!below as usize, sweep);
                    return;
                };
                #[cfg(test)]
                {
                    sweep.steps.nodes += 1;
                }
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
            let (near, far) = (split.near, 1 - split.near);
            let reaches = &self.reaches[below as usize];
            if !sweep.misses(&reaches[near]) {
                if split.children[near] < 0 {
                    // All of a leaf is met, whatever the piece in it.
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

/// How far a box reaches along the normal of a kind of plane, and at which distances it is clear of it.
#[derive(Clone, Copy, Debug)]
struct Margin<A> {
    reach: A,
    front: A,
    back: A,
}

/// A piece of a sweep: fractions of the whole, and where the middle of the box is at those.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: f32,
    to: f32,
    start: Corner,
    end: Corner,
}

impl Segment {
    /// The lower and the upper of both ends along each axis.
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

/// A move that is on both sides of a plane, or near it.
struct Split<A> {
    children: [Below; 2],
    /// The child to walk first.
    near: usize,
    start: A,
    end: A,
    reach: A,
}

impl<A: Arithmetic> Split<A> {
    fn new(children: [Below; 2], start: A, end: A, reach: A) -> Self {
        Self { children, near: usize::from(start < end), start, end, reach }
    }

    /// The part of the way up to which the near side matters.
    fn until(&self) -> f32 {
        if self.start < self.end {
            self.part(self.start - self.reach, SURFACE_CLIP)
        } else if self.start > self.end {
            self.part(self.start + self.reach, SURFACE_CLIP)
        } else {
            1.0
        }
    }

    /// The part of the way from which the far side matters.
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

//! The tree that cuts space into leafs: walks along a move, to a point, through a box.
//!
//! Invariants: children lie within the tables and the tree ends within
//! [`MAX_TREE_DEPTH`](crate::world::bsp::MAX_TREE_DEPTH) steps, as the loader of maps guarantees, so
//! recursion is bounded. Source: the collision document, walking the tree; the map document, box
//! queries; checked by the trace, point and link vectors.

use super::{
    arithmetic::{Arithmetic, SURFACE_CLIP},
    reach::Reach,
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
    /// By node, its plane as boxes are compared with it.
    planes: Box<[Plane]>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    normal: Vec3,
    dist: f32,
    /// The axis of an axial plane; anything else for a slanted one.
    axis: u32,
    children: [Below; 2],
    /// Where something below each child can be met: elsewhere there is no need to walk there.
    reach: [Reach; 2],
}

/// The first node.
const ROOT: Below = 0;

impl Tree {
    /// The tree of a map, with where the contents of each leaf are reached.
    pub(super) fn new(bsp: &Bsp, leafs: &[Reach]) -> Self {
        let below = |child: Child| match child {
            Child::Node(node) => node.index() as Below,
            Child::Leaf(leaf) => !(leaf.index() as Below),
        };
        let node = |node: &crate::world::bsp::Node| {
            let plane = &bsp.planes[node.plane];
            Node {
                normal: plane.normal,
                dist: plane.dist,
                axis: plane.kind as u32,
                children: node.children.map(below),
                reach: [Reach::NONE; 2],
            }
        };
        let mut tree = Self {
            nodes: bsp.nodes.iter().map(node).collect(),
            planes: bsp.nodes.iter().map(|node| bsp.planes[node.plane]).collect(),
        };
        tree.spread(ROOT, leafs);
        tree
    }

    /// Fills in the reaches of all nodes below one, and gives the reach of all that is there.
    fn spread(&mut self, below: Below, leafs: &[Reach]) -> Reach {
        if below < 0 {
            return leafs[!below as usize];
        }
        let children = self.nodes[below as usize].children;
        let reach = children.map(|child| self.spread(child, leafs));
        self.nodes[below as usize].reach = reach;
        reach[0].union(reach[1])
    }

    /// Memory that it takes, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.planes)
    }

    /// The leaf that holds a point.
    pub(super) fn leaf_at(&self, point: Vec3) -> usize {
        let mut below = ROOT;
        while below >= 0 {
            let node = &self.nodes[below as usize];
            below = node.children[usize::from(node.distance_to(point) < 0.0)];
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
            let node = &self.nodes[below as usize];
            below = match self.planes[below as usize].sides_of(mins, maxs) {
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
        let way = Way { from: 0.0, to: 1.0, start: sweep.start, end: sweep.end };
        self.walk::<A>(ROOT, way, sweep, visit);
    }

    fn walk<A: Arithmetic>(
        &self,
        mut below: Below,
        mut way: Way,
        sweep: &mut Sweep,
        visit: &mut impl FnMut(usize, &mut Sweep),
    ) {
        loop {
            if sweep.found.fraction <= way.from {
                return;
            }
            if below < 0 {
                visit(!below as usize, sweep);
                return;
            }
            let node = &self.nodes[below as usize];
            let (start, end, reach) = distances::<A>(node, &way, sweep);
            let clear = reach + A::ONE;
            if start >= clear && end >= clear {
                below = node.children[0];
                continue;
            }
            if start < -clear && end < -clear {
                below = node.children[1];
                continue;
            }
            let split = Split::new(start, end, reach);
            let (near, far) = (split.near, 1 - split.near);
            if !sweep.misses(&node.reach[near]) {
                self.walk::<A>(node.children[near], way.up_to(split.until()), sweep, visit);
            }
            if sweep.misses(&node.reach[far]) {
                return;
            }
            way = way.beyond(split.since());
            below = node.children[far];
        }
    }
}

impl Node {
    fn distance_to(&self, point: Vec3) -> f32 {
        match point.0.get(self.axis as usize) {
            Some(&along) => along - self.dist,
            None => self.normal.dot(point) - self.dist,
        }
    }
}

/// A piece of a sweep: fractions of the whole, and where the middle of the box is at those.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: f32,
    to: f32,
    start: Vec3,
    end: Vec3,
}

impl Way {
    fn up_to(self, part: f32) -> Self {
        let (to, end) = self.at(part);
        Self { to, end, ..self }
    }

    fn beyond(self, part: f32) -> Self {
        let (from, start) = self.at(part);
        Self { from, start, ..self }
    }

    fn at(&self, part: f32) -> (f32, Vec3) {
        let part = part.clamp(0.0, 1.0);
        (self.from + (self.to - self.from) * part, self.start + (self.end - self.start) * part)
    }
}

/// How far both ends are in front of a plane, and how far the box reaches along its normal.
fn distances<A: Arithmetic>(node: &Node, way: &Way, sweep: &Sweep) -> (A, A, A) {
    let axis = node.axis as usize;
    if axis < 3 {
        let of = |point: Vec3| A::of(point[axis] - node.dist);
        (of(way.start), of(way.end), A::of(sweep.extents[axis]))
    } else {
        let of = |point: Vec3| A::dot(node.normal, point) - A::of(node.dist);
        let reach = if sweep.is_point { 0.0 } else { SLANTED_REACH };
        (of(way.start), of(way.end), A::of(reach))
    }
}

/// A move that is on both sides of a plane, or near it.
struct Split<A> {
    /// The child to walk first.
    near: usize,
    start: A,
    end: A,
    reach: A,
}

impl<A: Arithmetic> Split<A> {
    fn new(start: A, end: A, reach: A) -> Self {
        Self { near: usize::from(start < end), start, end, reach }
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

//! The tree that cuts space into leafs: walks along a move, to a point, through a box.
//!
//! Invariants: children lie within the tables and the tree ends within
//! [`MAX_TREE_DEPTH`](crate::world::bsp::MAX_TREE_DEPTH) steps, as the loader of maps guarantees, so
//! recursion is bounded. Source: the collision document, walking the tree; the map document, box
//! queries; checked by the trace, point and link vectors.

use super::{
    arithmetic::{Arithmetic, SURFACE_CLIP},
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
pub(super) struct Tree(Box<[Node]>);

#[derive(Clone, Copy, Debug)]
struct Node {
    plane: Plane,
    children: [Below; 2],
}

/// The first node.
const ROOT: Below = 0;

impl Tree {
    pub(super) fn new(bsp: &Bsp) -> Self {
        let below = |child: Child| match child {
            Child::Node(node) => node.index() as Below,
            Child::Leaf(leaf) => !(leaf.index() as Below),
        };
        let node = |node: &crate::world::bsp::Node| Node {
            plane: bsp.planes[node.plane],
            children: node.children.map(below),
        };
        Self(bsp.nodes.iter().map(node).collect())
    }

    /// Memory that it takes, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.0)
    }

    /// The leaf that holds a point.
    pub(super) fn leaf_at(&self, point: Vec3) -> usize {
        let mut below = ROOT;
        while below >= 0 {
            let node = &self.0[below as usize];
            below = node.children[usize::from(node.plane.distance_to(point) < 0.0)];
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
            let node = &self.0[below as usize];
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
            let node = &self.0[below as usize];
            let (start, end, reach) = distances::<A>(&node.plane, &way, sweep);
            let clear = reach + A::ONE;
            if start >= clear && end >= clear {
                below = node.children[0];
                continue;
            }
            if start < -clear && end < -clear {
                below = node.children[1];
                continue;
            }
            let (near, until, since) = cuts(start, end, reach);
            self.walk::<A>(node.children[near], way.up_to(until), sweep, visit);
            way = way.beyond(since);
            below = node.children[1 - near];
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
fn distances<A: Arithmetic>(plane: &Plane, way: &Way, sweep: &Sweep) -> (A, A, A) {
    match plane.kind.axis() {
        Some(axis) => {
            let of = |point: Vec3| A::of(point[axis] - plane.dist);
            let reach = if sweep.is_point { 0.0 } else { sweep.size[1][axis] };
            (of(way.start), of(way.end), A::of(reach))
        }
        None => {
            let of = |point: Vec3| A::dot(plane.normal, point) - A::of(plane.dist);
            let reach = if sweep.is_point { 0.0 } else { SLANTED_REACH };
            (of(way.start), of(way.end), A::of(reach))
        }
    }
}

/// The side to walk first, the part of the way up to which it matters, and the part from which the
/// other side does.
fn cuts<A: Arithmetic>(start: A, end: A, reach: A) -> (usize, f32, f32) {
    let part = |distance: A, margin: f64| {
        let inverse = (1.0 / (start - end).double()) as f32;
        ((distance.double() + margin) * f64::from(inverse)) as f32
    };
    if start < end {
        (1, part(start - reach, SURFACE_CLIP), part(start + reach, SURFACE_CLIP))
    } else if start > end {
        (0, part(start + reach, SURFACE_CLIP), part(start - reach, -SURFACE_CLIP))
    } else {
        (0, 1.0, 0.0)
    }
}

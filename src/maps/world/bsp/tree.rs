//! Tree queries: the leaf at a point and the leafs in a box.

use crate::model::Vec3;

use super::error::{BspError, Lump, RecordFault};
use super::table::{LeafNum, NodeNum, Table};
use super::{Branch, Bsp, Child, MAX_TREE_DEPTH, Node, Plane};

/// Sides of a plane that a box is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// In front only.
    Front,
    /// Behind only.
    Back,
    /// Both sides.
    Both,
}

impl Plane {
    /// Returns the distance of `point` in front of the plane; negative behind. One subtraction for
    /// axial planes.
    #[must_use]
    pub fn distance_to(&self, point: Vec3) -> f32 {
        match self.kind.axis() {
            Some(axis) => point[axis] - self.dist,
            None => self.normal.dot(point) - self.dist,
        }
    }

    /// Returns the sides that the box is on. A box that touches an axial plane is on one side.
    #[must_use]
    pub fn sides_of(&self, mins: Vec3, maxs: Vec3) -> Sides {
        if let Some(axis) = self.kind.axis() {
            return if self.dist <= mins[axis] {
                Sides::Front
            } else if self.dist >= maxs[axis] {
                Sides::Back
            } else {
                Sides::Both
            };
        }
        let (mut far, mut near) = (maxs, mins);
        for axis in 0..3 {
            if self.signbits & 1 << axis != 0 {
                (far[axis], near[axis]) = (mins[axis], maxs[axis]);
            }
        }
        match (self.normal.dot(far) >= self.dist, self.normal.dot(near) < self.dist) {
            (true, false) => Sides::Front,
            (false, true) => Sides::Back,
            // Neither side: only for an inverted box or NaN.
            (true, true) | (false, false) => Sides::Both,
        }
    }
}

impl Bsp {
    /// Returns the leaf at a point. A point on a plane is in front of it.
    #[must_use]
    pub fn leaf_at(&self, point: Vec3) -> LeafNum {
        let mut child = Self::ROOT;
        loop {
            match child.branch() {
                Branch::Leaf(leaf) => return leaf,
                Branch::Node(number) => {
                    let node = &self.nodes[number];
                    let behind = node.plane.distance_to(point) < 0.0;
                    child = node.children[usize::from(behind)];
                }
            }
        }
    }

    /// Calls `visit` with each leaf that a box touches. See [`Table::leafs_in_box`].
    pub fn leafs_in_box(&self, mins: Vec3, maxs: Vec3, visit: impl FnMut(LeafNum) -> bool) {
        self.nodes.leafs_in_box(mins, maxs, visit);
    }
}

impl Table<NodeNum, Node> {
    /// Calls `visit` with each leaf that a box touches, solid ones included, front before back.
    /// Stops when `visit` returns `false`. Returns the number of nodes on the way.
    pub fn leafs_in_box(
        &self,
        mins: Vec3,
        maxs: Vec3,
        mut visit: impl FnMut(LeafNum) -> bool,
    ) -> usize {
        let mut nodes = 0;
        self.visit_box(Bsp::ROOT, mins, maxs, &mut nodes, &mut visit);
        nodes
    }

    /// Recursion ends within [`MAX_TREE_DEPTH`] steps.
    fn visit_box(
        &self,
        mut child: Child,
        mins: Vec3,
        maxs: Vec3,
        nodes: &mut usize,
        visit: &mut impl FnMut(LeafNum) -> bool,
    ) -> bool {
        loop {
            let number = match child.branch() {
                Branch::Leaf(leaf) => return visit(leaf),
                Branch::Node(number) => number,
            };
            *nodes += 1;
            let Node { plane, children: [front, back] } = &self[number];
            child = match plane.sides_of(mins, maxs) {
                Sides::Front => *front,
                Sides::Back => *back,
                Sides::Both => {
                    if !self.visit_box(*front, mins, maxs, nodes, visit) {
                        return false;
                    }
                    *back
                }
            };
        }
    }
}

/// Rejects a tree that reaches a node or a leaf twice, or is too deep.
pub(super) fn check(nodes: &Table<NodeNum, Node>, leaf_count: usize) -> Result<(), BspError> {
    let mut met_nodes = vec![false; nodes.len()];
    let mut met_leafs = vec![false; leaf_count];
    let mut left = vec![(Bsp::ROOT, 0)];
    while let Some((child, depth)) = left.pop() {
        let (lump, record, met) = match child.branch() {
            Branch::Node(node) => (Lump::Nodes, node.index(), &mut met_nodes),
            Branch::Leaf(leaf) => (Lump::Leafs, leaf.index(), &mut met_leafs),
        };
        let fault = |fault| Err(BspError::Record { lump, record, fault });
        if std::mem::replace(&mut met[record], true) {
            return fault(RecordFault::Revisited);
        }
        if depth > MAX_TREE_DEPTH {
            return fault(RecordFault::TooDeep { max: MAX_TREE_DEPTH });
        }
        if let Branch::Node(node) = child.branch() {
            left.extend(nodes[node].children.map(|below| (below, depth + 1)));
        }
    }
    Ok(())
}

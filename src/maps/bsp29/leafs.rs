//! Leafs of a map: the leaf at a point, and the leafs in a box.
//!
//! Source: QuakeWorld protocol 28. Engine names: `Mod_PointInLeaf`, `SV_FindTouchedLeafs`.

use super::hull::{Contents, Plane};
use super::{Bsp29, LeafSet, MAX_TREE_DEPTH, Model};
use crate::model::Vec3;

/// Number of a leaf. Leaf 0 is the solid one that all walls share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafNum(u16);

impl LeafNum {
    /// The solid leaf.
    pub const SOLID: Self = Self(0);

    pub(super) const fn from_checked(index: usize) -> Self {
        debug_assert!(index <= u16::MAX as usize);
        Self(index as u16)
    }

    /// The number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A convex part of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Contents.
    pub contents: Contents,
}

/// Number of leafs of a box beyond which it counts as visible from everywhere.
pub const MAX_TOUCHED_LEAFS: usize = 16;

/// Leafs that a box touches, stored with an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchedLeafs {
    leafs: [LeafNum; MAX_TOUCHED_LEAFS],
    /// Number of leafs, or one more than the limit.
    len: u8,
}

impl TouchedLeafs {
    /// Whether one of the leafs is in a set.
    #[must_use]
    pub fn is_visible(&self, set: &LeafSet) -> bool {
        let leafs = self.leafs.get(..usize::from(self.len));
        leafs.is_none_or(|leafs| leafs.iter().any(|&leaf| set.contains(leaf)))
    }
}

/// Child of a node: a node, or the complement of a leaf's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeafChild(i32);

impl LeafChild {
    pub(super) const fn node(index: usize) -> Self {
        Self(index as i32)
    }

    pub(super) const fn leaf(leaf: LeafNum) -> Self {
        Self(!(leaf.0 as i32))
    }

    /// Returns the index of the node, or the leaf.
    pub(super) const fn branch(self) -> Result<usize, LeafNum> {
        if self.0 >= 0 { Ok(self.0 as usize) } else { Err(LeafNum(!self.0 as u16)) }
    }
}

/// A node of the tree with leafs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LeafNode {
    pub(super) plane: Plane,
    pub(super) children: [LeafChild; 2],
}

impl Model {
    /// Returns the corners of the model's box, 1 unit wider on all sides, as for physics.
    #[must_use]
    pub fn grown_box(&self) -> (Vec3, Vec3) {
        let unit = Vec3::new(1.0, 1.0, 1.0);
        (self.mins - unit, self.maxs + unit)
    }
}

impl Bsp29 {
    /// Root of the world's tree.
    fn root(&self) -> LeafChild {
        match self.models[0].heads[0].branch() {
            Ok(node) => LeafChild::node(node),
            // A world without a node has one kind of contents, thus no leafs of its own.
            Err(_) => LeafChild::leaf(LeafNum::SOLID),
        }
    }

    /// Returns the leafs of the map; a [`LeafNum`] of this map is an index.
    #[must_use]
    pub const fn leafs(&self) -> &[Leaf] {
        &self.leafs
    }

    /// Returns the leaf at a point. A point on a plane is in front of it.
    #[must_use]
    pub fn leaf_at(&self, point: Vec3) -> LeafNum {
        let mut child = self.root();
        loop {
            match child.branch() {
                Ok(node) => {
                    let node = &self.leaf_nodes[node];
                    child = node.children[usize::from(node.plane.distance_to(point) < 0.0)];
                }
                Err(leaf) => return leaf,
            }
        }
    }

    /// Returns the leafs that a box touches.
    #[must_use]
    pub fn touched_leafs(&self, mins: Vec3, maxs: Vec3) -> TouchedLeafs {
        let mut touched = TouchedLeafs { leafs: [LeafNum::SOLID; MAX_TOUCHED_LEAFS], len: 0 };
        self.leafs_in_box(mins, maxs, |leaf| {
            let place = touched.leafs.get_mut(usize::from(touched.len));
            touched.len += 1;
            place.map(|place| *place = leaf).is_some()
        });
        touched
    }

    /// Calls `visit` with each leaf that a box touches and that is not solid, front before back. Stops when
    /// `visit` returns `false`. Returns whether it visited all.
    pub fn leafs_in_box(
        &self,
        mins: Vec3,
        maxs: Vec3,
        mut visit: impl FnMut(LeafNum) -> bool,
    ) -> bool {
        self.visit_box(self.root(), mins, maxs, &mut visit)
    }

    /// Recursion ends within [`MAX_TREE_DEPTH`] steps.
    fn visit_box(
        &self,
        mut child: LeafChild,
        mins: Vec3,
        maxs: Vec3,
        visit: &mut impl FnMut(LeafNum) -> bool,
    ) -> bool {
        const { assert!(MAX_TREE_DEPTH <= 1024) };
        loop {
            let node = match child.branch() {
                Ok(node) => &self.leaf_nodes[node],
                Err(leaf) => {
                    let is_solid = self.leafs[leaf.index()].contents == Contents::SOLID;
                    return is_solid || visit(leaf);
                }
            };
            let [front, back] = node.children;
            child = match node.plane.sides_of(mins, maxs) {
                (true, false) => front,
                (false, _) => back,
                (true, true) => {
                    if !self.visit_box(front, mins, maxs, visit) {
                        return false;
                    }
                    back
                }
            };
        }
    }
}

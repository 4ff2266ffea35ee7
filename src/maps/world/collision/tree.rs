//! BSP tree of a map: its nodes, and the leafs that a box touches.
//!
//! Invariants: children are inside the tables, and the tree ends within
//! [`MAX_TREE_DEPTH`](crate::world::bsp::MAX_TREE_DEPTH) steps, as the map loader guarantees, so
//! recursion is bounded. Source: the map document, box queries; checked by the link vectors.

use std::sync::Arc;

use super::{
    bounds::PaddedBounds,
    walk::{Below, Node, Paths, SLANTED},
};
use crate::{
    model::Vec3,
    world::bsp::{self, Branch, Bsp, Child, NodeNum, Table},
};

/// BSP tree of a map.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Box<[Node]>,
    /// Padded bounds of the contents below each child, by node. A walk skips a child whose bounds
    /// it misses.
    reaches: Box<[[PaddedBounds; 2]]>,
    /// Nodes of the map, for boxes at rest, which visit every leaf that they touch.
    whole: Arc<Table<NodeNum, bsp::Node>>,
}

/// Root of the tree.
const ROOT: Below = 0;

impl Tree {
    /// Creates the tree of a map. `leafs` are the padded bounds of each leaf's contents.
    pub(super) fn new(bsp: &Bsp, leafs: &[PaddedBounds]) -> Self {
        let below = |child: Child| match child.branch() {
            Branch::Node(node) => node.index() as Below,
            Branch::Leaf(leaf) => !(leaf.index() as Below),
        };
        let node = |&bsp::Node { plane, children }: &bsp::Node| Node {
            normal: plane.normal,
            dist: plane.dist,
            axis: plane.kind.axis().unwrap_or(SLANTED) as u32,
            children: children.map(below),
        };
        let mut tree = Self {
            nodes: bsp.nodes.iter().map(node).collect(),
            reaches: vec![[PaddedBounds::NONE; 2]; bsp.nodes.len()].into(),
            whole: Arc::clone(&bsp.nodes),
        };
        tree.spread(ROOT, leafs);
        tree
    }

    /// Fills in the bounds of all nodes below a child and returns the bounds of their contents.
    fn spread(&mut self, below: Below, leafs: &[PaddedBounds]) -> PaddedBounds {
        if below < 0 {
            return leafs[!below as usize];
        }
        let children = self.nodes[below as usize].children;
        let reach = children.map(|child| self.spread(child, leafs));
        for (side, child) in children.into_iter().enumerate() {
            if child >= 0 && reach[side].is_none() {
                // The subtree is empty, so its own children are leafs by now.
                self.nodes[below as usize].children[side] = self.nodes[child as usize].children[0];
            }
        }
        self.reaches[below as usize] = reach;
        reach[0].union(reach[1])
    }

    /// Returns the memory of the tree without the nodes of the map, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.reaches)
    }

    /// Returns the nodes for walks.
    pub(super) fn paths(&self) -> Paths<'_> {
        Paths { root: ROOT, nodes: &self.nodes, reaches: &self.reaches }
    }

    /// Calls `visit` with each leaf that a box touches, front before back, until it returns false. Returns the number
    /// of nodes on the way.
    pub(super) fn leafs_in_box(
        &self,
        mins: Vec3,
        maxs: Vec3,
        mut visit: impl FnMut(usize) -> bool,
    ) -> usize {
        self.whole.leafs_in_box(mins, maxs, |leaf| visit(leaf.index()))
    }
}

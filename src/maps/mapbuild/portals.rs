//! Portals: the openings between the leafs of a tree.
//!
//! The polygon of each node's plane, cut by all ancestors, is pushed down its front child and each piece then down
//! its back child: a piece is an opening between two leafs. The faces of a box around the map join leafs to the
//! outside.

use super::{
    planes::{Plane, Planes},
    tree::{Child, Tree},
    vector::{Bounds, Vector},
    winding::{Winding, WindingSide},
};

/// Distance from the map to the box around it.
const MARGIN: f64 = 8.0;
/// Tolerance of cuts by ancestors.
const ANCESTOR_CUT: f64 = 0.001;
/// Tolerance of cuts by the nodes below.
const PUSH_CUT: f64 = 0.01;
/// Maximum number of portals.
const MAX_PORTALS: usize = 200_000;
/// Maximum number of pieces of polygons at nodes, which bounds the work.
const MAX_PIECES: usize = 20_000_000;

/// An opening between two leafs.
#[derive(Clone, Debug)]
pub(super) struct Portal {
    /// Polygon; its front is the first leaf.
    pub winding: Winding,
    /// Leafs in front and behind; none is the outside of the map.
    pub leafs: [Option<usize>; 2],
    /// Plane of its node; none on the box around the map.
    pub plane: Option<usize>,
}

/// All portals of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Portals {
    /// Portals.
    pub list: Vec<Portal>,
    /// Numbers of the portals of each leaf.
    pub of_leaf: Vec<Vec<usize>>,
    /// Numbers of the portals of the outside.
    pub of_outside: Vec<usize>,
    /// Pieces of polygons that were moved down the tree.
    pieces: usize,
}

impl Portals {
    /// Finds the portals of a tree and sets the boxes of its leafs and nodes. Returns `None` for a
    /// tree with more than the maximum number of portals.
    pub(super) fn of_tree(tree: &mut Tree, bounds: Bounds, planes: &Planes) -> Option<Self> {
        let mut portals = Self { of_leaf: vec![Vec::new(); tree.leafs.len()], ..Self::default() };
        let box_planes = box_planes(bounds.grown(MARGIN));
        for plane in &box_planes {
            let mut winding = Some(Winding::of_plane(plane));
            for other in
                box_planes.iter().filter(|other| other.normal.dot(plane.normal).abs() < 0.5)
            {
                winding = winding.and_then(|winding| winding.behind(other, ANCESTOR_CUT));
            }
            let mut pieces = Vec::new();
            if let Some(winding) = winding {
                portals.push(tree, planes, winding, tree.root, &mut pieces);
            }
            for (leaf, winding) in pieces {
                portals.add(winding, [None, Some(leaf)], None);
            }
        }
        let mut limits = box_planes;
        portals.of_node(tree, planes, tree.root, &mut limits);
        if portals.is_full() {
            return None;
        }
        for (leaf, own) in tree.leafs.iter_mut().zip(&portals.of_leaf) {
            let bounds = own.iter().map(|&portal| portals.list[portal].winding.bounds());
            leaf.bounds = bounds.fold(Bounds::EMPTY, Bounds::union);
        }
        tree.set_node_bounds();
        Some(portals)
    }

    fn of_node(&mut self, tree: &Tree, planes: &Planes, at: Child, limits: &mut Vec<Plane>) {
        let Child::Node(number) = at else { return };
        if self.is_full() {
            return;
        }
        let node = &tree.nodes[number];
        let plane = planes[node.plane];
        let mut winding = Some(Winding::of_plane(&plane));
        for limit in limits.iter() {
            winding = winding.and_then(|winding| winding.behind(limit, ANCESTOR_CUT));
        }
        if let Some(winding) = winding.filter(|winding| !winding.is_tiny()) {
            let mut front = Vec::new();
            self.push(tree, planes, winding, node.children[0], &mut front);
            for (before, winding) in front {
                let mut back = Vec::new();
                self.push(tree, planes, winding, node.children[1], &mut back);
                for (behind, winding) in back {
                    self.add(winding, [Some(before), Some(behind)], Some(node.plane));
                }
            }
        }
        for (child, limit) in node.children.into_iter().zip([plane.reversed(), plane]) {
            limits.push(limit);
            self.of_node(tree, planes, child, limits);
            limits.pop();
        }
    }

    fn is_full(&self) -> bool {
        self.list.len() > MAX_PORTALS || self.pieces > MAX_PIECES
    }

    /// Cuts a polygon at the nodes below and collects its pieces by leaf.
    fn push(
        &mut self,
        tree: &Tree,
        planes: &Planes,
        winding: Winding,
        at: Child,
        pieces: &mut Vec<(usize, Winding)>,
    ) {
        self.pieces += 1;
        let node = match at {
            Child::Leaf(leaf) => return pieces.push((leaf, winding)),
            Child::Node(_) if self.is_full() => return,
            Child::Node(node) => &tree.nodes[node],
        };
        let plane = &planes[node.plane];
        if winding.place(plane, PUSH_CUT) == WindingSide::On {
            return self.push(tree, planes, winding, node.children[0], pieces);
        }
        let parts = winding.cut(plane, PUSH_CUT);
        for (part, child) in [parts.front, parts.back].into_iter().zip(node.children) {
            if let Some(part) = part {
                self.push(tree, planes, part, child, pieces);
            }
        }
    }

    fn add(&mut self, winding: Winding, leafs: [Option<usize>; 2], plane: Option<usize>) {
        if winding.is_tiny() || self.list.len() > MAX_PORTALS {
            return;
        }
        let number = self.list.len();
        for leaf in leafs {
            match leaf {
                Some(leaf) => self.of_leaf[leaf].push(number),
                None => self.of_outside.push(number),
            }
        }
        self.list.push(Portal { winding, leafs, plane });
    }
}

impl Portal {
    /// Returns the leaf on the other side, none for the outside.
    #[must_use]
    pub(super) fn other(&self, leaf: usize) -> Option<usize> {
        if self.leafs[0] == Some(leaf) { self.leafs[1] } else { self.leafs[0] }
    }
}

/// Planes of a box, facing outward.
fn box_planes(bounds: Bounds) -> Vec<Plane> {
    let face = |axis: usize| {
        let (up, down) = (Vector::along(axis, 1.0), Vector::along(axis, -1.0));
        [
            Plane { normal: up, dist: bounds.maxs[axis] },
            Plane { normal: down, dist: -bounds.mins[axis] },
        ]
    };
    (0..3).flat_map(face).collect()
}

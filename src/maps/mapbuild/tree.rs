//! Tree of planes over a map, and the brushes in its leafs.
//!
//! Invariants: node planes have even numbers; depth is at most [`MAX_DEPTH`]; leafs are numbered in the order of
//! the tree, front first.

use super::{
    brushes::Brush,
    planes::{Plane, Planes},
    vector::{Bounds, Vector},
    winding::{Winding, WindingSide},
};

/// Largest depth of a tree. Loaders accept 512.
const MAX_DEPTH: usize = 500;
/// Space is always cut at multiples of this, so that leafs stay small.
const BLOCK: f64 = 1024.0;
/// Distance within which a polygon is on a plane.
const ON: f64 = 0.1;
/// Distance within which a cut leaves a point on both sides.
const CUT: f64 = 0.2;
/// Maximum number of planes that are compared for one node.
const MAX_CANDIDATES: usize = 400;

/// A child of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Child {
    /// A node.
    Node(usize),
    /// A leaf.
    Leaf(usize),
}

/// An inner node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Plane that splits space.
    pub plane: usize,
    /// Children in front and behind.
    pub children: [Child; 2],
    /// Box around the leafs below.
    pub bounds: Bounds,
}

/// A leaf.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Whether nothing can be seen from inside: solid or outside the map.
    pub is_opaque: bool,
    /// Area portal brush that fills it, by index in the list of world brushes.
    pub area_portal: Option<usize>,
    /// Brushes that touch it, by index in the list of world brushes, ascending.
    pub brushes: Vec<usize>,
    /// Surfaces in it, ascending.
    pub surfaces: Vec<usize>,
    /// Box around its portals.
    pub bounds: Bounds,
    /// Cluster; none if opaque.
    pub cluster: Option<usize>,
    /// Area; none if opaque.
    pub area: Option<usize>,
}

/// A tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Topmost node or only leaf.
    pub root: Child,
    /// Nodes, parents before children.
    pub nodes: Vec<Node>,
    /// Leafs.
    pub leafs: Vec<Leaf>,
}

/// A face that splits space.
#[derive(Clone, Debug)]
pub(super) struct SplitFace {
    /// Polygon.
    pub winding: Winding,
    /// Even number of its plane.
    pub plane: usize,
    /// Whether to split here first.
    pub is_hint: bool,
}

/// A tree deeper than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooDeep;

impl Leaf {
    const NEW: Self = Self {
        is_opaque: false,
        area_portal: None,
        brushes: Vec::new(),
        surfaces: Vec::new(),
        bounds: Bounds::EMPTY,
        cluster: None,
        area: None,
    };
}

impl Tree {
    /// Splits space by faces until no face is left.
    ///
    /// # Errors
    /// Rejects trees that are too deep for loaders.
    pub(super) fn build(
        faces: Vec<SplitFace>,
        bounds: Bounds,
        planes: &mut Planes,
    ) -> Result<Self, TooDeep> {
        let mut tree = Self { root: Child::Leaf(0), nodes: Vec::new(), leafs: Vec::new() };
        tree.root = tree.split(faces, bounds, planes, 0)?;
        Ok(tree)
    }

    fn split(
        &mut self,
        faces: Vec<SplitFace>,
        bounds: Bounds,
        planes: &mut Planes,
        depth: usize,
    ) -> Result<Child, TooDeep> {
        let Some(number) = block_plane(&bounds, planes).or_else(|| best_plane(&faces, planes))
        else {
            self.leafs.push(Leaf::NEW);
            return Ok(Child::Leaf(self.leafs.len() - 1));
        };
        if depth == MAX_DEPTH {
            return Err(TooDeep);
        }
        let plane = planes[number];
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for face in faces.into_iter().filter(|face| face.plane != number) {
            let SplitFace { winding, plane: of, is_hint } = face;
            let add = |list: &mut Vec<_>, winding: Option<Winding>| {
                list.extend(winding.map(|winding| SplitFace { winding, plane: of, is_hint }));
            };
            match winding.place(&plane, ON) {
                WindingSide::Both => {
                    let parts = winding.cut(&plane, CUT);
                    add(&mut front, parts.front);
                    add(&mut back, parts.back);
                }
                WindingSide::Front => add(&mut front, Some(winding)),
                WindingSide::Back => add(&mut back, Some(winding)),
                // A face in the node's plane under another number is used up, too.
                WindingSide::On => {}
            }
        }
        let (mut above, mut below) = (bounds, bounds);
        if let Some(axis) = plane.axis() {
            above.mins.0[axis] = plane.dist;
            below.maxs.0[axis] = plane.dist;
        }
        let node = self.nodes.len();
        let children = [Child::Leaf(0); 2];
        self.nodes.push(Node { plane: number, children, bounds: Bounds::EMPTY });
        let front = self.split(front, above, planes, depth + 1)?;
        let back = self.split(back, below, planes, depth + 1)?;
        self.nodes[node].children = [front, back];
        Ok(Child::Node(node))
    }

    /// Returns the leaf of a point.
    #[must_use]
    pub(super) fn leaf_at(&self, point: Vector, planes: &Planes) -> usize {
        let mut at = self.root;
        loop {
            match at {
                Child::Leaf(leaf) => return leaf,
                Child::Node(node) => {
                    let node = &self.nodes[node];
                    at = node.children[usize::from(planes[node.plane].distance(point) < 0.0)];
                }
            }
        }
    }

    /// Lists a brush in each leaf that it reaches into, and returns those leafs.
    pub(super) fn add_brush(&mut self, index: usize, brush: &Brush, planes: &Planes) -> Vec<usize> {
        let piece = Piece::of_brush(brush, planes);
        let mut reached = Vec::new();
        self.filter(piece, self.root, planes, &mut reached);
        reached.sort_unstable();
        reached.dedup();
        for &leaf in &reached {
            self.leafs[leaf].brushes.push(index);
        }
        reached
    }

    fn filter(&self, piece: Piece, at: Child, planes: &Planes, reached: &mut Vec<usize>) {
        match at {
            Child::Leaf(leaf) => reached.push(leaf),
            Child::Node(node) => {
                let node = &self.nodes[node];
                let [front, back] = piece.cut(&planes[node.plane]);
                for (piece, child) in [front, back].into_iter().zip(node.children) {
                    if let Some(piece) = piece {
                        self.filter(piece, child, planes, reached);
                    }
                }
            }
        }
    }

    /// Sets the boxes of all nodes from those of the leafs.
    pub(super) fn set_node_bounds(&mut self) {
        // Children have higher numbers than their parents.
        for number in (0..self.nodes.len()).rev() {
            let bounds = self.nodes[number].children.map(|child| match child {
                Child::Node(node) => self.nodes[node].bounds,
                Child::Leaf(leaf) => self.leafs[leaf].bounds,
            });
            self.nodes[number].bounds = bounds[0].union(bounds[1]);
        }
    }
}

/// Returns the plane of the block border nearest to the middle of a box.
fn block_plane(bounds: &Bounds, planes: &mut Planes) -> Option<usize> {
    for axis in 0..2 {
        let (low, high) = (bounds.mins[axis], bounds.maxs[axis]);
        let first = BLOCK * ((low / BLOCK).floor() + 1.0);
        if first < high {
            let last = BLOCK * ((high / BLOCK).ceil() - 1.0);
            let dist = (BLOCK * (bounds.center()[axis] / BLOCK).round()).clamp(first, last);
            return Some(planes.find(Plane { normal: Vector::along(axis, 1.0), dist }) & !1);
        }
    }
    None
}

/// Returns the plane that takes many faces and cuts few.
fn best_plane(faces: &[SplitFace], planes: &Planes) -> Option<usize> {
    let mut candidates: Vec<usize> = faces.iter().map(|face| face.plane).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let step = candidates.len().div_ceil(MAX_CANDIDATES).max(1);
    let mut best: Option<(i64, usize)> = None;
    for candidate in candidates.into_iter().step_by(step) {
        let plane = &planes[candidate];
        let (mut value, mut is_hint) = (0, false);
        for face in faces {
            if face.plane == candidate {
                value += 5;
                is_hint |= face.is_hint;
            } else if face.winding.place(plane, ON) == WindingSide::Both {
                value -= 5;
            }
        }
        value += if plane.axis().is_some() { 5 } else { 0 };
        value += if is_hint { 1000 } else { 0 };
        if best.is_none_or(|(known, _)| value > known) {
            best = Some((value, candidate));
        }
    }
    best.map(|(_, plane)| plane)
}

/// Convex piece of a brush: planes with their polygons.
struct Piece(Vec<(Plane, Winding)>);

impl Piece {
    fn of_brush(brush: &Brush, planes: &Planes) -> Self {
        let face =
            |side: &super::brushes::BrushSide| Some((planes[side.plane], side.winding.clone()?));
        Self(brush.sides.iter().filter_map(face).collect())
    }

    /// Cuts the piece at a plane. It goes one way when less than the tolerance sticks out.
    fn cut(self, plane: &Plane) -> [Option<Self>; 2] {
        let points = || self.0.iter().flat_map(|(_, winding)| winding.points());
        let distances = || points().map(|&point| plane.distance(point));
        if distances().fold(f64::NEG_INFINITY, f64::max) < ON {
            return [None, Some(self)];
        }
        if distances().fold(f64::INFINITY, f64::min) > -ON {
            return [Some(self), None];
        }
        let mut lid = Some(Winding::of_plane(plane));
        for (side, _) in &self.0 {
            lid = lid.and_then(|lid| lid.behind(side, 0.001));
        }
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for (side, winding) in self.0 {
            let parts = winding.cut(plane, 0.0);
            front.extend(parts.front.map(|winding| (side, winding)));
            back.extend(parts.back.map(|winding| (side, winding)));
        }
        if let Some(lid) = lid {
            front.push((plane.reversed(), lid.reversed()));
            back.push((*plane, lid));
        }
        [front, back].map(|faces| (!faces.is_empty()).then_some(Self(faces)))
    }
}

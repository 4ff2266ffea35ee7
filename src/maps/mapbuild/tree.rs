//! Tree of planes over a map, and the brushes in its leafs.
//!
//! Invariants: node planes have even numbers; depth is at most [`MAX_DEPTH`]; leafs are numbered in the order of
//! the tree, front first.

use super::{
    blocks::Blocks,
    brushes::Brush,
    planes::{Plane, Planes},
    vector::{Bounds, Vector},
    winding::{Winding, WindingSide},
};

/// Largest depth of a tree. Loaders accept 512.
const MAX_DEPTH: usize = 500;
/// Maximum number of leafs, as of the usual loaders.
const MAX_LEAFS: usize = 100_000;
/// Distance within which a polygon is on a plane.
const ON: f64 = 0.1;
/// Distance within which a cut leaves a point on both sides.
const CUT: f64 = 0.2;
/// Maximum number of planes that are compared for one node.
const MAX_CANDIDATES: usize = 400;
/// The same after the number of compared faces that a tree may have.
const FEW_CANDIDATES: usize = 16;
/// Number of compared faces, beyond which fewer planes are compared.
const MAX_COMPARED: usize = 400_000_000;
/// Maximum number of pieces into which nodes cut the brushes.
const MAX_PIECES: usize = 4_000_000;
/// Nodes between two progress reports.
const REPORT_INTERVAL: usize = 256;

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
    /// Pieces of brushes that reached a leaf.
    pieces: usize,
}

/// Builder of a tree.
struct Splitter<'a> {
    tree: Tree,
    planes: &'a mut Planes,
    blocks: Blocks,
    /// Faces that were compared with planes.
    compared: usize,
    /// Receives used up and all faces.
    progress: &'a mut dyn FnMut(usize, usize),
    used: usize,
    total: usize,
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

/// A tree beyond the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeError {
    /// Deeper than loaders accept.
    Depth,
    /// More leafs than loaders accept.
    Leafs,
    /// Brushes reach into too many leafs.
    Pieces,
}

impl TreeError {
    /// Returns the problem and the remedy.
    #[must_use]
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Depth => {
                "tree too deep for engines (expected fewer structural faces; make small things detail)"
            }
            Self::Leafs => {
                "tree with too many leafs for engines (expected fewer structural faces, or a larger \
                 _blocksize; make small things detail)"
            }
            Self::Pieces => {
                "brushes reach into too many leafs (expected fewer structural faces, or a larger \
                 _blocksize; make small things detail)"
            }
        }
    }
}

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
    /// Splits space by blocks and faces until no face is left. `progress` receives used up and all faces.
    ///
    /// # Errors
    /// Rejects trees beyond the limits of loaders.
    pub(super) fn build(
        faces: Vec<SplitFace>,
        bounds: Bounds,
        planes: &mut Planes,
        blocks: Blocks,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, TreeError> {
        let tree = Self { root: Child::Leaf(0), nodes: Vec::new(), leafs: Vec::new(), pieces: 0 };
        let total = faces.len();
        let mut splitter = Splitter { tree, planes, blocks, compared: 0, progress, used: 0, total };
        let root = splitter.split(faces, bounds, 0)?;
        splitter.tree.root = root;
        Ok(splitter.tree)
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
    ///
    /// # Errors
    /// Rejects brushes that together have too many pieces.
    pub(super) fn add_brush(
        &mut self,
        index: usize,
        brush: &Brush,
        planes: &Planes,
    ) -> Result<Vec<usize>, TreeError> {
        let piece = Piece::of_brush(brush, planes);
        let mut reached = Vec::new();
        self.filter(piece, self.root, planes, &mut reached);
        self.pieces += reached.len();
        if self.pieces > MAX_PIECES {
            return Err(TreeError::Pieces);
        }
        reached.sort_unstable();
        reached.dedup();
        for &leaf in &reached {
            self.leafs[leaf].brushes.push(index);
        }
        Ok(reached)
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

impl Splitter<'_> {
    fn split(
        &mut self,
        faces: Vec<SplitFace>,
        bounds: Bounds,
        depth: usize,
    ) -> Result<Child, TreeError> {
        let block = self.blocks.plane(&bounds, self.planes);
        let Some(number) = block.or_else(|| self.best_plane(&faces)) else {
            self.tree.leafs.push(Leaf::NEW);
            return Ok(Child::Leaf(self.tree.leafs.len() - 1));
        };
        if depth == MAX_DEPTH {
            return Err(TreeError::Depth);
        }
        if self.tree.nodes.len() == MAX_LEAFS {
            return Err(TreeError::Leafs);
        }
        let plane = self.planes[number];
        let count = faces.len();
        let [front, back] = parted(faces, number, &plane);
        let (mut above, mut below) = (bounds, bounds);
        if let Some(axis) = plane.axis() {
            above.mins.0[axis] = plane.dist;
            below.maxs.0[axis] = plane.dist;
        }
        let node = self.tree.nodes.len();
        let children = [Child::Leaf(0); 2];
        self.tree.nodes.push(Node { plane: number, children, bounds: Bounds::EMPTY });
        self.used += count.saturating_sub(front.len() + back.len());
        if node.is_multiple_of(REPORT_INTERVAL) {
            // Faces that are cut count twice when they are used up.
            (self.progress)(self.used.min(self.total), self.total);
        }
        let front = self.split(front, above, depth + 1)?;
        let back = self.split(back, below, depth + 1)?;
        self.tree.nodes[node].children = [front, back];
        Ok(Child::Node(node))
    }

    /// Returns the plane that takes many faces and cuts few.
    fn best_plane(&mut self, faces: &[SplitFace]) -> Option<usize> {
        let mut candidates: Vec<usize> = faces.iter().map(|face| face.plane).collect();
        candidates.sort_unstable();
        candidates.dedup();
        let is_costly = self.compared > MAX_COMPARED;
        let max = if is_costly { FEW_CANDIDATES } else { MAX_CANDIDATES };
        let step = candidates.len().div_ceil(max).max(1);
        self.compared += candidates.len().div_ceil(step) * faces.len();
        let mut best: Option<(i64, usize)> = None;
        for candidate in candidates.into_iter().step_by(step) {
            let plane = &self.planes[candidate];
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
}

/// Divides faces by a node's plane. Faces on the plane are used up.
fn parted(faces: Vec<SplitFace>, number: usize, plane: &Plane) -> [Vec<SplitFace>; 2] {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for face in faces.into_iter().filter(|face| face.plane != number) {
        let SplitFace { winding, plane: of, is_hint } = face;
        let add = |list: &mut Vec<_>, winding: Option<Winding>| {
            list.extend(winding.map(|winding| SplitFace { winding, plane: of, is_hint }));
        };
        match winding.place(plane, ON) {
            WindingSide::Both => {
                let parts = winding.cut(plane, CUT);
                add(&mut front, parts.front);
                add(&mut back, parts.back);
            }
            WindingSide::Front => add(&mut front, Some(winding)),
            WindingSide::Back => add(&mut back, Some(winding)),
            // A face in the node's plane under another number is used up, too.
            WindingSide::On => {}
        }
    }
    [front, back]
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

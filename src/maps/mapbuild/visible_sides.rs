//! Visible parts of brush sides: what splits the second tree, and what is drawn.

use super::{
    brushes::{Brush, BrushSide},
    planes::Planes,
    tree::{Child, Tree},
    vector::Bounds,
    winding::{Winding, WindingSide},
};
use crate::model::contents::content;

/// Tolerance of cuts.
const CUT: f64 = 0.1;
/// Tolerance of cuts by covering brushes, so that touching brushes leave no slivers.
const COVER_CUT: f64 = 0.01;
/// Smallest area of a piece that is drawn.
const MIN_AREA: f64 = 0.5;
/// Largest difference of area when two pieces are merged.
const MERGE_SLACK: f64 = 0.25;
/// Maximum number of pieces of a side; the rest of a side with more is drawn uncovered.
const MAX_PIECES: usize = 300;
/// Maximum number of hulls of a map for merging; pieces are not merged beyond.
const MAX_HULLS: usize = 4_000_000;
/// Distance from a piece to the box of a brush that may cover it.
const NEAR: f64 = 0.1;

/// Visible parts of a side.
#[derive(Clone, Debug, Default)]
pub(super) struct VisibleSide {
    /// Convex hull of what structural brushes leave open: a face of the second tree.
    pub for_tree: Option<Winding>,
    /// Polygons to draw, without what other solid brushes cover.
    pub drawn: Vec<Winding>,
}

/// World brushes as seen by the search for visible parts.
pub(super) struct Scene<'a> {
    tree: &'a Tree,
    planes: &'a Planes,
    brushes: &'a [Brush],
    /// Brushes that cover others, by the least x of their boxes.
    covers: Vec<usize>,
    /// Hulls that merging may still try.
    hulls: usize,
}

impl<'a> Scene<'a> {
    /// Creates the scene of the first tree, with opaque leafs.
    pub(super) fn new(tree: &'a Tree, planes: &'a Planes, brushes: &'a [Brush]) -> Self {
        let is_cover = |brush: &Brush| brush.is_opaque() && brush.contents & content::SOLID != 0;
        let mut covers: Vec<usize> =
            (0..brushes.len()).filter(|&number| is_cover(&brushes[number])).collect();
        let low = |number: &usize| brushes[*number].bounds.mins[0];
        covers.sort_by(|a, b| low(a).total_cmp(&low(b)).then(a.cmp(b)));
        Self { tree, planes, brushes, covers, hulls: MAX_HULLS }
    }

    /// Returns the visible parts of each side of a brush.
    pub(super) fn visible(
        &mut self,
        number: usize,
        is_drawn: impl Fn(usize) -> bool,
    ) -> Vec<VisibleSide> {
        let brush = &self.brushes[number];
        let near = self.near(number);
        let sides = brush.sides.iter().enumerate();
        sides.map(|(at, side)| self.visible_side(number, side, &near, is_drawn(at))).collect()
    }

    /// Returns the brushes that may cover parts of a brush, ascending.
    fn near(&self, number: usize) -> Vec<usize> {
        let bounds = self.brushes[number].bounds.grown(2.0 * NEAR);
        let last = self
            .covers
            .partition_point(|&other| self.brushes[other].bounds.mins[0] <= bounds.maxs[0]);
        let touching = self.covers[..last].iter().copied();
        let touching = touching.filter(|&other| self.brushes[other].bounds.touches(&bounds));
        let mut near: Vec<usize> = touching.filter(|&other| other != number).collect();
        near.sort_unstable();
        near
    }

    fn visible_side(
        &mut self,
        brush: usize,
        side: &BrushSide,
        near: &[usize],
        is_drawn: bool,
    ) -> VisibleSide {
        let Some(winding) = &side.winding else { return VisibleSide::default() };
        let mut pieces = Vec::new();
        self.open_pieces(winding.clone(), side.plane, self.tree.root, &mut pieces);
        let normal = self.planes[side.plane].normal;
        let for_tree = pieces.iter().cloned().reduce(|hull, piece| hull.hull(&piece, normal));
        let mut drawn = Vec::new();
        if is_drawn {
            drawn = self.uncovered(brush, side.plane, near, pieces);
            drawn.retain(|piece| piece.area() > MIN_AREA);
            merge(&mut drawn, normal, &mut self.hulls);
        }
        VisibleSide { for_tree, drawn }
    }

    /// Collects the pieces of a side's polygon in leafs that are not opaque.
    fn open_pieces(&self, winding: Winding, of: usize, at: Child, pieces: &mut Vec<Winding>) {
        let node = match at {
            Child::Leaf(leaf) => {
                if !self.tree.leafs[leaf].is_opaque {
                    pieces.push(winding);
                }
                return;
            }
            Child::Node(node) => &self.tree.nodes[node],
        };
        let [front, back] = node.children;
        if node.plane == of & !1 {
            let side = if of & 1 == 0 { front } else { back };
            return self.open_pieces(winding, of, side, pieces);
        }
        let plane = &self.planes[node.plane];
        if winding.place(plane, CUT) == WindingSide::On {
            let faces_front = self.planes[of].normal.dot(plane.normal) > 0.0;
            let side = if faces_front { front } else { back };
            return self.open_pieces(winding, of, side, pieces);
        }
        let parts = winding.cut(plane, CUT);
        for (part, child) in [parts.front, parts.back].into_iter().zip(node.children) {
            if let Some(part) = part {
                self.open_pieces(part, of, child, pieces);
            }
        }
    }

    /// Cuts away what other solid brushes cover.
    fn uncovered(
        &self,
        brush: usize,
        plane: usize,
        near: &[usize],
        mut pieces: Vec<Winding>,
    ) -> Vec<Winding> {
        for &number in near {
            let other = &self.brushes[number];
            if pieces.is_empty() || pieces.len() > MAX_PIECES {
                break;
            }
            let bounds = pieces.iter().map(Winding::bounds).fold(Bounds::EMPTY, Bounds::union);
            if !other.bounds.touches(&bounds.grown(NEAR)) {
                continue;
            }
            let mut planes = other.sides.iter().filter(|side| side.winding.is_some());
            // Of two faces in one plane that face the same way, the first brush's is drawn.
            if number > brush && planes.any(|side| side.plane == plane) {
                continue;
            }
            pieces =
                pieces.into_iter().flat_map(|piece| self.outside(piece, plane, other)).collect();
        }
        pieces
    }

    /// Returns the parts of a piece outside a brush.
    fn outside(&self, piece: Winding, plane: usize, brush: &Brush) -> Vec<Winding> {
        let mut parts = Vec::new();
        let mut inside = piece.clone();
        for side in brush.sides.iter().filter(|side| side.winding.is_some()) {
            if side.plane | 1 == plane | 1 {
                continue;
            }
            let cut = inside.cut(&self.planes[side.plane], COVER_CUT);
            parts.extend(cut.front);
            match cut.back {
                Some(back) => inside = back,
                // Nothing is inside: keep the piece whole.
                None => return vec![piece],
            }
        }
        parts
    }
}

/// Joins pairs of pieces whose hull has the area of both. Each hull that is tried is taken from `hulls`.
fn merge(pieces: &mut Vec<Winding>, normal: super::vector::Vector, hulls: &mut usize) {
    if pieces.len() > MAX_PIECES {
        return;
    }
    while let Some((first, second, joined)) = mergeable(pieces, normal, hulls) {
        pieces[first] = joined;
        pieces.remove(second);
    }
}

fn mergeable(
    pieces: &[Winding],
    normal: super::vector::Vector,
    hulls: &mut usize,
) -> Option<(usize, usize, Winding)> {
    let bounds: Vec<_> = pieces.iter().map(|piece| piece.bounds().grown(CUT)).collect();
    let areas: Vec<f64> = pieces.iter().map(Winding::area).collect();
    for first in 0..pieces.len() {
        for second in first + 1..pieces.len() {
            if !bounds[first].touches(&bounds[second]) {
                continue;
            }
            *hulls = hulls.checked_sub(1)?;
            let hull = pieces[first].hull(&pieces[second], normal);
            if (hull.area() - (areas[first] + areas[second])).abs() < MERGE_SLACK {
                return Some((first, second, hull));
            }
        }
    }
    None
}

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
    /// First tree, with opaque leafs.
    pub tree: &'a Tree,
    /// Planes.
    pub planes: &'a Planes,
    /// Brushes of the world.
    pub brushes: &'a [Brush],
}

impl Scene<'_> {
    /// Returns the visible parts of a brush's side.
    #[must_use]
    pub(super) fn visible(&self, brush: usize, side: &BrushSide, is_drawn: bool) -> VisibleSide {
        let Some(winding) = &side.winding else { return VisibleSide::default() };
        let mut pieces = Vec::new();
        self.open_pieces(winding.clone(), side.plane, self.tree.root, &mut pieces);
        let normal = self.planes[side.plane].normal;
        let for_tree = pieces.iter().cloned().reduce(|hull, piece| hull.hull(&piece, normal));
        let mut drawn = Vec::new();
        if is_drawn {
            drawn = self.uncovered(brush, side.plane, pieces);
            drawn.retain(|piece| piece.area() > MIN_AREA);
            merge(&mut drawn, normal);
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
    fn uncovered(&self, brush: usize, plane: usize, mut pieces: Vec<Winding>) -> Vec<Winding> {
        for (number, other) in self.brushes.iter().enumerate() {
            let covers = other.is_opaque() && other.contents & content::SOLID != 0;
            if number == brush || !covers || pieces.is_empty() || pieces.len() > MAX_PIECES {
                continue;
            }
            let bounds = pieces.iter().map(Winding::bounds).fold(Bounds::EMPTY, Bounds::union);
            if !other.bounds.touches(&bounds.grown(0.1)) {
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

/// Joins pairs of pieces whose hull has the area of both.
fn merge(pieces: &mut Vec<Winding>, normal: super::vector::Vector) {
    if pieces.len() > MAX_PIECES {
        return;
    }
    while let Some((first, second, joined)) = mergeable(pieces, normal) {
        pieces[first] = joined;
        pieces.remove(second);
    }
}

fn mergeable(pieces: &[Winding], normal: super::vector::Vector) -> Option<(usize, usize, Winding)> {
    let bounds: Vec<_> = pieces.iter().map(|piece| piece.bounds().grown(CUT)).collect();
    for first in 0..pieces.len() {
        for second in first + 1..pieces.len() {
            if !bounds[first].touches(&bounds[second]) {
                continue;
            }
            let hull = pieces[first].hull(&pieces[second], normal);
            let both = pieces[first].area() + pieces[second].area();
            if (hull.area() - both).abs() < MERGE_SLACK {
                return Some((first, second, hull));
            }
        }
    }
    None
}

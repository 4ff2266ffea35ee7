//! Division of space by the sides of brushes.

use super::super::hull::Contents;
use super::solid::{Solid, SolidFace, cut, span};
use super::winding::ON_PLANE;
use super::{BrushSide, Point};

/// A solid of a brush with its contents.
pub(super) struct Part {
    pub(super) solid: Solid,
    pub(super) contents: Contents,
}

/// Receiver of nodes and leafs, parents before their children.
pub(super) trait Builder {
    /// Returns the plane of the map for a plane of a side.
    fn plane(&mut self, side: &BrushSide) -> (usize, BrushSide);
    /// Adds a leaf and returns its reference.
    fn leaf(&mut self, region: &[SolidFace], contents: Contents) -> i32;
    /// Reserves the next node.
    fn begin_node(&mut self) -> usize;
    /// Completes a node and returns its reference.
    fn end_node(
        &mut self,
        node: usize,
        plane: usize,
        children: [i32; 2],
        region: &[SolidFace],
    ) -> i32;
}

/// Splits space until each piece is covered by one brush or by none. Brushes that come first win.
pub(super) fn build(
    builder: &mut impl Builder,
    parts: &[Part],
    region: &[SolidFace],
    hints: &[(usize, f64)],
) -> i32 {
    let covering = parts.iter().find(|part| part.solid.iter().all(|face| face.is_used));
    if let Some(part) = covering {
        return builder.leaf(region, part.contents);
    }
    let hint = next_hint(region, hints);
    let Some(side) = hint.or_else(|| best_side(parts)) else {
        return builder.leaf(region, Contents::EMPTY);
    };
    let (plane, side) = builder.plane(&side);
    let mut below = [Vec::new(), Vec::new()];
    for part in parts {
        for (list, half) in below.iter_mut().zip(cut(&part.solid, &side)) {
            list.extend(half.map(|solid| Part { solid, contents: part.contents }));
        }
    }
    let halves = cut(region, &side);
    let node = builder.begin_node();
    let mut children = [0; 2];
    for ((child, parts), half) in children.iter_mut().zip(below).zip(halves) {
        *child = build(builder, &parts, half.as_deref().unwrap_or(region), hints);
    }
    builder.end_node(node, plane, children, region)
}

/// Returns the first hint that cuts the region.
fn next_hint(region: &[SolidFace], hints: &[(usize, f64)]) -> Option<BrushSide> {
    hints.iter().find_map(|&(axis, dist)| {
        let normal: Point = std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 });
        let side = BrushSide { normal, dist };
        let (low, high) = span(region, &side);
        (low < -ON_PLANE && high > ON_PLANE).then_some(side)
    })
}

/// Returns the side that cuts few brushes and leaves similar numbers on both sides; axial ones are preferred.
fn best_side(parts: &[Part]) -> Option<BrushSide> {
    let mut best: Option<(usize, BrushSide)> = None;
    let faces = parts.iter().flat_map(|part| part.solid.iter()).filter(|face| !face.is_used);
    for face in faces {
        let (mut front, mut back, mut cuts) = (0_usize, 0_usize, 0);
        for part in parts {
            let (low, high) = span(&part.solid, &face.side);
            if low >= -ON_PLANE {
                front += 1;
            } else if high <= ON_PLANE {
                back += 1;
            } else {
                cuts += 1;
            }
        }
        let is_axial = face.side.normal.iter().any(|part| part.abs() == 1.0);
        let score = cuts * 5 + front.abs_diff(back) + if is_axial { 0 } else { 3 };
        if best.is_none_or(|(least, _)| score < least) {
            best = Some((score, face.side));
        }
    }
    best.map(|(_, side)| side)
}

//! Convex solids: faces with polygons.

use super::winding::{self, ON_PLANE, Winding, split};
use super::{BrushSide, Point, dot};

/// A face of a solid.
#[derive(Clone, Debug)]
pub(super) struct SolidFace {
    pub(super) side: BrushSide,
    pub(super) winding: Winding,
    /// Whether the tree has split at its plane.
    pub(super) is_used: bool,
}

/// A convex solid that is not empty.
pub(super) type Solid = Vec<SolidFace>;

/// Minimum number of faces of a solid.
const MIN_FACES: usize = 4;

/// Returns the solid between planes, or `None` when it is empty.
pub(super) fn between(sides: &[BrushSide]) -> Option<Solid> {
    let mut faces = Vec::new();
    for (index, side) in sides.iter().enumerate() {
        let others = sides.iter().enumerate().filter(|&(other, _)| other != index);
        let mut winding = Some(winding::of_plane(&side.normal, side.dist));
        for (_, other) in others {
            winding = winding.and_then(|whole| winding::behind(&whole, &other.normal, other.dist));
        }
        if let Some(winding) = winding.filter(|winding| winding.len() >= 3) {
            faces.push(SolidFace { side: *side, winding, is_used: false });
        }
    }
    (faces.len() >= MIN_FACES).then_some(faces)
}

/// Returns all corners of a solid.
pub(super) fn corners(solid: &[SolidFace]) -> impl Iterator<Item = &Point> {
    solid.iter().flat_map(|face| face.winding.iter())
}

/// Returns the mean of all corners.
pub(super) fn middle(solid: &[SolidFace]) -> Point {
    let count = corners(solid).count() as f64;
    std::array::from_fn(|i| corners(solid).map(|corner| corner[i]).sum::<f64>() / count)
}

/// Returns the least and the largest distance of the corners from a plane.
pub(super) fn span(solid: &[SolidFace], side: &BrushSide) -> (f64, f64) {
    let distances = corners(solid).map(|corner| dot(corner, &side.normal) - side.dist);
    distances.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), d| (low.min(d), high.max(d)))
}

/// Splits a solid at a plane: the part in front, the part behind. A face in the plane counts as used.
pub(super) fn cut(solid: &[SolidFace], plane: &BrushSide) -> [Option<Solid>; 2] {
    [1.0, -1.0].map(|sign| half(solid, plane, sign))
}

fn half(solid: &[SolidFace], plane: &BrushSide, sign: f64) -> Option<Solid> {
    let (mut part, mut is_touching) = (Vec::new(), false);
    for face in solid {
        let halves = split(&face.winding, &plane.normal, plane.dist);
        if halves.front.is_none() && halves.back.is_none() {
            is_touching = true;
            // Faces point outward: the solid is on the other side of the face.
            if dot(&face.side.normal, &plane.normal) * sign >= 0.0 {
                return None;
            }
            part.push(SolidFace { is_used: true, ..face.clone() });
            continue;
        }
        let kept = if sign > 0.0 { halves.front } else { halves.back };
        part.extend(kept.map(|winding| SolidFace { winding, ..*face }));
    }
    let (low, high) = span(solid, plane);
    if !part.is_empty() && !is_touching && low < -ON_PLANE && high > ON_PLANE {
        let side =
            BrushSide { normal: plane.normal.map(|part| -sign * part), dist: -sign * plane.dist };
        let mut cap = Some(winding::of_plane(&side.normal, side.dist));
        for face in solid {
            cap = cap.and_then(|whole| winding::behind(&whole, &face.side.normal, face.side.dist));
        }
        part.extend(cap.map(|winding| SolidFace { side, winding, is_used: true }));
    }
    (part.len() >= MIN_FACES).then_some(part)
}

//! Triangles of a polygon whose edges may have points on them.

use crate::mapbuild::{vector::Vector, winding::Winding};

/// Twice the smallest area of a triangle in a fan from a corner.
const MIN_DOUBLE_AREA: f64 = 2.0;

/// Triangles of a polygon.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::mapbuild) struct Triangulation {
    /// Point in the middle that follows the polygon's points.
    pub middle: Option<Vector>,
    /// Corners, three per triangle, clockwise as seen from the front.
    pub corners: Vec<usize>,
}

/// Divides a polygon into triangles: a fan from the first corner without slivers, or else from the middle.
#[must_use]
pub(in crate::mapbuild) fn triangulate(winding: &Winding) -> Triangulation {
    let points = winding.points();
    let count = points.len();
    let fan = |first: usize| {
        let corner = move |step: usize| (first + step) % count;
        (1..count - 1).map(move |step| [first, corner(step), corner(step + 1)])
    };
    let is_wide = |[a, b, c]: [usize; 3]| {
        (points[b] - points[a]).cross(points[c] - points[a]).length() > MIN_DOUBLE_AREA
    };
    match (0..count).find(|&first| fan(first).all(is_wide)) {
        Some(first) => Triangulation { middle: None, corners: fan(first).flatten().collect() },
        None if count == 3 => Triangulation { middle: None, corners: vec![0, 1, 2] },
        None => Triangulation {
            middle: Some(winding.center()),
            corners: (0..count).flat_map(|at| [count, at, (at + 1) % count]).collect(),
        },
    }
}

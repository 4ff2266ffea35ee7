//! Sample points of luxels.
//!
//! A luxel outside of its polygon is sampled where it stands if it is open there and visible from the polygon, so that
//! neighbors in a plane agree on their common luxels. Otherwise the sample moves into the polygon.

use super::{
    caster::Caster,
    gather::Region,
    layout::{Placement, luxel_point},
    scene::{Plane, Shape, Surface, Vertex},
    vector::{Vector, add, along, bounds, cross, dot, length, normalize, scale, sub},
};

/// Distance of a sample from its surface.
const LIFT: f64 = 1.0;
/// Distance of a sample from the surface of a patch, whose polygons differ from the curve.
const PATCH_LIFT: f64 = 2.0;
/// Distance of a moved sample from the edges of its polygon.
const INSET: f64 = 0.5;
/// Maximum distance of a sample outside of its polygon, in luxels.
const MAX_OUTSIDE: f64 = 1.5;

/// Point where light arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Position, a little above the surface.
    pub(crate) point: Vector,
    /// Unit normal of the surface.
    pub(crate) normal: Vector,
    /// Whether the luxel itself is in the polygon.
    pub(crate) interior: bool,
}

/// Returns the sample at a luxel position, or `None` if only solids are there.
pub(crate) fn sample(
    caster: &Caster,
    surface: &Surface,
    placement: &Placement,
    column: f64,
    row: f64,
) -> Option<Sample> {
    match &surface.shape {
        Shape::Polygon { ring, normal, .. } => {
            polygon_sample(caster, ring, *normal, placement, [column, row])
        }
        Shape::Patch { width, height, points } => {
            let s = (column / (placement.width - 1) as f64).clamp(0.0, 1.0);
            let t = (row / (placement.height - 1) as f64).clamp(0.0, 1.0);
            let (point, normal) = patch_point(*width, *height, points, s, t);
            let point = along(point, normal, PATCH_LIFT);
            (!caster.inside(point)).then_some(Sample { point, normal, interior: true })
        }
    }
}

/// Returns the region of all samples of a surface.
pub(crate) fn sample_region(surface: &Surface, placement: &Placement) -> Region {
    let [across, down, _] = placement.vectors;
    let (margin, luxels, plane) = match &surface.shape {
        Shape::Polygon { ring, normal, .. } => {
            let corner = |column: usize, row: usize| {
                let (column, row) = (column as f64, row as f64);
                luxel_point(placement, column, row)
            };
            let (width, height) = (placement.width, placement.height);
            let corners =
                [corner(0, 0), corner(width, 0), corner(0, height), corner(width, height)];
            let margin = 4.0 * length(across).max(length(down));
            let distance = |first: &Vertex| dot(first.point, *normal);
            let plane = ring.first().map(distance);
            let plane = plane.map(|distance| Plane { normal: *normal, distance });
            (margin, corners.to_vec(), plane)
        }
        Shape::Patch { .. } => (0.0, Vec::new(), None),
    };
    let points = surface.vertices().map(|vertex| vertex.point);
    let [low, high] = bounds(points.chain(luxels));
    let margin = margin + 4.0;
    let bounds = [low.map(|part| part - margin), high.map(|part| part + margin)];
    Region { bounds, plane }
}

fn polygon_sample(
    caster: &Caster,
    ring: &[Vertex],
    normal: Vector,
    placement: &Placement,
    at: [f64; 2],
) -> Option<Sample> {
    let plain = luxel_point(placement, at[0], at[1]);
    let moved = move_inside(plain, ring, normal);
    let away = length(sub(plain, moved));
    let interior = away < 1e-6;
    let here = along(moved, normal, LIFT);
    let open = !caster.inside(here);
    let limit = MAX_OUTSIDE * length(placement.vectors[0]).max(length(placement.vectors[1]));
    let found = |point| Some(Sample { point, normal, interior });
    if !open {
        return None;
    }
    if !interior && away < limit {
        let visible = |there: Vector| !caster.inside(there) && !caster.blocked(here, there);
        let there = along(plain, normal, LIFT);
        if visible(there) {
            return found(there);
        }
        // Beside a wall and beyond an edge in the plane, only the wall moves the sample.
        let moved = edges(ring, normal)
            .filter_map(|edge| edge.move_inside(plain))
            .map(|point| along(point, normal, LIFT))
            .find(|point| visible(*point));
        if let Some(point) = moved {
            return found(point);
        }
    }
    found(here)
}

/// Edge of a polygon.
struct Edge {
    start: Vector,
    inward: Vector,
}

impl Edge {
    /// Moves a point outside of the edge inside; `None` for a point that is inside.
    fn move_inside(&self, point: Vector) -> Option<Vector> {
        let distance = dot(sub(point, self.start), self.inward);
        (distance < INSET).then(|| along(point, self.inward, INSET - distance))
    }
}

/// Edges of a polygon that is clockwise seen from the front.
fn edges(ring: &[Vertex], normal: Vector) -> impl Iterator<Item = Edge> {
    let ends = ring.iter().skip(1).chain(ring.first());
    ring.iter().zip(ends).filter_map(move |(start, end)| {
        let edge = sub(end.point, start.point);
        (length(edge) > 0.01)
            .then(|| Edge { start: start.point, inward: normalize(cross(edge, normal)) })
    })
}

/// Moves a point of a polygon's plane inside all edges.
fn move_inside(mut point: Vector, ring: &[Vertex], normal: Vector) -> Vector {
    for _ in 0..3 {
        for edge in edges(ring, normal) {
            point = edge.move_inside(point).unwrap_or(point);
        }
    }
    point
}

/// Point and normal of a patch at parameters 0 to 1.
pub(crate) fn patch_point(
    width: usize,
    height: usize,
    points: &[Vertex],
    s: f64,
    t: f64,
) -> (Vector, Vector) {
    const STEP: f64 = 0.02;
    let at = |s: f64, t: f64| patch_vertex(width, height, points, s, t).point;
    let (s0, s1) = ((s - STEP).max(0.0), (s + STEP).min(1.0));
    let (t0, t1) = ((t - STEP).max(0.0), (t + STEP).min(1.0));
    let across = sub(at(s1, t), at(s0, t));
    let down = sub(at(s, t1), at(s, t0));
    (at(s, t), normalize(cross(across, down)))
}

/// Position and texture coordinates of a patch at parameters 0 to 1.
pub(crate) fn patch_vertex(
    width: usize,
    height: usize,
    points: &[Vertex],
    s: f64,
    t: f64,
) -> Vertex {
    let segment = |count: usize, at: f64| {
        let segments = ((count - 1) / 2).max(1);
        let index = ((at * segments as f64) as usize).min(segments - 1);
        (index * 2, at * segments as f64 - index as f64)
    };
    let (column, u) = segment(width, s);
    let (row, v) = segment(height, t);
    let weights = |f: f64| [(1.0 - f) * (1.0 - f), 2.0 * f * (1.0 - f), f * f];
    let mut result = Vertex::default();
    for (j, down) in weights(v).into_iter().enumerate() {
        for (i, across) in weights(u).into_iter().enumerate() {
            let vertex = &points[(row + j).min(height - 1) * width + (column + i).min(width - 1)];
            let weight = down * across;
            result.point = add(result.point, scale(vertex.point, weight));
            result.st[0] += vertex.st[0] * weight;
            result.st[1] += vertex.st[1] * weight;
        }
    }
    result
}

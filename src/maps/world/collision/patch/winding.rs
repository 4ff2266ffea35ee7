//! Windings: convex polygons that borders cut from the plane of a facet.
//!
//! Invariants: at most [`MAX_POINTS`] points; a cut beyond that leaves an empty winding. Source: the collision
//! document, windings; checked by the patch vectors.

use crate::{
    model::{TracePlane, Vec3},
    world::collision::arithmetic::Arithmetic,
};

/// Maximum number of points of a polygon.
const MAX_POINTS: usize = 64;
/// Half the side of the square that covers the map's part of a plane, in units.
const HUGE: f32 = 65_535.0;
/// Largest distance of a point on the cutting plane, in units.
const ON_PLANE: f32 = 0.1;

/// A convex polygon as a list of points in order.
#[derive(Clone, Debug)]
pub(super) struct Winding(Vec<Vec3>);

impl Winding {
    /// Creates a square that covers the map's part of a plane.
    pub(super) fn covering<A: Arithmetic>(plane: TracePlane) -> Self {
        let normal = plane.normal;
        let major =
            (1..3).fold(
                0,
                |best, axis| {
                    if normal[axis].abs() > normal[best].abs() { axis } else { best }
                },
            );
        let up = if major == 2 { Vec3::new(1.0, 0.0, 0.0) } else { Vec3::new(0.0, 0.0, 1.0) };
        let lean = -A::dot(up, normal);
        let mut flat = Vec3::ZERO;
        for axis in 0..3 {
            flat[axis] = (A::of(up[axis]) + A::of(normal[axis]) * lean).store();
        }
        let (up, _) = A::normalized(flat);
        let middle = normal * plane.dist;
        let right = A::cross(up, normal) * HUGE;
        let up = up * HUGE;
        Self(vec![
            middle - right + up,
            middle + right + up,
            middle + right - up,
            middle - right - up,
        ])
    }

    /// Returns the points in order.
    pub(super) fn points(&self) -> &[Vec3] {
        &self.0
    }

    /// Returns the bounds of the points.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        super::bounds_of(self.0.iter().copied())
    }

    /// Returns the part in front of a plane, or `None` when there is none.
    pub(super) fn cut<A: Arithmetic>(self, plane: TracePlane) -> Option<Self> {
        let distances: Vec<f32> = self
            .0
            .iter()
            .map(|&point| (A::dot(point, plane.normal) - A::of(plane.dist)).store())
            .collect();
        let is_front = |distance: f32| distance > ON_PLANE;
        let is_back = |distance: f32| distance < -ON_PLANE;
        if !distances.iter().any(|&d| is_front(d)) {
            return None;
        }
        if !distances.iter().any(|&d| is_back(d)) {
            return Some(self);
        }
        let mut kept = Vec::with_capacity(self.0.len() + 2);
        for (n, (&point, &from)) in self.0.iter().zip(&distances).enumerate() {
            if !is_back(from) {
                kept.push(point);
            }
            let next = (n + 1) % self.0.len();
            let to = distances[next];
            if (is_front(from) && is_back(to)) || (is_back(from) && is_front(to)) {
                kept.push(crossing::<A>(plane, (point, from), (self.0[next], to)));
            }
        }
        (kept.len() <= MAX_POINTS).then_some(Self(kept))
    }
}

/// Returns the intersection of a plane with the line between two points on different sides.
fn crossing<A: Arithmetic>(plane: TracePlane, from: (Vec3, f32), to: (Vec3, f32)) -> Vec3 {
    let part = A::of(from.1) / (A::of(from.1) - A::of(to.1));
    let mut point = Vec3::ZERO;
    for axis in 0..3 {
        // Axial planes give exact coordinates, so that adjacent windings meet.
        point[axis] = if plane.normal[axis] == 1.0 {
            plane.dist
        } else if plane.normal[axis] == -1.0 {
            -plane.dist
        } else {
            let way = A::of(to.0[axis]) - A::of(from.0[axis]);
            (A::of(from.0[axis]) + part * way).store()
        };
    }
    point
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(x: f32, y: f32, z: f32, dist: f32) -> TracePlane {
        TracePlane { normal: Vec3::new(x, y, z), dist }
    }

    #[test]
    fn four_cuts_leave_a_rectangle() {
        let left = Winding::covering::<f32>(plane(0.0, 0.0, 1.0, 5.0))
            .cut::<f32>(plane(1.0, 0.0, 0.0, -10.0))
            .and_then(|w| w.cut::<f32>(plane(-1.0, 0.0, 0.0, -20.0)))
            .and_then(|w| w.cut::<f32>(plane(0.0, 1.0, 0.0, 0.0)))
            .and_then(|w| w.cut::<f32>(plane(0.0, -1.0, 0.0, -8.0)))
            .unwrap();
        assert_eq!(left.points().len(), 4);
        assert_eq!(left.bounds(), [Vec3::new(-10.0, 0.0, 5.0), Vec3::new(20.0, 8.0, 5.0)]);
        assert!(left.clone().cut::<f32>(plane(0.0, 0.0, 1.0, 5.0)).is_none(), "it lies on that");
        assert!(left.cut::<f32>(plane(1.0, 0.0, 0.0, 21.0)).is_none());
    }
}

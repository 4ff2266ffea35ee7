//! Planes of a map, each stored once with its reverse.
//!
//! Invariants: plane `n ^ 1` is plane `n` reversed; of an axial pair the even one is positive; normals have
//! length 1, and nearly axial ones are exactly axial.

use std::collections::HashMap;

use super::vector::Vector;

/// Normals that differ by less are equal.
const SAME_NORMAL: f64 = 1e-5;
/// Distances that differ by less are equal.
const SAME_DISTANCE: f64 = 0.01;
/// Width of the distance range of a hash bucket.
const BUCKET: f64 = 8.0;

/// A plane: points p with normal·p = dist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plane {
    /// Normal, of length 1.
    pub normal: Vector,
    /// Distance from the origin along the normal.
    pub dist: f64,
}

impl Plane {
    /// Returns the distance of a point, positive in front.
    #[must_use]
    pub(super) fn distance(&self, point: Vector) -> f64 {
        self.normal.dot(point) - self.dist
    }

    /// Returns the plane seen from behind.
    #[must_use]
    pub(super) fn reversed(&self) -> Self {
        Self { normal: -self.normal, dist: 0.0 - self.dist }
    }

    /// Returns the axis of a normal that is exactly axial.
    #[must_use]
    pub(super) fn axis(&self) -> Option<usize> {
        (0..3).find(|&k| self.normal[k].abs() == 1.0)
    }

    /// Moves a point that is nearly on an axial plane exactly onto it.
    #[must_use]
    pub(super) fn on_axis(&self, point: Vector) -> Vector {
        let Some(axis) = self.axis() else { return point };
        let mut moved = point;
        moved.0[axis] = self.normal[axis] * self.dist;
        moved
    }
}

/// All planes of a map.
#[derive(Debug, Default)]
pub(super) struct Planes {
    planes: Vec<Plane>,
    buckets: HashMap<i64, Vec<usize>>,
}

impl Planes {
    /// Returns the planes by number.
    #[must_use]
    pub(super) fn all(&self) -> &[Plane] {
        &self.planes
    }

    /// Returns the number of a plane and stores new ones. The normal has length 1.
    pub(super) fn find(&mut self, plane: Plane) -> usize {
        let plane = snapped(plane);
        let bucket = (plane.dist.abs() / BUCKET).floor() as i64;
        for near in [bucket - 1, bucket, bucket + 1] {
            let known = self.buckets.get(&near).into_iter().flatten().copied();
            let equal = |&number: &usize| {
                let known = &self.planes[number];
                (0..3).all(|k| (known.normal[k] - plane.normal[k]).abs() < SAME_NORMAL)
                    && (known.dist - plane.dist).abs() < SAME_DISTANCE
            };
            if let Some(number) = known.into_iter().find(equal) {
                return number;
            }
        }
        let first = self.planes.len();
        let is_negative_axis = plane.axis().is_some_and(|axis| plane.normal[axis] < 0.0);
        if is_negative_axis {
            self.planes.extend([plane.reversed(), plane]);
        } else {
            self.planes.extend([plane, plane.reversed()]);
        }
        self.buckets.entry(bucket).or_default().extend([first, first + 1]);
        first + usize::from(is_negative_axis)
    }
}

impl std::ops::Index<usize> for Planes {
    type Output = Plane;

    fn index(&self, number: usize) -> &Plane {
        &self.planes[number]
    }
}

/// Returns the plane with a nearly axial normal and a nearly whole distance made exact.
fn snapped(plane: Plane) -> Plane {
    let Plane { mut normal, mut dist } = plane;
    for axis in 0..3 {
        if (normal[axis].abs() - 1.0).abs() < SAME_NORMAL {
            normal = Vector::along(axis, normal[axis].signum());
            break;
        }
    }
    if (dist - dist.round()).abs() < SAME_DISTANCE {
        dist = dist.round();
    }
    // Adding zero turns -0.0 into 0.0.
    Plane { normal: Vector(normal.0.map(|part| part + 0.0)), dist: dist + 0.0 }
}

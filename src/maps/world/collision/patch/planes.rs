//! Plane list of one patch: each plane once, in order of first use.
//!
//! The order matters: the first plane near enough to a requested one is reused.
//!
//! Source: the collision document, patches; checked by the patch vectors.

use super::{Budget, PatchError};
use crate::{
    model::{TracePlane, Vec3},
    world::collision::arithmetic::Arithmetic,
};

/// Maximum number of planes of one patch.
const MAX_PLANES: usize = 4096;
/// Largest distance of a point on the plane, in units.
const ON_PLANE: f64 = 0.1;
/// Difference on every axis below which normals are equal.
const SAME_NORMAL: f64 = 0.0001;
/// Difference below which distances are equal.
const SAME_DISTANCE: f64 = 0.02;

/// Index of a plane in the list.
pub(super) type PlaneIndex = u16;

/// Side of a plane that a point is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaneSide {
    Front,
    Back,
    On,
}

/// Orientation of two equal planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    /// Same direction.
    Alike,
    /// Opposite directions.
    Flipped,
}

/// List of planes.
#[derive(Debug, Default)]
pub(super) struct Planes(Vec<TracePlane>);

impl Planes {
    /// Returns the plane of this index.
    pub(super) fn get(&self, index: PlaneIndex) -> TracePlane {
        self.0[usize::from(index)]
    }

    /// Returns the finished list.
    pub(super) fn into_inner(self) -> Vec<TracePlane> {
        self.0
    }

    /// Creates a plane through three points; `None` when they are collinear.
    pub(super) fn through<A: Arithmetic>(
        &mut self,
        points: [Vec3; 3],
        budget: &mut Budget,
    ) -> Result<Option<PlaneIndex>, PatchError> {
        let [a, b, c] = points;
        let (normal, length) = A::normalized(A::cross(c - a, b - a));
        if length == 0.0 {
            return Ok(None);
        }
        let plane = TracePlane { normal, dist: A::dot(a, normal).store() };
        budget.spend(self.0.len())?;
        let near = |at: &TracePlane| {
            normal.dot(at.normal) >= 0.0
                && points.iter().all(|point| {
                    let distance = f64::from(point.dot(at.normal) - at.dist);
                    (-ON_PLANE..=ON_PLANE).contains(&distance)
                })
        };
        match self.0.iter().position(near) {
            Some(found) => Ok(Some(found as PlaneIndex)),
            None => self.append(plane).map(Some),
        }
    }

    /// Finds a plane that equals the requested one, possibly with opposite direction.
    pub(super) fn equal_to(
        &mut self,
        wanted: TracePlane,
        budget: &mut Budget,
    ) -> Result<(PlaneIndex, Same), PatchError> {
        budget.spend(self.0.len())?;
        let found = self
            .0
            .iter()
            .enumerate()
            .find_map(|(index, &plane)| Some((index as PlaneIndex, same(plane, wanted)?)));
        match found {
            Some(found) => Ok(found),
            None => self.append(wanted).map(|index| (index, Same::Alike)),
        }
    }

    /// Returns the side of a plane that a point is on. Every point is on a missing plane.
    pub(super) fn side<A: Arithmetic>(&self, index: Option<PlaneIndex>, point: Vec3) -> PlaneSide {
        let Some(index) = index else { return PlaneSide::On };
        let plane = self.get(index);
        let distance = (A::dot(point, plane.normal) - A::of(plane.dist)).double();
        if distance > ON_PLANE {
            PlaneSide::Front
        } else if distance < -ON_PLANE {
            PlaneSide::Back
        } else {
            PlaneSide::On
        }
    }

    fn append(&mut self, plane: TracePlane) -> Result<PlaneIndex, PatchError> {
        if self.0.len() == MAX_PLANES {
            return Err(PatchError::Planes);
        }
        self.0.push(plane);
        Ok((self.0.len() - 1) as PlaneIndex)
    }
}

/// Compares two planes, as they are and with one reversed.
pub(super) fn same(a: TracePlane, b: TracePlane) -> Option<Same> {
    let is_near = |b: TracePlane| {
        (0..3).all(|axis| f64::from((a.normal[axis] - b.normal[axis]).abs()) < SAME_NORMAL)
            && f64::from((a.dist - b.dist).abs()) < SAME_DISTANCE
    };
    if is_near(b) {
        Some(Same::Alike)
    } else if is_near(super::reversed(b)) {
        Some(Same::Flipped)
    } else {
        None
    }
}

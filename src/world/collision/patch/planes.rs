//! Plane list of one patch: each plane once, in order of first use.
//!
//! The order matters: the first plane that is near enough to a wanted one is used for it.
//!
//! Source: the collision document, patches; checked by the patch vectors.

use super::{Budget, PatchError};
use crate::{
    model::{TracePlane, Vec3},
    world::collision::arithmetic::Arithmetic,
};

/// Planes of one patch at most.
const MAX_PLANES: usize = 4096;
/// Points this near to a plane lie on it.
const ON_PLANE: f64 = 0.1;
/// Normals that differ less on every axis are equal.
const SAME_NORMAL: f64 = 0.0001;
/// Distances that differ less are equal.
const SAME_DISTANCE: f64 = 0.02;

/// A plane's place in the list.
pub(super) type PlaneIndex = u16;

/// On which side of a plane a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Front,
    Back,
    On,
}

/// How two planes are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    /// They face the same way.
    Alike,
    /// They face opposite ways.
    Flipped,
}

/// The list.
#[derive(Debug, Default)]
pub(super) struct Planes(Vec<TracePlane>);

impl Planes {
    /// The plane of that index.
    pub(super) fn get(&self, index: PlaneIndex) -> TracePlane {
        self.0[usize::from(index)]
    }

    /// The finished list.
    pub(super) fn into_inner(self) -> Vec<TracePlane> {
        self.0
    }

    /// A plane through three points, or `None` when they lie on a line.
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

    /// A plane that equals the wanted one, possibly facing the other way.
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

    /// On which side of a plane a point is; everything is on a plane that does not exist.
    pub(super) fn side<A: Arithmetic>(&self, index: Option<PlaneIndex>, point: Vec3) -> Side {
        let Some(index) = index else { return Side::On };
        let plane = self.get(index);
        let distance = (A::dot(point, plane.normal) - A::of(plane.dist)).double();
        if distance > ON_PLANE {
            Side::Front
        } else if distance < -ON_PLANE {
            Side::Back
        } else {
            Side::On
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

/// Whether two planes are nearly equal, as they are or with one turned round.
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

//! Patch collision: curved surfaces as facets, each a plane with border planes.
//!
//! The control points of a patch become a grid of points and its cells become triangles. Each triangle, or
//! each flat cell, becomes a [`Facet`]: a thin solid behind its surface plane. Its borders are the planes of
//! its neighbors, planes on its edges, and bevels for boxes.
//!
//! Invariants: planes, facets and borders are in a fixed order, because ties between them depend on
//! it; borders and facets refer to planes of their own patch. Work is bounded: a hostile map beyond
//! the limit is an error. Source: the collision document, patches; checked by the patch vectors.

mod facets;
mod grid;
mod planes;
mod sweep;
mod winding;

use crate::model::{TracePlane, Vec3};

use super::{
    arithmetic::{Arithmetic, sign_bits},
    bounds::PaddedBounds,
};
use facets::Builder;
use grid::Grid;

/// Reasons why a patch is not usable for collision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The subdivided grid would be too big.
    #[error("subdivided grid too big: more than 129 columns or rows")]
    Grid,
    /// Too many planes.
    #[error("too many planes (max 4096)")]
    Planes,
    /// Too many facets.
    #[error("too many facets (max 1024)")]
    Facets,
    /// Too much work to prepare all patches of the map.
    #[error("patches up to this one are too many or too complex")]
    Work,
}

/// Limit of the comparisons for all patches of a map. Big maps need a tenth of it.
const MAX_WORK: usize = 1 << 29;

/// Work of one grid point, in comparisons. Points cost time even where no plane is made.
const POINT_WORK: usize = 16;

/// Remaining work that preparing a map may cost.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_WORK)
    }
}

impl Budget {
    fn spend(&mut self, work: usize) -> Result<(), PatchError> {
        self.0 = self.0.checked_sub(work).ok_or(PatchError::Work)?;
        Ok(())
    }
}

/// A curved surface of the map, prepared for collision.
#[derive(Debug)]
pub struct Patch {
    surface: usize,
    contents: i32,
    surface_flags: i32,
    bounds: [Vec3; 2],
    planes: Box<[TracePlane]>,
    facets: Box<[Facet]>,
    borders: Box<[Border]>,
    /// Copies of the planes in test order: for each facet its surface, then its borders, facing
    /// outward.
    fences: Box<[Fence]>,
    reach: PaddedBounds,
}

/// A flat piece of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facet {
    /// Index of its surface plane.
    pub surface: u16,
    first_border: u32,
    border_count: u8,
}

/// Border of a facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// Index of the plane.
    pub plane: u16,
    /// Whether the facet is in front of the plane.
    pub inward: bool,
}

/// A plane that faces away from the facet.
#[derive(Clone, Copy, Debug)]
struct Fence {
    plane: TracePlane,
    /// Sign bits of the plane as stored, before it was turned outward.
    sign_bits: u8,
}

/// Source data of a patch: a surface of type 2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    /// Number of the surface in the map.
    pub(super) surface: usize,
    /// Columns of control points; the number of rows follows.
    pub(super) width: usize,
    /// Control points, row by row.
    pub(super) controls: &'a [Vec3],
    pub(super) contents: i32,
    pub(super) surface_flags: i32,
}

impl Patch {
    /// Prepares a patch for collision.
    ///
    /// # Errors
    /// Rejects a patch that exceeds the engines' limits or the remaining work.
    pub(super) fn new<A: Arithmetic>(
        source: Source<'_>,
        budget: &mut Budget,
    ) -> Result<Self, PatchError> {
        let grid = Grid::new(source.width, source.controls)?;
        budget.spend(grid.width() * grid.height() * POINT_WORK)?;
        let mut builder = Builder::new::<A>(&grid, budget)?;
        builder.add_facets::<A>(budget)?;
        let (planes, facets, borders) = builder.finish();
        let margin = Vec3::new(1.0, 1.0, 1.0);
        let [mins, maxs] = bounds_of(grid.points());
        let bounds = [mins - margin, maxs + margin];
        let fence = |index: u16, inward: bool| {
            let plane = planes[usize::from(index)];
            Fence {
                plane: if inward { reversed(plane) } else { plane },
                sign_bits: sign_bits(plane.normal),
            }
        };
        let fences = facets
            .iter()
            .flat_map(|facet| {
                let borders = facet.borders_in(&borders).iter();
                std::iter::once(fence(facet.surface, false))
                    .chain(borders.map(|border| fence(border.plane, border.inward)))
            })
            .collect();
        Ok(Self {
            surface: source.surface,
            contents: source.contents,
            surface_flags: source.surface_flags,
            bounds,
            reach: PaddedBounds::around::<A>(&bounds),
            fences,
            planes: planes.into(),
            facets: facets.into(),
            borders: borders.into(),
        })
    }

    /// Number of the surface in the map.
    #[must_use]
    pub fn surface(&self) -> usize {
        self.surface
    }

    /// Contents.
    #[must_use]
    pub fn contents(&self) -> i32 {
        self.contents
    }

    /// Surface flags.
    #[must_use]
    pub fn surface_flags(&self) -> i32 {
        self.surface_flags
    }

    /// Lower and upper corner of the points, padded by one unit.
    #[must_use]
    pub fn bounds(&self) -> [Vec3; 2] {
        self.bounds
    }

    /// Planes in the order of creation.
    #[must_use]
    pub fn planes(&self) -> &[TracePlane] {
        &self.planes
    }

    /// Facets with their borders, in test order.
    pub fn facets(&self) -> impl Iterator<Item = (Facet, &[Border])> {
        self.facets.iter().map(|&facet| (facet, facet.borders_in(&self.borders)))
    }

    /// Returns the padded bounds for traces.
    pub(super) fn reach(&self) -> PaddedBounds {
        self.reach
    }

    /// Returns the memory of the patch, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.planes)
            + size_of_val(&*self.facets)
            + size_of_val(&*self.borders)
            + size_of_val(&*self.fences)
    }
}

impl Facet {
    fn borders_in<'a>(&self, borders: &'a [Border]) -> &'a [Border] {
        &borders[self.first_border as usize..][..usize::from(self.border_count)]
    }
}

/// Returns the plane with opposite direction.
fn reversed(plane: TracePlane) -> TracePlane {
    TracePlane { normal: Vec3(plane.normal.0.map(|c| -c)), dist: -plane.dist }
}

/// Returns the bounds of points; inverted when there are none.
fn bounds_of(points: impl Iterator<Item = Vec3>) -> [Vec3; 2] {
    const FAR: f32 = 99_999.0;
    let mut bounds = [Vec3([FAR; 3]), Vec3([-FAR; 3])];
    for point in points {
        for axis in 0..3 {
            if point[axis] < bounds[0][axis] {
                bounds[0][axis] = point[axis];
            }
            if point[axis] > bounds[1][axis] {
                bounds[1][axis] = point[axis];
            }
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A patch with the largest grid, all points on one line, so that no plane is made.
    #[test]
    fn patches_without_planes_use_work_too() {
        let along = |n: usize| if n == 1 { 60_000.0 } else { 0.0 };
        let controls: Vec<_> =
            (0..9).map(|n| Vec3::new(along(n / 3) + along(n % 3), 0.0, 0.0)).collect();
        let source =
            Source { surface: 0, width: 3, controls: &controls, contents: 1, surface_flags: 0 };
        let mut budget = Budget::default();
        let first = Patch::new::<f32>(source, &mut budget).unwrap();
        assert_eq!((first.planes.len(), first.facets.len()), (0, 0));
        let spent = MAX_WORK - budget.0;
        assert!(spent > MAX_WORK / 10_000, "{spent}");
        budget.0 = spent - 1;
        assert_eq!(Patch::new::<f32>(source, &mut budget).unwrap_err(), PatchError::Work);
    }
}

//! Patch collision: curved surfaces as facets, each a plane with border planes.
//!
//! The control points of a patch become a grid of points and its cells become triangles. Each triangle, or
//! each flat cell, becomes a [`Facet`]: a thin solid behind its surface plane. Its borders are the planes of
//! its neighbors, planes on its edges, and bevels for boxes.
//!
//! Invariants: planes, facets and borders are in a fixed order, because ties between them depend on it;
//! borders and facets refer to planes of their own patch. Work is bounded: a hostile map beyond the bound is
//! an error. Source: the collision document, patches; checked by the patch vectors.

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

/// Why a patch cannot be collided with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The subdivided grid would be too big.
    #[error("subdivided, it has more than 129 columns or rows")]
    Grid,
    /// Too many planes.
    #[error("it needs more than 4096 planes")]
    Planes,
    /// Too many facets.
    #[error("it needs more than 1024 facets")]
    Facets,
    /// All patches of the map together cost too much to prepare.
    #[error("it and the patches before it are too many or too complex")]
    Work,
}

/// Comparisons that a map's patches may cost in all. Big maps need a tenth of it.
const MAX_WORK: usize = 1 << 29;

/// What making one point of a grid stands for, in comparisons: points cost even where no plane is made.
const POINT_WORK: usize = 16;

/// What is left of the work that preparing a map may cost.
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

/// A curved surface of the map, ready to be collided with.
#[derive(Debug)]
pub struct Patch {
    surface: usize,
    contents: i32,
    surface_flags: i32,
    bounds: [Vec3; 2],
    planes: Box<[TracePlane]>,
    facets: Box<[Facet]>,
    borders: Box<[Border]>,
    /// The planes once more, in the order in which a box meets them: for each facet its surface, then
    /// its borders as they face.
    fences: Box<[Fence]>,
    reach: PaddedBounds,
}

/// A flat piece of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facet {
    /// Index of the plane that it lies on.
    pub surface: u16,
    first_border: u32,
    border_count: u8,
}

/// A plane that bounds a facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// Index of the plane.
    pub plane: u16,
    /// The facet is in front of the plane and not behind it.
    pub inward: bool,
}

/// A plane that faces away from the facet.
#[derive(Clone, Copy, Debug)]
struct Fence {
    plane: TracePlane,
    /// Of the plane as it is stored, before it was turned to face away.
    sign_bits: u8,
}

/// What a surface of kind 2 says about itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    /// Number of the surface in the map.
    pub(super) surface: usize,
    /// Columns of control points; rows follow from their number.
    pub(super) width: usize,
    /// Row after row.
    pub(super) controls: &'a [Vec3],
    pub(super) contents: i32,
    pub(super) surface_flags: i32,
}

impl Patch {
    /// Prepares a patch.
    ///
    /// # Errors
    /// When it exceeds what engines take, or the work left.
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

    /// Content bits.
    #[must_use]
    pub fn contents(&self) -> i32 {
        self.contents
    }

    /// Surface bits.
    #[must_use]
    pub fn surface_flags(&self) -> i32 {
        self.surface_flags
    }

    /// Lower and upper corner, one unit outside of the points.
    #[must_use]
    pub fn bounds(&self) -> [Vec3; 2] {
        self.bounds
    }

    /// The planes, in the order in which they were made.
    #[must_use]
    pub fn planes(&self) -> &[TracePlane] {
        &self.planes
    }

    /// The facets with their borders, in the order in which they are tested.
    pub fn facets(&self) -> impl Iterator<Item = (Facet, &[Border])> {
        self.facets.iter().map(|&facet| (facet, facet.borders_in(&self.borders)))
    }

    /// From where moves meet it.
    pub(super) fn reach(&self) -> PaddedBounds {
        self.reach
    }

    /// Memory that it takes, in bytes.
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

/// The plane seen from its other side.
fn reversed(plane: TracePlane) -> TracePlane {
    TracePlane { normal: Vec3(plane.normal.0.map(|c| -c)), dist: -plane.dist }
}

/// Lower and upper corner of points; inside out when there are none.
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

    /// A patch whose grid is as large as it may be and lies on a line, so that no plane is made.
    #[test]
    fn patches_without_any_plane_use_up_the_work_too() {
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

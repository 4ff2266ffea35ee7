//! Patch facets: triangles, their border planes and bevels.
//!
//! Source: the collision document, patches; checked by the patch vectors.

use super::{
    Border, Budget, Facet, PatchError,
    grid::Grid,
    planes::{PlaneIndex, PlaneSide, Planes, Same, same},
    reversed,
    winding::Winding,
};
use crate::{
    model::{TracePlane, Vec3},
    world::collision::arithmetic::Arithmetic,
};

/// Maximum number of facets of one patch.
const MAX_FACETS: usize = 1024;
/// Maximum number of borders of a facet before its back is added.
const MAX_BORDERS: usize = 26;
/// Extent of a facet that lacks a border, in units.
const MAX_EXTENT: f32 = 65_535.0;
/// Height of an edge's plane above the surface, in units.
const EDGE_HEIGHT: f32 = 4.0;
/// Minimum length of edges and cross products that give a bevel.
const MIN_EDGE: f32 = 0.5;
/// Largest difference from an axis at which an edge direction counts as axial.
const SNAP: f64 = 0.0001;
/// Largest distance of a point in front of a valid bevel, in units.
const BEVEL_SLACK: f64 = 0.1;
/// Work of one facet, in comparisons.
const FACET_WORK: usize = 2048;

/// Planes of the two triangles of a cell.
type Triangles = [Option<PlaneIndex>; 2];

/// Builder of the facets of one patch.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    grid: &'a Grid,
    planes: Planes,
    /// Triangles, column by column.
    triangles: Vec<Triangles>,
    facets: Vec<Facet>,
    borders: Vec<Border>,
}

/// A facet under construction.
#[derive(Debug)]
struct Draft {
    surface: PlaneIndex,
    borders: Vec<Border>,
}

/// Edges of a cell that can carry a border plane.
#[derive(Clone, Copy, Debug)]
enum Edge {
    Top,
    Right,
    Bottom,
    Left,
    /// Diagonal, as the edge of triangle 0.
    Diagonal0,
    /// Diagonal, as the edge of triangle 1.
    Diagonal1,
}

impl<'a> Builder<'a> {
    /// Creates the planes of all triangles.
    pub(super) fn new<A: Arithmetic>(
        grid: &'a Grid,
        budget: &mut Budget,
    ) -> Result<Self, PatchError> {
        let mut planes = Planes::default();
        let mut triangles = Vec::with_capacity(grid.width() * grid.height());
        for i in 0..grid.width() - 1 {
            for j in 0..grid.height() - 1 {
                let [a, b, c, d] = corners(grid, i, j);
                triangles.push([
                    planes.through::<A>([a, b, c], budget)?,
                    planes.through::<A>([c, d, a], budget)?,
                ]);
            }
        }
        Ok(Self { grid, planes, triangles, facets: Vec::new(), borders: Vec::new() })
    }

    /// Creates the facets of all cells.
    pub(super) fn add_facets<A: Arithmetic>(
        &mut self,
        budget: &mut Budget,
    ) -> Result<(), PatchError> {
        for i in 0..self.grid.width() - 1 {
            for j in 0..self.grid.height() - 1 {
                self.add_cell::<A>(i, j, budget)?;
            }
        }
        Ok(())
    }

    /// Returns the planes, facets and borders.
    pub(super) fn finish(self) -> (Vec<TracePlane>, Vec<Facet>, Vec<Border>) {
        (self.planes.into_inner(), self.facets, self.borders)
    }

    fn triangles(&self, i: usize, j: usize) -> Triangles {
        self.triangles[i * (self.grid.height() - 1) + j]
    }

    fn add_cell<A: Arithmetic>(
        &mut self,
        i: usize,
        j: usize,
        budget: &mut Budget,
    ) -> Result<(), PatchError> {
        let (last_i, last_j) = (self.grid.width() - 2, self.grid.height() - 2);
        let (wraps_across, wraps_down) = (self.grid.wraps_across, self.grid.wraps_down);
        let step_back = |at: usize, last: usize, wraps: bool| match at {
            0 => wraps.then_some(last),
            _ => Some(at - 1),
        };
        let step_on = |at: usize, last: usize, wraps: bool| {
            if at < last { Some(at + 1) } else { wraps.then_some(0) }
        };
        let own = self.triangles(i, j);
        // The neighbor's plane across an edge. If that is the cell's own plane, a plane through the
        // edge.
        let mut fence = |neighbour: Option<(usize, usize)>, triangle: usize, edge: Edge| {
            let plane = neighbour.and_then(|(i, j)| self.triangles(i, j)[triangle]);
            let other = own[1 - triangle];
            if plane.is_none() || plane == other {
                self.edge::<A>(i, j, edge, budget)
            } else {
                Ok(plane)
            }
        };
        let above = step_back(j, last_j, wraps_down).map(|j| (i, j));
        let top = fence(above, 1, Edge::Top)?;
        let below = step_on(j, last_j, wraps_down).map(|j| (i, j));
        let bottom = fence(below, 0, Edge::Bottom)?;
        let before = step_back(i, last_i, wraps_across).map(|i| (i, j));
        let left = fence(before, 0, Edge::Left)?;
        let after = step_on(i, last_i, wraps_across).map(|i| (i, j));
        let right = fence(after, 1, Edge::Right)?;

        let [a, b, c, d] = corners(self.grid, i, j);
        if own[0] == own[1] {
            return match own[0] {
                Some(surface) => {
                    let borders = [top, right, bottom, left];
                    self.add_facet::<A>(surface, &borders, &[a, b, c, d], budget)
                }
                None => Ok(()),
            };
        }
        let diagonal = match own[1].or(bottom) {
            None => self.edge::<A>(i, j, Edge::Diagonal0, budget)?,
            found => found,
        };
        if let Some(surface) = own[0] {
            self.add_facet::<A>(surface, &[top, right, diagonal], &[a, b, c], budget)?;
        }
        let diagonal = match own[0].or(top) {
            None => self.edge::<A>(i, j, Edge::Diagonal1, budget)?,
            found => found,
        };
        if let Some(surface) = own[1] {
            self.add_facet::<A>(surface, &[bottom, left, diagonal], &[c, d, a], budget)?;
        }
        Ok(())
    }

    /// Creates the border plane through an edge of a cell.
    fn edge<A: Arithmetic>(
        &mut self,
        i: usize,
        j: usize,
        edge: Edge,
        budget: &mut Budget,
    ) -> Result<Option<PlaneIndex>, PatchError> {
        let [a, b, c, d] = corners(self.grid, i, j);
        // Two points in the order that makes the plane face outward, the point below the third one,
        // and the triangle whose plane gives the up direction.
        let (from, to, foot, triangle) = match edge {
            Edge::Top => (a, b, a, 0),
            Edge::Right => (b, c, b, 0),
            Edge::Bottom => (c, d, d, 1),
            Edge::Left => (d, a, a, 1),
            Edge::Diagonal0 => (c, a, c, 0),
            Edge::Diagonal1 => (a, c, a, 1),
        };
        let own = self.triangles(i, j);
        let Some(base) = own[triangle].or(own[1 - triangle]) else { return Ok(None) };
        let up = foot.add_scaled(self.planes.get(base).normal, EDGE_HEIGHT);
        self.planes.through::<A>([from, to, up], budget)
    }

    /// Adds a facet unless its borders cut it away completely.
    fn add_facet<A: Arithmetic>(
        &mut self,
        surface: PlaneIndex,
        borders: &[Option<PlaneIndex>],
        corners: &[Vec3],
        budget: &mut Budget,
    ) -> Result<(), PatchError> {
        budget.spend(FACET_WORK)?;
        let Some(borders) = self.oriented::<A>(borders, corners) else { return Ok(()) };
        let mut draft = Draft { surface, borders };
        if !self.is_valid::<A>(&draft) {
            return Ok(());
        }
        if self.facets.len() == MAX_FACETS {
            return Err(PatchError::Facets);
        }
        self.add_bevels::<A>(&mut draft, budget)?;
        self.facets.push(Facet {
            surface,
            first_border: self.borders.len() as u32,
            border_count: draft.borders.len() as u8,
        });
        self.borders.append(&mut draft.borders);
        Ok(())
    }

    /// Returns the borders with the facet's corners on their inner sides. `None` when a border is
    /// missing or contains the corners.
    fn oriented<A: Arithmetic>(
        &self,
        borders: &[Option<PlaneIndex>],
        corners: &[Vec3],
    ) -> Option<Vec<Border>> {
        let orient = |&border: &Option<PlaneIndex>| {
            let has = |side| corners.iter().any(|&c| self.planes.side::<A>(border, c) == side);
            let (front, back) = (has(PlaneSide::Front), has(PlaneSide::Back));
            (front || back).then_some(Border { plane: border?, inward: front && !back })
        };
        borders.iter().map(orient).collect()
    }

    /// Whether the borders enclose a polygon of reasonable size.
    fn is_valid<A: Arithmetic>(&self, draft: &Draft) -> bool {
        let Some(winding) = self.winding::<A>(draft, |_| true) else { return false };
        let [mins, maxs] = winding.bounds();
        (0..3).all(|axis| {
            maxs[axis] - mins[axis] <= MAX_EXTENT
                && mins[axis] < MAX_EXTENT
                && maxs[axis] > -MAX_EXTENT
        })
    }

    /// Returns the polygon that the borders selected by `counts` cut from the surface plane.
    fn winding<A: Arithmetic>(
        &self,
        draft: &Draft,
        counts: impl Fn(&Border) -> bool,
    ) -> Option<Winding> {
        let whole = Winding::covering::<A>(self.planes.get(draft.surface));
        draft
            .borders
            .iter()
            .filter(|border| counts(border))
            .try_fold(whole, |winding, &border| winding.cut::<A>(self.facing_in(border)))
    }

    /// Returns a border's plane with the facet in front of it.
    fn facing_in(&self, border: Border) -> TracePlane {
        let plane = self.planes.get(border.plane);
        if border.inward { plane } else { reversed(plane) }
    }

    /// Adds the bevels, then the back of the facet. Bevels keep boxes from reaching around corners.
    fn add_bevels<A: Arithmetic>(
        &mut self,
        draft: &mut Draft,
        budget: &mut Budget,
    ) -> Result<(), PatchError> {
        let surface = draft.surface;
        let Some(winding) = self.winding::<A>(draft, |border| border.plane != surface) else {
            return Ok(());
        };
        let [mins, maxs] = winding.bounds();
        for (axis, sign) in AXIAL {
            let dist = if sign > 0.0 { maxs[axis] } else { -mins[axis] };
            let plane = TracePlane { normal: along(axis, sign), dist };
            if !self.has(draft, plane) && draft.borders.len() < MAX_BORDERS {
                let border = self.bevel(plane, budget)?;
                draft.borders.push(border);
            }
        }
        let points = winding.points();
        for (n, &from) in points.iter().enumerate() {
            let to = points[(n + 1) % points.len()];
            let (direction, length) = A::normalized(from - to);
            if length < MIN_EDGE || is_axial(direction) {
                continue;
            }
            for (axis, sign) in AXIAL {
                let (normal, length) = A::normalized(A::cross(direction, along(axis, sign)));
                if length < MIN_EDGE {
                    continue;
                }
                let plane = TracePlane { normal, dist: A::dot(from, normal).store() };
                let is_in_front = |&point: &Vec3| {
                    (A::dot(point, normal) - A::of(plane.dist)).double() > BEVEL_SLACK
                };
                if points.iter().any(is_in_front)
                    || self.has(draft, plane)
                    || draft.borders.len() >= MAX_BORDERS
                {
                    continue;
                }
                // The plane stays in the list even if the bevel cuts the whole facet away.
                let border = self.bevel(plane, budget)?;
                if winding.clone().cut::<A>(self.facing_in(border)).is_some() {
                    draft.borders.push(border);
                }
            }
        }
        draft.borders.push(Border { plane: surface, inward: true });
        Ok(())
    }

    /// Whether the facet's surface or a border equals a plane, in either direction.
    fn has(&self, draft: &Draft, plane: TracePlane) -> bool {
        let mut own = draft.borders.iter().map(|border| border.plane).chain([draft.surface]);
        own.any(|index| same(self.planes.get(index), plane).is_some())
    }

    fn bevel(&mut self, plane: TracePlane, budget: &mut Budget) -> Result<Border, PatchError> {
        let (plane, same) = self.planes.equal_to(plane, budget)?;
        Ok(Border { plane, inward: same == Same::Flipped })
    }
}

/// Axes with directions, in the order in which bevels are tried.
const AXIAL: [(usize, f32); 6] = [(0, -1.0), (0, 1.0), (1, -1.0), (1, 1.0), (2, -1.0), (2, 1.0)];

fn along(axis: usize, sign: f32) -> Vec3 {
    let mut direction = Vec3::ZERO;
    direction[axis] = sign;
    direction
}

/// Whether a direction is an axis or nearly one.
fn is_axial(direction: Vec3) -> bool {
    direction.0.iter().any(|&c| f64::from((c.abs() - 1.0).abs()) < SNAP)
}

/// Returns the corners of a cell in order: (i, j), (i+1, j), (i+1, j+1), (i, j+1).
fn corners(grid: &Grid, i: usize, j: usize) -> [Vec3; 4] {
    [grid.at(i, j), grid.at(i + 1, j), grid.at(i + 1, j + 1), grid.at(i, j + 1)]
}

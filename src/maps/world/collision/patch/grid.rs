//! Patch grid: control points, subdivided until the curve is flat enough.
//!
//! Invariants: 1 to [`MAX_SIDE`] columns and rows; all columns have the same length. Source: the collision
//! document, patches; checked by the patch vectors.

use super::PatchError;
use crate::model::Vec3;

/// Maximum number of points per side.
const MAX_SIDE: usize = 129;
/// Largest distance between the middle of a curve and the straight line, in units.
const FLATNESS: f32 = 16.0;
/// Distance on every axis below which columns are merged.
const SAME: f64 = 0.1;

/// Grid of points on or near the patch.
#[derive(Debug)]
pub(super) struct Grid {
    columns: Vec<Vec<Vec3>>,
    /// Whether the first and the last column are equal.
    pub(super) wraps_across: bool,
    /// Whether the first and the last row are equal.
    pub(super) wraps_down: bool,
}

impl Grid {
    /// Subdivides control points, given row by row. The result is transposed; facets depend on it.
    ///
    /// # Errors
    /// Rejects a grid that would exceed its limit.
    pub(super) fn new(width: usize, controls: &[Vec3]) -> Result<Self, PatchError> {
        let columns =
            (0..width).map(|i| controls.iter().skip(i).step_by(width).copied().collect()).collect();
        let mut grid = Self { columns, wraps_across: false, wraps_down: false };
        grid.refine()?;
        grid.transpose();
        grid.refine()?;
        Ok(grid)
    }

    /// Number of columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Number of rows.
    pub(super) fn height(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Returns the point of column `i` and row `j`.
    pub(super) fn at(&self, i: usize, j: usize) -> Vec3 {
        self.columns[i][j]
    }

    /// Iterates over all points.
    pub(super) fn points(&self) -> impl Iterator<Item = Vec3> {
        self.columns.iter().flatten().copied()
    }

    fn refine(&mut self) -> Result<(), PatchError> {
        self.wraps_across = match self.columns.as_slice() {
            [first, .., last] => are_same(first, last),
            _ => false,
        };
        self.subdivide()?;
        self.columns.dedup_by(|next, kept| are_same(kept, next));
        Ok(())
    }

    /// Replaces each middle control column by columns on the curve, or removes it where the curve
    /// is flat.
    fn subdivide(&mut self) -> Result<(), PatchError> {
        let mut i = 0;
        while i + 2 < self.columns.len() {
            let [a, b, c] = &self.columns[i..i + 3] else { break };
            if !is_curved(a, b, c) {
                self.columns.remove(i + 1);
                i += 1;
                continue;
            }
            let near = middle(a, b);
            let far = middle(b, c);
            let on_curve = middle(&near, &far);
            if self.columns.len() + 2 > MAX_SIDE {
                return Err(PatchError::Grid);
            }
            self.columns.splice(i + 1..i + 2, [near, on_curve, far]);
        }
        Ok(())
    }

    fn transpose(&mut self) {
        let columns = (0..self.height())
            .map(|j| self.columns.iter().map(|column| column[j]).collect())
            .collect();
        self.columns = columns;
        std::mem::swap(&mut self.wraps_across, &mut self.wraps_down);
    }
}

fn half_way(a: Vec3, b: Vec3) -> Vec3 {
    (a + b) * 0.5
}

fn middle(a: &[Vec3], b: &[Vec3]) -> Vec<Vec3> {
    a.iter().zip(b).map(|(&a, &b)| half_way(a, b)).collect()
}

/// Whether the curve's middle is far from the straight line in any row.
fn is_curved(a: &[Vec3], b: &[Vec3], c: &[Vec3]) -> bool {
    a.iter().zip(b).zip(c).any(|((&a, &b), &c)| {
        let straight = half_way(a, c);
        let curved = half_way(half_way(a, b), half_way(b, c));
        (curved - straight).length() >= FLATNESS
    })
}

fn are_same(a: &[Vec3], b: &[Vec3]) -> bool {
    a.iter().zip(b).all(|(&a, &b)| {
        let apart = a - b;
        apart.0.iter().all(|&c| f64::from(c) >= -SAME && f64::from(c) <= SAME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a patch of 3 × 3 control points, bent upward by `height` across.
    fn bent(height: f32) -> Vec<Vec3> {
        (0..9)
            .map(|n| {
                let (i, j) = (n % 3, n / 3);
                let z = if i == 1 { height } else { 0.0 };
                Vec3::new(i as f32 * 64.0, j as f32 * 64.0, z)
            })
            .collect()
    }

    #[test]
    fn flat_patches_keep_only_their_corners() {
        let grid = Grid::new(3, &bent(0.0)).unwrap();
        assert_eq!((grid.width(), grid.height()), (2, 2));
        assert_eq!(grid.at(1, 0), Vec3::new(0.0, 128.0, 0.0), "rows and columns change places");
    }

    #[test]
    fn bent_patches_are_subdivided_until_flat() {
        let grid = Grid::new(3, &bent(100.0)).unwrap();
        assert_eq!((grid.width(), grid.height()), (2, 3));
        assert_eq!(grid.at(0, 1), Vec3::new(64.0, 0.0, 50.0));
    }

    #[test]
    fn endless_subdivision_is_rejected() {
        for height in [1e9, 1e30, f32::MAX] {
            assert!(matches!(Grid::new(3, &bent(height)), Err(PatchError::Grid)), "{height}");
        }
        for height in [f32::INFINITY, f32::NAN] {
            assert!(Grid::new(3, &bent(height)).is_ok(), "{height} is no curve");
        }
    }
}

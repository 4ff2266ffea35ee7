//! Curved patches: points and normals of the surface.

use super::{
    map_file::{Patch, PatchPoint},
    vector::Vector,
};

/// Steps of a triangle mesh per three control points.
const STEPS: usize = 8;
/// Distance in the parameter square for the direction of a tangent.
const TANGENT: f64 = 0.02;

impl Patch {
    /// Returns the control point of a column and a row.
    #[must_use]
    pub(super) fn control(&self, column: usize, row: usize) -> &PatchPoint {
        &self.points[row * self.width + column]
    }

    /// Returns the point of the surface at parameters from 0 to 1 along the columns and rows.
    #[must_use]
    pub(super) fn point_at(&self, s: f64, t: f64) -> Vector {
        let (column, s) = piece(s, self.width);
        let (row, t) = piece(t, self.height);
        let mut point = Vector::ZERO;
        for (r, down) in weights(t).into_iter().enumerate() {
            for (c, across) in weights(s).into_iter().enumerate() {
                point = point + self.control(column + c, row + r).position * (across * down);
            }
        }
        point
    }

    /// Returns the normal of the visible side at parameters from 0 to 1.
    #[must_use]
    pub(super) fn normal_at(&self, s: f64, t: f64) -> Vector {
        let around = |at: f64| ((at - TANGENT).max(0.0), (at + TANGENT).min(1.0));
        let ((left, right), (top, bottom)) = (around(s), around(t));
        let across = self.point_at(right, t) - self.point_at(left, t);
        let down = self.point_at(s, bottom) - self.point_at(s, top);
        across.cross(down).normalized().unwrap_or(Vector::new(0.0, 0.0, 1.0))
    }

    /// Returns the triangles of the surface.
    #[must_use]
    pub(super) fn triangles(&self) -> Vec<[Vector; 3]> {
        let (columns, rows) = (self.width / 2 * STEPS, self.height / 2 * STEPS);
        let at = |column: usize, row: usize| {
            self.point_at(column as f64 / columns as f64, row as f64 / rows as f64)
        };
        let mut triangles = Vec::with_capacity(2 * columns * rows);
        for row in 0..rows {
            for column in 0..columns {
                let [a, b] = [at(column, row), at(column + 1, row)];
                let [c, d] = [at(column, row + 1), at(column + 1, row + 1)];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
        triangles
    }
}

/// Returns the first control point and the parameter inside its piece.
fn piece(at: f64, points: usize) -> (usize, f64) {
    let pieces = points / 2;
    let at = at * pieces as f64;
    let piece = (at as usize).min(pieces - 1);
    (2 * piece, at - piece as f64)
}

/// Returns the weights of three control points.
fn weights(t: f64) -> [f64; 3] {
    [(1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t]
}

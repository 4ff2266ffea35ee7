//! Texture coordinates of brush faces.
//!
//! Source: the classic format's six base axes and rotation; Valve 220 stores the axes themselves; brush primitives store a
//! matrix over two axes that follow from the normal.

use super::{map_file::Mapping, vector::Vector};

/// Base axes by normal: normal, axis of s, axis of t. A later one must win clearly.
const BASE: [[Vector; 3]; 6] = {
    const X: Vector = Vector::new(1.0, 0.0, 0.0);
    const Y: Vector = Vector::new(0.0, 1.0, 0.0);
    const DOWN: Vector = Vector::new(0.0, 0.0, -1.0);
    const SOUTH: Vector = Vector::new(0.0, -1.0, 0.0);
    [
        [Vector::new(0.0, 0.0, 1.0), X, SOUTH],
        [DOWN, X, SOUTH],
        [X, Y, DOWN],
        [Vector::new(-1.0, 0.0, 0.0), Y, DOWN],
        [Y, X, DOWN],
        [SOUTH, X, DOWN],
    ]
};
/// Least advantage of a later base axis.
const CLEAR_WIN: f64 = 1e-4;

/// Smallest scale that is not zero.
const MIN_SCALE: f64 = 1e-6;

/// Texture coordinates as functions of position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Projection {
    axes: [Vector; 2],
    shift: [f64; 2],
    /// Whether they are in repeats of the image, not in pixels.
    in_repeats: bool,
}

impl Projection {
    /// Creates the projection of a face with a normal.
    #[must_use]
    pub(super) fn new(mapping: &Mapping, normal: Vector) -> Self {
        match *mapping {
            Mapping::Classic { shift, rotate, scale } => {
                let axes = rotated(base_axes(normal), rotate);
                Self { axes: scaled(axes, scale), shift, in_repeats: false }
            }
            Mapping::Valve { axes, shift, scale } => {
                Self { axes: scaled(axes, scale), shift, in_repeats: false }
            }
            Mapping::Repeats { matrix } => {
                let [x, y] = primitive_axes(normal);
                let axes = matrix.map(|[a, b, _]| x * a + y * b);
                Self { axes, shift: matrix.map(|[_, _, shift]| shift), in_repeats: true }
            }
        }
    }

    /// Returns s and t of a point, in repeats of an image with a size in pixels.
    #[must_use]
    pub(super) fn at(&self, point: Vector, size: [f64; 2]) -> [f64; 2] {
        let unit = if self.in_repeats { [1.0; 2] } else { size };
        [0, 1].map(|k| (point.dot(self.axes[k]) + self.shift[k]) / unit[k])
    }

    /// Returns the projection for coordinates relative to an origin.
    #[must_use]
    pub(super) fn relative_to(&self, origin: Vector) -> Self {
        let shift = [0, 1].map(|k| self.shift[k] + self.axes[k].dot(origin));
        Self { shift, ..*self }
    }
}

fn base_axes(normal: Vector) -> [Vector; 2] {
    let mut best = (0.0, [BASE[0][1], BASE[0][2]]);
    for [axis, s, t] in BASE {
        let facing = normal.dot(axis);
        if facing > best.0 + CLEAR_WIN {
            best = (facing, [s, t]);
        }
    }
    best.1
}

/// Axes of a brush primitive's face.
fn primitive_axes(normal: Vector) -> [Vector; 2] {
    let up = Vector::along(2, 1.0);
    match normal.cross(up).normalized() {
        Some(across) => [-across, normal.cross(across)],
        None if normal[2] > 0.0 => [Vector::along(1, 1.0), Vector::along(0, 1.0)],
        None => [Vector::along(1, 1.0), Vector::along(0, -1.0)],
    }
}

/// Rotates both axes in the plane of the two.
fn rotated(axes: [Vector; 2], degrees: f64) -> [Vector; 2] {
    let (sin, cos) = sin_cos(degrees);
    let [s, t] = axes.map(Vector::main_axis);
    axes.map(|axis| {
        let (a, b) = (axis[s], axis[t]);
        let mut turned = axis;
        turned.0[s] = cos * a - sin * b;
        turned.0[t] = sin * a + cos * b;
        turned
    })
}

/// Returns sine and cosine, exact at multiples of a right angle.
fn sin_cos(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        turn => (libm::sin(turn.to_radians()), libm::cos(turn.to_radians())),
    }
}

fn scaled(axes: [Vector; 2], scale: [f64; 2]) -> [Vector; 2] {
    // A scale of zero counts as one, as in editors.
    let factor = |scale: f64| if scale.abs() < MIN_SCALE { 1.0 } else { 1.0 / scale };
    [0, 1].map(|k| axes[k] * factor(scale[k]))
}

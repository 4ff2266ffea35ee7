//! Vector arithmetic in f64 for light computation.
//!
//! Invariants: only additions, multiplications, divisions and square roots, so that results have the same bits on
//! every machine.

/// Point or direction in map units.
pub type Vector = [f64; 3];

pub(crate) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn scale(a: Vector, factor: f64) -> Vector {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

/// Returns `a + b * factor`.
pub(crate) fn along(a: Vector, b: Vector, factor: f64) -> Vector {
    add(a, scale(b, factor))
}

/// Multiplies component by component.
pub(crate) fn times(a: Vector, b: Vector) -> Vector {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}

pub(crate) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// Returns the vector with length 1, or zero for a vector that is too short.
pub(crate) fn normalize(a: Vector) -> Vector {
    let size = length(a);
    if size < 1e-12 {
        return [0.0; 3];
    }
    scale(a, 1.0 / size)
}

/// Greatest component.
pub(crate) fn brightest(a: Vector) -> f64 {
    a[0].max(a[1]).max(a[2])
}

/// Index of the component with the greatest magnitude.
pub(crate) fn major_axis(a: Vector) -> usize {
    let mut best = 0;
    for axis in 1..3 {
        if a[axis].abs() > a[best].abs() {
            best = axis;
        }
    }
    best
}

/// Bounds of points. Empty bounds are inverted.
pub(crate) fn bounds(points: impl IntoIterator<Item = Vector>) -> [Vector; 2] {
    let mut result = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for point in points {
        for axis in 0..3 {
            result[0][axis] = result[0][axis].min(point[axis]);
            result[1][axis] = result[1][axis].max(point[axis]);
        }
    }
    result
}

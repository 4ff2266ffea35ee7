//! Vectors of three double-precision numbers.
//!
//! The compiler computes in double precision and writes single precision. Each operation rounds once per
//! component, in the order written, so that a build has the same bytes on every machine.

use std::ops::{Add, Index, Mul, Neg, Sub};

/// A point or a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vector(pub [f64; 3]);

impl Vector {
    /// Zero vector.
    pub const ZERO: Self = Self([0.0; 3]);

    /// Creates a vector.
    #[must_use]
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self([x, y, z])
    }

    /// Returns the unit vector of an axis, 0 to 2, times a factor.
    #[must_use]
    pub fn along(axis: usize, factor: f64) -> Self {
        Self(std::array::from_fn(|k| if k == axis { factor } else { 0.0 }))
    }

    /// Returns the sum of the products of equal components.
    #[must_use]
    pub fn dot(self, other: Self) -> f64 {
        self[0] * other[0] + self[1] * other[1] + self[2] * other[2]
    }

    /// Returns the cross product `self × other`.
    #[must_use]
    pub fn cross(self, other: Self) -> Self {
        let (Self([x, y, z]), Self([ox, oy, oz])) = (self, other);
        Self([y * oz - z * oy, z * ox - x * oz, x * oy - y * ox])
    }

    /// Returns the length.
    #[must_use]
    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// Returns the vector with length 1, or nothing for a vector without direction.
    #[must_use]
    pub fn normalized(self) -> Option<Self> {
        let length = self.length();
        (length > 1e-12 && length.is_finite()).then(|| self * (1.0 / length))
    }

    /// Returns the axis of the largest component, 0 to 2.
    #[must_use]
    pub fn main_axis(self) -> usize {
        let size = self.0.map(f64::abs);
        (1..3).fold(0, |best, axis| if size[axis] > size[best] { axis } else { best })
    }

    /// Returns the smaller of each pair of components.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self[k].min(other[k])))
    }

    /// Returns the larger of each pair of components.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self[k].max(other[k])))
    }

    /// Returns the components in single precision.
    #[must_use]
    pub fn to_f32(self) -> [f32; 3] {
        self.0.map(|part| part as f32)
    }
}

impl Add for Vector {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self[k] + other[k]))
    }
}

impl Sub for Vector {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self[k] - other[k]))
    }
}

impl Mul<f64> for Vector {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self(self.0.map(|part| part * factor))
    }
}

impl Neg for Vector {
    type Output = Self;

    /// Reverses the direction. Zeros stay positive, so that equal planes have equal bytes.
    fn neg(self) -> Self {
        Self(self.0.map(|part| 0.0 - part))
    }
}

impl Index<usize> for Vector {
    type Output = f64;

    fn index(&self, axis: usize) -> &f64 {
        &self.0[axis]
    }
}

/// Box with axis-parallel edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// Lower corner.
    pub mins: Vector,
    /// Upper corner.
    pub maxs: Vector,
}

impl Bounds {
    /// Box of no points: any union with it gives the other box.
    pub(super) const EMPTY: Self =
        Self { mins: Vector([f64::INFINITY; 3]), maxs: Vector([f64::NEG_INFINITY; 3]) };

    /// Returns the smallest box around some points.
    pub(super) fn of<'a>(points: impl IntoIterator<Item = &'a Vector>) -> Self {
        points.into_iter().fold(Self::EMPTY, |bounds, &point| bounds.with(point))
    }

    /// Returns the box grown to contain a point.
    #[must_use]
    pub(super) fn with(self, point: Vector) -> Self {
        Self { mins: self.mins.min(point), maxs: self.maxs.max(point) }
    }

    /// Returns the smallest box around two boxes.
    #[must_use]
    pub(super) fn union(self, other: Self) -> Self {
        Self { mins: self.mins.min(other.mins), maxs: self.maxs.max(other.maxs) }
    }

    /// Returns the box with each face moved outward.
    #[must_use]
    pub(super) fn grown(self, by: f64) -> Self {
        let by = Vector([by; 3]);
        Self { mins: self.mins - by, maxs: self.maxs + by }
    }

    /// Whether two boxes have a point in common.
    #[must_use]
    pub(super) fn touches(&self, other: &Self) -> bool {
        (0..3).all(|k| self.mins[k] <= other.maxs[k] && self.maxs[k] >= other.mins[k])
    }

    /// Whether the box is that of no points.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.mins[0] > self.maxs[0]
    }

    /// Returns the middle of the box.
    #[must_use]
    pub(super) fn center(&self) -> Vector {
        (self.mins + self.maxs) * 0.5
    }
}

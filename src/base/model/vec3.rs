//! Vectors of three single-precision numbers.
//!
//! Every operation is one IEEE rounding per component, in the order written, so that results are
//! the same on every machine and equal to a client's.

use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Sub};

use bytemuck::{Pod, Zeroable};

/// A point, a direction or a set of Euler angles (pitch, yaw, roll in degrees).
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Vec3(pub [f32; 3]);

impl Vec3 {
    /// Zero vector.
    pub const ZERO: Self = Self([0.0; 3]);

    /// Creates a vector.
    #[must_use]
    pub const fn new(x: f32, y: f32, z: f32) -> Self {
        Self([x, y, z])
    }

    /// Returns `(x·x' + y·y') + z·z'`.
    #[must_use]
    pub fn dot(self, other: Self) -> f32 {
        self[0] * other[0] + self[1] * other[1] + self[2] * other[2]
    }

    /// Returns the square root of the dot product with itself.
    #[must_use]
    pub fn length(self) -> f32 {
        self.dot(self).sqrt()
    }

    /// Returns `self + direction · scale`: the product first, then the sum.
    #[must_use]
    pub fn add_scaled(self, direction: Self, scale: f32) -> Self {
        self + direction * scale
    }

    /// Returns the cross product `self × other`.
    #[must_use]
    pub fn cross(self, other: Self) -> Self {
        let (Self([x, y, z]), Self([ox, oy, oz])) = (self, other);
        Self([y * oz - z * oy, z * ox - x * oz, x * oy - y * ox])
    }

    /// Whether every component is a finite number.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.0.iter().all(|part| part.is_finite())
    }

    /// Returns each component, or 0 where it is not a finite number.
    #[must_use]
    pub fn finite_or_zero(self) -> Self {
        Self(self.0.map(|part| if part.is_finite() { part } else { 0.0 }))
    }

    /// Truncates each component toward zero, as the engine "snaps" published vectors. The engine
    /// converts through a 32-bit integer: negative zero disappears, and a number out of range
    /// becomes the lowest integer.
    #[must_use]
    pub fn truncated(self) -> Self {
        // A conversion truncates. `trunc` is a function call on processors before SSE4.1.
        Self(self.0.map(
            |component| if component.abs() < LIMIT { component as i32 as f32 } else { -LIMIT },
        ))
    }

    /// Rounds each component to the nearest whole number, halves to even, as the engine "snaps"
    /// velocities. The limits are those of [`truncated`](Self::truncated).
    #[must_use]
    pub fn rounded(self) -> Self {
        Self(self.0.map(|component| through_integer(component.round_ties_even())))
    }
}

/// Least number above all 32-bit integers.
const LIMIT: f32 = 2_147_483_648.0;

/// Converts a whole number to a 32-bit integer and back.
fn through_integer(whole: f32) -> f32 {
    let whole = whole + 0.0;
    if whole.abs() < LIMIT { whole } else { -LIMIT }
}

impl Add for Vec3 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self([self[0] + other[0], self[1] + other[1], self[2] + other[2]])
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self([self[0] - other[0], self[1] - other[1], self[2] - other[2]])
    }
}

impl Mul<f32> for Vec3 {
    type Output = Self;
    fn mul(self, scale: f32) -> Self {
        Self(self.0.map(|component| component * scale))
    }
}

impl Index<usize> for Vec3 {
    type Output = f32;
    fn index(&self, axis: usize) -> &f32 {
        &self.0[axis]
    }
}

impl IndexMut<usize> for Vec3 {
    fn index_mut(&mut self, axis: usize) -> &mut f32 {
        &mut self.0[axis]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_goes_through_an_integer() {
        for (value, cut) in [(1.9, 1.0), (-1.9, -1.0), (-0.5, 0.0), (3e9, -2_147_483_648.0)] {
            let bits = Vec3::new(value, 0.0, 0.0).truncated()[0].to_bits();
            assert_eq!(bits, f32::to_bits(cut), "{value}");
        }
        assert!(
            Vec3::new(f32::NAN, f32::INFINITY, 0.0).truncated().0.iter().all(|f| f.is_finite())
        );
    }
}

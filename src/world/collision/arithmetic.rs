//! Trace precision: single precision, or double precision in intermediate results.
//!
//! Prediction is bit-exact only if intermediate results are rounded as in the client. The formulas are written
//! once, over [`Arithmetic`]. For `f32` every operation rounds to single precision. For `f64` marked
//! intermediate results keep double precision until they are stored.
//!
//! Invariants: inputs and stored results are `f32` in both; sums of products are
//! `(x·x' + y·y') + z·z'`; no fused operations, no reordering. Source: the collision document of
//! the game's engines, precisions; checked by its trace and patch vectors.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::model::{
    Vec3,
    trig::{Axes, DegreeFactor},
};

/// Distance between a trace's end and the surface that it hits, in units.
pub(super) const SURFACE_CLIP: f64 = 0.125;

/// Arithmetic precision of trace results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TracePrecision {
    /// Single precision: ioquake3, and OpenArena's clients.
    #[default]
    Single,
    /// Double precision in intermediate results: Quake3e, and nearly 1.32.
    Double,
}

/// Arithmetic of intermediate results.
pub(super) trait Arithmetic:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// Converts a stored value, exactly.
    fn of(stored: f32) -> Self;

    /// Rounds to a stored value.
    fn store(self) -> f32;

    /// Converts to double precision, exactly.
    fn double(self) -> f64;

    /// Returns the square root, rounded once.
    fn root(self) -> Self;

    /// Returns the threshold below which the upper end of a trace misses bounds that begin at
    /// `mins`.
    fn reach_up(mins: f32) -> f32;

    /// Returns the threshold above which the lower end of a trace misses bounds that end at `maxs`.
    fn reach_down(maxs: f32) -> f32;

    /// Returns `(x·x' + y·y') + z·z'`.
    fn dot(a: Vec3, b: Vec3) -> Self {
        Self::of(a[0]) * Self::of(b[0])
            + Self::of(a[1]) * Self::of(b[1])
            + Self::of(a[2]) * Self::of(b[2])
    }

    /// Returns the cross product, stored.
    fn cross(a: Vec3, b: Vec3) -> Vec3 {
        let minor = |i: usize, j: usize| {
            (Self::of(a[i]) * Self::of(b[j]) - Self::of(a[j]) * Self::of(b[i])).store()
        };
        Vec3::new(minor(1, 2), minor(2, 0), minor(0, 1))
    }

    /// Returns the vector at length 1 and its former length. A zero vector stays zero.
    fn normalized(vector: Vec3) -> (Vec3, f32) {
        let square = Self::dot(vector, vector);
        if square == Self::ZERO {
            return (vector, 0.0);
        }
        let inverse = Self::ONE / square.root();
        (Vec3(vector.0.map(|c| (Self::of(c) * inverse).store())), (square * inverse).store())
    }

    /// Returns the fraction of a line from distance `from` to distance `to` that is before distance
    /// `-margin`.
    fn part(from: Self, to: Self, margin: f64) -> f32 {
        ((from.double() + margin) / (from - to).double()) as f32
    }
}

impl Arithmetic for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn of(stored: f32) -> Self {
        stored
    }

    fn store(self) -> f32 {
        self
    }

    fn double(self) -> f64 {
        f64::from(self)
    }

    fn root(self) -> Self {
        self.sqrt()
    }

    // This precision compares in double. The least single that is not below the double is exceeded
    // by the same singles and avoids the conversion in the hot path.
    fn reach_up(mins: f32) -> f32 {
        let limit = f64::from(mins) - SURFACE_CLIP;
        let near = limit as Self;
        if f64::from(near) < limit { near.next_up() } else { near }
    }

    fn reach_down(maxs: f32) -> f32 {
        -Self::reach_up(-maxs)
    }
}

impl Arithmetic for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn of(stored: f32) -> Self {
        Self::from(stored)
    }

    fn store(self) -> f32 {
        self as f32
    }

    fn double(self) -> f64 {
        self
    }

    fn root(self) -> Self {
        self.sqrt()
    }

    fn reach_up(mins: f32) -> f32 {
        mins - 0.25
    }

    fn reach_down(maxs: f32) -> f32 {
        maxs + 0.25
    }
}

/// Returns the axes (forward, left, up) of Euler angles in degrees, as the engine rotates models.
pub(super) fn model_axes(angles: Vec3) -> [Vec3; 3] {
    let Axes { forward, right, up } = Axes::of_angles(angles, DegreeFactor::Double);
    [forward, Vec3(right.0.map(Neg::neg)), up]
}

/// Returns the sign bits: bit k is set when component k is below zero (negative zero is not).
pub(super) fn sign_bits(normal: Vec3) -> u8 {
    (0..3).fold(0, |bits, axis| bits | u8::from(normal[axis] < 0.0) << axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_reach_equals_comparison_in_double_precision() {
        for bound in [0.0_f32, 1.0, -1.0, 1e-3, 0.12500001, 77.7, -4096.3, 65_535.9, 1e9] {
            let exact = f64::from(bound) - SURFACE_CLIP;
            let mut value = (exact as f32).next_down().next_down();
            for _ in 0..5 {
                let below = f64::from(value) < exact;
                assert_eq!(value < <f32 as Arithmetic>::reach_up(bound), below, "{bound} {value}");
                let above = f64::from(-value) > f64::from(-bound) + SURFACE_CLIP;
                assert_eq!(-value > <f32 as Arithmetic>::reach_down(-bound), above, "{bound}");
                value = value.next_up();
            }
        }
    }

    #[test]
    fn precisions_differ_when_an_intermediate_sum_is_rounded() {
        let a = Vec3::new(1.0, 1e8, -1e8);
        let b = Vec3::new(1.0, 1.0, 1.0);
        assert_eq!(<f32 as Arithmetic>::dot(a, b), 0.0);
        assert_eq!(<f64 as Arithmetic>::dot(a, b), 1.0);
    }
}

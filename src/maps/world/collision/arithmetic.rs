//! Trace precision: single precision, or double precision in intermediate results.
//!
//! Prediction is bit-exact only if intermediate results are rounded as in the client. The formulas are written
//! once, over [`Arithmetic`]. For `f32` every operation rounds to single precision. For `f64` marked
//! intermediate results keep double precision until they are stored. [`Reordered`] is single precision with
//! the distances of sloped brush sides summed in the order of an engine built with `-ffast-math`.
//!
//! Invariants: inputs and stored results are `f32` in all; sums of products are
//! `(x·x' + y·y') + z·z'`; no fused operations, no other reordering. Source: the collision document of
//! the game's engines, precisions; checked by its trace and patch vectors; for [`Reordered`] the order of
//! operations in the machine code of Debian's ioquake3 1.36.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::model::{
    TracePlane, Vec3,
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
    /// Single precision, reordered by `-ffast-math`: Debian's ioquake3. Patches are as in `Single`.
    Fast,
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

    /// Returns the distances of two points in front of a plane, moved outward by the reach of a box.
    /// `corner` is the corner of the box towards the plane.
    fn distances(points: [Vec3; 2], corner: Vec3, plane: &TracePlane) -> [Self; 2] {
        let dist = Self::of(plane.dist) - Self::dot(corner, plane.normal);
        points.map(|point| Self::dot(point, plane.normal) - dist)
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

/// Single precision in the order of an engine built with `-ffast-math`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Reordered(f32);

macro_rules! single_operators {
    ($($operator:ident $function:ident),+) => {
        $(impl $operator for Reordered {
            type Output = Self;

            fn $function(self, other: Self) -> Self {
                Self(self.0.$function(other.0))
            }
        })+
    };
}

single_operators!(Add add, Sub sub, Mul mul, Div div);

impl Neg for Reordered {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Arithmetic for Reordered {
    const ZERO: Self = Self(0.0);
    const ONE: Self = Self(1.0);

    fn of(stored: f32) -> Self {
        Self(stored)
    }

    fn store(self) -> f32 {
        self.0
    }

    fn double(self) -> f64 {
        self.0.double()
    }

    fn root(self) -> Self {
        Self(self.0.root())
    }

    fn reach_up(mins: f32) -> f32 {
        <f32 as Arithmetic>::reach_up(mins)
    }

    fn reach_down(maxs: f32) -> f32 {
        <f32 as Arithmetic>::reach_down(maxs)
    }

    // Results on axial planes are those of single precision.
    fn distances(points: [Vec3; 2], corner: Vec3, plane: &TracePlane) -> [Self; 2] {
        let n = plane.normal;
        let moved = (corner[0] * n[0] + corner[1] * n[1]) + (corner[2] * n[2] - plane.dist);
        points.map(|point| Self((point[2] * n[2] + moved) + (point[0] * n[0] + point[1] * n[1])))
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
    fn reordered_distances_differ_on_slopes_only() {
        let distances = |normal: Vec3, n: u32| {
            // Multiples of 2⁻⁸ within the limits of maps.
            let at = |k: u32| ((n * 7919 + k * 104_729) % 1_000_003) as f32 / 256.0 - 1900.0;
            let points = [Vec3::new(at(1), at(2), at(3)), Vec3::new(at(4), at(5), at(6))];
            let plane = TracePlane { normal, dist: at(7) };
            let corner = Vec3::new(-15.0, 15.0, -24.0);
            let single = <f32 as Arithmetic>::distances(points, corner, &plane);
            let fast = Reordered::distances(points, corner, &plane).map(Reordered::store);
            [single, fast]
        };
        let slope = Vec3::new(0.0, 0.447_213_6, 0.894_427_2);
        let mut differ = 0;
        for n in 0..1000 {
            for axis in 0..3 {
                let mut normal = Vec3::ZERO;
                normal[axis] = if n % 2 == 0 { 1.0 } else { -1.0 };
                let [single, fast] = distances(normal, n);
                assert_eq!(single, fast, "{normal:?}");
            }
            let [single, fast] = distances(slope, n);
            differ += usize::from(single != fast);
            assert!((single[0] - fast[0]).abs() < 2e-3, "{single:?} {fast:?}");
        }
        assert!(differ > 100, "{differ}");
    }

    #[test]
    fn precisions_differ_when_an_intermediate_sum_is_rounded() {
        let a = Vec3::new(1.0, 1e8, -1e8);
        let b = Vec3::new(1.0, 1.0, 1.0);
        assert_eq!(<f32 as Arithmetic>::dot(a, b), 0.0);
        assert_eq!(<f64 as Arithmetic>::dot(a, b), 1.0);
    }
}

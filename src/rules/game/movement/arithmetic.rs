//! Arithmetic of game code: bytecode, or natively compiled.
//!
//! Bytecode computes in single precision alone, in the order of the source. Native code computes an
//! expression in double precision if it has a decimal constant without suffix, and rounds its result once.
//! Debian builds its modules with `-ffast-math`: sums and products are reordered, quotients by a constant
//! become products, and sines are single precision. After a usercmd, origins differ by a thousandth of a
//! unit. A landing that one side sees a sub-step earlier makes that two units, which clients report as a
//! misprediction. A client predicts with the arithmetic of its own module.
//!
//! Source: the C language; the bytecode of the games' data; the order of operations in the machine code of
//! Debian's native modules, and usercmds that ioquake3's server ran with them.

use crate::model::{
    Vec3,
    trig::{Axes, DegreeFactor},
};

/// Arithmetic of the game code that clients predict with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Bytecode, in the data of the games: single precision.
    #[default]
    Bytecode,
    /// Natively compiled modules, as in Debian's packages.
    Native,
}

impl Arithmetic {
    /// Returns a time in seconds.
    #[must_use]
    pub fn seconds(self, ms: i32) -> f32 {
        match self {
            Self::Bytecode => ms as f32 * 0.001,
            Self::Native => (f64::from(ms) * 0.001) as f32,
        }
    }

    /// Returns the axes of view angles (pitch, yaw, roll in degrees).
    #[must_use]
    pub fn axes(self, angles: Vec3) -> Axes {
        match self {
            Self::Bytecode => Axes::of_angles(angles, DegreeFactor::Single),
            Self::Native => Axes::of_angles_in_single(angles),
        }
    }

    /// Returns the sum of a vector's squares, for its normalization.
    pub(super) fn squares(self, v: Vec3) -> f32 {
        match self {
            Self::Bytecode => v.dot(v),
            Self::Native => v[0] * v[0] + v[2] * v[2] + v[1] * v[1],
        }
    }

    /// Returns a normalized vector as the processor leaves it. Native modules set the mode that flushes
    /// subnormal results to zero.
    pub(super) fn flushed(self, Vec3(parts): Vec3) -> Vec3 {
        match self {
            Self::Bytecode => Vec3(parts),
            Self::Native => Vec3(parts.map(|part| if part.is_subnormal() { 0.0 } else { part })),
        }
    }

    /// Returns the speed that a velocity lacks along a direction.
    pub(super) fn missing_speed(self, wish_speed: f32, velocity: Vec3, direction: Vec3) -> f32 {
        match self {
            Self::Bytecode => wish_speed - velocity.dot(direction),
            Self::Native => {
                let flat = velocity[1] * direction[1] + velocity[0] * direction[0];
                wish_speed - velocity[2] * direction[2] - flat
            }
        }
    }

    /// Returns the velocity along the crease of two planes, at the end of the sub-step.
    pub(super) fn along_crease(self, crease: Vec3, end: Vec3) -> Vec3 {
        match self {
            Self::Bytecode => crease * crease.dot(end),
            Self::Native => crease * (crease[0] * end[0] + crease[2] * end[2] + crease[1] * end[1]),
        }
    }

    /// Returns the time that is left behind a collision at a fraction of it.
    pub(super) fn time_left(self, seconds: f32, fraction: f32) -> f32 {
        match self {
            Self::Bytecode => seconds - seconds * fraction,
            Self::Native => (1.0 - fraction) * seconds,
        }
    }

    /// Returns the wish velocity of flight and swimming, for the moves forward, right and up.
    pub(super) fn flight_wish(self, axes: &Axes, moves: [f32; 3], scale: f32) -> Vec3 {
        let [forward, right, up] = moves;
        match self {
            Self::Bytecode => {
                let mut wish = axes.forward * scale * forward + axes.right * scale * right;
                wish[2] += scale * up;
                wish
            }
            Self::Native => {
                let mut wish = axes.forward * forward + axes.right * right;
                wish[2] += up;
                wish * scale
            }
        }
    }

    /// Returns the speed per unit of a usercmd's moves: `speed · largest / (127 · total)`.
    pub(super) fn move_scale(self, speed: i32, largest: i32, total: f32) -> f32 {
        let product = speed as f32 * largest as f32;
        match self {
            Self::Bytecode => product / (127.0 * total),
            Self::Native => (f64::from(product) * (1.0 / 127.0) / f64::from(total)) as f32,
        }
    }

    /// Returns the speed that friction takes in a sub-step: `control · friction · seconds`.
    pub(super) fn friction_drop(self, control: f32, friction: f32, seconds: f32) -> f32 {
        match self {
            Self::Bytecode => control * friction * seconds,
            Self::Native => control * (friction * seconds),
        }
    }

    /// Returns the time of contact: the earlier root of `half·t² + speed·t + c` for its discriminant.
    pub(super) fn contact_time(self, speed: f32, half: f32, discriminant: f32) -> f32 {
        match self {
            Self::Bytecode => (-speed - discriminant.sqrt()) / (2.0 * half),
            Self::Native => {
                let root = f64::from(discriminant).sqrt();
                ((f64::from(-speed) - root) / f64::from(2.0 * half)) as f32
            }
        }
    }

    /// Returns a ten-thousandth of a squared speed.
    pub(super) fn landing_force(self, squared: f32) -> f32 {
        match self {
            Self::Bytecode => squared * 0.0001,
            Self::Native => (f64::from(squared) * 0.0001) as f32,
        }
    }

    /// Returns an interval divided by a factor, truncated.
    pub(super) fn shortened(self, interval_ms: i32, factor: f64) -> i32 {
        match self {
            Self::Bytecode => (interval_ms as f32 / factor as f32) as i32,
            Self::Native => (f64::from(interval_ms) * (1.0 / factor)) as i32,
        }
    }

    /// Whether two planes of a slide count as one, by the product of their normals.
    pub(super) fn is_same_plane(self, product: f32) -> bool {
        match self {
            Self::Bytecode => product > 0.99,
            Self::Native => f64::from(product) > 0.99,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_lengths_differ_for_half_of_all_ms() {
        // Counted over all lengths of a sub-step.
        let differ =
            |ms: &i32| Arithmetic::Bytecode.seconds(*ms) != Arithmetic::Native.seconds(*ms);
        assert_eq!((1..=200).filter(differ).count(), 102);
        assert!([8, 16].iter().all(|ms| !differ(ms)) && [10, 11, 20].iter().all(differ));
    }

    #[test]
    fn weapon_intervals_differ_by_one_ms_at_most() {
        for interval_ms in 0..4000 {
            for factor in [1.3, 1.5] {
                let [bytecode, native] = [Arithmetic::Bytecode, Arithmetic::Native]
                    .map(|arithmetic| arithmetic.shortened(interval_ms, factor));
                assert!((bytecode - native).abs() <= 1, "{interval_ms} / {factor}");
            }
        }
    }
}

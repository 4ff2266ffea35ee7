//! Arithmetic of game code: bytecode, or natively compiled.
//!
//! Bytecode computes in single precision alone. Native code computes an expression in double precision if
//! it has a decimal constant without suffix, and rounds its result once. After a usercmd, origins differ by
//! a thousandth of a unit. A landing that one side sees a sub-step earlier makes that two units, which
//! clients report as a misprediction. A client predicts with the arithmetic of its own module.
//!
//! Source: the C language; the bytecode of the games' data; Debian's native modules, measured over
//! usercmds that ioquake3's server ran with them.

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
            Self::Native => Axes::of_angles(angles, DegreeFactor::Double),
        }
    }

    /// Returns the speed per unit of a usercmd's moves: `speed · largest / (127 · total)`.
    pub(super) fn move_scale(self, speed: i32, largest: i32, total: f32) -> f32 {
        let product = speed as f32 * largest as f32;
        match self {
            Self::Bytecode => product / (127.0 * total),
            Self::Native => (f64::from(product) / (127.0 * f64::from(total))) as f32,
        }
    }

    /// Returns the speed that friction takes in a sub-step: `control · friction · seconds`.
    pub(super) fn friction_drop(self, control: f32, friction: f32, seconds: f32) -> f32 {
        match self {
            Self::Bytecode => control * friction * seconds,
            // The packages' compiler orders the factors so.
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
            Self::Native => (f64::from(interval_ms) / factor) as i32,
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

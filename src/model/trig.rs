//! Sines, cosines and arc tangents as the engines give them to game code: widened to double precision,
//! computed, rounded to single.
//!
//! Computed by the same instructions on every machine, so that two builds of this program agree on
//! every bit; the platform's own mathematics library would not promise that. Square roots need no such
//! care: IEEE defines them to the last bit. Source: the engines' services to game code.

use super::Vec3;

/// A degree in radians, π/180 rounded once: the factor of the rules.
const DEGREE: f32 = 0.017_453_292;

/// Three directions at right angles to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// Where the view points.
    pub forward: Vec3,
    /// Its right-hand side.
    pub right: Vec3,
    /// Its upper side.
    pub up: Vec3,
}

impl Axes {
    /// The axes of Euler angles (pitch, yaw, roll in degrees), with the rules' arithmetic.
    #[must_use]
    pub fn of_angles(angles: Vec3) -> Self {
        Self::of_radians(angles.0.map(|degrees| degrees * DEGREE))
    }

    /// The axes of Euler angles, with the engines' own arithmetic: they turn models by these. Differs
    /// from [`of_angles`](Self::of_angles) in how degrees become radians.
    #[must_use]
    pub fn of_model(angles: Vec3) -> Self {
        const DEGREE: f64 = std::f64::consts::PI * 2.0 / 360.0;
        Self::of_radians(angles.0.map(|degrees| (f64::from(degrees) * DEGREE) as f32))
    }

    fn of_radians(angles: [f32; 3]) -> Self {
        let [(sp, cp), (sy, cy), (sr, cr)] = angles.map(sine_cosine);
        Self {
            forward: Vec3::new(cp * cy, cp * sy, -sp),
            right: Vec3::new(-sr * sp * cy + -cr * -sy, -sr * sp * sy + -cr * cy, -sr * cp),
            up: Vec3::new(cr * sp * cy + -sr * -sy, cr * sp * sy + -sr * cy, cr * cp),
        }
    }
}

/// Sine and cosine of an angle in radians.
#[must_use]
pub fn sine_cosine(radians: f32) -> (f32, f32) {
    let (sine, cosine) = libm::sincos(f64::from(radians));
    (sine as f32, cosine as f32)
}

/// The angle, in radians, of the point `(x, y)`.
#[must_use]
pub fn arc_tangent(y: f32, x: f32) -> f32 {
    libm::atan2(f64::from(y), f64::from(x)) as f32
}

//! Sine, cosine and arc tangent as in the engine: double precision, rounded to single.
//!
//! Computed by the same instructions on every machine, so that all builds agree in every bit; the
//! platform's math library does not guarantee that. Square roots are exact by IEEE. Source: the
//! engine's services to game code.

use super::Vec3;

/// One degree in radians, π/180 rounded once.
const DEGREE: f32 = 0.017_453_292;
/// One degree in radians in double precision.
const DEGREE_DOUBLE: f64 = std::f64::consts::PI * 2.0 / 360.0;

/// Precision of the factor from degrees to radians.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DegreeFactor {
    /// Single precision, as in bytecode.
    Single,
    /// Double precision, as in the engine and in native game code. The product is rounded.
    Double,
}

/// Three perpendicular directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// View direction.
    pub forward: Vec3,
    /// Right side of the view.
    pub right: Vec3,
    /// Upper side of the view.
    pub up: Vec3,
}

impl Axes {
    /// Returns the axes of Euler angles (pitch, yaw, roll in degrees).
    #[must_use]
    pub fn of_angles(angles: Vec3, factor: DegreeFactor) -> Self {
        Self::of_radians(angles.0.map(|degrees| match factor {
            DegreeFactor::Single => degrees * DEGREE,
            DegreeFactor::Double => (f64::from(degrees) * DEGREE_DOUBLE) as f32,
        }))
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

/// Returns sine and cosine of an angle in radians.
#[must_use]
pub fn sine_cosine(radians: f32) -> (f32, f32) {
    let (sine, cosine) = libm::sincos(f64::from(radians));
    (sine as f32, cosine as f32)
}

/// Returns the angle of the point `(x, y)`, in radians.
#[must_use]
pub fn arc_tangent(y: f32, x: f32) -> f32 {
    libm::atan2(f64::from(y), f64::from(x)) as f32
}

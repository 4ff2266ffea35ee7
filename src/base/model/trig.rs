//! Sine, cosine and arc tangent as in the engine: double precision, rounded to single.
//!
//! Computed by the same instructions on every machine, so that all builds agree in every bit; the
//! platform's math library does not guarantee that. Square roots are exact by IEEE. Source: the
//! engine's services to game code; for native game code the single-precision functions of the GNU C
//! library since 2.28, whose polynomials are those of Arm's optimized routines (MIT licence).

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

    /// Returns the axes of Euler angles as native game code computes them: sines in single precision.
    #[must_use]
    pub fn of_angles_in_single(angles: Vec3) -> Self {
        Self::of_sines(
            angles.0.map(|degrees| single_sine_cosine((f64::from(degrees) * DEGREE_DOUBLE) as f32)),
        )
    }

    fn of_radians(angles: [f32; 3]) -> Self {
        Self::of_sines(angles.map(sine_cosine))
    }

    /// Returns the axes of the sines and cosines of pitch, yaw and roll.
    fn of_sines([(sp, cp), (sy, cy), (sr, cr)]: [(f32, f32); 3]) -> Self {
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
    // Most often the roll, which is 0.
    if radians.abs() < TINY {
        return (radians, 1.0);
    }
    let (sine, cosine) = libm::sincos(f64::from(radians));
    (sine as f32, cosine as f32)
}

/// Angle in radians below which the sine in single precision is the angle and the cosine is 1.
const TINY: f32 = 1.0 / 4096.0;

/// Largest angle of [`single_sine_cosine`] that is reduced quickly, in radians. View angles are smaller.
const QUICK_RADIANS: f32 = 120.0;

/// Returns sine and cosine of an angle in radians, as the single-precision functions of the C library.
/// They are off by up to 0.56 units in the last place. Beyond 120 radians the results are rounded
/// exactly.
#[must_use]
pub fn single_sine_cosine(radians: f32) -> (f32, f32) {
    const QUARTER: f64 = std::f64::consts::FRAC_PI_2;
    // Quarter turns per radian, scaled by 2²⁴.
    const QUARTERS: f64 = std::f64::consts::FRAC_2_PI * 16_777_216.0;
    let x = f64::from(radians);
    if radians.abs() < TINY {
        return (radians, 1.0);
    }
    if radians.abs() < std::f32::consts::FRAC_PI_4 {
        return polynomials(x, x * x, 1.0);
    }
    if radians.abs() >= QUICK_RADIANS || radians.is_nan() {
        return sine_cosine(radians);
    }
    let quarter = (((x * QUARTERS) as i32) + 0x0080_0000) >> 24;
    let rest = x - f64::from(quarter) * QUARTER;
    // Signs of the polynomials by quarter turn.
    let odd = if matches!(quarter & 3, 1 | 2) { -1.0 } else { 1.0 };
    let even = if quarter & 2 != 0 { -1.0 } else { 1.0 };
    let (sine, cosine) = polynomials(rest * odd, rest * rest, even);
    if quarter & 1 != 0 { (cosine, sine) } else { (sine, cosine) }
}

/// Returns sine and cosine of an angle of at most an eighth of a turn, by polynomials. `square` is that
/// of the angle, `sign` that of the cosine.
fn polynomials(x: f64, square: f64, sign: f64) -> (f32, f32) {
    const COSINE: [f64; 4] = [
        -0.499_999_997_251_082_24,
        0.041_666_623_324_344_516,
        -0.001_388_676_379_437_604,
        2.439_045_070_356_454_2e-5,
    ];
    const SINE: [f64; 3] =
        [-0.166_666_549_437_010_84, 0.008_332_178_146_138_854, -0.000_195_172_989_813_857_25];
    let [c1, c2, c3, c4] = COSINE.map(|factor| factor * sign);
    let [s1, s2, s3] = SINE;
    let cube = square * x;
    let fourth = square * square;
    let sine = x + cube * s1 + cube * square * (s2 + square * s3);
    let cosine = sign + square * c1 + fourth * c2 + fourth * square * (c3 + square * c4);
    (sine as f32, cosine as f32)
}

/// Returns the angle of the point `(x, y)`, in radians.
#[must_use]
pub fn arc_tangent(y: f32, x: f32) -> f32 {
    libm::atan2(f64::from(y), f64::from(x)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_angles_equal_exact_results() {
        let all =
            (0..=TINY.to_bits()).step_by(997).chain(TINY.to_bits() - 1000..TINY.to_bits() + 8);
        for angle in all.map(f32::from_bits).flat_map(|angle| [angle, -angle]) {
            let (sine, cosine) = libm::sincos(f64::from(angle));
            let exact = [sine as f32, cosine as f32].map(f32::to_bits);
            let (sine, cosine) = sine_cosine(angle);
            assert_eq!([sine, cosine].map(f32::to_bits), exact, "{angle}");
        }
    }

    /// Distance of a value from the exact one, in units of its last place.
    fn ulps(value: f32, exact: f64) -> f64 {
        let place = f64::from(f32::from_bits(value.to_bits() & 0x7f80_0000)) / 8_388_608.0;
        (f64::from(value) - exact).abs() / place
    }

    #[test]
    fn single_precision_is_off_by_0_56_places() {
        let mut most: f64 = 0.0;
        for bits in (0..QUICK_RADIANS.to_bits()).step_by(20_011) {
            let radians = f32::from_bits(bits);
            let (sine, cosine) = single_sine_cosine(radians);
            let exact = libm::sincos(f64::from(radians));
            assert_eq!(single_sine_cosine(-radians), (-sine, cosine));
            most = most.max(ulps(sine, exact.0)).max(ulps(cosine, exact.1));
        }
        assert!((0.52..0.561).contains(&most), "{most}");
    }

    #[test]
    fn single_precision_of_all_yaws_equals_c_library() {
        // FNV-1a of the results' bits, computed with the GNU C library 2.36.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for yaw in 0..65_536_u32 {
            let degrees = yaw as f32 * (360.0 / 65_536.0);
            let (sine, cosine) = single_sine_cosine((f64::from(degrees) * DEGREE_DOUBLE) as f32);
            for value in [sine, cosine] {
                hash = (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01b3);
            }
        }
        assert_eq!(hash, 0x52af_314e_6794_b834);
    }

    #[test]
    fn single_precision_has_answers_for_all_angles() {
        for radians in [0.0, 1e-30, 119.9, 120.1, 1e30, f32::INFINITY, f32::NAN] {
            let (sine, cosine) = single_sine_cosine(radians);
            let finite = radians.is_finite();
            assert!((sine.abs() <= 1.0 && cosine.abs() <= 1.0) == finite, "{radians}");
        }
    }
}

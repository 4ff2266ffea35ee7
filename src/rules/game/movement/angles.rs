//! Angles: degrees, 16-bit network angles, direction axes and perpendicular vectors.
//!
//! Source: the base game's movement; checked against the values its bytecode computes.
//! Engine names: `PerpendicularVector`.

use super::{Arithmetic, HEALTH, velocity::direction};
use crate::bg::PmType;
use crate::model::{
    PlayerState, UserCmd, Vec3,
    trig::{Axes, arc_tangent},
};

/// 16-bit angle units in one turn.
const TURN: f32 = 65_536.0;
/// Pitch limit of a player, in 16-bit angle units.
const PITCH_LIMIT: i32 = 16_000;
/// Half a turn in radians, rounded once.
const HALF_TURN: f32 = std::f32::consts::PI;

/// Returns the axes of view angles (pitch, yaw, roll in degrees), as bytecode computes them.
#[must_use]
pub fn axes(angles: Vec3) -> Axes {
    Arithmetic::Bytecode.axes(angles)
}

/// Returns a perpendicular vector, computed as clients do: the smallest axis, projected onto the plane and
/// normalized.
#[must_use]
pub fn perpendicular(v: Vec3) -> Vec3 {
    let mut least = 0;
    for axis in 1..3 {
        if v[axis].abs() < v[least].abs() {
            least = axis;
        }
    }
    let mut axis = Vec3::ZERO;
    axis[least] = 1.0;
    let scale = 1.0 / v.dot(v);
    let along = axis.dot(v) * scale;
    direction(axis - v * scale * along)
}

/// Converts degrees to a 16-bit angle, truncated toward zero before wrapping.
#[must_use]
pub fn to_short(degrees: f32) -> i32 {
    whole(degrees * TURN / 360.0) & 0xffff
}

/// Converts a 16-bit angle to degrees, −180 to 180. Exact.
#[must_use]
pub fn from_short(short: i16) -> f32 {
    f32::from(short) * (360.0 / TURN)
}

/// Normalizes an angle to `0..360` degrees, truncated to 16-bit precision.
#[must_use]
pub fn normalized_360(degrees: f32) -> f32 {
    (360.0 / TURN) * (whole(degrees * (TURN / 360.0)) & 0xffff) as f32
}

/// Normalizes an angle to −180 to 180 degrees, truncated to 16-bit precision.
#[must_use]
pub fn normalized_180(degrees: f32) -> f32 {
    let degrees = normalized_360(degrees);
    if degrees > 180.0 { degrees - 360.0 } else { degrees }
}

/// Returns the angles of a direction: pitch from −360 to 0, yaw from 0 to 360, roll 0.
#[must_use]
pub fn of_direction(direction: Vec3) -> Vec3 {
    let Vec3([x, y, z]) = direction;
    let upright = |degrees: f32| if degrees < 0.0 { degrees + 360.0 } else { degrees };
    if x == 0.0 && y == 0.0 {
        return Vec3::new(if z > 0.0 { -90.0 } else { -270.0 }, 0.0, 0.0);
    }
    let yaw = if x != 0.0 {
        arc_tangent(y, x) * 180.0 / HALF_TURN
    } else if y > 0.0 {
        90.0
    } else {
        270.0
    };
    let level = (x * x + y * y).sqrt();
    let pitch = arc_tangent(z, level) * 180.0 / HALF_TURN;
    Vec3::new(-upright(pitch), upright(yaw), 0.0)
}

/// Truncates toward zero. A value out of range becomes the lowest integer, as on x86.
fn whole(value: f32) -> i32 {
    if value.abs() < 2_147_483_648.0 { value as i32 } else { i32::MIN }
}

/// Updates the view angles: the usercmd's angles plus the state's delta angles. The pitch limit
/// adjusts the delta.
pub fn turn(state: &mut PlayerState, command: &UserCmd) {
    if state.pm_type >= PmType::Intermission as i32
        || (state.stats[HEALTH] <= 0 && state.pm_type != PmType::Spectator)
    {
        return;
    }
    for axis in 0..3 {
        let mut short = command.angles[axis].wrapping_add(state.delta_angles[axis]) as i16;
        if axis == 0 && i32::from(short).abs() > PITCH_LIMIT {
            let limit = PITCH_LIMIT * i32::from(short.signum());
            state.delta_angles[0] = limit.wrapping_sub(command.angles[0]);
            short = limit as i16;
        }
        state.viewangles[axis] = from_short(short);
    }
}

/// Sets the view angles, and the delta angles that the last usercmd needs to produce them.
pub fn look(state: &mut PlayerState, angles: Vec3, last: &UserCmd) {
    for axis in 0..3 {
        state.delta_angles[axis] = to_short(angles[axis]).wrapping_sub(last.angles[axis]);
    }
    state.viewangles = angles;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(text: &str) -> f32 {
        f32::from_bits(u32::from_str_radix(text, 16).expect("a hexadecimal word"))
    }

    #[test]
    fn axes_vector() {
        for line in
            include_str!("../../../../tests/vectors/flight/anglevectors.csv").lines().skip(1)
        {
            let v: Vec<f32> = line.split(',').map(bits).collect();
            let axes = axes(Vec3::new(v[0], v[1], v[2]));
            for (ours, theirs) in
                [(axes.forward, &v[3..6]), (axes.right, &v[6..9]), (axes.up, &v[9..12])]
            {
                let ours = ours.0.map(f32::to_bits);
                let theirs: Vec<_> = theirs.iter().map(|f| f.to_bits()).collect();
                assert_eq!(ours[..], theirs[..], "{line}");
            }
        }
    }

    #[test]
    fn angle_to_short_vector() {
        for line in
            include_str!("../../../../tests/vectors/flight/angle_shorts.csv").lines().skip(1)
        {
            let (angle, short) = line.split_once(',').expect("two columns");
            assert_eq!(to_short(bits(angle)).to_string(), short, "{line}");
        }
    }

    #[test]
    fn pitch_limit_adjusts_delta_angles() {
        let mut state = PlayerState::default();
        state.stats[HEALTH] = 1;
        let command = UserCmd { angles: [0x6000, 0x4000, 0], ..UserCmd::default() };
        turn(&mut state, &command);
        assert_eq!(state.delta_angles[0], 16_000 - 0x6000);
        assert_eq!(state.viewangles, Vec3::new(16_000.0 * 360.0 / 65_536.0, 90.0, 0.0));
        let command = UserCmd { angles: [0xa000, 0, 0], ..UserCmd::default() };
        state.delta_angles = [0; 3];
        turn(&mut state, &command);
        assert_eq!(state.delta_angles[0], -16_000 - 0xa000);
    }

    #[test]
    fn spectators_turn_and_dead_players_do_not() {
        let command = UserCmd { angles: [0, 0x4000, 0], ..UserCmd::default() };
        let mut state = PlayerState::default();
        turn(&mut state, &command);
        assert_eq!(state.viewangles, Vec3::ZERO);
        state.pm_type = PmType::Spectator as i32;
        turn(&mut state, &command);
        assert_eq!(state.viewangles[1], 90.0);
    }

    #[test]
    fn set_view_angles_cancel_usercmd_angles() {
        let mut state = PlayerState::default();
        state.stats[HEALTH] = 1;
        let command = UserCmd { angles: [100, 40_000, 0], ..UserCmd::default() };
        look(&mut state, Vec3::new(0.0, 90.0, 0.0), &command);
        turn(&mut state, &command);
        assert_eq!(state.viewangles, Vec3::new(0.0, 90.0, 0.0));
    }

    #[test]
    fn perpendicular_matches_client() {
        for line in include_str!("../../../../tests/vectors/game/directions.csv").lines().skip(1) {
            let row: Vec<f32> = line.split(',').map(|word| word.parse().unwrap()).collect();
            let forward = Vec3::new(row[0], row[1], row[2]);
            let right = perpendicular(forward);
            let up = forward.cross(right);
            for axis in 0..3 {
                assert!((right[axis] - row[4 + axis]).abs() < 1e-6, "{line}: {right:?}");
                assert!((up[axis] - row[7 + axis]).abs() < 1e-6, "{line}: {up:?}");
            }
            assert_eq!(crate::game::direction_bytes::dir_to_byte(forward), row[3] as i32, "{line}");
        }
    }
}

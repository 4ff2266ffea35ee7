//! Angles: degrees, the 16-bit fractions of a turn that travel, and the axes they point along.
//!
//! Source: the base game's movement; checked against the values its bytecode computes.

use super::{HEALTH, is_spectator};
use crate::game::numbers::PmType;
use crate::model::{PlayerState, UserCmd, Vec3};

/// Fractions of a turn in one turn.
const TURN: f32 = 65_536.0;
/// How far a player can look up or down, in fractions of a turn.
const PITCH_LIMIT: i32 = 16_000;
/// A degree in radians: π/180, rounded once.
const RADIAN: f32 = 0.017_453_292;

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

/// The axes of view angles (pitch, yaw, roll in degrees).
#[must_use]
pub fn axes(angles: Vec3) -> Axes {
    let [(sp, cp), (sy, cy), (sr, cr)] = angles.0.map(sine_and_cosine);
    Axes {
        forward: Vec3::new(cp * cy, cp * sy, -sp),
        right: Vec3::new(-sr * sp * cy + -cr * -sy, -sr * sp * sy + -cr * cy, -sr * cp),
        up: Vec3::new(cr * sp * cy + -sr * -sy, cr * sp * sy + -sr * cy, cr * cp),
    }
}

/// Both are services of the engine: computed in double precision, then rounded.
fn sine_and_cosine(degrees: f32) -> (f32, f32) {
    let (sine, cosine) = f64::from(degrees * RADIAN).sin_cos();
    (sine as f32, cosine as f32)
}

/// Degrees as a 16-bit fraction of a turn, cut toward zero before wrapping.
#[must_use]
pub fn to_short(degrees: f32) -> i32 {
    (degrees * TURN / 360.0) as i32 & 0xffff
}

/// Follows the command's angles: view angles are the command's plus the state's delta, and pitch stops
/// short of straight up and down by moving the delta.
pub fn turn(state: &mut PlayerState, command: &UserCmd) {
    if state.pm_type >= PmType::Intermission as i32
        || (state.stats[HEALTH] <= 0 && !is_spectator(state))
    {
        return;
    }
    for axis in 0..3 {
        let sum = command.angles[axis].wrapping_add(state.delta_angles[axis]);
        let mut short = i32::from(sum as i16);
        if axis == 0 && short.abs() > PITCH_LIMIT {
            short = PITCH_LIMIT * short.signum();
            state.delta_angles[0] = short.wrapping_sub(command.angles[0]);
        }
        state.viewangles[axis] = short as f32 * (360.0 / TURN);
    }
}

/// Makes the player look along `angles` whatever the client's own angles are: the delta to the last
/// command's takes up the difference.
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
        for line in include_str!("../../../tests/vectors/flight/anglevectors.csv").lines().skip(1) {
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
        for line in include_str!("../../../tests/vectors/flight/angle_shorts.csv").lines().skip(1) {
            let (angle, short) = line.split_once(',').expect("two columns");
            assert_eq!(to_short(bits(angle)).to_string(), short, "{line}");
        }
    }

    #[test]
    fn pitch_stops_at_the_limit_and_the_delta_gives_way() {
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
    fn the_dead_do_not_turn_and_spectators_do() {
        let command = UserCmd { angles: [0, 0x4000, 0], ..UserCmd::default() };
        let mut state = PlayerState::default();
        turn(&mut state, &command);
        assert_eq!(state.viewangles, Vec3::ZERO);
        state.persistant[3] = 3;
        turn(&mut state, &command);
        assert_eq!(state.viewangles[1], 90.0);
    }

    #[test]
    fn looking_somewhere_cancels_the_clients_own_angles() {
        let mut state = PlayerState::default();
        state.stats[HEALTH] = 1;
        let command = UserCmd { angles: [100, 40_000, 0], ..UserCmd::default() };
        look(&mut state, Vec3::new(0.0, 90.0, 0.0), &command);
        turn(&mut state, &command);
        assert_eq!(state.viewangles, Vec3::new(0.0, 90.0, 0.0));
    }
}

//! Directions: angles of map entities, and perpendicular vectors as clients compute them.
//!
//! Engine names: `G_SetMovedir`, `PerpendicularVector`.

use crate::game::movement::{angles, velocity};
use crate::model::Vec3;

/// Returns the movement direction of a map's angles; yaw −1 is up, −2 is down.
pub(super) fn direction_of(given: Vec3) -> Vec3 {
    match given.0 {
        [0.0, -1.0, 0.0] => Vec3::new(0.0, 0.0, 1.0),
        [0.0, -2.0, 0.0] => Vec3::new(0.0, 0.0, -1.0),
        _ => angles::axes(given).forward,
    }
}

/// Returns a perpendicular vector, computed as clients do: the smallest axis, projected onto the plane and
/// normalized.
pub(super) fn perpendicular(v: Vec3) -> Vec3 {
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
    velocity::direction(axis - v * scale * along)
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! Velocity: acceleration, friction and clipping of all moves.
//!
//! Source: the base game's movement; OpenArena's variant of acceleration.

use super::Arithmetic;
use crate::model::{UserCmd, Vec3};

/// Speed below which ground friction stays constant, in units per second.
pub const STOP_SPEED: f32 = 100.0;
/// Ground friction.
pub const GROUND_FRICTION: f32 = 6.0;

/// Factor of the velocity removed along a plane that was hit.
const OVERCLIP: f32 = 1.001;

/// Kind of acceleration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceleration {
    /// Uses the velocity along the wish direction only, so that turning gains speed.
    #[default]
    Plain,
    /// Uses the whole difference to the wish velocity.
    NoBunny,
}

/// Returns the scale from a usercmd's moves to a speed of at most `speed`.
#[must_use]
pub fn command_scale(command: &UserCmd, speed: i32, arithmetic: Arithmetic) -> f32 {
    let moves = [command.forwardmove, command.rightmove, command.upmove].map(i32::from);
    let largest = moves.map(i32::abs).into_iter().max().unwrap_or(0);
    if largest == 0 {
        return 0.0;
    }
    let squares: i32 = moves.iter().map(|along| along * along).sum();
    let total = (squares as f32).sqrt();
    arithmetic.move_scale(speed, largest, total)
}

/// Computation of a vector's length on normalization. The variants can differ in the last bit, which
/// changes the wish speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// Square root of the sum of squares.
    #[default]
    Root,
    /// Sum of squares times the reciprocal of its root.
    Product,
}

/// Normalizes a vector and returns it with its old length; a zero vector stays.
#[must_use]
pub fn normalized(v: Vec3, length: Length, arithmetic: Arithmetic) -> (Vec3, f32) {
    let squares = arithmetic.squares(v);
    let root = squares.sqrt();
    if root == 0.0 {
        return (v, 0.0);
    }
    let reciprocal = 1.0 / root;
    let length = match length {
        Length::Root => root,
        Length::Product => squares * reciprocal,
    };
    (arithmetic.flushed(v * reciprocal), length)
}

/// Returns the normalized vector, or zero, as bytecode computes it.
#[must_use]
pub fn direction(v: Vec3) -> Vec3 {
    normalized(v, Length::Root, Arithmetic::Bytecode).0
}

/// Clips a velocity to a plane. The overclip factor removes slightly more than the part against the
/// normal, so that the result leads off the plane.
#[must_use]
pub fn clipped(velocity: Vec3, normal: Vec3) -> Vec3 {
    let into = velocity.dot(normal);
    let back = if into < 0.0 { into * OVERCLIP } else { into / OVERCLIP };
    velocity - normal * back
}

/// Returns a velocity of length `speed` after a loss of `drop`.
#[must_use]
pub fn slowed(velocity: Vec3, speed: f32, drop: f32) -> Vec3 {
    velocity * ((speed - drop).max(0.0) / speed)
}

/// Returns a velocity after `seconds` of acceleration toward `wish_speed` along `direction`.
#[must_use]
pub fn accelerated(
    velocity: Vec3,
    direction: Vec3,
    wish_speed: f32,
    rate: f32,
    seconds: f32,
    how: Acceleration,
    arithmetic: Arithmetic,
) -> Vec3 {
    match how {
        Acceleration::Plain => {
            let missing = arithmetic.missing_speed(wish_speed, velocity, direction);
            if missing <= 0.0 {
                return velocity;
            }
            let gain = (rate * seconds * wish_speed).min(missing);
            velocity.add_scaled(direction, gain)
        }
        Acceleration::NoBunny => {
            let way = direction * wish_speed - velocity;
            let (push, missing) = normalized(way, Length::Root, arithmetic);
            let gain = (rate * seconds * wish_speed).min(missing);
            velocity.add_scaled(push, gain)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(forwardmove: i8, rightmove: i8, upmove: i8) -> UserCmd {
        UserCmd { forwardmove, rightmove, upmove, ..UserCmd::default() }
    }

    #[test]
    fn diagonal_moves_have_same_speed() {
        assert_eq!(command_scale(&moves(0, 0, 0), 320, Arithmetic::Bytecode), 0.0);
        // 320·127 / (127·127)
        assert_eq!(command_scale(&moves(127, 0, 0), 320, Arithmetic::Bytecode), 320.0 / 127.0);
        // √(2·127²) = 179.60512; 320·127 / (127·179.60512) = 1.7816863
        let diagonal = command_scale(&moves(127, -127, 0), 320, Arithmetic::Bytecode);
        assert!((diagonal - 1.781_686_3).abs() < 1e-6, "{diagonal}");
        // −128 has no positive counterpart in 8 bits.
        assert!(command_scale(&moves(-128, -128, -128), 320, Arithmetic::Bytecode).is_finite());
    }

    #[test]
    fn friction_stops_at_zero_velocity() {
        let velocity = Vec3::new(300.0, 400.0, 0.0);
        // 500 − 50 = 450, nine tenths of each component.
        let slower = slowed(velocity, 500.0, 50.0);
        assert_eq!(slower, Vec3::new(300.0 * 0.9, 400.0 * 0.9, 0.0));
        assert_eq!(slowed(velocity, 500.0, 900.0), Vec3::ZERO);
    }

    #[test]
    fn acceleration_stops_at_wish_speed() {
        let forward = Vec3::new(1.0, 0.0, 0.0);
        let plain = |velocity| {
            let (how, arithmetic) = (Acceleration::Plain, Arithmetic::Bytecode);
            accelerated(velocity, forward, 320.0, 10.0, 0.05, how, arithmetic)
        };
        // 10 · 0.05 · 320 = 160
        assert_eq!(plain(Vec3::ZERO)[0], 160.0);
        // Only 20 are missing.
        let fast = Vec3::new(300.0, 0.0, 0.0);
        assert_eq!(plain(fast)[0], 320.0);
        let faster = Vec3::new(400.0, 0.0, 0.0);
        assert_eq!(plain(faster), faster);
    }

    #[test]
    fn clipped_velocity_leads_off_the_plane() {
        let floor = Vec3::new(0.0, 0.0, 1.0);
        let slid = clipped(Vec3::new(10.0, 0.0, -100.0), floor);
        assert_eq!(slid[0], 10.0);
        assert!((slid[2] - 0.1).abs() < 1e-4, "{slid:?}");
        let kept = clipped(Vec3::new(10.0, 0.0, 100.0), floor);
        assert!((kept[2] - 0.1).abs() < 1e-4, "{kept:?}");
    }

    #[test]
    fn no_bunny_acceleration_reduces_sideways_speed() {
        // Wish (320,0,0) from (320,240,0): the difference is (0,−240,0), the gain at most 160.
        let velocity = Vec3::new(320.0, 240.0, 0.0);
        let forward = Vec3::new(1.0, 0.0, 0.0);
        let (how, arithmetic) = (Acceleration::NoBunny, Arithmetic::Bytecode);
        let v = accelerated(velocity, forward, 320.0, 10.0, 0.05, how, arithmetic);
        assert_eq!(v, Vec3::new(320.0, 80.0, 0.0));
    }
}

//! Trajectory evaluation: position and velocity at a time.
//!
//! Source: the base game's trajectories.

use crate::model::{LevelTime, Trajectory, TrajectoryKind, Vec3, trig::sine_cosine};

/// Gravity of trajectories in units per second squared, independent of `g_gravity`.
const GRAVITY: f32 = 800.0;
const HALF_TURN: f32 = std::f32::consts::PI;

/// Motion of a trajectory.
enum Course {
    Rest,
    Line,
    LineThatStops,
    Swing,
    Fall,
}

/// Returns the motion of a trajectory; unknown kinds are at rest.
const fn course(trajectory: &Trajectory) -> Course {
    const LINEAR: i32 = TrajectoryKind::Linear as i32;
    const LINEAR_STOP: i32 = TrajectoryKind::LinearStop as i32;
    const SINE: i32 = TrajectoryKind::Sine as i32;
    const GRAVITY: i32 = TrajectoryKind::Gravity as i32;
    match trajectory.kind {
        LINEAR => Course::Line,
        LINEAR_STOP => Course::LineThatStops,
        SINE => Course::Swing,
        GRAVITY => Course::Fall,
        _ => Course::Rest,
    }
}

/// Returns the position at a time.
#[must_use]
pub fn position(trajectory: &Trajectory, at: LevelTime) -> Vec3 {
    let Trajectory { base, delta, .. } = *trajectory;
    match course(trajectory) {
        Course::Rest => base,
        Course::Line => base.add_scaled(delta, seconds(trajectory, at.0)),
        Course::LineThatStops => {
            let at = at.0.min(end(trajectory));
            base.add_scaled(delta, seconds(trajectory, at).max(0.0))
        }
        Course::Swing => base.add_scaled(delta, sine_cosine(phase(trajectory, at.0)).0),
        Course::Fall => {
            let time = seconds(trajectory, at.0);
            let mut position = base.add_scaled(delta, time);
            position[2] -= 0.5 * GRAVITY * time * time;
            position
        }
    }
}

/// Returns the velocity at a time, in units per second.
#[must_use]
pub fn velocity(trajectory: &Trajectory, at: LevelTime) -> Vec3 {
    let delta = trajectory.delta;
    match course(trajectory) {
        Course::Rest => Vec3::ZERO,
        Course::Line => delta,
        Course::LineThatStops => {
            if at.0 > end(trajectory) {
                Vec3::ZERO
            } else {
                delta
            }
        }
        Course::Swing => delta * (0.5 * sine_cosine(phase(trajectory, at.0)).1),
        Course::Fall => {
            let mut velocity = delta;
            velocity[2] -= GRAVITY * seconds(trajectory, at.0);
            velocity
        }
    }
}

const fn end(trajectory: &Trajectory) -> i32 {
    trajectory.time.wrapping_add(trajectory.duration)
}

fn seconds(trajectory: &Trajectory, at: i32) -> f32 {
    at.wrapping_sub(trajectory.time) as f32 * 0.001
}

/// Returns the phase of a sine motion, in radians.
fn phase(trajectory: &Trajectory, at: i32) -> f32 {
    let turns = at.wrapping_sub(trajectory.time) as f32 / trajectory.duration as f32;
    turns * HALF_TURN * 2.0
}

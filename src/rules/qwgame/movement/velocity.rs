//! Friction, acceleration and clipping of velocities.
//!
//! Source: QuakeWorld protocol 28. Engine names: `PM_Friction`, `PM_Accelerate`, `PM_AirAccelerate`,
//! `PM_ClipVelocity`.

use super::{PLAYER_MINS, Pmove};
use crate::model::Vec3;

/// Speed below which a clipped component is 0.
const STOP_EPSILON: f64 = 0.1;
/// Speed along the ground's normal below which a player hits the ground.
const INTO_GROUND: f64 = -0.1;
/// Friction of flight.
const FLIGHT_FRICTION: f32 = 4.0;
/// Distance in front of the feet where an edge counts, in units.
const EDGE_DISTANCE: f32 = 16.0;
/// Drop that counts as an edge, in units below the feet.
const EDGE_DROP: f32 = 34.0;
/// Limit of the wish speed that accelerates in the air.
const MAX_AIR_SPEED: f32 = 30.0;

/// Removes the part of a velocity that leads into a plane.
pub(super) fn clipped(velocity: Vec3, normal: Vec3) -> Vec3 {
    let into = velocity.dot(normal);
    Vec3(std::array::from_fn(|i| {
        let rest = velocity[i] - normal[i] * into;
        if f64::from(rest).abs() < STOP_EPSILON { 0.0 } else { rest }
    }))
}

/// Returns a normalized vector and its old length. Zero stays zero.
pub(super) fn normalized(v: Vec3) -> (Vec3, f32) {
    let length = v.length();
    if length == 0.0 { (v, 0.0) } else { (v * (1.0 / length), length) }
}

/// Returns the horizontal part of a vector.
pub(super) const fn flat(Vec3([x, y, _]): Vec3) -> Vec3 {
    Vec3::new(x, y, 0.0)
}

/// Returns the horizontal speed.
fn flat_speed(velocity: Vec3) -> f32 {
    flat(velocity).length()
}

impl Pmove<'_> {
    /// Removes the part of the velocity that leads into the ground, if it does.
    pub(super) fn clip_to_ground(&mut self) {
        if f64::from(self.state.velocity.dot(self.ground_normal)) < INTO_GROUND {
            self.state.velocity = clipped(self.state.velocity, self.ground_normal);
        }
    }

    /// Slows the player in liquids, in flight and on the ground.
    pub(super) fn apply_friction(&mut self) {
        if self.state.water_jump_time != 0.0 {
            return;
        }
        let velocity = self.state.velocity;
        let speed = velocity.length();
        if speed < 1.0 {
            self.state.velocity[0] = 0.0;
            self.state.velocity[1] = 0.0;
            if self.flies() {
                self.state.velocity[2] = 0.0;
            }
            return;
        }
        let (level, seconds) = (self.outcome.water_level, self.seconds);
        let drop = if level >= 2 {
            speed * self.vars.water_friction * f32::from(level) * seconds
        } else if self.flies() {
            speed * FLIGHT_FRICTION * seconds
        } else if self.state.on_ground {
            let factor = if self.is_at_edge(speed) { 2.0 } else { 1.0 };
            let friction = self.vars.friction * factor;
            speed.max(self.vars.stop_speed) * friction * seconds
        } else {
            0.0
        };
        self.slow(speed, drop);
    }

    /// Takes a part off the speed.
    pub(super) fn slow(&mut self, speed: f32, drop: f32) {
        self.state.velocity = self.state.velocity * ((speed - drop).max(0.0) / speed);
    }

    /// Whether the ground ends in front of the player.
    fn is_at_edge(&self, speed: f32) -> bool {
        let (origin, velocity) = (self.state.origin, self.state.velocity);
        let ahead = |axis: usize| origin[axis] + velocity[axis] / speed * EDGE_DISTANCE;
        let start = Vec3::new(ahead(0), ahead(1), origin[2] + PLAYER_MINS[2]);
        let end = Vec3::new(start[0], start[1], start[2] - EDGE_DROP);
        self.scene.trace(start, end).is_clear()
    }

    /// Accelerates on the ground, in liquids and in flight.
    pub(super) fn accelerate(&mut self, direction: Vec3, wish_speed: f32, rate: f32) {
        self.accelerate_by(direction, wish_speed, rate * self.seconds * wish_speed);
    }

    /// Accelerates in the air.
    pub(super) fn accelerate_in_air(&mut self, direction: Vec3, wish_speed: f32, rate: f32) {
        let before = flat_speed(self.state.velocity);
        let product = rate * wish_speed * self.seconds;
        self.accelerate_by(direction, wish_speed.min(MAX_AIR_SPEED), product);
        let cap = self.vars.variants.bunny_speed_cap;
        if cap <= 0.0 {
            return;
        }
        let (after, limit) = (flat_speed(self.state.velocity), self.vars.max_speed * cap);
        if after > before && after > limit {
            let scale = before.max(limit) / after;
            self.state.velocity[0] *= scale;
            self.state.velocity[1] *= scale;
        }
    }

    fn accelerate_by(&mut self, direction: Vec3, limit: f32, product: f32) {
        if self.is_dead() || self.state.water_jump_time != 0.0 {
            return;
        }
        let missing = limit - self.state.velocity.dot(direction);
        if missing <= 0.0 {
            return;
        }
        self.state.velocity += direction * product.min(missing);
    }
}

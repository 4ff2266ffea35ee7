//! Moves of a player by kind: walk, swim, fly, fly through walls.
//!
//! Source: QuakeWorld protocol 28. Engine names: `PM_AirMove`, `PM_WaterMove`, `PM_FlyMove`, `PM_SpectatorMove`.

use super::velocity::{flat, normalized};
use super::{MoveKind, Pmove};
use crate::model::Vec3;

/// Speed at which an idle swimmer sinks, in units per second.
const SINK_SPEED: f32 = 60.0;
/// Part of the wish speed of a swimmer.
const SWIM_SCALE: f64 = 0.7;
/// Factor of friction of a spectator.
const SPECTATOR_FRICTION: f32 = 1.5;

impl Pmove<'_> {
    /// Walks, or falls.
    pub(super) fn walk(&mut self) {
        let (forward, _) = normalized(flat(self.forward));
        let (right, _) = normalized(flat(self.right));
        let [ahead, side, _] = self.command.moves.map(f32::from);
        let (direction, speed) = normalized(flat(forward * ahead + right * side));
        let speed = speed.min(self.vars.max_speed);
        let variants = self.vars.variants;
        let gravity = self.vars.entity_gravity * self.vars.gravity * self.seconds;
        if self.state.on_ground {
            if variants.slide_fix {
                self.state.velocity[2] = self.state.velocity[2].min(0.0);
                self.accelerate(direction, speed, self.vars.accelerate);
                self.state.velocity[2] -= gravity;
            } else {
                self.state.velocity[2] = 0.0;
                self.accelerate(direction, speed, self.vars.accelerate);
            }
            if self.state.velocity[0] == 0.0 && self.state.velocity[1] == 0.0 {
                self.state.velocity[2] = 0.0;
                return;
            }
            self.step_slide(false);
            return;
        }
        self.accelerate_in_air(direction, speed, self.vars.accelerate);
        self.state.velocity[2] -= gravity;
        let blocked = if variants.air_step { self.step_slide(true) } else { self.slide() };
        if variants.predict_ground && blocked.floor {
            self.state.on_ground = true;
        }
    }

    /// Swims.
    pub(super) fn swim(&mut self) {
        let mut wish = self.wish(self.forward, self.right);
        if self.command.moves == [0; 3] && !self.flies() {
            wish[2] -= SINK_SPEED;
        }
        let (direction, speed) = normalized(wish);
        let speed = (f64::from(speed.min(self.vars.max_speed)) * SWIM_SCALE) as f32;
        self.accelerate(direction, speed, self.vars.water_accelerate);
        self.step_slide(false);
    }

    /// Flies around obstacles.
    pub(super) fn fly(&mut self) {
        let (direction, speed) = normalized(self.wish(self.forward, self.right));
        self.accelerate(direction, speed.min(self.vars.max_speed), self.vars.accelerate);
        self.step_slide(false);
    }

    /// Flies through everything.
    pub(super) fn fly_freely(&mut self) {
        let speed = self.state.velocity.length();
        if speed < 1.0 {
            self.state.velocity = Vec3::ZERO;
        } else {
            let friction = self.vars.friction * SPECTATOR_FRICTION;
            self.slow(speed, speed.max(self.vars.stop_speed) * friction * self.seconds);
        }
        let (forward, _) = normalized(self.forward);
        let (right, _) = normalized(self.right);
        let (direction, speed) = normalized(self.wish(forward, right));
        let speed = speed.min(self.vars.spectator_max_speed);
        let missing = speed - self.state.velocity.dot(direction);
        if missing > 0.0 {
            let product = self.vars.accelerate * self.seconds * speed;
            self.state.velocity += direction * product.min(missing);
        } else if self.state.kind == MoveKind::OldSpectator {
            return;
        }
        self.state.origin += self.state.velocity * self.seconds;
    }

    /// Returns the velocity that the command asks for.
    fn wish(&self, forward: Vec3, right: Vec3) -> Vec3 {
        let [ahead, side, up] = self.command.moves.map(f32::from);
        let mut wish = forward * ahead + right * side;
        wish[2] += up;
        wish
    }
}

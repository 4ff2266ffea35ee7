//! Flight with collision: spectators, flight powerup and grapple pull.
//!
//! Source: the base game's movement.

use super::{Pmove, PmoveWorld, slide::Gravity, velocity::command_scale};
use crate::model::{UserCmd, Vec3};

/// Acceleration.
const ACCELERATION: f32 = 8.0;
/// Distance from the grapple point to the hold point, in units.
const HOOK_LENGTH: f32 = 16.0;
/// Speed of the grapple pull, in units per second.
const PULL_SPEED: f32 = 800.0;
/// Distance within which the pull gets slower, in units.
const PULL_NEAR: f32 = 100.0;

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    pub(super) fn fly(&mut self) {
        self.apply_friction();
        let wish = self.fly_wish().unwrap_or(Vec3::ZERO);
        let (wish, wish_speed) = self.normalized(wish);
        self.accelerate(wish, wish_speed, ACCELERATION);
        self.step_slide(Gravity::Off);
    }

    /// Returns the wish velocity in flight: along the view axes and up. `None` without input.
    pub(super) fn fly_wish(&self) -> Option<Vec3> {
        let scale = command_scale(self.command, self.state.speed, self.step.arithmetic);
        if scale == 0.0 {
            return None;
        }
        let UserCmd { forwardmove, rightmove, upmove, .. } = *self.command;
        let moves = [forwardmove, rightmove, upmove].map(f32::from);
        Some(self.step.arithmetic.flight_wish(&self.step.axes, moves, scale))
    }

    /// Sets the velocity of the grapple pull.
    pub(super) fn grapple_move(&mut self) {
        let hold = self.state.grapple_point.add_scaled(self.step.axes.forward, -HOOK_LENGTH);
        let rope = hold - self.state.origin;
        let length = rope.length();
        let speed = if length <= PULL_NEAR { 10.0 * length } else { PULL_SPEED };
        self.state.velocity = self.direction(rope) * speed;
        self.ground.plane = false;
    }
}

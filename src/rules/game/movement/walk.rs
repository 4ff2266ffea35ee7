//! Walk, air and dead movement, and jumps.
//!
//! Source: the base game's movement.

use super::{
    Pmove, PmoveWorld,
    command::JUMP_MOVE,
    events::queue,
    slide::Gravity,
    velocity::{
        GROUND_FRICTION, Length, STOP_SPEED, accelerated, clipped, command_scale, normalized,
        slowed,
    },
};
use crate::bg::{Event, PmType, Powerup, pm_flag};
use crate::model::{Vec3, contents::surface};

/// Acceleration on ground.
const WALK_ACCELERATION: f32 = 10.0;
/// Acceleration in the air and on slick surfaces.
const AIR_ACCELERATION: f32 = 1.0;
/// Friction in water, per water level.
const WATER_FRICTION: f32 = 1.0;
/// Friction with the flight powerup.
const FLIGHT_FRICTION: f32 = 3.0;
/// Friction of spectators.
const SPECTATOR_FRICTION: f32 = 5.0;
/// Speed of a ducked player as a fraction of the running speed.
const CROUCH_SCALE: f32 = 0.25;
/// Upward speed of a jump, in units per second.
const JUMP_SPEED: f32 = 270.0;
/// Speed that a dead player on the ground loses per sub-step, in units per second.
const DEAD_DRAG: f32 = 20.0;

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    pub(super) fn walk(&mut self) {
        if self.outcome.water_level > 2 && self.step.axes.forward.dot(self.ground.normal()) > 0.0 {
            // Looking away from the ground under water starts to swim.
            self.swim();
            return;
        }
        if self.jumps() {
            if self.outcome.water_level > 1 {
                self.swim();
            } else {
                self.air_move();
            }
            return;
        }
        self.apply_friction();
        let scale = command_scale(self.command, self.state.speed, self.step.arithmetic);
        self.set_movement_dir();

        let normal = self.ground.normal();
        let along_ground = |axis: Vec3| self.direction(clipped(flat(axis), normal));
        let forward = along_ground(self.step.axes.forward);
        let right = along_ground(self.step.axes.right);
        let wish = forward * f32::from(self.command.forwardmove)
            + right * f32::from(self.command.rightmove);
        let (wish, length) = self.normalized(wish);
        let mut wish_speed = length * scale;
        let speed = self.state.speed as f32;
        if self.has(pm_flag::DUCKED) {
            wish_speed = at_most(wish_speed, speed * CROUCH_SCALE);
        }
        if self.outcome.water_level > 0 {
            let depth = f32::from(self.outcome.water_level) / 3.0;
            let part = 1.0 - (1.0 - self.rules.swim_scale) * depth;
            wish_speed = at_most(wish_speed, speed * part);
        }
        let slips = self.ground.has(surface::SLICK) || self.has(pm_flag::TIME_KNOCKBACK);
        let rate = if slips { AIR_ACCELERATION } else { WALK_ACCELERATION };
        self.accelerate(wish, wish_speed, rate);
        if slips {
            self.state.velocity[2] -= self.gravity_gain();
        }

        // Keep the speed on slopes.
        let speed = self.state.velocity.length();
        self.state.velocity = self.direction(clipped(self.state.velocity, normal)) * speed;
        if self.state.velocity[0] != 0.0 || self.state.velocity[1] != 0.0 {
            self.step_slide(Gravity::Off);
        }
    }

    pub(super) fn air_move(&mut self) {
        self.apply_friction();
        let scale = command_scale(self.command, self.state.speed, self.step.arithmetic);
        self.set_movement_dir();
        let forward = self.direction(flat(self.step.axes.forward));
        let right = self.direction(flat(self.step.axes.right));
        let wish = forward * f32::from(self.command.forwardmove)
            + right * f32::from(self.command.rightmove);
        let (wish, length) = self.normalized(flat(wish));
        self.accelerate(wish, length * scale, AIR_ACCELERATION);
        if self.ground.plane {
            // A steep slope: slide down along it.
            self.state.velocity = clipped(self.state.velocity, self.ground.normal());
        }
        self.step_slide(Gravity::On);
    }

    /// Slows a dead player on the ground.
    pub(super) fn dead_move(&mut self) {
        if self.ground.walking {
            let speed = self.state.velocity.length() - DEAD_DRAG;
            self.state.velocity =
                if speed <= 0.0 { Vec3::ZERO } else { self.direction(self.state.velocity) * speed };
        }
    }

    /// Starts a jump on a new press. A held jump clears the upward move, which would slow the walk.
    fn jumps(&mut self) -> bool {
        if self.has(pm_flag::RESPAWNED) || self.command.upmove < JUMP_MOVE {
            return false;
        }
        if self.has(pm_flag::JUMP_HELD) {
            self.command.upmove = 0;
            return false;
        }
        self.leave_ground(false);
        self.state.pm_flags |= pm_flag::JUMP_HELD;
        self.state.velocity[2] = JUMP_SPEED;
        queue(self.state, Event::Jump, 0);
        self.start_jump_animation();
        true
    }

    /// Applies friction.
    pub(super) fn apply_friction(&mut self) {
        let velocity = self.state.velocity;
        let speed = if self.ground.walking { flat(velocity) } else { velocity }.length();
        if speed < 1.0 {
            // Keep the vertical velocity, so that sinking continues.
            self.state.velocity[0] = 0.0;
            self.state.velocity[1] = 0.0;
            return;
        }
        let (seconds, arithmetic) = (self.step.seconds, self.step.arithmetic);
        let level = self.outcome.water_level;
        let mut drop = 0.0;
        let holds = !self.ground.has(surface::SLICK) && !self.has(pm_flag::TIME_KNOCKBACK);
        if level <= 1 && self.ground.walking && holds {
            drop += arithmetic.friction_drop(speed.max(STOP_SPEED), GROUND_FRICTION, seconds);
        }
        if level > 0 {
            drop += arithmetic.friction_drop(speed * f32::from(level), WATER_FRICTION, seconds);
        }
        if self.state.powerups[Powerup::Flight] != 0 {
            drop += arithmetic.friction_drop(speed, FLIGHT_FRICTION, seconds);
        }
        if self.state.pm_type == PmType::Spectator {
            drop += arithmetic.friction_drop(speed, SPECTATOR_FRICTION, seconds);
        }
        self.state.velocity = slowed(velocity, speed, drop);
    }

    /// Applies acceleration toward a wish direction.
    pub(super) fn accelerate(&mut self, direction: Vec3, wish_speed: f32, rate: f32) {
        self.state.velocity = accelerated(
            self.state.velocity,
            direction,
            wish_speed,
            rate,
            self.step.seconds,
            self.rules.acceleration,
            self.step.arithmetic,
        );
    }

    /// Normalizes a wish velocity and returns it with its old length.
    pub(super) fn normalized(&self, v: Vec3) -> (Vec3, f32) {
        normalized(v, self.rules.variant.length, self.step.arithmetic)
    }

    /// Returns the normalized vector, or zero.
    pub(super) fn direction(&self, v: Vec3) -> Vec3 {
        normalized(v, Length::Root, self.step.arithmetic).0
    }

    /// Sets the movement direction of the legs, in eighths of a turn to the left.
    fn set_movement_dir(&mut self) {
        let moves = (self.command.forwardmove.signum(), self.command.rightmove.signum());
        self.state.movement_dir = match moves {
            (1, 0) => 0,
            (1, -1) => 1,
            (0, -1) => 2,
            (-1, -1) => 3,
            (-1, 0) => 4,
            (-1, 1) => 5,
            (0, 1) => 6,
            (1, 1) => 7,
            // Without input, strafing directions change to diagonal ones.
            _ => match self.state.movement_dir {
                2 => 1,
                6 => 7,
                other => other,
            },
        };
    }
}

/// Returns the horizontal part of a vector.
pub(super) const fn flat(Vec3([x, y, _]): Vec3) -> Vec3 {
    Vec3::new(x, y, 0.0)
}

/// Limits a speed to `most`.
pub(super) fn at_most(speed: f32, most: f32) -> f32 {
    if speed > most { most } else { speed }
}

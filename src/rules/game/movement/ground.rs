//! Ground trace: standing, leaving the ground and landing (`PM_GroundTrace`).
//!
//! Source: the base game's movement.

use super::{HEALTH, Pmove, PmoveWorld, animation::force_legs, events::queue};
use crate::bg::{Event, animation, pm_flag};
use crate::model::{EntityNum, Trace, Vec3, contents::surface};

/// Distance of the ground trace below the box, in units.
const REACH: f32 = 0.25;
/// Free distance below the box that starts the fall animation, in units.
const FALL_REACH: f32 = 64.0;
/// Minimum z of the normal of walkable ground.
pub(super) const MIN_WALK_NORMAL: f32 = 0.7;
/// Speed along the ground's normal above which the player leaves the ground, in units per second.
const LEAVE_GROUND_SPEED: f32 = 10.0;
/// Vertical speed below which a landing starts the movement timer, in units per second.
const HARD_LANDING: f32 = -200.0;
/// Movement timer after a hard landing, in ms.
const HARD_LANDING_MS: i32 = 250;
/// Leg timer of the landing animation, in ms.
const LANDING_MS: i32 = 130;
/// Ground entity number of a player in the air.
const NO_GROUND: i32 = EntityNum::NONE.index() as i32;

/// Ground under a player in a sub-step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    /// Result of the ground trace.
    pub(super) trace: Trace,
    /// Whether the ground plane clips movement; also true on slopes too steep to walk on.
    pub(super) plane: bool,
    /// Whether the ground is walkable.
    pub(super) walking: bool,
}

impl Ground {
    /// No ground, the value at the start of a sub-step.
    pub(super) const AIR: Self =
        Self { trace: Trace::free(Vec3::ZERO), plane: false, walking: false };

    /// Returns the normal of the ground plane.
    pub(super) const fn normal(&self) -> Vec3 {
        self.trace.plane.normal
    }

    /// Whether the ground has one of these surface flags.
    pub(super) const fn has(&self, flag: i32) -> bool {
        self.trace.surface_flags & flag != 0
    }
}

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    /// Traces the ground and updates the ground state, with landing and jump animations.
    pub(super) fn ground_trace(&mut self) {
        let below = self.below(REACH);
        self.ground.trace = self.trace(self.state.origin, below);
        if self.ground.trace.allsolid && !self.correct_all_solid() {
            self.leave_ground(false);
            return;
        }
        let trace = self.ground.trace;
        let normal = trace.plane.normal;
        if trace.fraction == 1.0 {
            self.fall_off();
        } else if self.state.velocity[2] > 0.0
            && self.state.velocity.dot(normal) > LEAVE_GROUND_SPEED
        {
            self.start_jump_animation();
            self.leave_ground(false);
        } else if normal[2] < MIN_WALK_NORMAL {
            self.leave_ground(true);
        } else {
            self.stand();
        }
    }

    /// Whether a stuck box is free one unit away. Then traces the ground again.
    fn correct_all_solid(&mut self) -> bool {
        const NEAR: [f32; 3] = [-1.0, 0.0, 1.0];
        for x in NEAR {
            for y in NEAR {
                for z in NEAR {
                    let spot = self.state.origin + Vec3::new(x, y, z);
                    if !self.trace(spot, spot).allsolid {
                        let below = self.below(REACH);
                        self.ground.trace = self.trace(self.state.origin, below);
                        return true;
                    }
                }
            }
        }
        false
    }

    fn fall_off(&mut self) {
        if self.state.ground_entity_num != NO_GROUND {
            let below = self.below(FALL_REACH);
            if self.trace(self.state.origin, below).fraction == 1.0 {
                self.start_jump_animation();
            }
        }
        self.leave_ground(false);
    }

    fn stand(&mut self) {
        self.ground.plane = true;
        self.ground.walking = true;
        if self.has(pm_flag::TIME_WATERJUMP) {
            self.state.pm_flags &= !(pm_flag::TIME_WATERJUMP | pm_flag::TIME_LAND);
            self.state.pm_time = 0;
        }
        if self.state.ground_entity_num == NO_GROUND {
            self.land();
            if self.before.velocity[2] < HARD_LANDING {
                self.state.pm_flags |= pm_flag::TIME_LAND;
                self.state.pm_time = HARD_LANDING_MS;
            }
        }
        let entity = self.ground.trace.entity;
        self.state.ground_entity_num = entity.index() as i32;
        self.touch(entity);
    }

    /// Clears the ground. `sliding` keeps the plane of a slope that is too steep.
    pub(super) fn leave_ground(&mut self, sliding: bool) {
        self.state.ground_entity_num = NO_GROUND;
        self.ground.plane = sliding;
        self.ground.walking = false;
    }

    /// Starts the jump animation, forward or backward.
    pub(super) fn start_jump_animation(&mut self) {
        if self.command.forwardmove >= 0 {
            force_legs(self.state, animation::LEGS_JUMP);
            self.state.pm_flags &= !pm_flag::BACKWARDS_JUMP;
        } else {
            force_legs(self.state, animation::LEGS_JUMPB);
            self.state.pm_flags |= pm_flag::BACKWARDS_JUMP;
        }
    }

    fn land(&mut self) {
        let backwards = self.has(pm_flag::BACKWARDS_JUMP);
        let legs = if backwards { animation::LEGS_LANDB } else { animation::LEGS_LAND };
        force_legs(self.state, legs);
        self.state.legs_timer = LANDING_MS;

        let Some(force) = self.landing_force() else { return };
        if !self.ground.has(surface::NODAMAGE) {
            if force > 60.0 {
                queue(self.state, Event::FallFar, 0);
            } else if force > 40.0 {
                // Dead players have no pain event.
                if self.state.stats[HEALTH] > 0 {
                    queue(self.state, Event::FallMedium, 0);
                }
            } else if force > 7.0 {
                queue(self.state, Event::FallShort, 0);
            } else {
                let step = self.footstep();
                queue(self.state, step, 0);
            }
        }
        self.state.bob_cycle = 0;
    }

    /// Returns the squared speed at contact, times 0.0001, or `None` if it is too small for an event. The
    /// contact time within the sub-step is solved from the height difference.
    fn landing_force(&self) -> Option<f32> {
        let distance = self.state.origin[2] - self.before.origin[2];
        let speed = self.before.velocity[2];
        let acceleration = -(self.state.gravity as f32);
        let half = acceleration / 2.0;
        let discriminant = speed * speed - 4.0 * half * -distance;
        if discriminant < 0.0 {
            return None;
        }
        let time = self.step.arithmetic.contact_time(speed, half, discriminant);
        let contact = speed + time * acceleration;
        let mut force = self.step.arithmetic.landing_force(contact * contact);
        if self.has(pm_flag::DUCKED) {
            force *= 2.0;
        }
        match self.outcome.water_level {
            0 => {}
            1 => force *= 0.5,
            2 => force *= 0.25,
            _ => return None,
        }
        (force >= 1.0).then_some(force)
    }

    fn below(&self, distance: f32) -> Vec3 {
        let mut point = self.state.origin;
        point[2] -= distance;
        point
    }
}

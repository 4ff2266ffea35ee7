//! Moves along obstacles and over steps.
//!
//! Source: QuakeWorld protocol 28. Engine names: `PM_SlideMove`, `PM_StepSlideMove`.

use super::velocity::clipped;
use super::{MIN_FLOOR_NORMAL, Pmove};
use crate::model::Vec3;

/// Maximum collisions of a slide move.
const MAX_BUMPS: usize = 4;
/// Maximum planes of a slide move.
const MAX_PLANES: usize = 5;
/// Height of a step, in units.
const STEP_HEIGHT: f32 = 18.0;
/// Part of the horizontal speed that a step in the air costs, by unit.
const AIR_STEP_COST: f64 = 0.01;

/// Obstacles of a slide move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocked {
    /// A plane on which a player stands.
    pub(super) floor: bool,
    /// A vertical plane.
    step: bool,
    /// Another plane.
    other: bool,
}

impl Blocked {
    const ANY: Self = Self { floor: true, step: true, other: true };

    fn is_free(self) -> bool {
        self == Self::default()
    }
}

impl Pmove<'_> {
    /// Moves for the length of the command, along the planes in the way.
    pub(super) fn slide(&mut self) -> Blocked {
        let first = self.state.velocity;
        let mut planes = [Vec3::ZERO; MAX_PLANES];
        let mut count = 0;
        let mut left = self.seconds;
        let mut blocked = Blocked::default();
        for _ in 0..MAX_BUMPS {
            let origin = self.state.origin;
            let trace = self.scene.trace(origin, origin + self.state.velocity * left);
            if trace.hit.start_solid {
                self.state.velocity = Vec3::ZERO;
                return Blocked::ANY;
            }
            if trace.hit.fraction > 0.0 {
                self.state.origin = trace.hit.end;
                count = 0;
            }
            let Some(entity) = trace.entity else { break };
            self.outcome.touched.add(entity);
            let normal = trace.hit.normal;
            if f64::from(normal[2]) >= MIN_FLOOR_NORMAL {
                blocked.floor = true;
            } else if normal[2] == 0.0 {
                blocked.step = true;
            } else {
                blocked.other = true;
            }
            left -= left * trace.hit.fraction;
            if count == MAX_PLANES {
                self.state.velocity = Vec3::ZERO;
                break;
            }
            planes[count] = normal;
            count += 1;
            self.state.velocity = along_planes(first, &planes[..count]);
            if self.state.velocity.dot(first) <= 0.0 {
                self.state.velocity = Vec3::ZERO;
                break;
            }
        }
        if self.state.water_jump_time != 0.0 {
            self.state.velocity = first;
        }
        blocked
    }

    /// Slides, and at an obstacle tries the same one step higher.
    pub(super) fn step_slide(&mut self, in_air: bool) -> Blocked {
        let (origin, velocity) = (self.state.origin, self.state.velocity);
        let blocked = self.slide();
        if blocked.is_free() {
            return blocked;
        }
        let mut height = STEP_HEIGHT;
        if in_air {
            let Some(step) = self.air_step_height(blocked, origin) else { return blocked };
            height = step;
        }
        let (down_origin, down_velocity) = (self.state.origin, self.state.velocity);
        self.state.velocity = velocity;
        self.state.origin = origin;
        let raised = self.scene.trace(origin, lifted(origin, height));
        if !raised.hit.start_solid {
            self.state.origin = raised.hit.end;
        }
        self.slide();
        let landed = self.scene.trace(self.state.origin, lifted(self.state.origin, -height));
        let is_steep = !landed.is_clear() && f64::from(landed.hit.normal[2]) < MIN_FLOOR_NORMAL;
        if !landed.hit.start_solid {
            self.state.origin = landed.hit.end;
        }
        let climbed = self.state.origin[2] - origin[2];
        let distance = |end: Vec3| {
            let (x, y) = (end[0] - origin[0], end[1] - origin[1]);
            x * x + y * y
        };
        let is_nearer = distance(down_origin) >= distance(self.state.origin);
        if is_steep || self.state.origin[2] < origin[2] || is_nearer {
            self.state.origin = down_origin;
            self.state.velocity = down_velocity;
            return blocked;
        }
        self.state.velocity[2] = down_velocity[2];
        // Also for players who fly.
        if blocked.step && !self.state.on_ground && self.outcome.water_level < 2 {
            let scale = (1.0 - AIR_STEP_COST * f64::from(climbed)) as f32;
            self.state.velocity[0] *= scale;
            self.state.velocity[1] *= scale;
        }
        blocked
    }

    /// Returns the height of a step in the air: it counts from ground below.
    fn air_step_height(&self, blocked: Blocked, start: Vec3) -> Option<f32> {
        if !blocked.step {
            return None;
        }
        let from = if self.state.velocity[2] < 0.0 { self.state.origin } else { start };
        let ground = self.scene.trace(from, lifted(from, -STEP_HEIGHT));
        if ground.is_clear() || f64::from(ground.hit.normal[2]) < MIN_FLOOR_NORMAL {
            return None;
        }
        Some(STEP_HEIGHT - (from[2] - ground.hit.end[2]))
    }
}

fn lifted(Vec3([x, y, z]): Vec3, height: f32) -> Vec3 {
    Vec3::new(x, y, z + height)
}

/// Returns a velocity along the planes: along the first that leads into no other, or along the crease of two.
fn along_planes(velocity: Vec3, planes: &[Vec3]) -> Vec3 {
    let mut slid = velocity;
    for (index, &plane) in planes.iter().enumerate() {
        slid = clipped(velocity, plane);
        let mut others = planes.iter().enumerate().filter(|&(other, _)| other != index);
        if others.all(|(_, &other)| slid.dot(other) >= 0.0) {
            return slid;
        }
    }
    match *planes {
        [first, second] => {
            let crease = first.cross(second);
            crease * crease.dot(slid)
        }
        _ => Vec3::ZERO,
    }
}

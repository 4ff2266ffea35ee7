//! Water level, swimming and water jumps.
//!
//! Source: the base game's movement.

use super::{
    Pmove, PmoveWorld,
    events::queue,
    rules::Headroom,
    slide::Gravity,
    velocity::clipped,
    walk::{at_most, flat},
};
use crate::bg::{Event, player_box::MINS, pm_flag};
use crate::model::{
    Vec3,
    contents::{content, mask},
};

/// Acceleration in water.
const ACCELERATION: f32 = 4.0;
/// Sinking speed without input, in units per second.
const SINK_SPEED: f32 = 60.0;
/// Distance ahead of the origin at which an edge is checked, in units.
const EDGE_AHEAD: f32 = 30.0;
/// Height above the origin at which an edge is checked, in units.
const EDGE_UP: f32 = 4.0;
/// Height above the edge that must be free, in units.
const ROOM_UP: f32 = 16.0;
/// Forward speed of a water jump, in units per second.
const JUMP_FORWARD_SPEED: f32 = 200.0;
/// Upward speed of a water jump, in units per second.
const JUMP_UP_SPEED: f32 = 350.0;
/// Maximum duration of a water jump, in ms.
const JUMP_MS: i32 = 2000;

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    /// Sets the water level from the contents at three points between feet and eyes. The view height is
    /// that of the previous sub-step.
    pub(super) fn set_water_level(&mut self) {
        self.outcome.water_level = 0;
        self.outcome.water_type = 0;
        let eyes = self.state.viewheight.wrapping_add(24);
        let feet = self.above_feet(1);
        if !self.world.has_contents(feet, mask::WATER) {
            return;
        }
        self.outcome.water_type = self.world.point_contents(feet);
        self.outcome.water_level = 1;
        for height in [eyes / 2, eyes] {
            let point = self.above_feet(height);
            if !self.world.has_contents(point, mask::WATER) {
                return;
            }
            self.outcome.water_level += 1;
        }
    }

    fn above_feet(&self, height: i32) -> Vec3 {
        let Vec3([x, y, z]) = self.state.origin;
        Vec3::new(x, y, z + MINS[2] + height as f32)
    }

    /// Raises events for feet or head that entered or left water in this sub-step.
    pub(super) fn add_water_events(&mut self) {
        let (before, now) = (self.before.water_level, self.outcome.water_level);
        let crossings = [
            (before == 0 && now != 0, Event::WaterTouch),
            (before != 0 && now == 0, Event::WaterLeave),
            (before != 3 && now == 3, Event::WaterUnder),
            (before == 3 && now != 3, Event::WaterClear),
        ];
        for (crossed, event) in crossings {
            if crossed {
                queue(self.state, event, 0);
            }
        }
    }

    pub(super) fn swim(&mut self) {
        if self.starts_water_jump() {
            self.water_jump_move();
            return;
        }
        self.apply_friction();
        let wish = self.fly_wish().unwrap_or(Vec3::new(0.0, 0.0, -SINK_SPEED));
        let (wish, wish_speed) = self.normalized(wish);
        let most = self.state.speed as f32 * self.rules.swim_scale;
        self.accelerate(wish, at_most(wish_speed, most), ACCELERATION);

        let normal = self.ground.normal();
        if self.ground.plane && self.state.velocity.dot(normal) < 0.0 {
            let speed = self.state.velocity.length();
            self.state.velocity = self.direction(clipped(self.state.velocity, normal)) * speed;
        }
        self.slide(Gravity::Off);
    }

    /// Starts a water jump if there is an edge ahead with free space above it.
    fn starts_water_jump(&mut self) -> bool {
        if self.state.pm_time != 0 || self.outcome.water_level != 2 {
            return false;
        }
        let ahead = self.direction(flat(self.step.axes.forward));
        let mut spot = self.state.origin.add_scaled(ahead, EDGE_AHEAD);
        spot[2] += EDGE_UP;
        if self.world.point_contents(spot) & content::SOLID == 0 {
            return false;
        }
        spot[2] += ROOM_UP;
        let stops = match self.rules.variant.headroom {
            Headroom::Empty => mask::ALL,
            Headroom::Passable => mask::PLAYER_SOLID,
        };
        if self.world.point_contents(spot) & stops != 0 {
            return false;
        }
        self.state.velocity = self.step.axes.forward * JUMP_FORWARD_SPEED;
        self.state.velocity[2] = JUMP_UP_SPEED;
        self.state.pm_flags |= pm_flag::TIME_WATERJUMP;
        self.state.pm_time = JUMP_MS;
        true
    }

    /// Moves a player in a water jump, which ends on the way down.
    pub(super) fn water_jump_move(&mut self) {
        self.step_slide(Gravity::On);
        self.state.velocity[2] -= self.gravity_gain();
        if self.state.velocity[2] < 0.0 {
            self.state.pm_flags &= !pm_flag::ALL_TIMES;
            self.state.pm_time = 0;
        }
    }
}

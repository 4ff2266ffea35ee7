//! Position of a player: ground, liquids, jumps.
//!
//! Source: QuakeWorld protocol 28. Engine names: `PM_CategorizePosition`, `PM_NudgePosition`, `PM_CheckJump`,
//! `CheckWaterJump`.

use super::velocity::{flat, normalized};
use super::{MIN_FLOOR_NORMAL, PLAYER_MAXS, PLAYER_MINS, Pmove};
use crate::bsp29::Contents;
use crate::model::Vec3;

/// Upward speed above which a player leaves the ground.
const MAX_GROUND_SPEED: f32 = 180.0;
/// Height of the eyes above the origin, in units.
const EYE_HEIGHT: f32 = 22.0;
/// Speed of a jump.
const JUMP_SPEED: f32 = 270.0;
/// Steps of a nudge on each axis, in units.
const NUDGES: [f32; 3] = [0.0, -0.125, 0.125];
/// Highest nudge, in units.
const MAX_NUDGE_HEIGHT: u8 = 18;

impl Pmove<'_> {
    /// Moves a player who is in solid to a free position nearby.
    pub(super) fn nudge(&mut self) {
        let base = self.state.origin;
        let near = NUDGES.into_iter().flat_map(|z| {
            NUDGES.into_iter().flat_map(move |y| NUDGES.into_iter().map(move |x| (x, y, z)))
        });
        let higher = (1..=MAX_NUDGE_HEIGHT).map(|z| (0.0, 0.0, f32::from(z)));
        let mut positions = near.chain(higher).map(|(x, y, z)| base + Vec3::new(x, y, z));
        self.state.origin =
            positions.find(|&position| self.scene.has_room(position)).unwrap_or(base);
    }

    /// Finds ground and liquid.
    pub(super) fn categorize(&mut self) {
        let mut floor = None;
        let origin = self.state.origin;
        if self.state.velocity[2] > MAX_GROUND_SPEED {
            self.state.on_ground = false;
        } else if !self.vars.variants.predict_ground || self.state.on_ground {
            let below = Vec3::new(origin[0], origin[1], origin[2] - 1.0);
            let trace = self.scene.trace(origin, below);
            if trace.is_clear() || f64::from(trace.hit.normal[2]) < MIN_FLOOR_NORMAL {
                self.state.on_ground = false;
            } else {
                self.state.on_ground = true;
                self.state.water_jump_time = 0.0;
                self.ground_normal = trace.hit.normal;
            }
            // Also a entity that the player is stuck in.
            if let Some(entity @ 1..) = trace.entity {
                self.outcome.touched.add(entity);
            }
            floor = Some(trace);
        }
        self.outcome.ground = floor.filter(|_| self.state.on_ground).and_then(|trace| trace.entity);
        self.find_liquid();
        let Some(floor) = floor else { return };
        let stands = self.state.on_ground && !self.flies() && self.outcome.water_level < 2;
        if stands && !self.vars.variants.predict_ground && !floor.hit.start_solid {
            self.state.origin = floor.hit.end;
        }
    }

    fn find_liquid(&mut self) {
        let origin = self.state.origin;
        let at = |z: f32| {
            let contents = self.scene.map().contents_at(Vec3::new(origin[0], origin[1], z));
            contents.is_liquid().then_some(contents)
        };
        self.outcome.water_level = 0;
        self.outcome.water_type = Some(Contents::EMPTY);
        let Some(liquid) = at(origin[2] + PLAYER_MINS[2] + 1.0) else { return };
        self.outcome.water_type = Some(liquid);
        self.outcome.water_level = 1;
        if at(origin[2] + (PLAYER_MINS[2] + PLAYER_MAXS[2]) * 0.5).is_none() {
            return;
        }
        self.outcome.water_level = if at(origin[2] + EYE_HEIGHT).is_some() { 3 } else { 2 };
    }

    /// Starts a jump out of the water at a wall that ends above it.
    pub(super) fn test_water_jump(&mut self) {
        let state = &mut *self.state;
        if state.water_jump_time != 0.0 || state.velocity[2] < -180.0 {
            return;
        }
        let (forward, _) = normalized(flat(self.forward));
        let mut spot = state.origin + forward * 24.0;
        spot[2] += 8.0;
        if self.scene.contents_at(spot) != Contents::SOLID {
            return;
        }
        spot[2] += 24.0;
        if self.scene.contents_at(spot) != Contents::EMPTY {
            return;
        }
        state.velocity = forward * 50.0;
        state.velocity[2] = 310.0;
        state.water_jump_time = 2.0;
        state.jump_held = true;
    }

    /// Jumps, or swims upward, while the button is down.
    pub(super) fn jump(&mut self) {
        if self.flies() {
            return;
        }
        if self.is_dead() {
            self.state.jump_held = true;
            return;
        }
        if !self.command.presses_jump() {
            self.state.jump_held = false;
            return;
        }
        if self.state.water_jump_time != 0.0 {
            return;
        }
        if self.outcome.water_level >= 2 {
            self.state.on_ground = false;
            self.state.velocity[2] = match self.outcome.water_type {
                Some(Contents::WATER) => 100.0,
                Some(Contents::SLIME) => 80.0,
                _ => 50.0,
            };
            return;
        }
        if !self.state.on_ground || (self.state.jump_held && self.state.jump_msec == 0) {
            return;
        }
        let variants = self.vars.variants;
        if !variants.predict_ground && self.state.velocity[2] < 0.0 {
            self.clip_to_ground();
        }
        self.state.on_ground = false;
        let mut up = self.state.velocity[2] + JUMP_SPEED;
        let part = variants.kt_jump.min(1.0);
        if part > 0.0 && up < JUMP_SPEED {
            up = up * (1.0 - part) + JUMP_SPEED * part;
        }
        self.state.velocity[2] = up;
        self.state.jump_held = true;
        self.state.jump_msec = i32::from(self.command.msec);
    }
}

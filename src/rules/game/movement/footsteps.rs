//! Footsteps: bob cycle, leg animation and footstep events (`PM_Footsteps`).
//!
//! Source: the base game's movement.

use super::{Pmove, PmoveWorld, animation::continue_legs, events::queue};
use crate::bg::{Event, animation, pm_flag};
use crate::model::{Buttons, EntityNum, contents::surface};

/// Horizontal speed below which a player without input stands, in units per second.
const STANDING: f32 = 5.0;
/// Bit of the bob cycle, counted from [`BOB_START`], whose change is a footstep.
const FOOT_BIT: i32 = 128;
const BOB_START: i32 = 64;

/// Gait: bob per ms, leg animations forward and backward, whether footsteps are audible.
struct Gait {
    rate: f32,
    forwards: i32,
    backwards: i32,
    loud: bool,
}

const CROUCHING: Gait = Gait {
    rate: 0.5,
    forwards: animation::LEGS_WALKCR,
    backwards: animation::LEGS_BACKCR,
    loud: false,
};
const RUNNING: Gait =
    Gait { rate: 0.4, forwards: animation::LEGS_RUN, backwards: animation::LEGS_BACK, loud: true };
const WALKING: Gait = Gait {
    rate: 0.3,
    forwards: animation::LEGS_WALK,
    backwards: animation::LEGS_BACKWALK,
    loud: false,
};

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    /// Updates the leg animation and the bob cycle, and raises footstep events.
    pub(super) fn bob_footsteps(&mut self) {
        let velocity = self.state.velocity;
        let speed = (velocity[0] * velocity[0] + velocity[1] * velocity[1]).sqrt();
        self.outcome.xy_speed = speed;
        let ducked = self.has(pm_flag::DUCKED);
        if self.state.ground_entity_num == EntityNum::NONE.index() as i32 {
            if self.is_invulnerable() {
                continue_legs(self.state, animation::LEGS_IDLECR);
            }
            if self.outcome.water_level > 1 {
                continue_legs(self.state, animation::LEGS_SWIM);
            }
            return;
        }
        if self.command.forwardmove == 0 && self.command.rightmove == 0 {
            if speed < STANDING {
                self.state.bob_cycle = 0;
                let legs = if ducked { animation::LEGS_IDLECR } else { animation::LEGS_IDLE };
                continue_legs(self.state, legs);
            }
            return;
        }
        let gait = if ducked {
            CROUCHING
        } else if self.command.buttons.contains(Buttons::WALKING) {
            WALKING
        } else {
            RUNNING
        };
        let backwards = self.has(pm_flag::BACKWARDS_RUN);
        continue_legs(self.state, if backwards { gait.backwards } else { gait.forwards });

        let old = self.state.bob_cycle;
        self.state.bob_cycle = (old as f32 + gait.rate * self.step.ms as f32) as i32 & 255;
        let foot = |bob: i32| bob.wrapping_add(BOB_START) & FOOT_BIT;
        if foot(old) != foot(self.state.bob_cycle) {
            self.add_footstep_event(gait.loud);
        }
    }

    fn add_footstep_event(&mut self, loud: bool) {
        let event = match self.outcome.water_level {
            0 if loud && !self.rules.silent_steps => self.footstep(),
            1 => Event::FootSplash,
            2 => Event::Swim,
            _ => return,
        };
        queue(self.state, event, 0);
    }

    /// Returns the footstep event of the ground. The empty event of silent surfaces is queued too.
    pub(super) fn footstep(&self) -> Event {
        if self.ground.has(surface::NOSTEPS) {
            Event::None
        } else if self.ground.has(surface::METALSTEPS) {
            Event::FootstepMetal
        } else {
            Event::Footstep
        }
    }
}

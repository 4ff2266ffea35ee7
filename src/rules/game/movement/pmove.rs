//! Pmove state of one usercmd: order of a sub-step, and results outside the player state.
//!
//! Source: the base game's movement.

use super::{
    HEALTH, PmoveRules, PmoveWorld,
    command::{Substep, begin_step, drop_timers, run_command},
    ground::Ground,
};
use crate::bg::{PmType, Powerup, contents, pm_flag};
use crate::model::{EntityNum, PlayerState, Trace, UserCmd, Vec3, contents::surface};
use crate::world::TraceQuery;

/// Maximum entities in a touch list.
const MAX_TOUCHED: usize = 32;

/// Input of a usercmd besides the player state and the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmoveInput {
    /// Content bits that stop the player.
    pub mask: i32,
    /// Whether the gauntlet hits a player. Clients do not predict it.
    pub gauntlet_hit: bool,
}

/// Entities touched in a sub-step, each once, without the world.
#[derive(Clone, Copy, Debug)]
pub struct TouchList {
    entities: [EntityNum; MAX_TOUCHED],
    len: usize,
}

impl TouchList {
    const NONE: Self = Self { entities: [EntityNum::NONE; MAX_TOUCHED], len: 0 };

    /// Returns the entities in the order of their first touch.
    #[must_use]
    pub fn as_slice(&self) -> &[EntityNum] {
        &self.entities[..self.len]
    }

    fn add(&mut self, entity: EntityNum) {
        let known = entity == EntityNum::WORLD || self.as_slice().contains(&entity);
        if !known && self.len < MAX_TOUCHED {
            self.entities[self.len] = entity;
            self.len += 1;
        }
    }
}

/// Result of a usercmd outside the player state, from its last sub-step.
#[derive(Clone, Copy, Debug)]
pub struct PmoveResult {
    /// Touched entities.
    pub touched: TouchList,
    /// Water level: 0 dry, 1 feet, 2 waist, 3 eyes.
    pub water_level: u8,
    /// Content bits at the feet if they are in liquid.
    pub water_type: i32,
    /// Lower corner of the bounding box; zero for movement without a box.
    pub mins: Vec3,
    /// Upper corner of the bounding box.
    pub maxs: Vec3,
    /// Horizontal speed in units per second, if the sub-step ran footsteps.
    pub xy_speed: f32,
}

impl PmoveResult {
    pub(super) const NONE: Self = Self {
        touched: TouchList::NONE,
        water_level: 0,
        water_type: 0,
        mins: Vec3::ZERO,
        maxs: Vec3::ZERO,
        xy_speed: 0.0,
    };
}

/// Runs one usercmd of a player in sub-steps.
///
/// The caller clamps the command time with [`clamp_command_time`](super::clamp_command_time). A usercmd
/// that is not newer than the state changes nothing.
pub fn move_player<W: PmoveWorld + ?Sized>(
    state: &mut PlayerState,
    command: &UserCmd,
    rules: &PmoveRules,
    conditions: PmoveInput,
    world: &mut W,
) -> PmoveResult {
    let mut outcome = PmoveResult::NONE;
    let mut mask = conditions.mask;
    run_command(state, command, rules.fixed_step_ms, |state, command| {
        // Dead players pass through other players.
        if state.stats[HEALTH] <= 0 {
            mask &= !contents::BODY;
        }
        outcome.touched = TouchList::NONE;
        outcome.water_level = 0;
        outcome.water_type = 0;
        let (origin, velocity) = (state.origin, state.velocity);
        let step = begin_step(state, command, rules.variant.noclip_fires, rules.arithmetic);
        let mut mover = Pmove {
            state,
            command,
            rules,
            world,
            mask,
            gauntlet_hit: conditions.gauntlet_hit,
            step,
            ground: Ground::AIR,
            before: StepStart { origin, velocity, water_level: 0 },
            outcome: &mut outcome,
        };
        mover.step();
    });
    outcome
}

/// Player state at the start of a sub-step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepStart {
    pub(super) origin: Vec3,
    pub(super) velocity: Vec3,
    pub(super) water_level: u8,
}

/// A sub-step in progress.
pub(super) struct Pmove<'a, W: ?Sized> {
    pub(super) state: &'a mut PlayerState,
    pub(super) command: &'a mut UserCmd,
    pub(super) rules: &'a PmoveRules,
    pub(super) world: &'a mut W,
    pub(super) mask: i32,
    pub(super) gauntlet_hit: bool,
    pub(super) step: Substep,
    pub(super) ground: Ground,
    pub(super) before: StepStart,
    pub(super) outcome: &'a mut PmoveResult,
}

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    /// Runs the part of a sub-step after the view angles.
    fn step(&mut self) {
        match self.state.pm_type {
            kind if kind == PmType::Spectator => {
                self.check_duck();
                self.fly();
                drop_timers(self.state, self.step.ms);
            }
            kind if kind == PmType::Noclip => {
                self.noclip_move();
                drop_timers(self.state, self.step.ms);
            }
            kind if kind >= PmType::Freeze as i32 => {}
            _ => self.step_with_collision(),
        }
    }

    /// Runs a sub-step with collision.
    fn step_with_collision(&mut self) {
        self.set_water_level();
        self.before.water_level = self.outcome.water_level;
        self.check_duck();
        self.ground_trace();
        if self.state.pm_type == PmType::Dead {
            self.dead_move();
        }
        drop_timers(self.state, self.step.ms);

        self.run_move();

        self.gesture();
        self.ground_trace();
        self.set_water_level();
        if self.state.pm_flags & pm_flag::ELIMINATION_WARMUP == 0 {
            self.handle_weapon();
        }
        if self.rules.variant.torso_last {
            self.bob_footsteps();
            self.hold_weapon();
        } else {
            self.hold_weapon();
            self.bob_footsteps();
        }
        self.add_water_events();
        self.round_velocity();
    }

    /// Runs the first kind of movement that applies.
    fn run_move(&mut self) {
        if self.rules.variant.invulnerability_holds && self.is_invulnerable() {
            self.command.forwardmove = 0;
            self.command.rightmove = 0;
            self.command.upmove = 0;
            self.state.velocity = Vec3::ZERO;
        } else if self.state.powerups[Powerup::Flight] != 0 {
            self.fly();
        } else if self.has(pm_flag::GRAPPLE_PULL) {
            self.grapple_move();
            self.air_move();
        } else if self.has(pm_flag::TIME_WATERJUMP) {
            self.water_jump_move();
        } else if self.outcome.water_level > 1 {
            self.swim();
        } else if self.ground.walking {
            self.walk();
        } else {
            self.air_move();
        }
    }

    fn round_velocity(&mut self) {
        let slick = self.ground.trace.surface_flags & surface::SLICK != 0;
        if self.rules.whole_velocity || (self.rules.variant.rounds_on_slick && slick) {
            self.state.velocity = self.state.velocity.rounded();
        }
    }

    /// Traces the player's bounding box.
    pub(super) fn trace(&mut self, start: Vec3, end: Vec3) -> Trace {
        let PmoveResult { mins, maxs, .. } = *self.outcome;
        self.world.trace(&TraceQuery { start, end, mins, maxs, mask: self.mask })
    }

    /// Adds an entity to the touch list.
    pub(super) fn touch(&mut self, entity: EntityNum) {
        self.outcome.touched.add(entity);
    }

    /// Whether one of the `pm_flags` is set.
    pub(super) fn has(&self, flag: i32) -> bool {
        self.state.pm_flags & flag != 0
    }

    /// Whether the player is inside an invulnerability sphere.
    pub(super) fn is_invulnerable(&self) -> bool {
        self.state.powerups[Powerup::Invulnerability] != 0
    }

    /// Returns the vertical speed that gravity adds in a sub-step.
    pub(super) fn gravity_gain(&self) -> f32 {
        self.state.gravity as f32 * self.step.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touch_list_has_entities_once_without_world() {
        let mut touched = TouchList::NONE;
        let entity = |number| EntityNum::new(number).expect("in range");
        for number in [5, 1022, 5, 7] {
            touched.add(entity(number));
        }
        assert_eq!(touched.as_slice(), [entity(5), entity(7)]);
        (100..200).for_each(|number| touched.add(entity(number)));
        assert_eq!(touched.as_slice().len(), MAX_TOUCHED);
    }
}

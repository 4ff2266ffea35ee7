//! Extrapolation of a player whose usercmds are missing: straight on, along walls and up steps.
//!
//! Source: OpenArena's. Engine name: `G_PredictPlayerMove`.

use super::{
    PmoveResult, PmoveRules, PmoveWorld, angles,
    command::Substep,
    ground::Ground,
    pmove::{Pmove, StepStart},
    slide::Gravity,
};
use crate::model::{EntityState, PlayerState, UserCmd, Vec3};

/// Bounding box, clip mask and time of an extrapolation.
#[derive(Clone, Copy, Debug)]
pub struct Extrapolation {
    /// Lower corner of the bounding box.
    pub mins: Vec3,
    /// Upper corner of the bounding box.
    pub maxs: Vec3,
    /// Content bits that stop the player.
    pub mask: i32,
    /// Time without usercmds, in seconds.
    pub seconds: f32,
}

/// Returns the origin that a player reaches from its entity's trajectory, without gravity.
pub fn extrapolate<W: PmoveWorld + ?Sized>(
    entity: &EntityState,
    Extrapolation { mins, maxs, mask, seconds }: Extrapolation,
    rules: &PmoveRules,
    world: &mut W,
) -> Vec3 {
    let (origin, velocity) = (entity.pos.base, entity.pos.delta);
    let mut state = PlayerState { origin, velocity, ..PlayerState::default() };
    let axes = angles::axes(Vec3::ZERO);
    let mut mover = Pmove {
        state: &mut state,
        command: &mut UserCmd::default(),
        rules,
        world,
        mask,
        gauntlet_hit: false,
        step: Substep { ms: 0, seconds, axes, arithmetic: rules.arithmetic },
        ground: Ground::AIR,
        before: StepStart { origin, velocity, water_level: 0 },
        outcome: &mut PmoveResult { mins, maxs, ..PmoveResult::NONE },
    };
    mover.step_slide(Gravity::Off);
    state.origin
}

//! Who hurts whom, and what is told of it: damage, blasts, death, awards, scores.
//!
//! Invariants: health is at least [`LEAST_HEALTH`]; who is dead dies no more; every value that is shown
//! fits 16 bits. Source: the base game's combat rules; OpenArena's.

mod arms;
mod awards;
mod damage;
mod death;
mod feedback;
mod radius;
mod rules;
mod score;
#[cfg(test)]
mod tests;

use super::{Deathmatch, body::Body, things::What};

pub(super) use self::{arms::Arms, damage::Hit, radius::Blast, rules::CombatRules};

/// Index of the health statistic, the same in every game.
pub(super) const HEALTH: usize = 0;
/// Least health that anybody has.
pub(super) const LEAST_HEALTH: i32 = -999;
/// Health at and below which a body goes to pieces.
pub(super) const GIB_HEALTH: i32 = -40;
/// Damage that nothing survives.
pub(super) const LETHAL: i32 = 100_000;

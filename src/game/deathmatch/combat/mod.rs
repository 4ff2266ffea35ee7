//! Combat: damage, radius damage, death, awards and scores.
//!
//! Invariants: health is at least [`LEAST_HEALTH`]; who is dead dies no more; every value that is shown
//! fits 16 bits. Source: the base game's combat rules; OpenArena's.

pub(super) mod awards;
pub(super) mod combat_settings;
pub(super) mod damage;
pub(super) mod death;
pub(super) mod feedback;
pub(super) mod loadout;
pub(super) mod score;
pub(super) mod splash;
#[cfg(test)]
mod tests;

use super::{combat_state::PlayerCombatState, entities::EntityKind};
use crate::model::{ClientNum, limits::MAX_CLIENTS};

pub(super) use self::{
    combat_settings::CombatSettings, damage::Hit, loadout::Loadout, splash::SplashDamage,
};

/// Combat state of every player.
#[derive(Debug)]
pub(super) struct Combat {
    /// By client number.
    pub(super) players: Vec<PlayerCombatState>,
    /// Which of the three ways to die is next.
    next_death: i32,
}

impl Default for Combat {
    fn default() -> Self {
        Self { players: vec![PlayerCombatState::default(); MAX_CLIENTS], next_death: 0 }
    }
}

impl Combat {
    /// Starts a level.
    pub(super) fn reset(&mut self) {
        self.players.fill(PlayerCombatState::default());
    }

    /// Starts a client's first life.
    pub(super) fn reset_client(&mut self, client: ClientNum) {
        self.players[client.index()] = PlayerCombatState::default();
    }
}

/// Index of the health statistic, the same in every game.
pub(super) const HEALTH: usize = 0;
/// Least health that anybody has.
pub(super) const LEAST_HEALTH: i32 = -999;
/// Health at and below which a body goes to pieces.
pub(super) const GIB_HEALTH: i32 = -40;
/// Damage that nothing survives.
pub(super) const LETHAL: i32 = 100_000;

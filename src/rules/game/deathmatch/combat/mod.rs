//! Combat: damage, splash damage, death, awards and scores.
//!
//! Invariants: health is at least [`LEAST_HEALTH`]; a dead player does not die again; every value in a
//! playerstate fits 16 bits. Source: the base game's combat rules; OpenArena's.

pub(super) mod awards;
mod challenges;
pub(super) mod combat_settings;
pub(super) mod damage;
pub(super) mod death;
pub(super) mod feedback;
pub(super) mod loadout;
pub(super) mod score;
pub(super) mod splash;
mod spree_file;
pub(super) mod sprees;
#[cfg(test)]
mod tests;

use super::{combat_state::PlayerCombatState, entities::EntityKind};
use crate::model::{ClientNum, limits::MAX_CLIENTS};

pub(super) use self::{
    combat_settings::CombatSettings, damage::Hit, loadout::Loadout, splash::SplashDamage,
    sprees::Sprees,
};

/// Combat state of all players.
#[derive(Debug)]
pub(super) struct Combat {
    /// Players by client number.
    pub(super) players: Vec<PlayerCombatState>,
    /// Index of the next death animation.
    next_death: i32,
    /// Series of frags and deaths.
    pub(super) sprees: Sprees,
}

impl Default for Combat {
    fn default() -> Self {
        Self {
            players: vec![PlayerCombatState::default(); MAX_CLIENTS],
            next_death: 0,
            sprees: Sprees::default(),
        }
    }
}

impl Combat {
    /// Resets all players at level start.
    pub(super) fn reset(&mut self) {
        self.players.fill(PlayerCombatState::default());
    }

    /// Resets a client that connects.
    pub(super) fn reset_client(&mut self, client: ClientNum) {
        self.players[client.index()] = PlayerCombatState::default();
        self.sprees.reset_client(client);
    }
}

/// Index of the health statistic, the same in every game.
pub(super) const HEALTH: usize = 0;
/// Minimum health.
pub(super) const LEAST_HEALTH: i32 = -999;
/// Health at or below which a body is gibbed.
pub(super) const GIB_HEALTH: i32 = -40;
/// Damage that always kills.
pub(super) const LETHAL: i32 = 100_000;

//! Combat: damage, splash damage, death, awards and scores.
//!
//! Invariants: health is at least [`LEAST_HEALTH`]; a dead player does not die again; every value in a
//! playerstate fits 16 bits. Source: the base game's combat rules; OpenArena's.

pub(super) mod awards;
mod challenges;
pub(super) mod damage;
pub(super) mod death;
pub(super) mod feedback;
pub(super) mod score;
pub(super) mod splash;
mod spree_file;
pub(super) mod sprees;
#[cfg(test)]
mod tests;

use super::combat_state::PlayerCombatState;
use crate::model::{ClientNum, limits::MAX_CLIENTS};

pub(super) use self::sprees::Sprees;

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

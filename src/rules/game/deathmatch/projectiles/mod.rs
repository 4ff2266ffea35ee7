//! Projectiles: aim, launch, hooks, mines, kamikaze items, portals, deflection, damage factor.
//!
//! Flight and impact are in `weapons`. Source: the base game's weapons; OpenArena's. Engine names: `s_quadFactor`.

pub(super) mod aim;
pub(super) mod grapple;
pub(super) mod invulnerability;
pub(super) mod kamikaze;
pub(super) mod mines;
pub(super) mod missiles;
pub(super) mod portals;
pub(super) mod snap;

use super::context::Context;
use crate::bg::{Powerup, Rune};
use crate::game::movement::pickup::rune_of;
use crate::model::{ClientNum, EntityNum, LevelTime, limits::MAX_CLIENTS};

/// Damage factor of the doubler rune.
const DOUBLER: f32 = 2.0;

/// Hook, mine, portal and kamikaze state of one player.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlayerProjectiles {
    /// Player's attached hook, and whether its attack button is still held.
    hook: Option<EntityNum>,
    hook_held: bool,
    /// Mine that ticks on the player.
    mine: Option<EntityNum>,
    /// Exit that waits for its entrance.
    portal: Option<u32>,
    /// End of the immunity to a kamikaze's explosion, and to its shockwave.
    blast_immune_until: Option<LevelTime>,
    shockwave_immune_until: Option<LevelTime>,
    /// Time of the current usercmd, as sent by the client.
    attack_time: i32,
}

/// Projectile state by player. The projectile entities are in the entity table.
#[derive(Debug)]
pub(super) struct Projectiles {
    /// Players by client number.
    players: Vec<PlayerProjectiles>,
    /// Number of exits that were placed.
    portals: u32,
}

impl Default for Projectiles {
    fn default() -> Self {
        Self { players: vec![PlayerProjectiles::default(); MAX_CLIENTS], portals: 0 }
    }
}

impl Projectiles {
    /// Resets all players at level start.
    pub(super) fn reset(&mut self) {
        self.players.fill(PlayerProjectiles::default());
    }

    /// Resets a client that spawns.
    pub(super) fn reset_client(&mut self, client: ClientNum) {
        self.players[client.index()] = PlayerProjectiles::default();
    }

    /// Time of the usercmd that a client runs, as sent by the client.
    pub(super) fn attack_time(&self, client: ClientNum) -> i32 {
        self.players[client.index()].attack_time
    }

    /// Stores the time of the usercmd that a client runs.
    pub(super) fn begin_command(&mut self, client: ClientNum, time: i32) {
        self.players[client.index()].attack_time = time;
    }
}

/// Returns the damage factor of a player's powerups.
pub(super) fn damage_multiplier(cx: &Context<'_>, client: ClientNum) -> f32 {
    let Some(player) = cx.clients.player(client) else { return 1.0 };
    let quad = player.state.powerups[Powerup::Quad] != 0;
    let factor = if quad { cx.frame.combat.quad_factor } else { 1.0 };
    let doubles = rune_of(cx.clients.ruleset, &player.state) == Some(Rune::Doubler);
    if doubles { factor * DOUBLER } else { factor }
}

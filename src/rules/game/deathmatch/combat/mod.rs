//! Combat state of players: awards, challenges, sprees, damage feedback, the entity that others see.
//!
//! Hits and deaths are in `damage`. Source: the base game's combat rules; OpenArena's.

mod awards;
mod challenges;
mod feedback;
pub(super) mod player_state;
mod spree_file;
mod sprees;

use self::player_state::PlayerCombatState;
use super::{context::Context, entity_kinds::EntityKind};
use crate::bg::EntityType;
use crate::game::movement::{EntityStateOptions, player_entity};
use crate::model::{ClientNum, EntityNum, limits::MAX_CLIENTS};

pub(super) use self::sprees::Sprees;

/// Number of death animations.
const DEATH_ANIMATIONS: i32 = 3;

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

    /// Returns the index of a death animation, a different one each time.
    pub(crate) fn next_death(&mut self) -> i32 {
        let death = self.next_death;
        self.next_death = (death + 1) % DEATH_ANIMATIONS;
        death
    }

    /// Resets a client that connects.
    pub(super) fn reset_client(&mut self, client: ClientNum) {
        self.players[client.index()] = PlayerCombatState::default();
        self.sprees.reset_client(client);
    }

    /// Whether an entity takes damage.
    pub(crate) fn is_damageable(&self, cx: &Context<'_>, number: EntityNum) -> bool {
        if let Some(client) = number.client() {
            return cx.clients.plays(client) && !self.players[client.index()].gibbed;
        }
        cx.entities.get(number).is_some_and(|entity| match &entity.kind {
            EntityKind::Corpse(corpse) => corpse.is_whole() && entity.shared.is_linked(),
            EntityKind::Missile(missile) => missile.is_armed(),
            EntityKind::Portal(_) => true,
            EntityKind::Mover(_) => cx.entities.is_shootable(number),
            _ => false,
        })
    }

    /// Whether a hit counts for the attacker's accuracy: the victim is a living enemy.
    pub(crate) fn is_good_hit(
        &self,
        cx: &Context<'_>,
        attacker: ClientNum,
        number: EntityNum,
    ) -> bool {
        number.client().is_some_and(|victim| {
            victim != attacker
                && self.is_damageable(cx, number)
                && !cx.is_dead(victim)
                && !cx.clients.are_mates(attacker, victim)
        })
    }

    /// Updates a player's entity from its player state.
    pub(crate) fn publish(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let how = entity_state_options(cx);
        self.publish_as(cx, client, how);
    }

    /// Updates the entity of a player that has spawned, which clients do not extrapolate.
    pub(crate) fn publish_spawn(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let how = EntityStateOptions { linear_stop_ms: None, ..entity_state_options(cx) };
        self.publish_as(cx, client, how);
    }

    fn publish_as(&mut self, cx: &mut Context<'_>, client: ClientNum, how: EntityStateOptions) {
        let watches = !cx.clients.role(client).plays();
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        player_entity(&mut player.state, &mut player.entity, how);
        if watches {
            player.entity.e_type = EntityType::Invisible as i32;
        }
        if self.players[client.index()].gibbed {
            player.entity.e_type = EntityType::Invisible as i32;
        }
    }
}

/// Returns how player states convert to entity states.
fn entity_state_options(cx: &Context<'_>) -> EntityStateOptions {
    EntityStateOptions { truncated: true, linear_stop_ms: cx.clients.settings.linear_stop_ms }
}

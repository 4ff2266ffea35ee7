//! Damage feedback to the victim, and pain events for other players.
//!
//! Source: the base game's damage feedback.

use super::HEALTH;
use crate::game::deathmatch::{combat::Combat, context::Context};
use crate::model::ClientNum;
use crate::{
    bg::Event,
    game::movement::{angles, events},
};

/// How often pain is shown, in milliseconds.
const PAIN_MS: i32 = 700;
/// Most damage that is shown at once.
const MAX_SHOWN: i32 = 255;
/// Both direction bytes of damage that came from nowhere.
const NOWHERE: i32 = 255;

impl Context<'_> {
    /// Shows an event on a player that nobody predicts.
    pub(in crate::game::deathmatch) fn show(&mut self, client: ClientNum, event: Event, parm: i32) {
        let now = self.clients.now;
        if let Some(player) = self.clients.players[client.index()].as_mut() {
            events::show_external(&mut player.state, event, parm, now.0);
            self.entities.player_event_at[client.index()] = now;
        }
    }
}

impl Combat {
    /// Tells a player what it lost since the last frame, and others that it hurts.
    pub(in crate::game::deathmatch) fn show_pain(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
    ) {
        let now = cx.clients.now;
        let unharmed = cx.is_god(client);
        let combat = &mut self.players[client.index()];
        let lost = combat.damage_taken.saturating_add(combat.armor_taken).min(MAX_SHOWN);
        (combat.damage_taken, combat.armor_taken) = (0, 0);
        if lost <= 0 || combat.dead {
            return;
        }
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        let state = &mut player.state;
        match combat.damage_from {
            Some(direction) => {
                let angles = angles::of_direction(direction);
                let byte = |degrees: f32| ((degrees / 360.0 * 256.0) as i32) & 0xff;
                state.damage_pitch = byte(angles[0]);
                state.damage_yaw = byte(angles[1]);
            }
            None => (state.damage_pitch, state.damage_yaw) = (NOWHERE, NOWHERE),
        }
        state.damage_count = lost;
        if now.distance(combat.pain_debounce_until) > 0 && !unharmed {
            combat.pain_debounce_until = now + PAIN_MS;
            state.damage_event = state.damage_event.wrapping_add(1) & 0xff;
            let health = state.stats[HEALTH];
            cx.show(client, Event::Pain, health);
        }
    }
}

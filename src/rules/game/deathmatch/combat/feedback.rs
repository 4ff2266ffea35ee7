//! Damage feedback to the victim, and pain events for other players.
//!
//! Source: the base game's damage feedback.
//!
//! Engine names: `P_DamageFeedback`, `EV_PAIN`.

use crate::bg::Event;
use crate::game::deathmatch::{combat::Combat, context::Context};
use crate::game::movement::{HEALTH, angles};
use crate::model::ClientNum;

/// Minimum interval between two pain events, in ms.
const PAIN_MS: i32 = 700;
/// Largest damage in the feedback fields.
const MAX_SHOWN: i32 = 255;
/// Both direction bytes of damage without a direction.
const NO_DIRECTION: i32 = 255;

impl Combat {
    /// Sends a player the damage of the frame, and a pain event to other players.
    pub(crate) fn send_damage_feedback(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let now = cx.clients.now;
        let invincible = cx.is_god(client);
        let combat = &mut self.players[client.index()];
        let damage = combat.damage_taken.saturating_add(combat.armor_taken).min(MAX_SHOWN);
        (combat.damage_taken, combat.armor_taken) = (0, 0);
        if damage <= 0 || combat.dead {
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
            None => (state.damage_pitch, state.damage_yaw) = (NO_DIRECTION, NO_DIRECTION),
        }
        state.damage_count = damage;
        if now.distance(combat.pain_debounce_until) > 0 && !invincible {
            combat.pain_debounce_until = now + PAIN_MS;
            state.damage_event = state.damage_event.wrapping_add(1) & 0xff;
            let health = state.stats[HEALTH];
            cx.add_player_event(client, Event::Pain, health);
        }
    }
}

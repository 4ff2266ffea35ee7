//! What is held until it is used.
//!
//! Source: the base game's holdable items; OpenArena's shell of invulnerability.

use crate::model::ClientNum;
use crate::{
    bg::{Holdable, Powerup},
    game::{Host, deathmatch::Deathmatch},
};

/// Health above the maximum that a medkit gives.
const MEDKIT_HEALTH: i32 = 25;
/// How long the shell holds, in milliseconds.
const SHELL_MS: i32 = 10_000;

impl Deathmatch {
    /// Somebody uses what it holds; the move has taken it away.
    pub(in crate::game::deathmatch) fn use_holdable(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        tag: i32,
    ) {
        let (now, stats) = (self.people.now, self.people.profile.stats);
        match Holdable::try_from(tag) {
            Ok(Holdable::Teleporter) => {
                self.drop_flags(host, client);
                let Some(player) = self.people.player(client) else { return };
                let from = player.state.origin;
                let (spot, _) = self.choose_spot(client, from, false);
                self.teleport(host, client, spot.origin, spot.angles);
            }
            Ok(Holdable::Medkit) => {
                if let Some(player) = self.people.players[client.index()].as_mut() {
                    let values = &mut player.state.stats;
                    values[stats.health] = values[stats.max_health] + MEDKIT_HEALTH;
                }
            }
            Ok(Holdable::Invulnerability) => {
                if let Some(player) = self.people.players[client.index()].as_mut() {
                    player.state.powerups[Powerup::Invulnerability] = (now + SHELL_MS).0;
                }
            }
            Ok(Holdable::Kamikaze) => self.start_kamikaze(host, client),
            _ => {}
        }
    }
}

//! Holdable items: teleporter, medkit, kamikaze, portal, invulnerability.
//!
//! Source: the base game's holdable items; OpenArena's invulnerability.

use super::{
    context::Context, spawn_points::SpawnPoints, systems::Fight, teleport::teleport,
    weapons::kamikaze_blast::start_kamikaze,
};
use crate::bg::{Holdable, Powerup};
use crate::model::ClientNum;

/// Health above the maximum that a medkit restores.
const MEDKIT_HEALTH: i32 = 25;
/// Duration of the invulnerability sphere, in ms.
const INVULNERABILITY_MS: i32 = 10_000;

/// Applies the holdable item that a player uses. Pmove has removed it from the playerstate.
pub(super) fn use_holdable(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    spawn_points: &mut SpawnPoints,
    client: ClientNum,
    tag: i32,
) {
    let (now, stats) = (cx.clients.now, cx.clients.ruleset.stats);
    match Holdable::try_from(tag) {
        Ok(Holdable::Teleporter) => {
            fight.items.drop_flags(cx, client);
            let Some(player) = cx.clients.player(client) else { return };
            let from = player.state.origin;
            let spot = spawn_points.select_destination(cx, from);
            teleport(cx, fight, client, spot.origin, spot.angles);
        }
        Ok(Holdable::Medkit) => {
            if let Some(player) = cx.clients.players[client.index()].as_mut() {
                let values = &mut player.state.stats;
                values[stats.health] = values[stats.max_health] + MEDKIT_HEALTH;
            }
        }
        Ok(Holdable::Invulnerability) => {
            if let Some(player) = cx.clients.players[client.index()].as_mut() {
                player.state.powerups[Powerup::Invulnerability] = (now + INVULNERABILITY_MS).0;
            }
        }
        Ok(Holdable::Kamikaze) => start_kamikaze(cx, fight, client),
        Ok(Holdable::Portal) => fight.projectiles.place_portal(cx, client),
        _ => {}
    }
}

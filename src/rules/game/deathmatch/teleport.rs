//! Teleports and telefrags.
//!
//! Source: the base game's teleporters. Engine names: `TeleportPlayer`, `G_KillBox`.

use super::{context::Context, damage::damage_player, hit::Hit, systems::Fight};
use crate::bg::Event;
use crate::game::movement::impulses;
use crate::model::{ClientNum, Vec3};

/// Teleports a client, and telefrags players at the destination.
pub(super) fn teleport(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    client: ClientNum,
    origin: Vec3,
    angles: Vec3,
) {
    let plays = cx.clients.role(client).plays();
    let Some(player) = cx.clients.player(client) else { return };
    let from = player.state.origin;
    if plays {
        cx.show_teleport(client, from, Event::PlayerTeleportOut);
        cx.show_teleport(client, origin, Event::PlayerTeleportIn);
    }
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    player.unlink(cx.host);
    impulses::teleport(&mut player.state, origin, angles, &player.command);
    player.entity.angles = angles;
    if plays {
        telefrag_overlapping(cx, fight, client);
    }
    fight.combat.publish(cx, client);
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.shared.current_origin = player.state.origin;
        if plays {
            cx.host.link_entity(&mut player.entity, &mut player.shared);
        }
    }
    // A shot into the past would bring the player back through the teleporter.
    fight.lag.reset(cx, client);
}

/// Telefrags the players that overlap a player who has just appeared.
pub(super) fn telefrag_overlapping(cx: &mut Context<'_>, fight: &mut Fight, client: ClientNum) {
    let Some(player) = cx.clients.player(client) else { return };
    let (mins, maxs) = (player.shared.mins, player.shared.maxs);
    let origin = player.state.origin;
    let overlapping: Vec<ClientNum> = cx.others_in(client, origin + mins, origin + maxs).collect();
    for other in overlapping {
        damage_player(cx, fight, other, &Hit::telefrag(client));
    }
}

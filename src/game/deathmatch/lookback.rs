//! Players as they were a frame ago: missiles that fly after all else fly among those.
//!
//! Invariants: whoever was set back is set forth again, unless it died or went elsewhere meanwhile.
//! Source: OpenArena's missiles.

use super::Deathmatch;
use crate::game::Host;
use crate::model::{ClientNum, Vec3, limits::MAX_CLIENTS};

/// Where somebody really is, and its box there; none for whom nothing was changed.
type Now = Option<(Vec3, Vec3, Vec3)>;

impl Deathmatch {
    /// A frame ends: remembers where a player is.
    pub(super) fn remember_place(&mut self, client: ClientNum) {
        let shared = self.people.player(client).map(|player| player.shared);
        self.bodies[client.index()].seen_at = shared
            .filter(|shared| shared.is_linked())
            .map(|shared| (shared.current_origin, shared.mins, shared.maxs));
    }

    /// Puts every living player where it was at the end of the last frame.
    pub(super) fn set_players_back(&mut self, host: &mut dyn Host) -> [Now; MAX_CLIENTS] {
        let mut now_at = [None; MAX_CLIENTS];
        for client in ClientNum::all() {
            if !self.people.plays(client) || self.is_dead(client) {
                continue;
            }
            let Some((origin, mins, maxs)) = self.bodies[client.index()].seen_at else { continue };
            let Some(player) = self.people.players[client.index()].as_mut() else { continue };
            let shared = &mut player.shared;
            if !shared.is_linked() || (shared.current_origin == origin && shared.maxs == maxs) {
                continue;
            }
            now_at[client.index()] = Some((shared.current_origin, shared.mins, shared.maxs));
            (shared.current_origin, shared.mins, shared.maxs) = (origin, mins, maxs);
            host.link_entity(&mut player.entity, shared);
        }
        now_at
    }

    /// Puts them where they really are.
    pub(super) fn set_players_forth(&mut self, host: &mut dyn Host, now_at: &[Now; MAX_CLIENTS]) {
        for client in ClientNum::all() {
            let Some((origin, mins, maxs)) = now_at[client.index()] else { continue };
            let dead = self.is_dead(client);
            let Some(player) = self.people.players[client.index()].as_mut() else { continue };
            player.shared.current_origin = origin;
            if !dead {
                (player.shared.mins, player.shared.maxs) = (mins, maxs);
            }
            if player.shared.is_linked() {
                host.link_entity(&mut player.entity, &mut player.shared);
            }
        }
    }
}

//! Move caches: what the world answered to each player's last moves.
//!
//! Invariant: no cache outlives its level, because the next one may have another map.

use crate::model::{ClientNum, limits::MAX_CLIENTS};
use crate::world::links::MoveCache;

/// Move cache of each player.
#[derive(Debug)]
pub(super) struct MoveCaches {
    /// Caches by client number.
    players: Vec<MoveCache>,
}

impl Default for MoveCaches {
    fn default() -> Self {
        Self { players: vec![MoveCache::default(); MAX_CLIENTS] }
    }
}

impl MoveCaches {
    /// Clears all caches at level start.
    pub(super) fn reset(&mut self) {
        self.players.iter_mut().for_each(MoveCache::clear);
    }

    /// Requests the memory of a player's cache.
    pub(super) fn expect_move(&self, client: ClientNum) {
        self.players[client.index()].expect_move();
    }

    /// Returns the cache of a player.
    pub(super) fn of(&mut self, client: ClientNum) -> &mut MoveCache {
        &mut self.players[client.index()]
    }
}

//! Observation of a server and its clients after a frame: all that a comparison looks at.
//!
//! Invariants: an observation of a running side and the same one read from a recording are equal; fields that no comparison
//! reads are 0.

use super::{
    entities::{Seen, seen},
    side::ComparedSide,
};
use crate::model::{ClientNum, ConfigIndex, PlayerState, limits::MAX_CONFIGSTRINGS};

/// A player of the play.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SeenPlayer {
    /// Slot of the client, once it has one.
    pub(super) slot: Option<ClientNum>,
    /// Playerstate, if the player is in the level.
    pub(super) state: Option<PlayerState>,
}

/// State of a side after a frame, with the texts since the last observation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) level_time: i32,
    pub(super) players: Vec<SeenPlayer>,
    pub(super) entities: Vec<Seen>,
    /// By index.
    pub(super) configstrings: Vec<String>,
    /// Server commands by player.
    pub(super) commands: Vec<Vec<String>>,
    /// Lines of the game log.
    pub(super) log: Vec<String>,
}

impl Default for Observation {
    fn default() -> Self {
        Self {
            level_time: 0,
            players: Vec::new(),
            entities: Vec::new(),
            configstrings: vec![String::new(); MAX_CONFIGSTRINGS],
            commands: Vec::new(),
            log: Vec::new(),
        }
    }
}

impl Observation {
    /// Observes a side, and takes the texts that it has received.
    pub(super) fn observe(&mut self, side: &mut ComparedSide) {
        self.level_time = side.server.level_time().0;
        self.players.clear();
        self.commands.resize_with(side.clients.len(), Vec::new);
        for (client, commands) in side.clients.iter_mut().zip(&mut self.commands) {
            commands.clear();
            commands.append(&mut client.commands);
            let slot = client.client.client_num();
            let state = slot.and_then(|slot| side.server.player(slot)).map(sent);
            self.players.push(SeenPlayer { slot, state });
        }
        self.log.clear();
        self.log.append(&mut side.log);
        seen(&side.server, &mut self.entities);
        for index in ConfigIndex::all() {
            let text = side.server.configstring(index);
            if let Some(known) = self.configstrings.get_mut(index.index())
                && known != text
            {
                text.clone_into(known);
            }
        }
    }
}

/// Returns a playerstate without the counters that are never sent.
fn sent(state: &PlayerState) -> PlayerState {
    PlayerState { pmove_framecount: 0, jumppad_frame: 0, entity_event_sequence: 0, ..*state }
}

//! The level that is played: its name and numbers, its clock, its configstrings and baselines.
//!
//! Invariants: server ids grow and are never 0; the clock never goes back, across levels too, so that
//! no client ever sees time run backwards. Source: Quake III protocol 68, map change.

use super::configstrings::Configstrings;
use crate::model::{Baselines, LevelTime, ServerId};

/// The level in force.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) map: String,
    /// New with every load and restart.
    pub(super) server_id: ServerId,
    /// The server id of the last load: what lies between is an earlier restart of this level.
    pub(super) loaded_id: ServerId,
    /// Part of the key of usercmds.
    pub(super) checksum_feed: i32,
    pub(super) time: LevelTime,
    pub(super) configstrings: Configstrings,
    pub(super) baselines: Baselines,
    /// Toggles with every load and restart, and with it a flag of every snapshot.
    pub(super) odd: bool,
    /// Being started: clients are not told of changes.
    pub(super) starting: bool,
}

impl Level {
    /// Before the first level.
    pub(super) fn none() -> Self {
        Self {
            map: String::new(),
            server_id: ServerId(0),
            loaded_id: ServerId(0),
            checksum_feed: 0,
            time: LevelTime(0),
            configstrings: Configstrings::new(),
            baselines: Baselines::default(),
            odd: false,
            starting: true,
        }
    }

    /// The next server id: the level clock, unless that has not moved on.
    pub(super) fn next_id(&self) -> ServerId {
        ServerId(self.time.0.max(self.server_id.0.saturating_add(1)).max(1))
    }

    /// Whether a client that names `id` knows this level but not its latest restart.
    pub(super) fn is_earlier_restart(&self, id: ServerId) -> bool {
        (self.loaded_id..self.server_id).contains(&id)
    }
}

/// Whether a map's name is one: letters, digits and a few signs, no way out of the map folder.
pub(super) fn is_map_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    (1..=63).contains(&name.len())
        && name.bytes().all(legal)
        && !name.contains("..")
        && !name.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_ids_grow() {
        let mut level = Level::none();
        level.server_id = level.next_id();
        assert_eq!(level.server_id, ServerId(1));
        level.time = LevelTime(500);
        level.server_id = level.next_id();
        assert_eq!(level.next_id(), ServerId(501));
    }

    #[test]
    fn map_names_stay_in_the_map_folder() {
        assert!(["oa_dm1", "q3dm17", "mod/x-1.2"].into_iter().all(is_map_name));
        for name in ["", "../x", "a b", "a;b", "/etc", "x\"", &"x".repeat(64)] {
            assert!(!is_map_name(name), "{name:?}");
        }
    }
}

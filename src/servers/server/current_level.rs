//! Level in force: map, server id, level time, configstrings and baselines.
//!
//! Invariant: server ids grow and are never 0. Engine names: `sv`, `sv.serverId`.

use crate::{
    model::{Baselines, LevelTime, ServerId},
    serving::{configstrings::Configstrings, connection::ServedLevel},
    world::World,
};

/// Default of `nextmap`.
pub(super) const NEXT: &str = "map_restart 0";
/// The level in force.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) map: String,
    /// Geometry of the map; `None` in open space.
    pub(super) world: Option<World>,
    /// Archive of the map, by its number in the game data.
    pub(super) pack: Option<usize>,
    /// New with every load and restart.
    pub(super) server_id: ServerId,
    /// Server id of the load, which `checksum_feed` belongs to.
    pub(super) feed_id: ServerId,
    /// Part of the key of usercmds.
    pub(super) checksum_feed: i32,
    pub(super) time: LevelTime,
    pub(super) configstrings: Configstrings,
    pub(super) baselines: Baselines,
    /// Toggles with every load and restart, and with it a flag of every snapshot.
    pub(super) odd: bool,
    /// Time of the scheduled restart.
    pub(super) restart_at: Option<LevelTime>,
    /// Whether the level is being set up, so that changes of configstrings are not sent.
    pub(super) starting: bool,
}

impl Level {
    /// The state before the first level.
    pub(super) fn none() -> Self {
        Self {
            map: String::new(),
            world: None,
            pack: None,
            server_id: ServerId(0),
            feed_id: ServerId(0),
            checksum_feed: 0,
            time: LevelTime(0),
            configstrings: Configstrings::new(1),
            baselines: Baselines::default(),
            odd: false,
            restart_at: None,
            starting: true,
        }
    }

    /// The level as clients are sent it.
    #[inline]
    pub(super) fn served(&self) -> ServedLevel<'_> {
        ServedLevel {
            configstrings: &self.configstrings,
            baselines: &self.baselines,
            server_id: self.server_id,
            checksum_feed: self.checksum_feed,
            time: self.time,
            client_number: None,
        }
    }

    /// Next server id: the level time, unless that has not advanced.
    pub(super) fn next_id(&self) -> ServerId {
        ServerId(self.time.0.max(self.server_id.0.saturating_add(1)).max(1))
    }
}

/// Whether a map name is valid: letters, digits and a few signs, without leaving the map folder.
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

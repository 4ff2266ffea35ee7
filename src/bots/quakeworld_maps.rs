//! QuakeWorld maps of a load test: from the game data, or downloaded once for all bots.
//!
//! Invariants: one bot at a time downloads a map; the number of maps is bounded; a map that cannot be had is not asked for
//! again. Source: QuakeWorld protocol 28, checksum of the map in `prespawn`.

use std::{fmt, sync::Arc};

use crate::bsp29::Bsp29;

/// Map loader by path, such as `maps/dm4.bsp`. It returns the content of the file.
pub type FindQuakeWorldMap = Box<dyn FnMut(&str) -> Option<Vec<u8>>>;

/// Maximum number of remembered maps.
const MAX_MAPS: usize = 16;

/// State of a map.
#[derive(Debug)]
enum MapState {
    Known(Arc<Bsp29>),
    /// A bot downloads it.
    Downloading(u16),
    Missing,
}

/// Maps by their paths.
#[derive(Default)]
pub(super) struct QuakeWorldMaps {
    find: Option<FindQuakeWorldMap>,
    maps: Vec<(String, MapState)>,
}

impl QuakeWorldMaps {
    pub(super) fn new(find: Option<FindQuakeWorldMap>) -> Self {
        Self { find, maps: Vec::new() }
    }

    /// Returns a map that is known or installed.
    pub(super) fn find(&mut self, path: &str) -> Option<Arc<Bsp29>> {
        match self.place(path) {
            Some(MapState::Known(map)) => return Some(Arc::clone(map)),
            Some(MapState::Downloading(_) | MapState::Missing) => return None,
            None => {}
        }
        let file = self.find.as_mut().and_then(|find| find(path))?;
        let map = Arc::new(Bsp29::load(&file).ok()?);
        self.set(path, MapState::Known(Arc::clone(&map)));
        Some(map)
    }

    /// Whether a bot may download a map that is not known. It is the only one then.
    pub(super) fn may_download(&mut self, path: &str, bot: u16) -> bool {
        let is_free = self.place(path).is_none();
        if is_free {
            self.set(path, MapState::Downloading(bot));
        }
        is_free
    }

    /// Whether the map cannot be had.
    pub(super) fn is_missing(&self, path: &str) -> bool {
        matches!(self.place(path), Some(MapState::Missing))
    }

    /// Lets other bots download a map.
    pub(super) fn give_up(&mut self, path: &str, bot: u16) {
        self.maps.retain(|(name, place)| {
            name != path || !matches!(place, MapState::Downloading(by) if *by == bot)
        });
    }

    /// Lets other bots download what a bot did not finish.
    pub(super) fn leave(&mut self, bot: u16) {
        self.maps.retain(|(_, place)| !matches!(place, MapState::Downloading(by) if *by == bot));
    }

    /// Stores a downloaded map.
    ///
    /// # Errors
    /// A sentence, if the server sent no usable map.
    pub(super) fn store(&mut self, path: &str, content: Option<&[u8]>) -> Result<(), String> {
        let loaded = content.map(Bsp29::load);
        let (place, result) = match loaded {
            Some(Ok(map)) => (MapState::Known(Arc::new(map)), Ok(())),
            Some(Err(error)) => (MapState::Missing, Err(format!("{path} of the server: {error}"))),
            None => (
                MapState::Missing,
                Err(format!("{path}: not offered by the server (see --basepath)")),
            ),
        };
        self.set(path, place);
        result
    }

    fn place(&self, path: &str) -> Option<&MapState> {
        self.maps.iter().find(|(name, _)| name == path).map(|(_, place)| place)
    }

    fn set(&mut self, path: &str, place: MapState) {
        self.maps.retain(|(name, _)| name != path);
        if self.maps.len() >= MAX_MAPS {
            self.maps.remove(0);
        }
        self.maps.push((path.to_owned(), place));
    }
}

impl fmt::Debug for QuakeWorldMaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuakeWorldMaps").field("maps", &self.maps).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bot_downloads_a_map_for_all() {
        let mut maps = QuakeWorldMaps::default();
        assert!(maps.find("maps/a.bsp").is_none());
        assert!(maps.may_download("maps/a.bsp", 1) && !maps.may_download("maps/a.bsp", 2));
        maps.leave(1);
        assert!(maps.may_download("maps/a.bsp", 2));
        let file = crate::bsp29::compiler::fragqw1();
        assert_eq!(maps.store("maps/a.bsp", Some(&file)), Ok(()));
        assert!(maps.find("maps/a.bsp").is_some() && !maps.is_missing("maps/a.bsp"));
    }

    #[test]
    fn missing_map_is_not_asked_for_again() {
        let mut maps = QuakeWorldMaps::default();
        assert!(maps.may_download("maps/b.bsp", 1));
        assert!(maps.store("maps/b.bsp", None).is_err());
        assert!(maps.is_missing("maps/b.bsp") && !maps.may_download("maps/b.bsp", 2));
        assert!(maps.store("maps/b.bsp", Some(b"\x1d\0\0\0")).is_err());
    }
}

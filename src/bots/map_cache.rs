//! Cache of the collision maps that bots navigate by.
//!
//! The caller supplies the loader. Each map is loaded once while it is cached. Bots without a map navigate by touch.

use std::{fmt, sync::Arc};

use crate::{
    client::Client,
    model::{ConfigIndex, text::truncated},
    wire::info::InfoString,
    world::CollisionMap,
};

/// Map loader by name, such as `oa_dm1`. It must not block, because bots wait for it.
///
/// `None` is the answer for a map that is missing or still loads. It is asked again.
pub type FindMap = Box<dyn FnMut(&str) -> Option<Arc<CollisionMap>>>;

/// Maximum length of a map name, in bytes.
const MAX_NAME_LEN: usize = 63;

/// Maximum cached maps. After a map change, bots leave the old map one after the other.
const MAX_MAPS: usize = 8;

/// Recently used maps.
#[derive(Default)]
pub(super) struct MapCache {
    find: Option<FindMap>,
    /// Serverinfo of the last lookup and its map. Most lookups repeat the one before.
    serverinfo: String,
    map: Option<Arc<CollisionMap>>,
    /// Map names and loaded maps, the newest last.
    known: Vec<(String, Arc<CollisionMap>)>,
}

impl MapCache {
    pub(super) fn new(find: Option<FindMap>) -> Self {
        Self { find, ..Self::default() }
    }

    /// Returns the map of a client's level.
    pub(super) fn current(&mut self, client: &Client) -> Option<Arc<CollisionMap>> {
        let find = self.find.as_mut()?;
        let serverinfo = ConfigIndex::new(0).map_or("", |index| client.configstring(index));
        if serverinfo == self.serverinfo && self.map.is_some() {
            return self.map.clone();
        }
        serverinfo.clone_into(&mut self.serverinfo);
        self.map = None;
        let info = InfoString::parse(serverinfo);
        let name = truncated(info.get("mapname").unwrap_or_default(), MAX_NAME_LEN);
        let known = self.known.iter().find(|(known, _)| known == name);
        self.map = match known {
            Some((_, map)) => Some(map.clone()),
            None => {
                let map = find(name)?;
                if self.known.len() >= MAX_MAPS {
                    self.known.remove(0);
                }
                self.known.push((name.to_owned(), map.clone()));
                Some(map)
            }
        };
        self.map.clone()
    }
}

impl fmt::Debug for MapCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapCache").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

//! The map that the bots walk on, when its data is at hand.
//!
//! Whoever makes the bots says where maps come from; each map is looked for once.

use std::{fmt, sync::Arc};

use crate::{
    client::Client,
    model::{ConfigIndex, text::truncated},
    wire::info::Info,
    world::CollisionMap,
};

/// Finds a map by its name, as in `oa_dm1`.
pub type FindMap = Box<dyn FnMut(&str) -> Option<Arc<CollisionMap>>>;

/// Longest name of a map that is looked for, in bytes.
const MAX_NAME_LEN: usize = 63;

/// The map that is played.
#[derive(Default)]
pub(super) struct Maps {
    find: Option<FindMap>,
    /// Serverinfo that named the map, so that it is read once.
    serverinfo: String,
    map: Option<Arc<CollisionMap>>,
}

impl Maps {
    pub(super) fn new(find: Option<FindMap>) -> Self {
        Self { find, ..Self::default() }
    }

    /// The map that a client plays on.
    pub(super) fn current(&mut self, client: &Client) -> Option<Arc<CollisionMap>> {
        let find = self.find.as_mut()?;
        let serverinfo = ConfigIndex::new(0).map_or("", |index| client.configstring(index));
        if serverinfo != self.serverinfo {
            serverinfo.clone_into(&mut self.serverinfo);
            let info = Info::parse(serverinfo);
            self.map = find(truncated(info.get("mapname").unwrap_or_default(), MAX_NAME_LEN));
        }
        self.map.clone()
    }
}

impl fmt::Debug for Maps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maps").field("found", &self.map.is_some()).finish_non_exhaustive()
    }
}

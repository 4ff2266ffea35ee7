//! Archives that clients may download at the moment, shared with the HTTP server.
//!
//! The server offers the archives of a level when it loads the level. An archive stays offered while its file is
//! open, since a client may still load it after a map change. Invariant: a request is looked up by
//! its whole name, and never becomes a path.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::pack_source::PackSource;

/// An offered archive.
#[derive(Clone, Debug)]
pub struct OfferedPack {
    /// Location of the bytes.
    pub source: PackSource,
    /// Checksum of the content, as in the systeminfo.
    pub checksum: i32,
}

/// Set of offered archives; clones share it.
#[derive(Clone, Debug, Default)]
pub struct OfferedPacks(Arc<Mutex<BTreeMap<String, OfferedPack>>>);

impl OfferedPacks {
    /// Adds an archive by the name that clients request, such as `baseoa/map.pk3`.
    pub fn add(&self, name: String, pack: OfferedPack) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, pack);
    }

    /// Removes the archives whose sources are no longer kept.
    pub(super) fn retain(&self, is_kept: impl Fn(&PackSource) -> bool) {
        let mut offered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        offered.retain(|_, pack| is_kept(&pack.source));
    }

    /// Returns the archive of exactly this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<OfferedPack> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

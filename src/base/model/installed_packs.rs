//! Installed archives of a client, and the checksums that prove them to a pure server.
//!
//! ```text
//! checksums of the server, in its search order ─┐
//! tables: folder of the mod, base games ────────┴─ first archive with each module ─ checksums with the feed
//! ```
//!
//! [`InstalledPacks`] finds the archives; `io` implements it with folders, a test with memory. Invariant: the work
//! for one proof is bounded by the list of the server, which a gamestate bounds.
//!
//! Source: Quake III protocol 68, pure servers. Engine names: `FS_ReferencedPakPureChecksums`.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::assets::PackInfo;

/// Modules whose archives a client names first, in the order of the proof.
pub const PROVEN_MODULES: [&str; 2] = ["vm/cgame.qvm", "vm/ui.qvm"];

/// An archive and the modules in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPack {
    /// Identity of the archive.
    pub info: PackInfo,
    /// Whether the archive contains each of [`PROVEN_MODULES`].
    pub holds: [bool; PROVEN_MODULES.len()],
}

/// Archives of one folder of a game or mod.
#[derive(Debug, Default)]
pub struct PackTable {
    /// Archives, first searched first.
    packs: Vec<InstalledPack>,
    by_checksum: BTreeMap<i32, usize>,
}

impl PackTable {
    /// Creates a table of archives, first searched first.
    #[must_use]
    pub fn new(packs: Vec<InstalledPack>) -> Self {
        let mut by_checksum = BTreeMap::new();
        for (at, pack) in packs.iter().enumerate() {
            by_checksum.entry(pack.info.checksum()).or_insert(at);
        }
        Self { packs, by_checksum }
    }

    /// Returns the archive with a checksum, as servers list it.
    #[must_use]
    pub fn with_checksum(&self, checksum: i32) -> Option<&InstalledPack> {
        self.packs.get(*self.by_checksum.get(&checksum)?)
    }

    /// Archives, first searched first.
    #[must_use]
    pub fn packs(&self) -> &[InstalledPack] {
        &self.packs
    }
}

/// Source of the installed archives, shared by all clients of a process.
pub trait InstalledPacks: fmt::Debug + Send + Sync {
    /// Returns the archives of a mod, unless `mod_folder` is empty, and of the base games, first searched first. The
    /// name comes from a server and may be any text.
    fn tables(&self, mod_folder: &str) -> Vec<Arc<PackTable>>;

    /// Describes the searched folders and the remedy for a missing archive, for messages.
    fn searched(&self) -> String;

    /// Reads the folders again for the next call of [`InstalledPacks::tables`].
    fn refresh(&self) {}
}

/// Checksums that a client sends to a pure server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackProof {
    /// Checksum of the archive of each of [`PROVEN_MODULES`].
    pub modules: [i32; PROVEN_MODULES.len()],
    /// Checksums of the archives in use, without duplicates.
    pub referenced: Vec<i32>,
    /// All checksums in use, and their number, mixed with the feed.
    pub encoded: i32,
}

impl PackProof {
    /// Chooses the archives as a client does that may use only those of `listed`, the server's checksums in search order.
    /// Without a list it may use every archive.
    ///
    /// # Errors
    /// The module that no usable archive contains.
    pub fn new(tables: &[Arc<PackTable>], listed: &[i32], feed: i32) -> Result<Self, &'static str> {
        Self::of(tables, listed, feed, |pack| pack.pure_checksum(feed))
    }

    /// Chooses the archives as [`PackProof::new`], and names the checksums that the server lists.
    ///
    /// # Errors
    /// The module that no usable archive contains.
    pub fn listed(tables: &[Arc<PackTable>], listed: &[i32]) -> Result<Self, &'static str> {
        Self::of(tables, listed, 0, PackInfo::checksum)
    }

    fn of(
        tables: &[Arc<PackTable>],
        listed: &[i32],
        feed: i32,
        checksum_of: impl Fn(&PackInfo) -> i32,
    ) -> Result<Self, &'static str> {
        let mut modules = [0; PROVEN_MODULES.len()];
        let mut referenced = Vec::with_capacity(modules.len());
        for (module, checksum) in modules.iter_mut().enumerate() {
            let pack = find(tables, listed, module).ok_or(PROVEN_MODULES[module])?;
            *checksum = checksum_of(&pack.info);
            if !referenced.contains(checksum) {
                referenced.push(*checksum);
            }
        }
        let encoded = referenced.iter().fold(feed, |mixed, checksum| mixed ^ checksum);
        let encoded = encoded ^ referenced.len() as i32;
        Ok(Self { modules, referenced, encoded })
    }
}

/// Returns the first usable archive with a module.
fn find<'a>(
    tables: &'a [Arc<PackTable>],
    listed: &[i32],
    module: usize,
) -> Option<&'a InstalledPack> {
    if listed.is_empty() {
        return tables.iter().flat_map(|table| table.packs()).find(|pack| pack.holds[module]);
    }
    listed
        .iter()
        .filter_map(|&checksum| installed(tables, checksum))
        .find(|pack| pack.holds[module])
}

/// Returns the archive of the first table that has one with a checksum.
#[must_use]
pub fn installed(tables: &[Arc<PackTable>], checksum: i32) -> Option<&InstalledPack> {
    tables.iter().find_map(|table| table.with_checksum(checksum))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive whose files have these CRCs.
    fn pack(name: &str, crcs: &[u32], holds: [bool; 2]) -> InstalledPack {
        let info = PackInfo {
            folder: "baseoa".to_owned(),
            name: name.to_owned(),
            len: 1,
            crcs: crcs.into(),
        };
        InstalledPack { info, holds }
    }

    fn table(packs: &[InstalledPack]) -> Arc<PackTable> {
        Arc::new(PackTable::new(packs.to_vec()))
    }

    #[test]
    fn modules_come_from_first_listed_archive() {
        let old = pack("pak0", &[1, 2], [true, true]);
        let cgame = pack("pak1", &[3], [true, false]);
        let map = pack("map", &[4], [false, false]);
        let base = table(&[map.clone(), cgame.clone(), old.clone()]);
        let sums = |packs: [&InstalledPack; 3]| packs.map(|pack| pack.info.checksum());
        let pure = |pack: &InstalledPack| pack.info.pure_checksum(77);
        let proof = |listed: &[i32]| PackProof::new(std::slice::from_ref(&base), listed, 77);

        let both = proof(&sums([&map, &cgame, &old])).unwrap();
        assert_eq!(both.modules, [pure(&cgame), pure(&old)]);
        assert_eq!(both.referenced, both.modules);
        assert_eq!(both.encoded, 77 ^ pure(&cgame) ^ pure(&old) ^ 2);
        let one = proof(&sums([&old, &cgame, &map])).unwrap();
        assert_eq!((one.modules, one.referenced), ([pure(&old); 2], vec![pure(&old)]));
        assert_eq!(one.encoded, 77 ^ pure(&old) ^ 1);
        // Unlisted archives count only if the server lists none.
        assert_eq!(proof(&[cgame.info.checksum(), 0, 5]), Err("vm/ui.qvm"));
        assert_eq!(proof(&[5]), Err("vm/cgame.qvm"));
        assert_eq!(proof(&[]).unwrap().modules, [pure(&cgame), pure(&old)]);
        let listed = PackProof::listed(std::slice::from_ref(&base), &[]).unwrap();
        assert_eq!(listed.modules, [cgame.info.checksum(), old.info.checksum()]);
        assert_eq!(PackProof::new(&[], &[], 77), Err("vm/cgame.qvm"));
    }

    #[test]
    fn mod_archives_precede_those_of_base_game() {
        let base = pack("pak0", &[1, 2], [true, true]);
        let own = pack("mod", &[3], [true, true]);
        let tables = [table(std::slice::from_ref(&own)), table(std::slice::from_ref(&base))];
        let modules =
            |listed: &[i32]| PackProof::new(&tables, listed, 9).map(|proof| proof.modules);
        assert_eq!(modules(&[]), Ok([own.info.pure_checksum(9); 2]));
        assert_eq!(modules(&[base.info.checksum()]), Ok([base.info.pure_checksum(9); 2]));
    }
}

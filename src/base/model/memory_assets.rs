//! Game files in memory: for tests, and for maps from other sources.
//!
//! Invariant: a name is found as in a folder, without case.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use super::{
    assets::{
        AssetError, AssetLocation, Assets, GAME_MODULE, GamePath, ListedPack, ModCode, PackInfo,
        ScriptPlace, is_native_module, listed_folder, path,
    },
    checksum::block_checksum,
};

/// Files and archives in memory, for tests and for maps from other sources.
#[derive(Clone, Debug, Default)]
pub struct MemoryAssets {
    files: BTreeMap<GamePath, MemoryFile>,
    /// Files in the folder of the mod, which are also in `files`.
    mod_files: BTreeSet<GamePath>,
    own_files: BTreeMap<GamePath, Vec<u8>>,
    packs: Vec<PackInfo>,
    /// Bytes of each archive.
    archives: Vec<Arc<[u8]>>,
}

/// A file and the archive that contains it.
#[derive(Clone, Debug)]
struct MemoryFile {
    bytes: Vec<u8>,
    pack: Option<usize>,
}

impl MemoryAssets {
    /// Adds or replaces a file.
    ///
    /// # Errors
    ///
    /// Invalid name.
    pub fn insert(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), AssetError> {
        self.files.insert(path(name)?, MemoryFile { bytes, pack: None });
        Ok(())
    }

    /// Adds or replaces a file in the folder of the mod.
    ///
    /// # Errors
    ///
    /// Invalid name.
    pub fn insert_into_mod(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), AssetError> {
        self.mod_files.insert(path(name)?);
        self.insert(name, bytes)
    }

    /// Adds or replaces a file that a game wrote in an earlier run.
    ///
    /// # Errors
    ///
    /// Invalid name.
    pub fn insert_own(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), AssetError> {
        self.own_files.insert(path(name)?, bytes);
        Ok(())
    }

    /// Adds an archive of `folder` with its bytes and the files in it. The bytes are not parsed.
    ///
    /// # Errors
    ///
    /// Invalid name of a file.
    pub fn insert_pack(
        &mut self,
        folder: &str,
        name: &str,
        bytes: &[u8],
        files: &[(&str, &[u8])],
    ) -> Result<(), AssetError> {
        let pack = Some(self.packs.len());
        for (name, bytes) in files {
            self.files.insert(path(name)?, MemoryFile { bytes: bytes.to_vec(), pack });
        }
        self.packs.push(PackInfo {
            folder: folder.to_owned(),
            name: name.to_owned(),
            len: bytes.len() as u64,
            crcs: files.iter().map(|(_, bytes)| block_checksum(bytes) as u32).collect(),
        });
        self.archives.push(bytes.into());
        Ok(())
    }
}

impl Assets for MemoryAssets {
    fn find(&self, name: &str) -> Option<AssetLocation> {
        let file = self.files.get(&path(name).ok()?)?;
        let len = file.bytes.len() as u64;
        Some(AssetLocation { place: "memory".to_owned(), pack: file.pack, len })
    }

    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, AssetError> {
        let path = path(name)?;
        let Some(MemoryFile { bytes, .. }) = self.files.get(&path) else {
            return Err(AssetError::Missing { path });
        };
        let len = bytes.len() as u64;
        if len > max {
            return Err(AssetError::TooLong { path, place: "memory".to_owned(), len, max });
        }
        Ok(bytes.clone())
    }

    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        let Ok(folder) = listed_folder(folder) else { return Vec::new() };
        let extension = extension.to_ascii_lowercase();
        let is_listed = |path: &&GamePath| path.is_directly_in(folder.as_ref(), &extension);
        self.files.keys().filter(is_listed).cloned().collect()
    }

    fn packs(&self) -> Arc<[ListedPack]> {
        let listed = |(number, info): (usize, &PackInfo)| ListedPack { number, info: info.clone() };
        self.packs.iter().enumerate().map(listed).collect()
    }

    fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
        let bytes = self.archives.get(pack).and_then(|archive| {
            archive.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
        });
        bytes.map(<[u8]>::to_vec).ok_or_else(|| AssetError::Archive {
            name: self.packs.get(pack).map_or_else(String::new, PackInfo::file_name),
            why: "shorter than expected".to_owned(),
        })
    }

    fn offer(&self, _: &[usize]) {}

    fn mod_code(&self) -> ModCode {
        let has = |name: &str| self.mod_files.iter().any(|path| path.as_str() == name);
        let native = self.mod_files.iter().find(|path| is_native_module(path.as_str()));
        ModCode {
            bytecode: has(GAME_MODULE).then(|| "memory".to_owned()),
            native: native.map(ToString::to_string),
        }
    }

    fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
        self.own_files.iter().map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    }

    fn read_script(&self, name: &str, max: u64, place: ScriptPlace) -> Result<Vec<u8>, AssetError> {
        let path = path(name)?;
        if place == ScriptPlace::ModFolder && !self.mod_files.contains(&path) {
            return Err(AssetError::Missing { path });
        }
        self.read(name, max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_assets_behave_like_a_folder() {
        let mut assets = MemoryAssets::default();
        for name in ["maps/B.bsp", "maps/a.bsp", "maps/c/d.bsp", "maps/bsp", "maps/e.aas"] {
            assets.insert(name, vec![1, 2, 3]).unwrap();
        }
        let listed = assets.list("MAPS", "BSP");
        assert_eq!(
            listed.iter().map(GamePath::as_str).collect::<Vec<_>>(),
            ["maps/a.bsp", "maps/b.bsp"]
        );
        assert_eq!(assets.read("MAPS/b.bsp", 3), Ok(vec![1, 2, 3]));
        assert!(matches!(assets.read("maps/b.bsp", 2), Err(AssetError::TooLong { len: 3, .. })));
        assert!(matches!(assets.read("maps/x.bsp", 2), Err(AssetError::Missing { .. })));
        assert!(matches!(assets.read("../x", 2), Err(AssetError::Name { .. })));
    }
}

//! Game data of Quake: PACK archives and folders in the search order of QuakeWorld.
//!
//! A later game folder is searched before an earlier one, in each the archives before the loose files, `pak9.pak`
//! before `pak0.pak`, and archives of other names first. The first match wins.
//!
//! Invariants: an invalid archive is ignored with a warning that names it; a file costs no more memory than the
//! caller's bound.
//! Source: search order of QuakeWorld servers.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use super::{folder::Folder, script_file};
use crate::{
    bsp29::pack::{ENTRY_LEN, HEADER_LEN, MAX_ENTRIES, PackDirectory, PackHeader},
    io::files::open_regular,
    model::assets::{
        AssetError, AssetLocation, Assets, GamePath, ListedPack, ScriptPlace, listed_folder,
    },
};

/// Most archives of a folder.
const MAX_ARCHIVES: usize = 256;

/// A PACK archive.
#[derive(Debug)]
struct Archive {
    path: PathBuf,
    directory: PackDirectory,
}

#[derive(Debug)]
enum Source {
    Archive(Archive),
    Folder(Folder),
}

/// Game data of Quake.
#[derive(Debug, Default)]
pub struct QuakeData {
    folders: Vec<PathBuf>,
    sources: RwLock<Vec<Source>>,
}

impl Archive {
    fn open(path: &Path) -> Result<Self, String> {
        let named = |what: String| format!("archive {}: {what}", path.display());
        let mut file = open_regular(path).map_err(|error| named(error.to_string()))?;
        let len = file.metadata().map_err(|error| named(error.to_string()))?.len();
        let mut bytes = Vec::new();
        let head = read_range(&mut file, 0..len.min(HEADER_LEN as u64), &mut bytes);
        head.map_err(|error| named(error.to_string()))?;
        let header = PackHeader::read(&bytes, len).map_err(|error| named(error.to_string()))?;
        debug_assert!(
            header.directory.end - header.directory.start <= (MAX_ENTRIES * ENTRY_LEN) as u64
        );
        read_range(&mut file, header.directory.clone(), &mut bytes)
            .map_err(|error| named(error.to_string()))?;
        let directory =
            PackDirectory::read(&header, &bytes).map_err(|error| named(error.to_string()))?;
        Ok(Self { path: path.to_owned(), directory })
    }

    fn read(&self, path: &GamePath, max: u64) -> Option<Result<Vec<u8>, AssetError>> {
        let range = self.directory.find(path.as_str())?.range.clone();
        let len = range.end - range.start;
        let place = || self.path.display().to_string();
        if len > max {
            return Some(Err(AssetError::TooLong { path: path.clone(), place: place(), len, max }));
        }
        let mut bytes = Vec::new();
        let read =
            open_regular(&self.path).and_then(|mut file| read_range(&mut file, range, &mut bytes));
        Some(match read {
            Ok(()) => Ok(bytes),
            Err(error) => {
                let why = error.to_string();
                Err(AssetError::Unreadable { path: path.clone(), place: place(), why })
            }
        })
    }
}

/// Replaces `out` with a range of a file.
fn read_range(file: &mut File, range: Range<u64>, out: &mut Vec<u8>) -> io::Result<()> {
    let len = range.end - range.start;
    out.clear();
    file.seek(SeekFrom::Start(range.start))?;
    file.take(len).read_to_end(out)?;
    if out.len() as u64 == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Archives of a folder, first searched first: other names, then `pak9.pak` to `pak0.pak`.
fn archives(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(Option<u32>, String, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?.to_ascii_lowercase();
            let stem = name.strip_suffix(".pak")?;
            let number = stem.strip_prefix("pak").and_then(|number| number.parse().ok());
            Some((number, name, entry.path()))
        })
        .take(MAX_ARCHIVES)
        .collect();
    found.sort_by(|a, b| {
        let key =
            |one: &(Option<u32>, String, PathBuf)| (one.0.is_some(), one.0.map(std::cmp::Reverse));
        key(a).cmp(&key(b)).then_with(|| b.1.cmp(&a.1))
    });
    found.into_iter().map(|(.., path)| path).collect()
}

impl QuakeData {
    /// Opens game folders, first searched first. Folders need not exist.
    #[must_use]
    pub fn open(folders: Vec<PathBuf>) -> Self {
        let data = Self { folders, ..Self::default() };
        data.rescan();
        data
    }

    fn with_sources<T>(&self, ask: impl FnOnce(&[Source]) -> T) -> T {
        ask(&self.sources.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn scan(&self) -> Vec<Source> {
        let mut sources = Vec::new();
        for folder in &self.folders {
            for path in archives(folder) {
                match Archive::open(&path) {
                    Ok(archive) => {
                        let ignored = archive.directory.ignored();
                        if ignored > 0 {
                            log::warn!(
                                "archive {}: {ignored} invalid names ignored",
                                path.display()
                            );
                        }
                        sources.push(Source::Archive(archive));
                    }
                    Err(what) => log::warn!("{what}; ignored"),
                }
            }
            sources.push(Source::Folder(Folder::new(folder)));
        }
        sources
    }
}

impl Assets for QuakeData {
    fn find(&self, name: &str) -> Option<AssetLocation> {
        let path = GamePath::new(name.as_bytes())?;
        self.with_sources(|sources| {
            sources.iter().enumerate().find_map(|(number, source)| {
                let (place, pack, len) = match source {
                    Source::Archive(archive) => {
                        let range = &archive.directory.find(path.as_str())?.range;
                        (archive.path.as_path(), Some(number), range.end - range.start)
                    }
                    Source::Folder(folder) => (folder.path(), None, folder.locate(&path)?.1),
                };
                Some(AssetLocation { place: place.display().to_string(), pack, len })
            })
        })
    }

    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, AssetError> {
        let path = GamePath::new(name.as_bytes())
            .ok_or_else(|| AssetError::Name { name: name.to_owned() })?;
        let read = self.with_sources(|sources| {
            sources.iter().find_map(|source| match source {
                Source::Archive(archive) => archive.read(&path, max),
                Source::Folder(folder) => folder.read(&path, max),
            })
        });
        read.unwrap_or(Err(AssetError::Missing { path }))
    }

    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        let Ok(folder) = listed_folder(folder) else { return Vec::new() };
        let extension = extension.to_ascii_lowercase();
        let mut found = std::collections::BTreeSet::new();
        self.with_sources(|sources| {
            for source in sources {
                match source {
                    Source::Folder(loose) => found.extend(loose.list(folder.as_ref(), &extension)),
                    Source::Archive(archive) => {
                        let paths = archive.directory.entries().iter();
                        let paths = paths.filter_map(|entry| GamePath::new(entry.name.as_bytes()));
                        let is_in =
                            |path: &GamePath| path.is_directly_in(folder.as_ref(), &extension);
                        found.extend(paths.filter(is_in));
                    }
                }
            }
        });
        found.into_iter().collect()
    }

    fn packs(&self) -> Arc<[ListedPack]> {
        Arc::new([])
    }

    fn rescan(&self) -> bool {
        let scanned = self.scan();
        *self.sources.write().unwrap_or_else(PoisonError::into_inner) = scanned;
        false
    }

    fn read_pack(&self, pack: usize, _: Range<u64>) -> Result<Vec<u8>, AssetError> {
        let why = "not offered".to_owned();
        Err(AssetError::Archive { name: format!("archive {pack}"), why })
    }

    fn offer(&self, _: &[usize]) {}

    fn read_script(&self, name: &str, max: u64, place: ScriptPlace) -> Result<Vec<u8>, AssetError> {
        match place {
            ScriptPlace::CommandLine => script_file::read(self, name, max),
            _ => self.read(name, max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsp29::pack::write_pack;

    #[test]
    fn archives_are_searched_before_folders_in_order() {
        let root = std::env::temp_dir().join(format!("fragd-quake-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let (qw, id1) = (root.join("qw"), root.join("id1"));
        fs::create_dir_all(qw.join("maps")).unwrap();
        fs::create_dir_all(&id1).unwrap();
        let pack = |text: &[u8]| write_pack(&[("maps/a.bsp", text), ("maps/B.bsp", b"B")]);
        fs::write(id1.join("PAK0.PAK"), pack(b"id1 0")).unwrap();
        fs::write(id1.join("pak1.pak"), pack(b"id1 1")).unwrap();
        fs::write(id1.join("pak10.pak"), b"not an archive").unwrap();
        fs::write(qw.join("maps/c.bsp"), b"c").unwrap();
        let data = QuakeData::open(vec![qw.clone(), id1]);
        assert_eq!(data.read("maps/a.bsp", 100).unwrap(), b"id1 1");
        fs::write(qw.join("maps/A.bsp"), b"loose").unwrap();
        assert_eq!(data.read("maps/a.bsp", 100).unwrap(), b"loose");
        assert!(matches!(data.read("maps/b.bsp", 0), Err(AssetError::TooLong { .. })));
        let names: Vec<String> = data.list("maps", "bsp").iter().map(ToString::to_string).collect();
        assert_eq!(names, ["maps/a.bsp", "maps/b.bsp", "maps/c.bsp"]);
        assert!(data.find("maps/b.bsp").unwrap().pack.is_some());
        assert!(data.find("maps/c.bsp").unwrap().pack.is_none());
        assert!(Archive::open(&root.join("id1/pak10.pak")).unwrap_err().contains("pak10.pak"));
        fs::remove_dir_all(&root).unwrap();
    }
}

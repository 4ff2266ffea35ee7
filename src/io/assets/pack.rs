//! pk3 archive: a zip archive of game files.
//!
//! The directory is read when the archive is opened, and again for files that are read after it was released;
//! files are read on demand. An archive is rejected
//! as a whole if entries overlap, or there are more of them than any game has. An entry whose name leaves the game folder
//! is ignored, because real archives have such. Of names that differ at most in case, the last entry counts.
//!
//! Invariants: no file costs more memory than the caller's bound, also with a false length in its entry; only regular files are opened,
//! so a pipe cannot block the server.
//!
//! Source: the order of ioquake3's file table, in which a later entry precedes an earlier one.

use std::{
    io::{self, Read as _},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use thiserror::Error;
use zip::{ZipArchive, result::ZipError};

use super::{
    pack_directory::FullDirectory,
    pack_source::{PackReader, PackSource},
};
use crate::model::{
    assets::{AssetError, GamePath, PackInfo},
    text::shown_name,
};

/// Maximum entries of an archive.
const MAX_ENTRIES: usize = 65_535;
/// Largest file read from an archive, in bytes.
pub const MAX_ENTRY_LEN: u64 = 64 * 1024 * 1024;
/// Length of an entry's local header before its name, in bytes.
const LOCAL_HEADER_LEN: u64 = 30;

/// Error of an archive, with its path.
#[derive(Debug, Error)]
#[error("{}: {fault}", path.display())]
pub struct PackError {
    /// The archive.
    pub path: PathBuf,
    /// Fault of the archive.
    pub fault: PackFault,
}

/// Fault of an archive.
#[derive(Debug, Error)]
pub enum PackFault {
    /// The archive is not readable.
    #[error("not readable: {0}")]
    Io(#[from] io::Error),
    /// Invalid zip archive.
    #[error("invalid pk3: {0}")]
    Zip(ZipError),
    /// Too many entries.
    #[error("too many files: {0} (max {MAX_ENTRIES})")]
    TooManyEntries(usize),
    /// Overlap of two entries, or of an entry and the directory.
    #[error("entry \"{0}\" overlaps the next entry")]
    Overlap(String),
}

/// An open archive.
#[derive(Debug)]
pub struct Pack {
    source: PackSource,
    info: PackInfo,
    /// Files, sorted by path.
    files: Box<[PackedFile]>,
    /// Number of entries ignored for their names, and the first of them.
    unreachable: Option<(usize, String)>,
    /// Number of files that a later entry of the same name replaces, and the first of them.
    replaced: Option<(usize, String)>,
    /// Reader with the directory, while files are read.
    archive: Mutex<Option<ZipArchive<PackReader>>>,
}

/// A file of an archive.
#[derive(Debug)]
struct PackedFile {
    path: GamePath,
    /// Length in bytes.
    len: u64,
    /// Number of its entry, below [`MAX_ENTRIES`].
    entry: u16,
}

/// Rejects an archive whose entries overlap one another or the directory.
fn check_overlap(archive: &ZipArchive<PackReader>) -> Result<(), PackFault> {
    let mut extents = Vec::with_capacity(archive.len());
    for number in 0..archive.len() {
        let entry = archive.by_index_data(number).map_err(PackFault::Zip)?;
        let start = entry.header_start();
        let len = LOCAL_HEADER_LEN + entry.name_raw().len() as u64;
        let end = start.saturating_add(len.saturating_add(entry.compressed_size()));
        extents.push((start, end, number));
    }
    let Some(number) = find_overlap(extents, archive.central_directory_start()) else {
        return Ok(());
    };
    let entry = archive.by_index_data(number).map_err(PackFault::Zip)?;
    Err(PackFault::Overlap(shown_name(entry.name_raw())))
}

/// Returns the number of an entry whose data reaches into the next one or into the directory. Extents are start,
/// end and number of each entry.
fn find_overlap(mut extents: Vec<(u64, u64, usize)>, directory: u64) -> Option<usize> {
    extents.sort_unstable();
    let limits = extents.iter().skip(1).map(|&(start, ..)| start).chain([directory]);
    let overlaps = extents.iter().zip(limits).find(|((_, end, _), next)| end > next);
    overlaps.map(|(&(.., number), _)| number)
}

/// Sorts files by path and keeps the last one of each. Archives are usually in order, for which this takes one pass.
fn sorted(mut files: Vec<PackedFile>, replaced: &mut Option<(usize, String)>) -> Box<[PackedFile]> {
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files.dedup_by(|later, kept| {
        let is_same = later.path == kept.path;
        if is_same {
            std::mem::swap(later, kept);
            replaced.get_or_insert_with(|| (0, shown_name(kept.path.as_str().as_bytes()))).0 += 1;
        }
        is_same
    });
    files.into()
}

impl Pack {
    /// Opens the archive at `path`, of the game folder `folder`.
    ///
    /// # Errors
    ///
    /// The archive is not readable or not consistent.
    pub fn open(path: &Path, folder: &str) -> Result<Self, PackError> {
        let source = PackSource::file(path).map_err(PackFault::Io);
        source
            .and_then(|source| Self::read_directory(source, folder))
            .map_err(|fault| PackError { path: path.to_owned(), fault })
    }

    /// Opens an archive in the program, as one of the game folder `folder`.
    ///
    /// # Errors
    ///
    /// The archive is not consistent.
    pub fn builtin(
        name: &'static str,
        bytes: &'static [u8],
        folder: &str,
    ) -> Result<Self, PackError> {
        Self::read_directory(PackSource::Builtin(name, bytes), folder)
            .map_err(|fault| PackError { path: name.into(), fault })
    }

    fn read_directory(source: PackSource, folder: &str) -> Result<Self, PackFault> {
        let packed_len = source.len();
        let archive = ZipArchive::new(source.reader()?).map_err(|error| match error {
            ZipError::Io(error) => PackFault::Io(error),
            error => PackFault::Zip(error),
        })?;
        if archive.len() > MAX_ENTRIES {
            return Err(PackFault::TooManyEntries(archive.len()));
        }
        let full = archive.has_duplicate_names().then(|| {
            let start = archive.central_directory_start();
            FullDirectory::read(&mut source.reader()?, start)
        });
        let full = full.transpose()?;
        let mut files = Vec::with_capacity(archive.len());
        let mut crcs = Vec::with_capacity(archive.len());
        check_overlap(&archive)?;
        let mut unreachable: Option<(usize, String)> = None;
        for number in 0..archive.len() {
            let entry = archive.by_index_data(number).map_err(PackFault::Zip)?;
            let name = entry.name_raw();
            let shown = || shown_name(name);
            let unpacked = entry.size();
            if unpacked > 0 {
                crcs.push(entry.crc32());
            }
            if name.ends_with(b"/") {
                continue;
            }
            match GamePath::new(name) {
                Some(path) => {
                    files.push(PackedFile { path, len: unpacked, entry: number as u16 });
                }
                None => match &mut unreachable {
                    Some((count, _)) => *count += 1,
                    none => *none = Some((1, shown())),
                },
            }
        }
        let mut replaced = None;
        if let Some(full) = full {
            (crcs, replaced) = (full.crcs, full.replaced);
            // The zip reader has the last entry of a name in the place of the first.
            let last = |file: &PackedFile| {
                let entry = archive.by_index_data(usize::from(file.entry)).ok();
                entry.and_then(|entry| full.last.get(entry.name_raw())).copied()
            };
            files.sort_by_cached_key(last);
        }
        let stem = source.path().file_stem().unwrap_or_default();
        Ok(Self {
            info: PackInfo {
                folder: folder.to_owned(),
                name: stem.to_string_lossy().into_owned(),
                len: packed_len,
                crcs: crcs.into(),
            },
            source,
            files: sorted(files, &mut replaced),
            unreachable,
            replaced,
            archive: Mutex::new(Some(archive)),
        })
    }

    /// Path of the archive, or its name in the program.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Location of the bytes.
    #[must_use]
    pub const fn source(&self) -> &PackSource {
        &self.source
    }

    /// Reads bytes of the archive itself.
    ///
    /// # Errors
    ///
    /// The archive is not readable.
    pub fn read_range(&self, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
        self.source.read(range).map_err(|error| AssetError::Archive {
            name: self.path().display().to_string(),
            why: error.to_string(),
        })
    }

    /// Returns name and checksum.
    #[must_use]
    pub const fn info(&self) -> &PackInfo {
        &self.info
    }

    /// Returns warnings about entries that are ignored.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let path = self.path().display();
        let unreachable = self.unreachable.as_ref().map(|(count, first)| {
            format!("{path}: {count} entries ignored for their names, first \"{first}\"")
        });
        let replaced = self.replaced.as_ref().map(|(count, first)| {
            let noun = if *count == 1 { "name" } else { "names" };
            format!("{path}: {count} duplicate {noun}, first \"{first}\"; the last entry is used")
        });
        unreachable.into_iter().chain(replaced).collect()
    }

    /// Returns the files of the archive.
    pub fn files(&self) -> impl Iterator<Item = &GamePath> {
        self.files.iter().map(|file| &file.path)
    }

    /// Returns the length of a file, if it exists.
    #[must_use]
    pub fn len_of(&self, path: &GamePath) -> Option<u64> {
        self.file(path).map(|file| file.len)
    }

    fn file(&self, path: &GamePath) -> Option<&PackedFile> {
        let at = self.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        Some(&self.files[at])
    }

    fn reopen(&self) -> Result<ZipArchive<PackReader>, ZipError> {
        ZipArchive::new(self.source.reader()?)
    }

    /// Frees the directory of the zip reader, which takes several hundred bytes per file. The next read opens it again.
    pub fn release(&self) {
        *self.archive.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Reads a whole file of at most `max` and [`MAX_ENTRY_LEN`] bytes. `None` if it does not exist.
    pub fn read(&self, path: &GamePath, max: u64) -> Option<Result<Vec<u8>, AssetError>> {
        let &PackedFile { len, entry, .. } = self.file(path)?;
        let max = max.min(MAX_ENTRY_LEN);
        let place = || self.path().display().to_string();
        let too_long = |len| AssetError::TooLong { path: path.clone(), place: place(), len, max };
        if len > max {
            return Some(Err(too_long(len)));
        }
        let unreadable =
            |why: String| AssetError::Unreadable { path: path.clone(), place: place(), why };
        // The lock guards the file position only, and every read sets it first.
        let mut archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        let archive = match &mut *archive {
            Some(archive) => Ok(archive),
            released => self.reopen().map(|archive| released.insert(archive)),
        };
        let mut bytes = Vec::new();
        let entry = archive.and_then(|archive| archive.by_index(usize::from(entry)));
        let read = entry.map_err(|error| error.to_string()).and_then(|entry| {
            bytes.reserve_exact(len as usize);
            entry.take(max + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())
        });
        Some(match read {
            Err(why) => Err(unreadable(why)),
            Ok(_) if bytes.len() as u64 > max => Err(too_long(bytes.len() as u64)),
            Ok(_) if bytes.len() as u64 != len => {
                Err(unreadable(format!("has {} bytes instead of {len}", bytes.len())))
            }
            Ok(_) => Ok(bytes),
        })
    }
}

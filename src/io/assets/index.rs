//! Index of game data: archives and folders in the search paths, and their changes between levels.
//!
//! A scan opens archives that are new or changed, and keeps the others with their numbers. Archives that vanished stay
//! readable by number, since clients may be downloading them. Invariants: a number belongs to one archive for the life of
//! the process; an archive that cannot be opened is reported once; open files are bounded.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use super::{
    builtin,
    folder::{self, Folder},
    pack::Pack,
    pack_source::{FileStamp, PackSource},
    search_paths,
};
use crate::model::{
    assets::{ListedPack, PackInfo},
    map_parallel,
};

/// Maximum archives per folder.
const MAX_PACKS: usize = 1024;
/// Maximum threads that open the archives of a folder.
const MAX_THREADS: usize = 8;
/// Maximum archives that are kept after they vanished.
const MAX_RETIRED: usize = 64;
/// Maximum names in a log line about changes.
const MAX_SHOWN: usize = 8;

/// Folders to search.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Directories that contain game folders, in search order.
    base_paths: Vec<PathBuf>,
    /// Game folders in search order; the game's own is the last one.
    folders: Vec<String>,
    /// Game folder of the archives in the program, if they are used.
    pub(super) builtin: Option<String>,
}

impl Search {
    pub(super) fn new(base_paths: &[PathBuf], folders: &[&str]) -> Self {
        let named = folders.iter().filter(|folder| !folder.is_empty());
        Self {
            base_paths: base_paths.to_vec(),
            folders: named.map(|&folder| folder.to_owned()).collect(),
            builtin: None,
        }
    }
}

/// A folder or archive that is searched.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Folder(Folder),
    /// An archive and its number.
    Pack(Arc<Pack>, usize),
}

/// Archives and folders that were found.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Sources in search order.
    pub(super) sources: Vec<Source>,
    /// Number of sources of the mod, which are the first ones.
    pub(super) mod_sources: usize,
    /// Archives in search order.
    pub(super) packs: Arc<[ListedPack]>,
    /// Warnings of this scan that no earlier one gave.
    pub(super) warnings: Vec<String>,
    /// Archives that vanished, the newest last.
    retired: Vec<(Arc<Pack>, usize)>,
    /// Archives that could not be opened.
    rejected: BTreeMap<PathBuf, Option<FileStamp>>,
    /// Folders with more archives than are opened.
    crowded: HashSet<PathBuf>,
    /// Folders named as archives, which are not read.
    unread: HashSet<PathBuf>,
    /// Number of the next archive.
    next_number: usize,
}

impl Index {
    /// Scans the folders again.
    pub(super) fn scanned(&self, search: &Search) -> Self {
        let mut scan = Scan {
            before: self,
            known: self.known(),
            opened: HashSet::new(),
            packs: Vec::new(),
            next: Self { next_number: self.next_number, ..Self::default() },
        };
        for folder in &search.folders {
            scan.next.mod_sources = scan.next.sources.len();
            for base in &search.base_paths {
                scan.add_folder(&base.join(folder), folder);
            }
        }
        if let Some(folder) = &search.builtin {
            scan.add_builtin(folder);
        }
        scan.finish()
    }

    /// Archives by path.
    fn known(&self) -> BTreeMap<&Path, (&Arc<Pack>, usize)> {
        let packs = self.sources.iter().filter_map(|source| match source {
            Source::Pack(pack, number) => Some((pack.path(), (pack, *number))),
            Source::Folder(_) => None,
        });
        packs.collect()
    }

    /// Returns the archive of a number, also one that vanished.
    pub(super) fn pack(&self, number: usize) -> Option<&Pack> {
        let current = self.sources.iter().find_map(|source| match source {
            Source::Pack(pack, known) if *known == number => Some(&**pack),
            Source::Pack(..) | Source::Folder(_) => None,
        });
        let retired = || self.retired.iter().find(|(_, known)| *known == number);
        current.or_else(|| retired().map(|(pack, _)| &**pack))
    }

    /// Whether the archive of a source is kept.
    pub(super) fn has_source(&self, source: &PackSource) -> bool {
        let is_same =
            |pack: &Pack| pack.path() == source.path() && pack.source().stamp() == source.stamp();
        let is_current = self.sources.iter().any(|known| match known {
            Source::Pack(pack, _) => is_same(pack),
            Source::Folder(_) => false,
        });
        is_current || self.retired.iter().any(|(pack, _)| is_same(pack))
    }

    /// Describes the archives that differ in a later scan; none if they are the same in the same order.
    pub(super) fn changes(&self, later: &Self) -> Option<String> {
        let numbers = |index: &Self| index.packs.iter().map(|pack| pack.number).collect::<Vec<_>>();
        if numbers(self) == numbers(later) {
            return None;
        }
        let names = |from: &Self, to: &Self| -> Vec<String> {
            let others: HashSet<usize> = to.packs.iter().map(|pack| pack.number).collect();
            let missing = from.packs.iter().filter(|pack| !others.contains(&pack.number));
            missing.map(|pack| pack.info.file_name()).collect()
        };
        let (added, removed) = (names(later, self), names(self, later));
        let (added, removed) = (names_of(&added), names_of(&removed));
        Some(match (added.is_empty(), removed.is_empty()) {
            (false, true) => format!("new archives {added}"),
            (true, false) => format!("archives removed: {removed}"),
            (false, false) => format!("new archives {added}; archives removed: {removed}"),
            (true, true) => "archives in another order".to_owned(),
        })
    }
}

/// Names in a log line, the first ones only.
fn names_of(names: &[String]) -> String {
    let more = names.len().saturating_sub(MAX_SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// A scan in progress.
struct Scan<'a> {
    before: &'a Index,
    known: BTreeMap<&'a Path, (&'a Arc<Pack>, usize)>,
    /// Folders and archives by their real paths: two base paths may name the same one through links.
    opened: HashSet<PathBuf>,
    packs: Vec<ListedPack>,
    next: Index,
}

impl Scan<'_> {
    fn add_folder(&mut self, path: &Path, folder: &str) {
        if !path.is_dir() || !self.opened.insert(canonical(path)) {
            return;
        }
        self.next.sources.push(Source::Folder(Folder::new(path)));
        let mut names: Vec<_> =
            folder::entries(path).filter(|(name, _)| search_paths::is_pack_name(name)).collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.to_ascii_uppercase()));
        self.note_unread(path);
        if names.len() > MAX_PACKS {
            let left = names.len() - MAX_PACKS;
            if !self.before.crowded.contains(path) {
                self.next.warnings.push(format!("{}: {left} archives ignored", path.display()));
            }
            self.next.crowded.insert(path.to_owned());
            names.truncate(MAX_PACKS);
        }
        let mut paths: Vec<PathBuf> = names.into_iter().map(|(_, path)| path).collect();
        paths.retain(|path| self.opened.insert(canonical(path)));
        let found: Vec<Found> = paths.into_iter().map(|path| self.found(path)).collect();
        let fresh: Vec<&Path> = found.iter().filter_map(Found::fresh).collect();
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let opened = map_parallel(fresh.len(), threads, |at| Pack::open(fresh[at], folder));
        let mut opened = opened.into_iter();
        for found in found {
            match found {
                Found::Known(pack, number) => self.add(pack, number),
                Found::Rejected(path, stamp) => {
                    self.next.rejected.insert(path, stamp);
                }
                Found::Fresh(path, stamp) => match opened.next() {
                    Some(Ok(pack)) => self.add_new(pack),
                    Some(Err(error)) => {
                        self.next.warnings.push(format!("{error}; archive ignored"));
                        self.next.rejected.insert(path, stamp);
                    }
                    None => {}
                },
            }
        }
    }

    /// Warns once about folders that ioquake3 reads as archives.
    fn note_unread(&mut self, folder: &Path) {
        let is_unread = |(name, path): &(String, PathBuf)| {
            search_paths::is_pack_folder_name(name) && path.is_dir()
        };
        let found = folder::entries(folder).filter(is_unread).take(MAX_SHOWN);
        for (_, path) in found {
            if !self.before.unread.contains(&path) {
                let shown = path.display();
                self.next.warnings.push(format!(
                    "{shown}: folder not read (expected a .pk3 archive of its files, or the files in {})",
                    folder.display()
                ));
            }
            self.next.unread.insert(path);
        }
    }

    /// Compares an archive with the previous scan.
    fn found(&self, path: PathBuf) -> Found {
        let stamp = FileStamp::at(&path);
        if let Some(&(pack, number)) = self.known.get(&*path)
            && stamp.is_some()
            && pack.source().stamp() == stamp
        {
            return Found::Known(Arc::clone(pack), number);
        }
        if self.before.rejected.get(&path).is_some_and(|known| *known == stamp) {
            return Found::Rejected(path, stamp);
        }
        Found::Fresh(path, stamp)
    }

    fn add_builtin(&mut self, folder: &str) {
        for (name, bytes) in builtin::PACKS {
            let is_same =
                |pack: &PackInfo| pack.folder == folder && pack.name.eq_ignore_ascii_case(name);
            if self.packs.iter().any(|pack| is_same(&pack.info)) {
                continue;
            }
            if let Some(&(pack, number)) = self.known.get(Path::new(name)) {
                self.add(Arc::clone(pack), number);
                continue;
            }
            match Pack::builtin(name, bytes, folder) {
                Ok(pack) => self.add_new(pack),
                Err(error) => self.next.warnings.push(format!("{error}; archive ignored")),
            }
        }
    }

    fn add_new(&mut self, pack: Pack) {
        self.next.warnings.extend(pack.warnings());
        let number = self.next.next_number;
        self.next.next_number += 1;
        self.add(Arc::new(pack), number);
    }

    fn add(&mut self, pack: Arc<Pack>, number: usize) {
        self.packs.push(ListedPack { number, info: pack.info().clone() });
        self.next.sources.push(Source::Pack(pack, number));
    }

    fn finish(self) -> Index {
        let Self { before, known, packs, mut next, .. } = self;
        let kept: HashSet<usize> = packs.iter().map(|pack| pack.number).collect();
        let mut vanished: Vec<(Arc<Pack>, usize)> = known
            .into_values()
            .filter(|(_, number)| !kept.contains(number))
            .map(|(pack, number)| (Arc::clone(pack), number))
            .collect();
        vanished.sort_by_key(|(_, number)| *number);
        next.retired = before.retired.iter().cloned().chain(vanished).collect();
        let excess = next.retired.len().saturating_sub(MAX_RETIRED);
        next.retired.drain(..excess);
        next.packs = packs.into();
        next
    }
}

/// An archive of a folder, compared with the previous scan.
enum Found {
    /// Unchanged, with its number.
    Known(Arc<Pack>, usize),
    /// Unusable as before.
    Rejected(PathBuf, Option<FileStamp>),
    /// New or changed.
    Fresh(PathBuf, Option<FileStamp>),
}

impl Found {
    fn fresh(&self) -> Option<&Path> {
        match self {
            Self::Fresh(path, _) => Some(path),
            Self::Known(..) | Self::Rejected(..) => None,
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

//! Game files by name, from any source.
//!
//! A consumer of maps reads them through [`Assets`]; `io` implements it with archives and folders,
//! a test with bytes. Invariant: a [`GamePath`] cannot leave the game folder, for any input.
//!
//! Source: Quake III's data files and their checksums.

use std::{fmt, ops::Range, rc::Rc, sync::Arc};

use thiserror::Error;

pub use super::memory_assets::MemoryAssets;
use super::{checksum::block_checksum, text::shown_name};

/// Longest name of a game file, in bytes.
pub const MAX_GAME_PATH_LEN: usize = 255;

/// Longest name of a file that a game writes, in bytes, and most parts of it.
const MAX_WRITABLE_LEN: usize = 127;
const MAX_WRITABLE_DEPTH: usize = 8;
/// Extensions that a game does not write: archives, modules and programs.
const UNWRITABLE_EXTENSIONS: [&str; 13] =
    ["pk3", "pk3dir", "qvm", "so", "dll", "dylib", "exe", "com", "bat", "cmd", "ps1", "sh", "lnk"];

/// Whether a name without extension is that of a device on Windows.
fn is_reserved(stem: &str) -> bool {
    let is_numbered = |name: &str| {
        stem.strip_prefix(name)
            .is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
    };
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"].contains(&stem)
        || is_numbered("com")
        || is_numbered("lpt")
}

/// Name of a game file: lower case, parts separated by single slashes, no `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GamePath(Box<str>);

impl GamePath {
    /// Normalizes a name as the game compares it: lower case, with `\` as `/`. `None` for a name
    /// that is empty, too long, absolute, not ASCII, or has a part such as `..`.
    #[must_use]
    pub fn new(name: &[u8]) -> Option<Self> {
        let is_fine = |byte: &u8| {
            matches!(byte, 0x20..=0x7e)
                && !matches!(byte, b':' | b'*' | b'?' | b'"' | b'<' | b'>' | b'|')
        };
        if name.len() > MAX_GAME_PATH_LEN || !name.iter().all(is_fine) {
            return None;
        }
        let fold = |&byte: &u8| if byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() };
        let folded: Vec<u8> = name.iter().map(fold).collect();
        // A part of dots only is a parent folder, on some file systems also with spaces.
        let is_way_out = |part: &[u8]| part.iter().all(|byte| matches!(byte, b'.' | b' '));
        if folded.split(|&byte| byte == b'/').any(is_way_out) {
            return None;
        }
        String::from_utf8(folded).ok().map(|folded| Self(folded.into()))
    }

    /// Normalized name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a game may write a file of this name. Refused are hidden files, names that some systems reserve or
    /// change, programs, archives and modules, and deep or long paths.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        let parts = || self.0.split('/');
        let extension = self.0.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_plain = |part: &str| {
            let stem = part.split('.').next().unwrap_or_default().trim_end_matches(' ');
            !part.starts_with(['.', ' ']) && !part.ends_with(['.', ' ']) && !is_reserved(stem)
        };
        self.0.len() <= MAX_WRITABLE_LEN
            && parts().count() <= MAX_WRITABLE_DEPTH
            && parts().all(is_plain)
            && !UNWRITABLE_EXTENSIONS.contains(&extension)
    }

    /// Whether the file is directly in `folder` and ends in `.extension`.
    #[must_use]
    pub fn is_in(&self, folder: &Self, extension: &str) -> bool {
        self.is_directly_in(Some(folder), extension)
    }

    /// Whether the file is directly in `folder`, without one in the game folder itself, and ends in `.extension`.
    pub(crate) fn is_directly_in(&self, folder: Option<&Self>, extension: &str) -> bool {
        let rest = match folder {
            Some(folder) => {
                self.0.strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/'))
            }
            None => Some(&*self.0),
        };
        rest.is_some_and(|name| {
            let dot = name.len().checked_sub(extension.len() + 1);
            !name.contains('/')
                && dot.is_some_and(|dot| {
                    name.is_char_boundary(dot)
                        && name[dot..].strip_prefix('.').is_some_and(|own| own == extension)
                })
        })
    }
}

impl fmt::Display for GamePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reasons why a game file was not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AssetError {
    /// Invalid name.
    #[error("invalid game file name: \"{}\"", shown_name(name.as_bytes()))]
    Name {
        /// Requested name.
        name: String,
    },
    /// Not found in any folder or archive.
    #[error("{path}: not in the game data")]
    Missing {
        /// File.
        path: GamePath,
    },
    /// Larger than the limit of its kind.
    #[error("{path} in {place}: too long: {len} bytes (max {max})")]
    TooLong {
        /// File.
        path: GamePath,
        /// Archive or folder.
        place: String,
        /// Length in bytes, as far as known.
        len: u64,
        /// Limit in bytes.
        max: u64,
    },
    /// Any other error.
    #[error("{path} in {place}: {why}")]
    Unreadable {
        /// File.
        path: GamePath,
        /// Archive or folder.
        place: String,
        /// Error of the system or the archive.
        why: String,
    },
    /// Archive that cannot be read as a file.
    #[error("{name}: {why}")]
    Archive {
        /// Folder, name and extension.
        name: String,
        /// Error of the system.
        why: String,
    },
}

/// Location of a game file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetLocation {
    /// Archive or folder, as shown to operators.
    pub place: String,
    /// Number in [`Assets::packs`]; none for a loose file.
    pub pack: Option<usize>,
    /// Length in bytes.
    pub len: u64,
}

/// Identity of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackInfo {
    /// Folder of the game, such as `baseoa`.
    pub folder: String,
    /// Name without folder and extension.
    pub name: String,
    /// Length of the archive in bytes.
    pub len: u64,
    /// CRC-32 of each non-empty file, in directory order.
    pub crcs: Arc<[u32]>,
}

impl PackInfo {
    /// Returns the name that clients request: folder, name and extension.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}/{}.pk3", self.folder, self.name)
    }

    /// Returns the checksum that servers list.
    #[must_use]
    pub fn checksum(&self) -> i32 {
        self.sum(&[])
    }

    /// Returns the checksum by which a client proves its archive, for the feed of its gamestate.
    #[must_use]
    pub fn pure_checksum(&self, feed: i32) -> i32 {
        self.sum(&feed.to_le_bytes())
    }

    fn sum(&self, front: &[u8]) -> i32 {
        let mut bytes = front.to_vec();
        bytes.extend(self.crcs.iter().flat_map(|crc| crc.to_le_bytes()));
        block_checksum(&bytes)
    }
}

/// An archive of the game data and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPack {
    /// Number of the archive. It stays the same while the archive is unchanged, and is never given to another one.
    pub number: usize,
    /// Identity.
    pub info: PackInfo,
}

/// Origin of a console script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptPlace {
    /// A script of the command line: in the game data, else a file by its path. A path
    /// that starts with `/` or `.` is that of a file only.
    CommandLine,
    /// Any folder and archive of the game data.
    GameData,
    /// A loose file in the folder of the mod. Archives are left out, since clients run scripts of the same names.
    ModFolder,
    /// As [`Self::ModFolder`], in a home folder, which holds the own files of the operator.
    OwnModFolder,
}

/// Game module of a game folder, in bytecode.
pub const GAME_MODULE: &str = "vm/qagame.qvm";
/// Largest game module that is read, in bytes.
pub const MAX_GAME_MODULE_LEN: u64 = 16 << 20;

/// Game code in the folder of the mod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModCode {
    /// Archive or folder with the first [`GAME_MODULE`] in search order.
    pub bytecode: Option<String>,
    /// Name of a game module for processors, which is a library.
    pub native: Option<String>,
}

/// Whether a file name is that of a native game module, such as `qagamex86_64.so`.
#[must_use]
pub fn is_native_module(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_library = [".so", ".dll", ".dylib"].iter().any(|extension| name.ends_with(extension));
    name.starts_with("qagame") && is_library
}

/// Source of game files. Names are compared without case.
pub trait Assets {
    /// Returns the location of a file.
    fn find(&self, name: &str) -> Option<AssetLocation>;

    /// Reads a whole file of at most `max` bytes.
    ///
    /// # Errors
    ///
    /// File missing, too long or unreadable.
    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, AssetError>;

    /// Lists the files directly in `folder` that end in `.extension`, without duplicates,
    /// ascending. The empty folder is the game folder itself.
    fn list(&self, folder: &str, extension: &str) -> Vec<GamePath>;

    /// As [`Assets::list`], for hints that change nothing: a journal does not record them.
    fn list_for_hint(&self, folder: &str, extension: &str) -> Vec<GamePath> {
        self.list(folder, extension)
    }

    /// Archives, first searched first.
    fn packs(&self) -> Arc<[ListedPack]>;

    /// Searches the folders again for archives that were added, removed or replaced, before a map is loaded. Returns
    /// whether the archives changed. Removed archives are still read by their numbers for some time.
    fn rescan(&self) -> bool {
        false
    }

    /// Reads bytes of an archive itself, as a client downloads it. `pack` is a number in
    /// [`Assets::packs`].
    ///
    /// # Errors
    ///
    /// Archive unreadable, or shorter than the range.
    fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError>;

    /// Receives the archives that clients may download, whenever a map is loaded.
    fn offer(&self, packs: &[usize]);

    /// Called when a map has started: until the next one, few files are read. Memory that only makes reading faster can
    /// be freed.
    fn map_started(&self) {}

    /// Returns the game code in the folder of the mod. That of the game itself does not count.
    fn mod_code(&self) -> ModCode {
        ModCode::default()
    }

    /// Returns the files that a game wrote in earlier runs, ascending. They are not part of the game data.
    fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
        Vec::new()
    }

    /// Reads a console script of at most `max` bytes. A journal holds it whole, since operators change scripts.
    ///
    /// # Errors
    ///
    /// As of [`Assets::read`].
    fn read_script(&self, name: &str, max: u64, place: ScriptPlace) -> Result<Vec<u8>, AssetError>;
}

macro_rules! forward_assets {
    ($pointer:ident) => {
        impl<A: Assets + ?Sized> Assets for $pointer<A> {
            fn find(&self, name: &str) -> Option<AssetLocation> {
                (**self).find(name)
            }

            fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, AssetError> {
                (**self).read(name, max)
            }

            fn list(&self, folder: &str, extension: &str) -> Vec<GamePath> {
                (**self).list(folder, extension)
            }

            fn list_for_hint(&self, folder: &str, extension: &str) -> Vec<GamePath> {
                (**self).list_for_hint(folder, extension)
            }

            fn packs(&self) -> Arc<[ListedPack]> {
                (**self).packs()
            }

            fn rescan(&self) -> bool {
                (**self).rescan()
            }

            fn read_pack(&self, pack: usize, range: Range<u64>) -> Result<Vec<u8>, AssetError> {
                (**self).read_pack(pack, range)
            }

            fn offer(&self, packs: &[usize]) {
                (**self).offer(packs);
            }

            fn map_started(&self) {
                (**self).map_started();
            }

            fn mod_code(&self) -> ModCode {
                (**self).mod_code()
            }

            fn own_files(&self) -> Vec<(GamePath, Vec<u8>)> {
                (**self).own_files()
            }

            fn read_script(
                &self,
                name: &str,
                max: u64,
                place: ScriptPlace,
            ) -> Result<Vec<u8>, AssetError> {
                (**self).read_script(name, max, place)
            }
        }
    };
}

forward_assets!(Box);
forward_assets!(Rc);

/// Returns the folder of a listing: none for the game folder itself.
///
/// # Errors
/// Invalid name.
pub(crate) fn listed_folder(folder: &str) -> Result<Option<GamePath>, AssetError> {
    if folder.is_empty() { Ok(None) } else { path(folder).map(Some) }
}

pub(super) fn path(name: &str) -> Result<GamePath, AssetError> {
    GamePath::new(name.as_bytes()).ok_or_else(|| AssetError::Name { name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_paths_are_normalized_and_cannot_leave() {
        let folded = |name: &str| GamePath::new(name.as_bytes()).map(|path| path.to_string());
        assert_eq!(folded("Maps\\OA_dm1.BSP").as_deref(), Some("maps/oa_dm1.bsp"));
        assert_eq!(folded("a..b/.c").as_deref(), Some("a..b/.c"));
        for name in [
            "",
            "/a",
            "a/",
            "a//b",
            "..",
            "../a",
            "a/../b",
            "a\\..\\b",
            "./a",
            "c:a",
            "a\0",
            "a\n",
            "ä",
            "a/...",
            "a/.. /b",
            "\\\\host\\a",
        ] {
            assert_eq!(folded(name), None, "{name:?}");
        }
        assert_eq!(folded(&"a".repeat(256)), None);
    }

    #[test]
    fn native_modules_are_libraries_of_the_game() {
        for name in ["qagamex86_64.so", "QAGAMEX86.DLL", "qagame.dylib", "qagame_mp_x86.dll"] {
            assert!(is_native_module(name), "{name}");
        }
        for name in ["qagame.qvm", "cgamex86.so", "qagame.so.txt", "so", ""] {
            assert!(!is_native_module(name), "{name}");
        }
    }

    #[test]
    fn writable_names_are_plain_files() {
        let writable =
            |name: &str| GamePath::new(name.as_bytes()).is_some_and(|path| path.is_writable());
        for name in
            ["games.log", "Stats/2024 1.TXT", "a..b", "com10", "configs/server.cfg", "nul1/x"]
        {
            assert!(writable(name), "{name:?}");
        }
        for name in [
            ".bashrc",
            "a/.b",
            "a.",
            "a /b",
            " a",
            "nul",
            "NUL.txt",
            "aux.tar.gz",
            "a/Com1",
            "lpt9.x",
            "con .txt",
            "x.pk3",
            "vm/qagame.qvm",
            "a.so",
            "x.EXE",
            "..\\x",
            "../x",
            "/x",
            "c:x",
            "",
            "1/2/3/4/5/6/7/8/9",
        ] {
            assert!(!writable(name), "{name:?}");
        }
        assert!(writable(&"a".repeat(127)) && !writable(&"a".repeat(128)));
    }
}

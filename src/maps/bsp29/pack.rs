//! PACK archives (`pak0.pak`): directory of files that are stored as they are.
//!
//! The directory is read without the rest of the archive, which can be large: [`PackHeader`] tells where it is,
//! and each entry where its file is. Which archive comes first is the caller's order.
//!
//! Invariants: the range of every entry is within the archive; every name is a relative path of printable ASCII
//! characters without `.` and `..` parts; at most [`MAX_ENTRIES`] entries.
//!
//! Names: the exact name is found first, then one that differs in case only. The first of equal names wins.
//! `\` counts as `/`.
//!
//! Source: QuakeWorld protocol 28. Engine names: `dpackheader_t`, `COM_LoadPackFile`.

use std::ops::Range;

use thiserror::Error;

/// Bytes of the header.
pub const HEADER_LEN: usize = 12;
/// Bytes of an entry of the directory.
pub const ENTRY_LEN: usize = 64;
/// Maximum number of entries. The engine's own limit is 2,048; later ones read more.
pub const MAX_ENTRIES: usize = 65_536;

const MAGIC: [u8; 4] = *b"PACK";
/// Bytes of a name in an entry.
const NAME_LEN: usize = 56;

/// Reasons to reject an archive.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PackError {
    /// Shorter than a header.
    #[error("too short for an archive: {len} bytes (the header alone is {HEADER_LEN})")]
    TooShort {
        /// Length of the file, in bytes.
        len: u64,
    },
    /// Not a PACK file.
    #[error("begins with \"{}\" instead of \"PACK\": not a Quake archive", magic.escape_ascii())]
    Magic {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// Directory outside the file, or not a whole number of entries.
    #[error("directory of {len} bytes at offset {offset} is invalid (file has {file_len} bytes)")]
    Directory {
        /// Offset in the header, in bytes.
        offset: i32,
        /// Length in the header, in bytes.
        len: i32,
        /// Length of the file, in bytes.
        file_len: u64,
    },
    /// More entries than supported.
    #[error("too many entries: {count} (max {MAX_ENTRIES})")]
    TooMany {
        /// Entries in the directory.
        count: usize,
    },
    /// File of an entry outside the archive.
    #[error(
        "entry {entry} \"{name}\": {len} bytes at offset {offset} exceed the file of {file_len} bytes"
    )]
    Outside {
        /// Index of the entry, from 0.
        entry: usize,
        /// Its name.
        name: String,
        /// Offset in the entry, in bytes.
        offset: i32,
        /// Length in the entry, in bytes.
        len: i32,
        /// Length of the file, in bytes.
        file_len: u64,
    },
}

/// Place of the directory in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackHeader {
    file_len: u64,
    /// Bytes of the directory.
    pub directory: Range<u64>,
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackEntry {
    /// Path.
    pub name: Box<str>,
    /// Bytes of the file in the archive.
    pub range: Range<u64>,
}

/// Directory of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackDirectory {
    entries: Box<[PackEntry]>,
    /// Names in lower case with the index of their entry, ascending.
    by_name: Box<[(Box<str>, u32)]>,
    ignored: usize,
}

/// An archive in memory.
#[derive(Clone, Debug)]
pub struct Pack<'a> {
    bytes: &'a [u8],
    directory: PackDirectory,
}

impl PackHeader {
    /// Reads a header of a file of a length.
    ///
    /// # Errors
    ///
    /// Reports a file that is not an archive or has no valid directory.
    pub fn read(header: &[u8], file_len: u64) -> Result<Self, PackError> {
        let Some(header) = header.first_chunk::<HEADER_LEN>() else {
            return Err(PackError::TooShort { len: header.len() as u64 });
        };
        let magic = [header[0], header[1], header[2], header[3]];
        if magic != MAGIC {
            return Err(PackError::Magic { magic });
        }
        let (offset, len) = (int(header, 4), int(header, 8));
        let fault = PackError::Directory { offset, len, file_len };
        let directory = range(offset, len, file_len).ok_or(fault.clone())?;
        let bytes = (directory.end - directory.start) as usize;
        if !bytes.is_multiple_of(ENTRY_LEN) {
            return Err(fault);
        }
        let count = bytes / ENTRY_LEN;
        if count > MAX_ENTRIES {
            return Err(PackError::TooMany { count });
        }
        Ok(Self { file_len, directory })
    }
}

impl PackDirectory {
    /// Reads the bytes of a directory. Entries whose names are not valid paths are ignored.
    ///
    /// # Errors
    ///
    /// Names an entry whose file is not in the archive.
    pub fn read(header: &PackHeader, bytes: &[u8]) -> Result<Self, PackError> {
        let count = ((header.directory.end - header.directory.start) as usize) / ENTRY_LEN;
        let (mut entries, mut ignored) = (Vec::new(), 0);
        for (entry, record) in bytes.chunks_exact(ENTRY_LEN).take(count).enumerate() {
            let (offset, len) = (int(record, NAME_LEN), int(record, NAME_LEN + 4));
            let name = record[..NAME_LEN].split(|&byte| byte == 0).next().unwrap_or_default();
            let file_len = header.file_len;
            let range = range(offset, len, file_len).ok_or_else(|| {
                let name = name.escape_ascii().to_string();
                PackError::Outside { entry, name, offset, len, file_len }
            })?;
            match path(name) {
                Some(name) => entries.push(PackEntry { name, range }),
                None => ignored += 1,
            }
        }
        let mut by_name: Vec<_> = entries
            .iter()
            .zip(0..)
            .map(|(entry, index): (&PackEntry, u32)| (lower(&entry.name), index))
            .collect();
        by_name.sort_unstable();
        Ok(Self { entries: entries.into(), by_name: by_name.into(), ignored })
    }

    /// Files in the order of the archive.
    #[must_use]
    pub const fn entries(&self) -> &[PackEntry] {
        &self.entries
    }

    /// Number of entries whose names are not valid paths.
    #[must_use]
    pub const fn ignored(&self) -> usize {
        self.ignored
    }

    /// Finds a file: by its exact name, else without regard to case.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&PackEntry> {
        let key = lower(name);
        let first = self.by_name.partition_point(|(other, _)| *other < key);
        let same = self.by_name[first..].iter().take_while(|(other, _)| *other == key);
        let mut same = same.map(|&(_, index)| &self.entries[index as usize]);
        same.clone().find(|entry| *entry.name == *name).or_else(|| same.next())
    }
}

impl<'a> Pack<'a> {
    /// Reads an archive.
    ///
    /// # Errors
    ///
    /// Those of [`PackHeader::read`] and [`PackDirectory::read`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, PackError> {
        let header = PackHeader::read(bytes, bytes.len() as u64)?;
        let place = header.directory.start as usize..header.directory.end as usize;
        Ok(Self { bytes, directory: PackDirectory::read(&header, &bytes[place])? })
    }

    /// Directory of the archive.
    #[must_use]
    pub const fn directory(&self) -> &PackDirectory {
        &self.directory
    }

    /// Returns the bytes of a file.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let range = &self.directory.find(name)?.range;
        self.bytes.get(range.start as usize..range.end as usize)
    }
}

/// Writes an archive of files, in their order. Names longer than 55 bytes are truncated.
#[must_use]
pub fn write_pack(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = vec![0; HEADER_LEN];
    let mut directory = Vec::new();
    for (name, bytes) in files {
        let mut entry = [0; ENTRY_LEN];
        let len = name.len().min(NAME_LEN - 1);
        entry[..len].copy_from_slice(&name.as_bytes()[..len]);
        entry[NAME_LEN..NAME_LEN + 4].copy_from_slice(&(out.len() as u32).to_le_bytes());
        entry[NAME_LEN + 4..].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        directory.extend(entry);
        out.extend(*bytes);
    }
    let place = [out.len() as u32, directory.len() as u32].map(u32::to_le_bytes).concat();
    out[..4].copy_from_slice(&MAGIC);
    out[4..].get_mut(..8).into_iter().for_each(|head| head.copy_from_slice(&place));
    out.extend(directory);
    out
}

/// Returns a valid relative path, with `/` between its parts.
fn path(name: &[u8]) -> Option<Box<str>> {
    let is_valid = |byte: &u8| (0x20..0x7F).contains(byte) && *byte != b':';
    if !name.iter().all(is_valid) {
        return None;
    }
    let name = String::from_utf8(name.to_vec()).ok()?.replace('\\', "/");
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    name.split('/').all(is_part).then(|| name.into())
}

fn lower(name: &str) -> Box<str> {
    name.to_ascii_lowercase().into()
}

fn range(offset: i32, len: i32, file_len: u64) -> Option<Range<u64>> {
    let start = u64::try_from(offset).ok()?;
    let end = start + u64::try_from(len).ok()?;
    (end <= file_len).then_some(start..end)
}

fn int(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exact_name_wins_over_other_case() {
        let file = write_pack(&[
            ("maps/A.bsp", b"first"),
            ("maps/a.bsp", b"second"),
            ("MAPS\\B.BSP", b"third"),
        ]);
        let pack = Pack::read(&file).expect("archive");
        let get = |name: &str| pack.get(name).map(|bytes| String::from_utf8_lossy(bytes));
        assert_eq!(get("maps/a.bsp").as_deref(), Some("second"));
        assert_eq!(get("MAPS/A.BSP").as_deref(), Some("first"));
        assert_eq!(get("maps/b.bsp").as_deref(), Some("third"));
        assert_eq!(get("maps/c.bsp"), None);
    }

    #[test]
    fn invalid_names_are_ignored() {
        let names = ["../x", "/x", "a//b", "c:x", "a/../b", "", "tab\t", "good/name.lmp"];
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &b"x"[..])).collect();
        let file = write_pack(&files);
        let pack = Pack::read(&file).expect("archive");
        assert_eq!((pack.directory().entries().len(), pack.directory().ignored()), (1, 7));
    }

    #[test]
    fn entry_outside_archive_is_named() {
        let mut file = write_pack(&[("a", b"12345")]);
        let at = file.len() - 4;
        file[at..].copy_from_slice(&1000_i32.to_le_bytes());
        let error = Pack::read(&file).expect_err("range").to_string();
        assert_eq!(error, "entry 0 \"a\": 1000 bytes at offset 12 exceed the file of 81 bytes");
        assert!(matches!(Pack::read(b"PAC"), Err(PackError::TooShort { len: 3 })));
        assert!(matches!(Pack::read(&[0; 12]), Err(PackError::Magic { .. })));
    }

    proptest! {
        #[test]
        fn damaged_archive_never_panics(at in 0..210_usize, byte: u8, len in 0..210_usize) {
            let mut file = write_pack(&[("maps/a.bsp", b"first"), ("b", b"second"), ("c", b"")]);
            let end = file.len();
            file[at.min(end - 1)] = byte;
            if let Ok(pack) = Pack::read(&file[..len.min(end)]) {
                for entry in pack.directory().entries() {
                    prop_assert!(pack.get(&entry.name).is_some());
                }
            }
        }
    }
}

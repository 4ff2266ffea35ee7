//! Directory of an archive with equal names. The zip reader keeps the last entry of a name and forgets the others, whose
//! checksums clients count nevertheless.
//!
//! Invariants: entries are read one after the other, and no more of them than the caller's bound.

use std::{
    collections::HashMap,
    io::{self, ErrorKind, Read, Seek, SeekFrom},
};

/// First bytes of an entry.
const SIGNATURE: &[u8] = b"PK\x01\x02";
/// Length of an entry before its name, in bytes.
const HEADER_LEN: usize = 46;

/// Facts of a directory with equal names.
#[derive(Debug, Default)]
pub(super) struct FullDirectory {
    /// Checksums of all files that are not empty, in order.
    pub(super) crcs: Vec<u32>,
    /// Position of the last entry of each name.
    pub(super) last: HashMap<Vec<u8>, usize>,
    /// Files that a later entry of the same name replaces: their number, and the first name.
    pub(super) replaced: Option<(usize, String)>,
}

impl FullDirectory {
    /// Reads at most `max` entries from `start`.
    ///
    /// # Errors
    ///
    /// The archive is not readable, or there are more entries.
    pub(super) fn read(
        reader: &mut (impl Read + Seek),
        start: u64,
        max: usize,
    ) -> io::Result<Self> {
        let mut this = Self::default();
        reader.seek(SeekFrom::Start(start))?;
        for position in 0.. {
            let mut header = [0; HEADER_LEN];
            match reader.read_exact(&mut header) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(this),
                read => read?,
            }
            if !header.starts_with(SIGNATURE) {
                return Ok(this);
            }
            if position >= max {
                return Err(io::Error::other(format!("too many files (max {max})")));
            }
            let word = |at: usize| {
                u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
            };
            let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
            let mut name = vec![0; usize::from(half(28))];
            reader.read_exact(&mut name)?;
            reader.seek(SeekFrom::Current(i64::from(half(30)) + i64::from(half(32))))?;
            if word(24) > 0 {
                this.crcs.push(word(16));
            }
            this.add(name, position);
        }
        Ok(this)
    }

    fn add(&mut self, name: Vec<u8>, position: usize) {
        let shown = |name: &[u8]| name.escape_ascii().to_string();
        // Names of folders are often repeated.
        if !name.ends_with(b"/") && self.last.contains_key(&name) {
            self.replaced.get_or_insert_with(|| (0, shown(&name))).0 += 1;
        }
        self.last.insert(name, position);
    }
}

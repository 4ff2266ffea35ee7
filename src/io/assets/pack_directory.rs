//! Directory of an archive with repeated names, whose checksums clients count.
//!
//! The zip reader keeps the last entry of a name and forgets the others.
//!
//! Invariants: entries are read one after the other, and no more of them than the archive counts, which are 65,535 at most.

use std::{
    collections::HashMap,
    io::{self, Read, Seek, SeekFrom},
};

use crate::model::text::shown_name;

/// First bytes of an entry.
const SIGNATURE: &[u8] = b"PK\x01\x02";
/// Length of an entry before its name, in bytes.
const HEADER_LEN: usize = 46;
/// First bytes of the record behind the directory.
const END_SIGNATURE: &[u8] = b"PK\x05\x06";
/// Length of that record before its comment, in bytes.
const END_LEN: usize = 22;

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
    /// Reads as many entries from `start` as the end of the archive counts.
    ///
    /// # Errors
    ///
    /// The archive is not readable.
    pub(super) fn read(reader: &mut (impl Read + Seek), start: u64) -> io::Result<Self> {
        let count = entry_count(reader)?;
        let mut this = Self::default();
        reader.seek(SeekFrom::Start(start))?;
        for position in 0..usize::from(count) {
            let mut header = [0; HEADER_LEN];
            reader.read_exact(&mut header)?;
            if !header.starts_with(SIGNATURE) {
                break;
            }
            let word = |at: usize| {
                u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
            };
            let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
            let mut name = vec![0; usize::from(half(28))];
            reader.read_exact(&mut name)?;
            let rest = u64::from(half(30)) + u64::from(half(32));
            io::copy(&mut reader.by_ref().take(rest), &mut io::sink())?;
            if word(24) > 0 {
                this.crcs.push(word(16));
            }
            this.add(name, position);
        }
        Ok(this)
    }

    fn add(&mut self, name: Vec<u8>, position: usize) {
        // Names of folders are often repeated.
        if !name.ends_with(b"/") && self.last.contains_key(&name) {
            self.replaced.get_or_insert_with(|| (0, shown_name(&name))).0 += 1;
        }
        self.last.insert(name, position);
    }
}

/// Number of entries, by the record at the end of the archive, which a comment may follow.
fn entry_count(reader: &mut (impl Read + Seek)) -> io::Result<u16> {
    let len = reader.seek(SeekFrom::End(0))?;
    reader.seek(SeekFrom::Start(len.saturating_sub((END_LEN + usize::from(u16::MAX)) as u64)))?;
    let mut tail = Vec::new();
    reader.read_to_end(&mut tail)?;
    let end = tail.windows(END_LEN).rposition(|record| record.starts_with(END_SIGNATURE));
    Ok(end.map_or(0, |at| u16::from_le_bytes([tail[at + 10], tail[at + 11]])))
}

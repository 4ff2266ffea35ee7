//! Lumps of a map file and their records.
//!
//! Invariants: every lump of a [`Lumps`] is inside the file and has a whole number of records. A
//! [`Record`] has exactly the length of its lump's records. Every index is checked where it is
//! read.
//!
//! Source: IBSP, version 46; all numbers are little-endian.

use crate::model::Vec3;

use super::error::{BspError, Lump, LumpFault, RecordFault};
use super::table::{Span, TableIndex};

/// Largest accepted file, in bytes.
pub const MAX_FILE_LEN: usize = 256 * 1024 * 1024;

const MAGIC: [u8; 4] = *b"IBSP";
const VERSION: i32 = 46;
const HEADER_LEN: usize = 8 + 8 * Lump::ALL.len();
const _: () = assert!(HEADER_LEN == 144);

/// The lumps of a map file.
pub(super) struct Lumps<'a>([&'a [u8]; Lump::ALL.len()]);

impl<'a> Lumps<'a> {
    pub(super) fn split(file: &'a [u8]) -> Result<Self, BspError> {
        if file.len() < HEADER_LEN {
            return Err(BspError::TooShort { len: file.len() });
        }
        if file.len() > MAX_FILE_LEN {
            return Err(BspError::TooLong { len: file.len(), max: MAX_FILE_LEN });
        }
        let magic = word(file, 0);
        if magic != MAGIC {
            return Err(BspError::Magic { magic });
        }
        let version = int(file, 4);
        if version != VERSION {
            return Err(BspError::Version { version });
        }
        let mut lumps = [&file[..0]; Lump::ALL.len()];
        for (place, lump) in lumps.iter_mut().zip(Lump::ALL) {
            let header = 8 + 8 * lump as usize;
            let (offset, len) = (int(file, header), int(file, header + 4));
            let fault = |fault| BspError::Lump { lump, fault };
            *place = slice(file, offset, len).ok_or(fault(LumpFault::Outside {
                offset,
                len,
                file_len: file.len(),
            }))?;
            let record_len = lump.record_len();
            if place.len() % record_len != 0 {
                return Err(fault(LumpFault::NotWhole { len: place.len(), record_len }));
            }
        }
        Ok(Self(lumps))
    }

    /// All bytes of a lump.
    pub(super) fn bytes(&self, lump: Lump) -> &'a [u8] {
        self.0[lump as usize]
    }

    /// Returns the number of records of a lump.
    pub(super) fn count(&self, lump: Lump) -> usize {
        self.bytes(lump).len() / lump.record_len()
    }

    /// The records of a lump, in order.
    pub(super) fn records(
        &self,
        lump: Lump,
    ) -> impl ExactSizeIterator<Item = Record<'a>> + use<'a> {
        let records = self.bytes(lump).chunks_exact(lump.record_len());
        records.enumerate().map(move |(number, bytes)| Record { lump, number, bytes })
    }
}

fn slice(file: &[u8], offset: i32, len: i32) -> Option<&[u8]> {
    let (offset, len) = (usize::try_from(offset).ok()?, usize::try_from(len).ok()?);
    file.get(offset..offset.checked_add(len)?)
}

fn word(bytes: &[u8], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

fn int(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(word(bytes, at))
}

/// One record of a lump. Offsets are relative to the record.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    lump: Lump,
    number: usize,
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    pub(super) fn fault(self, fault: RecordFault) -> BspError {
        BspError::Record { lump: self.lump, record: self.number, fault }
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn int(self, at: usize) -> i32 {
        int(self.bytes, at)
    }

    /// Reads a finite number.
    pub(super) fn float(self, at: usize, field: &'static str) -> Result<f32, BspError> {
        let float = f32::from_le_bytes(word(self.bytes, at));
        if float.is_finite() {
            Ok(float)
        } else {
            Err(self.fault(RecordFault::NotFinite { field }))
        }
    }

    /// Reads three finite numbers.
    pub(super) fn vec3(self, at: usize, field: &'static str) -> Result<Vec3, BspError> {
        Ok(Vec3::new(
            self.float(at, field)?,
            self.float(at + 4, field)?,
            self.float(at + 8, field)?,
        ))
    }

    /// Reads an index into a table of `count` records.
    pub(super) fn number<N: TableIndex>(
        self,
        at: usize,
        field: &'static str,
        count: usize,
    ) -> Result<N, BspError> {
        self.checked(self.int(at), field, count)
    }

    /// Converts a value to an index into a table of `count` records.
    pub(super) fn checked<N: TableIndex>(
        self,
        value: i32,
        field: &'static str,
        count: usize,
    ) -> Result<N, BspError> {
        let index = usize::try_from(value).ok().filter(|&index| index < count);
        index
            .map(N::from_checked)
            .ok_or_else(|| self.fault(RecordFault::Index { field, value, count }))
    }

    /// Reads an index into a table of `count` records; -1 means none.
    pub(super) fn optional<N: TableIndex>(
        self,
        at: usize,
        field: &'static str,
        count: usize,
    ) -> Result<Option<N>, BspError> {
        if self.int(at) == -1 { Ok(None) } else { self.number(at, field, count).map(Some) }
    }

    /// Reads a range (first, count) of a table of `available` records.
    pub(super) fn span<N: TableIndex>(
        self,
        at: usize,
        field: &'static str,
        available: usize,
    ) -> Result<Span<N>, BspError> {
        self.checked_span(self.int(at), self.int(at + 4), field, available)
    }

    /// Converts two values to a range of a table of `available` records.
    pub(super) fn checked_span<N: TableIndex>(
        self,
        first: i32,
        count: i32,
        field: &'static str,
        available: usize,
    ) -> Result<Span<N>, BspError> {
        if count == 0 {
            // Compilers write any first index into empty ranges.
            return Ok(Span::from_checked(0, 0));
        }
        let fault = || self.fault(RecordFault::Range { field, first, count, available });
        let (from, len) =
            u32::try_from(first).ok().zip(u32::try_from(count).ok()).ok_or_else(fault)?;
        if u64::from(from) + u64::from(len) > available as u64 {
            return Err(fault());
        }
        Ok(Span::from_checked(from, len))
    }
}

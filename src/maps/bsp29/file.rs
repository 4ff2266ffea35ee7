//! Lumps of a QuakeWorld map file and their records.
//!
//! Invariants: every lump of a [`Lumps`] is inside the file and has a whole number of records. A
//! [`Record`] has exactly the length of its lump's records.
//!
//! Source: QuakeWorld protocol 28; all numbers are little-endian.

use std::ops::Range;

use super::error::{Bsp29Error, Lump, LumpFault, RecordFault};
use crate::model::Vec3;

/// Largest accepted file, in bytes.
pub const MAX_FILE_LEN: usize = 256 * 1024 * 1024;

/// Version of the format.
pub const VERSION: i32 = 29;
/// Bytes of the header.
pub(super) const HEADER_LEN: usize = 4 + 8 * Lump::ALL.len();
const _: () = assert!(HEADER_LEN == 124);

/// The lumps of a map file.
pub(super) struct Lumps<'a>([&'a [u8]; Lump::ALL.len()]);

impl<'a> Lumps<'a> {
    pub(super) fn split(file: &'a [u8]) -> Result<Self, Bsp29Error> {
        if file.len() < HEADER_LEN {
            return Err(Bsp29Error::TooShort { len: file.len() });
        }
        if file.len() > MAX_FILE_LEN {
            return Err(Bsp29Error::TooLong { len: file.len(), max: MAX_FILE_LEN });
        }
        let version = int(file, 0);
        if version != VERSION {
            return Err(Bsp29Error::Version { version });
        }
        let mut lumps: [&[u8]; Lump::ALL.len()] = [&[]; Lump::ALL.len()];
        for (number, lump) in Lump::ALL.into_iter().enumerate() {
            let (offset, len) = (int(file, 4 + 8 * number), int(file, 8 + 8 * number));
            let fault = LumpFault::Outside { offset, len, file_len: file.len() };
            let bytes = range(offset, len).and_then(|range| file.get(range));
            let bytes = bytes.ok_or(Bsp29Error::Lump { lump, fault })?;
            let record_len = lump.record_len();
            if bytes.len() % record_len != 0 {
                let fault = LumpFault::NotWhole { len: bytes.len(), record_len };
                return Err(Bsp29Error::Lump { lump, fault });
            }
            lumps[number] = bytes;
        }
        Ok(Self(lumps))
    }

    pub(super) fn bytes(&self, lump: Lump) -> &'a [u8] {
        self.0[lump as usize]
    }

    pub(super) fn count(&self, lump: Lump) -> usize {
        self.bytes(lump).len() / lump.record_len()
    }

    pub(super) fn records(&self, lump: Lump) -> impl Iterator<Item = Record<'a>> {
        let records = self.bytes(lump).chunks_exact(lump.record_len()).enumerate();
        records.map(move |(number, bytes)| Record { lump, number, bytes })
    }
}

/// One record of a lump. Offsets must be within the length of its lump's records.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    lump: Lump,
    number: usize,
    bytes: &'a [u8],
}

impl Record<'_> {
    pub(super) fn fault(&self, fault: RecordFault) -> Bsp29Error {
        Bsp29Error::Record { lump: self.lump, record: self.number, fault }
    }

    pub(super) fn int(&self, at: usize) -> i32 {
        int(self.bytes, at)
    }

    pub(super) fn short(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    pub(super) fn signed_short(&self, at: usize) -> i16 {
        self.short(at).cast_signed()
    }

    pub(super) fn float(&self, at: usize, field: &'static str) -> Result<f32, Bsp29Error> {
        let value = f32::from_bits(self.int(at).cast_unsigned());
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.fault(RecordFault::NotFinite { field }))
        }
    }

    pub(super) fn vec3(&self, at: usize, field: &'static str) -> Result<Vec3, Bsp29Error> {
        Ok(Vec3::new(
            self.float(at, field)?,
            self.float(at + 4, field)?,
            self.float(at + 8, field)?,
        ))
    }

    /// Returns an index that is below `count`.
    pub(super) fn index(
        &self,
        value: i32,
        field: &'static str,
        count: usize,
    ) -> Result<usize, Bsp29Error> {
        match usize::try_from(value) {
            Ok(index) if index < count => Ok(index),
            _ => Err(self.fault(RecordFault::Index { field, value, count })),
        }
    }

    /// Checks that a range is inside a table.
    pub(super) fn range(
        &self,
        first: i32,
        count: i32,
        field: &'static str,
        available: usize,
    ) -> Result<Range<usize>, Bsp29Error> {
        range(first, count)
            .filter(|range| range.end <= available)
            .ok_or_else(|| self.fault(RecordFault::Range { field, first, count, available }))
    }
}

fn range(first: i32, count: i32) -> Option<Range<usize>> {
    let first = usize::try_from(first).ok()?;
    let count = usize::try_from(count).ok()?;
    Some(first..first.checked_add(count)?)
}

fn int(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

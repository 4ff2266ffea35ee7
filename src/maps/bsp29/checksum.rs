//! Checksums of a QuakeWorld map: MD4 of its lumps, combined.
//!
//! Source: QuakeWorld protocol 28. Engine names: `map_checksum`, `map_checksum2`.

use super::error::Lump;
use super::file::Lumps;
use crate::model::block_checksum;

/// Lumps that the second checksum leaves out: tools change them without a change of the game.
const NOT_IN_SECOND: [Lump; 3] = [Lump::Visibility, Lump::Nodes, Lump::Leafs];

/// Folded MD4 of an empty lump. The sum of Quake III differs for no bytes only.
const EMPTY_SUM: i32 = 0xC6F6_40B7_u32.cast_signed();

/// Both checksums of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapChecksums {
    /// Over all lumps but the entities.
    pub first: i32,
    /// The same without visibility, nodes and leafs. Clients send this one.
    pub second: i32,
}

impl MapChecksums {
    pub(super) fn of(lumps: &Lumps<'_>) -> Self {
        let mut sums = Self { first: 0, second: 0 };
        for lump in Lump::ALL {
            if lump == Lump::Entities {
                continue;
            }
            let bytes = lumps.bytes(lump);
            let sum = if bytes.is_empty() { EMPTY_SUM } else { block_checksum(bytes) };
            sums.first ^= sum;
            if !NOT_IN_SECOND.contains(&lump) {
                sums.second ^= sum;
            }
        }
        sums
    }
}

//! The playerstate of a snapshot: its fields, then its four arrays of sixteen.
//!
//! Members that never travel keep the value of the state that the delta is relative to.
//! Source: Quake III protocol 68, delta codecs.

use super::{
    Result,
    bits::{BitReader, BitWriter, Run},
    fields::PLAYER,
};
use crate::model::PlayerState;

/// How an array's entries travel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Short,
    Long,
}

/// One array of sixteen.
struct Array {
    get: fn(&PlayerState) -> &[i32; 16],
    get_mut: fn(&mut PlayerState) -> &mut [i32; 16],
    entry: Entry,
}

/// In the order of the wire.
const ARRAYS: [Array; 4] = [
    Array { get: |ps| &ps.stats, get_mut: |ps| &mut ps.stats, entry: Entry::Short },
    Array { get: |ps| &ps.persistant, get_mut: |ps| &mut ps.persistant, entry: Entry::Short },
    Array { get: |ps| &ps.ammo, get_mut: |ps| &mut ps.ammo, entry: Entry::Short },
    Array { get: |ps| &ps.powerups, get_mut: |ps| &mut ps.powerups, entry: Entry::Long },
];

/// Which entries differ: bit `i` for entry `i`.
fn changed_entries(from: &[i32; 16], to: &[i32; 16]) -> u32 {
    (0..16).fold(0, |changed, i| changed | u32::from(from[i] != to[i]) << i)
}

/// Writes a playerstate relative to `from`.
pub fn write_delta(writer: &mut BitWriter, from: &PlayerState, to: &PlayerState) {
    let changed = PLAYER.changed(from.words(), to.words());
    writer.byte(PLAYER.count(changed));
    PLAYER.write(writer, changed, to.words());

    let masks = ARRAYS.each_ref().map(|array| changed_entries((array.get)(from), (array.get)(to)));
    if masks == [0; 4] {
        writer.flag(false);
        return;
    }
    writer.flag(true);
    for (array, mask) in ARRAYS.iter().zip(masks) {
        writer.flag(mask != 0);
        if mask == 0 {
            continue;
        }
        writer.bits(mask, 16);
        let values = (array.get)(to);
        for i in (0..16).filter(|i| mask >> i & 1 != 0) {
            let width = if array.entry == Entry::Short { 16 } else { 32 };
            writer.put(Run::default().then_int(values[i] as u32, width));
        }
    }
}

/// Reads a playerstate relative to `from`.
///
/// # Errors
/// As [`BitReader::bits`], and [`super::WireError::FieldCount`].
pub fn read_delta(reader: &mut BitReader<'_>, from: &PlayerState) -> Result<PlayerState> {
    let mut to = *from;
    PLAYER.read(reader, to.words_mut())?;
    if !reader.flag()? {
        return Ok(to);
    }
    for array in &ARRAYS {
        if !reader.flag()? {
            continue;
        }
        let mask = reader.bits(16)?;
        let values = (array.get_mut)(&mut to);
        for i in (0..16).filter(|i| mask >> i & 1 != 0) {
            values[i] = match array.entry {
                Entry::Short => i32::from(reader.short()?),
                Entry::Long => reader.long()?,
            };
        }
    }
    Ok(to)
}

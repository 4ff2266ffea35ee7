//! The playerstate of a snapshot: its fields, then its four arrays of sixteen.
//!
//! Members that never travel keep the value of the state that the delta is relative to.
//! Source: Quake III protocol 68, delta codecs.

use std::mem::offset_of;

use super::{
    Result,
    bits::{BitReader, BitWriter},
    fields::{Differences, PLAYER},
};
use crate::model::PlayerState;

/// One array of sixteen.
struct Array {
    /// Where it begins, in words.
    word: usize,
    /// Bits of an entry, read back with its sign.
    bits: u32,
}

macro_rules! array {
    ($member:ident: $bits:literal) => {
        Array { word: offset_of!(PlayerState, $member) / 4, bits: $bits }
    };
}

/// In the order of the wire.
const ARRAYS: [Array; 4] =
    [array!(stats: 16), array!(persistant: 16), array!(ammo: 16), array!(powerups: 32)];

/// Writes a playerstate relative to `from`.
pub fn write_delta(writer: &mut BitWriter, from: &PlayerState, to: &PlayerState) {
    let differences = Differences::between(from.words(), to.words());
    let changed = PLAYER.changed(&differences);
    writer.byte(PLAYER.count(changed));
    PLAYER.write(writer, changed, to.words());

    let masks = ARRAYS.each_ref().map(|array| differences.sixteen(array.word));
    writer.flag(masks != [0; 4]);
    if masks == [0; 4] {
        return;
    }
    for (array, mask) in ARRAYS.iter().zip(masks) {
        writer.flag(mask != 0);
        if mask == 0 {
            continue;
        }
        writer.bits(u32::from(mask), 16);
        let values = &to.words()[array.word..array.word + 16];
        for i in (0..16).filter(|i| mask >> i & 1 != 0) {
            writer.bits(values[i], array.bits);
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
        let values = &mut to.words_mut()[array.word..array.word + 16];
        for i in (0..16).filter(|i| mask >> i & 1 != 0) {
            let unused = 32 - array.bits;
            values[i] = ((reader.bits(array.bits)? << unused) as i32 >> unused) as u32;
        }
    }
    Ok(to)
}

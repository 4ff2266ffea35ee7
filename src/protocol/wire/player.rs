//! Playerstate delta: fields, then four arrays of sixteen. Most protocols have a flag in front of all arrays.
//!
//! Members that are not sent keep the value of the delta base. Source: Quake III protocol 68, delta
//! codecs.

use std::mem::offset_of;

use super::{
    Result,
    bits::{BitReader, BitWriter, HUFFMAN, PLAIN},
    delta_sink::DeltaSink,
    protocol::Coder,
};
use crate::model::PlayerState;

/// Names of the arrays in wire order, for traces.
pub const ARRAY_NAMES: [&str; 4] = ["stats", "persistant", "ammo", "powerups"];

/// One array of sixteen elements.
struct Array {
    /// Offset, in words.
    word: usize,
    /// Bytes of an element, sign-extended when read.
    bytes: u32,
}

impl Array {
    /// Returns the elements that differ: bit `i` for element `i`.
    fn changed(&self, from: &[u32; PlayerState::WORDS], to: &[u32; PlayerState::WORDS]) -> u32 {
        let range = self.word..self.word + 16;
        let mut changed = 0;
        for (i, (from, to)) in from[range.clone()].iter().zip(&to[range]).enumerate() {
            changed |= (1 << i) & u32::from(from != to).wrapping_neg();
        }
        changed
    }
}

macro_rules! array {
    ($member:ident: $bytes:literal) => {
        Array { word: offset_of!(PlayerState, $member) / 4, bytes: $bytes }
    };
}

/// Arrays in wire order.
const ARRAYS: [Array; 4] =
    [array!(stats: 2), array!(persistant: 2), array!(ammo: 2), array!(powerups: 4)];

/// First word of the arrays, which are contiguous.
const ARRAYS_BEGIN: usize = offset_of!(PlayerState, stats) / 4;
const ARRAYS_END: usize = ARRAYS_BEGIN + 4 * 16;

/// Writes a playerstate relative to `from`.
pub fn write_delta(writer: &mut BitWriter, from: &PlayerState, to: &PlayerState) {
    let (from, to) = (from.words(), to.words());
    let table = writer.encoding().player;
    let changed = table.changed(0..ARRAYS_BEGIN, from, to)
        | table.changed(ARRAYS_END..PlayerState::WORDS, from, to);
    table.write(writer, changed, to);

    if table.flags_arrays() {
        let any = from[ARRAYS_BEGIN..ARRAYS_END] != to[ARRAYS_BEGIN..ARRAYS_END];
        writer.flag(any);
        if !any {
            return;
        }
    }
    match writer.encoding().coder {
        Coder::Huffman => write_arrays::<HUFFMAN>(writer, from, to),
        Coder::Plain => write_arrays::<PLAIN>(writer, from, to),
    }
}

fn write_arrays<const IS_PLAIN: bool>(
    writer: &mut BitWriter,
    from: &[u32; PlayerState::WORDS],
    to: &[u32; PlayerState::WORDS],
) {
    let masks = ARRAYS.each_ref().map(|array| array.changed(from, to));
    let mut pen = writer.pen;
    let bytes = &mut *writer.bytes;
    for (array, mask) in ARRAYS.iter().zip(masks) {
        pen.raw(u64::from(mask != 0), 1);
        if mask == 0 {
            continue;
        }
        pen.bytes::<IS_PLAIN>(mask, 2);
        pen.store(bytes);
        let entries = &to[array.word..array.word + 16];
        let mut rest = mask;
        while rest != 0 {
            pen.bytes::<IS_PLAIN>(entries[rest.trailing_zeros() as usize], array.bytes);
            pen.store(bytes);
            rest &= rest - 1;
        }
    }
    pen.store(bytes);
    writer.pen = pen;
}

/// Reads a playerstate relative to `from`.
///
/// # Errors
/// As [`BitReader::bits`], and [`super::WireError::FieldCount`].
pub fn read_delta(reader: &mut BitReader<'_>, from: &PlayerState) -> Result<PlayerState> {
    read_delta_with(reader, from, &mut ())
}

/// Reads a playerstate as [`read_delta`] and passes every changed value to `sink`.
///
/// # Errors
/// As [`read_delta`].
pub fn read_delta_with(
    reader: &mut BitReader<'_>,
    from: &PlayerState,
    sink: &mut impl DeltaSink,
) -> Result<PlayerState> {
    let mut to = *from;
    let table = reader.encoding().player;
    table.read(reader, to.words_mut(), sink)?;
    if table.flags_arrays() && !reader.flag()? {
        return Ok(to);
    }
    for (number, array) in ARRAYS.iter().enumerate() {
        if !reader.flag()? {
            continue;
        }
        let mut rest = reader.bits(16)?;
        let entries = &mut to.words_mut()[array.word..array.word + 16];
        while rest != 0 {
            let unused = 32 - array.bytes * 8;
            let start = reader.bit_position();
            let entry = reader.bits(array.bytes * 8)?;
            let (index, value) =
                (rest.trailing_zeros() as usize, (entry << unused) as i32 >> unused);
            entries[index] = value as u32;
            sink.element(number, index, value as u32, reader.bit_position() - start);
            rest &= rest - 1;
        }
    }
    Ok(to)
}

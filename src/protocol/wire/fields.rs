//! Codec of delta-coded structs, driven by a field table.
//!
//! Comparison is on raw 32-bit words: -0.0 differs from 0.0, and a NaN equals itself. The tables are in
//! [`field_tables`](super::field_tables). Source: Quake III protocol 68, delta codecs.
//! Engine names: `MSG_WriteDeltaEntity`, `MSG_WriteDeltaPlayerstate`.

use std::ops::Range;

pub(super) use super::field::member_size;
pub use super::field::{Field, FieldKind};
use super::field::{
    FieldKind::{Axis, Float, Int, Signed},
    SPARE_WORD,
};
use super::{
    Result, WireError,
    bits::{BitReader, BitWriter, HUFFMAN, PLAIN, Pen, Window},
    delta_sink::DeltaSink,
    huffman::MAX_CODE_LEN,
};

/// Form of a delta: how the changed fields are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaForm {
    /// Count byte, one more than the last changed field, then the fields below the count. Each is a
    /// flag and, if changed, its value.
    Counted,
    /// [`DeltaForm::Counted`] with a second flag in front of each value: whether it is other than zero.
    CountedWithZeroFlags,
    /// A flag for each field and, if changed, its value. The bits are plain.
    Flagged,
    /// Five bits: the row of a table of sets of fields, or 31 and then a flag for each field. The
    /// values of these fields follow. The bits are plain.
    Vectors(&'static [u64; VECTORS]),
}

/// Number of rows of a table of [`DeltaForm::Vectors`]; also the number that announces flags.
pub const VECTORS: usize = 31;

/// Field table of a struct of `WORDS` 32-bit words: at most 64 fields.
#[derive(Debug)]
pub struct FieldTable<const WORDS: usize> {
    /// Fields in wire order: by and large the most often changed first.
    pub fields: &'static [Field],
    form: DeltaForm,
    /// Bit of each word's field; 0 for a word that is not sent.
    bit_of_word: [u64; WORDS],
    /// Encoding of each field. As many as a delta can mark, so that an index needs no check.
    codes: [FieldCode; MAX_FIELDS],
}

/// Maximum number of fields that a delta marks.
const MAX_FIELDS: usize = 64;

/// Encoding of a field, prepared for the per-entity loops.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
struct FieldCode {
    word: u8,
    is_float: bool,
    bits: u8,
    /// Bits that are not Huffman-coded: those beyond whole bytes.
    raw_bits: u8,
    /// Mask of these bits in a value.
    raw_mask: u8,
    /// Huffman-coded bytes.
    bytes: u8,
    /// Shift to the left and back that extends the sign; 0 for unsigned fields.
    sign_shift: u8,
}

impl FieldCode {
    const NONE: Self = Self {
        word: 0,
        is_float: false,
        bits: 0,
        raw_bits: 0,
        raw_mask: 0,
        bytes: 0,
        sign_shift: 0,
    };

    const fn new(word: u8, kind: FieldKind) -> Self {
        let bits = kind.bits() as u8;
        let sign_shift = if matches!(kind, Signed(_)) { 32 - bits } else { 0 };
        let is_float = matches!(kind, Float);
        let raw_bits = bits & 7;
        let raw_mask = (1 << raw_bits) - 1;
        Self { word, is_float, bits, raw_bits, raw_mask, bytes: bits >> 3, sign_shift }
    }
}

impl<const WORDS: usize> FieldTable<WORDS> {
    /// Checks the rows and indexes them by word.
    pub(super) const fn new(form: DeltaForm, fields: &'static [Field]) -> Self {
        assert!(fields.len() <= MAX_FIELDS, "a delta marks at most 64 fields");
        assert!(WORDS <= SPARE_WORD as usize, "no struct has the word of spare fields");
        assert!(
            !matches!(form, DeltaForm::Vectors(_))
                || fields.len() > 32 && fields.len() < MAX_FIELDS,
            "the flags of a vector are written in two parts"
        );
        let mut codes = [FieldCode::NONE; MAX_FIELDS];
        let mut bit_of_word = [0; WORDS];
        let mut i = 0;
        while i < fields.len() {
            let Field { word, kind, is_byte, .. } = fields[i];
            assert!(
                fields[i].is_spare() || bit_of_word[word as usize] == 0,
                "each word holds one field"
            );
            assert!(!is_byte, "members are whole words");
            match kind {
                Float => {}
                Int(bits) => assert!(bits >= 1 && bits <= 32),
                Signed(bits) => assert!(bits == 8 || bits == 16, "signed fields are whole bytes"),
                Axis => panic!("axes belong to usercmds"),
            }
            if !fields[i].is_spare() {
                bit_of_word[word as usize] = 1 << i;
            }
            codes[i] = FieldCode::new(word, kind);
            i += 1;
        }
        Self { fields, form, bit_of_word, codes }
    }

    /// Returns the fields among `words` that differ: bit `i` for field `i`.
    ///
    /// Words are compared in memory order and without a branch, so that the compiler can compare four at
    /// a time.
    #[inline]
    pub(super) fn changed(
        &self,
        words: Range<usize>,
        from: &[u32; WORDS],
        to: &[u32; WORDS],
    ) -> u64 {
        let pairs = from[words.clone()].iter().zip(&to[words.clone()]);
        let mut changed = 0;
        for ((from, to), bit) in pairs.zip(&self.bit_of_word[words]) {
            changed |= bit & u64::from(from != to).wrapping_neg();
        }
        changed
    }

    /// Writes a delta: `changed` as [`Self::changed`] returned it, values from `to`.
    ///
    /// The pen may hold bits that are not stored yet, [`Self::MAX_PREFIX_BITS`] at most.
    #[inline]
    pub(super) fn write(&self, writer: &mut BitWriter, changed: u64, to: &[u32; WORDS]) {
        match self.form {
            DeltaForm::Counted => self.write_counted::<false>(writer, changed, to),
            DeltaForm::CountedWithZeroFlags => self.write_counted::<true>(writer, changed, to),
            DeltaForm::Flagged => self.write_flagged(writer, changed, to),
            DeltaForm::Vectors(vectors) => self.write_vector(writer, vectors, changed, to),
        }
    }

    /// Whether the struct lacks fields of the table.
    #[must_use]
    pub fn has_spare_fields(&self) -> bool {
        self.fields.iter().any(Field::is_spare)
    }

    /// Whether the four arrays of a playerstate have a flag in front of all.
    pub(super) const fn flags_arrays(&self) -> bool {
        !matches!(self.form, DeltaForm::Flagged)
    }

    /// Bits that a caller of [`Self::write`] may leave unstored.
    pub(super) const MAX_PREFIX_BITS: u32 = Pen::MAX_BITS - MAX_CODE_LEN;

    fn write_flagged(&self, writer: &mut BitWriter, changed: u64, to: &[u32; WORDS]) {
        for (i, code) in self.codes[..self.fields.len()].iter().enumerate() {
            let is_changed = changed >> i & 1 != 0;
            writer.put(|pen| {
                pen.raw(u64::from(is_changed), 1);
                if is_changed {
                    Self::write_plain_value(pen, *code, to);
                }
            });
        }
    }

    fn write_vector(
        &self,
        writer: &mut BitWriter,
        vectors: &[u64; VECTORS],
        changed: u64,
        to: &[u32; WORDS],
    ) {
        let row = vectors.iter().position(|&row| row == changed).unwrap_or(VECTORS);
        writer.put(|pen| {
            pen.raw(row as u64, 5);
            if row == VECTORS {
                pen.raw(changed & 0xffff_ffff, 32);
            }
        });
        if row == VECTORS {
            writer.put(|pen| pen.raw(changed >> 32, self.fields.len() as u32 - 32));
        }
        let mut rest = changed;
        while rest != 0 {
            let code = self.codes[rest.trailing_zeros() as usize % MAX_FIELDS];
            writer.put(|pen| Self::write_plain_value(pen, code, to));
            rest &= rest - 1;
        }
    }

    fn write_plain_value(pen: &mut Pen, code: FieldCode, to: &[u32; WORDS]) {
        let value = to[usize::from(code.word)];
        if !code.is_float {
            pen.int::<PLAIN>(value, u32::from(code.bits));
        } else if let Some(whole) = small_whole(f32::from_bits(value)) {
            pen.raw(u64::from(whole) << 1, 1 + 13);
        } else {
            pen.raw(1, 1);
            pen.int::<PLAIN>(value, 32);
        }
    }

    fn write_counted<const ZERO_FLAGS: bool>(
        &self,
        writer: &mut BitWriter,
        changed: u64,
        to: &[u32; WORDS],
    ) {
        let mut pen = writer.pen;
        let bytes = &mut *writer.bytes;
        pen.byte::<HUFFMAN>((64 - changed.leading_zeros()) as u8);
        pen.store(bytes);
        let mut rest = changed;
        let mut next = 0;
        while rest != 0 {
            let i = rest.trailing_zeros();
            rest &= rest - 1;
            let mut unchanged = i - next;
            next = i + 1;
            // One store holds the flags of unchanged fields, those of this field and its value: at
            // most 8 + 3 + 44 bits.
            if unchanged > 8 {
                pen.raw(0, unchanged);
                pen.store(bytes);
                unchanged = 0;
            }
            let code = &self.codes[i as usize % MAX_FIELDS];
            let value = to[usize::from(code.word)];
            // The flags, then the raw bits of the value, then its remaining bytes.
            let mut raw = |bits: u32, len: u32| {
                let flags = if ZERO_FLAGS { 0b11 | bits << 2 } else { 0b1 | bits << 1 };
                let flags_len = if ZERO_FLAGS { 2 } else { 1 };
                pen.raw(u64::from(flags) << unchanged, unchanged + flags_len + len);
            };
            if code.is_float {
                if ZERO_FLAGS && value << 1 == 0 {
                    pen.raw(0b01 << unchanged, unchanged + 2);
                } else if let Some(whole) = small_whole(f32::from_bits(value)) {
                    raw((whole & 0x1f) << 1, 1 + 5);
                    pen.byte::<HUFFMAN>((whole >> 5) as u8);
                } else {
                    raw(1, 1);
                    pen.bytes::<HUFFMAN>(value, 4);
                }
            } else if ZERO_FLAGS && value == 0 {
                pen.raw(0b01 << unchanged, unchanged + 2);
            } else {
                let raw_bits = u32::from(code.raw_bits);
                raw(value & u32::from(code.raw_mask), raw_bits);
                pen.bytes::<HUFFMAN>(value >> raw_bits, u32::from(code.bytes));
            }
            pen.store(bytes);
        }
        writer.pen = pen;
    }

    /// Reads a delta into `to`, which holds the delta base.
    ///
    /// # Errors
    /// As [`BitReader::bits`], and [`WireError::FieldCount`].
    #[inline]
    pub(super) fn read(
        &self,
        reader: &mut BitReader<'_>,
        to: &mut [u32; WORDS],
        sink: &mut impl DeltaSink,
    ) -> Result<()> {
        match self.form {
            DeltaForm::Counted => self.read_counted::<false>(reader, to, sink),
            DeltaForm::CountedWithZeroFlags => self.read_counted::<true>(reader, to, sink),
            DeltaForm::Flagged => self.read_flagged(reader, to, sink),
            DeltaForm::Vectors(vectors) => self.read_vector(reader, vectors, to, sink),
        }
    }

    fn read_flagged(
        &self,
        reader: &mut BitReader<'_>,
        to: &mut [u32; WORDS],
        sink: &mut impl DeltaSink,
    ) -> Result<()> {
        for (index, code) in self.codes[..self.fields.len()].iter().enumerate() {
            let start = reader.bit_position();
            let mut window = reader.window();
            let value = window.flag().then(|| Self::read_value::<false, PLAIN>(&mut window, *code));
            reader.follow(window)?;
            if let Some(value) = value.flatten() {
                to[usize::from(code.word)] = value;
                sink.field(index, value, reader.bit_position() - start);
            }
        }
        Ok(())
    }

    fn read_vector(
        &self,
        reader: &mut BitReader<'_>,
        vectors: &[u64; VECTORS],
        to: &mut [u32; WORDS],
        sink: &mut impl DeltaSink,
    ) -> Result<()> {
        let row = reader.bits(5)? as usize;
        let mut rest = match vectors.get(row) {
            Some(row) => *row,
            None => {
                let low = reader.bits(32)?;
                u64::from(low) | u64::from(reader.bits(self.fields.len() as u32 - 32)?) << 32
            }
        };
        while rest != 0 {
            let index = rest.trailing_zeros() as usize % MAX_FIELDS;
            rest &= rest - 1;
            let start = reader.bit_position();
            let mut window = reader.window();
            let value = Self::read_value::<false, PLAIN>(&mut window, self.codes[index]);
            reader.follow(window)?;
            if let Some(value) = value {
                to[usize::from(self.codes[index].word)] = value;
                sink.field(index, value, reader.bit_position() - start);
            }
        }
        Ok(())
    }

    fn read_counted<const ZERO_FLAGS: bool>(
        &self,
        reader: &mut BitReader<'_>,
        to: &mut [u32; WORDS],
        sink: &mut impl DeltaSink,
    ) -> Result<()> {
        let count = reader.byte()?;
        if usize::from(count) > self.fields.len() {
            return Err(WireError::FieldCount(count));
        }
        for (index, code) in self.codes[..usize::from(count)].iter().enumerate() {
            // One window shows a field whole: at most 3 flags and 44 bits.
            let start = reader.bit_position();
            let mut window = reader.window();
            if window.flag() {
                let value = Self::read_value::<ZERO_FLAGS, HUFFMAN>(&mut window, *code);
                let value = value.ok_or_else(|| reader.no_code(window))?;
                // A spare field has a word behind the end.
                if let Some(word) = to.get_mut(usize::from(code.word)) {
                    *word = value;
                }
                reader.follow(window)?;
                sink.field(index, value, reader.bit_position() - start);
            } else {
                reader.follow(window)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn read_value<const ZERO_FLAGS: bool, const IS_PLAIN: bool>(
        window: &mut Window,
        code: FieldCode,
    ) -> Option<u32> {
        if ZERO_FLAGS && !window.flag() {
            return Some(0);
        }
        if code.is_float {
            return if window.flag() {
                window.int::<IS_PLAIN>(32)
            } else {
                Some((window.int::<IS_PLAIN>(13)? as f32 - WHOLE_BIAS as f32).to_bits())
            };
        }
        let value = window.int::<IS_PLAIN>(u32::from(code.bits))?;
        Some(((value << code.sign_shift) as i32 >> code.sign_shift) as u32)
    }

    /// Returns name and value of each field that is not zero, for dumps.
    pub fn dump(&self, words: &[u32; WORDS]) -> impl Iterator<Item = (&'static str, String)> {
        let words = *words;
        self.members().filter_map(move |field| field.dump(&words))
    }

    /// Returns the fields of a struct that are not zero, with their words, for traces.
    pub fn set_fields<'a>(
        &'static self,
        words: &'a [u32; WORDS],
    ) -> impl Iterator<Item = (&'static Field, u32)> + 'a {
        let fields = self.members().map(|field| (field, field.get(words)));
        fields.filter(|(_, word)| *word != 0)
    }

    /// Fields that the struct has a member for.
    fn members(&self) -> impl Iterator<Item = &'static Field> + use<WORDS> {
        self.fields.iter().filter(|field| !field.is_spare())
    }

    /// Returns the word of a field by name.
    #[must_use]
    pub fn word_of(&self, name: &str) -> Option<usize> {
        self.members().find(|field| field.name == name).map(|field| usize::from(field.word))
    }
}

/// Bias that makes a small whole number non-negative on the wire.
const WHOLE_BIAS: i32 = 4096;

/// Returns the 13 bits of a float that is a small whole number. -0.0 counts as 0.
#[inline]
fn small_whole(value: f32) -> Option<u32> {
    // Floats near this number are whole, so adding it rounds, and the bits of the sum count from its
    // own. Sums far from it have bits far from its own, and a NaN equals nothing: neither passes below.
    const ROUNDER: f32 = 12_582_912.0;
    let sum = value + ROUNDER;
    let biased = sum.to_bits().wrapping_sub(ROUNDER.to_bits() - WHOLE_BIAS as u32);
    (biased < 2 * WHOLE_BIAS as u32 && sum - ROUNDER == value).then_some(biased)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_whole_floats_take_13_bits() {
        for (value, bits) in [(0.0, 4096), (-0.0, 4096), (-4096.0, 0), (4095.0, 8191)] {
            assert_eq!(small_whole(value), Some(bits), "{value}");
        }
        for value in [4096.0, -4097.0, 0.5, f32::NAN, f32::INFINITY, 2_147_483_648.0, 1e30, 1e-40] {
            assert_eq!(small_whole(value), None, "{value}");
        }
    }
}

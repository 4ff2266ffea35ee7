//! Exact delta of a struct of 32-bit words against a predicted state.
//!
//! ```text
//! groups    number: bit g is set if a column of group g differs (8 columns each)
//! masks     one byte for each such group: its columns that differ
//! values    one number for each such column
//! ```
//!
//! The field tables of the protocol lose bits: the sign of zero, high bits of integers. A message is
//! encoded again bit for bit only from exact states, so every word that is sent is kept whole. The order
//! of columns is the protocol's, in which often changed fields come first.

use crate::{
    model::{
        EntityState, PlayerState,
        encoding::{Cursor, DecodeError, put_number, unzigzag, zigzag},
    },
    wire::{fields::FieldKind, protocol::ENCODING_68},
};

/// Words of an entity: its state, server flags, and client of those flags.
pub(super) const ENTITY_WORDS: usize = EntityState::WORDS + 2;
/// Words of a playerstate.
pub(super) const PLAYER_WORDS: usize = PlayerState::WORDS;

/// Exact state of an entity.
pub(super) type EntityWords = [u32; ENTITY_WORDS];
/// Exact state of a player.
pub(super) type PlayerWords = [u32; PLAYER_WORDS];

/// Columns of a group, which share a byte of a mask.
const GROUP: usize = 8;
/// Most columns of a struct.
const MAX_COLUMNS: usize = 128;

/// Encoding of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    /// Difference of integers.
    Int,
    /// Difference of whole numbers, or of bits.
    Float,
    /// Difference in units of 360/65536 degrees, or of bits.
    Angle,
}

/// A column: one word of the struct.
#[derive(Clone, Copy, Debug)]
struct Column {
    word: u8,
    kind: ColumnKind,
}

/// Columns of a struct of `N` words.
#[derive(Clone, Debug)]
pub(super) struct Columns<const N: usize> {
    columns: Vec<Column>,
    /// Columns in front, from which others are predicted.
    pub(super) leading: usize,
}

/// Columns that differ: bit `i` for column `i`.
pub(super) type ColumnMask = u128;

impl Columns<PLAYER_WORDS> {
    /// Returns the columns of a playerstate that are sent. Command time and velocity lead.
    pub(super) fn player() -> Self {
        let table = ENCODING_68.player;
        let is_leading = |name: &str| name == "commandTime" || name.starts_with("velocity");
        let column = |field: &crate::wire::fields::Field| {
            let kind = match field.kind {
                FieldKind::Float if field.name.starts_with("viewangles") => ColumnKind::Angle,
                FieldKind::Float => ColumnKind::Float,
                _ => ColumnKind::Int,
            };
            Column { word: table.word_of(field.name).unwrap_or_default() as u8, kind }
        };
        let (first, rest): (Vec<_>, Vec<_>) =
            table.fields.iter().partition(|field| is_leading(field.name));
        let leading = first.len();
        let mut columns: Vec<_> = first.into_iter().chain(rest).map(column).collect();
        let arrays = std::mem::offset_of!(PlayerState, stats) / 4;
        columns.extend(
            (arrays..arrays + 64).map(|word| Column { word: word as u8, kind: ColumnKind::Int }),
        );
        Self { columns, leading }
    }
}

impl Columns<ENTITY_WORDS> {
    /// Returns the columns of an entity.
    pub(super) fn entity() -> Self {
        let table = ENCODING_68.entity;
        let mut columns: Vec<_> = table
            .fields
            .iter()
            .map(|field| Column {
                word: table.word_of(field.name).unwrap_or_default() as u8,
                kind: if field.kind == FieldKind::Float {
                    ColumnKind::Float
                } else {
                    ColumnKind::Int
                },
            })
            .collect();
        // The server's part, and the number, which equals the index unless the game is wrong.
        let number = std::mem::offset_of!(EntityState, number) / 4;
        columns.extend(
            (EntityState::WORDS..ENTITY_WORDS)
                .chain([number])
                .map(|word| Column { word: word as u8, kind: ColumnKind::Int }),
        );
        Self { columns, leading: 0 }
    }
}

impl<const N: usize> Columns<N> {
    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.columns.len().min(MAX_COLUMNS)
    }

    /// Returns the columns in which two states differ.
    pub(super) fn changed(&self, from: &[u32; N], to: &[u32; N]) -> ColumnMask {
        Self::changed_of(&self.columns, from, to)
    }

    /// Returns the leading columns in which two states differ.
    pub(super) fn changed_leading(&self, from: &[u32; N], to: &[u32; N]) -> ColumnMask {
        Self::changed_of(&self.columns[..self.leading], from, to)
    }

    fn changed_of(columns: &[Column], from: &[u32; N], to: &[u32; N]) -> ColumnMask {
        let mut bytes = [0; size_of::<ColumnMask>()];
        for (byte, group) in bytes.iter_mut().zip(columns.chunks(GROUP)) {
            for (at, column) in group.iter().enumerate() {
                let word = usize::from(column.word);
                *byte |= u8::from(from[word] != to[word]) << at;
            }
        }
        ColumnMask::from_le_bytes(bytes)
    }

    /// Appends a mask.
    pub(super) fn write_mask(&self, out: &mut Vec<u8>, mask: ColumnMask) {
        let bytes = mask.to_le_bytes();
        let groups = self.len().div_ceil(GROUP);
        let used = (0..groups).fold(0, |used, at| used | u64::from(bytes[at] != 0) << at);
        put_number(out, used);
        out.extend(bytes[..groups].iter().filter(|&&byte| byte != 0));
    }

    /// Reads a mask.
    pub(super) fn read_mask(&self, from: &mut Cursor<'_>) -> Result<ColumnMask, DecodeError> {
        let groups = self.len().div_ceil(GROUP);
        let used = from.number()?;
        if used >> groups != 0 {
            return Err("a group of columns out of range");
        }
        let mut bytes = [0; size_of::<ColumnMask>()];
        for (at, byte) in bytes.iter_mut().enumerate().take(groups) {
            if used >> at & 1 != 0 {
                *byte = from.byte()?;
            }
        }
        let mask = ColumnMask::from_le_bytes(bytes);
        if self.len() < MAX_COLUMNS && mask >> self.len() != 0 {
            return Err("a column out of range");
        }
        Ok(mask)
    }

    /// Appends the values of the columns of a mask.
    pub(super) fn write_values(
        &self,
        out: &mut Vec<u8>,
        mut mask: ColumnMask,
        from: &[u32; N],
        to: &[u32; N],
    ) {
        while mask != 0 {
            let column = self.columns[mask.trailing_zeros() as usize];
            mask &= mask - 1;
            let word = usize::from(column.word);
            put_value(out, column.kind, from[word], to[word]);
        }
    }

    /// Reads the values of the columns of a mask into the predicted state.
    pub(super) fn read_values(
        &self,
        input: &mut Cursor<'_>,
        mut mask: ColumnMask,
        state: &mut [u32; N],
    ) -> Result<(), DecodeError> {
        while mask != 0 {
            let column = self.columns[mask.trailing_zeros() as usize];
            mask &= mask - 1;
            let word = &mut state[usize::from(column.word)];
            *word = value(input, column.kind, *word)?;
        }
        Ok(())
    }

    /// Copies the columns of a mask.
    pub(super) fn copy(&self, mut mask: ColumnMask, from: &[u32; N], to: &mut [u32; N]) {
        while mask != 0 {
            let word = usize::from(self.columns[mask.trailing_zeros() as usize].word);
            mask &= mask - 1;
            to[word] = from[word];
        }
    }

    /// Returns the mask of the leading columns.
    pub(super) fn leading_mask(&self) -> ColumnMask {
        (1 << self.leading) - 1
    }
}

/// Appends a value relative to the predicted one.
fn put_value(out: &mut Vec<u8>, kind: ColumnKind, from: u32, to: u32) {
    if kind == ColumnKind::Int {
        return put_number(out, zigzag(i64::from(to.wrapping_sub(from) as i32)));
    }
    match units(kind, from).zip(units(kind, to)) {
        Some((from, to)) => put_number(out, zigzag(to - from) << 1),
        None => put_number(out, zigzag(ordered(to) - ordered(from)) << 1 | 1),
    }
}

/// Reads a value relative to the predicted one.
fn value(input: &mut Cursor<'_>, kind: ColumnKind, from: u32) -> Result<u32, DecodeError> {
    const RANGE: DecodeError = "a value out of range";
    let number = input.number()?;
    if kind == ColumnKind::Int {
        let change = i32::try_from(unzigzag(number)).map_err(|_| RANGE)?;
        return Ok(from.wrapping_add(change as u32));
    }
    let change = unzigzag(number >> 1);
    if number & 1 == 0 {
        let units = units(kind, from).and_then(|from| from.checked_add(change)).ok_or(RANGE)?;
        let units = i32::try_from(units).map_err(|_| RANGE)?;
        return Ok(of_units(kind, units).to_bits());
    }
    let ordered = ordered(from).checked_add(change).ok_or(RANGE)?;
    u32::try_from(ordered).map(of_ordered).map_err(|_| RANGE)
}

/// Largest number of units. Whole numbers up to it are exact.
const MAX_UNITS: f32 = 16_777_216.0;
/// Degrees of one unit of an angle, exact.
const ANGLE_UNIT: f32 = 360.0 / 65_536.0;

/// Returns a float in units, if it is exact in them. Negative zero is not.
fn units(kind: ColumnKind, bits: u32) -> Option<i64> {
    let float = f32::from_bits(bits);
    let units = if kind == ColumnKind::Angle { float / ANGLE_UNIT } else { float };
    if units.is_nan() || units.abs() > MAX_UNITS {
        return None;
    }
    let units = units.round_ties_even() as i32;
    (of_units(kind, units).to_bits() == bits).then_some(i64::from(units))
}

fn of_units(kind: ColumnKind, units: i32) -> f32 {
    let whole = units as f32;
    if kind == ColumnKind::Angle { whole * ANGLE_UNIT } else { whole }
}

/// Returns the place of a float among all floats, ascending.
fn ordered(bits: u32) -> i64 {
    i64::from(if bits >> 31 != 0 { !bits } else { bits | 1 << 31 })
}

fn of_ordered(place: u32) -> u32 {
    if place >> 31 != 0 { place & !(1 << 31) } else { !place }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_are_all_words_that_are_sent() {
        let words = |columns: &[Column]| {
            let mut words: Vec<_> = columns.iter().map(|column| column.word).collect();
            words.sort_unstable();
            words.dedup();
            words.len()
        };
        let (player, entity) = (Columns::player(), Columns::entity());
        assert_eq!((player.len(), words(&player.columns)), (112, 112));
        assert_eq!((entity.len(), words(&entity.columns)), (54, 54));
        assert_eq!((player.leading, entity.leading), (4, 0));
    }

    #[test]
    fn usual_changes_take_one_byte() {
        let len = |kind, from: f32, to: f32| {
            let mut out = Vec::new();
            put_value(&mut out, kind, from.to_bits(), to.to_bits());
            out.len()
        };
        assert_eq!(len(ColumnKind::Float, 320.0, 310.0), 1);
        assert_eq!(len(ColumnKind::Angle, 90.0, 90.0 + 20.0 * ANGLE_UNIT), 1);
        assert_eq!(len(ColumnKind::Float, 100.125, 100.125 + 1.0 / 65_536.0), 1);
        assert_eq!(len(ColumnKind::Float, -0.0, 0.0), 1);
    }

    proptest! {
        #[test]
        fn values_survive_in_every_kind(from: u32, to: u32, near in -40_i32..40) {
            for kind in [ColumnKind::Int, ColumnKind::Float, ColumnKind::Angle] {
                for to in [to, from.wrapping_add(near as u32), (near as f32).to_bits()] {
                    let mut out = Vec::new();
                    put_value(&mut out, kind, from, to);
                    let mut cursor = Cursor(&out);
                    prop_assert_eq!(value(&mut cursor, kind, from), Ok(to));
                    prop_assert!(cursor.0.is_empty());
                }
            }
        }

        #[test]
        fn states_survive(from: [u32; 32], to: [u32; 32], mask: u128) {
            let columns = Columns::player();
            let mut old = [0; PLAYER_WORDS];
            old[..32].copy_from_slice(&from);
            let mut new = old;
            for (at, word) in to.iter().enumerate().filter(|(at, _)| mask >> at & 1 != 0) {
                new[at] = *word;
            }
            // A word that is not sent.
            new[std::mem::offset_of!(PlayerState, external_event_time) / 4] =
                old[std::mem::offset_of!(PlayerState, external_event_time) / 4];
            let changed = columns.changed(&old, &new);
            let mut out = Vec::new();
            columns.write_mask(&mut out, changed);
            columns.write_values(&mut out, changed, &old, &new);
            let mut cursor = Cursor(&out);
            let read = columns.read_mask(&mut cursor).expect("the mask");
            prop_assert_eq!(read, changed);
            columns.read_values(&mut cursor, read, &mut old).expect("the values");
            prop_assert_eq!(old, new);
        }

        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let columns = Columns::entity();
            let mut cursor = Cursor(&bytes);
            let mut state = [0; ENTITY_WORDS];
            if let Ok(mask) = columns.read_mask(&mut cursor) {
                let _ = columns.read_values(&mut cursor, mask, &mut state);
            }
        }
    }
}

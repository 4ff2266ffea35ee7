//! Entity records of snapshots and baselines, and the entity list of a snapshot.
//!
//! ```text
//! record:  number (10 bits) | remove | has delta | fields        list ends with number 1023
//! ```
//!
//! Invariants: numbers ascend strictly. An entity of the old list is sent as a delta to its old
//! state, a new one as a delta to its baseline. Source: Quake III protocol 68, entity list.

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter, HUFFMAN, PLAIN},
    delta_sink::{DeltaSink, EntityChange},
    field_tables::EntityTable,
    huffman::MAX_CODE_LEN,
    protocol::{Coder, Encoding},
};
use crate::model::{EntityNum, EntityState};

/// Longest record header, in bits: a number of two raw bits and one code, then two flags.
const RECORD_HEADER_BITS: u32 = 2 + MAX_CODE_LEN + 2;

/// Writes an entity relative to `from`. Writes nothing for equal states, unless `force` is set.
pub fn write_delta(writer: &mut BitWriter, from: &EntityState, to: &EntityState, force: bool) {
    // Most states are equal, and that test is faster than finding the differences.
    if from.words() == to.words() && !force {
        return;
    }
    let changed = changed_fields(writer.encoding(), from, to);
    if changed != 0 || force {
        write_record(writer, changed, to);
    }
}

/// Returns the fields that differ between two states, for [`write_record`].
#[inline]
#[must_use]
pub fn changed_fields(encoding: &Encoding, from: &EntityState, to: &EntityState) -> u64 {
    encoding.entity.changed(0..EntityState::WORDS, from.words(), to.words())
}

/// Writes the record of an entity whose fields `changed` have other values than in the delta base.
pub fn write_record(writer: &mut BitWriter, changed: u64, to: &EntityState) {
    let number = to.number as u32;
    let flags = u32::from(changed != 0) << 1;
    const { assert!(RECORD_HEADER_BITS <= EntityTable::MAX_PREFIX_BITS) };
    match writer.encoding().coder {
        Coder::Huffman => writer.pen.int::<HUFFMAN>(number, 10),
        Coder::Plain => writer.pen.int::<PLAIN>(number, 10),
    }
    writer.pen.raw(u64::from(flags), 2);
    if changed == 0 {
        writer.put(|_| {});
        return;
    }
    writer.encoding().entity.write(writer, changed, to.words());
}

/// Writes the removal of an entity of the old list.
pub fn write_removal(writer: &mut BitWriter, number: i32) {
    writer.bits(number as u32, 10);
    writer.flag(true);
}

/// Writes the end of an entity list.
pub fn write_end(writer: &mut BitWriter) {
    writer.bits(EntityNum::NONE.index() as u32, 10);
}

/// Writes the delta from the list `old` to `new`, and the end. Both ascend by number; an entity
/// that is the same object in both is not compared.
pub fn write_list<'a>(
    writer: &mut BitWriter,
    old: impl Iterator<Item = &'a EntityState>,
    new: impl Iterator<Item = &'a EntityState>,
    baseline: impl Fn(i32) -> &'a EntityState,
) {
    let mut old = old.peekable();
    for entity in new {
        while let Some(gone) = old.next_if(|before| before.number < entity.number) {
            write_removal(writer, gone.number);
        }
        match old.next_if(|before| before.number == entity.number) {
            Some(before) if std::ptr::eq(before, entity) => {}
            Some(before) => write_delta(writer, before, entity, false),
            None => write_delta(writer, baseline(entity.number), entity, true),
        }
    }
    for gone in old {
        write_removal(writer, gone.number);
    }
    write_end(writer);
}

/// Reads the number of a record; [`EntityNum::NONE`] ends a list.
///
/// # Errors
/// As [`BitReader::bits`].
pub fn read_number(reader: &mut BitReader<'_>) -> Result<EntityNum> {
    let number = reader.bits(10)?;
    Ok(EntityNum::new(number as usize).unwrap_or(EntityNum::NONE))
}

/// Reads a record behind its number. `None` for a removal.
///
/// # Errors
/// As [`BitReader::bits`], and [`WireError::FieldCount`].
pub fn read_delta(
    reader: &mut BitReader<'_>,
    from: &EntityState,
    number: EntityNum,
) -> Result<Option<EntityState>> {
    read_record(reader, from, number, &mut ())
}

/// Reads a record as [`read_delta`] and passes every changed value to `sink`.
pub(super) fn read_record(
    reader: &mut BitReader<'_>,
    from: &EntityState,
    number: EntityNum,
    sink: &mut impl DeltaSink,
) -> Result<Option<EntityState>> {
    if reader.flag()? {
        return Ok(None);
    }
    let mut to = EntityState { number: number.index() as i32, ..*from };
    if reader.flag()? {
        reader.encoding().entity.read(reader, to.words_mut(), sink)?;
    }
    Ok(Some(to))
}

/// One entity of a parsed list.
#[derive(Clone, Copy, Debug)]
pub enum EntityUpdate<'a> {
    /// Unchanged since the old list, not sent.
    Unchanged(&'a EntityState),
    /// Sent: new or changed.
    Changed(EntityState),
}

/// Reads a list relative to `old` (ascending by number). Passes each entity of the new list to
/// `take`, ascending.
///
/// # Errors
/// As [`read_delta`], and [`WireError::EntityOrder`] when numbers do not ascend.
pub fn read_list<'a>(
    reader: &mut BitReader<'_>,
    old: impl Iterator<Item = &'a EntityState>,
    baseline: impl Fn(EntityNum) -> &'a EntityState,
    take: impl FnMut(EntityUpdate<'a>),
) -> Result<()> {
    read_list_with(reader, old, baseline, &mut (), take)
}

/// Reads a list as [`read_list`] and passes every record to `sink`.
///
/// # Errors
/// As [`read_list`].
pub fn read_list_with<'a>(
    reader: &mut BitReader<'_>,
    old: impl Iterator<Item = &'a EntityState>,
    baseline: impl Fn(EntityNum) -> &'a EntityState,
    sink: &mut impl DeltaSink,
    mut take: impl FnMut(EntityUpdate<'a>),
) -> Result<()> {
    let mut old = old.peekable();
    let mut last = -1;
    loop {
        let start = reader.bit_position();
        let number = read_number(reader)?;
        if number == EntityNum::NONE {
            break;
        }
        let wire = number.index() as i32;
        if wire <= last {
            return Err(WireError::EntityOrder(wire as u16));
        }
        last = wire;
        while let Some(kept) = old.next_if(|before| before.number < wire) {
            take(EntityUpdate::Unchanged(kept));
        }
        let before = old.next_if(|before| before.number == wire);
        let from = before.unwrap_or_else(|| baseline(number));
        let read = read_record(reader, from, number, sink)?;
        let change = match (&read, before) {
            (None, _) => EntityChange::Removed,
            (Some(_), Some(_)) => EntityChange::Changed,
            (Some(_), None) => EntityChange::Added,
        };
        sink.entity(number, change, reader.bit_position() - start);
        if let Some(entity) = read {
            take(EntityUpdate::Changed(entity));
        }
    }
    old.for_each(|kept| take(EntityUpdate::Unchanged(kept)));
    Ok(())
}

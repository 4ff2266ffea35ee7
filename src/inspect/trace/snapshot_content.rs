//! Snapshot of a trace record: changed fields, array elements and entity records, with their sizes.
//!
//! Invariant: the fields of all records are one list, so that a record is reused without allocation.
//! Source: Quake III protocol 68, delta encoding of snapshots.

use std::ops::Range;

use crate::{
    model::EntityNum,
    wire::{
        delta_sink::{DeltaSink, EntityChange},
        snapshot::SnapshotHeader,
    },
};

/// A changed field of a playerstate or entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// Index in the field table.
    pub index: u8,
    /// Size in bits, with its flags.
    pub bits: u8,
    /// New value as a raw word.
    pub value: u32,
}

/// A changed array element of a playerstate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementChange {
    /// Array in wire order.
    pub array: u8,
    /// Index in the array.
    pub index: u8,
    /// Size in bits.
    pub bits: u8,
    /// New value.
    pub value: i32,
}

/// An entity record of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityRecord {
    /// Entity number.
    pub number: EntityNum,
    /// Form of the record.
    pub change: EntityChange,
    /// Size in bits.
    pub bits: u16,
    /// Changed fields, as a range of [`SnapshotContent::fields`].
    pub fields: Range<u16>,
}

/// Snapshot of a message, as sent: changes only.
#[derive(Clone, Debug, Default)]
pub struct SnapshotContent {
    /// Header.
    pub head: SnapshotHeader,
    /// Changed fields of the playerstate, then of all entity records.
    pub fields: Vec<FieldChange>,
    /// Number of `fields` that belong to the playerstate.
    pub player_fields: usize,
    /// Changed array elements of the playerstate.
    pub elements: Vec<ElementChange>,
    /// Entity records in wire order.
    pub entities: Vec<EntityRecord>,
    /// Bit positions behind header and playerstate.
    pub(super) ends: (usize, usize),
}

impl SnapshotContent {
    pub(super) fn clear(&mut self) {
        self.head = SnapshotHeader::default();
        self.fields.clear();
        self.player_fields = 0;
        self.elements.clear();
        self.entities.clear();
        self.ends = (0, 0);
    }

    /// Changed fields of the playerstate.
    #[must_use]
    pub fn player(&self) -> &[FieldChange] {
        self.fields.get(..self.player_fields).unwrap_or_default()
    }

    /// Changed fields of an entity record.
    #[must_use]
    pub fn fields_of(&self, entity: &EntityRecord) -> &[FieldChange] {
        let range = usize::from(entity.fields.start)..usize::from(entity.fields.end);
        self.fields.get(range).unwrap_or_default()
    }
}

impl DeltaSink for SnapshotContent {
    #[inline]
    fn field(&mut self, index: usize, value: u32, bits: usize) {
        self.fields.push(FieldChange { index: index as u8, bits: bits as u8, value });
    }

    fn element(&mut self, array: usize, index: usize, value: u32, bits: usize) {
        let value = value as i32;
        let (array, index, bits) = (array as u8, index as u8, bits as u8);
        self.elements.push(ElementChange { array, index, bits, value });
    }

    fn header_end(&mut self, at: usize) {
        self.ends.0 = at;
    }

    fn player_end(&mut self, at: usize) {
        self.ends.1 = at;
        self.player_fields = self.fields.len();
    }

    fn entity(&mut self, number: EntityNum, change: EntityChange, bits: usize) {
        let start = self.entities.last().map_or(self.player_fields as u16, |last| last.fields.end);
        // A message has 131,072 bits, and a changed field takes two or more besides its record.
        let fields = start..self.fields.len() as u16;
        self.entities.push(EntityRecord { number, change, bits: bits as u16, fields });
    }
}

//! Encoded entity records of one frame, each once for all clients.
//!
//! The bits of a record depend on the new state and on which fields changed, not on their old values.
//! Deltas of an entity from several base frames often change the same fields, and then share a record.
//!
//! Invariants: a record belongs to the state that the frame has; another frame or encoding removes all records.
//! Source: Quake III protocol 68, entity list.

use crate::{
    model::{EntityNum, EntityState, limits::MAX_ENTITIES},
    wire::{
        bits::BitWriter,
        encoded::{EncodedCache, EncodedSpan},
        entity,
        numbers::GameNumbers,
        protocol::Encoding,
    },
};

/// Encoded records, in one [`Encoding`].
#[derive(Debug)]
pub(super) struct EntityRecords {
    pub(super) pieces: EncodedCache,
    scratch: BitWriter,
    /// Numbers of the game that clients of the encoding have.
    numbers: GameNumbers,
    records: Vec<Record>,
    /// Place of the newest record of each entity behind its index; 0 for none.
    newest: Box<[u32; MAX_ENTITIES]>,
}

/// A record of one entity.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Fields that it changes, at least one.
    changed: u64,
    piece: EncodedSpan,
    /// Place of the entity's record before it, as in [`EntityRecords::newest`].
    before: u32,
}

impl Default for EntityRecords {
    fn default() -> Self {
        Self {
            pieces: EncodedCache::default(),
            scratch: BitWriter::new(),
            numbers: GameNumbers::Current,
            // More than a usual frame has, so that the memory does not grow in the middle of a match.
            records: Vec::with_capacity(MAX_ENTITIES),
            newest: Box::new([0; MAX_ENTITIES]),
        }
    }
}

impl EntityRecords {
    pub(super) fn encoding(&self) -> &'static Encoding {
        self.scratch.encoding()
    }

    /// Removes all records. [`Self::forget`] must be called for each entity.
    pub(super) fn begin(&mut self, encoding: &'static Encoding, numbers: GameNumbers) {
        self.scratch.begin(encoding);
        self.numbers = numbers;
        self.pieces.clear();
        self.records.clear();
    }

    /// Removes the records of one entity.
    pub(super) fn forget(&mut self, number: EntityNum) {
        self.newest[number.index()] = 0;
    }

    /// Returns the record from one state of an entity to its newest. `is_new`: the client does not have the
    /// entity, so equal states have a record, too.
    pub(super) fn piece(
        &mut self,
        number: EntityNum,
        from: &EntityState,
        to: &EntityState,
        is_new: bool,
    ) -> EncodedSpan {
        if self.numbers.is_current() {
            self.piece_of(number, from, to, is_new)
        } else {
            self.translated_piece(number, from, to, is_new)
        }
    }

    /// Returns a record as [`Self::piece`], in older numbers of the game.
    #[inline(never)]
    fn translated_piece(
        &mut self,
        number: EntityNum,
        from: &EntityState,
        to: &EntityState,
        is_new: bool,
    ) -> EncodedSpan {
        let [from, to] = [from, to].map(|state| self.numbers.sent_base(state));
        self.piece_of(number, &from, &to, is_new)
    }

    #[inline]
    fn piece_of(
        &mut self,
        number: EntityNum,
        from: &EntityState,
        to: &EntityState,
        is_new: bool,
    ) -> EncodedSpan {
        let changed = entity::changed_fields(self.scratch.encoding(), from, to);
        if changed == 0 {
            return if is_new { self.encode(0, to) } else { EncodedSpan::default() };
        }
        let newest = &mut self.newest[number.index()];
        let mut place = *newest;
        // Records only refer to those before them, so the loop ends.
        while let Some(record) = self.records.get((place as usize).wrapping_sub(1)) {
            if record.changed == changed {
                return record.piece;
            }
            place = record.before;
        }
        let before = *newest;
        *newest = self.records.len() as u32 + 1;
        let piece = self.encode(changed, to);
        self.records.push(Record { changed, piece, before });
        piece
    }

    fn encode(&mut self, changed: u64, to: &EntityState) -> EncodedSpan {
        self.scratch.clear();
        entity::write_record(&mut self.scratch, changed, to);
        self.pieces.store(&mut self.scratch)
    }
}

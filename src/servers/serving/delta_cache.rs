//! Delta cache: entity deltas between two server frames, encoded once and appended for every client.
//!
//! All clients are sent the same server frame, and many have acknowledged the same earlier one. The
//! delta of an entity between the two has the same bits for each of them. It is encoded for the
//! first client and copied for the others. Only entities that changed between the two frames are
//! compared for a client.
//!
//! Invariants: all cached deltas lead to one frame and are discarded when another one is requested;
//! the list that is written equals [`entity::write_list`]'s bit for bit. Source: Quake III protocol
//! 68, entity list.
//! Engine names: `SV_EmitPacketEntities`.

use super::entity_records::EntityRecords;
use crate::{
    model::{
        Baselines, EntityNum, EntitySet, EntityState, FrameEntry, FrameNum, FrameRing, SlotId,
        limits::MAX_ENTITIES, prefetch,
    },
    wire::{bits::BitWriter, encoded::EncodedSpan, entity, numbers::GameNumbers},
};

/// Entities of a frame that a client is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenFrame<'a> {
    pub(crate) frame: FrameNum,
    pub(crate) seen: &'a EntitySet,
}

/// Entities of `entries` that are in a set.
pub(crate) fn visible_entities<'a>(
    frames: &'a FrameRing,
    entries: &'a [FrameEntry],
    seen: &'a EntitySet,
) -> impl Iterator<Item = &'a EntityState> {
    entries.iter().filter(|e| seen.contains(e.number)).map(|e| frames.state(e.slot))
}

/// Deltas to the newest frame.
#[derive(Debug)]
pub(crate) struct DeltaCache {
    /// The frame that the deltas lead to.
    frame: Option<FrameNum>,
    /// States of that frame's entities, by entity number.
    states: Box<[SlotId; MAX_ENTITIES]>,
    /// Deltas from baselines.
    fresh: FrameDelta,
    /// Deltas from earlier frames. Only the first `used` are valid, the others keep their memory.
    frame_deltas: Vec<FrameDelta>,
    used: usize,
    records: EntityRecords,
}

/// Changes of entities since one base frame, or since baselines.
#[derive(Debug)]
struct FrameDelta {
    /// The base frame; `None` for baselines.
    base: Option<FrameNum>,
    /// Entities in both frames whose slots differ; for baselines, all of the newest frame.
    changed: EntitySet,
    /// By entity number; valid for those in `changed`.
    changes: Box<[EntityChange; MAX_ENTITIES]>,
}

/// A change of one entity.
#[derive(Clone, Copy, Debug, Default)]
struct EntityChange {
    /// State in the base frame; without meaning for baselines.
    from: SlotId,
    /// Encoded bits; empty until the change is written.
    piece: EncodedSpan,
}

impl Default for DeltaCache {
    fn default() -> Self {
        Self {
            frame: None,
            states: Box::new([SlotId::default(); MAX_ENTITIES]),
            fresh: FrameDelta::default(),
            frame_deltas: Vec::new(),
            used: 0,
            records: EntityRecords::default(),
        }
    }
}

impl DeltaCache {
    /// Discards all deltas.
    pub(crate) fn clear(&mut self) {
        self.frame = None;
    }

    /// Writes the entity list from a base frame to the newest one, both in the ring. `numbers` are those of the
    /// encoding; entities without a number in them are in neither set.
    pub(crate) fn write_list(
        &mut self,
        writer: &mut BitWriter,
        numbers: GameNumbers,
        frames: &FrameRing,
        baselines: &Baselines,
        base: Option<SeenFrame<'_>>,
        newest: SeenFrame<'_>,
    ) {
        let SeenFrame { frame: number, seen } = newest;
        // Clients of one encoding are served in a row or share it; a change of encoding starts over.
        let encoding = writer.encoding();
        if self.frame != Some(number) || !std::ptr::eq(self.records.encoding(), encoding) {
            self.records.begin(encoding, numbers);
            self.begin(number, frames.frame(number).unwrap_or(&[]));
        }
        let nothing = EntitySet::default();
        let old_seen = base.map_or(&nothing, |base| base.seen);
        let at = base.map(|base| self.delta_from(base.frame, frames));
        let Self { states, fresh, frame_deltas, records, .. } = self;
        let mut common = at.and_then(|at| frame_deltas.get_mut(at));
        let mut encoder = Encoder { frames, baselines, states, records };
        for at in 0..seen.words().len() {
            let (old, new) = (old_seen.words()[at], seen.words()[at]);
            let changed = common.as_ref().map_or(0, |common| common.changed.words()[at]);
            let mut left = old ^ new | old & new & changed;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                let place = bit.trailing_zeros() as usize;
                let Some(number) = EntityNum::new(at * 64 + place) else { break };
                match &mut common {
                    _ if new & bit == 0 => entity::write_removal(writer, number.index() as i32),
                    Some(common) if old & bit != 0 => {
                        encoder.write_entity(writer, common, number);
                    }
                    _ => encoder.write_entity(writer, fresh, number),
                }
            }
        }
        entity::write_end(writer);
    }

    fn begin(&mut self, number: FrameNum, entries: &[FrameEntry]) {
        self.frame = Some(number);
        self.used = 0;
        self.fresh.changed = EntitySet::default();
        for entry in entries {
            self.fresh.changed.insert(entry.number);
            self.states[entry.number.index()] = entry.slot;
            self.records.forget(entry.number);
            self.fresh.changes[entry.number.index()] = EntityChange::default();
        }
    }

    /// Index of the changes since a frame, which are found on first use.
    fn delta_from(&mut self, base: FrameNum, frames: &FrameRing) -> usize {
        let Self { fresh, states, frame_deltas, used, .. } = self;
        let known = frame_deltas[..*used].iter().position(|known| known.base == Some(base));
        known.unwrap_or_else(|| {
            if *used == frame_deltas.len() {
                frame_deltas.push(FrameDelta::default());
            }
            let delta = &mut frame_deltas[*used];
            delta.base = Some(base);
            delta.changed = EntitySet::default();
            for before in frames.frame(base).unwrap_or(&[]) {
                let number = before.number;
                if fresh.changed.contains(number) && states[number.index()] != before.slot {
                    delta.changed.insert(number);
                    prefetch(frames.state(before.slot));
                    prefetch(frames.state(states[number.index()]));
                    delta.changes[number.index()] =
                        EntityChange { from: before.slot, piece: EncodedSpan::default() };
                }
            }
            *used += 1;
            *used - 1
        })
    }
}

impl Default for FrameDelta {
    fn default() -> Self {
        Self {
            base: None,
            changed: EntitySet::default(),
            changes: Box::new([EntityChange::default(); MAX_ENTITIES]),
        }
    }
}

/// Context for encoding an entity.
struct Encoder<'a> {
    frames: &'a FrameRing,
    baselines: &'a Baselines,
    states: &'a [SlotId; MAX_ENTITIES],
    records: &'a mut EntityRecords,
}

impl Encoder<'_> {
    /// Writes the change of one entity, encoding it on first use.
    #[inline]
    fn write_entity(&mut self, writer: &mut BitWriter, delta: &mut FrameDelta, number: EntityNum) {
        debug_assert!(delta.changed.contains(number), "only changed entities are written");
        let is_new = delta.base.is_none();
        let change = &mut delta.changes[number.index()];
        if change.piece.is_empty() {
            change.piece = self.piece(change.from, number, is_new);
        }
        writer.append_encoded(&self.records.pieces, change.piece);
    }

    #[inline(never)]
    fn piece(&mut self, from: SlotId, number: EntityNum, is_new: bool) -> EncodedSpan {
        let to = self.frames.state(self.states[number.index()]);
        let from = if is_new { self.baselines.get(to.number) } else { self.frames.state(from) };
        self.records.piece(number, from, to, is_new)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn number(number: usize) -> EntityNum {
        EntityNum::new(number).unwrap()
    }

    /// State of which each number changes one field, and some another one, too.
    fn state(entity: usize, time: i32) -> (EntityNum, EntityState) {
        let (event, frame) = (time / 2, time / 4);
        (
            number(entity),
            EntityState { time, event, frame, ..EntityState::numbered(number(entity)) },
        )
    }

    /// Those of a frame's entities that a client sees of this nature.
    fn seen(entries: &[FrameEntry], nature: u64) -> EntitySet {
        let mut set = EntitySet::default();
        let told = |entry: &&FrameEntry| nature >> (entry.number.index() % 61) & 1 != 0;
        entries.iter().filter(told).for_each(|entry| set.insert(entry.number));
        set
    }

    proptest! {
        /// Any frames, any clients: the bits of a list that was made for that client alone.
        #[test]
        fn lists_equal_those_that_are_made_for_one_client(
            frames_told in vec(vec((0_usize..1022, 0..6), 0..60), 1..6),
            clients in vec((any::<u64>(), any::<u64>(), 0_usize..7), 1..12),
            baselines in vec((0_usize..1022, 0..6), 0..40),
        ) {
            let mut frames = FrameRing::new(8);
            for (at, told) in frames_told.iter().enumerate() {
                let mut states: Vec<_> = told.iter().map(|&(n, time)| state(n, time)).collect();
                states.sort_by_key(|(number, _)| *number);
                let (at, previous) = (FrameNum(at as u32), FrameNum((at as u32).wrapping_sub(1)));
                frames.record(at, previous, states.iter().map(|(n, state)| (*n, state)));
            }
            let baselines =
                Baselines::new(baselines.iter().map(|&(n, time)| state(n, time).1).collect());
            let mut deltas = DeltaCache::default();
            for newest in [frames_told.len() - 1, 0] {
                let newest = FrameNum(newest as u32);
                let entries = frames.frame(newest).unwrap();
                for &(before, now, base) in &clients {
                    let base = FrameNum(base as u32);
                    let base = frames.frame(base).map(|old| (base, old));
                    let old_seen = base.map(|(_, old)| seen(old, before)).unwrap_or_default();
                    let seen = seen(entries, now);
                    let (mut shared, mut alone) = (BitWriter::new(), BitWriter::new());
                    let old = base.map(|(frame, _)| SeenFrame { frame, seen: &old_seen });
                    let new = SeenFrame { frame: newest, seen: &seen };
                    deltas.write_list(&mut shared, GameNumbers::Current, &frames, &baselines, old, new);
                    entity::write_list(
                        &mut alone,
                        visible_entities(&frames, base.map_or(&[], |(_, old)| old), &old_seen),
                        visible_entities(&frames, entries, &seen),
                        |number| baselines.get(number),
                    );
                    prop_assert_eq!(shared.bit_len(), alone.bit_len());
                    prop_assert_eq!(shared.message(), alone.message());
                }
            }
        }
    }

    #[test]
    fn cleared_deltas_are_encoded_again() {
        let mut frames = FrameRing::new(4);
        let states = [state(5, 1)];
        frames.record(FrameNum(1), FrameNum(0), states.iter().map(|(n, state)| (*n, state)));
        let seen = seen(frames.frame(FrameNum(1)).unwrap(), u64::MAX);
        let mut deltas = DeltaCache::default();
        let bits = |deltas: &mut DeltaCache, baselines: &Baselines| {
            let mut writer = BitWriter::new();
            let newest = SeenFrame { frame: FrameNum(1), seen: &seen };
            deltas.write_list(&mut writer, GameNumbers::Current, &frames, baselines, None, newest);
            writer.bit_len()
        };
        let plain = bits(&mut deltas, &Baselines::default());
        let close = Baselines::new(vec![states[0].1]);
        assert_eq!(bits(&mut deltas, &close), plain, "the same frame: nothing is compared again");
        deltas.clear();
        assert!(bits(&mut deltas, &close) < plain);
    }
}

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

use crate::{
    model::{
        Baselines, EntityNum, EntitySet, EntityState, FrameEntry, FrameNum, FrameRing, SlotId,
        limits::MAX_ENTITIES,
    },
    wire::{
        bits::BitWriter,
        encoded::{EncodedCache, EncodedSpan},
        entity,
    },
};

/// Entities of `entries` that are in a set.
pub(crate) fn visible_entities<'a>(
    frames: &'a FrameRing,
    entries: &'a [FrameEntry],
    seen: &'a EntitySet,
) -> impl Iterator<Item = &'a EntityState> {
    entries.iter().filter(|e| seen.contains(e.number)).map(|e| frames.state(e.slot))
}

/// DeltaCache to the newest frame.
#[derive(Debug, Default)]
pub(crate) struct DeltaCache {
    /// The frame that the deltas lead to.
    frame: Option<FrameNum>,
    /// Deltas from baselines.
    fresh: FrameDelta,
    /// Deltas from earlier frames. Only the first `used` are valid, the others keep their memory.
    frame_deltas: Vec<FrameDelta>,
    used: usize,
    pieces: EncodedCache,
    scratch: BitWriter,
}

/// Changes of entities since one base frame, or since baselines.
#[derive(Debug)]
struct FrameDelta {
    /// The base frame; `None` for baselines.
    base: Option<FrameNum>,
    /// Entities in both frames whose slots differ; for baselines, all of the newest frame.
    changed: EntitySet,
    /// One for each of `changed`, ascending.
    changes: Vec<EntityChange>,
    /// Index into `changes` by entity number, valid for those in `changed`.
    places: Box<[u16; MAX_ENTITIES]>,
}

/// A change of one entity.
#[derive(Clone, Copy, Debug)]
struct EntityChange {
    /// State in the base frame; `None` for the baseline.
    from: Option<SlotId>,
    to: SlotId,
    /// Encoded bits, once the change was written.
    piece: Option<EncodedSpan>,
}

impl DeltaCache {
    /// Discards all deltas.
    pub(crate) fn clear(&mut self) {
        self.frame = None;
    }

    /// Writes the entity list from a base frame to frame `number`, both in the ring. `old` is the
    /// set visible in the base frame (none if `None`), `seen` that of frame `number`.
    pub(crate) fn write_list(
        &mut self,
        writer: &mut BitWriter,
        (frames, baselines): (&FrameRing, &Baselines),
        old: Option<(FrameNum, &EntitySet)>,
        (number, seen): (FrameNum, &EntitySet),
    ) {
        let entries = frames.frame(number).unwrap_or(&[]);
        // Clients of one encoding are served in a row or share it; a change of encoding starts over.
        let encoding = writer.encoding();
        if self.frame != Some(number) || !std::ptr::eq(self.scratch.encoding(), encoding) {
            self.scratch.begin(encoding);
            self.begin(number, entries);
        }
        let Self { fresh, frame_deltas, used, pieces, scratch, .. } = self;
        let nothing = EntitySet::default();
        let (common, old_seen) = match old {
            None => (None, &nothing),
            Some((base, old_seen)) => {
                let known = frame_deltas[..*used].iter().position(|known| known.base == Some(base));
                let at = known.unwrap_or_else(|| {
                    if *used == frame_deltas.len() {
                        frame_deltas.push(FrameDelta::default());
                    }
                    frame_deltas[*used].compare(base, frames.frame(base).unwrap_or(&[]), entries);
                    *used += 1;
                    *used - 1
                });
                (Some(&mut frame_deltas[at]), old_seen)
            }
        };
        let changed = common.as_ref().map_or(&nothing, |common| &common.changed);
        let written = entities_to_write(old_seen, seen, changed);
        let mut common = common;
        let mut encoder = Encoder { frames, baselines, pieces, scratch };
        for number in written.iter() {
            match &mut common {
                _ if !seen.contains(number) => {
                    entity::write_removal(writer, number.index() as i32);
                }
                Some(common) if old_seen.contains(number) => {
                    encoder.write_entity(writer, common, number)
                }
                _ => encoder.write_entity(writer, fresh, number),
            }
        }
        entity::write_end(writer);
    }

    fn begin(&mut self, number: FrameNum, entries: &[FrameEntry]) {
        self.frame = Some(number);
        self.used = 0;
        self.pieces.clear();
        self.fresh.begin(None);
        for entry in entries {
            self.fresh.add(entry.number, None, entry.slot);
        }
    }
}

/// Returns the entities to write for a client whose visible set changes from `old` to `new`.
/// `changed` are the changed ones among those in both.
fn entities_to_write(old: &EntitySet, new: &EntitySet, changed: &EntitySet) -> EntitySet {
    let (old, new, changed) = (old.words(), new.words(), changed.words());
    EntitySet::of_words(std::array::from_fn(|at| {
        new[at] ^ old[at] | new[at] & old[at] & changed[at]
    }))
}

impl Default for FrameDelta {
    fn default() -> Self {
        Self {
            base: None,
            changed: EntitySet::default(),
            changes: Vec::new(),
            places: Box::new([0; MAX_ENTITIES]),
        }
    }
}

impl FrameDelta {
    fn begin(&mut self, base: Option<FrameNum>) {
        self.base = base;
        self.changed = EntitySet::default();
        self.changes.clear();
    }

    fn add(&mut self, number: EntityNum, from: Option<SlotId>, to: SlotId) {
        self.changed.insert(number);
        self.places[number.index()] = self.changes.len() as u16;
        self.changes.push(EntityChange { from, to, piece: None });
    }

    /// Finds the changes between two frames, both ascending.
    fn compare(&mut self, base: FrameNum, old: &[FrameEntry], new: &[FrameEntry]) {
        self.begin(Some(base));
        let mut old = old.iter().peekable();
        for entry in new {
            while old.next_if(|before| before.number < entry.number).is_some() {}
            if let Some(before) = old.next_if(|before| before.number == entry.number)
                && before.slot != entry.slot
            {
                self.add(entry.number, Some(before.slot), entry.slot);
            }
        }
    }
}

/// Context for encoding an entity.
struct Encoder<'a> {
    frames: &'a FrameRing,
    baselines: &'a Baselines,
    pieces: &'a mut EncodedCache,
    scratch: &'a mut BitWriter,
}

impl Encoder<'_> {
    /// Writes the change of one entity, encoding it on first use.
    fn write_entity(
        &mut self,
        writer: &mut BitWriter,
        frame_delta: &mut FrameDelta,
        number: EntityNum,
    ) {
        debug_assert!(frame_delta.changed.contains(number), "only changed entities are written");
        let place = usize::from(frame_delta.places[number.index()]);
        let Some(change) = frame_delta.changes.get_mut(place) else { return };
        let piece = *change.piece.get_or_insert_with(|| {
            let to = self.frames.state(change.to);
            let from = match change.from {
                Some(from) => self.frames.state(from),
                None => self.baselines.get(to.number),
            };
            self.scratch.clear();
            entity::write_delta(self.scratch, from, to, change.from.is_none());
            self.pieces.store(self.scratch)
        });
        writer.append_encoded(self.pieces, piece);
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn number(number: usize) -> EntityNum {
        EntityNum::new(number).unwrap()
    }

    fn state(entity: usize, time: i32) -> (EntityNum, EntityState) {
        (number(entity), EntityState { time, ..EntityState::numbered(number(entity)) })
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
            frames_told in vec(vec((0_usize..1022, 0..3), 0..60), 1..6),
            clients in vec((any::<u64>(), any::<u64>(), 0_usize..7), 1..12),
            baselines in vec((0_usize..1022, 0..3), 0..40),
        ) {
            let mut frames = FrameRing::new(8);
            for (at, told) in frames_told.iter().enumerate() {
                let mut states: Vec<_> = told.iter().map(|&(n, time)| state(n, time)).collect();
                states.sort_by_key(|(number, _)| *number);
                let at = at as FrameNum;
                frames.record(at, at.wrapping_sub(1), states.iter().map(|(n, state)| (*n, state)));
            }
            let baselines =
                Baselines::new(baselines.iter().map(|&(n, time)| state(n, time).1).collect());
            let mut deltas = DeltaCache::default();
            for newest in [frames_told.len() - 1, 0] {
                let newest = newest as FrameNum;
                let entries = frames.frame(newest).unwrap();
                for &(before, now, base) in &clients {
                    let base = frames.frame(base as FrameNum).map(|old| (base as FrameNum, old));
                    let old_seen = base.map(|(_, old)| seen(old, before)).unwrap_or_default();
                    let seen = seen(entries, now);
                    let (mut shared, mut alone) = (BitWriter::new(), BitWriter::new());
                    let old = base.map(|(base, _)| (base, &old_seen));
                    deltas.write_list(&mut shared, (&frames, &baselines), old, (newest, &seen));
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
        frames.record(1, 0, states.iter().map(|(n, state)| (*n, state)));
        let seen = seen(frames.frame(1).unwrap(), u64::MAX);
        let mut deltas = DeltaCache::default();
        let bits = |deltas: &mut DeltaCache, baselines: &Baselines| {
            let mut writer = BitWriter::new();
            deltas.write_list(&mut writer, (&frames, baselines), None, (1, &seen));
            writer.bit_len()
        };
        let plain = bits(&mut deltas, &Baselines::default());
        let close = Baselines::new(vec![states[0].1]);
        assert_eq!(bits(&mut deltas, &close), plain, "the same frame: nothing is compared again");
        deltas.clear();
        assert!(bits(&mut deltas, &close) < plain);
    }
}

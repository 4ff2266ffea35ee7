//! Frame ring: entity states of the last frames, each distinct state stored once.
//!
//! A frame lists its entities by number, with the slot of each state. A state that is equal in two
//! consecutive frames is one slot that both share, so an unchanged entity is recognized without a
//! comparison. A server has one ring for all its clients, by server frame; a client has one, by
//! message number.
//!
//! Invariants: a frame's entries ascend strictly by number; a slot lives exactly as long as a frame
//! of the ring lists it; a frame is found under its own number only.

use std::fmt;

use super::{EntityNum, EntityState, Sequence};

/// Number of a frame. Numbers wrap, so two of them have no order, only an age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameNum(pub u32);

impl FrameNum {
    /// Returns the number of the next frame.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Returns the number of frames from this one to `newest`.
    #[must_use]
    pub const fn age(self, newest: Self) -> u32 {
        newest.0.wrapping_sub(self.0)
    }

    /// Returns the index of the frame in a ring of `len` frames, a power of two.
    #[must_use]
    #[inline]
    pub const fn ring_index(self, len: usize) -> usize {
        self.0 as usize % len
    }
}

/// A client numbers frames by their messages.
impl From<Sequence> for FrameNum {
    fn from(sequence: Sequence) -> Self {
        Self(sequence.0)
    }
}

impl fmt::Display for FrameNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Slot of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SlotId(u32);

/// One entity of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEntry {
    /// Entity number.
    pub number: EntityNum,
    /// Slot of its state.
    pub slot: SlotId,
}

#[derive(Clone, Debug, Default)]
struct Frame {
    number: Option<FrameNum>,
    entries: Vec<FrameEntry>,
}

/// Ring of the last frames.
#[derive(Clone, Debug)]
pub struct FrameRing {
    frames: Vec<Frame>,
    states: Vec<EntityState>,
    /// Number of frames that list each state. Apart from the states, most of which are not read in a frame.
    uses: Vec<u32>,
    free: Vec<SlotId>,
    /// Empty lists of removed frames, for the next ones.
    spare: Vec<Vec<FrameEntry>>,
}

impl FrameRing {
    /// Creates a ring of `len` frames, a power of two, all absent.
    #[must_use]
    pub fn new(len: usize) -> Self {
        // Required for the wrap of frame numbers.
        assert!(len.is_power_of_two(), "a ring's length divides the numbers of frames");
        Self {
            frames: vec![Frame::default(); len],
            states: Vec::new(),
            uses: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Returns the entities of frame `number`, ascending, or `None` when it is not stored.
    #[must_use]
    pub fn frame(&self, number: FrameNum) -> Option<&[FrameEntry]> {
        let frame = &self.frames[self.place(number)];
        (frame.number == Some(number)).then_some(&frame.entries)
    }

    /// Returns the state of an entry of a stored frame.
    #[must_use]
    pub fn state(&self, slot: SlotId) -> &EntityState {
        &self.states[slot.0 as usize]
    }

    /// Starts frame `number` in place of the oldest. It is stored by [`FrameBuilder::finish`].
    pub fn begin(&mut self, number: FrameNum) -> FrameBuilder<'_> {
        let place = self.place(number);
        self.clear(place);
        let entries = self.spare.pop().unwrap_or_default();
        FrameBuilder { ring: self, number, entries }
    }

    /// Stores frame `number` as a whole and shares the states that equal those of frame `previous`.
    /// The states must ascend by number; one that does not is skipped. Returns the number of states
    /// with a component that was not finite, which became 0.
    pub fn record<'a>(
        &mut self,
        number: FrameNum,
        previous: FrameNum,
        states: impl Iterator<Item = (EntityNum, &'a EntityState)>,
    ) -> u64 {
        self.record_changes(number, previous, states.map(|(entity, state)| (entity, Some(state))))
    }

    /// Stores a frame as [`Self::record`] does. `None` is the state of the entity in frame `previous`; without one
    /// there, the entity is skipped.
    pub fn record_changes<'a>(
        &mut self,
        number: FrameNum,
        previous: FrameNum,
        states: impl Iterator<Item = (EntityNum, Option<&'a EntityState>)>,
    ) -> u64 {
        let mut mended_states = 0;
        let previous = self.place(previous);
        let mut cursor = 0;
        let mut builder = self.begin(number);
        for (entity, state) in states {
            let before = builder.ring.frames[previous].entries.get(cursor..).unwrap_or(&[]);
            let skipped = before.iter().take_while(|entry| entry.number < entity).count();
            cursor += skipped;
            let entry = before.get(skipped).filter(|entry| entry.number == entity).copied();
            let is_same = |entry: &FrameEntry, state: &EntityState| {
                builder.ring.state(entry.slot).words() == state.words()
            };
            match (entry, state) {
                (Some(entry), None) => builder.share(entry),
                (Some(entry), Some(state)) if is_same(&entry, state) => builder.share(entry),
                (_, Some(state)) => match state.sanitized() {
                    None => builder.push(entity, state),
                    Some(sanitized) => {
                        mended_states += 1;
                        builder.push(entity, &sanitized);
                    }
                },
                (None, None) => {}
            }
        }
        builder.finish();
        mended_states
    }

    /// Removes frame `number`.
    pub fn forget(&mut self, number: FrameNum) {
        if self.frame(number).is_some() {
            self.clear(self.place(number));
        }
    }

    /// Number of stored states.
    #[must_use]
    pub fn states_in_use(&self) -> usize {
        self.states.len() - self.free.len()
    }

    /// Checks frames and slots in full, for simulations. Entries must ascend, and a slot must be
    /// free or used as often as frames list it.
    ///
    /// # Errors
    /// A sentence with the violated invariant.
    pub fn check_invariants(&self) -> Result<(), String> {
        let mut uses = vec![0; self.states.len()];
        for frame in &self.frames {
            if !frame.entries.is_sorted_by(|before, after| before.number < after.number) {
                let number = frame.number.unwrap_or_default();
                return Err(format!("the entities of frame {number} do not ascend"));
            }
            for entry in &frame.entries {
                *uses.get_mut(entry.slot.0 as usize).ok_or("an entity has no slot")? += 1;
            }
        }
        if let Some(at) = (0..uses.len()).find(|&at| self.uses[at] != uses[at]) {
            let (counted, told) = (uses[at], self.uses[at]);
            return Err(format!("slot {at} is in {counted} frames, not in {told}"));
        }
        let unused = uses.iter().filter(|&&uses| uses == 0).count();
        if unused != self.free.len() || self.free.iter().any(|slot| uses[slot.0 as usize] != 0) {
            return Err(format!("{} slots are free, and {unused} unused", self.free.len()));
        }
        Ok(())
    }

    fn place(&self, number: FrameNum) -> usize {
        number.ring_index(self.frames.len())
    }

    /// Removes the frame at a place, if there is one. Its memory stays for the next one.
    fn clear(&mut self, place: usize) {
        let frame = &mut self.frames[place];
        if frame.number.take().is_none() {
            return;
        }
        let mut entries = std::mem::take(&mut frame.entries);
        for entry in entries.drain(..) {
            self.release(entry.slot);
        }
        self.spare.push(entries);
    }

    fn release(&mut self, slot: SlotId) {
        let uses = &mut self.uses[slot.0 as usize];
        *uses -= 1;
        if *uses == 0 {
            self.free.push(slot);
        }
    }

    fn store(&mut self, state: &EntityState) -> SlotId {
        match self.free.pop() {
            Some(id) => {
                self.states[id.0 as usize] = *state;
                self.uses[id.0 as usize] = 1;
                id
            }
            None => {
                self.states.push(*state);
                self.uses.push(1);
                SlotId((self.states.len() - 1) as u32)
            }
        }
    }
}

/// A frame under construction. Dropped before [`FrameBuilder::finish`], it is not stored.
#[derive(Debug)]
pub struct FrameBuilder<'a> {
    ring: &'a mut FrameRing,
    number: FrameNum,
    entries: Vec<FrameEntry>,
}

impl FrameBuilder<'_> {
    /// Adds an entity with the entry of another stored frame.
    pub fn share(&mut self, entry: FrameEntry) {
        if self.ascends(entry.number) {
            self.ring.uses[entry.slot.0 as usize] += 1;
            self.entries.push(entry);
        }
    }

    /// Adds an entity with a new state.
    pub fn push(&mut self, number: EntityNum, state: &EntityState) {
        if self.ascends(number) {
            let slot = self.ring.store(state);
            self.entries.push(FrameEntry { number, slot });
        }
    }

    /// Returns the state of an entry of a stored frame.
    #[must_use]
    pub fn state(&self, slot: SlotId) -> &EntityState {
        self.ring.state(slot)
    }

    /// Stores the frame.
    pub fn finish(mut self) {
        let place = self.ring.place(self.number);
        let frame = &mut self.ring.frames[place];
        frame.number = Some(self.number);
        frame.entries = std::mem::take(&mut self.entries);
    }

    fn ascends(&self, number: EntityNum) -> bool {
        self.entries.last().is_none_or(|last| last.number < number)
    }
}

impl Drop for FrameBuilder<'_> {
    fn drop(&mut self) {
        for entry in self.entries.drain(..) {
            self.ring.release(entry.slot);
        }
    }
}

/// Baselines of a level: delta bases of new entities.
#[derive(Clone, Debug, Default)]
pub struct Baselines {
    /// States, ascending by number.
    states: Vec<EntityState>,
    nothing: EntityState,
}

impl Baselines {
    /// Creates baselines; of duplicate numbers the last one is used.
    #[must_use]
    pub fn new(mut states: Vec<EntityState>) -> Self {
        states.reverse();
        states.sort_by_key(|state| state.number);
        states.dedup_by_key(|state| state.number);
        Self { states, nothing: EntityState::default() }
    }

    /// Returns the baseline of an entity; all zero where none was set.
    #[must_use]
    pub fn get(&self, number: i32) -> &EntityState {
        match self.states.binary_search_by_key(&number, |state| state.number) {
            Ok(at) => &self.states[at],
            Err(_) => &self.nothing,
        }
    }

    /// Baselines that were set, ascending.
    #[must_use]
    pub fn all(&self) -> &[EntityState] {
        &self.states
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(number: usize, time: i32) -> (EntityNum, EntityState) {
        let number = EntityNum::new(number).unwrap();
        (number, EntityState { time, ..EntityState::numbered(number) })
    }

    fn record(ring: &mut FrameRing, number: u32, states: &[(EntityNum, EntityState)]) {
        let (number, previous) = (FrameNum(number), FrameNum(number.wrapping_sub(1)));
        ring.record(number, previous, states.iter().map(|(n, state)| (*n, state)));
    }

    #[test]
    fn every_inconsistency_is_reported() {
        let check = |change: fn(&mut FrameRing)| {
            let mut ring = FrameRing::new(4);
            for frame in 1..=6 {
                record(&mut ring, frame, &[entity(1, 7), entity(2, frame as i32)]);
            }
            ring.forget(FrameNum(6));
            change(&mut ring);
            ring.check_invariants()
        };
        assert_eq!(check(|_| {}), Ok(()));
        let broken: [fn(&mut FrameRing); 5] = [
            |ring| ring.frames[0].entries.swap(0, 1),
            |ring| ring.uses[0] += 1,
            |ring| ring.frames[0].entries[0].slot = SlotId(99),
            |ring| ring.free.clear(),
            |ring| ring.free[0] = ring.frames[0].entries[0].slot,
        ];
        for (place, change) in broken.into_iter().enumerate() {
            assert!(check(change).is_err(), "{place}");
        }
    }

    #[test]
    fn unchanged_states_are_shared_until_last_frame_is_removed() {
        let mut ring = FrameRing::new(4);
        for frame in 1..=4 {
            record(&mut ring, frame, &[entity(1, 7), entity(2, frame as i32), entity(9, 7)]);
        }
        assert_eq!(ring.states_in_use(), 2 + 4);
        let slots = |ring: &FrameRing, frame| {
            ring.frame(FrameNum(frame)).unwrap().iter().map(|entry| entry.slot).collect::<Vec<_>>()
        };
        let (third, fourth) = (slots(&ring, 3), slots(&ring, 4));
        assert_eq!((third[0], third[2]), (fourth[0], fourth[2]));
        assert_ne!(third[1], fourth[1]);

        for frame in 5..=8 {
            record(&mut ring, frame, &[entity(2, 0)]);
        }
        assert_eq!(ring.states_in_use(), 1);
        assert!(ring.frame(FrameNum(4)).is_none());
    }

    #[test]
    fn dropped_frame_builder_stores_nothing() {
        let mut ring = FrameRing::new(2);
        let (number, state) = entity(3, 1);
        ring.begin(FrameNum(1)).push(number, &state);
        assert!(ring.frame(FrameNum(1)).is_none());
        assert_eq!(ring.states_in_use(), 0);
        ring.record(FrameNum(1), FrameNum(0), std::iter::once((number, &state)));
        assert_eq!(ring.state(ring.frame(FrameNum(1)).unwrap()[0].slot).time, 1);
        ring.forget(FrameNum(1));
        assert_eq!(ring.states_in_use(), 0);
    }

    #[test]
    fn entities_out_of_order_are_skipped() {
        let mut ring = FrameRing::new(2);
        record(&mut ring, 1, &[entity(5, 0), entity(4, 0), entity(5, 1), entity(6, 0)]);
        let numbers: Vec<_> =
            ring.frame(FrameNum(1)).unwrap().iter().map(|e| e.number.index()).collect();
        assert_eq!(numbers, [5, 6]);
        assert_eq!(ring.states_in_use(), 2);
    }

    #[test]
    fn missing_baseline_is_zero() {
        let states = vec![entity(8, 1).1, entity(2, 2).1, entity(8, 3).1];
        let baselines = Baselines::new(states);
        assert_eq!([2, 3, 8].map(|number| baselines.get(number).time), [2, 0, 3]);
    }
}

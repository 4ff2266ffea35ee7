//! Snapshot ring of a client: sent snapshots as delta bases.
//!
//! Entity states are in the frame ring that all clients share. For each snapshot a client has the
//! frame number and its view: on a server the playerstate and the set of entities, on a relay the player. A client
//! acknowledges one that is a few messages old, and those before it are released: their memory is used again by the
//! next ones.
//!
//! Invariant: a snapshot is found under its own sequence only, so a gamestate or download cannot
//! be a delta base.
//! Source: Quake III protocol 68, snapshot building. Engine names: `PACKET_BACKUP`, `clientSnapshot_t`.

use crate::model::{FrameNum, Millis, Sequence, limits::PACKET_BACKUP, prefetch};

/// Largest age of a delta base in messages. The ring of the client is longer, so messages on the
/// network do not overwrite the base.
const MAX_BASE_AGE: i32 = PACKET_BACKUP as i32 - 4;

/// Round trip of a snapshot that is not acknowledged.
const NO_TRIP: u32 = u32::MAX;

/// A snapshot that was sent.
#[derive(Clone, Debug)]
pub(crate) struct SentSnapshot<V> {
    pub(crate) frame: FrameNum,
    pub(crate) view: V,
    /// [`SnapshotHistory::entities`] before this one.
    entities_before: u32,
}

/// Message of a snapshot and its round trip. An acknowledgement reads nothing else.
#[derive(Clone, Copy, Debug)]
struct RoundTrip {
    sequence: Sequence,
    /// Duration in ms; [`NO_TRIP`] before the acknowledgement.
    ms: u32,
    /// Time of the transmission, if the trip counts for the ping.
    sent_at: Option<Millis>,
}

/// Place in [`SnapshotHistory::ring`] without a snapshot.
const RELEASED: u8 = u8::MAX;

/// The last 32 snapshots sent to one client, from the acknowledged one on.
#[derive(Debug)]
pub(crate) struct SnapshotHistory<V> {
    /// Index of each snapshot in `kept`.
    ring: [u8; PACKET_BACKUP],
    kept: Vec<SentSnapshot<V>>,
    /// Bits of the entries of `kept` that no place of the ring has.
    unused: u32,
    /// Those before it are released.
    acknowledged: Option<Sequence>,
    /// Round trip of each snapshot, by index in the ring.
    round_trips: [RoundTrip; PACKET_BACKUP],
    /// Sum and number of the known ones. Every frame reads them.
    trips_ms: u64,
    trips: u32,
    /// Number of entities in all snapshots, wrapping.
    entities: u32,
}

impl<V: Default> SnapshotHistory<V> {
    /// Snapshots that memory is allocated for at once: all if they are small, so that sending allocates nothing.
    const RESERVED: usize = {
        let small = 1024 / size_of::<SentSnapshot<V>>();
        if small < PACKET_BACKUP { small } else { PACKET_BACKUP }
    };
    /// Maximum heap memory in bytes.
    pub(crate) const MAX_BYTES: usize = size_of::<[SentSnapshot<V>; PACKET_BACKUP]>();

    pub(crate) fn new() -> Self {
        Self {
            ring: [RELEASED; PACKET_BACKUP],
            kept: Vec::with_capacity(Self::RESERVED),
            unused: 0,
            acknowledged: None,
            round_trips: [RoundTrip { sequence: Sequence(0), ms: NO_TRIP, sent_at: None };
                PACKET_BACKUP],
            trips_ms: 0,
            trips: 0,
            entities: 0,
        }
    }

    /// Snapshot of message `sequence`, while it is in the ring.
    pub(crate) fn get(&self, sequence: Sequence) -> Option<&SentSnapshot<V>> {
        let place = ring_index(sequence);
        let sent = self.kept.get(usize::from(self.ring[place]))?;
        (self.round_trips[place].sequence == sequence).then_some(sent)
    }

    /// Requests the memory of a delta base and of the next snapshot.
    pub(crate) fn expect_snapshot(&self, base: Option<Sequence>) {
        let base = base.and_then(|base| self.get(base));
        let next = self.kept.get(self.unused.trailing_zeros() as usize);
        base.into_iter().chain(next).for_each(prefetch);
    }

    /// Frame of the oldest snapshot that can still become a delta base. `acknowledged` is the snapshot that the client
    /// reported to have; later reports are never older.
    pub(crate) fn oldest_base(
        &self,
        acknowledged: Option<Sequence>,
        newest: FrameNum,
    ) -> Option<FrameNum> {
        match acknowledged.and_then(|sequence| self.get(sequence)) {
            Some(sent) => Some(sent.frame),
            None => {
                let sent = self.ring.iter().filter_map(|&index| self.kept.get(usize::from(index)));
                let frames = sent.map(|sent| sent.frame);
                frames.max_by_key(|&frame| frame.age(newest))
            }
        }
    }

    /// Records a snapshot with a number of entities in place of the oldest. `store` writes its view in place, since a
    /// copy by way of the stack costs as much again. `sent_at` is `None` for a client that loads the level, whose
    /// acknowledgement is late for that reason.
    pub(crate) fn record(
        &mut self,
        sequence: Sequence,
        frame: FrameNum,
        entities: usize,
        sent_at: Option<Millis>,
        store: impl FnOnce(&mut V),
    ) {
        let entities_before = self.entities;
        self.entities = entities_before.wrapping_add(entities as u32);
        let trip = RoundTrip { sequence, ms: NO_TRIP, sent_at };
        let before = std::mem::replace(&mut self.round_trips[ring_index(sequence)], trip);
        if before.ms != NO_TRIP {
            self.trips_ms -= u64::from(before.ms);
            self.trips -= 1;
        }
        let index = &mut self.ring[ring_index(sequence)];
        if *index == RELEASED && self.unused != 0 {
            *index = self.unused.trailing_zeros() as u8;
            self.unused &= self.unused - 1;
        }
        if usize::from(*index) >= self.kept.len() {
            *index = self.kept.len() as u8;
            self.kept.push(SentSnapshot { frame, view: V::default(), entities_before });
        }
        let sent = &mut self.kept[usize::from(*index)];
        (sent.frame, sent.entities_before) = (frame, entities_before);
        store(&mut sent.view);
    }

    /// Releases the snapshots before one that the client has and requests deltas from. Unknown ones change nothing.
    pub(crate) fn release_before(&mut self, acknowledged: Sequence) {
        if self.get(acknowledged).is_none() {
            return;
        }
        let last = self.acknowledged.replace(acknowledged);
        let new = last.map_or(PACKET_BACKUP as i32, |last| acknowledged.distance(last));
        for age in 1..=new.clamp(0, PACKET_BACKUP as i32) as u32 {
            let before = Sequence(acknowledged.0.wrapping_sub(age));
            let place = ring_index(before);
            let index = self.ring[place];
            if index != RELEASED && self.round_trips[place].sequence == before {
                self.unused |= 1 << index;
                self.ring[place] = RELEASED;
            }
        }
    }

    /// Records the round trip of a message at its first acknowledgement.
    pub(crate) fn acknowledge(&mut self, sequence: Sequence, now: Millis) {
        let trip = &mut self.round_trips[ring_index(sequence)];
        if let Some(sent_at) =
            trip.sent_at.filter(|_| trip.sequence == sequence && trip.ms == NO_TRIP)
        {
            trip.ms = now.since(sent_at).0.min(u64::from(NO_TRIP - 1)) as u32;
            self.trips_ms += u64::from(trip.ms);
            self.trips += 1;
        }
    }

    /// Mean round trip of the snapshots in the ring in ms, 999 if none is acknowledged.
    pub(crate) fn ping_ms(&self) -> i32 {
        let mean = self.trips_ms.checked_div(u64::from(self.trips));
        mean.map_or(999, |mean| mean.min(999) as i32)
    }

    /// Delta base of the snapshot in message `sequence`, and its age in messages. `wanted` is the
    /// snapshot that the client acknowledged, `window` its
    /// [`Protocol::delta_window`](crate::wire::Protocol::delta_window). `is_kept` tells whether its content can be read.
    pub(crate) fn delta_base(
        &self,
        sequence: Sequence,
        wanted: Option<Sequence>,
        window: Option<u32>,
        is_kept: impl FnOnce(&SentSnapshot<V>) -> bool,
    ) -> Option<(u8, &SentSnapshot<V>)> {
        let wanted = wanted?;
        let age = sequence.distance(wanted);
        let sent = self.get(wanted)?;
        let entities = self.entities.wrapping_sub(sent.entities_before);
        let usable = (1..=MAX_BASE_AGE).contains(&age)
            && window.is_none_or(|window| entities <= window)
            && is_kept(sent);
        usable.then_some((age as u8, sent))
    }
}

fn ring_index(sequence: Sequence) -> usize {
    sequence.0 as usize % PACKET_BACKUP
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::model::FrameRing;

    #[test]
    fn delta_base_is_acknowledged_and_recent() {
        let mut history = SnapshotHistory::new();
        let mut frames = FrameRing::new(64);
        for sequence in 1..=40 {
            frames.record(FrameNum(sequence), FrameNum(sequence - 1), std::iter::empty());
            // Message 39 is a gamestate.
            if sequence != 39 {
                // The client was in no level before message 38.
                let entities = usize::from(sequence >= 38);
                history.record(Sequence(sequence), FrameNum(sequence), entities, None, |view| {
                    *view = entities;
                });
            }
        }
        let age = |wanted: Option<u32>| {
            let wanted = wanted.map(Sequence);
            history.delta_base(Sequence(41), wanted, Some(1920), |_| true).map(|(age, _)| age)
        };
        assert_eq!(age(None), None);
        assert_eq!(age(Some(40)), Some(1));
        assert_eq!(age(Some(39)), None, "no snapshot");
        assert_eq!(age(Some(13)), Some(28));
        for too_old in [12, 10, 9, 8, 0] {
            assert_eq!(age(Some(too_old)), None, "{too_old}");
        }
        assert_eq!(age(Some(41)), None, "not sent yet");
        assert_eq!(age(Some(u32::MAX)), None);
        for forgotten in [37, 40] {
            frames.forget(FrameNum(forgotten));
        }
        let age = |wanted: u32| {
            let is_kept =
                |sent: &SentSnapshot<usize>| sent.view == 0 || frames.frame(sent.frame).is_some();
            let base = history.delta_base(Sequence(41), Some(Sequence(wanted)), None, is_kept);
            base.map(|(age, _)| age)
        };
        assert_eq!((age(40), age(38)), (None, Some(3)));
        assert_eq!(age(37), Some(4), "without entities no frame is read");
    }

    #[test]
    fn oldest_base_is_acknowledged_or_oldest_in_ring() {
        let mut history = SnapshotHistory::<()>::new();
        assert_eq!(history.oldest_base(None, FrameNum(5)), None);
        // Frame numbers wrap between the snapshots.
        let frame = |sequence: u32| FrameNum((u32::MAX - 19).wrapping_add(sequence));
        for sequence in 1..=40 {
            history.record(Sequence(sequence), frame(sequence), 0, None, |()| {});
        }
        let oldest =
            |acknowledged: Option<u32>| history.oldest_base(acknowledged.map(Sequence), frame(45));
        assert_eq!(oldest(Some(33)), Some(frame(33)));
        for unknown in [None, Some(8), Some(41)] {
            assert_eq!(oldest(unknown), Some(frame(9)), "{unknown:?}");
        }
    }

    proptest! {
        /// Against the sequence at each place of the ring.
        #[test]
        fn snapshots_are_kept_from_the_acknowledged_one_on(
            first in prop_oneof![50..100_u32, 0x7fff_fd00..0x7fff_fdff_u32],
            events in vec((any::<bool>(), 0..40_u32), 0..300),
        ) {
            let mut history = SnapshotHistory::new();
            let mut places = [None; PACKET_BACKUP];
            let (mut sequence, mut acknowledged) = (first, first);
            for (sends, number) in events {
                if sends {
                    // Other messages are sent in between.
                    sequence += number % 5 / 3 + 1;
                    history.record(Sequence(sequence), FrameNum(0), 0, None, |view| *view = sequence);
                    places[sequence as usize % PACKET_BACKUP] = Some(sequence);
                } else {
                    let wanted = sequence.saturating_sub(number);
                    history.release_before(Sequence(wanted));
                    if places[wanted as usize % PACKET_BACKUP] == Some(wanted) {
                        acknowledged = acknowledged.max(wanted);
                    }
                }
                for number in sequence.saturating_sub(50)..=sequence {
                    let sent = history.get(Sequence(number)).map(|sent| sent.view);
                    let is_sent = places[number as usize % PACKET_BACKUP] == Some(number);
                    if !is_sent || (acknowledged - 32..acknowledged).contains(&number) {
                        prop_assert_eq!(sent, None);
                    } else if number >= acknowledged {
                        prop_assert_eq!(sent, Some(number));
                    }
                }
                prop_assert!(history.kept.len() <= PACKET_BACKUP);
            }
        }
    }

    #[test]
    fn memory_of_released_snapshots_is_used_again() {
        let mut history = SnapshotHistory::<()>::new();
        for sequence in 1..=200 {
            history.record(Sequence(sequence), FrameNum(0), 0, None, |()| {});
            history.release_before(Sequence(sequence.saturating_sub(4)));
        }
        assert!((5..=6).contains(&history.kept.len()));
        history.release_before(Sequence(190));
        assert!(history.get(Sequence(190)).is_none() && history.get(Sequence(196)).is_some());
    }

    /// A client of the original game discards a snapshot if it may have overwritten entities of the
    /// base.
    #[test]
    fn delta_base_fits_the_entity_ring_of_the_client() {
        let mut history = SnapshotHistory::<()>::new();
        for sequence in 1..=40 {
            history.record(Sequence(sequence), FrameNum(sequence), 96, None, |()| {});
        }
        let oldest = |window| {
            let usable = |&wanted: &u32| {
                let wanted = Some(Sequence(wanted));
                history.delta_base(Sequence(41), wanted, window, |_| true).is_some()
            };
            (1..=40).find(usable)
        };
        // 96 entities in each of 20 snapshots are 1920.
        assert_eq!(oldest(Some(1920)), Some(21));
        assert_eq!(oldest(None), Some(13));
    }

    proptest! {
        /// Against a list of the last 32 messages.
        #[test]
        fn ping_equals_the_mean_of_all_known_round_trips(
            events in vec((any::<bool>(), 0..40_u32, 0..3000_u64), 0..200),
        ) {
            let mut history = SnapshotHistory::<()>::new();
            let mut sent: [Option<(u32, u64, Option<u64>)>; PACKET_BACKUP] = [None; PACKET_BACKUP];
            let (mut sequence, mut now) = (0, 0);
            for (sends, number, passed) in events {
                now += passed;
                if sends {
                    sequence += number % 3 + 1;
                    history.record(Sequence(sequence), FrameNum(0), 0, Some(Millis(now)), |()| {});
                    sent[sequence as usize % PACKET_BACKUP] = Some((sequence, now, None));
                } else if let Some(wanted) = sequence.checked_sub(number) {
                    history.acknowledge(Sequence(wanted), Millis(now));
                    if let Some((known, at, trip)) = &mut sent[wanted as usize % PACKET_BACKUP]
                        && *known == wanted
                    {
                        trip.get_or_insert(now - *at);
                    }
                }
                let trips: Vec<_> = sent.iter().flatten().filter_map(|(_, _, trip)| *trip).collect();
                let mean = trips.iter().sum::<u64>().checked_div(trips.len() as u64);
                prop_assert_eq!(history.ping_ms(), mean.map_or(999, |mean| mean.min(999) as i32));
            }
        }
    }

    #[test]
    fn ping_is_mean_of_first_acknowledgements() {
        let mut history = SnapshotHistory::<()>::new();
        assert_eq!(history.ping_ms(), 999);
        for (sequence, sent, acked) in [(1, 0, 40), (2, 50, 110)] {
            history.record(Sequence(sequence), FrameNum(0), 0, Some(Millis(sent)), |()| {});
            history.acknowledge(Sequence(sequence), Millis(acked));
            history.acknowledge(Sequence(sequence), Millis(acked + 500));
        }
        history.acknowledge(Sequence(33), Millis(1));
        assert_eq!(history.ping_ms(), 50);
        // A snapshot that was sent while the client loaded the level.
        history.record(Sequence(3), FrameNum(0), 0, None, |()| {});
        history.acknowledge(Sequence(3), Millis(5000));
        assert_eq!(history.ping_ms(), 50);
    }
}

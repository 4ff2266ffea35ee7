//! What one client was shown, and relative to which earlier snapshot it can be shown the next.
//!
//! Entity states lie in the ring of server frames that all clients share; a client remembers, for each
//! snapshot it was sent, the frame, a bit set of the entities seen and its own playerstate.
//!
//! Invariants: a remembered snapshot is found under its own message number only, so a gamestate or a
//! download can't serve as a base; a client's own entity is never in its set.
//! Source: Quake III protocol 68, snapshot building.

use crate::model::{
    EntitySet, EntityState, Entry, FrameNum, FrameRing, Millis, PlayerState, Sequence,
    limits::PACKET_BACKUP,
};

/// A base must be at most this many messages old: the client's ring is longer, so that what is on its
/// way does not overtake it.
const MAX_BASE_AGE: i32 = PACKET_BACKUP as i32 - 4;

/// One snapshot that was sent.
#[derive(Clone, Debug)]
pub(super) struct SentSnapshot {
    sequence: Sequence,
    pub(super) frame: FrameNum,
    pub(super) player: PlayerState,
    pub(super) seen: EntitySet,
    /// When, if the time to its acknowledgement counts for the ping.
    sent_at: Option<Millis>,
    /// [`SnapshotHistory::entities`] before this one.
    entities_before: u32,
}

/// The entities of a frame's `entries` that are in a set.
pub(super) fn visible_entities<'a>(
    frames: &'a FrameRing,
    entries: &'a [Entry],
    seen: &'a EntitySet,
) -> impl Iterator<Item = &'a EntityState> {
    entries.iter().filter(|e| seen.contains(e.number)).map(|e| frames.state(e.slot))
}

/// The last snapshots sent to one client.
#[derive(Debug)]
pub(super) struct SnapshotHistory {
    ring: Box<[Option<SentSnapshot>; PACKET_BACKUP]>,
    /// By place in the ring, milliseconds from sending to the first acknowledgement. Beside the ring,
    /// since every frame asks for all of them and for nothing else.
    trips_ms: [Option<u32>; PACKET_BACKUP],
    /// Entities of all snapshots so far, wrapping.
    entities: u32,
}

impl SnapshotHistory {
    /// Memory of one client's history.
    pub(super) const BYTES: usize = size_of::<[Option<SentSnapshot>; PACKET_BACKUP]>();

    pub(super) fn new() -> Self {
        Self {
            ring: Box::new([const { None }; PACKET_BACKUP]),
            trips_ms: [None; PACKET_BACKUP],
            entities: 0,
        }
    }

    /// The snapshot that message `sequence` carried, while it is remembered.
    pub(super) fn get(&self, sequence: Sequence) -> Option<&SentSnapshot> {
        self.ring[place(sequence)].as_ref().filter(|sent| sent.sequence == sequence)
    }

    /// Remembers a snapshot, in place of the oldest. `sent_at` is `None` for a client that is not in the game:
    /// it acknowledges when it has loaded the level, which says nothing of the way to it.
    pub(super) fn record(
        &mut self,
        sequence: Sequence,
        frame: FrameNum,
        player: &PlayerState,
        seen: EntitySet,
        sent_at: Option<Millis>,
    ) -> &SentSnapshot {
        let entities_before = self.entities;
        self.entities = entities_before.wrapping_add(seen.len() as u32);
        self.trips_ms[place(sequence)] = None;
        self.ring[place(sequence)].insert(SentSnapshot {
            sequence,
            frame,
            player: *player,
            seen,
            sent_at,
            entities_before,
        })
    }

    /// Notes that the client has that message. The first time counts.
    pub(super) fn acknowledge(&mut self, sequence: Sequence, now: Millis) {
        if let Some(sent_at) = self.get(sequence).and_then(|sent| sent.sent_at) {
            let trip_ms = u32::try_from(now.since(sent_at).0).unwrap_or(u32::MAX);
            self.trips_ms[place(sequence)].get_or_insert(trip_ms);
        }
    }

    /// Mean time from sending to acknowledgement over the remembered snapshots, 999 when there is
    /// none.
    pub(super) fn ping_ms(&self) -> i32 {
        let known = || self.trips_ms.iter().flatten();
        let (total, count) =
            (known().map(|&ms| u64::from(ms)).sum::<u64>(), known().count() as u64);
        total.checked_div(count).map_or(999, |mean| mean.min(999) as i32)
    }

    /// The snapshot that the message to be sent as `sequence` may be relative to, and how many numbers
    /// back it is. `wanted` is what the client said it has, `window` its
    /// [`Protocol::delta_window`](crate::wire::Protocol::delta_window).
    pub(super) fn delta_base(
        &self,
        sequence: Sequence,
        wanted: Option<Sequence>,
        frames: &FrameRing,
        window: Option<u32>,
    ) -> Option<(u8, &SentSnapshot)> {
        let wanted = wanted?;
        let age = sequence.distance(wanted);
        let sent = self.get(wanted)?;
        let entities = self.entities.wrapping_sub(sent.entities_before);
        let usable = (1..=MAX_BASE_AGE).contains(&age)
            && window.is_none_or(|window| entities <= window)
            && frames.frame(sent.frame).is_some();
        usable.then_some((age as u8, sent))
    }
}

fn place(sequence: Sequence) -> usize {
    sequence.0 as usize % PACKET_BACKUP
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EntityNum;

    fn viewer(number: i32) -> PlayerState {
        PlayerState { client_num: number, ..PlayerState::default() }
    }

    #[test]
    fn a_base_is_a_snapshot_the_client_has_and_not_too_old() {
        let mut history = SnapshotHistory::new();
        let mut frames = FrameRing::new(64);
        for sequence in 1..=40 {
            frames.record(sequence, sequence - 1, std::iter::empty());
            // Message 39 is a gamestate.
            if sequence != 39 {
                let seen = EntitySet::default();
                history.record(Sequence(sequence), sequence, &viewer(0), seen, None);
            }
        }
        let age = |wanted: Option<u32>| {
            let base = history.delta_base(Sequence(41), wanted.map(Sequence), &frames, Some(1920));
            base.map(|(age, _)| age)
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
        frames.forget(40);
        assert!(history.delta_base(Sequence(41), Some(Sequence(40)), &frames, None).is_none());
    }

    /// A client of the original game throws away a snapshot whose base's entities it may have overwritten.
    #[test]
    fn base_has_all_its_entities_in_the_ring_of_a_client() {
        let mut history = SnapshotHistory::new();
        let mut frames = FrameRing::new(64);
        for sequence in 1..=40 {
            frames.record(sequence, sequence - 1, std::iter::empty());
            let mut seen = EntitySet::default();
            (0..96).filter_map(EntityNum::new).for_each(|number| seen.insert(number));
            history.record(Sequence(sequence), sequence, &viewer(0), seen, None);
        }
        let oldest = |window| {
            let usable = |&wanted: &u32| {
                history.delta_base(Sequence(41), Some(Sequence(wanted)), &frames, window).is_some()
            };
            (1..=40).find(usable)
        };
        // 96 entities in each of 20 snapshots are 1920.
        assert_eq!(oldest(Some(1920)), Some(21));
        assert_eq!(oldest(None), Some(13));
    }

    #[test]
    fn ping_is_the_mean_of_first_acknowledgements() {
        let mut history = SnapshotHistory::new();
        assert_eq!(history.ping_ms(), 999);
        for (sequence, sent, acked) in [(1, 0, 40), (2, 50, 110)] {
            let seen = EntitySet::default();
            history.record(Sequence(sequence), 0, &viewer(0), seen, Some(Millis(sent)));
            history.acknowledge(Sequence(sequence), Millis(acked));
            history.acknowledge(Sequence(sequence), Millis(acked + 500));
        }
        history.acknowledge(Sequence(33), Millis(1));
        assert_eq!(history.ping_ms(), 50);
        // One that was sent while the client loaded.
        history.record(Sequence(3), 0, &viewer(0), EntitySet::default(), None);
        history.acknowledge(Sequence(3), Millis(5000));
        assert_eq!(history.ping_ms(), 50);
    }
}

//! Snapshot history of a client: delta bases for later snapshots.
//!
//! Invariants: a snapshot is stored under its own message number only, so that missing and
//! discarded ones are not delta bases; reading one changes nothing until it is accepted; unchanged
//! entity states are stored once; delta bases have the numbers of the wire, also where the client shows others.
//! Source: Quake III protocol 68, snapshot acceptance.

use crate::{
    model::{
        Baselines, CommandNum, EntityNum, EntityState, FrameRing, PlayerState, Sequence,
        limits::PACKET_BACKUP,
    },
    wire::{
        self,
        bits::BitReader,
        delta_sink::DeltaSink,
        entity::{self, EntityUpdate},
        numbers::GameNumbers,
        player,
        snapshot::{self, SnapFlags, SnapshotHeader},
    },
};

/// An accepted snapshot, without its entities.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Message number.
    pub sequence: Sequence,
    /// Header: server time, flags, area mask, delta base.
    pub head: SnapshotHeader,
    /// Playerstate of the viewed player.
    pub player: PlayerState,
    /// Newest server command before it.
    pub command: CommandNum,
}

impl Snapshot {
    /// Whether it shows the client in the game.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.head.flags.contains(SnapFlags::NOT_ACTIVE)
    }

    /// Message of its delta base; `None` for a full snapshot.
    #[must_use]
    pub fn delta_base(&self) -> Option<Sequence> {
        let back = u32::from(self.head.delta_num);
        self.sequence.0.checked_sub(back).filter(|_| back > 0).map(Sequence)
    }
}

/// A snapshot that is read but not accepted. Its entities are in the [`SnapshotHistory`].
#[derive(Clone, Debug)]
pub(crate) struct PendingSnapshot {
    pub(crate) head: SnapshotHeader,
    pub(crate) player: PlayerState,
    /// Whether the client has its delta base.
    pub(crate) usable: bool,
}

/// Last snapshots of a client.
#[derive(Debug)]
pub(crate) struct SnapshotHistory {
    /// Snapshots as received, which are the delta bases.
    received: StoredSnapshots,
    /// Snapshots in numbers of 1.32; `None` where those of the wire are the same.
    translated: Option<Box<StoredSnapshots>>,
    numbers: GameNumbers,
    /// Entities of the pending snapshot.
    staged: Vec<EntityState>,
}

/// Snapshots by message number.
#[derive(Debug)]
struct StoredSnapshots {
    snapshots: Box<[Option<Snapshot>; PACKET_BACKUP]>,
    /// Entities of each snapshot, by message number.
    entities: FrameRing,
    current: Option<Sequence>,
}

fn place(sequence: u32) -> usize {
    sequence as usize % PACKET_BACKUP
}

impl StoredSnapshots {
    fn new() -> Self {
        Self {
            snapshots: Box::new([const { None }; PACKET_BACKUP]),
            entities: FrameRing::new(PACKET_BACKUP),
            current: None,
        }
    }

    fn get(&self, sequence: u32) -> Option<&Snapshot> {
        self.snapshots[place(sequence)].as_ref().filter(|found| found.sequence.0 == sequence)
    }

    fn record(&mut self, snapshot: Snapshot, entities: &[EntityState]) {
        let sequence = snapshot.sequence;
        let previous = self.current.unwrap_or(sequence);
        let states = entities.iter().filter_map(|state| {
            let number = state.entity_num()?;
            Some((number, state))
        });
        self.entities.record(sequence.into(), previous.into(), states);
        self.snapshots[place(sequence.0)] = Some(snapshot);
        self.current = Some(sequence);
    }
}

impl SnapshotHistory {
    /// Creates a history that shows the numbers of the wire.
    #[cfg(any(test, feature = "trace"))]
    pub(crate) fn new() -> Self {
        Self::with_numbers(GameNumbers::Current)
    }

    /// Creates a history of a connection with these numbers, which shows those of 1.32.
    pub(crate) fn with_numbers(numbers: GameNumbers) -> Self {
        Self {
            received: StoredSnapshots::new(),
            translated: (!numbers.is_current()).then(|| Box::new(StoredSnapshots::new())),
            numbers,
            staged: Vec::new(),
        }
    }

    /// Removes all snapshots at the start of a level.
    pub(crate) fn forget(&mut self) {
        let staged = std::mem::take(&mut self.staged);
        *self = Self { staged, ..Self::with_numbers(self.numbers) };
    }

    fn shown(&self) -> &StoredSnapshots {
        self.translated.as_deref().unwrap_or(&self.received)
    }

    /// Newest snapshot.
    pub(super) fn current(&self) -> Option<&Snapshot> {
        let shown = self.shown();
        shown.current.and_then(|sequence| shown.get(sequence.0))
    }

    /// Entities of the newest snapshot, ascending by number.
    pub(super) fn entities(&self) -> impl ExactSizeIterator<Item = &EntityState> {
        let StoredSnapshots { entities, current, .. } = self.shown();
        let entries = current.and_then(|sequence| entities.frame(sequence.into()));
        entries.unwrap_or_default().iter().map(|entry| entities.state(entry.slot))
    }

    /// Returns the snapshot of a message and its entities, if stored.
    pub(crate) fn view(
        &self,
        sequence: Sequence,
    ) -> Option<(&Snapshot, impl Iterator<Item = &EntityState>)> {
        let shown = self.shown();
        let entries = shown.entities.frame(sequence.into())?.iter();
        Some((shown.get(sequence.0)?, entries.map(|entry| shown.entities.state(entry.slot))))
    }

    /// Reads the snapshot of message `sequence` behind its operation byte. A snapshot without its
    /// delta base is read too, for the operations behind it.
    ///
    /// # Errors
    /// As the readers of `wire`. Nothing is changed then.
    pub(crate) fn read(
        &mut self,
        reader: &mut BitReader<'_>,
        sequence: Sequence,
        baselines: &Baselines,
        sink: &mut impl DeltaSink,
    ) -> wire::Result<PendingSnapshot> {
        let head = snapshot::read_head(reader)?;
        sink.header_end(reader.bit_position());
        let base = self.base(sequence, head.delta_num);
        let usable = head.delta_num == 0 || base.is_some();
        let nobody = PlayerState::default();
        let (old_player, entries) = match base
            .and_then(|base| Some((base, self.received.entities.frame(base.sequence.into())?)))
        {
            Some((base, entries)) => (&base.player, entries),
            None => (&nobody, &[][..]),
        };
        let player = player::read_delta_with(reader, old_player, sink)?;
        sink.player_end(reader.bit_position());
        let old = entries.iter().map(|entry| self.received.entities.state(entry.slot));
        let baseline = |number: EntityNum| baselines.get(number.index() as i32);
        self.staged.clear();
        entity::read_list_with(reader, old, baseline, sink, |listed| {
            self.staged.push(match listed {
                EntityUpdate::Unchanged(kept) => *kept,
                EntityUpdate::Changed(told) => told,
            });
        })?;
        Ok(PendingSnapshot { head, player, usable })
    }

    /// Returns the delta base of a snapshot in message `sequence`, if stored. A base as old as the
    /// ring is overwritten by the new snapshot, and no server uses one that old.
    fn base(&self, sequence: Sequence, delta_num: u8) -> Option<&Snapshot> {
        let back = u32::from(delta_num);
        if back == 0 || back as usize >= PACKET_BACKUP {
            return None;
        }
        self.received.get(sequence.0.checked_sub(back)?)
    }

    /// Stores the pending snapshot as that of message `sequence`.
    pub(crate) fn accept(
        &mut self,
        sequence: Sequence,
        staged: PendingSnapshot,
        command: CommandNum,
    ) {
        debug_assert!(staged.usable, "relative to something unknown");
        let PendingSnapshot { head, player, .. } = staged;
        let numbers = self.numbers;
        let snapshot = Snapshot { sequence, head, player, command };
        self.received.record(snapshot.clone(), &self.staged);
        if let Some(translated) = &mut self.translated {
            for state in &mut self.staged {
                *state = numbers.received_entity(state);
            }
            let player = numbers.received_player(&snapshot.player);
            translated.record(Snapshot { player, ..snapshot }, &self.staged);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{LevelTime, limits::MAX_ENTITIES},
        wire::{bits::BitWriter, snapshot::SnapshotView},
    };

    type World = (PlayerState, Vec<EntityState>);

    fn world(time: i32, numbers: &[usize]) -> World {
        let player = PlayerState { command_time: time, ..PlayerState::default() };
        let entities = numbers.iter().map(|&number| EntityState {
            time,
            ..EntityState::numbered(EntityNum::new(number).unwrap())
        });
        (player, entities.collect())
    }

    fn message(base: Option<&World>, delta_num: u8, new: &World) -> Vec<u8> {
        let nothing = EntityState::default();
        let zero = World::default();
        let base = base.unwrap_or(&zero);
        let head = SnapshotHeader {
            server_time: LevelTime(new.0.command_time),
            delta_num,
            ..SnapshotHeader::default()
        };
        let mut writer = BitWriter::new();
        snapshot::write(
            &mut writer,
            &head,
            SnapshotView { player: &base.0, entities: base.1.iter() },
            SnapshotView { player: &new.0, entities: new.1.iter() },
            |_| &nothing,
        );
        writer.message().to_vec()
    }

    /// Reads a snapshot and accepts it if it is usable.
    fn take(history: &mut SnapshotHistory, sequence: u32, bytes: &[u8]) -> bool {
        let mut reader = BitReader::new(bytes);
        let baselines = Baselines::default();
        let staged = history.read(&mut reader, Sequence(sequence), &baselines, &mut ()).unwrap();
        let usable = staged.usable;
        if usable {
            history.accept(Sequence(sequence), staged, CommandNum(0));
        }
        usable
    }

    fn shown(history: &SnapshotHistory) -> (i32, Vec<(i32, i32)>) {
        let entities = history.entities().map(|entity| (entity.number, entity.time)).collect();
        (history.current().unwrap().player.command_time, entities)
    }

    #[test]
    fn snapshots_use_received_delta_bases() {
        let mut history = SnapshotHistory::new();
        let [a, b, c] = [world(1, &[2, 5]), world(2, &[2, 9]), world(3, &[9])];
        assert!(take(&mut history, 7, &message(None, 0, &a)));
        assert!(take(&mut history, 8, &message(Some(&a), 1, &b)));
        assert_eq!(shown(&history), (2, vec![(2, 2), (9, 2)]));
        // 9 is lost; 10 has base 7.
        assert!(take(&mut history, 10, &message(Some(&a), 3, &c)));
        assert_eq!(shown(&history), (3, vec![(9, 3)]));
        assert!(!take(&mut history, 11, &message(Some(&b), 2, &c)), "9 never came");
        assert_eq!(shown(&history), (3, vec![(9, 3)]), "nothing has changed");
        assert!(!take(&mut history, 12, &message(Some(&b), 1, &c)), "11 was thrown away");
        history.forget();
        assert!(history.current().is_none() && history.entities().len() == 0);
        assert!(!take(&mut history, 13, &message(Some(&c), 3, &c)), "of another level");
    }

    #[test]
    fn delta_base_outside_ring_is_rejected() {
        let mut history = SnapshotHistory::new();
        let a = world(1, &[1]);
        for sequence in (1..=40).filter(|sequence| *sequence != 38) {
            assert!(take(&mut history, sequence, &message(None, 0, &a)));
        }
        for delta_num in 1..=255 {
            let usable = take(&mut history.clone_for_test(), 41, &message(Some(&a), delta_num, &a));
            // The slot of 38, which was lost, still holds 6.
            assert_eq!(usable, delta_num <= 31 && delta_num != 3, "{delta_num}");
        }
    }

    impl SnapshotHistory {
        fn clone_for_test(&self) -> Self {
            let StoredSnapshots { snapshots, entities, current } = &self.received;
            let received = StoredSnapshots {
                snapshots: snapshots.clone(),
                entities: entities.clone(),
                current: *current,
            };
            Self { received, translated: None, ..Self::new() }
        }
    }

    #[test]
    fn truncated_snapshot_changes_nothing() {
        let mut history = SnapshotHistory::new();
        let (a, b) = (world(1, &[2, 5]), world(2, &[2, 5, 1000]));
        assert!(take(&mut history, 1, &message(None, 0, &a)));
        let bytes = message(Some(&a), 1, &b);
        // The last byte may be a spare one.
        for len in 0..bytes.len() - 1 {
            let mut reader = BitReader::new(&bytes[..len]);
            assert!(
                history.read(&mut reader, Sequence(2), &Baselines::default(), &mut ()).is_err()
            );
            assert_eq!(shown(&history), (1, vec![(2, 1), (5, 1)]));
        }
        assert!(take(&mut history, 2, &bytes));
    }

    #[test]
    fn unchanged_entities_are_stored_once() {
        let mut history = SnapshotHistory::new();
        let many = world(1, &(1..MAX_ENTITIES - 1).collect::<Vec<_>>());
        take(&mut history, 1, &message(None, 0, &many));
        for sequence in 2..=100 {
            assert!(take(&mut history, sequence, &message(Some(&many), 1, &many)));
        }
        assert_eq!(history.received.entities.states_in_use(), MAX_ENTITIES - 2);
    }
}

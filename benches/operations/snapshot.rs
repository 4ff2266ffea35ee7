//! Snapshot messages: header, playerstate and entities, of which 30% changed.

use std::hint::black_box;

use fragd::{
    model::{CommandNum, EntityState, LevelTime, PlayerState},
    wire::{
        Protocol,
        bits::{BitReader, BitWriter},
        entity, player,
        server_message::{self, ServerOp as Part},
        snapshot::{self, AreaMask, SnapFlags, SnapshotHeader, SnapshotView},
    },
};

use super::{
    Operation, average,
    recorded::{Change, Recorded},
};

/// Different messages of each size.
const INPUTS: usize = 128;

/// Content of one message and its delta base.
struct Input {
    head: SnapshotHeader,
    player: Change<PlayerState>,
    old: Vec<EntityState>,
    new: Vec<EntityState>,
    nothing: EntityState,
    /// Unchanged entities of `new`, in the memory of `old`.
    message: Vec<u8>,
}

impl Input {
    fn made(recorded: &mut Recorded, entities: usize) -> Self {
        let mut player = recorded.pick(|recorded| &recorded.players);
        recorded.vary_player(&mut player);
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for i in 0..entities {
            let mut change = if recorded.below(10) < 3 {
                recorded.moving_entities(1)[0]
            } else {
                let state = recorded.pick(|recorded| &recorded.shown);
                Change { from: state, to: state }
            };
            let number = (i * 1000 / entities + recorded.below(1000 / entities)) as i32;
            (change.from.number, change.to.number) = (number, number);
            old.push(change.from);
            new.push(change.to);
        }
        let head = SnapshotHeader {
            server_time: LevelTime(600_000 + recorded.below(100_000) as i32),
            delta_num: 1,
            flags: SnapFlags(0),
            areas: AreaMask::new(&[0xfe]).expect("short"),
        };
        let nothing = EntityState::default();
        let mut input = Self { head, player, old, new, nothing, message: Vec::new() };
        let mut writer = BitWriter::new();
        input.write(&mut writer);
        input.message = writer.message().to_vec();
        input
    }

    fn write(&self, writer: &mut BitWriter) {
        self.write_of(writer, self.new.iter());
    }

    /// As a server that keeps each state once: what did not change is the same object.
    fn write_shared(&self, writer: &mut BitWriter) {
        let shared = self.old.iter().zip(&self.new);
        let shared = shared.map(|(old, new)| if old.words() == new.words() { old } else { new });
        self.write_of(writer, shared);
    }

    fn write_of<'a>(&'a self, writer: &mut BitWriter, new: impl Iterator<Item = &'a EntityState>) {
        server_message::begin(writer, Protocol::Q3_68, CommandNum(7));
        writer.byte(Part::Snapshot as u8);
        snapshot::write(
            writer,
            &self.head,
            SnapshotView { player: &self.player.from, entities: self.old.iter() },
            SnapshotView { player: &self.player.to, entities: new },
            |_| &self.nothing,
        );
        server_message::end(writer);
    }

    fn read(&self, entities: &mut Vec<EntityState>) {
        let mut reader = BitReader::new(&self.message);
        let mut read = || {
            reader.long()?;
            Part::read(&mut reader)?;
            black_box(snapshot::read_head(&mut reader)?);
            black_box(player::read_delta(&mut reader, &self.player.from)?);
            entities.clear();
            let nothing = |_| &self.nothing;
            entity::read_list(&mut reader, self.old.iter(), nothing, |listed| {
                entities.push(match listed {
                    entity::EntityUpdate::Unchanged(kept) => *kept,
                    entity::EntityUpdate::Changed(told) => told,
                });
            })?;
            Part::read(&mut reader)
        };
        assert_eq!(read(), Ok(Part::End));
    }
}

pub(crate) fn operations() -> Vec<Operation> {
    let mut recorded = Recorded::read();
    let mut operations = Vec::new();
    for entities in [16, 32, 64] {
        let mut inputs =
            || (0..INPUTS).map(|_| Input::made(&mut recorded, entities)).collect::<Vec<_>>();
        let name = |what| format!("snapshot message, {entities} entities, {what}");
        let size = |inputs: &[Input]| average(inputs, "B", |input| input.message.len());

        let (mut writer, messages) = (BitWriter::new(), inputs());
        let work = move |input: &Input| {
            input.write(&mut writer);
            black_box(writer.message());
        };
        operations.push(Operation::over(name("write"), size(&messages), messages, work));

        let (mut writer, messages) = (BitWriter::new(), inputs());
        let work = move |input: &Input| {
            input.write_shared(&mut writer);
            black_box(writer.message());
        };
        operations.push(Operation::over(name("write shared"), size(&messages), messages, work));

        let (mut list, messages) = (Vec::new(), inputs());
        let work = move |input: &Input| {
            input.read(&mut list);
            black_box(&list);
        };
        operations.push(Operation::over(name("read"), size(&messages), messages, work));
    }
    operations
}

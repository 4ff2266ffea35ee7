//! Fields of Quake Live's states that the structs lack: their values in a snapshot.
//!
//! They follow the rules of deltas: a field that is not sent has the value of the delta base or baseline.
//! Invariant: memory is bounded by the number of entities and fields of a snapshot.

use std::collections::BTreeMap;

use crate::{
    model::EntityNum,
    wire::{
        delta_sink::{DeltaSink, EntityChange},
        fields::Field,
        protocol::Encoding,
    },
};

/// Values that are not zero, by field of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpareFields {
    player: BTreeMap<u8, u32>,
    entities: BTreeMap<(u16, u8), u32>,
}

impl SpareFields {
    /// Fields of the playerstate: index in its table, and value.
    pub fn player(&self) -> impl Iterator<Item = (usize, u32)> {
        self.player.iter().map(|(field, value)| (usize::from(*field), *value))
    }

    /// Fields of an entity: index in their table, and value.
    pub fn entity(&self, number: i32) -> impl Iterator<Item = (usize, u32)> {
        // No entity has a number out of range.
        let number = u16::try_from(number).unwrap_or(u16::MAX);
        let fields = self.entities.range((number, 0)..=(number, u8::MAX));
        fields.map(|((_, field), value)| (usize::from(*field), *value))
    }

    fn remove_entity(&mut self, number: u16) {
        self.entities.retain(|(entity, _), _| *entity != number);
    }
}

/// Receiver of these fields while states are read.
pub(super) struct SpareReader<'a> {
    /// Fields so far.
    pub(super) fields: SpareFields,
    encoding: &'static Encoding,
    baselines: Option<&'a SpareFields>,
    /// Whether the fields are those of a playerstate.
    is_player: bool,
    /// Spare fields of the current record.
    read: Vec<(u8, u32)>,
}

impl<'a> SpareReader<'a> {
    /// A receiver of baselines.
    pub(super) fn new(encoding: &'static Encoding) -> Self {
        let fields = SpareFields::default();
        Self { fields, encoding, baselines: None, is_player: false, read: Vec::new() }
    }

    /// A receiver of a snapshot behind the fields of its delta base.
    pub(super) fn behind(
        encoding: &'static Encoding,
        fields: SpareFields,
        baselines: &'a SpareFields,
    ) -> Self {
        let baselines = Some(baselines);
        Self { fields, encoding, baselines, is_player: true, read: Vec::new() }
    }
}

impl DeltaSink for SpareReader<'_> {
    fn field(&mut self, index: usize, value: u32, _bits: usize) {
        let fields =
            if self.is_player { self.encoding.player.fields } else { self.encoding.entity.fields };
        if fields.get(index).is_some_and(Field::is_spare) {
            self.read.push((index as u8, value));
        }
    }

    fn player_end(&mut self, _at: usize) {
        self.is_player = false;
        self.fields.player.extend(self.read.drain(..));
        self.fields.player.retain(|_, value| *value != 0);
    }

    fn entity(&mut self, number: EntityNum, change: EntityChange, _bits: usize) {
        let number = number.index() as u16;
        if change != EntityChange::Changed {
            self.fields.remove_entity(number);
        }
        if change == EntityChange::Added
            && let Some(baselines) = self.baselines
        {
            let baseline = baselines.entities.range((number, 0)..=(number, u8::MAX));
            self.fields.entities.extend(baseline.map(|(key, value)| (*key, *value)));
        }
        for (field, value) in self.read.drain(..).filter(|_| change != EntityChange::Removed) {
            if value == 0 {
                self.fields.entities.remove(&(number, field));
            } else {
                self.fields.entities.insert((number, field), value);
            }
        }
    }
}

//! Costs of fields: changes and bits of each entity field and playerstate field.

use crate::{
    trace::{parts::Part, record::Record, snapshot_content::FieldChange},
    wire::{fields::Field, player, protocol::ENCODING_68},
};

/// Maximum fields of a table.
const MAX_FIELDS: usize = 64;

/// Changes and bits of one field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) changes: u64,
    pub(super) bits: u64,
}

impl Cost {
    fn add(&mut self, bits: u64) {
        self.changes += 1;
        self.bits += bits;
    }
}

/// Costs of the fields of all snapshots.
#[derive(Debug)]
pub(super) struct FieldCosts {
    entity: [Cost; MAX_FIELDS],
    player: [Cost; MAX_FIELDS],
    arrays: [Cost; player::ARRAY_NAMES.len()],
    /// Entity numbers, flags of unchanged fields, field counts.
    entity_rest: Cost,
    player_rest: Cost,
}

impl Default for FieldCosts {
    fn default() -> Self {
        let none = Cost::default();
        Self {
            entity: [none; MAX_FIELDS],
            player: [none; MAX_FIELDS],
            arrays: [none; player::ARRAY_NAMES.len()],
            entity_rest: none,
            player_rest: none,
        }
    }
}

impl FieldCosts {
    pub(super) fn add(&mut self, record: &Record) {
        if !record.from_server.has_snapshot {
            return;
        }
        let snapshot = &record.from_server.snapshot;
        let mut sum = add_fields(&mut self.player, snapshot.player());
        for element in &snapshot.elements {
            if let Some(cost) = self.arrays.get_mut(usize::from(element.array)) {
                cost.add(u64::from(element.bits));
            }
            sum += u64::from(element.bits);
        }
        self.player_rest.add(u64::from(record.bits.get(Part::Player)).saturating_sub(sum));
        for entity in &snapshot.entities {
            let sum = add_fields(&mut self.entity, snapshot.fields_of(entity));
            self.entity_rest.add(u64::from(entity.bits).saturating_sub(sum));
        }
    }

    /// Entity fields with their costs, most expensive first.
    pub(super) fn entities(&self) -> Vec<(&'static str, Cost)> {
        let rest = ("(numbers and flags)", self.entity_rest);
        sorted(named(&self.entity, ENCODING_68.entity.fields).chain([rest]))
    }

    /// Playerstate fields with their costs, most expensive first.
    pub(super) fn players(&self) -> Vec<(&'static str, Cost)> {
        let arrays = player::ARRAY_NAMES.into_iter().zip(self.arrays);
        let rest = ("(counts and flags)", self.player_rest);
        sorted(named(&self.player, ENCODING_68.player.fields).chain(arrays).chain([rest]))
    }
}

/// Adds the fields and returns the sum of their bits.
fn add_fields(costs: &mut [Cost; MAX_FIELDS], changes: &[FieldChange]) -> u64 {
    let mut sum = 0;
    for change in changes {
        let bits = u64::from(change.bits);
        costs[usize::from(change.index) % MAX_FIELDS].add(bits);
        sum += bits;
    }
    sum
}

fn named<'a>(
    costs: &'a [Cost; MAX_FIELDS],
    fields: &'static [Field],
) -> impl Iterator<Item = (&'static str, Cost)> + 'a {
    fields.iter().map(|field| field.name).zip(costs.iter().copied())
}

fn sorted(costs: impl Iterator<Item = (&'static str, Cost)>) -> Vec<(&'static str, Cost)> {
    let mut costs: Vec<_> = costs.filter(|(_, cost)| cost.bits > 0).collect();
    costs.sort_by_key(|(name, cost)| (std::cmp::Reverse(cost.bits), *name));
    costs
}

//! Costs of fields: changes and bits of each entity field and playerstate field.
//!
//! Each encoding has its own numbers of fields; fields of one name are one row.

use std::collections::BTreeMap;

use crate::{
    trace::{parts::Part, record::Record, snapshot_content::FieldChange},
    wire::{fields::Field, player, protocol::Encoding},
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
#[derive(Debug, Default)]
pub(super) struct FieldCosts {
    /// Fields by number, for each encoding.
    tables: Vec<(&'static Encoding, Table)>,
    arrays: [Cost; player::ARRAY_NAMES.len()],
    /// Entity numbers, flags of unchanged fields, field counts.
    entity_rest: Cost,
    player_rest: Cost,
}

/// Costs of the fields of one encoding.
#[derive(Debug)]
struct Table {
    entity: [Cost; MAX_FIELDS],
    player: [Cost; MAX_FIELDS],
}

impl FieldCosts {
    pub(super) fn add(&mut self, record: &Record) {
        if !record.from_server.has_snapshot {
            return;
        }
        let snapshot = &record.from_server.snapshot;
        for element in &snapshot.elements {
            if let Some(cost) = self.arrays.get_mut(usize::from(element.array)) {
                cost.add(u64::from(element.bits));
            }
        }
        let arrays: u64 = snapshot.elements.iter().map(|element| u64::from(element.bits)).sum();
        let at = self.table_of(record.encoding());
        let Self { tables, entity_rest, player_rest, .. } = self;
        let Some((_, table)) = tables.get_mut(at) else { return };
        let sum = arrays + add_fields(&mut table.player, snapshot.player());
        player_rest.add(u64::from(record.bits.get(Part::Player)).saturating_sub(sum));
        for entity in &snapshot.entities {
            let sum = add_fields(&mut table.entity, snapshot.fields_of(entity));
            entity_rest.add(u64::from(entity.bits).saturating_sub(sum));
        }
    }

    /// Returns the place of the table of an encoding.
    fn table_of(&mut self, encoding: &'static Encoding) -> usize {
        let known = self.tables.iter().position(|(of, _)| std::ptr::eq(*of, encoding));
        known.unwrap_or_else(|| {
            let none = [Cost::default(); MAX_FIELDS];
            self.tables.push((encoding, Table { entity: none, player: none }));
            self.tables.len() - 1
        })
    }

    /// Entity fields with their costs, most expensive first.
    pub(super) fn entities(&self) -> Vec<(&'static str, Cost)> {
        let rest = ("(numbers and flags)", self.entity_rest);
        let fields =
            self.tables.iter().flat_map(|(of, table)| named(&table.entity, of.entity.fields));
        sorted(fields.chain([rest]))
    }

    /// Playerstate fields with their costs, most expensive first.
    pub(super) fn players(&self) -> Vec<(&'static str, Cost)> {
        let arrays = player::ARRAY_NAMES.into_iter().zip(self.arrays);
        let rest = ("(counts and flags)", self.player_rest);
        let fields =
            self.tables.iter().flat_map(|(of, table)| named(&table.player, of.player.fields));
        sorted(fields.chain(arrays).chain([rest]))
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
    let mut sums: BTreeMap<&'static str, Cost> = BTreeMap::new();
    for (name, Cost { changes, bits }) in costs {
        let sum = sums.entry(name).or_default();
        sum.changes += changes;
        sum.bits += bits;
    }
    let mut costs: Vec<_> = sums.into_iter().filter(|(_, cost)| cost.bits > 0).collect();
    costs.sort_by_key(|(name, cost)| (std::cmp::Reverse(cost.bits), *name));
    costs
}

//! PVS index: the set of linked entities in each cluster and area.
//!
//! The entities visible from a viewpoint are the union of the sets of its visible clusters, a few
//! words each, independent of the number of entities. Links and unlinks count from the next update on.
//!
//! Invariant: the sets hold exactly the last [`PvsIndex::update`] of each entity, so that
//! [`PvsIndex::visible_from`] equals [`PvsLocation::visible_from`] of each.

use super::{
    PvsRow,
    location::{PvsLocation, Viewpoint},
};
use crate::{
    model::{EntityNum, EntitySet},
    world::{areas::Areas, bsp::ClusterNum},
};

/// Linked entities by cluster and area.
#[derive(Debug)]
pub(in crate::world) struct PvsIndex {
    by_cluster: Box<[EntitySet]>,
    /// Clusters with entities, one bit each in the layout of a PVS row.
    occupied: Box<[u8]>,
    by_area: Box<[EntitySet]>,
    /// Entities in any cluster.
    somewhere: EntitySet,
    /// Entities in more clusters than are stored: visible from all clusters.
    wide: EntitySet,
}

impl PvsIndex {
    /// Creates an empty index.
    pub(in crate::world) fn new(clusters: usize, areas: usize) -> Self {
        Self {
            by_cluster: vec![EntitySet::default(); clusters].into(),
            occupied: vec![0; clusters.div_ceil(8)].into(),
            by_area: vec![EntitySet::default(); areas].into(),
            somewhere: EntitySet::default(),
            wide: EntitySet::default(),
        }
    }

    /// Moves an entity from one location to another; the default location is nowhere.
    pub(in crate::world) fn update(
        &mut self,
        number: EntityNum,
        old: &PvsLocation,
        new: &PvsLocation,
    ) {
        if old == new {
            return;
        }
        for cluster in old.clusters() {
            if let Some(set) = self.by_cluster.get_mut(cluster.index()) {
                set.remove(number);
                if set.is_empty() {
                    self.mark(cluster, false);
                }
            }
        }
        for area in old.areas().into_iter().flatten() {
            if let Some(set) = self.by_area.get_mut(area.index()) {
                set.remove(number);
            }
        }
        self.somewhere.remove(number);
        self.wide.remove(number);
        for cluster in new.clusters() {
            if let Some(set) = self.by_cluster.get_mut(cluster.index()) {
                set.insert(number);
                self.somewhere.insert(number);
                self.mark(cluster, true);
            }
        }
        for area in new.areas().into_iter().flatten() {
            if let Some(set) = self.by_area.get_mut(area.index()) {
                set.insert(number);
            }
        }
        if new.last_cluster().is_some() {
            self.wide.insert(number);
        }
    }

    fn mark(&mut self, cluster: ClusterNum, occupied: bool) {
        let bit = 1 << (cluster.index() % 8);
        if let Some(byte) = self.occupied.get_mut(cluster.index() / 8) {
            *byte = if occupied { *byte | bit } else { *byte & !bit };
        }
    }

    /// Returns the entities that are visible from a viewpoint.
    pub(in crate::world) fn visible_from(&self, from: &Viewpoint<'_>, areas: &Areas) -> EntitySet {
        let mut seen = self.wide.clone();
        match from.row {
            PvsRow::Everything => seen.add_all(&self.somewhere),
            PvsRow::Clusters(row) => {
                for (at, (row, occupied)) in row.iter().zip(&self.occupied).enumerate() {
                    let mut both = row & occupied;
                    while both != 0 {
                        let cluster = at * 8 + both.trailing_zeros() as usize;
                        both &= both - 1;
                        if let Some(set) = self.by_cluster.get(cluster) {
                            seen.add_all(set);
                        }
                    }
                }
            }
        }
        let mut joined = EntitySet::default();
        for (index, set) in self.by_area.iter().enumerate() {
            if areas.connected(from.area, areas.number(index)) {
                joined.add_all(set);
            }
        }
        seen.keep_all(&joined);
        seen
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::world::{
        Pvs,
        bsp::{AreaNum, ClusterNum, TableIndex as _},
    };

    const CLUSTERS: usize = 21;
    const AREAS: usize = 3;
    const ROW: usize = 4;

    /// Any location: clusters, sometimes more than are stored, and areas.
    fn places() -> impl Strategy<Value = PvsLocation> {
        let cluster = || (0..CLUSTERS).prop_map(ClusterNum::from_checked);
        let area = || prop::option::of((0..AREAS).prop_map(AreaNum::from_checked));
        (vec(cluster(), 0..5), prop::option::weighted(0.1, cluster()), [area(), area()])
            .prop_map(|(clusters, last, areas)| PvsLocation::of_parts(&clusters, last, areas))
    }

    proptest! {
        /// Random moves: the index agrees with the location of each entity.
        #[test]
        fn index_agrees_with_every_location(
            moves in vec((0_usize..12, places()), 1..40),
            rows in vec(any::<u8>(), CLUSTERS * ROW),
            viewer in prop::option::of(0..CLUSTERS),
            area in prop::option::of(0..AREAS),
            door in any::<bool>(),
        ) {
            let mut lump = [CLUSTERS as u32, ROW as u32].map(u32::to_le_bytes).concat();
            lump.extend(rows);
            let visibility = Pvs::read(&lump, CLUSTERS).unwrap();
            let mut areas = Areas::new(AREAS);
            areas.set_portal(areas.number(0), areas.number(1), door).ok();
            let mut index = PvsIndex::new(CLUSTERS, AREAS);
            let mut locations = vec![PvsLocation::default(); 12];
            for (entity, place) in moves {
                let number = EntityNum::new(entity * 40).unwrap();
                index.update(number, &locations[entity], &place);
                locations[entity] = place;
            }
            let cluster = viewer.map(ClusterNum::from_checked);
            let from = Viewpoint {
                row: visibility.row(cluster),
                cluster,
                area: area.and_then(|area| areas.number(area)),
            };
            let mut expected = EntitySet::default();
            for (entity, location) in locations.iter().enumerate() {
                if location.visible_from(&from, &areas) {
                    expected.insert(EntityNum::new(entity * 40).unwrap());
                }
            }
            prop_assert_eq!(index.visible_from(&from, &areas), expected);
        }
    }
}

//! Broadphase: linked solid entities in a tree of sectors.
//!
//! Each entity is in the smallest sector that contains it. Points without contents are in no
//! sector: most are events, and in a fight they outnumber all other entities.
//!
//! A query returns the entities of a sector before those of its halves, of the upper half before the lower, and of
//! one sector from the last linked to the first. The lists of the sectors have no order: each entity has its rank,
//! and a query sorts what it found, most often nothing or one entity. An entity that is linked again in its place
//! gets another rank alone.
//!
//! Invariants: an entity is in at most one list; the lists hold linked solid entities only.
//! Source: the collision document, area tree. Engine names: `worldSector_t`, `SV_AreaEntities`.

use std::array;

use smallvec::SmallVec;

use crate::{
    model::{ClientSet, EntityNum, Vec3, limits::MAX_ENTITIES},
    world::collision::TraceQuery,
};

/// Depth of the sector tree.
const DEPTH: usize = 4;
/// Number of inner sectors.
const HALVED: usize = (1 << DEPTH) - 1;
/// Number of all sectors.
const SECTORS: usize = (1 << (DEPTH + 1)) - 1;
/// Bits of a rank that count links downward. The byte above is the place of the sector.
const RANK_LINK_BITS: u32 = 56;
/// Place of each sector in the order of queries, shifted to its byte of a rank.
const PREORDER: [u64; SECTORS] = {
    let mut order = [0; SECTORS];
    let mut waiting = [0; DEPTH + 2];
    let (mut count, mut place) = (1, 0);
    while count > 0 {
        count -= 1;
        let sector = waiting[count];
        order[sector] = place << RANK_LINK_BITS;
        place += 1;
        if sector < HALVED {
            waiting[count] = 2 * sector + 2;
            waiting[count + 1] = 2 * sector + 1;
            count += 2;
        }
    }
    order
};
/// Maximum number of nearby entities.
pub(super) const MAX_NEIGHBOURS: usize = 24;

/// Sectors of a world.
#[derive(Debug)]
pub(super) struct Sectors {
    /// Split plane of each inner sector, root first; the halves of sector n are 2n + 1 and 2n + 2.
    cuts: [SplitPlane; HALVED],
    /// Solid entities of each sector, in no order.
    members: [Vec<EntityNum>; SECTORS],
    entries: Box<[Entry]>,
    /// Number of links and unlinks of solid entities.
    changes: u64,
}

/// Solid entities whose bounds touch a box, without one, collected once for many queries within it. Valid until
/// another entity is linked or unlinked.
#[derive(Clone, Debug)]
pub(super) struct NearbyEntities {
    within: Aabb,
    bodies: [EntityNum; MAX_NEIGHBOURS],
    count: usize,
    without: EntityNum,
    /// Whether one of the bodies is a brush model.
    has_model: bool,
    /// Changes by other entities before the search; `None` if there are too many bodies.
    changes: Option<u64>,
}

impl Default for NearbyEntities {
    fn default() -> Self {
        Self {
            within: Aabb::default(),
            bodies: [EntityNum::NONE; MAX_NEIGHBOURS],
            count: 0,
            without: EntityNum::NONE,
            has_model: false,
            changes: None,
        }
    }
}

impl NearbyEntities {
    /// Whether a box is within the box of the search.
    #[inline]
    pub(super) fn covers(&self, extent: &Aabb) -> bool {
        self.within.covers(extent)
    }

    /// Whether a brush model can be at a point.
    pub(super) fn may_have_model_at(&self, point: Vec3) -> bool {
        self.has_model || !self.within.covers(&Aabb::of(&[point, point]))
    }
}

/// Kind of a linked entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkKind {
    /// Box.
    Solid,
    /// Brush model.
    Model,
    /// Box without size and contents.
    Point,
}

#[derive(Clone, Copy, Debug, Default)]
struct SplitPlane {
    axis: usize,
    dist: f32,
}

/// A bounding box with a fourth component: four are compared as fast as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aabb {
    mins: [f32; 4],
    maxs: [f32; 4],
}

/// Sector and bounds of an entity, in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Entry {
    extent: Aabb,
    /// Number of links and unlinks of this entity.
    changes: u64,
    /// Place in the order of queries; without meaning outside of sectors.
    rank: u64,
    linked: bool,
    is_model: bool,
    /// Sector of the entity; none for points and unlinked entities.
    sector: Option<u8>,
    /// Index in the list of the sector.
    place: u16,
}

impl Entry {
    /// Makes the entity the last linked of its sector, if it is in one.
    ///
    /// Takes and returns the number of links and unlinks of all entities.
    #[inline]
    fn make_last(&mut self, changes: u64) -> u64 {
        let Some(sector) = self.sector else { return changes };
        let changes = changes + 1;
        self.changes += 1;
        self.rank = PREORDER[usize::from(sector)] | ((1 << RANK_LINK_BITS) - 1 - changes);
        changes
    }
}

/// Entities found by a query, in order. Only more than 128 need an allocation.
pub(super) type Found = SmallVec<[EntityNum; 128]>;

impl Sectors {
    /// Creates empty sectors over a world with these bounds.
    pub(super) fn new(bounds: [Vec3; 2]) -> Self {
        let mut cuts = [SplitPlane::default(); HALVED];
        halve(0, bounds, &mut cuts);
        let entries = vec![Entry::default(); MAX_ENTITIES].into();
        // All entities fit into each list, so that none grows in the middle of a match.
        let members = array::from_fn(|_| Vec::with_capacity(MAX_ENTITIES));
        Self { cuts, members, entries, changes: 0 }
    }

    /// Unlinks all entities. The number of changes grows on, so that no search before is valid.
    pub(super) fn clear(&mut self) {
        self.members.iter_mut().for_each(Vec::clear);
        self.entries.fill(Entry::default());
        self.changes += 1;
    }

    /// Returns the bounds of a linked entity.
    pub(super) fn bounds(&self, number: EntityNum) -> Option<[Vec3; 2]> {
        let entry = &self.entries[number.index()];
        entry.linked.then(|| entry.extent.bounds())
    }

    /// Links an entity, or links it again. Returns whether its bounds changed.
    pub(super) fn link(&mut self, number: EntityNum, bounds: [Vec3; 2], kind: LinkKind) -> bool {
        let sector = (kind != LinkKind::Point).then(|| self.sector_of(&bounds));
        let extent = Aabb::of(&bounds);
        let entry = &mut self.entries[number.index()];
        let is_same = entry.linked && entry.extent.equals(&extent);
        (entry.extent, entry.linked) = (extent, true);
        entry.is_model = kind == LinkKind::Model;
        if entry.sector == sector {
            self.make_last(number);
        } else {
            self.leave_sector(number);
            if let Some(sector) = sector {
                self.enter_sector(number, sector);
            }
        }
        !is_same
    }

    /// Unlinks an entity; no effect on an unlinked one.
    pub(super) fn remove(&mut self, number: EntityNum) {
        self.entries[number.index()].linked = false;
        self.leave_sector(number);
    }

    /// Returns the smallest sector that contains a box.
    fn sector_of(&self, [mins, maxs]: &[Vec3; 2]) -> u8 {
        let mut sector = 0;
        while let Some(cut) = self.cuts.get(sector) {
            sector = if mins[cut.axis] > cut.dist {
                2 * sector + 1
            } else if maxs[cut.axis] < cut.dist {
                2 * sector + 2
            } else {
                break;
            };
        }
        sector as u8
    }

    /// Puts an entity that is in no sector into one, as the last linked.
    fn enter_sector(&mut self, number: EntityNum, sector: u8) {
        let members = &mut self.members[usize::from(sector)];
        let entry = &mut self.entries[number.index()];
        debug_assert!(entry.sector.is_none());
        (entry.sector, entry.place) = (Some(sector), members.len() as u16);
        members.push(number);
        self.make_last(number);
    }

    /// Makes an entity the last linked of its sector, if it is in one.
    #[inline]
    fn make_last(&mut self, number: EntityNum) {
        self.changes = self.entries[number.index()].make_last(self.changes);
    }

    /// Makes the entities of clients the last linked, in ascending order.
    pub(super) fn make_all_last(&mut self, clients: ClientSet) {
        let mut changes = self.changes;
        for client in clients.iter() {
            changes = self.entries[client.index()].make_last(changes);
        }
        self.changes = changes;
    }

    /// Takes an entity out of its sector, if it is in one.
    fn leave_sector(&mut self, number: EntityNum) {
        let entry = &mut self.entries[number.index()];
        let Some(sector) = entry.sector.take() else { return };
        self.changes += 1;
        entry.changes += 1;
        let place = entry.place;
        let members = &mut self.members[usize::from(sector)];
        members.swap_remove(usize::from(place));
        if let Some(moved) = members.get(usize::from(place)) {
            self.entries[moved.index()].place = place;
        }
    }

    /// Returns the solid entities whose bounds touch a box and that `is_wanted` accepts.
    pub(super) fn search(
        &self,
        extent: &Aabb,
        mut is_wanted: impl FnMut(EntityNum) -> bool,
    ) -> Found {
        let mut found = Found::new();
        self.visit(extent, |number| {
            if is_wanted(number) {
                found.push(number);
            }
        });
        self.sort(&mut found);
        found
    }

    /// Calls `visit` with each nearby entity whose bounds touch a box, until it returns false. The search must be
    /// valid and cover the box, so that these are the entities that [`Self::search`] returns.
    #[inline]
    pub(super) fn visit_near(
        &self,
        near: &NearbyEntities,
        extent: &Aabb,
        mut visit: impl FnMut(EntityNum) -> bool,
    ) {
        for &number in &near.bodies[..near.count] {
            if self.entries[number.index()].extent.touches(extent) && !visit(number) {
                return;
            }
        }
    }

    fn sort(&self, found: &mut [EntityNum]) {
        if found.len() > 1 {
            found.sort_unstable_by_key(|number| self.entries[number.index()].rank);
        }
    }

    /// Collects the entities near a box except `without`, unless a valid search covers it. The new search covers
    /// `spare` units more on each side. With too many entities the search is invalid.
    pub(super) fn refresh(
        &self,
        near: &mut NearbyEntities,
        bounds: &[Vec3; 2],
        without: EntityNum,
        spare: f32,
    ) {
        let covers = near.without == without && near.within.covers(&Aabb::of(bounds));
        if covers && self.is_valid(near) {
            return;
        }
        let [mins, maxs] = *bounds;
        let spare = Vec3([spare; 3]);
        let within = Aabb::of(&[mins - spare, maxs + spare]);
        let mut count = 0;
        near.has_model = false;
        self.visit(&within, |number| {
            if number != without {
                near.has_model |= self.entries[number.index()].is_model;
                if let Some(body) = near.bodies.get_mut(count) {
                    *body = number;
                }
                count += 1;
            }
        });
        near.within = within;
        near.count = count.min(MAX_NEIGHBOURS);
        near.without = without;
        near.changes = (count == near.count).then(|| self.changes_beside(without));
        self.sort(&mut near.bodies[..near.count]);
    }

    /// Writes the nearby entities whose bounds touch a box into `found` and returns their number. Returns `None`
    /// if the search does not cover the box or is no longer valid.
    pub(super) fn nearby_bodies(
        &self,
        near: &NearbyEntities,
        bounds: &[Vec3; 2],
        found: &mut [EntityNum; MAX_NEIGHBOURS],
    ) -> Option<usize> {
        let extent = Aabb::of(bounds);
        if !self.is_valid(near) || !near.within.covers(&extent) {
            return None;
        }
        let mut count = 0;
        for &number in &near.bodies[..near.count] {
            if self.entries[number.index()].extent.touches(&extent) {
                found[count] = number;
                count += 1;
            }
        }
        Some(count)
    }

    /// Whether no other entity was linked or unlinked since a search. The order of the others does not depend on
    /// the links of the one that is left out.
    pub(super) fn is_valid(&self, near: &NearbyEntities) -> bool {
        near.changes == Some(self.changes_beside(near.without))
    }

    /// Returns the number of links and unlinks of all entities except one.
    fn changes_beside(&self, number: EntityNum) -> u64 {
        self.changes - self.entries[number.index()].changes
    }

    /// Calls `visit` with each solid entity whose bounds touch a box, in no order.
    fn visit(&self, extent: &Aabb, mut visit: impl FnMut(EntityNum)) {
        // Stack of sectors to visit. Each depth has at most one waiting half.
        let mut waiting = [0; DEPTH + 2];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let sector = waiting[count];
            for &number in &self.members[sector] {
                if self.entries[number.index()].extent.touches(extent) {
                    visit(number);
                }
            }
            let Some(cut) = self.cuts.get(sector) else { continue };
            if extent.mins[cut.axis] < cut.dist {
                waiting[count] = 2 * sector + 2;
                count += 1;
            }
            if extent.maxs[cut.axis] > cut.dist {
                waiting[count] = 2 * sector + 1;
                count += 1;
            }
        }
    }
}

/// Adds a fourth component, which is zero.
#[inline]
fn wide(Vec3([x, y, z]): Vec3) -> [f32; 4] {
    [x, y, z, 0.0]
}

impl Aabb {
    pub(super) fn of([mins, maxs]: &[Vec3; 2]) -> Self {
        Self { mins: wide(*mins), maxs: wide(*maxs) }
    }

    /// Bounds of a query's box on its path, and a unit more on each side.
    #[inline]
    pub(super) fn swept(query: &TraceQuery) -> Self {
        let TraceQuery { start, end, mins, maxs, .. } = *query;
        let [start, end, mins, maxs] = [start, end, mins, maxs].map(wide);
        let unit = wide(Vec3([1.0; 3]));
        Self {
            mins: array::from_fn(|at| {
                (if start[at] < end[at] { start[at] } else { end[at] }) + mins[at] - unit[at]
            }),
            maxs: array::from_fn(|at| {
                (if end[at] > start[at] { end[at] } else { start[at] }) + maxs[at] + unit[at]
            }),
        }
    }

    fn bounds(&self) -> [Vec3; 2] {
        [self.mins, self.maxs].map(|[x, y, z, _]| Vec3::new(x, y, z))
    }

    /// Whether another box has the same bounds, none of which is NaN.
    #[inline]
    fn equals(&self, other: &Self) -> bool {
        let mut equal = true;
        for axis in 0..4 {
            equal &= (self.mins[axis] == other.mins[axis]) & (self.maxs[axis] == other.maxs[axis]);
        }
        equal
    }

    /// Whether another box is within this one.
    #[inline]
    fn covers(&self, other: &Self) -> bool {
        let mut within = true;
        for axis in 0..4 {
            within &= (self.mins[axis] <= other.mins[axis]) & (self.maxs[axis] >= other.maxs[axis]);
        }
        within
    }

    #[inline]
    fn touches(&self, other: &Self) -> bool {
        let mut apart = false;
        for axis in 0..4 {
            // Comparisons with NaN fail, so a box with NaN touches no entity.
            let overlap =
                (self.mins[axis] <= other.maxs[axis]) & (self.maxs[axis] >= other.mins[axis]);
            apart |= !overlap;
        }
        !apart
    }
}

/// Computes the split planes of a sector and its halves: across the longer horizontal side.
fn halve(sector: usize, bounds: [Vec3; 2], cuts: &mut [SplitPlane; HALVED]) {
    if sector >= HALVED {
        return;
    }
    let [mins, maxs] = bounds;
    let axis = usize::from(maxs[0] - mins[0] <= maxs[1] - mins[1]);
    let dist = 0.5 * (maxs[axis] + mins[axis]);
    cuts[sector] = SplitPlane { axis, dist };
    let (mut upper, mut lower) = (bounds, bounds);
    upper[0][axis] = dist;
    lower[1][axis] = dist;
    halve(2 * sector + 1, upper, cuts);
    halve(2 * sector + 2, lower, cuts);
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::model::ClientNum;

    const WORLD: [Vec3; 2] = [Vec3([-1000.0, -500.0, -100.0]), Vec3([1000.0, 500.0, 100.0])];

    fn number(n: usize) -> EntityNum {
        EntityNum::new(n).unwrap()
    }

    fn found(sectors: &Sectors, bounds: [Vec3; 2]) -> Vec<usize> {
        sectors.search(&Aabb::of(&bounds), |_| true).iter().map(|number| number.index()).collect()
    }

    fn found_near(
        sectors: &Sectors,
        near: Option<&NearbyEntities>,
        bounds: [Vec3; 2],
    ) -> Vec<usize> {
        let extent = Aabb::of(&bounds);
        let Some(near) = near.filter(|near| near.covers(&extent)) else {
            return found(sectors, bounds);
        };
        let mut found = Vec::new();
        sectors.visit_near(near, &extent, |number| {
            found.push(number.index());
            true
        });
        found
    }

    fn clients(numbers: &[usize]) -> ClientSet {
        let mut clients = ClientSet::default();
        numbers.iter().for_each(|&n| clients.insert(ClientNum::new(n).unwrap()));
        clients
    }

    fn small_box(x: f32, y: f32) -> [Vec3; 2] {
        [Vec3::new(x - 1.0, y - 1.0, -1.0), Vec3::new(x + 1.0, y + 1.0, 1.0)]
    }

    #[test]
    fn search_starts_with_last_linked_and_upper_halves() {
        let mut sectors = Sectors::new(WORLD);
        for (n, x) in [(1, 0.0), (2, -500.0), (3, 500.0), (4, 0.0), (5, 500.0)] {
            sectors.link(number(n), small_box(x, 100.0), LinkKind::Solid);
        }
        sectors.link(number(6), small_box(0.0, 100.0), LinkKind::Point);
        assert!(sectors.bounds(number(6)).is_some(), "linked");
        assert_eq!(found(&sectors, WORLD), [4, 1, 5, 3, 2]);
        sectors.remove(number(4));
        sectors.remove(number(4));
        sectors.remove(number(3));
        assert_eq!(found(&sectors, WORLD), [1, 5, 2]);
        assert_eq!(found(&sectors, small_box(500.0, 102.0)), [5], "touching counts");
        assert_eq!(found(&sectors, small_box(500.0, 102.1)), [0; 0]);
    }

    #[test]
    fn entity_that_is_linked_again_is_the_last_linked() {
        let mut sectors = Sectors::new(WORLD);
        let at = |x: f32| small_box(x, 100.0);
        assert!(sectors.link(number(1), at(300.0), LinkKind::Solid));
        assert!(sectors.link(number(2), at(310.0), LinkKind::Solid));
        assert_eq!(found(&sectors, WORLD), [2, 1]);
        assert!(!sectors.link(number(1), at(300.0), LinkKind::Solid), "bounds did not change");
        assert_eq!(found(&sectors, WORLD), [1, 2]);
        sectors.make_all_last(clients(&[1, 2]));
        assert_eq!(found(&sectors, WORLD), [2, 1], "in ascending order");
        assert!(sectors.link(number(2), at(-300.0), LinkKind::Solid));
        assert_eq!(found(&sectors, WORLD), [1, 2], "upper halves first");
        assert!(!sectors.link(number(1), at(300.0), LinkKind::Point));
        assert_eq!(found(&sectors, WORLD), [2]);
        sectors.make_all_last(clients(&[1, 3]));
        assert_eq!(found(&sectors, WORLD), [2], "a point and an unlinked entity stay out");
        sectors.remove(number(1));
        assert!(sectors.link(number(1), at(300.0), LinkKind::Solid), "it was not linked");
    }

    #[test]
    fn nearby_entities_are_limited_and_answer_inside_their_box() {
        let mut sectors = Sectors::new(WORLD);
        for n in 0..=MAX_NEIGHBOURS {
            sectors.link(number(n), small_box(0.0, 0.0), LinkKind::Solid);
        }
        sectors.link(number(100), small_box(700.0, 0.0), LinkKind::Solid);
        let around = |x: f32| [Vec3::new(x - 50.0, -50.0, -9.0), Vec3::new(x + 50.0, 50.0, 9.0)];
        let nearby = |at: f32, without: EntityNum| {
            let mut near = NearbyEntities::default();
            sectors.refresh(&mut near, &around(at), without, 0.0);
            near
        };
        assert!(!sectors.is_valid(&nearby(0.0, EntityNum::NONE)), "too many");
        assert!(sectors.is_valid(&nearby(0.0, number(3))), "as many as fit");
        let near = nearby(700.0, EntityNum::NONE);
        let count = |bounds: [Vec3; 2]| found_near(&sectors, Some(&near), bounds).len();
        assert_eq!(count(around(700.0)), 1);
        assert_eq!(count(small_box(660.0, 0.0)), 0);
        assert_eq!(count(WORLD), MAX_NEIGHBOURS + 2, "beyond it all are asked");
    }

    proptest! {
        /// Random links, moves and unlinks: a search finds every touching solid entity once, and no
        /// other.
        #[test]
        fn search_finds_every_touching_entity_once(
            steps in vec(
                (0_usize..40, -1200.0_f32..1200.0, -600.0_f32..600.0, 0.0_f32..400.0, 0..5),
                1..120,
            ),
            x in -1100.0_f32..1100.0, y in -600.0_f32..600.0, size in 0.0_f32..800.0,
        ) {
            let mut sectors = Sectors::new(WORLD);
            let mut linked = [None; 40];
            for (n, x, y, size, kind) in steps {
                sectors.remove(number(n));
                let bounds = [Vec3::new(x, y, 0.0), Vec3::new(x + size, y + size, 8.0)];
                // Some are only unlinked.
                let link_kind = match kind {
                    0 => None,
                    1 => Some(LinkKind::Point),
                    _ => Some(LinkKind::Solid),
                };
                if let Some(link_kind) = link_kind {
                    sectors.link(number(n), bounds, link_kind);
                }
                linked[n] = link_kind.filter(|link_kind| *link_kind == LinkKind::Solid).map(|_| bounds);
                prop_assert_eq!(sectors.bounds(number(n)), link_kind.map(|_| bounds));
            }
            let asked = [Vec3::new(x, y, 2.0), Vec3::new(x + size, y + size, 3.0)];
            let touches = |bounds: [Vec3; 2]| (0..3).all(|axis| {
                bounds[0][axis] <= asked[1][axis] && bounds[1][axis] >= asked[0][axis]
            });
            let expected: Vec<_> =
                (0..40).filter(|&n| linked[n].is_some_and(touches)).collect();
            let mut found = found(&sectors, asked);
            for (wide, without) in [(0.0, 40), (30.0, 1), (300.0, 2), (2000.0, 3)] {
                let [mins, maxs] = asked;
                let wide = Vec3::new(wide, wide, wide);
                let mut near = NearbyEntities::default();
                sectors.refresh(&mut near, &[mins - wide, maxs + wide], number(without), 0.0);
                let valid = Some(&near).filter(|near| sectors.is_valid(near));
                let near_found = found_near(&sectors, valid, asked);
                let expected: Vec<_> = found
                    .iter()
                    .copied()
                    .filter(|&number| !sectors.is_valid(&near) || number != without)
                    .collect();
                prop_assert_eq!(near_found, expected, "in the same order");
            }
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}

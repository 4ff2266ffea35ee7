//! Entities by sector: a small tree of halves over the world, each entity in the smallest sector that
//! holds it whole.
//!
//! Marks, which are points that nothing collides with, stand in lists of their own: events, mostly, and in
//! a fight more than everything else. Only who asks for all that is in a box meets them.
//!
//! Invariants: an entity is in one list at most; the lists hold linked entities only. A sector is met
//! before its halves, its upper half before the lower, and its own entities from the last linked to the
//! first. Source: the collision document, area tree.

use crate::model::{EntityNum, Vec3, limits::MAX_ENTITIES};

/// How often the world is halved.
const DEPTH: usize = 4;
/// Sectors with halves; those behind them have none.
const HALVED: usize = (1 << DEPTH) - 1;
/// All sectors.
const SECTORS: usize = (1 << (DEPTH + 1)) - 1;

/// The sectors of a world.
#[derive(Debug)]
pub(super) struct Sectors {
    /// Where each sector is halved, root first; the halves of sector n are 2n + 1 and 2n + 2.
    cuts: [Cut; HALVED],
    /// The last body linked into each sector.
    bodies: [Option<EntityNum>; SECTORS],
    /// The last mark linked into each.
    marks: [Option<EntityNum>; SECTORS],
    entries: Box<[Entry]>,
    /// Links so far.
    links: u64,
}

/// Whether an entity can be collided with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Nature {
    #[default]
    Body,
    Mark,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cut {
    axis: usize,
    dist: f32,
}

/// What is known of an entity.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    bounds: [Vec3; 2],
    /// The sector that it is in; `None` while it is not linked.
    sector: Option<u8>,
    nature: Nature,
    next: Option<EntityNum>,
    previous: Option<EntityNum>,
    /// The how manieth link it was.
    link: u64,
}

impl Sectors {
    /// Empty sectors over a world of these bounds.
    pub(super) fn new(bounds: [Vec3; 2]) -> Self {
        let mut cuts = [Cut::default(); HALVED];
        halve(0, bounds, &mut cuts);
        let entries = vec![Entry::default(); MAX_ENTITIES].into();
        Self { cuts, bodies: [None; SECTORS], marks: [None; SECTORS], entries, links: 0 }
    }

    /// What a linked entity's box is.
    pub(super) fn bounds(&self, number: EntityNum) -> Option<[Vec3; 2]> {
        let entry = &self.entries[number.index()];
        entry.sector.map(|_| entry.bounds)
    }

    /// Links an entity that is not linked.
    pub(super) fn insert(&mut self, number: EntityNum, bounds: [Vec3; 2], nature: Nature) {
        debug_assert!(self.bounds(number).is_none());
        let mut sector = 0;
        while let Some(cut) = self.cuts.get(sector) {
            sector = if bounds[0][cut.axis] > cut.dist {
                2 * sector + 1
            } else if bounds[1][cut.axis] < cut.dist {
                2 * sector + 2
            } else {
                break;
            };
        }
        let next = self.first(nature, sector).replace(number);
        if let Some(next) = next {
            self.entries[next.index()].previous = Some(number);
        }
        self.links += 1;
        self.entries[number.index()] = Entry {
            bounds,
            sector: Some(sector as u8),
            nature,
            next,
            previous: None,
            link: self.links,
        };
    }

    /// Unlinks an entity; one that is not linked stays so.
    pub(super) fn remove(&mut self, number: EntityNum) {
        let Entry { sector, nature, next, previous, .. } = self.entries[number.index()];
        let Some(sector) = sector else { return };
        match previous {
            Some(previous) => self.entries[previous.index()].next = next,
            None => *self.first(nature, usize::from(sector)) = next,
        }
        if let Some(next) = next {
            self.entries[next.index()].previous = previous;
        }
        self.entries[number.index()] = Entry::default();
    }

    fn first(&mut self, nature: Nature, sector: usize) -> &mut Option<EntityNum> {
        match nature {
            Nature::Body => &mut self.bodies[sector],
            Nature::Mark => &mut self.marks[sector],
        }
    }

    /// Calls `visit` with each body whose bounds touch a box, until it returns false.
    pub(super) fn visit_bodies(
        &self,
        bounds: &[Vec3; 2],
        visit: &mut impl FnMut(EntityNum) -> bool,
    ) {
        self.visit_sectors(0, bounds, &mut |sector| {
            let mut next = self.bodies[sector];
            while let Some(number) = next {
                let entry = &self.entries[number.index()];
                next = entry.next;
                if entry.touches(bounds) && !visit(number) {
                    return false;
                }
            }
            true
        });
    }

    /// Calls `visit` with each entity whose bounds touch a box, until it returns false.
    pub(super) fn visit_all(&self, bounds: &[Vec3; 2], visit: &mut impl FnMut(EntityNum) -> bool) {
        let link = |number: Option<EntityNum>| {
            number.map_or(0, |number| self.entries[number.index()].link)
        };
        self.visit_sectors(0, bounds, &mut |sector| {
            let (mut body, mut mark) = (self.bodies[sector], self.marks[sector]);
            // The later linked of the two.
            while let Some(number) = if link(body) > link(mark) { body } else { mark } {
                let entry = &self.entries[number.index()];
                match entry.nature {
                    Nature::Body => body = entry.next,
                    Nature::Mark => mark = entry.next,
                }
                if entry.touches(bounds) && !visit(number) {
                    return false;
                }
            }
            true
        });
    }

    /// Calls `visit` with each sector that a box reaches, until it returns false.
    fn visit_sectors(
        &self,
        sector: usize,
        bounds: &[Vec3; 2],
        visit: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        if !visit(sector) {
            return false;
        }
        let Some(cut) = self.cuts.get(sector) else { return true };
        (bounds[1][cut.axis] <= cut.dist || self.visit_sectors(2 * sector + 1, bounds, visit))
            && (bounds[0][cut.axis] >= cut.dist
                || self.visit_sectors(2 * sector + 2, bounds, visit))
    }
}

impl Entry {
    fn touches(&self, bounds: &[Vec3; 2]) -> bool {
        (0..3).all(|axis| {
            self.bounds[0][axis] <= bounds[1][axis] && self.bounds[1][axis] >= bounds[0][axis]
        })
    }
}

/// Decides where a sector and its halves are halved: across the longer side, seen from above.
fn halve(sector: usize, bounds: [Vec3; 2], cuts: &mut [Cut; HALVED]) {
    if sector >= HALVED {
        return;
    }
    let [mins, maxs] = bounds;
    let axis = usize::from(maxs[0] - mins[0] <= maxs[1] - mins[1]);
    let dist = 0.5 * (maxs[axis] + mins[axis]);
    cuts[sector] = Cut { axis, dist };
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

    const WORLD: [Vec3; 2] = [Vec3([-1000.0, -500.0, -100.0]), Vec3([1000.0, 500.0, 100.0])];

    fn number(n: usize) -> EntityNum {
        EntityNum::new(n).unwrap()
    }

    fn found(sectors: &Sectors, bounds: [Vec3; 2]) -> Vec<usize> {
        let mut found = Vec::new();
        sectors.visit_all(&bounds, &mut |number| {
            found.push(number.index());
            true
        });
        found
    }

    fn small_box(x: f32, y: f32) -> [Vec3; 2] {
        [Vec3::new(x - 1.0, y - 1.0, -1.0), Vec3::new(x + 1.0, y + 1.0, 1.0)]
    }

    #[test]
    fn the_last_linked_is_met_first_and_upper_halves_before_lower() {
        let mut sectors = Sectors::new(WORLD);
        for (n, x) in [(1, 0.0), (2, -500.0), (3, 500.0), (4, 0.0), (5, 500.0)] {
            let nature = if n == 4 { Nature::Mark } else { Nature::Body };
            sectors.insert(number(n), small_box(x, 100.0), nature);
        }
        assert_eq!(found(&sectors, WORLD), [4, 1, 5, 3, 2]);
        sectors.remove(number(4));
        sectors.remove(number(4));
        sectors.remove(number(3));
        assert_eq!(found(&sectors, WORLD), [1, 5, 2]);
        assert_eq!(found(&sectors, small_box(500.0, 102.0)), [5], "touching counts");
        assert_eq!(found(&sectors, small_box(500.0, 102.1)), [0; 0]);
    }

    #[test]
    fn a_visit_can_be_cut_short() {
        let mut sectors = Sectors::new(WORLD);
        (0..9).for_each(|n| {
            sectors.insert(number(n), small_box(n as f32 * 100.0, 0.0), Nature::Body)
        });
        let mut met = 0;
        sectors.visit_all(&WORLD, &mut |_| {
            met += 1;
            met < 3
        });
        assert_eq!(met, 3);
    }

    proptest! {
        /// Whatever is linked, moved and unlinked: all that touches is found, once, and nothing else, in
        /// the order of sectors and links, and bodies alone are the same without the marks.
        #[test]
        fn the_same_is_found_as_by_looking_at_all(
            steps in vec(
                (0_usize..40, -1200.0_f32..1200.0, -600.0_f32..600.0, 0.0_f32..400.0, any::<bool>()),
                1..120,
            ),
            x in -1100.0_f32..1100.0, y in -600.0_f32..600.0, size in 0.0_f32..800.0,
        ) {
            let mut sectors = Sectors::new(WORLD);
            let mut linked = [None; 40];
            for (n, x, y, size, is_mark) in steps {
                sectors.remove(number(n));
                let bounds = [Vec3::new(x, y, 0.0), Vec3::new(x + size, y + size, 8.0)];
                // Some are only taken out.
                linked[n] = (size > 50.0).then_some(bounds);
                if let Some(bounds) = linked[n] {
                    let nature = if is_mark { Nature::Mark } else { Nature::Body };
                    sectors.insert(number(n), bounds, nature);
                }
            }
            let asked = [Vec3::new(x, y, 2.0), Vec3::new(x + size, y + size, 3.0)];
            let touches = |bounds: [Vec3; 2]| (0..3).all(|axis| {
                bounds[0][axis] <= asked[1][axis] && bounds[1][axis] >= asked[0][axis]
            });
            let met = found(&sectors, asked);
            let mut sorted = met.clone();
            sorted.sort_unstable();
            let expected: Vec<_> =
                (0..40).filter(|&n| linked[n].is_some_and(touches)).collect();
            prop_assert_eq!(sorted, expected);
            let entry = |n: usize| &sectors.entries[n];
            for pair in met.windows(2) {
                let [first, second] = [entry(pair[0]), entry(pair[1])];
                prop_assert!(first.sector != second.sector || first.link > second.link);
            }
            let mut bodies = Vec::new();
            sectors.visit_bodies(&asked, &mut |number| {
                bodies.push(number.index());
                true
            });
            let expected: Vec<_> =
                met.into_iter().filter(|&n| entry(n).nature == Nature::Body).collect();
            prop_assert_eq!(bodies, expected);
        }
    }
}

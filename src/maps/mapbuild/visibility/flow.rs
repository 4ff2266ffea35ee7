//! Portals in both directions, and the flow of sight through their chains.

use super::{
    super::{
        planes::{Plane, Planes},
        portals::Portals,
        tree::Tree,
        vector::Vector,
        winding::Winding,
    },
    Bits,
    separators::{ON, narrowed},
    sight::TESTS_PER_WORK,
};

/// Maximum number of directed portals. A map with more gets no visibility data.
const MAX_PORTALS: usize = 32_768;
/// Maximum work for the chains of one portal.
const MAX_WORK: u64 = 400_000;
/// Work for the chains of one portal before sight through the first opening is computed.
const QUICK_WORK: u64 = 20_000;
/// Least work for the chains of one portal.
const MIN_WORK: u64 = 500;
/// Work of a map, and more of it per portal.
const BUDGET: [u64; 2] = [20_000_000, 10_000];
/// Shares of the remaining budget that one portal may spend.
const SHARES: u64 = 4;
/// Work of a cut by separating planes, in visits of a portal.
const CUT_WORK: u64 = 8;
/// Finished portals after which a map whose chains are too long for most portals is known.
const TRIED: usize = 256;
/// Share of finished portals that are coarse on such a map. Of the others less is tried: they have more candidates.
const HOPELESS: f64 = 0.9;
/// Longest chain of portals.
const MAX_CHAIN: usize = 400;
/// Rounding of a mean, beyond which distances of a portal's points are computed one by one.
const ROUNDING: f64 = 1e-3;
/// Portals between two progress reports of a draft.
const REPORT_INTERVAL: usize = 64;

/// A portal in one direction.
pub(super) struct Directed {
    pub(super) winding: Winding,
    /// Plane whose front is the side that sight leaves to.
    pub(super) plane: Plane,
    /// Mean of the points, and the distance of the farthest from it.
    pub(super) center: Vector,
    pub(super) radius: f64,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Directed {
    fn new(winding: Winding, plane: Plane, [from, to]: [usize; 2]) -> Self {
        let center = winding.center();
        let distances = winding.points().iter().map(|&point| (point - center).length());
        let radius = distances.fold(0.0, f64::max);
        Self { winding, plane, center, radius, from, to }
    }

    /// Whether a point of the polygon is in front of a plane.
    pub(super) fn reaches_front(&self, plane: &Plane) -> bool {
        let middle = plane.distance(self.center);
        if middle > ON + ROUNDING {
            return true;
        }
        middle + self.radius > ON - ROUNDING
            && self.winding.points().iter().any(|&point| plane.distance(point) > ON)
    }

    /// Whether a point of the polygon is behind a plane.
    pub(super) fn reaches_back(&self, plane: &Plane) -> bool {
        let middle = plane.distance(self.center);
        if middle < -ON - ROUNDING {
            return true;
        }
        middle - self.radius < -ON + ROUNDING
            && self.winding.points().iter().any(|&point| plane.distance(point) < -ON)
    }
}

/// Directed portals of a map. Portal `n ^ 1` is portal `n` in the other direction.
pub(super) struct Flow<'a> {
    pub(super) portals: Vec<Directed>,
    /// Portals that leave each cluster.
    pub(super) leaving: Vec<Vec<usize>>,
    pub(super) tree: &'a Tree,
    pub(super) planes: &'a Planes,
}

/// Knowledge of the portals during the flow.
pub(super) struct Known {
    /// Portals that each portal sees; of unfinished ones those that face it.
    pub(super) sets: Vec<Bits>,
    pub(super) is_done: Vec<bool>,
}

/// Search for what one portal sees.
struct Search<'a> {
    flow: &'a Flow<'a>,
    source: &'a Directed,
    known: &'a Known,
    seen: Bits,
    chain: Vec<usize>,
    work: u64,
    limit: u64,
}

impl<'a> Flow<'a> {
    /// Collects the portals between clusters, or nothing for a map with too many.
    pub(super) fn new(
        tree: &'a Tree,
        portals: &Portals,
        planes: &'a Planes,
        clusters: usize,
    ) -> Option<Self> {
        let leaving = vec![Vec::new(); clusters];
        let mut flow = Self { portals: Vec::new(), leaving, tree, planes };
        for portal in &portals.list {
            let cluster = |leaf: Option<usize>| tree.leafs[leaf?].cluster;
            let [Some(front), Some(back)] = portal.leafs.map(cluster) else { continue };
            let Some(plane) = portal.winding.plane() else { continue };
            let winding = portal.winding.clone();
            for (winding, plane, ends) in [
                (winding.reversed(), plane.reversed(), [front, back]),
                (winding, plane, [back, front]),
            ] {
                flow.leaving[ends[0]].push(flow.portals.len());
                flow.portals.push(Directed::new(winding, plane, ends));
            }
        }
        (flow.portals.len() <= MAX_PORTALS).then_some(flow)
    }

    /// Finds what faces each portal. Returns the work.
    pub(super) fn draft(
        &self,
        progress: &mut dyn FnMut(usize, usize),
        see: &mut dyn FnMut(usize, &Bits),
    ) -> u64 {
        let mut work = 0;
        for number in 0..self.portals.len() {
            if number % REPORT_INTERVAL == 0 {
                progress(number, self.portals.len());
            }
            let candidates = self.candidates(number);
            work += u64::from(candidates.count()) / TESTS_PER_WORK;
            see(number, &candidates);
        }
        work
    }

    /// Finds what each portal sees. Returns the number of portals that see more than needed, and the work.
    pub(super) fn all(
        &self,
        progress: &mut dyn FnMut(usize, usize),
        see: &mut dyn FnMut(usize, &Bits),
    ) -> (usize, u64) {
        let count = self.portals.len();
        let sets: Vec<Bits> = (0..count).map(|portal| self.candidates(portal)).collect();
        let sizes: Vec<u32> = sets.iter().map(Bits::count).collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&portal| (sizes[portal], portal));
        let mut known = Known { sets, is_done: vec![false; count] };
        let mut budget = BUDGET[0] + BUDGET[1] * count as u64;
        let mut coarse = 0;
        let mut all_work: u64 = sizes.iter().map(|&size| u64::from(size) / TESTS_PER_WORK).sum();
        for (finished, &number) in order.iter().enumerate() {
            progress(finished, count);
            let is_hopeless = finished >= TRIED && coarse as f64 > finished as f64 * HOPELESS;
            let share = budget / (count - finished) as u64 * SHARES;
            let share = if is_hopeless { MIN_WORK } else { share };
            let (seen, work, is_exact) = self.seen(number, &known, share.max(MIN_WORK));
            budget = budget.saturating_sub(work);
            all_work += work;
            coarse += usize::from(!is_exact);
            see(number, &seen);
            known.sets[number] = seen;
            known.is_done[number] = true;
        }
        (coarse, all_work)
    }

    /// Finds what a portal sees with limited work. Returns the work, and whether the set is exact.
    fn seen(&self, number: usize, known: &Known, limit: u64) -> (Bits, u64, bool) {
        let empty = Bits::new(self.portals.len());
        let may = &known.sets[number];
        let mut search = Search::new(self, number, known, empty, limit.min(QUICK_WORK));
        if search.finish(may) {
            return (search.seen, search.work, true);
        }
        let mut work = search.work;
        // Chains without number: fewer candidates, and those that are surely seen.
        let (may, tightening) = self.tightened(number, known);
        work += tightening;
        let rest = limit.min(MAX_WORK).saturating_sub(work);
        let (sure, looking) = self.surely_seen(number, &may, rest);
        work += looking;
        let rest = rest.saturating_sub(looking);
        let mut search = Search::new(self, number, known, sure, rest);
        let is_exact = search.finish(&may);
        work += search.work;
        (if is_exact { search.seen } else { may }, work, is_exact)
    }

    /// Returns the portals that face a portal and that a chain of such portals reaches.
    fn candidates(&self, number: usize) -> Bits {
        let source = &self.portals[number];
        let faces = |other: &Directed| {
            other.reaches_front(&source.plane) && source.reaches_back(&other.plane)
        };
        let mut reached = Bits::new(self.portals.len());
        let mut visited = Bits::new(self.leaving.len());
        let mut open = vec![source.to];
        visited.set(source.to);
        while let Some(cluster) = open.pop() {
            for &next in &self.leaving[cluster] {
                let portal = &self.portals[next];
                if next != number && !reached.has(next) && faces(portal) {
                    reached.set(next);
                    if !visited.has(portal.to) {
                        visited.set(portal.to);
                        open.push(portal.to);
                    }
                }
            }
        }
        reached
    }
}

impl<'a> Search<'a> {
    fn new(flow: &'a Flow<'a>, number: usize, known: &'a Known, seen: Bits, limit: u64) -> Self {
        let source = &flow.portals[number];
        Self { flow, source, known, seen, chain: vec![source.from], work: 0, limit }
    }

    /// Follows sight from the source. Returns false if the work exceeds the limit.
    fn finish(&mut self, may: &Bits) -> bool {
        self.follow(self.source.to, &self.source.winding, None, may);
        self.work <= self.limit
    }

    /// Follows sight into a cluster, from `source` through `pass`, the last portal of the chain.
    fn follow(&mut self, cluster: usize, source: &Winding, pass: Option<&Winding>, may: &Bits) {
        self.chain.push(cluster);
        let flow = self.flow;
        for &number in &flow.leaving[cluster] {
            self.work += 1;
            if self.work > self.limit || self.chain.len() > MAX_CHAIN {
                self.work = self.limit + 1;
                break;
            }
            let portal = &flow.portals[number];
            if !may.has(number) || self.chain.contains(&portal.to) {
                continue;
            }
            let behind = &self.known.sets[number];
            if self.seen.has(number) && !may.both_add_to(behind, &self.seen) {
                continue;
            }
            self.work += CUT_WORK;
            let Some((target, source)) = narrowed(self.source, portal, source, pass) else {
                continue;
            };
            self.seen.set(number);
            self.follow(portal.to, &source, Some(&target), &may.both(behind));
        }
        self.chain.pop();
    }
}

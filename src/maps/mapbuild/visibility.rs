//! Potentially visible set: portal flow between clusters.
//!
//! Sight passes through a chain of portals. Planes that separate the first from the last portal of a chain cut
//! the next one; what remains may be seen. Invariants: the result is symmetric, contains each cluster and its
//! neighbors, and never misses a cluster that a free line reaches. A portal whose chains exceed the budget
//! sees all that faces it.

use super::{
    planes::Plane,
    portals::Portals,
    tree::Tree,
    vector::Vector,
    winding::{Winding, WindingSide},
};

/// Tolerance of planes between portals.
const ON: f64 = 0.1;
/// Maximum number of directed portals. A map with more gets no visibility data.
const MAX_PORTALS: usize = 12_000;
/// Maximum number of portals that the chains of one portal pass.
const MAX_STEPS: usize = 400_000;
/// Longest chain of portals.
const MAX_CHAIN: usize = 400;

/// Set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Creates an empty set of numbers below a limit.
    #[must_use]
    pub(super) fn new(limit: usize) -> Self {
        Self(vec![0; limit.div_ceil(64)])
    }

    /// Whether the set contains a number.
    #[must_use]
    pub(super) fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 != 0
    }

    /// Adds a number.
    pub(super) fn set(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn both(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn adds_to(&self, known: &Self) -> bool {
        self.0.iter().zip(&known.0).any(|(own, known)| own & !known != 0)
    }

    /// Returns the words, least significant bit first.
    #[must_use]
    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }
}

/// A portal in one direction.
struct Directed {
    winding: Winding,
    /// Plane whose front is the side that sight leaves to.
    plane: Plane,
    from: usize,
    to: usize,
}

/// Returns the rows of the visible set, one per cluster, or nothing for a map with too many portals.
pub(super) fn rows(
    tree: &Tree,
    portals: &Portals,
    clusters: usize,
    progress: &mut dyn FnMut(usize, usize),
) -> Option<Vec<Bits>> {
    let flow = Flow::new(tree, portals, clusters)?;
    let seen = flow.all(progress);
    let mut rows: Vec<Bits> = (0..clusters).map(|_| Bits::new(clusters)).collect();
    for (portal, seen) in flow.portals.iter().zip(&seen) {
        rows[portal.from].set(portal.from);
        rows[portal.from].set(portal.to);
        for (number, other) in flow.portals.iter().enumerate() {
            if seen.has(number) {
                rows[portal.from].set(other.to);
            }
        }
    }
    for a in 0..clusters {
        rows[a].set(a);
        for b in 0..clusters {
            if rows[a].has(b) {
                rows[b].set(a);
            }
        }
    }
    Some(rows)
}

struct Flow {
    portals: Vec<Directed>,
    /// Portals that leave each cluster.
    leaving: Vec<Vec<usize>>,
}

/// Search for what one portal sees.
struct Search<'a> {
    flow: &'a Flow,
    source: &'a Directed,
    /// Portals that face each portal.
    candidates: &'a [Bits],
    /// Portals visible through each finished portal.
    done: &'a [Option<Bits>],
    seen: Bits,
    chain: Vec<usize>,
    steps: usize,
}

impl Flow {
    fn new(tree: &Tree, portals: &Portals, clusters: usize) -> Option<Self> {
        let mut flow = Self { portals: Vec::new(), leaving: vec![Vec::new(); clusters] };
        for portal in &portals.list {
            let cluster = |leaf: Option<usize>| tree.leafs[leaf?].cluster;
            let [Some(front), Some(back)] = portal.leafs.map(cluster) else { continue };
            let Some(plane) = portal.winding.plane() else { continue };
            let winding = portal.winding.clone();
            for (winding, plane, from, to) in
                [(winding.reversed(), plane.reversed(), front, back), (winding, plane, back, front)]
            {
                flow.leaving[from].push(flow.portals.len());
                flow.portals.push(Directed { winding, plane, from, to });
            }
        }
        (flow.portals.len() <= MAX_PORTALS).then_some(flow)
    }

    /// Returns what each portal sees.
    fn all(&self, progress: &mut dyn FnMut(usize, usize)) -> Vec<Bits> {
        let count = self.portals.len();
        let candidates: Vec<Bits> = (0..count).map(|portal| self.candidates(portal)).collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&portal| (candidates[portal].count(), portal));
        let mut done: Vec<Option<Bits>> = vec![None; count];
        for (finished, &number) in order.iter().enumerate() {
            progress(finished, count);
            let source = &self.portals[number];
            let mut search = Search {
                flow: self,
                source,
                candidates: &candidates,
                done: &done,
                seen: Bits::new(count),
                chain: vec![source.from],
                steps: 0,
            };
            search.follow(source.to, &source.winding, None, &candidates[number]);
            let is_complete = search.steps <= MAX_STEPS;
            let seen = if is_complete { search.seen } else { candidates[number].clone() };
            done[number] = Some(seen);
        }
        done.into_iter().zip(candidates).map(|(seen, all)| seen.unwrap_or(all)).collect()
    }

    /// Returns the portals that face a portal and that a chain of such portals reaches.
    fn candidates(&self, number: usize) -> Bits {
        let source = &self.portals[number];
        let faces = |other: &Directed| {
            let in_front = |point: &Vector| source.plane.distance(*point) > ON;
            let behind = |point: &Vector| other.plane.distance(*point) < -ON;
            other.winding.points().iter().any(in_front)
                && source.winding.points().iter().any(behind)
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

impl Search<'_> {
    /// Follows sight into a cluster, from `source` through `pass`, the last portal of the chain.
    fn follow(&mut self, cluster: usize, source: &Winding, pass: Option<&Winding>, may: &Bits) {
        self.chain.push(cluster);
        let flow = self.flow;
        for &number in &flow.leaving[cluster] {
            self.steps += 1;
            if self.steps > MAX_STEPS || self.chain.len() > MAX_CHAIN {
                self.steps = MAX_STEPS + 1;
                break;
            }
            let portal = &flow.portals[number];
            if !may.has(number) || self.chain.contains(&portal.to) {
                continue;
            }
            let behind = self.done[number].as_ref().unwrap_or(&self.candidates[number]);
            let further = may.both(behind);
            if self.seen.has(number) && !further.adds_to(&self.seen) {
                continue;
            }
            let Some((target, source)) = narrowed(self.source, portal, source, pass) else {
                continue;
            };
            self.seen.set(number);
            self.follow(portal.to, &source, Some(&target), &further);
        }
        self.chain.pop();
    }
}

/// Returns the part of a portal that sight reaches, and the part of the source that it comes from.
fn narrowed(
    first: &Directed,
    portal: &Directed,
    source: &Winding,
    pass: Option<&Winding>,
) -> Option<(Winding, Winding)> {
    if portal.winding.place(&first.plane, ON) == WindingSide::On {
        return None;
    }
    let target = portal.winding.clone().cut(&first.plane, ON).front?;
    let source = source.clone().cut(&portal.plane.reversed(), ON).front?;
    let Some(pass) = pass else { return Some((target, source)) };
    let target = cut_by_separators(&source, pass, target, false)?;
    let target = cut_by_separators(pass, &source, target, true)?;
    Some((target, source))
}

/// Cuts a target by the planes that separate two polygons.
///
/// Such a plane contains an edge of one polygon and a point of the other.
fn cut_by_separators(
    source: &Winding,
    pass: &Winding,
    target: Winding,
    is_reversed: bool,
) -> Option<Winding> {
    let mut target = target;
    for (from, to) in source.edges() {
        for &corner in pass.points() {
            let Some(plane) = separator(source, pass, from, to, corner) else { continue };
            let plane = if is_reversed { plane.reversed() } else { plane };
            target = target.cut(&plane, ON).front?;
        }
    }
    Some(target)
}

/// Returns the plane through an edge of the source and a corner of the pass, if it separates them. The pass is
/// in front.
fn separator(
    source: &Winding,
    pass: &Winding,
    from: Vector,
    to: Vector,
    corner: Vector,
) -> Option<Plane> {
    let normal = (to - from).cross(corner - from);
    let length = normal.length();
    if length < ON {
        return None;
    }
    let normal = normal * (1.0 / length);
    let mut plane = Plane { normal, dist: normal.dot(corner) };
    let others = source.points().iter().filter(|&&point| point != from && point != to);
    let mut sides = others.map(|&point| plane.distance(point)).filter(|side| side.abs() > ON);
    // A plane of the whole source separates nothing.
    if sides.next()? > 0.0 {
        plane = plane.reversed();
    }
    let others = pass.points().iter().filter(|&&point| point != corner);
    let mut is_in_front = false;
    for &point in others {
        let side = plane.distance(point);
        if side < -ON {
            return None;
        }
        is_in_front |= side > ON;
    }
    is_in_front.then_some(plane)
}

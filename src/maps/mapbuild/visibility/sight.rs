//! Sight of a portal without chains: hidden behind the first opening, or reached by straight lines.
//!
//! Both shorten the flow through chains, whose number grows exponentially where many portals face each other.

use super::{
    super::{planes::Plane, tree::Child, vector::Vector, winding::WindingSide},
    Bits,
    flow::{Directed, Flow, Known},
    separators::{CUT, ON, separators},
};

/// Tests of portals against separating planes that cost as much as one visit of a portal.
pub(super) const TESTS_PER_WORK: u64 = 8;
/// Nodes that a straight line passes at the cost of one visit of a portal.
const NODES_PER_WORK: u64 = 8;
/// Distance from a plane within which a line counts as blocked on both sides.
const TOUCH: f64 = 0.02;

impl Flow<'_> {
    /// Returns the portals that a portal may see, and the work. Finished portals of the other direction count, and the
    /// planes that separate it from the next opening.
    pub(super) fn tightened(&self, number: usize, known: &Known) -> (Bits, u64) {
        let source = &self.portals[number];
        let mut open = Bits::new(self.portals.len());
        let is_open = |other: &usize| {
            // Sight is symmetric.
            !known.is_done[*other ^ 1] || known.sets[*other ^ 1].has(number ^ 1)
        };
        known.sets[number].numbers().filter(is_open).for_each(|other| open.set(other));
        let mut may = Bits::new(self.portals.len());
        let mut tests = 0;
        for &next in self.leaving[source.to].iter().filter(|&&next| open.has(next)) {
            may.set(next);
            let pass = &self.portals[next];
            let planes = separators(&source.winding, &pass.winding);
            for other in open.both(&known.sets[next]).numbers() {
                if may.has(other) {
                    continue;
                }
                tests += planes.len() as u64 + 1;
                if !planes.iter().any(|plane| is_hidden(&self.portals[other], plane)) {
                    may.set(other);
                }
            }
        }
        (may, tests / TESTS_PER_WORK)
    }

    /// Returns portals that a straight line from the portal reaches, and the work. The search ends at a limit of it.
    pub(super) fn surely_seen(&self, number: usize, may: &Bits, limit: u64) -> (Bits, u64) {
        let source = &self.portals[number];
        let mut seen = Bits::new(self.portals.len());
        let mut nodes = 0;
        for other in may.numbers() {
            if nodes / NODES_PER_WORK > limit {
                break;
            }
            let target = &self.portals[other];
            let lines = lines(source, target);
            let is_free = lines.into_iter().any(|[from, to]| {
                nodes += 1;
                source.plane.distance(to) > ON
                    && target.plane.distance(from) < -ON
                    && self.is_free(from, to, self.tree.root, &mut nodes)
            });
            if is_free {
                seen.set(other);
            }
        }
        (seen, nodes / NODES_PER_WORK)
    }

    /// Whether a line stays out of opaque leafs. Adds the nodes that it passes.
    fn is_free(&self, from: Vector, to: Vector, at: Child, nodes: &mut u64) -> bool {
        let node = match at {
            Child::Leaf(leaf) => return !self.tree.leafs[leaf].is_opaque,
            Child::Node(node) => &self.tree.nodes[node],
        };
        *nodes += 1;
        let plane = &self.planes[node.plane];
        let (start, end) = (plane.distance(from), plane.distance(to));
        let [front, back] = node.children;
        if start > TOUCH && end > TOUCH {
            return self.is_free(from, to, front, nodes);
        }
        if start < -TOUCH && end < -TOUCH {
            return self.is_free(from, to, back, nodes);
        }
        if start.abs() <= TOUCH || end.abs() <= TOUCH {
            return self.is_free(from, to, front, nodes) && self.is_free(from, to, back, nodes);
        }
        let middle = from + (to - from) * (start / (start - end));
        let (first, second) = if start > 0.0 { (front, back) } else { (back, front) };
        self.is_free(from, middle, first, nodes) && self.is_free(middle, to, second, nodes)
    }
}

/// Whether a separating plane has a polygon behind it.
fn is_hidden(portal: &Directed, plane: &Plane) -> bool {
    !portal.reaches_front(plane) && portal.winding.place(plane, CUT) == WindingSide::Back
}

/// Lines between two polygons: between the middles, and between corners drawn toward them.
fn lines(source: &Directed, target: &Directed) -> [[Vector; 2]; 3] {
    let inner = |portal: &Directed, corner: usize| {
        let points = portal.winding.points();
        let corner = points[corner % points.len()];
        portal.center + (corner - portal.center) * 0.8
    };
    [
        [source.center, target.center],
        [inner(source, 0), inner(target, 0)],
        [inner(source, 2), inner(target, 2)],
    ]
}

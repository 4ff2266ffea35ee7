//! Potentially visible set: portal flow between clusters.
//!
//! Sight passes through a chain of portals. Planes that separate the first from the last portal of a chain cut
//! the next one; what remains may be seen. Invariants: the result is symmetric, contains each cluster and its
//! neighbors, and never misses a cluster that a free line reaches. Work has a budget that grows with the number of
//! portals. A portal whose chains exceed its share sees all that faces it through the first opening, which is counted;
//! the same source always gives the same set.

mod flow;
mod separators;
mod sight;

use super::{planes::Planes, portals::Portals, tree::Tree};
use flow::Flow;

/// Effort for the visible set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// All that faces a portal, without planes between portals.
    Draft,
    /// Portal flow.
    Full,
}

/// Visible set of a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VisibleSet {
    /// Visible clusters by cluster; none for a map with too many portals.
    pub rows: Option<Vec<Bits>>,
    /// Directed portals between clusters.
    pub portals: usize,
    /// Directed portals that see more than needed, because the budget was spent.
    pub coarse: usize,
    /// Work, in visits of a portal.
    pub work: u64,
}

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

    /// Whether a number is in both sets, and not in `known`.
    fn both_add_to(&self, other: &Self, known: &Self) -> bool {
        let words = self.0.iter().zip(&other.0).zip(&known.0);
        words.into_iter().any(|((own, other), known)| own & other & !known != 0)
    }

    /// Iterates over the numbers, ascending.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
    }

    /// Returns the words, least significant bit first.
    #[must_use]
    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }
}

/// Returns the visible set, one row per cluster. `progress` receives finished and total portals.
pub(super) fn visible_set(
    tree: &Tree,
    portals: &Portals,
    planes: &Planes,
    clusters: usize,
    precision: Precision,
    progress: &mut dyn FnMut(usize, usize),
) -> VisibleSet {
    let Some(flow) = Flow::new(tree, portals, planes, clusters) else {
        return VisibleSet::default();
    };
    let mut rows: Vec<Bits> = (0..clusters).map(|_| Bits::new(clusters)).collect();
    for portal in &flow.portals {
        rows[portal.from].set(portal.to);
    }
    let mut see = |number: usize, seen: &Bits| {
        let row = &mut rows[flow.portals[number].from];
        for other in seen.numbers() {
            row.set(flow.portals[other].to);
        }
    };
    let (coarse, work) = match precision {
        Precision::Draft => (0, flow.draft(progress, &mut see)),
        Precision::Full => flow.all(progress, &mut see),
    };
    for a in 0..clusters {
        rows[a].set(a);
        for b in rows[a].clone().numbers() {
            rows[b].set(a);
        }
    }
    VisibleSet { rows: Some(rows), portals: flow.portals.len(), coarse, work }
}

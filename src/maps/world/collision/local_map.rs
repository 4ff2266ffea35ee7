//! Part of a collision map near a box, for many traces in the same place.
//!
//! A [`LocalMap`] has the nodes at which a trace within its region may split or turn. Its leafs have the brushes
//! and patches whose bounds meet the region. It is replaced when a trace leaves the region, and
//! cleared before use with another map.
//!
//! Invariants:
//! - Results equal those of the whole map in every bit. Engines skip a brush behind a node's plane in
//!   rare cases, and the order of leafs decides ties. Therefore every node that can split a trace is kept, also if
//!   one of its sides is empty.
//! - The lists never grow beyond their limits. Where more is needed, the local map has no root, and traces use the
//!   whole map.
//! - The first local map allocates the lists, later ones reuse them.

use super::{
    CollisionMap, Leaf,
    arithmetic::Arithmetic,
    bounds::{Corner, PaddedBounds, each},
    sweep::Sweep,
    walk::{Below, Node, Paths, SLANTED, SLANTED_REACH},
};
use crate::model::{Vec3, prefetch};

/// Distance around a trace that the region covers, in units. A player crosses it in a tenth of a second.
const MARGIN: f32 = 32.0;
/// Longest trace for which a local map is made, along each axis, in units. Longer ones rarely stay near.
const LONGEST: f32 = 128.0;
/// Largest box for which a local map is made, in units to each side of its center.
const LARGEST: f32 = 128.0;
/// Largest coordinate of a region. Up to there, rounding is much smaller than [`SLACK`].
const FARTHEST: f32 = 131_072.0;
/// Allowance for rounding in all comparisons with the region, in units.
const SLACK: f32 = 1.0;
/// Limits of the lists.
const MAX_NODES: usize = 64;
const MAX_LEAFS: usize = 64;
const MAX_BRUSHES: usize = 256;
const MAX_PATCHES: usize = 64;
/// Leaf without contents, the first of each local map.
const EMPTY: Below = !0;

/// Part of a collision map within a region.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalMap {
    /// Region of box centers and the largest half size of a box there.
    region: Option<Region>,
    /// `None` if the lists are too short.
    root: Option<Below>,
    nodes: Vec<Node>,
    reaches: Vec<[PaddedBounds; 2]>,
    leafs: Vec<Leaf>,
    brushes: Vec<u32>,
    patches: Vec<u32>,
    /// Contents of all leafs.
    contents: i32,
}

/// Boxes that a local map covers.
#[derive(Clone, Copy, Debug)]
struct Region {
    /// Lower corner of the centers.
    low: Corner,
    high: Corner,
    /// Half size of the largest box.
    half: Corner,
}

/// A list of a local map is full.
#[derive(Clone, Copy, Debug)]
struct Full;

impl LocalMap {
    /// Forgets the region, because the map has changed.
    pub(super) fn clear(&mut self) {
        self.region = None;
        self.root = None;
    }

    /// Requests the memory of the lists.
    pub(super) fn expect_trace(&self) {
        prefetch(self.nodes.as_slice());
        prefetch(self.reaches.as_slice());
        prefetch(self.leafs.as_slice());
        prefetch(self.brushes.as_slice());
    }

    /// Whether a sweep may use this local map. Replaces it around a short sweep that leaves the region.
    pub(super) fn covers(&mut self, map: &CollisionMap, sweep: &Sweep) -> bool {
        if !self.region.is_some_and(|region| region.covers(sweep)) {
            let Some(region) = Region::around(sweep) else { return false };
            self.make(map, region);
        }
        self.root.is_some()
    }

    /// Whether points at a place may use this local map.
    pub(super) fn covers_point(&self, point: Vec3) -> bool {
        self.root.is_some() && self.region.is_some_and(|region| region.contains(point))
    }

    /// Runs a sweep that the region covers.
    pub(super) fn sweep<A: Arithmetic>(&self, map: &CollisionMap, sweep: &mut Sweep) {
        let mut visit = |leaf: usize, sweep: &mut Sweep| {
            let (brushes, patches) = self.contents(leaf);
            map.stop_at::<A>(brushes, patches, sweep);
        };
        self.paths().sweep::<A>(sweep, &mut visit);
    }

    /// Returns the contents at a point that the region covers.
    pub(super) fn point_contents(&self, map: &CollisionMap, point: Vec3) -> i32 {
        map.contents_of(self.contents(self.paths().leaf_at(point)).0, point).0
    }

    /// Whether no leaf has any of the contents of a mask.
    pub(super) fn lacks(&self, mask: i32) -> bool {
        self.contents & mask == 0
    }

    /// Whether the map has some of the contents of a mask at a point that the region covers.
    pub(super) fn has_contents(&self, map: &CollisionMap, point: Vec3, mask: i32) -> bool {
        let leaf = self.paths().leaf_at(point);
        self.leafs[leaf].contents & mask != 0
            && map.brushes_have(self.contents(leaf).0, point, mask)
    }

    fn paths(&self) -> Paths<'_> {
        let root = self.root.unwrap_or(EMPTY);
        Paths { root, nodes: &self.nodes, reaches: &self.reaches }
    }

    /// Returns the brushes and patches of a leaf.
    fn contents(&self, leaf: usize) -> (&[u32], &[u32]) {
        let leaf = &self.leafs[leaf];
        (&self.brushes[leaf.brush_places()], &self.patches[leaf.patch_places()])
    }

    fn make(&mut self, map: &CollisionMap, region: Region) {
        self.nodes.clear();
        self.reaches.clear();
        self.leafs.clear();
        self.brushes.clear();
        self.patches.clear();
        self.nodes.reserve_exact(MAX_NODES);
        self.reaches.reserve_exact(MAX_NODES);
        self.leafs.reserve_exact(MAX_LEAFS);
        self.brushes.reserve_exact(MAX_BRUSHES);
        self.patches.reserve_exact(MAX_PATCHES);
        self.contents = 0;
        self.leafs.push(Leaf::EMPTY);
        self.region = Some(region);
        let whole = map.tree.paths();
        self.root = self.copy(map, &whole, &region, whole.root).ok().map(|(root, _)| root);
    }

    /// Copies what the region meets below a child. Returns the new child and the bounds of its contents.
    fn copy(
        &mut self,
        map: &CollisionMap,
        whole: &Paths<'_>,
        region: &Region,
        mut below: Below,
    ) -> Result<(Below, PaddedBounds), Full> {
        // Skip nodes whose plane has all sweeps on one side.
        let node = loop {
            let Some(node) = whole.nodes.get(below as usize) else {
                return self.copy_leaf(map, region, &map.leafs[!below as usize]);
            };
            below = match region.side_of(node) {
                Some(side) => node.children[side],
                None => break node,
            };
        };
        let (place, reaches) = (self.nodes.len(), &whole.reaches[below as usize]);
        if place == MAX_NODES {
            return Err(Full);
        }
        self.nodes.push(*node);
        self.reaches.push([PaddedBounds::NONE; 2]);
        for (side, reach) in reaches.iter().enumerate() {
            let (child, reach) = if region.misses(reach) {
                (EMPTY, PaddedBounds::NONE)
            } else {
                self.copy(map, whole, region, node.children[side])?
            };
            self.nodes[place].children[side] = child;
            self.reaches[place][side] = reach;
        }
        if self.nodes[place].children == [EMPTY; 2] {
            self.nodes.truncate(place);
            self.reaches.truncate(place);
            return Ok((EMPTY, PaddedBounds::NONE));
        }
        let [front, back] = self.reaches[place];
        Ok((place as Below, front.union(back)))
    }

    fn copy_leaf(
        &mut self,
        map: &CollisionMap,
        region: &Region,
        leaf: &Leaf,
    ) -> Result<(Below, PaddedBounds), Full> {
        let first = (self.brushes.len() as u32, self.patches.len() as u32);
        let mut all = PaddedBounds::NONE;
        for &brush in map.brushes_in(leaf) {
            let reach = map.brushes.reach(brush);
            if !region.misses(&reach) {
                add(&mut self.brushes, brush, MAX_BRUSHES)?;
                all = all.union(reach);
            }
        }
        for &patch in map.patches_in(leaf) {
            let reach = map.patches[patch as usize].reach();
            if !region.misses(&reach) {
                add(&mut self.patches, patch, MAX_PATCHES)?;
                all = all.union(reach);
            }
        }
        let brushes = first.0..self.brushes.len() as u32;
        let patches = first.1..self.patches.len() as u32;
        if brushes.is_empty() && patches.is_empty() {
            return Ok((EMPTY, PaddedBounds::NONE));
        }
        self.contents |= leaf.contents;
        let place = self.leafs.len();
        add(&mut self.leafs, Leaf { brushes, patches, contents: leaf.contents }, MAX_LEAFS)?;
        Ok((!(place as Below), all))
    }
}

/// Adds an element to a list that is not full.
fn add<T>(list: &mut Vec<T>, element: T, limit: usize) -> Result<(), Full> {
    if list.len() == limit {
        return Err(Full);
    }
    list.push(element);
    Ok(())
}

impl Region {
    /// Creates the region around a sweep; `None` for one that is long, large or far away.
    fn around(sweep: &Sweep) -> Option<Self> {
        let lanes = &sweep.lanes;
        let [low, high] = lanes.ends();
        let half = each(|at| (-lanes.size[0][at]).max(lanes.size[1][at]));
        let fits = (0..4).all(|at| {
            high[at] - low[at] <= LONGEST
                && half[at] <= LARGEST
                && low[at] >= -FARTHEST + MARGIN + LARGEST
                && high[at] <= FARTHEST - MARGIN - LARGEST
        });
        let margin = [MARGIN, MARGIN, MARGIN, 0.0];
        fits.then(|| Self {
            low: each(|at| low[at] - margin[at]),
            high: each(|at| high[at] + margin[at]),
            half,
        })
    }

    /// Whether all of a sweep is in the region. False for NaN.
    #[inline]
    fn covers(&self, sweep: &Sweep) -> bool {
        let lanes = &sweep.lanes;
        (0..4).fold(true, |inside, at| {
            inside
                & (self.low[at] <= lanes.start[at])
                & (self.low[at] <= lanes.end[at])
                & (self.high[at] >= lanes.start[at])
                & (self.high[at] >= lanes.end[at])
                & (-self.half[at] <= lanes.size[0][at])
                & (self.half[at] >= lanes.size[1][at])
        })
    }

    fn contains(&self, Vec3(point): Vec3) -> bool {
        (0..3).fold(true, |inside, at| {
            inside
                & (self.low[at] - self.half[at] <= point[at])
                & (self.high[at] + self.half[at] >= point[at])
        })
    }

    /// Returns the corners of all boxes, with slack.
    fn bounds(&self) -> [Corner; 2] {
        [
            each(|at| self.low[at] - self.half[at] - SLACK),
            each(|at| self.high[at] + self.half[at] + SLACK),
        ]
    }

    fn misses(&self, reach: &PaddedBounds) -> bool {
        let [low, high] = self.bounds();
        reach.excludes(&low, &high)
    }

    /// Returns the child that every sweep and every point of the region belongs to, if there is one.
    fn side_of(&self, node: &Node) -> Option<usize> {
        let [low, high] = self.bounds();
        let axis = node.axis as usize % 4;
        // Sweeps are clear of an axial plane one unit beyond their box, of a slanted one farther away.
        let (least, most, clear) = if axis == SLANTED {
            let normal = node.normal;
            let along = |[against, with]: [&Corner; 2]| -> f32 {
                let part =
                    |at: usize| normal[at] * if normal[at] < 0.0 { against } else { with }[at];
                part(0) + part(1) + part(2) - node.dist
            };
            (along([&high, &low]), along([&low, &high]), SLANTED_REACH + 1.0)
        } else {
            (low[axis] - node.dist, high[axis] - node.dist, 1.0)
        };
        if least >= clear + SLACK {
            Some(0)
        } else if most < -clear - SLACK {
            Some(1)
        } else {
            None
        }
    }
}

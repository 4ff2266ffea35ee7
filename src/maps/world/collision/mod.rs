//! Collision map: traces of boxes and points, contents of points, brush models.
//!
//! A [`CollisionMap`] is made once from a [`Bsp`] for one [`TracePrecision`] and never changes. Its results
//! equal those of the engines of that precision, bit for bit, on every machine.
//!
//! Invariants: no query allocates, and none fails for any input. Brushes of a leaf come before its patches;
//! the first of several hits at the same fraction is reported.
//!
//! Source: the collision document of the game's engines; checked by its vectors. Engine names: `CM_BoxTrace`,
//! `CM_TransformedBoxTrace`, `CM_PointContents`.

mod arithmetic;
mod bounds;
mod brush;
mod capsule;
mod local_map;
mod model;
mod patch;
mod query;
mod sweep;
mod trace_cache;
mod tree;
mod walk;

use std::ops::Range;

use thiserror::Error;

pub use arithmetic::TracePrecision;
pub use capsule::Hull;
pub use model::TraceTarget;
pub use patch::{Border, Facet, Patch, PatchError};
pub use query::TraceQuery;
pub use trace_cache::TraceCache;

use super::bsp::{BrushNum, Bsp, SurfaceNum};
use crate::model::{Trace, Vec3};
use arithmetic::{Arithmetic, Reordered};
use bounds::PaddedBounds;
use brush::Brushes;
use capsule::Capsule;
use patch::{Budget, Source};
pub use sweep::TraceWork;
use sweep::{Sweep, end_of, is_same};
use tree::Tree;

/// Maximum number of leafs that a position test searches.
const MAX_REST_LEAFS: usize = 1024;
/// Bit that marks patch numbers among brush numbers.
const PATCH_MARK: u32 = 1 << 31;

/// A patch of a valid map that collision cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("surfaces, record {surface}: patch not usable for collision: {fault}")]
pub struct CollisionError {
    /// Number of the surface.
    pub surface: SurfaceNum,
    /// Problem of the patch.
    pub fault: PatchError,
}

/// A map prepared for collision.
#[derive(Debug)]
pub struct CollisionMap {
    family: TracePrecision,
    tree: Tree,
    leafs: Box<[Leaf]>,
    leaf_brushes: Box<[u32]>,
    leaf_patches: Box<[u32]>,
    brushes: Brushes,
    patches: Box<[Patch]>,
    models: Box<[Model]>,
}

/// Brushes and patches of a leaf or a brush model.
#[derive(Clone, Debug)]
struct Leaf {
    /// Range in the list of brush numbers.
    brushes: Range<u32>,
    /// Range in the list of patch numbers.
    patches: Range<u32>,
    /// Contents of all its brushes.
    contents: i32,
}

/// A brush model.
#[derive(Clone, Debug)]
struct Model {
    bounds: [Vec3; 2],
    /// Brushes and patches of the model; those of the world are in the tree.
    contents: Leaf,
}

/// Prepares the patches one by one, in the order of the surfaces.
fn prepared<A: Arithmetic>(bsp: &Bsp) -> impl Iterator<Item = Result<Patch, CollisionError>> {
    let mut budget = Budget::default();
    bsp.patches().map(move |(surface, grid)| {
        let controls: Vec<Vec3> =
            grid.points.numbers().map(|vertex| bsp.vertices[vertex]).collect();
        let source = Source {
            surface: surface.index(),
            width: usize::from(grid.width),
            controls: &controls,
            contents: grid.contents,
            surface_flags: grid.surface_flags,
        };
        Patch::new::<A>(source, &mut budget).map_err(|fault| CollisionError { surface, fault })
    })
}

/// Prepares the patches. Also returns the patch of each surface.
fn prepare_patches<A: Arithmetic>(
    bsp: &Bsp,
) -> Result<(Vec<Patch>, Vec<Option<u32>>), CollisionError> {
    let patches = prepared::<A>(bsp).collect::<Result<Vec<_>, _>>()?;
    let mut patch_of = vec![None; bsp.surfaces.len()];
    for (number, patch) in patches.iter().enumerate() {
        patch_of[patch.surface()] = Some(number as u32);
    }
    Ok((patches, patch_of))
}

/// Returns all patches that engines reject. Patches that cost too much to prepare are one problem, the last.
#[must_use]
pub fn rejected_patches(bsp: &Bsp) -> Vec<CollisionError> {
    let mut rejected = Vec::new();
    for error in prepared::<f32>(bsp).filter_map(Result::err) {
        let is_last = error.fault == PatchError::Work;
        rejected.push(error);
        if is_last {
            break;
        }
    }
    rejected
}

impl CollisionMap {
    /// Prepares a map for collision.
    ///
    /// # Errors
    /// Rejects a patch that engines reject too, and patches that cost too much to prepare.
    pub fn new(bsp: &Bsp, family: TracePrecision) -> Result<Self, CollisionError> {
        match family {
            TracePrecision::Single => Self::prepare::<f32>(bsp, family),
            TracePrecision::Double => Self::prepare::<f64>(bsp, family),
            TracePrecision::Fast => Self::prepare::<Reordered>(bsp, family),
        }
    }

    fn prepare<A: Arithmetic>(bsp: &Bsp, family: TracePrecision) -> Result<Self, CollisionError> {
        let (patches, patch_of) = prepare_patches::<A>(bsp)?;
        let mut leaf_brushes = Vec::with_capacity(bsp.leaf_brushes.len());
        let mut leaf_patches = Vec::new();
        let mut list = |brushes: &mut dyn Iterator<Item = BrushNum>,
                        surfaces: &mut dyn Iterator<Item = SurfaceNum>| {
            let first = (leaf_brushes.len() as u32, leaf_patches.len() as u32);
            let mut contents = 0;
            leaf_brushes.extend(brushes.map(|brush| {
                contents |= bsp.brushes[brush].contents;
                brush.index() as u32
            }));
            leaf_patches.extend(surfaces.filter_map(|surface| patch_of[surface.index()]));
            let (brushes, patches) =
                (first.0..leaf_brushes.len() as u32, first.1..leaf_patches.len() as u32);
            Leaf { brushes, patches, contents }
        };
        let leafs: Box<[Leaf]> = bsp
            .leafs
            .iter()
            .map(|leaf| {
                list(
                    &mut bsp.leaf_brushes[leaf.brushes].iter().copied(),
                    &mut bsp.leaf_surfaces[leaf.surfaces].iter().copied(),
                )
            })
            .collect();
        let models = bsp
            .models
            .iter()
            .enumerate()
            .map(|(number, model)| {
                // Those of the world are in its leafs.
                let contents = if number == 0 {
                    Leaf::EMPTY
                } else {
                    list(&mut model.brushes.numbers(), &mut model.surfaces.numbers())
                };
                Model { bounds: [model.mins, model.maxs], contents }
            })
            .collect();
        let prepared = Brushes::new::<A>(bsp);
        let reaches: Vec<PaddedBounds> = leafs
            .iter()
            .map(|leaf| {
                let brushes = &leaf_brushes[leaf.brush_places()];
                let brushes = brushes.iter().map(|&brush| prepared.reach(brush));
                let curves = &leaf_patches[leaf.patch_places()];
                let curves = curves.iter().map(|&patch| patches[patch as usize].reach());
                brushes.chain(curves).fold(PaddedBounds::NONE, PaddedBounds::union)
            })
            .collect();
        Ok(Self {
            family,
            tree: Tree::new(bsp, &reaches),
            leafs,
            leaf_brushes: leaf_brushes.into(),
            leaf_patches: leaf_patches.into(),
            brushes: prepared,
            patches: patches.into(),
            models,
        })
    }

    /// Returns the arithmetic precision of the results.
    #[must_use]
    pub fn family(&self) -> TracePrecision {
        self.family
    }

    /// Returns the corners of a model's box, padded by one unit as in the engine; model 0 is the
    /// world. `None` when the map has no such model.
    #[must_use]
    pub fn model_bounds(&self, model: usize) -> Option<[Vec3; 2]> {
        Some(self.models.get(model)?.bounds)
    }

    /// Number of models, the world included.
    #[must_use]
    pub fn model_count(&self) -> usize {
        self.models.len()
    }

    /// Returns the patches of the map, ordered by surface number.
    #[must_use]
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// Returns the memory of the collision map, in bytes.
    #[must_use]
    pub fn memory_len(&self) -> usize {
        size_of::<Self>()
            + self.tree.size()
            + size_of_val(&*self.leafs)
            + size_of_val(&*self.leaf_brushes)
            + size_of_val(&*self.leaf_patches)
            + self.brushes.size()
            + self.patches.iter().map(Patch::size).sum::<usize>()
            + size_of_val(&*self.models)
    }

    /// Traces a box or point through the world.
    #[must_use]
    pub fn trace(&self, query: &TraceQuery) -> Trace {
        self.trace_hull(Hull::Box, query)
    }

    /// Traces a hull in the same way.
    #[must_use]
    pub fn trace_hull(&self, hull: Hull, query: &TraceQuery) -> Trace {
        self.trace_with_work(hull, query).0
    }

    /// Traces a hull in the same way, and returns the work.
    pub(in crate::world) fn trace_with_work(
        &self,
        hull: Hull,
        query: &TraceQuery,
    ) -> (Trace, TraceWork) {
        let mut sweep = Sweep::new(query);
        if hull == Hull::Capsule {
            let capsule = Capsule::in_box(sweep.size()[1]);
            sweep = sweep.with(capsule);
        }
        self.run(0, is_same(query.start, query.end), &mut sweep);
        (sweep.found.trace(end_of(query, sweep.found.fraction)), sweep.work)
    }

    /// Returns the contents of the world at a point. Patches have no inside.
    #[must_use]
    pub fn point_contents(&self, point: Vec3) -> i32 {
        self.contents_with_work(point).0
    }

    /// Returns the contents of the world at a point, and the work.
    pub(in crate::world) fn contents_with_work(&self, point: Vec3) -> (i32, TraceWork) {
        let (leaf, nodes) = self.tree.paths().leaf_and_depth(point);
        let (contents, work) = self.contents_of(self.brushes_in(&self.leafs[leaf]), point);
        (contents, TraceWork { nodes, ..work })
    }

    /// Whether the world has some of the contents of a mask at a point.
    #[must_use]
    pub fn has_contents(&self, point: Vec3, mask: i32) -> bool {
        let leaf = &self.leafs[self.tree.paths().leaf_at(point)];
        leaf.contents & mask != 0 && self.brushes_have(self.brushes_in(leaf), point, mask)
    }

    /// Runs a sweep, or a position test for a box at rest, in the world or in a model.
    fn run(&self, model: usize, at_rest: bool, sweep: &mut Sweep) {
        match self.family {
            TracePrecision::Single => self.run_in::<f32>(model, at_rest, sweep),
            TracePrecision::Double => self.run_in::<f64>(model, at_rest, sweep),
            TracePrecision::Fast => self.run_in::<Reordered>(model, at_rest, sweep),
        }
    }

    fn run_in<A: Arithmetic>(&self, model: usize, at_rest: bool, sweep: &mut Sweep) {
        let Some(contents) = self.models.get(model).map(|model| &model.contents) else { return };
        match (model, at_rest) {
            (0, true) => self.rest_in_world::<A>(sweep),
            (0, false) => {
                let mut visit = |leaf: usize, sweep: &mut Sweep| {
                    self.stop::<A>(&self.leafs[leaf], sweep);
                };
                self.tree.paths().sweep::<A>(sweep, &mut visit);
            }
            (_, true) => self.rest::<A>(contents, sweep),
            (_, false) => self.stop::<A>(contents, sweep),
        }
    }

    /// Clips a sweep against the contents of a leaf.
    fn stop<A: Arithmetic>(&self, leaf: &Leaf, sweep: &mut Sweep) {
        self.stop_at::<A>(self.brushes_in(leaf), self.patches_in(leaf), sweep);
    }

    /// Clips a sweep against brushes and patches.
    #[inline]
    fn stop_at<A: Arithmetic>(&self, brushes: &[u32], patches: &[u32], sweep: &mut Sweep) {
        sweep.work.contents += brushes.len() + patches.len();
        for &brush in brushes {
            self.brushes.stop::<A>(brush, sweep);
            if sweep.found.fraction == 0.0 {
                return;
            }
        }
        for &patch in patches {
            if sweep.first_look(patch | PATCH_MARK) {
                self.patches[patch as usize].stop(sweep);
                if sweep.found.fraction == 0.0 {
                    return;
                }
            }
        }
    }

    fn rest_in_world<A: Arithmetic>(&self, sweep: &mut Sweep) {
        let margin = Vec3::new(1.0, 1.0, 1.0);
        let mins = sweep.start() + sweep.size()[0] - margin;
        let maxs = sweep.start() + sweep.size()[1] + margin;
        let mut left = MAX_REST_LEAFS;
        let nodes = self.tree.leafs_in_box(mins, maxs, |leaf| {
            self.rest::<A>(&self.leafs[leaf], sweep);
            left -= 1;
            left > 0 && !sweep.found.allsolid
        });
        sweep.work.nodes += nodes;
    }

    /// Tests a box at rest against the contents of a leaf.
    fn rest<A: Arithmetic>(&self, leaf: &Leaf, sweep: &mut Sweep) {
        let (brushes, patches) = (self.brushes_in(leaf), self.patches_in(leaf));
        sweep.work.contents += brushes.len() + patches.len();
        let held_by_brush = brushes.iter().find_map(|&n| self.brushes.holds::<A>(n, sweep));
        let held_by = held_by_brush.or_else(|| {
            let mut patches = patches.iter().map(|&n| &self.patches[n as usize]);
            patches.find(|patch| patch.holds(sweep)).map(Patch::contents)
        });
        if let Some(contents) = held_by {
            sweep.is_stuck(contents);
        }
    }

    /// Returns the contents of some brushes at a point, and the work.
    fn contents_of(&self, brushes: &[u32], point: Vec3) -> (i32, TraceWork) {
        let mut planes = 0;
        let at = |known, &brush: &u32| known | self.brushes.contents_at(brush, point, &mut planes);
        let contents = brushes.iter().fold(0, at);
        (contents, TraceWork { nodes: 0, contents: brushes.len(), planes })
    }

    /// Whether some brushes have contents of a mask at a point.
    fn brushes_have(&self, brushes: &[u32], point: Vec3, mask: i32) -> bool {
        brushes.iter().any(|&brush| {
            self.brushes.contents(brush) & mask != 0
                && self.brushes.contents_at(brush, point, &mut 0) != 0
        })
    }

    fn brushes_in(&self, leaf: &Leaf) -> &[u32] {
        &self.leaf_brushes[leaf.brush_places()]
    }

    fn patches_in(&self, leaf: &Leaf) -> &[u32] {
        &self.leaf_patches[leaf.patch_places()]
    }
}

impl Leaf {
    const EMPTY: Self = Self { brushes: 0..0, patches: 0..0, contents: 0 };

    fn brush_places(&self) -> Range<usize> {
        self.brushes.start as usize..self.brushes.end as usize
    }

    fn patch_places(&self) -> Range<usize> {
        self.patches.start as usize..self.patches.end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Block, TestMap};

    #[test]
    fn trace_visits_each_node_and_leaf_once() {
        // Thousands of boxes in two leafs; every long trace passes between them.
        let world: Vec<_> = (0..4000)
            .map(|n| {
                let [x, y, z] = [n % 20, n / 20 % 20, n / 400].map(|at| at as f32 * 64.0 - 640.0);
                let (mins, maxs) = ([x, y, z], [x + 8.0, y + 8.0, z + 8.0]);
                Block { mins, maxs, contents: 1, surface_flags: 0 }
            })
            .collect();
        let bsp = Bsp::load(&TestMap::from_boxes("", &world, &[]).file()).expect("a sound map");
        let far = Vec3::new(1e5, 9e4, 8e4);
        let back = far * -1.0;
        for family in [TracePrecision::Single, TracePrecision::Double] {
            let map = CollisionMap::new(&bsp, family).expect("a map to collide with");
            for size in [0.0, 15.0, 1e4] {
                let maxs = Vec3::new(size, size, size);
                for (start, end) in [(back, far), (far, back), (Vec3::ZERO, far), (far, far)] {
                    // No brush stops the trace, so it tests all of them.
                    let query = TraceQuery::line(start, end, 0).with_box(maxs * -1.0, maxs);
                    let mut sweep = Sweep::new(&query);
                    map.run(0, false, &mut sweep);
                    let steps = sweep.work;
                    assert!(steps.nodes <= bsp.nodes.len(), "{steps:?}");
                    assert!(steps.contents <= map.leaf_brushes.len(), "{steps:?}");
                }
            }
        }
    }
}

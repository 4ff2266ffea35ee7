//! QuakeWorld maps: BSP29 file, hulls and traces, visibility, checksums, PACK archives, map generator.
//!
//! Invariants of a [`Bsp29`]:
//! - every child of a tree is a node, a leaf or contents of the same map;
//! - every tree is at most [`MAX_TREE_DEPTH`] nodes deep, and a walk of all its paths visits at most
//!   [`MAX_TREE_VISITS`] nodes;
//! - model 0, the world, exists;
//! - every number is finite.
//!
//! The reader takes any bytes. Its memory is a small multiple of the file's length, beside the PVS rows, which
//! are limited. Lumps that only clients use (faces, textures, light) cause warnings.
//!
//! Source: QuakeWorld protocol 28. Engine names: `dheader_t`, `Mod_LoadBrushModel`, `CM_LoadMap`.

mod checksum;
pub mod compiler;
mod drawn;
mod error;
mod file;
mod hull;
mod leafs;
mod load;
pub mod pack;
mod trees;
mod visibility;

#[cfg(test)]
mod tests;

pub use checksum::MapChecksums;
pub use error::{Bsp29Error, Lump, LumpFault, RecordFault, TreeFault};
pub use file::{MAX_FILE_LEN, VERSION};
pub use hull::{BoxHull, Contents, Hull, HullTrace, Plane};
pub use leafs::{Leaf, LeafNum, MAX_TOUCHED_LEAFS, TouchedLeafs};
pub use visibility::{LeafSet, MAX_ROW_BYTES, Row, Visibility};

use crate::model::Vec3;
use crate::world::{EntityStringError, MapEntities};

use hull::{HullChild, HullNode};
use leafs::LeafNode;

/// Maximum depth of a tree, in nodes. Recursion of a trace is bounded by it.
pub const MAX_TREE_DEPTH: usize = 1024;
/// Maximum visits of a walk through all paths of a tree. A file can share parts of a tree.
pub const MAX_TREE_VISITS: u32 = 1 << 17;
/// Maximum number of models: entities name them by 8 bits.
pub const MAX_MODELS: usize = 256;

/// Boxes of the three hulls, lower and upper corner: a point, a player, a large monster.
pub const HULL_BOXES: [(Vec3, Vec3); 3] = [
    (Vec3::ZERO, Vec3::ZERO),
    (Vec3::new(-16.0, -16.0, -24.0), Vec3::new(16.0, 16.0, 32.0)),
    (Vec3::new(-32.0, -32.0, -24.0), Vec3::new(32.0, 32.0, 64.0)),
];

/// A loaded map.
#[derive(Debug)]
pub struct Bsp29 {
    checksums: MapChecksums,
    entity_text: Box<[u8]>,
    /// Nodes of hull 0, with the contents of their leafs.
    point_nodes: Box<[HullNode]>,
    /// Nodes of hulls 1 and 2.
    clip_nodes: Box<[HullNode]>,
    leaf_nodes: Box<[LeafNode]>,
    leafs: Box<[Leaf]>,
    models: Box<[Model]>,
    visibility: Visibility,
    warnings: Vec<String>,
}

/// The world or a brush entity of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Lower corner in the file.
    pub mins: Vec3,
    /// Upper corner in the file.
    pub maxs: Vec3,
    heads: [HullChild; 3],
}

/// Size of the boxes that are points in a hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HullSize {
    /// A point.
    Point,
    /// A player.
    Player,
    /// A large monster.
    Large,
}

impl HullSize {
    /// Returns the hull that is nearest to a box of a width along x, in units.
    #[must_use]
    pub fn for_width(width: f32) -> Self {
        match width {
            width if width < 3.0 => Self::Point,
            width if width <= 32.0 => Self::Player,
            _ => Self::Large,
        }
    }
}

impl Bsp29 {
    /// Reads a map file.
    ///
    /// # Errors
    ///
    /// Names the lump, the record and the value that the game cannot use.
    pub fn load(file: &[u8]) -> Result<Self, Bsp29Error> {
        load::load(file)
    }

    /// Returns the checksums that clients and servers compare.
    #[must_use]
    pub const fn checksums(&self) -> MapChecksums {
        self.checksums
    }

    /// Returns the entity string, without its terminator.
    #[must_use]
    pub const fn entity_text(&self) -> &[u8] {
        &self.entity_text
    }

    /// Parses the entity string.
    ///
    /// # Errors
    ///
    /// Those of the parser.
    pub fn entities(&self) -> Result<MapEntities, EntityStringError> {
        MapEntities::parse(&self.entity_text)
    }

    /// Returns the models; model 0 is the world.
    #[must_use]
    pub const fn models(&self) -> &[Model] {
        &self.models
    }

    /// Returns the hull of a model. An unknown model has the hull of the world.
    #[must_use]
    pub fn hull(&self, model: usize, size: HullSize) -> Hull<'_> {
        let model = self.models.get(model).unwrap_or(&self.models[0]);
        let nodes = if size == HullSize::Point { &self.point_nodes } else { &self.clip_nodes };
        let (mins, maxs) = HULL_BOXES[size as usize];
        Hull { nodes, head: model.heads[size as usize], mins, maxs }
    }

    /// Traces a box of any size through a model at an offset. The hull is that of the nearest size, shifted so
    /// that the lower corners agree.
    #[must_use]
    pub fn trace_box(
        &self,
        model: usize,
        offset: Vec3,
        (mins, maxs): (Vec3, Vec3),
        (start, end): (Vec3, Vec3),
    ) -> HullTrace {
        let hull = self.hull(model, HullSize::for_width(maxs[0] - mins[0]));
        let shift = hull.mins - mins + offset;
        let mut trace = hull.trace(start - shift, end - shift);
        trace.end += shift;
        trace
    }

    /// Returns the contents of the world at a point.
    #[must_use]
    pub fn contents_at(&self, point: Vec3) -> Contents {
        self.hull(0, HullSize::Point).contents_at(point)
    }

    /// Returns PVS and PHS.
    #[must_use]
    pub const fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    /// Returns the problems of lumps that the game does not need.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

//! BSP map file: planes, tree, brushes, patches, models, visibility and entity string.
//!
//! Invariants, established by [`Bsp::load`] for any bytes:
//! - every index and range is inside its table;
//! - every float is finite, and every normal has length 1;
//! - a walk down the tree from [`Bsp::ROOT`] reaches no node and no leaf twice and ends within
//!   [`MAX_TREE_DEPTH`] steps;
//! - a patch is a grid with odd sides;
//! - no brush, side, leaf entry or patch vertex is referenced twice, so the cost of a query and the
//!   memory of derived data grow linearly with the file.
//!
//! Source: IBSP, version 46, the format of Quake III Arena's maps.

mod error;
mod file;
mod load;
pub mod mesh;
mod table;
mod tree;

pub use error::{BspError, Lump, LumpFault, RecordFault};
pub use file::MAX_FILE_LEN;
pub use table::{
    AreaNum, BrushNum, BrushSideNum, ClusterNum, LeafBrushNum, LeafNum, LeafSurfaceNum, ModelNum,
    NodeNum, PlaneNum, ShaderNum, Span, SurfaceNum, Table, TableIndex, VertexNum,
};
pub use tree::Sides;

use std::sync::Arc;

use crate::model::Vec3;

use super::pvs::Pvs;

/// Deepest accepted tree, in nodes from the root. Trees of real maps are less than 100 deep.
pub const MAX_TREE_DEPTH: usize = 512;
/// Maximum number of models: the engine's 256 handles less two for temporary boxes.
pub const MAX_MODELS: usize = 254;
/// Maximum number of brushes of a leaf or of a brush model. A trace tests all of them; known compilers accept half as many for a
/// whole map.
pub const MAX_BRUSHES_TOGETHER: usize = 2 * 32_768;
/// Maximum number of surfaces of a leaf or of a brush model. Known compilers accept as many for a whole map.
pub const MAX_SURFACES_TOGETHER: usize = 131_072;
/// Maximum number of areas in a snapshot.
pub const MAX_AREAS: usize = 256;
/// Maximum number of control points of a patch.
pub const MAX_PATCH_POINTS: usize = 1024;
/// Maximum number of control points in a row or a column of a patch.
pub const MAX_PATCH_SIDE: u16 = 129;

/// A map.
#[derive(Clone, Debug, PartialEq)]
pub struct Bsp {
    /// Block checksum of the whole file, as in `sv_mapChecksum`.
    pub checksum: i32,
    /// Entity string, as in the file.
    pub entity_text: Box<[u8]>,
    /// Shaders of surfaces and brushes.
    pub shaders: Table<ShaderNum, Shader>,
    /// Planes.
    pub planes: Table<PlaneNum, Plane>,
    /// Inner nodes of the tree; the root is [`Bsp::ROOT`].
    pub nodes: Arc<Table<NodeNum, Node>>,
    /// Leafs: the convex cells of the tree.
    pub leafs: Table<LeafNum, Leaf>,
    /// Surfaces by leaf.
    pub leaf_surfaces: Table<LeafSurfaceNum, SurfaceNum>,
    /// Brushes by leaf.
    pub leaf_brushes: Table<LeafBrushNum, BrushNum>,
    /// World model, then the brush models.
    pub models: Table<ModelNum, Model>,
    /// Brushes.
    pub brushes: Table<BrushNum, Brush>,
    /// Sides of the brushes, those of one brush together and in trace order.
    pub brush_sides: Table<BrushSideNum, BrushSide>,
    /// Positions of vertices, control points of patches included.
    pub vertices: Table<VertexNum, Vec3>,
    /// Surfaces. A server uses the patches only.
    pub surfaces: Table<SurfaceNum, Surface>,
    /// Potentially visible set.
    pub visibility: Pvs,
    /// Number of areas: the highest area number of the leafs, plus one.
    pub area_count: usize,
    /// Harmless problems of the file, one sentence each, for the log.
    pub warnings: Vec<String>,
}

/// A shader: surface flags and contents of surfaces and brushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Name without extension.
    pub name: Box<str>,
    /// Surface flags, bits of [`surface`](crate::model::contents::surface).
    pub surface_flags: i32,
    /// Contents, bits of [`content`](crate::model::contents::content).
    pub contents: i32,
}

/// A plane: points p with normal·p = dist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Normal: direction of the front side, of length 1.
    pub normal: Vec3,
    /// Distance from the origin along the normal.
    pub dist: f32,
    /// Orientation: axial or not.
    pub kind: PlaneKind,
    /// Bit k is set when component k of the normal is negative. It selects the box corner that is
    /// tested.
    pub signbits: u8,
}

/// Orientation of a plane. Only normals in a positive axis direction count as axial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PlaneKind {
    /// The normal is exactly +x.
    X,
    /// The normal is exactly +y.
    Y,
    /// The normal is exactly +z.
    Z,
    /// Any other normal.
    Slanted,
}

impl PlaneKind {
    /// Returns the axis of an axial plane, 0 to 2.
    #[must_use]
    pub const fn axis(self) -> Option<usize> {
        match self {
            Self::X => Some(0),
            Self::Y => Some(1),
            Self::Z => Some(2),
            Self::Slanted => None,
        }
    }
}

/// An inner node of the tree, with its plane: one cache line holds two.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct Node {
    /// Plane that splits space.
    pub plane: Plane,
    /// Children in front of the plane and behind it.
    pub children: [Child; 2],
}

/// A child of a node: a node, or the complement of a leaf, as in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child(i32);

/// Target of a [`Child`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// A further node.
    Node(NodeNum),
    /// A leaf.
    Leaf(LeafNum),
}

impl Child {
    /// Returns the node or the leaf.
    #[inline]
    #[must_use]
    pub fn branch(self) -> Branch {
        if self.0 >= 0 {
            Branch::Node(NodeNum::from_checked(self.0 as usize))
        } else {
            Branch::Leaf(LeafNum::from_checked(!self.0 as usize))
        }
    }
}

/// A leaf: a convex cell of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    /// Cluster; none in solid and outside the map.
    pub cluster: Option<ClusterNum>,
    /// Area; none in solid and outside the map.
    pub area: Option<AreaNum>,
    /// Surfaces that intersect the leaf.
    pub surfaces: Span<LeafSurfaceNum>,
    /// Brushes that intersect the leaf.
    pub brushes: Span<LeafBrushNum>,
}

/// The world model or a brush model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Lower corner of its box, one unit below the file's value, as in the engine.
    pub mins: Vec3,
    /// Upper corner of its box, one unit above the file's value.
    pub maxs: Vec3,
    /// Surfaces of the model.
    pub surfaces: Span<SurfaceNum>,
    /// Brushes of the model. Those of the world are in the leafs as well.
    pub brushes: Span<BrushNum>,
}

/// A brush: the convex volume behind all its sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brush {
    /// Sides, none or at least six; the first six face −x, +x, −y, +y, −z, +z.
    pub sides: Span<BrushSideNum>,
    /// Shader of the volume.
    pub shader: ShaderNum,
    /// Contents of that shader.
    pub contents: i32,
    /// Lower corner of the box of the first six sides; zero without sides.
    pub mins: Vec3,
    /// Upper corner of its box.
    pub maxs: Vec3,
}

/// One side of a brush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrushSide {
    /// Plane, facing outward.
    pub plane: PlaneNum,
    /// Shader of the side.
    pub shader: ShaderNum,
    /// Surface flags of that shader.
    pub surface_flags: i32,
}

/// A surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Control points of a patch; none for other surfaces.
    pub patch: Option<PatchGrid>,
}

/// Control points of a patch, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchGrid {
    /// Points in a row: odd, 3 to 129.
    pub width: u16,
    /// Rows: odd, 3 to 129.
    pub height: u16,
    /// Points: index j·width + i is column i of row j.
    pub points: Span<VertexNum>,
    /// Shader of the patch.
    pub shader: ShaderNum,
    /// Contents of that shader.
    pub contents: i32,
    /// Surface flags of that shader.
    pub surface_flags: i32,
}

impl Bsp {
    /// Root of the tree.
    pub const ROOT: Child = Child(0);

    /// Loads a map file.
    ///
    /// # Errors
    ///
    /// Reports the first violation of the module's invariants, with lump and record.
    pub fn load(file: &[u8]) -> Result<Self, BspError> {
        load::load(file)
    }

    /// Returns the world model.
    #[must_use]
    pub fn world(&self) -> &Model {
        &self.models[ModelNum::WORLD]
    }

    /// Returns the brush model of an entity's `*N`, N from 1.
    #[must_use]
    pub fn inline_model(&self, name: &str) -> Option<ModelNum> {
        let number: usize = name.strip_prefix('*')?.parse().ok()?;
        if number == 0 { None } else { self.models.number(number) }
    }

    /// Iterates over the patches of the map with their surface numbers, ascending.
    pub fn patches(&self) -> impl Iterator<Item = (SurfaceNum, &PatchGrid)> {
        let surfaces = self.surfaces.numbered();
        surfaces.filter_map(|(number, surface)| Some((number, surface.patch.as_ref()?)))
    }

    /// Returns the memory of the tables, in bytes.
    #[must_use]
    pub fn memory_len(&self) -> usize {
        size_of::<Self>()
            + self.entity_text.len()
            + self.shaders.iter().map(|shader| shader.name.len()).sum::<usize>()
            + size_of_val(&*self.shaders)
            + size_of_val(&*self.planes)
            + size_of_val(&**self.nodes)
            + size_of_val(&*self.leafs)
            + size_of_val(&*self.leaf_surfaces)
            + size_of_val(&*self.leaf_brushes)
            + size_of_val(&*self.models)
            + size_of_val(&*self.brushes)
            + size_of_val(&*self.brush_sides)
            + size_of_val(&*self.vertices)
            + size_of_val(&*self.surfaces)
            + self.visibility.memory_len()
    }
}

impl Plane {
    /// Creates a plane and computes its kind and sign bits.
    #[must_use]
    pub fn new(normal: Vec3, dist: f32) -> Self {
        let kind = match normal.0 {
            [1.0, ..] => PlaneKind::X,
            [_, 1.0, _] => PlaneKind::Y,
            [.., 1.0] => PlaneKind::Z,
            _ => PlaneKind::Slanted,
        };
        let sign = |axis| u8::from(normal[axis] < 0.0) << axis;
        Self { normal, dist, kind, signbits: sign(0) | sign(1) | sign(2) }
    }
}

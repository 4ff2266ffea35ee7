//! BSP map file: planes, tree, brushes, patches, models, visibility and entity string.
//!
//! Invariants, made by [`Bsp::load`] for any bytes: every index and range lies in its table, every float is
//! finite, and every normal has length 1. A walk down the tree from [`Bsp::ROOT`] meets no node and no leaf
//! twice and ends within [`MAX_TREE_DEPTH`] steps. A patch is a grid with odd sides. No brush, side, leaf
//! entry or patch vertex is referenced twice, so the cost of a query and the memory of derived data grow
//! linearly with the file.
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

use crate::model::Vec3;

use super::pvs::Pvs;

/// Deepest tree taken, in nodes from the root. (Those of real maps are less than 100 deep.)
pub const MAX_TREE_DEPTH: usize = 512;
/// Most models that run-time handles can name: two more handles are temporary boxes.
pub const MAX_MODELS: usize = 254;
/// Most areas that a snapshot can tell of.
pub const MAX_AREAS: usize = 256;
/// Most control points of a patch.
pub const MAX_PATCH_POINTS: usize = 1024;
/// Most control points in a row or a column of a patch.
pub const MAX_PATCH_SIDE: u16 = 129;

/// A map.
#[derive(Clone, Debug, PartialEq)]
pub struct Bsp {
    /// Block checksum of the whole file, as `sv_mapChecksum` shows it.
    pub checksum: i32,
    /// The text that describes entities, as in the file.
    pub entity_text: Box<[u8]>,
    /// What surfaces and brushes are made of.
    pub shaders: Table<ShaderNum, Shader>,
    /// Planes.
    pub planes: Table<PlaneNum, Plane>,
    /// The tree; its root is [`Bsp::ROOT`].
    pub nodes: Table<NodeNum, Node>,
    /// The convex pieces that the tree cuts space into.
    pub leafs: Table<LeafNum, Leaf>,
    /// Surfaces by leaf.
    pub leaf_surfaces: Table<LeafSurfaceNum, SurfaceNum>,
    /// Brushes by leaf.
    pub leaf_brushes: Table<LeafBrushNum, BrushNum>,
    /// The world, then the brush entities.
    pub models: Table<ModelNum, Model>,
    /// Convex volumes.
    pub brushes: Table<BrushNum, Brush>,
    /// Their sides, those of one brush together and in the order that traces look at them.
    pub brush_sides: Table<BrushSideNum, BrushSide>,
    /// Positions of vertices; a patch's control points are among them.
    pub vertices: Table<VertexNum, Vec3>,
    /// Surfaces. Only patches mean something to a server.
    pub surfaces: Table<SurfaceNum, Surface>,
    /// What may see what.
    pub visibility: Pvs,
    /// Areas of the map: the highest number of a leaf's, plus one.
    pub area_count: usize,
    /// What is wrong with the file but harmless; one sentence each, for the log.
    pub warnings: Vec<String>,
}

/// What a surface or a brush is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Its name, without extension.
    pub name: Box<str>,
    /// Bits of [`surface`](crate::model::contents::surface).
    pub surface_flags: i32,
    /// Bits of [`content`](crate::model::contents::content).
    pub contents: i32,
}

/// A plane: points p with normal·p = dist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Direction of its front, of length 1.
    pub normal: Vec3,
    /// Distance from the coordinates' origin along the normal.
    pub dist: f32,
    /// Whether it lies square to an axis.
    pub kind: PlaneKind,
    /// Bit k is set when component k of the normal is negative: which corner of a box comes first.
    pub signbits: u8,
}

/// How a plane lies. Only normals that look *up* an axis count as axial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PlaneKind {
    /// The normal is exactly +x.
    X,
    /// The normal is exactly +y.
    Y,
    /// The normal is exactly +z.
    Z,
    /// Any other.
    Slanted,
}

impl PlaneKind {
    /// The axis of an axial plane, 0 to 2.
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

/// An inner node of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// What it divides space by.
    pub plane: PlaneNum,
    /// In front of the plane, behind it.
    pub children: [Child; 2],
}

/// What hangs below a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// A further division.
    Node(NodeNum),
    /// An end.
    Leaf(LeafNum),
}

/// A convex piece of space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    /// What it sees; none in solid rock and outside.
    pub cluster: Option<ClusterNum>,
    /// Which part of the map it belongs to.
    pub area: Option<AreaNum>,
    /// Box around what is drawn of it, in whole units; good for pictures only.
    pub mins: [i32; 3],
    /// Upper corner of that box.
    pub maxs: [i32; 3],
    /// Surfaces that reach into it.
    pub surfaces: Span<LeafSurfaceNum>,
    /// Brushes that reach into it.
    pub brushes: Span<LeafBrushNum>,
}

/// The world or a brush entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Lower corner of its box, one unit below what the file says, as the engine grows it.
    pub mins: Vec3,
    /// Upper corner of its box, one unit above what the file says.
    pub maxs: Vec3,
    /// Its surfaces.
    pub surfaces: Span<SurfaceNum>,
    /// Its brushes. Those of the world are in the leafs as well.
    pub brushes: Span<BrushNum>,
}

/// A convex volume: what is behind all its sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brush {
    /// Its sides, none or at least six; the first six face −x, +x, −y, +y, −z, +z.
    pub sides: Span<BrushSideNum>,
    /// What it is made of.
    pub shader: ShaderNum,
    /// That shader's contents.
    pub contents: i32,
    /// Lower corner of its box, from the first six sides; zero without sides.
    pub mins: Vec3,
    /// Upper corner of its box.
    pub maxs: Vec3,
}

/// One side of a brush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrushSide {
    /// The plane, facing outward.
    pub plane: PlaneNum,
    /// What the side is made of.
    pub shader: ShaderNum,
    /// That shader's surface flags.
    pub surface_flags: i32,
}

/// Something drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// The grid of a curved patch; none for anything else.
    pub patch: Option<PatchGrid>,
}

/// Control points of a curved patch, row after row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchGrid {
    /// Points in a row: odd, 3 to 129.
    pub width: u16,
    /// Rows: odd, 3 to 129.
    pub height: u16,
    /// Its points: that of column i, row j is number j·width + i.
    pub points: Span<VertexNum>,
    /// What it is made of.
    pub shader: ShaderNum,
    /// That shader's contents.
    pub contents: i32,
    /// That shader's surface flags.
    pub surface_flags: i32,
}

impl Bsp {
    /// Where every walk down the tree begins.
    pub const ROOT: Child = Child::Node(NodeNum::ROOT);

    /// Reads a map file.
    ///
    /// # Errors
    ///
    /// Whatever of the above the file does not keep, with lump and record.
    pub fn load(file: &[u8]) -> Result<Self, BspError> {
        load::load(file)
    }

    /// The world's own model.
    #[must_use]
    pub fn world(&self) -> &Model {
        &self.models[ModelNum::WORLD]
    }

    /// The model that an entity's `*N` names, N from 1 on.
    #[must_use]
    pub fn inline_model(&self, name: &str) -> Option<ModelNum> {
        let number: usize = name.strip_prefix('*')?.parse().ok()?;
        if number == 0 { None } else { self.models.number(number) }
    }

    /// Every patch of the map with the number of its surface, ascending.
    pub fn patches(&self) -> impl Iterator<Item = (SurfaceNum, &PatchGrid)> {
        let surfaces = self.surfaces.numbered();
        surfaces.filter_map(|(number, surface)| Some((number, surface.patch.as_ref()?)))
    }

    /// Memory of the tables, in bytes.
    #[must_use]
    pub fn memory_len(&self) -> usize {
        size_of::<Self>()
            + self.entity_text.len()
            + self.shaders.iter().map(|shader| shader.name.len()).sum::<usize>()
            + size_of_val(&*self.shaders)
            + size_of_val(&*self.planes)
            + size_of_val(&*self.nodes)
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
    /// The plane with its kind and signs worked out.
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

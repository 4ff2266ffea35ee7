//! Errors of QuakeWorld map files: lump, record, field and value. Problems of lumps and records are those of all maps.

use std::fmt;

use thiserror::Error;

use crate::model::text::counted;
pub use crate::world::bsp::{LumpFault, RecordFault};

/// One of the 15 parts of a map file, in the order of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Lump {
    /// Entity string.
    Entities,
    /// Planes.
    Planes,
    /// Textures.
    Textures,
    /// Vertices.
    Vertices,
    /// Compressed PVS rows.
    Visibility,
    /// Nodes of the tree.
    Nodes,
    /// Projections of textures.
    TextureInfos,
    /// Faces.
    Faces,
    /// Light maps.
    Lighting,
    /// Nodes of the hulls of players and larger boxes.
    ClipNodes,
    /// Leafs of the tree.
    Leafs,
    /// Faces by leaf.
    MarkSurfaces,
    /// Edges.
    Edges,
    /// Edges by face.
    SurfaceEdges,
    /// The world and the brush entities.
    Models,
}

impl Lump {
    /// All lumps, in the order of the header.
    pub const ALL: [Self; 15] = [
        Self::Entities,
        Self::Planes,
        Self::Textures,
        Self::Vertices,
        Self::Visibility,
        Self::Nodes,
        Self::TextureInfos,
        Self::Faces,
        Self::Lighting,
        Self::ClipNodes,
        Self::Leafs,
        Self::MarkSurfaces,
        Self::Edges,
        Self::SurfaceEdges,
        Self::Models,
    ];

    /// Bytes of one record; 1 for lumps without records.
    #[must_use]
    pub const fn record_len(self) -> usize {
        match self {
            Self::Entities | Self::Textures | Self::Visibility | Self::Lighting => 1,
            Self::Planes | Self::Faces => 20,
            Self::Vertices => 12,
            Self::Nodes => 24,
            Self::TextureInfos => 40,
            Self::ClipNodes => 8,
            Self::Leafs => 28,
            Self::MarkSurfaces => 2,
            Self::Edges | Self::SurfaceEdges => 4,
            Self::Models => 64,
        }
    }
}

impl fmt::Display for Lump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entities => "entities",
            Self::Planes => "planes",
            Self::Textures => "textures",
            Self::Vertices => "vertices",
            Self::Visibility => "visibility",
            Self::Nodes => "nodes",
            Self::TextureInfos => "texture infos",
            Self::Faces => "faces",
            Self::Lighting => "lighting",
            Self::ClipNodes => "clip nodes",
            Self::Leafs => "leafs",
            Self::MarkSurfaces => "mark surfaces",
            Self::Edges => "edges",
            Self::SurfaceEdges => "surface edges",
            Self::Models => "models",
        })
    }
}

/// Reasons to reject a map file.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Bsp29Error {
    /// Shorter than a header.
    #[error("too short for a map: {} (the header alone is 124)", counted(*.len, "byte"))]
    TooShort {
        /// Length of the file, in bytes.
        len: usize,
    },
    /// Longer than the limit.
    #[error("too long for a map: {len} bytes (max {max})")]
    TooLong {
        /// Length of the file, in bytes.
        len: usize,
        /// Limit, in bytes.
        max: usize,
    },
    /// A map of another engine.
    #[error("unsupported map version: {version} (expected 29)")]
    Version {
        /// Version in the header.
        version: i32,
    },
    /// Invalid lump.
    #[error("{lump}: {fault}")]
    Lump {
        /// Lump.
        lump: Lump,
        /// Problem of the lump.
        fault: LumpFault,
    },
    /// Invalid record of a lump.
    #[error("{lump}, record {record}: {fault}")]
    Record {
        /// Lump.
        lump: Lump,
        /// Index of the record in the lump, from 0.
        record: usize,
        /// Problem of the record.
        fault: RecordFault,
    },
    /// Invalid tree below a record.
    #[error("{lump}, record {record}: {fault}")]
    Tree {
        /// Lump.
        lump: Lump,
        /// Index of the record in the lump, from 0.
        record: usize,
        /// Problem of the tree.
        fault: TreeFault,
    },
}

/// Problems of a tree. Other problems of records are those of [`RecordFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TreeFault {
    /// Tree node that is below itself.
    #[error("tree reaches this record from below itself")]
    Cycle,
    /// Tree deeper than queries can walk.
    #[error("tree is too deep from here (max {max})")]
    TooDeep {
        /// Limit, in nodes from the root.
        max: usize,
    },
    /// Tree with more paths than queries can walk.
    #[error("tree has too many paths from here (max {max} nodes)")]
    TooLarge {
        /// Limit, in visits of nodes.
        max: u32,
    },
}

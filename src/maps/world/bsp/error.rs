//! Errors of map files: lump, record, field and value.

use std::fmt;

use thiserror::Error;

use crate::model::text::counted;

/// One of the 17 parts of a map file, in the order of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Lump {
    /// Entity string.
    Entities,
    /// Shaders.
    Shaders,
    /// Planes.
    Planes,
    /// Nodes of the tree.
    Nodes,
    /// Leafs of the tree.
    Leafs,
    /// Surfaces by leaf.
    LeafSurfaces,
    /// Brushes by leaf.
    LeafBrushes,
    /// The world and the brush entities.
    Models,
    /// Brushes.
    Brushes,
    /// Sides of brushes.
    BrushSides,
    /// Vertices.
    Vertices,
    /// Corners of triangles.
    Indexes,
    /// Fogs.
    Fogs,
    /// Surfaces.
    Surfaces,
    /// Light maps.
    LightMaps,
    /// Light grid.
    LightGrid,
    /// PVS rows.
    Visibility,
}

impl Lump {
    /// All lumps, in the order of the header.
    pub const ALL: [Self; 17] = [
        Self::Entities,
        Self::Shaders,
        Self::Planes,
        Self::Nodes,
        Self::Leafs,
        Self::LeafSurfaces,
        Self::LeafBrushes,
        Self::Models,
        Self::Brushes,
        Self::BrushSides,
        Self::Vertices,
        Self::Indexes,
        Self::Fogs,
        Self::Surfaces,
        Self::LightMaps,
        Self::LightGrid,
        Self::Visibility,
    ];

    /// Bytes of one record; 1 for lumps without records.
    #[must_use]
    pub const fn record_len(self) -> usize {
        match self {
            Self::Entities | Self::Visibility => 1,
            Self::Shaders | Self::Fogs => 72,
            Self::Planes => 16,
            Self::Nodes => 36,
            Self::Leafs => 48,
            Self::LeafSurfaces | Self::LeafBrushes | Self::Indexes => 4,
            Self::Models => 40,
            Self::Brushes => 12,
            Self::BrushSides | Self::LightGrid => 8,
            Self::Vertices => 44,
            Self::Surfaces => 104,
            Self::LightMaps => 128 * 128 * 3,
        }
    }
}

impl fmt::Display for Lump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entities => "entities",
            Self::Shaders => "shaders",
            Self::Planes => "planes",
            Self::Nodes => "nodes",
            Self::Leafs => "leafs",
            Self::LeafSurfaces => "leaf surfaces",
            Self::LeafBrushes => "leaf brushes",
            Self::Models => "models",
            Self::Brushes => "brushes",
            Self::BrushSides => "brush sides",
            Self::Vertices => "vertices",
            Self::Indexes => "indexes",
            Self::Fogs => "fogs",
            Self::Surfaces => "surfaces",
            Self::LightMaps => "light maps",
            Self::LightGrid => "light grid",
            Self::Visibility => "visibility",
        })
    }
}

/// Reasons to reject a map file.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BspError {
    /// Shorter than a header.
    #[error("too short for a map: {} (the header alone is 144)", counted(*.len, "byte"))]
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
    /// Not an IBSP file.
    #[error("begins with \"{}\" instead of \"IBSP\": not a Quake III map", magic.escape_ascii())]
    Magic {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// A map of another engine.
    #[error("unsupported map version: {version} (expected 46)")]
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
}

/// Problems of a whole lump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LumpFault {
    /// Exceeds the file.
    #[error("{len} bytes at offset {offset} exceed the file of {file_len} bytes")]
    Outside {
        /// Offset in the header, in bytes.
        offset: i32,
        /// Length in the header, in bytes.
        len: i32,
        /// Length of the file, in bytes.
        file_len: usize,
    },
    /// Truncated last record.
    #[error("{len} bytes are not a multiple of the record length {record_len}")]
    NotWhole {
        /// Length of the lump, in bytes.
        len: usize,
        /// Length of a record, in bytes.
        record_len: usize,
    },
    /// No records in a lump that every map needs.
    #[error("is empty")]
    Empty,
    /// More records than supported.
    #[error("too many records: {count} (max {max})")]
    TooMany {
        /// Records in the lump.
        count: usize,
        /// Limit.
        max: usize,
    },
}

/// Problems of a record.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum RecordFault {
    /// Reference to a missing record.
    #[error("{field} {value} not found (table has {count})")]
    Index {
        /// Name of the reference.
        field: &'static str,
        /// Its value.
        value: i32,
        /// Records in the referenced table.
        count: usize,
    },
    /// Range that exceeds its table.
    #[error(
        "range of {field} exceeds its table: first {first}, count {count} (table has {available})"
    )]
    Range {
        /// Name of the range.
        field: &'static str,
        /// First record.
        first: i32,
        /// Records in the range.
        count: i32,
        /// Records in the referenced table.
        available: usize,
    },
    /// Ranges of several records that overlap: their sum exceeds the table.
    #[error("ranges of {field} overlap: their sum exceeds the table of {available}")]
    Shared {
        /// Name of the ranges.
        field: &'static str,
        /// Records in the referenced table.
        available: usize,
    },
    /// Infinity or NaN.
    #[error("{field} is not a finite number")]
    NotFinite {
        /// Name of the number.
        field: &'static str,
    },
    /// Normal vector whose length is not 1.
    #[error("normal has length {length} (expected 1)")]
    Normal {
        /// Length of the vector.
        length: f32,
    },
    /// Number outside its range.
    #[error("{field} out of range: {value} (expected {min} to {max})")]
    Value {
        /// Name of the number.
        field: &'static str,
        /// Its value.
        value: i32,
        /// Minimum.
        min: i32,
        /// Maximum.
        max: i32,
    },
    /// Brush that is open on some axis.
    #[error("brush has {sides} sides (expected 0 or at least 6)")]
    FewSides {
        /// Sides of the brush.
        sides: usize,
    },
    /// More references of one record than supported.
    #[error("too many {field}: {count} (max {max})")]
    TooMany {
        /// Name of the range.
        field: &'static str,
        /// Records in the range.
        count: usize,
        /// Limit.
        max: usize,
    },
    /// Patch with an invalid grid size.
    #[error(
        "invalid patch size: {width} by {height} points (expected odd sides, 3 to 129, at most 1024 points)"
    )]
    PatchSize {
        /// Control points in a row.
        width: i32,
        /// Rows.
        height: i32,
    },
    /// Tree node or leaf with more than one parent.
    #[error("tree reaches this record twice")]
    Revisited,
    /// Tree deeper than queries can walk.
    #[error("tree is too deep here (max {max})")]
    TooDeep {
        /// Limit, in nodes from the root.
        max: usize,
    },
}

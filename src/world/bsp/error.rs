//! Errors of map files: lump, record, field and value.

use std::fmt;

use thiserror::Error;

/// One of the 17 parts of a map file, in the order of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Lump {
    /// Entity text.
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
    /// Triangles' corners.
    Indexes,
    /// Fogs.
    Fogs,
    /// Surfaces.
    Surfaces,
    /// Light maps.
    LightMaps,
    /// Light grid.
    LightGrid,
    /// What sees what.
    Visibility,
}

impl Lump {
    /// All of them, in the order of the header.
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

    /// Bytes of one record; 1 for text and for what has no records.
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

/// Why a map file is refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BspError {
    /// Shorter than a header.
    #[error("{len} bytes are no map: the header alone takes 144")]
    TooShort {
        /// Bytes there.
        len: usize,
    },
    /// Longer than any map may be.
    #[error("{len} bytes are more than the {max} that a map may have")]
    TooLong {
        /// Bytes there.
        len: usize,
        /// Most bytes taken.
        max: usize,
    },
    /// Not a map of this family.
    #[error("begins with \"{}\" instead of \"IBSP\": not a Quake III map", magic.escape_ascii())]
    Magic {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// A map of another game of the family.
    #[error("is a map of version {version}; version 46 is wanted")]
    Version {
        /// What the header says.
        version: i32,
    },
    /// A lump as a whole is wrong.
    #[error("{lump}: {fault}")]
    Lump {
        /// Which.
        lump: Lump,
        /// What about it.
        fault: LumpFault,
    },
    /// A record of a lump is wrong.
    #[error("{lump}, record {record}: {fault}")]
    Record {
        /// Which lump.
        lump: Lump,
        /// Which record of it, from 0.
        record: usize,
        /// What about it.
        fault: RecordFault,
    },
}

/// What is wrong with a lump as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LumpFault {
    /// Reaches beyond the file.
    #[error("lies at {offset} with {len} bytes, but the file has {file_len}")]
    Outside {
        /// Where it begins, as the header says.
        offset: i32,
        /// How long it is, as the header says.
        len: i32,
        /// Bytes of the file.
        file_len: usize,
    },
    /// Its last record is cut.
    #[error("{len} bytes are no whole number of records of {record_len}")]
    NotWhole {
        /// Bytes of the lump.
        len: usize,
        /// Bytes of a record.
        record_len: usize,
    },
    /// Every map has at least one record here.
    #[error("is empty")]
    Empty,
    /// More than can be used.
    #[error("has {count} records, more than {max}")]
    TooMany {
        /// Records there.
        count: usize,
        /// Records taken.
        max: usize,
    },
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum RecordFault {
    /// Points at a record that is not there.
    #[error("{field} {value} does not exist, there are {count}")]
    Index {
        /// Which number.
        field: &'static str,
        /// What it is.
        value: i32,
        /// How many there are.
        count: usize,
    },
    /// Claims records that are not there.
    #[error("{count} {field} from {first} on do not exist, there are {available}")]
    Range {
        /// Which range.
        field: &'static str,
        /// First record.
        first: i32,
        /// Claimed records.
        count: i32,
        /// How many there are.
        available: usize,
    },
    /// Together with the records before it, claims more than there are: some are claimed twice.
    #[error("{field} are claimed more often than they exist, {available}")]
    Shared {
        /// Which range.
        field: &'static str,
        /// How many there are.
        available: usize,
    },
    /// An infinity or no number.
    #[error("{field} is no finite number")]
    NotFinite {
        /// Which number.
        field: &'static str,
    },
    /// A direction without length 1.
    #[error("the normal has length {length}, not 1")]
    Normal {
        /// Its length.
        length: f32,
    },
    /// A number outside its range.
    #[error("{field} {value} is not between {min} and {max}")]
    Value {
        /// Which number.
        field: &'static str,
        /// What it is.
        value: i32,
        /// Least.
        min: i32,
        /// Most.
        max: i32,
    },
    /// A brush that is open on some axis.
    #[error("{sides} sides bound no volume; a brush has none or at least 6")]
    FewSides {
        /// Its sides.
        sides: usize,
    },
    /// A curved patch whose grid is no grid of patches.
    #[error(
        "a patch of {width} by {height} points; both must be odd, 3 to 129, and make at most 1024"
    )]
    PatchSize {
        /// Points in a row.
        width: i32,
        /// Rows.
        height: i32,
    },
    /// The tree comes to this record a second time.
    #[error("the tree comes here twice")]
    Revisited,
    /// The tree is deeper than queries go.
    #[error("the tree is deeper than {max} here")]
    TooDeep {
        /// Deepest that is allowed.
        max: usize,
    },
}

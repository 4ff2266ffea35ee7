//! `.map` sources: entities, brushes and patches with their lines.
//!
//! Reads the classic format, Valve 220, brush primitives, and patches as `patchDef2`. Other primitives are errors. Layers
//! that the editor omits from export are left out.
//! Invariants: all numbers are finite and within [`MAX_COORDINATE`] where they are positions; counts are within the limits
//! of the reader; entity 0 is `worldspawn`.
//! Source: sources of the base game's editors, NetRadiant and TrenchBroom.

mod layers;
mod primitives;
mod reader;
mod texture_name;

use super::{
    diagnostic::{BuildError, Findings},
    source_form,
    vector::Vector,
};

/// Longest accepted source, in bytes.
pub const MAX_LEN: usize = 32 * 1024 * 1024;
/// Largest coordinate: the edge of the world for engines.
pub const MAX_COORDINATE: f64 = 65536.0;
/// A map source.
#[derive(Clone, Debug, PartialEq)]
pub struct MapFile {
    /// Entities; the first is `worldspawn`.
    pub entities: Vec<Entity>,
    /// Names of the layers that were left out.
    pub omitted_layers: Vec<String>,
}

/// An entity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entity {
    /// Line of the opening brace.
    pub line: u32,
    /// Keys and values, in the order of the source.
    pub pairs: Vec<Pair>,
    /// Brushes.
    pub brushes: Vec<Brush>,
    /// Patches.
    pub patches: Vec<Patch>,
}

/// A key of an entity with its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
    /// Line of the key.
    pub line: u32,
}

/// A brush: the volume behind all its faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Brush {
    /// Line of the opening brace.
    pub line: u32,
    /// Faces.
    pub faces: Vec<Face>,
}

/// A face of a brush.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Line of the face.
    pub line: u32,
    /// Three points of the plane, clockwise as seen from outside.
    pub points: [Vector; 3],
    /// Texture without the prefix `textures/`, in lower case.
    pub texture: String,
    /// Texture coordinates.
    pub mapping: Mapping,
    /// Whether the face makes its brush detail.
    pub detail: bool,
}

/// Texture coordinates of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mapping {
    /// Axes from the normal, rotated.
    Classic {
        /// Shift along s and t.
        shift: [f64; 2],
        /// Rotation, in degrees.
        rotate: f64,
        /// Scale along s and t.
        scale: [f64; 2],
    },
    /// Axes from the source.
    Valve {
        /// Axes of s and t.
        axes: [Vector; 2],
        /// Shift along s and t.
        shift: [f64; 2],
        /// Scale along s and t.
        scale: [f64; 2],
    },
    /// Brush primitive: coordinates in repeats of the image.
    Repeats {
        /// Factors of the two axes of the face and the shift, for s and t.
        matrix: [[f64; 3]; 2],
    },
}

/// A curved patch.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// Line of the opening brace.
    pub line: u32,
    /// Texture without the prefix `textures/`, in lower case.
    pub texture: String,
    /// Number of columns: odd, 3 to 31.
    pub width: usize,
    /// Number of rows: odd, 3 to 31.
    pub height: usize,
    /// Control points, row after row.
    pub points: Vec<PatchPoint>,
}

/// A control point of a patch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PatchPoint {
    /// Position.
    pub position: Vector,
    /// Texture coordinates, in repeats.
    pub texture: [f64; 2],
}

impl Entity {
    /// Returns the value of a key, without regard to case; the last one of several.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        self.pair(key).map(|pair| pair.value.as_str())
    }

    /// Returns a key with its value and line, without regard to case; the last one of several.
    #[must_use]
    pub fn pair(&self, key: &str) -> Option<&Pair> {
        self.pairs.iter().rev().find(|pair| pair.key.eq_ignore_ascii_case(key))
    }

    /// Whether the entity is written. Lights are used up.
    #[must_use]
    pub fn is_written(&self) -> bool {
        let class = self.class().as_bytes();
        !class.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"light"))
    }

    /// Iterates over the pairs that are written. Those whose keys begin with `_` are for editors and compilers.
    pub fn written_pairs(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| !pair.key.starts_with('_'))
    }

    /// Returns the class name, or an empty one.
    #[must_use]
    pub fn class(&self) -> &str {
        self.value("classname").unwrap_or_default()
    }

    /// Returns the value of a key as a number, or a default.
    #[must_use]
    pub fn number(&self, key: &str, default: f64) -> f64 {
        let number = self.value(key).and_then(|value| value.trim().parse().ok());
        number.filter(|number: &f64| number.is_finite()).unwrap_or(default)
    }

    /// Returns the value of a key as three numbers.
    #[must_use]
    pub fn vector(&self, key: &str) -> Option<Vector> {
        let mut parts = self.value(key)?.split_whitespace().map(str::parse::<f64>);
        let mut part = || parts.next()?.ok().filter(|part| part.abs() <= 1e6);
        Some(Vector([part()?, part()?, part()?]))
    }

    /// Sets the value of a key.
    pub fn set(&mut self, key: &str, value: String) {
        self.pairs.retain(|pair| !pair.key.eq_ignore_ascii_case(key));
        self.pairs.push(Pair { key: key.to_owned(), value, line: self.line });
    }
}

/// A source that was read, as far as that was possible.
pub(super) struct MapReading {
    /// Entities, without the parts that have a problem.
    pub map: MapFile,
    /// Whether all was read.
    pub is_whole: bool,
    /// Whether the keys of all entities were read.
    pub has_all_keys: bool,
}

/// Reads a map source. The file name is for error messages.
///
/// # Errors
/// Reports all problems with their lines.
pub fn read(file: &str, text: &[u8]) -> Result<MapFile, BuildError> {
    let mut findings = Findings::new(file);
    let reading = read_parts(text, &mut findings);
    findings.check()?;
    reading.map(|reading| reading.map).ok_or_else(|| findings.fail())
}

/// Reads all of a map source that has no problem, and reports the problems. Returns nothing if nothing was read.
pub(super) fn read_parts(text: &[u8], findings: &mut Findings) -> Option<MapReading> {
    if text.len() > MAX_LEN {
        findings.error(0, format!("source too long: {} bytes (max {MAX_LEN})", text.len()));
        return None;
    }
    if let Some(what) = source_form::problem(text) {
        findings.error(0, what);
        return None;
    }
    let before = findings.error_count();
    let reader::Reading { mut entities, has_all_keys } =
        reader::entities(&String::from_utf8_lossy(text), findings);
    let is_world = |entity: &Entity| entity.class().eq_ignore_ascii_case("worldspawn");
    let expected = "(expected { \"classname\" \"worldspawn\" ... })";
    match entities.first() {
        Some(world) if is_world(world) || !has_all_keys => {}
        Some(first) => {
            findings.error(first.line, format!("first entity is not worldspawn {expected}"));
        }
        None if findings.error_count() == before => {
            findings.error(0, format!("source is empty {expected}"));
        }
        None => {}
    }
    if entities.is_empty() {
        return None;
    }
    let omitted_layers = layers::leave_out(&mut entities);
    let is_whole = findings.error_count() == before;
    Some(MapReading { map: MapFile { entities, omitted_layers }, is_whole, has_all_keys })
}

//! Reader of `.map` sources: entities, brushes and patches with their lines.
//!
//! Reads the classic format and Valve 220, and patches as `patchDef2`. Other primitives are errors that name the
//! editor setting. Invariants: all numbers are finite and within [`MAX_COORDINATE`] where they are positions;
//! counts are within the limits below; entity 0 is `worldspawn`.

use super::{
    diagnostic::Diagnostic,
    tokens::{Token, Tokens},
    vector::Vector,
};
use crate::world::entity_string::{MAX_ENTITIES, MAX_PAIRS, MAX_TOKEN_LEN};

/// Longest accepted source, in bytes.
pub const MAX_LEN: usize = 32 * 1024 * 1024;
/// Largest coordinate: the edge of the world for engines.
pub const MAX_COORDINATE: f64 = 65536.0;
/// Maximum number of brushes, as in engines' compilers.
const MAX_BRUSHES: usize = 32_768;
/// Maximum number of faces of a brush.
const MAX_FACES: usize = 128;
/// Maximum number of patches.
const MAX_PATCHES: usize = 8192;
/// Maximum number of points in a row or a column of a patch.
const MAX_PATCH_SIDE: usize = 31;
/// Longest texture name: 64 bytes with `textures/` and a zero byte.
const MAX_TEXTURE_LEN: usize = 54;
/// Content bit of a face that makes its brush detail.
const DETAIL: i64 = 0x800_0000;

/// A map source.
#[derive(Clone, Debug, PartialEq)]
pub struct MapFile {
    /// Entities; the first is `worldspawn`.
    pub entities: Vec<Entity>,
}

/// An entity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entity {
    /// Line of the opening brace.
    pub line: u32,
    /// Keys and values, in the order of the source.
    pub pairs: Vec<(String, String)>,
    /// Brushes.
    pub brushes: Vec<Brush>,
    /// Patches.
    pub patches: Vec<Patch>,
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

/// Texture coordinates of a face, in pixels.
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
        let mut pairs = self.pairs.iter().rev();
        pairs.find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
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
        self.pairs.retain(|(name, _)| !name.eq_ignore_ascii_case(key));
        self.pairs.push((key.to_owned(), value));
    }
}

/// Reads a map source. The file name is for error messages.
///
/// # Errors
/// Reports the first problem with its line.
pub fn read(file: &str, text: &[u8]) -> Result<MapFile, Diagnostic> {
    if text.len() > MAX_LEN {
        let what = format!("source too long: {} bytes (max {MAX_LEN})", text.len());
        return Err(Diagnostic::new(file, 0, what));
    }
    let text = String::from_utf8_lossy(text);
    let mut reader = Reader { file, tokens: Tokens::new(&text), brushes: 0, patches: 0 };
    let entities = reader.entities()?;
    match entities.first() {
        Some(world) if world.class().eq_ignore_ascii_case("worldspawn") => {}
        first => {
            let line = first.map_or(0, |entity| entity.line);
            let what =
                "first entity is not worldspawn (expected { \"classname\" \"worldspawn\" ... })";
            return Err(Diagnostic::new(file, line, what));
        }
    }
    Ok(MapFile { entities })
}

struct Reader<'a> {
    file: &'a str,
    tokens: Tokens<'a>,
    brushes: usize,
    patches: usize,
}

impl<'a> Reader<'a> {
    fn error<T>(&self, line: u32, message: impl Into<String>) -> Result<T, Diagnostic> {
        Err(Diagnostic::new(self.file, line, message))
    }

    fn next(&mut self, expected: &str) -> Result<Token<'a>, Diagnostic> {
        match self.tokens.next() {
            Some(token) => Ok(token),
            None => {
                self.error(self.tokens.line(), format!("source ends early (expected {expected})"))
            }
        }
    }

    fn peek(&self, expected: &str) -> Result<Token<'a>, Diagnostic> {
        match self.tokens.peek() {
            Some(token) => Ok(token),
            None => {
                self.error(self.tokens.line(), format!("source ends early (expected {expected})"))
            }
        }
    }

    /// Consumes a punctuation token and returns its line.
    fn expect(&mut self, punctuation: &str, place: &str) -> Result<u32, Diagnostic> {
        let expected = format!("'{punctuation}' {place}");
        let token = self.next(&expected)?;
        if token.is(punctuation) {
            return Ok(token.line);
        }
        self.error(token.line, format!("unexpected {} (expected {expected})", token.shown()))
    }

    fn number(&mut self, what: &str) -> Result<f64, Diagnostic> {
        let token = self.next(what)?;
        let number = token.text.parse::<f64>().ok().filter(|number| number.abs() <= 1e9);
        match number {
            Some(number) => Ok(number + 0.0),
            None => self.error(
                token.line,
                format!("unusable {what}: {} (expected a number)", token.shown()),
            ),
        }
    }

    fn coordinate(&mut self) -> Result<f64, Diagnostic> {
        let line = self.tokens.line();
        let number = self.number("coordinate")?;
        if number.abs() <= MAX_COORDINATE {
            return Ok(number);
        }
        self.error(line, format!("coordinate outside the world: {number} (max {MAX_COORDINATE})"))
    }

    fn entities(&mut self) -> Result<Vec<Entity>, Diagnostic> {
        let mut entities = Vec::new();
        while let Some(token) = self.tokens.peek() {
            if entities.len() == MAX_ENTITIES {
                return self.error(token.line, format!("too many entities (max {MAX_ENTITIES})"));
            }
            entities.push(self.entity()?);
        }
        Ok(entities)
    }

    fn entity(&mut self) -> Result<Entity, Diagnostic> {
        let line = self.expect("{", "before an entity")?;
        let mut entity = Entity { line, ..Entity::default() };
        loop {
            let expected = "a \"key\", a brush or '}' of the entity";
            let token = self.next(expected)?;
            if token.is("}") {
                return Ok(entity);
            }
            if token.is("{") {
                self.primitive(token.line, &mut entity)?;
            } else if token.quoted {
                self.pair(token, &mut entity)?;
            } else {
                let what = format!("unexpected {} (expected {expected})", token.shown());
                return self.error(token.line, what);
            }
        }
    }

    fn pair(&mut self, key: Token<'a>, entity: &mut Entity) -> Result<(), Diagnostic> {
        let value = self.next("a \"value\" after a key")?;
        if !value.quoted {
            let what = format!(
                "unexpected {} after key {} (expected a \"value\")",
                value.shown(),
                key.shown()
            );
            return self.error(value.line, what);
        }
        if entity.pairs.len() == MAX_PAIRS {
            return self.error(key.line, format!("too many keys in an entity (max {MAX_PAIRS})"));
        }
        if key.text.len().max(value.text.len()) > MAX_TOKEN_LEN {
            let what = format!("value of {} too long (max {MAX_TOKEN_LEN} bytes)", key.shown());
            return self.error(key.line, what);
        }
        entity.pairs.push((key.text.to_owned(), value.text.to_owned()));
        Ok(())
    }

    fn primitive(&mut self, line: u32, entity: &mut Entity) -> Result<(), Diagnostic> {
        let first = self.peek("a face or patchDef2")?;
        if first.is("(") {
            if self.brushes == MAX_BRUSHES {
                return self.error(line, format!("too many brushes (max {MAX_BRUSHES})"));
            }
            self.brushes += 1;
            entity.brushes.push(self.brush(line)?);
            return Ok(());
        }
        if first.is("patchDef2") {
            if self.patches == MAX_PATCHES {
                return self.error(line, format!("too many patches (max {MAX_PATCHES})"));
            }
            self.patches += 1;
            let _ = self.tokens.next();
            entity.patches.push(self.patch(line)?);
            return Ok(());
        }
        let hint = match first.text {
            "brushDef" => {
                "save in the editor as \"Quake 3 (legacy)\" or \"Quake 3 (Valve)\", not with brush primitives"
            }
            "patchDef3" | "terrainDef" => "use patches of the kind patchDef2",
            "}" => "remove the empty braces",
            _ => "expected '( x y z )' of a face or patchDef2",
        };
        self.error(first.line, format!("unsupported primitive: {} ({hint})", first.shown()))
    }

    fn brush(&mut self, line: u32) -> Result<Brush, Diagnostic> {
        let mut faces = Vec::new();
        loop {
            let token = self.peek("'(' of a face or '}' of the brush")?;
            if token.is("}") {
                let _ = self.tokens.next();
                return Ok(Brush { line, faces });
            }
            if faces.len() == MAX_FACES {
                return self
                    .error(token.line, format!("too many faces in a brush (max {MAX_FACES})"));
            }
            faces.push(self.face()?);
        }
    }

    fn face(&mut self) -> Result<Face, Diagnostic> {
        let mut points = [Vector::ZERO; 3];
        let line = self.tokens.peek().map_or(0, |token| token.line);
        for point in &mut points {
            self.expect("(", "before a point of a face")?;
            *point = Vector([self.coordinate()?, self.coordinate()?, self.coordinate()?]);
            self.expect(")", "behind a point of a face")?;
        }
        let texture = self.texture()?;
        let mapping = if self.peek("texture shift or '['")?.is("[") {
            self.valve_mapping()?
        } else {
            let shift = [self.number("texture shift")?, self.number("texture shift")?];
            let rotate = self.number("texture rotation")?;
            let scale = [self.number("texture scale")?, self.number("texture scale")?];
            Mapping::Classic { shift, rotate, scale }
        };
        // Contents, surface flags and value may be missing. Only the detail bit counts, the rest is the shader's.
        let contents = self.flags_on_line()?;
        let (_, _) = (self.flags_on_line()?, self.flags_on_line()?);
        Ok(Face { line, points, texture, mapping, detail: contents & DETAIL != 0 })
    }

    fn flags_on_line(&mut self) -> Result<i64, Diagnostic> {
        let Some(token) = self.tokens.peek().filter(|token| token.line == self.tokens.line())
        else {
            return Ok(0);
        };
        if token.is("}") || token.is("(") {
            return Ok(0);
        }
        let _ = self.tokens.next();
        match token.text.parse::<i64>() {
            Ok(flags) => Ok(flags),
            Err(_) => {
                let what = format!("unusable flags: {} (expected a whole number)", token.shown());
                self.error(token.line, what)
            }
        }
    }

    fn texture(&mut self) -> Result<String, Diagnostic> {
        let token = self.next("a texture name")?;
        let name = token.text.replace('\\', "/").to_ascii_lowercase();
        let name = name.strip_prefix("textures/").unwrap_or(&name);
        let legal = |c: char| c.is_ascii_graphic() && !"\"(){};:*?<>|".contains(c);
        let is_legal = !name.is_empty()
            && name.chars().all(legal)
            && !name.starts_with('/')
            && !name.split('/').any(|part| part == "..");
        if !is_legal {
            let what = format!("unusable texture name: {} (expected folder/name)", token.shown());
            return self.error(token.line, what);
        }
        if name.len() > MAX_TEXTURE_LEN {
            let what =
                format!("texture name too long: {} (max {MAX_TEXTURE_LEN} bytes)", token.shown());
            return self.error(token.line, what);
        }
        Ok(name.to_owned())
    }

    fn valve_mapping(&mut self) -> Result<Mapping, Diagnostic> {
        let (mut axes, mut shift) = ([Vector::ZERO; 2], [0.0; 2]);
        for (axis, shift) in axes.iter_mut().zip(&mut shift) {
            self.expect("[", "before a texture axis")?;
            let mut part = || self.number("texture axis");
            *axis = Vector([part()?, part()?, part()?]);
            *shift = self.number("texture shift")?;
            self.expect("]", "behind a texture axis")?;
        }
        self.number("texture rotation")?;
        let scale = [self.number("texture scale")?, self.number("texture scale")?];
        Ok(Mapping::Valve { axes, shift, scale })
    }

    fn patch(&mut self, line: u32) -> Result<Patch, Diagnostic> {
        self.expect("{", "after patchDef2")?;
        let texture = self.texture()?;
        self.expect("(", "before the size of a patch")?;
        let width = self.patch_side("width")?;
        let height = self.patch_side("height")?;
        while !self.peek("')' behind the size of a patch")?.is(")") {
            self.number("patch parameter")?;
        }
        self.expect(")", "behind the size of a patch")?;
        self.expect("(", "before the columns of a patch")?;
        let mut points = vec![PatchPoint::default(); width * height];
        for column in 0..width {
            self.expect("(", "before a column of a patch")?;
            for row in 0..height {
                self.expect("(", "before a point of a patch")?;
                let position = Vector([self.coordinate()?, self.coordinate()?, self.coordinate()?]);
                let mut part = || self.number("texture coordinate");
                points[row * width + column] = PatchPoint { position, texture: [part()?, part()?] };
                self.expect(")", "behind a point of a patch")?;
            }
            self.expect(")", "behind a column of a patch")?;
        }
        self.expect(")", "behind the columns of a patch")?;
        self.expect("}", "behind patchDef2")?;
        self.expect("}", "behind a patch")?;
        Ok(Patch { line, texture, width, height, points })
    }

    fn patch_side(&mut self, what: &str) -> Result<usize, Diagnostic> {
        let line = self.tokens.line();
        let number = self.number(what)?;
        let side = number as usize;
        if side as f64 == number && side % 2 == 1 && (3..=MAX_PATCH_SIDE).contains(&side) {
            return Ok(side);
        }
        self.error(line, format!("unusable {what} of a patch: {number} (expected an odd number from 3 to {MAX_PATCH_SIDE})"))
    }
}

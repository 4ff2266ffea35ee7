//! Reader of `.map` sources.
//!
//! Invariant: a problem of a primitive or a key ends that one only, so that all problems of a source are reported at once.

use super::{Brush, Entity, Face, MAX_COORDINATE, Mapping, Patch, PatchPoint};
use crate::{
    mapbuild::{
        diagnostic::Diagnostic,
        tokens::{Token, Tokens},
        vector::Vector,
    },
    world::entity_string::{MAX_PAIRS, MAX_TOKEN_LEN},
};

/// Maximum number of entities, with lights and groups, which are not written.
const MAX_ENTITIES: usize = 16_384;
/// Longest value of a key for editors, which is not written.
const MAX_EDITOR_VALUE_LEN: usize = 65_536;
/// Maximum number of problems that are reported.
const MAX_ERRORS: usize = 50;
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

/// Reads the entities of a source.
///
/// # Errors
/// Reports the problems with their lines.
pub(super) fn entities(file: &str, text: &str) -> Result<Vec<Entity>, Vec<Diagnostic>> {
    let tokens = Tokens::new(text);
    let mut reader = Reader { file, tokens, brushes: 0, patches: 0, errors: Vec::new() };
    let mut entities = Vec::new();
    if let Err(error) = reader.entities(&mut entities) {
        reader.errors.push(error);
    }
    if reader.errors.is_empty() { Ok(entities) } else { Err(reader.errors) }
}

struct Reader<'a> {
    file: &'a str,
    tokens: Tokens<'a>,
    brushes: usize,
    patches: usize,
    /// Problems after which the reader continued.
    errors: Vec<Diagnostic>,
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

    /// Reads all entities.
    ///
    /// # Errors
    /// A problem after which nothing more can be read.
    fn entities(&mut self, entities: &mut Vec<Entity>) -> Result<(), Diagnostic> {
        while let Some(token) = self.tokens.peek() {
            if entities.len() == MAX_ENTITIES {
                return self.error(token.line, format!("too many entities (max {MAX_ENTITIES})"));
            }
            if let Err(error) = self.expect("{", "before an entity") {
                self.note(error)?;
                while self.tokens.peek().is_some_and(|token| !token.is("{")) {
                    let _ = self.tokens.next();
                }
                continue;
            }
            entities.push(self.entity(token.line)?);
        }
        Ok(())
    }

    /// Records a problem after which reading continues.
    ///
    /// # Errors
    /// The problem, if there were too many.
    fn note(&mut self, error: Diagnostic) -> Result<(), Diagnostic> {
        if self.errors.len() + 1 >= MAX_ERRORS {
            return Err(error);
        }
        self.errors.push(error);
        Ok(())
    }

    /// Reads an entity behind its opening brace.
    fn entity(&mut self, line: u32) -> Result<Entity, Diagnostic> {
        let mut entity = Entity { line, ..Entity::default() };
        loop {
            let expected = "a \"key\", a brush or '}' of the entity";
            let token = self.next(expected)?;
            if token.is("}") {
                return Ok(entity);
            }
            if token.is("{") {
                let start = self.tokens.clone();
                if let Err(error) = self.primitive(token.line, &mut entity) {
                    self.note(error)?;
                    self.leave_primitive(start);
                }
            } else if token.quoted {
                if let Err(error) = self.pair(token, &mut entity) {
                    self.note(error)?;
                    self.leave_line();
                }
            } else {
                let what = format!("unexpected {} (expected {expected})", token.shown());
                self.note(Diagnostic::new(self.file, token.line, what))?;
                self.leave_line();
            }
        }
    }

    /// Continues behind a primitive with a problem. `start` is behind its opening brace.
    fn leave_primitive(&mut self, start: Tokens<'a>) {
        // The closing brace is missing, and the next primitive begins.
        if self.tokens.peek().is_some_and(|token| token.is("{")) {
            return;
        }
        let mut tokens = start;
        let mut depth = 1;
        while depth > 0 {
            match tokens.next() {
                Some(token) if token.is("{") => depth += 1,
                Some(token) if token.is("}") => depth -= 1,
                Some(_) => {}
                None => break,
            }
        }
        self.tokens = tokens;
    }

    /// Continues behind the rest of a line with a problem, or at a brace on it.
    fn leave_line(&mut self) {
        let line = self.tokens.line();
        let is_rest = |token: Token<'_>| token.line == line && !token.is("{") && !token.is("}");
        while self.tokens.peek().is_some_and(is_rest) {
            let _ = self.tokens.next();
        }
    }

    fn pair(&mut self, key: Token<'a>, entity: &mut Entity) -> Result<(), Diagnostic> {
        let value = self.next("a \"value\" after a key")?;
        if let Some(open) = [key, value].into_iter().find(|token| token.is_open) {
            let what = format!("quote not closed: {} (expected '\"' at its end)", open.shown());
            return self.error(open.line, what);
        }
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
        let is_written = !key.text.starts_with('_');
        let max = if is_written { MAX_TOKEN_LEN } else { MAX_EDITOR_VALUE_LEN };
        if key.text.len().max(value.text.len()) > max {
            let what = format!("value of {} too long (max {max} bytes)", key.shown());
            return self.error(key.line, what);
        }
        entity.pairs.push((key.text.to_owned(), value.text.to_owned()));
        Ok(())
    }

    fn primitive(&mut self, line: u32, entity: &mut Entity) -> Result<(), Diagnostic> {
        let first = self.peek("a face, brushDef or patchDef2")?;
        let is_primitive = first.is("brushDef");
        if is_primitive || first.is("(") {
            if self.brushes == MAX_BRUSHES {
                return self.error(line, format!("too many brushes (max {MAX_BRUSHES})"));
            }
            self.brushes += 1;
            if is_primitive {
                let _ = self.tokens.next();
                self.expect("{", "after brushDef")?;
            }
            let brush = self.brush(line, is_primitive)?;
            if is_primitive {
                self.expect("}", "behind brushDef")?;
            }
            entity.brushes.push(brush);
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
            "patchDef3" | "terrainDef" => "use patches of the kind patchDef2",
            "brushDef3" => "save the map in the format of Quake III",
            "}" => "remove the empty braces",
            _ => "expected '( x y z )' of a face, brushDef or patchDef2",
        };
        self.error(first.line, format!("unsupported primitive: {} ({hint})", first.shown()))
    }

    fn brush(&mut self, line: u32, is_primitive: bool) -> Result<Brush, Diagnostic> {
        let mut faces = Vec::new();
        loop {
            let token = self.peek("'(' of a face or '}' of the brush")?;
            if token.is("}") {
                let _ = self.tokens.next();
                return Ok(Brush { line, faces });
            }
            if token.is("{") {
                let what = "unexpected \"{\" (expected '(' of a face or '}' of the brush)";
                return self.error(token.line, what);
            }
            if faces.len() == MAX_FACES {
                return self
                    .error(token.line, format!("too many faces in a brush (max {MAX_FACES})"));
            }
            faces.push(self.face(is_primitive)?);
        }
    }

    fn face(&mut self, is_primitive: bool) -> Result<Face, Diagnostic> {
        let mut points = [Vector::ZERO; 3];
        let line = self.tokens.peek().map_or(0, |token| token.line);
        for point in &mut points {
            self.expect("(", "before a point of a face")?;
            *point = Vector([self.coordinate()?, self.coordinate()?, self.coordinate()?]);
            self.expect(")", "behind a point of a face")?;
        }
        let matrix = is_primitive.then(|| self.matrix()).transpose()?;
        let texture = self.texture()?;
        let mapping = if let Some(matrix) = matrix {
            Mapping::Repeats { matrix }
        } else if self.peek("texture shift or '['")?.is("[") {
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
        // Some editors write all numbers with a fraction.
        match token.text.parse::<f64>() {
            Ok(flags) => Ok(flags as i64),
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
        let legal = |c: char| c.is_ascii_graphic() && !"\"();".contains(c);
        let is_legal = !token.is_open
            && !name.is_empty()
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

    /// Reads the texture matrix of a brush primitive.
    fn matrix(&mut self) -> Result<[[f64; 3]; 2], Diagnostic> {
        let mut matrix = [[0.0; 3]; 2];
        self.expect("(", "before a texture matrix")?;
        for row in &mut matrix {
            self.expect("(", "before a row of a texture matrix")?;
            for part in row {
                *part = self.number("texture matrix")?;
            }
            self.expect(")", "behind a row of a texture matrix")?;
        }
        self.expect(")", "behind a texture matrix")?;
        Ok(matrix)
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

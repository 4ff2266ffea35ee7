//! Brushes and patches of `.map` sources.
//!
//! Invariant: a primitive with a problem is read to its end and left out.

use std::iter;

use super::{
    Brush, Entity, Face, MAX_COORDINATE, Mapping, Patch, PatchPoint, reader::Reader, texture_name,
};
use crate::{
    mapbuild::{diagnostic::Diagnostic, tokens::Token, vector::Vector},
    model::text::counted,
};

/// Maximum number of brushes, as in engines' compilers.
const MAX_BRUSHES: usize = 32_768;
/// Maximum number of faces of a brush.
const MAX_FACES: usize = 128;
/// Maximum number of patches.
const MAX_PATCHES: usize = 8192;
/// Maximum number of points in a row or a column of a patch.
const MAX_PATCH_SIDE: usize = 31;
/// Largest number.
const MAX_NUMBER: f64 = 1e9;
/// Content bit of a face that makes its brush detail.
const DETAIL: i64 = 0x800_0000;

impl Reader<'_, '_> {
    /// Reads a brush or a patch behind its opening brace.
    ///
    /// # Errors
    /// A problem behind which the primitive cannot be read.
    pub(super) fn primitive(&mut self, line: u32, entity: &mut Entity) -> Result<(), Diagnostic> {
        let first = self.peek("a face, brushDef or patchDef2")?;
        if first.is("{") && !self.is_damaged {
            let _ = self.tokens.next();
            let what = "unexpected \"{\" (expected one '{' before a brush or patch)";
            self.note(Diagnostic::new("", first.line, what));
            self.is_damaged = true;
            self.primitive(line, entity)?;
            if self.closes_doubled_brace() {
                let _ = self.tokens.next();
            }
            return Ok(());
        }
        let is_primitive = first.is("brushDef");
        if is_primitive || first.is("(") {
            self.brushes += 1;
            if self.brushes == MAX_BRUSHES + 1 {
                self.report(line, format!("too many brushes (max {MAX_BRUSHES})"));
            }
            if is_primitive {
                let _ = self.tokens.next();
                self.expect("{", "after brushDef")?;
            }
            let brush = self.brush(line, is_primitive)?;
            if is_primitive {
                self.expect("}", "behind brushDef")?;
            }
            if !self.is_damaged && self.brushes <= MAX_BRUSHES {
                entity.brushes.push(brush);
            }
            return Ok(());
        }
        if first.is("patchDef2") {
            self.patches += 1;
            if self.patches == MAX_PATCHES + 1 {
                self.report(line, format!("too many patches (max {MAX_PATCHES})"));
            }
            let _ = self.tokens.next();
            let patch = self.patch(line)?;
            if !self.is_damaged && self.patches <= MAX_PATCHES {
                entity.patches.push(patch);
            }
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
            if token.is("{") || token.quoted {
                let what = format!(
                    "unexpected {} (expected '(' of a face or '}}' of the brush)",
                    token.shown()
                );
                return self.error(token.line, what);
            }
            if faces.len() == MAX_FACES {
                return self
                    .error(token.line, format!("too many faces in a brush (max {MAX_FACES})"));
            }
            match self.face(is_primitive) {
                Ok(face) => faces.push(face),
                Err(error) => {
                    self.note(error);
                    self.is_damaged = true;
                    self.leave_face();
                }
            }
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
            self.check_name_end(&texture, &[0, 1, 2, 3]);
            Mapping::Repeats { matrix }
        } else {
            self.check_name_end(&texture, &[5, 6, 7, 8]);
            if self.peek("texture shift or '['")?.is("[") {
                self.valve_mapping()?
            } else {
                let shift = [self.number("texture shift")?, self.number("texture shift")?];
                let rotate = self.number("texture rotation")?;
                let scale = [self.number("texture scale")?, self.number("texture scale")?];
                Mapping::Classic { shift, rotate, scale }
            }
        };
        // Contents, surface flags and value may be missing. Only the detail bit counts, the rest is the shader's.
        let flags = [(); 3].map(|()| self.flags_on_line());
        let count = flags.iter().flatten().count();
        if matches!(count, 1 | 2) {
            let what = format!(
                "face with {} behind its texture coordinates (expected none, or contents, flags and value)",
                counted(count, "number")
            );
            self.advise(line, what);
        }
        let contents = flags[0].unwrap_or_default();
        Ok(Face { line, points, texture, mapping, detail: contents & DETAIL != 0 })
    }

    /// Reads a number. A word in its place is reported.
    fn number(&mut self, what: &'static str) -> Result<f64, Diagnostic> {
        let before = self.tokens.line();
        let token = self.peek(what)?;
        if ["(", ")", "[", "]", "{", "}"].iter().any(|punctuation| token.is(punctuation)) {
            if token.line > before {
                return self.error(before, format!("line ends early (expected {what})"));
            }
            let what = format!("unusable {what}: {} (expected a number)", token.shown());
            return self.error(token.line, what);
        }
        let _ = self.tokens.next();
        let number = token.text.parse::<f64>();
        let usable = number.as_ref().ok().filter(|number| number.abs() <= MAX_NUMBER);
        if usable.is_none() {
            let expected = match number {
                Ok(number) if !number.is_nan() => {
                    format!("a number from -{MAX_NUMBER} to {MAX_NUMBER}")
                }
                _ => "a number".to_owned(),
            };
            let problem = format!("unusable {what}: {} (expected {expected})", token.shown());
            self.note_value(token.line, what, problem);
        }
        Ok(usable.copied().unwrap_or_default() + 0.0)
    }

    fn coordinate(&mut self) -> Result<f64, Diagnostic> {
        let number = self.number("coordinate")?;
        if number.abs() <= MAX_COORDINATE {
            return Ok(number);
        }
        let what = format!("coordinate outside the world: {number} (max {MAX_COORDINATE})");
        self.note_value(self.tokens.line(), "coordinate", what);
        Ok(0.0)
    }

    /// Reads contents, flags or value of a face, if it follows on the line.
    fn flags_on_line(&mut self) -> Option<i64> {
        let token = self.tokens.rest_of_line().next();
        let token = token.filter(|token| !token.is("}") && !token.is("("))?;
        let _ = self.tokens.next();
        // Some editors write all numbers with a fraction.
        Some(token.text.parse::<f64>().map_or_else(
            |_| {
                let what = format!("unusable flags: {} (expected a whole number)", token.shown());
                self.note_value(token.line, "flags", what);
                0
            },
            |flags| flags as i64,
        ))
    }

    fn texture(&mut self) -> Result<String, Diagnostic> {
        let before = self.tokens.line();
        let token = self.peek("a texture name")?;
        if token.is("(") || token.is(")") || token.is("}") {
            if token.line > before {
                return self.error(before, "line ends early (expected a texture name)");
            }
            let what = format!("unexpected {} (expected a texture name)", token.shown());
            return self.error(token.line, what);
        }
        let _ = self.tokens.next();
        if token.is_open {
            let what = format!("quote not closed: {} (expected '\"' at its end)", token.shown());
            return self.error(token.line, what);
        }
        let name = texture_name::parse(token.text);
        Ok(name.unwrap_or_else(|what| {
            self.note_texture(token.line, what);
            String::new()
        }))
    }

    /// Reports a name of several words, behind which the numbers of a face follow. `counts` are their possible numbers.
    fn check_name_end(&mut self, begin: &str, counts: &[usize]) {
        let is_end = |token: &Token<'_>| ["(", ")", "[", "}"].iter().any(|end| token.is(end));
        let is_number = |token: &Token<'_>| token.text.parse::<f64>().is_ok();
        let rest = self.tokens.rest_of_line();
        let words = rest.take_while(|token| !is_end(token) && !is_number(token)).count();
        let mut behind = self.tokens.rest_of_line().skip(words).take(9).peekable();
        let is_valve = behind.peek().is_some_and(|token| token.is("["));
        let numbers = behind.take_while(|token| is_number(token)).count();
        if words == 0 || !is_valve && !counts.contains(&numbers) {
            return;
        }
        let line = self.tokens.line();
        let words: Vec<Token<'_>> = self.tokens.by_ref().take(words).collect();
        let words = words.iter().map(|word| word.text);
        let name = iter::once(begin).chain(words).collect::<Vec<_>>().join(" ");
        let what = texture_name::parse(&name).err().unwrap_or_default();
        self.note_texture(line, what);
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
        let open = self.peek("'{' after patchDef2")?;
        if open.is("{") {
            let _ = self.tokens.next();
        } else {
            let what = format!("unexpected {} (expected '{{' after patchDef2)", open.shown());
            self.note(Diagnostic::new("", open.line, what));
            self.is_damaged = true;
        }
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

    fn patch_side(&mut self, what: &'static str) -> Result<usize, Diagnostic> {
        let number = self.number(what)?;
        let side = number as usize;
        if side as f64 == number && side % 2 == 1 && (3..=MAX_PATCH_SIDE).contains(&side) {
            return Ok(side);
        }
        self.error(self.tokens.line(), format!("unusable {what} of a patch: {number} (expected an odd number from 3 to {MAX_PATCH_SIDE})"))
    }
}

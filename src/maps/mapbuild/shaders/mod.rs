//! Shader scripts, as far as a map compiler reads them.
//!
//! Invariants: names are in lower case and without extension; numbers are finite. Unknown keywords are skipped:
//! stages and most keywords concern clients only.
//!
//! Source: the shader scripts of the base game; own keywords `q3map_skylight` and `q3map_lightcolor`.

mod parms;

use std::collections::BTreeMap;

use super::{
    diagnostic::Diagnostic,
    tokens::{Token, Tokens},
    vector::Vector,
};
use crate::model::contents::content;

pub use parms::built_in;

/// Longest accepted script, in bytes.
const MAX_LEN: usize = 4 * 1024 * 1024;
/// Maximum number of shaders in a script.
const MAX_SHADERS: usize = 8192;
/// Maximum number of images that a shader names.
const MAX_IMAGES: usize = 64;

/// A shader: what it is to collision, light and drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Shader {
    /// Name with its folders, such as `textures/base_wall/concrete`.
    pub name: String,
    /// Script and line that define it; none for a shader that is only an image.
    pub place: Option<(String, u32)>,
    /// Text of the definition, name and braces included; empty without one.
    pub text: String,
    /// Surface flags.
    pub surface_flags: i32,
    /// Contents.
    pub contents: i32,
    /// Image whose size scales texture coordinates, with extension if the script gives one.
    pub editor_image: Option<String>,
    /// Whether it is of the game's data, which is not packed.
    pub is_of_game: bool,
    /// Images of the stages and of the sky.
    pub images: Vec<String>,
    /// Light that each surface emits per unit of area.
    pub surface_light: f64,
    /// Light from the sky behind each surface.
    pub sky_light: f64,
    /// Color of these lights; without one, that of the image.
    pub light_color: Option<Vector>,
    /// Sun.
    pub sun: Option<Sun>,
    /// Whether it has color and distance of a fog.
    pub has_fog_parms: bool,
}

/// A sun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Color; the largest component is 1.
    pub color: Vector,
    /// Light on a surface that faces the sun.
    pub light: f64,
    /// Direction to the sun, in degrees counterclockwise from east.
    pub degrees: f64,
    /// Height over the horizon, in degrees.
    pub elevation: f64,
}

impl Shader {
    /// Creates the shader of an image without a script: solid, opaque, lit and drawn.
    #[must_use]
    pub fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            place: None,
            text: String::new(),
            surface_flags: 0,
            contents: content::SOLID,
            editor_image: None,
            is_of_game: false,
            images: Vec::new(),
            surface_light: 0.0,
            sky_light: 0.0,
            light_color: None,
            sun: None,
            has_fog_parms: false,
        }
    }

    /// Whether its brushes are fogs that clients draw.
    #[must_use]
    pub const fn is_fog(&self) -> bool {
        self.has_fog_parms && self.contents & content::FOG != 0
    }

    /// Returns the image that gives size and color of the texture.
    #[must_use]
    pub fn main_image(&self) -> &str {
        match (&self.editor_image, &self.images[..]) {
            (Some(image), _) => image,
            (None, [image, ..]) if self.place.is_some() => image,
            _ => &self.name,
        }
    }
}

/// Shaders by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shaders(BTreeMap<String, Shader>);

impl Shaders {
    /// Creates a collection of the shaders that need no script.
    #[must_use]
    pub fn new() -> Self {
        Self(built_in().map(|shader| (shader.name.clone(), shader)).collect())
    }

    /// Adds the shaders of a script; of equal names, the first counts.
    ///
    /// # Errors
    /// Reports the first problem of the script with its line.
    pub fn add_script(&mut self, file: &str, text: &[u8]) -> Result<(), Diagnostic> {
        for shader in read(file, text)? {
            let known = self.0.entry(shader.name.clone()).or_insert_with(|| shader.clone());
            // A script may redefine a built-in shader.
            if known.place.is_none() {
                *known = shader;
            }
        }
        Ok(())
    }

    /// Adds the shaders of a script of the game behind all others. What follows a problem is skipped, as clients do.
    pub fn add_game_script(&mut self, file: &str, text: &[u8]) {
        for mut shader in read_until_problem(file, text).0 {
            shader.is_of_game = true;
            self.0.entry(shader.name.clone()).or_insert(shader);
        }
    }

    /// Returns a shader by its name, without regard to case.
    #[must_use]
    pub fn get(&self, name: &str) -> Shader {
        let name = name.to_ascii_lowercase();
        self.0.get(&name).cloned().unwrap_or_else(|| Shader::plain(&name))
    }
}

/// Reads a shader script. The file name is for error messages.
///
/// # Errors
/// Reports the first problem with its line.
pub fn read(file: &str, text: &[u8]) -> Result<Vec<Shader>, Diagnostic> {
    let (shaders, problem) = read_until_problem(file, text);
    problem.map_or(Ok(shaders), Err)
}

/// Reads a shader script up to its first problem.
fn read_until_problem(file: &str, text: &[u8]) -> (Vec<Shader>, Option<Diagnostic>) {
    let mut shaders = Vec::new();
    let problem = read_into(file, text, &mut shaders).err();
    (shaders, problem)
}

fn read_into(file: &str, text: &[u8], shaders: &mut Vec<Shader>) -> Result<(), Diagnostic> {
    if text.len() > MAX_LEN {
        let what = format!("script too long: {} bytes (max {MAX_LEN})", text.len());
        return Err(Diagnostic::new(file, 0, what));
    }
    let text = String::from_utf8_lossy(text);
    let mut tokens = Tokens::new(&text);
    while let Some(name) = tokens.next() {
        if name.is("{") || name.is("}") {
            let what = format!("unexpected {} (expected the name of a shader)", name.shown());
            return Err(Diagnostic::new(file, name.line, what));
        }
        if name.text.is_empty() {
            let what = "shader without a name (expected textures/folder/name { ... })";
            return Err(Diagnostic::new(file, name.line, what));
        }
        if shaders.len() == MAX_SHADERS {
            return Err(Diagnostic::new(
                file,
                name.line,
                format!("too many shaders (max {MAX_SHADERS})"),
            ));
        }
        let quotes = 2 * usize::from(name.quoted);
        let start = tokens.offset().saturating_sub(name.text.len() + quotes);
        let lower = name.text.to_ascii_lowercase();
        let mut shader =
            Shader { place: Some((file.to_owned(), name.line)), ..Shader::plain(&lower) };
        body(file, &name, &mut tokens, &mut shader)?;
        shader.text = text[start..tokens.offset()].to_owned();
        shaders.push(shader);
    }
    Ok(())
}

/// Reads the braces of a shader.
fn body(
    file: &str,
    name: &Token<'_>,
    tokens: &mut Tokens<'_>,
    shader: &mut Shader,
) -> Result<(), Diagnostic> {
    let open = tokens.next();
    if !open.is_some_and(|token| token.is("{")) {
        let line = open.map_or(name.line, |token| token.line);
        let what =
            format!("no '{{' after the shader name {} (expected name {{ ... }})", name.shown());
        return Err(Diagnostic::new(file, line, what));
    }
    let mut in_stage = false;
    loop {
        let Some(keyword) = tokens.next() else {
            let what =
                format!("shader {} is not closed (expected '}}' before the end)", name.shown());
            return Err(Diagnostic::new(file, name.line, what));
        };
        if keyword.is("}") {
            if !in_stage {
                return Ok(());
            }
            in_stage = false;
        } else if keyword.is("{") {
            if in_stage {
                let what = "'{' inside a stage (expected '}' of the stage first)";
                return Err(Diagnostic::new(file, keyword.line, what));
            }
            in_stage = true;
        } else {
            let mut words = Vec::new();
            while let Some(word) = tokens.peek().filter(|word| word.line == tokens.line()) {
                // Stages may be written on one line.
                if word.is("}") || word.is("{") {
                    break;
                }
                words.extend(tokens.next_on_line());
            }
            if in_stage {
                stage_keyword(&keyword, &words, shader);
            } else {
                shader_keyword(&keyword, &words, shader)
                    .map_err(|what| Diagnostic::new(file, keyword.line, what))?;
            }
        }
    }
}

fn stage_keyword(keyword: &Token<'_>, words: &[Token<'_>], shader: &mut Shader) {
    let images = match keyword.text.to_ascii_lowercase().as_str() {
        "map" | "clampmap" => words.get(..1),
        "animmap" => words.get(1..),
        _ => None,
    };
    for image in images.into_iter().flatten().filter(|image| !image.text.starts_with('$')) {
        add_image(shader, image.text);
    }
}

fn add_image(shader: &mut Shader, image: &str) {
    let image = image.replace('\\', "/").to_ascii_lowercase();
    let is_new = !image.is_empty() && !shader.images.contains(&image);
    if shader.images.len() < MAX_IMAGES && is_new {
        shader.images.push(image);
    }
}

fn shader_keyword(
    keyword: &Token<'_>,
    words: &[Token<'_>],
    shader: &mut Shader,
) -> Result<(), String> {
    let name = keyword.text.to_ascii_lowercase();
    let first = words.first().map(|word| word.text);
    match name.as_str() {
        "surfaceparm" => {
            let parm = first.ok_or("surfaceparm without a name (expected surfaceparm NAME)")?;
            parms::apply(&parm.to_ascii_lowercase(), shader);
        }
        "qer_editorimage" => {
            let image = first.filter(|image| !image.is_empty());
            let image =
                image.ok_or("qer_editorimage without a file (expected qer_editorimage FILE)")?;
            shader.editor_image = Some(image.replace('\\', "/").to_ascii_lowercase());
        }
        "skyparms" => sky_images(first.unwrap_or("-"), shader),
        "q3map_surfacelight" => shader.surface_light = numbers::<1>(&name, words)?[0].max(0.0),
        "q3map_skylight" => shader.sky_light = numbers::<1>(&name, words)?[0].max(0.0),
        "fogparms" => shader.has_fog_parms = true,
        "q3map_lightcolor" => shader.light_color = Some(Vector(numbers(&name, words)?)),
        "q3map_sun" | "q3map_sunext" | "sun" => {
            let [r, g, b, light, degrees, elevation] = numbers(&name, words)?;
            let color = Vector([r, g, b]).max(Vector::ZERO);
            let largest = color[color.main_axis()];
            let color = if largest > 0.0 { color * (1.0 / largest) } else { Vector([1.0; 3]) };
            shader.sun = Some(Sun { color, light, degrees, elevation });
        }
        _ => {}
    }
    Ok(())
}

/// Adds the six images of a sky box.
fn sky_images(base: &str, shader: &mut Shader) {
    if base != "-" {
        for side in ["rt", "lf", "bk", "ft", "up", "dn"] {
            add_image(shader, &format!("{base}_{side}"));
        }
    }
}

/// Reads the numbers behind a keyword.
fn numbers<const N: usize>(keyword: &str, words: &[Token<'_>]) -> Result<[f64; N], String> {
    let mut numbers = [0.0; N];
    // Some scripts put parentheses around vectors.
    let mut words = words.iter().filter(|word| !word.is("(") && !word.is(")"));
    for number in &mut numbers {
        let word = words.next();
        let parsed = word.and_then(|word| word.text.parse::<f64>().ok());
        *number = parsed.filter(|number| number.abs() <= 1e9).ok_or_else(|| {
            let shown = word.map_or("nothing".to_owned(), Token::shown);
            format!("unusable value of {keyword}: {shown} (expected {N} numbers)")
        })?;
    }
    Ok(numbers)
}

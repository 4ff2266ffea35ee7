//! Shader scripts, as far as a map compiler reads them.
//!
//! Invariants: names are in lower case and without extension; numbers are finite. Unknown keywords are skipped:
//! stages and most keywords concern clients only.
//!
//! Source: the shader scripts of the base game; own keywords `q3map_skylight` and `q3map_lightcolor`.

mod keywords;
mod parms;
mod script;

use std::collections::BTreeMap;

use super::{
    diagnostic::{BuildError, Diagnostic, Findings},
    vector::Vector,
};
use crate::model::contents::content;
use script::{AfterProblem, Script};

pub use parms::built_in;

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

    /// Adds the shaders of a script; of equal names, the first counts. Problems are reported.
    pub(super) fn add_script(&mut self, file: &str, text: &[u8], findings: &mut Findings) {
        let Script { shaders, problems, more, advice } =
            script::read(file, text, AfterProblem::Continue);
        for problem in problems {
            findings.error_in(&problem.file, problem.line, problem.message);
        }
        findings.more_errors(file, more);
        for Diagnostic { file, line, message } in advice {
            findings.warn_in(&file, line, message);
        }
        for shader in shaders {
            let known = self.0.entry(shader.name.clone()).or_insert_with(|| shader.clone());
            // A script may redefine a built-in shader.
            if known.place.is_none() {
                *known = shader;
            }
        }
    }

    /// Adds the shaders of a script of the game behind all others. What follows a problem is skipped, as clients do.
    pub fn add_game_script(&mut self, file: &str, text: &[u8]) {
        for mut shader in script::read(file, text, AfterProblem::Stop).shaders {
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
/// Reports all problems with their lines.
pub fn read(file: &str, text: &[u8]) -> Result<Vec<Shader>, BuildError> {
    let mut findings = Findings::new(file);
    let Script { shaders, problems, more, .. } = script::read(file, text, AfterProblem::Continue);
    for problem in problems {
        findings.error_in(file, problem.line, problem.message);
    }
    findings.more_errors(file, more);
    findings.check().map(|()| shaders)
}

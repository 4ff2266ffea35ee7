//! Keywords of shaders that a map compiler reads.

use super::{Shader, Sun, parms};
use crate::{
    mapbuild::{tokens::Token, vector::Vector},
    model::{spelling::distance, text::counted},
};

/// Maximum number of images that a shader names.
const MAX_IMAGES: usize = 64;
/// Keywords with an effect here, and those of clients and other compilers that are near to one of them.
const KEYWORDS: &[&str] = &[
    "fogparms",
    "q3map_lightcolor",
    "q3map_skylight",
    "q3map_sun",
    "q3map_sunext",
    "q3map_surfacelight",
    "qer_editorimage",
    "skyparms",
    "sun",
    "surfaceparm",
];
/// Largest number.
const MAX_NUMBER: f64 = 1e9;
/// Length of a word below which one edit makes it another.
const SHORT: usize = 7;
/// Length of a word from which three edits make it another.
const LONG: usize = 15;

/// Applies a keyword of a stage.
pub(super) fn stage_keyword(keyword: &Token<'_>, words: &[Token<'_>], shader: &mut Shader) {
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

/// Applies a keyword outside of stages.
///
/// # Errors
/// The values are not usable.
pub(super) fn shader_keyword(
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
        "fogparms" => shader.has_fog_parms = are_fog_parms(words),
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

/// Returns advice on a keyword or `surfaceparm` that is nearly a known one.
pub(super) fn misspelled(keyword: &Token<'_>, words: &[Token<'_>]) -> Option<String> {
    let (kind, own, near) = if keyword.text.eq_ignore_ascii_case("surfaceparm") {
        let parm = words.first()?.text;
        ("surfaceparm", parm, parms::nearest(parm)?)
    } else {
        ("keyword", keyword.text, nearest(keyword.text, KEYWORDS.iter().copied())?)
    };
    Some(format!("unknown {kind}: {own:?} has no effect (expected {near:?})"))
}

/// Returns the known name that is nearest to an unknown one; nothing if none is near.
pub(super) fn nearest(
    own: &str,
    known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let (edits, known) = known.map(|known| (distance(own, known), known)).min()?;
    // Short words are near to many.
    let max = match own.len() {
        ..SHORT => 1,
        SHORT..LONG => 2,
        _ => 3,
    };
    (1..=max).contains(&edits).then_some(known)
}

/// Whether words are `( R G B ) DISTANCE`, as clients read them. More words may follow.
fn are_fog_parms(words: &[Token<'_>]) -> bool {
    let is_number =
        |word: &Token<'_>| word.text.parse().is_ok_and(|number: f64| number.is_finite());
    match words {
        [open, r, g, b, close, distance, ..] => {
            open.is("(")
                && [r, g, b].into_iter().all(is_number)
                && close.is(")")
                && distance.text.parse().is_ok_and(|distance: f64| distance > 0.0)
        }
        _ => false,
    }
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
    let given = words;
    // Some scripts put parentheses around vectors.
    let mut words = words.iter().filter(|word| !word.is("(") && !word.is(")"));
    for number in &mut numbers {
        let word = words.next();
        let parsed = word.and_then(|word| word.text.parse::<f64>().ok());
        *number = parsed.filter(|number| number.abs() <= MAX_NUMBER).ok_or_else(|| {
            let shown = match word {
                Some(word) => word.shown(),
                None if given.is_empty() => "nothing".to_owned(),
                None => {
                    let given: Vec<_> = given.iter().map(|word| word.text).collect();
                    format!("{:?}", given.join(" "))
                }
            };
            let range = match parsed {
                Some(number) if !number.is_nan() => format!(" from -{MAX_NUMBER} to {MAX_NUMBER}"),
                _ => String::new(),
            };
            let count = counted(N, "number");
            format!("unusable value of {keyword}: {shown} (expected {count}{range})")
        })?;
    }
    Ok(numbers)
}

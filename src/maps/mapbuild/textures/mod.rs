//! Procedural textures, from recipes in code.
//!
//! [`image`] paints a texture by the last part of its name, so that every map can use the recipes in a folder of its own:
//! `textures/fragd1/basalt` and `textures/course/basalt` are the same image. A recipe is a list of layers over
//! patterns that repeat at the edges.
//!
//! Invariant: the same name gives the same pixels on every machine.

mod canvas;
mod field;
mod recipes;

use super::image::{Image, ImageError};

/// Quality of JPG textures.
pub const JPG_QUALITY: u8 = 80;

/// Paints the texture of a name such as `textures/fragd1/basalt`, with or without extension.
pub fn image(name: &str) -> Option<Image> {
    find(name).map(canvas::paint)
}

/// Whether a name has a recipe.
pub fn contains(name: &str) -> bool {
    find(name).is_some()
}

/// Names of all recipes, without folder.
pub fn names() -> impl Iterator<Item = &'static str> {
    recipes::all().map(|recipe| recipe.name)
}

/// Encodes an image as clients read it: TGA with alpha, otherwise JPG. Returns the extension, too.
///
/// # Errors
///
/// The image is too large for the format.
pub fn encode(image: &Image) -> Result<(&'static str, Vec<u8>), ImageError> {
    if image.has_alpha() {
        return Ok(("tga", image.tga()));
    }
    Ok(("jpg", image.jpg(JPG_QUALITY)?))
}

fn find(name: &str) -> Option<&'static canvas::Recipe> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.split('.').next().unwrap_or(file);
    recipes::all().find(|recipe| recipe.name == stem)
}

#[cfg(test)]
mod tests;

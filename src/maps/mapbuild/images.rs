//! Images of a map's shaders: from the author's folder, or drawn from recipes.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    diagnostic::Findings,
    image::{self, Image},
    materials::Material,
    shaders::Shader,
    surfaces::HIDDEN,
    textures,
};
use crate::model::{contents::surface, map_parallel};

/// Extensions of images, in the order of clients' search.
const EXTENSIONS: [&str; 4] = ["tga", "jpg", "jpeg", "png"];

/// Reader of an author's files by name, such as `textures/arena/wall.tga`.
pub type Files<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// An image with its file for clients.
struct Found {
    image: Image,
    /// Extension and bytes of an author's file that clients read as it is.
    file: Option<(&'static str, Vec<u8>)>,
}

/// Images by name without extension.
pub(super) struct Images<'a> {
    files: &'a Files<'a>,
    known: BTreeMap<String, Result<Found, String>>,
}

impl<'a> Images<'a> {
    pub(super) fn new(files: &'a Files<'a>) -> Self {
        Self { files, known: BTreeMap::new() }
    }

    /// Draws the images that have a recipe and no file, on several threads.
    pub(super) fn draw(&mut self, materials: &[Material], threads: usize) {
        let drawn = materials.iter().filter(|material| material.shader.surface_flags & HIDDEN == 0);
        let names: BTreeSet<&str> = drawn
            .flat_map(|material| {
                let shader = &material.shader;
                shader.images.iter().map(String::as_str).chain([shader.main_image()])
            })
            .map(stem)
            .collect();
        let has_file = |name: &&str| {
            EXTENSIONS
                .iter()
                .any(|extension| (self.files)(&format!("{name}.{extension}")).is_some())
        };
        let names: Vec<&str> = names.into_iter().filter(|name| !has_file(name)).collect();
        let images = map_parallel(names.len(), threads, |number| textures::image(names[number]));
        for (name, image) in names.into_iter().zip(images) {
            if let Some(image) = image {
                self.known.insert(name.to_owned(), Ok(Found { image, file: None }));
            }
        }
    }

    /// Finds the images of a map's materials, sets their sizes and colors, and reports missing ones.
    pub(super) fn find_all(&mut self, materials: &mut [Material], findings: &mut Findings) {
        for material in materials {
            let shader = &material.shader;
            if shader.surface_flags & HIDDEN != 0 {
                continue;
            }
            let is_sky = shader.surface_flags & surface::SKY != 0;
            match self.find(shader.main_image()) {
                Ok(found) => {
                    material.size = [found.image.width() as f64, found.image.height() as f64];
                    material.color = super::Vector(found.image.mean());
                }
                // The picture of a sky is in its stages.
                Err(_) if is_sky && shader.place.is_some() => {}
                Err(what) => {
                    let what = format!(
                        "{what} (expected it beside the source as .tga, .jpg or .png, or a shader {:?} \
                         in a script)",
                        shader.name
                    );
                    findings.error(material.line, what);
                }
            }
            for image in &shader.images.clone() {
                if let Err(what) = self.find(image) {
                    let (script, line) = shader.place.clone().unwrap_or_default();
                    let what =
                        format!("{what} (expected it beside the source as .tga, .jpg or .png)");
                    findings.error_in(&script, line, what);
                }
            }
        }
    }

    fn find(&mut self, name: &str) -> Result<&Found, String> {
        let stem = stem(name);
        if !self.known.contains_key(stem) {
            let found = load(self.files, stem);
            self.known.insert(stem.to_owned(), found);
        }
        self.known[stem].as_ref().map_err(Clone::clone)
    }

    /// Returns an image that was found.
    pub(super) fn get(&self, name: &str) -> Option<&Image> {
        self.known.get(stem(name))?.as_ref().ok().map(|found| &found.image)
    }

    /// Returns the files of needed images for clients, by name with extension.
    pub(super) fn into_files(
        mut self,
        needed: &BTreeSet<String>,
        findings: &mut Findings,
    ) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for name in needed.iter().map(|name| stem(name)) {
            let Some(Ok(found)) = self.known.remove(name) else { continue };
            let encoded = match found.file {
                Some(file) => Ok(file),
                None => textures::encode(&found.image).map_err(|error| error.to_string()),
            };
            match encoded {
                Ok((extension, bytes)) => {
                    files.insert(format!("{name}.{extension}"), bytes);
                }
                Err(what) => findings.error(0, format!("{name}: {what}")),
            }
        }
        files
    }
}

/// Names of the images that clients draw with a shader.
pub(super) fn drawn_images(shader: &Shader) -> Vec<String> {
    if shader.place.is_some() { shader.images.clone() } else { vec![shader.name.clone()] }
}

fn load(files: &Files<'_>, stem: &str) -> Result<Found, String> {
    for extension in EXTENSIONS {
        let name = format!("{stem}.{extension}");
        let Some(bytes) = files(&name) else { continue };
        let image = image::read(&bytes).map_err(|error| format!("{name}: {error}"))?;
        // The oldest clients read TGA and JPG only.
        let is_readable = matches!(extension, "tga" | "jpg");
        return Ok(Found { image, file: is_readable.then_some((extension, bytes)) });
    }
    let image = textures::image(stem).ok_or_else(|| format!("image missing: {stem}"))?;
    Ok(Found { image, file: None })
}

/// Returns a name without extension.
fn stem(name: &str) -> &str {
    let file = name.rfind('/').map_or(0, |slash| slash + 1);
    name[file..].rfind('.').map_or(name, |dot| &name[..file + dot])
}

//! Images of a map's shaders: files of the author, game data, and drawn textures.
//!
//! Invariant: images of the game's data are not packed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Source,
    diagnostic::Findings,
    image::{self, Image},
    materials::Material,
    package,
    shaders::Shader,
    surfaces::HIDDEN,
    textures,
};
use crate::model::{contents::surface, map_parallel};

/// Extensions of images, in the order of clients' search.
const EXTENSIONS: [&str; 4] = ["tga", "jpg", "jpeg", "png"];

/// Reader of an author's files by name, such as `textures/arena/wall.tga`.
pub type Files<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// Length of a side of the stand-in for a missing image, in pixels: the size that the original compilers take.
const STAND_IN_SIZE: usize = 64;

/// Begin of the message about an image that is not found.
const MISSING: &str = "image missing";

/// An image.
struct Found {
    image: Image,
    origin: Origin,
}

/// Origin of an image.
enum Origin {
    /// A file of the author. Clients read one with an extension that they know as it is.
    Author(Option<(&'static str, Vec<u8>)>),
    /// The game's data, which clients have.
    Game,
    /// A recipe.
    Drawn,
    /// None: the image is missing. One in the map's own folder is packed, so that clients draw something.
    StandIn,
}

/// Images by name without extension.
pub(super) struct Images<'a> {
    files: &'a Files<'a>,
    game: Option<&'a Files<'a>>,
    /// Folder of the map's own images.
    own_folder: String,
    /// Whether all shaders were read. Otherwise an image is missing only because of that.
    has_all_shaders: bool,
    known: BTreeMap<String, Result<Found, String>>,
}

impl<'a> Images<'a> {
    pub(super) fn new(source: &Source<'a>, has_all_shaders: bool) -> Self {
        Self {
            files: source.files,
            game: source.game.map(|game| game.files),
            own_folder: format!("textures/{}/", source.name.to_ascii_lowercase()),
            has_all_shaders,
            known: BTreeMap::new(),
        }
    }

    /// Loads the images of materials, or draws those that have a recipe and no file, on several threads.
    pub(super) fn load(&mut self, materials: &[Material], threads: usize) {
        let drawn = materials.iter().filter(|material| material.shader.surface_flags & HIDDEN == 0);
        let names: BTreeSet<&str> = drawn
            .flat_map(|material| {
                let shader = &material.shader;
                shader.images.iter().map(String::as_str).chain([shader.main_image()])
            })
            .map(stem)
            .collect();
        let mut missing = Vec::new();
        for name in names {
            match self.read(name) {
                Some(read) => drop(self.known.insert(name.to_owned(), read)),
                None => missing.push(name),
            }
        }
        let images =
            map_parallel(missing.len(), threads, |number| textures::image(missing[number]));
        for (name, image) in missing.into_iter().zip(images) {
            let found = image.map(|image| Found { image, origin: Origin::Drawn });
            let found = found.ok_or_else(|| format!("{MISSING}: {name}"));
            self.known.insert(name.to_owned(), found);
        }
    }

    /// Reads an image of the author or of the game.
    fn read(&self, stem: &str) -> Option<Result<Found, String>> {
        let is_own = stem.starts_with(&self.own_folder);
        // An earlier build of the map may be installed.
        let game = self.game.filter(|_| !is_own);
        for (files, is_game) in [(Some(self.files), false), (game, true)] {
            let Some(files) = files else { continue };
            for extension in EXTENSIONS {
                let name = format!("{stem}.{extension}");
                let Some(bytes) = files(&name) else { continue };
                let image = image::read(&bytes).map_err(|error| format!("{name}: {error}"));
                // The oldest clients read TGA and JPG only.
                let is_readable = matches!(extension, "tga" | "jpg");
                let origin = match is_game {
                    true => Origin::Game,
                    false => Origin::Author(is_readable.then_some((extension, bytes))),
                };
                return Some(image.map(|image| Found { image, origin }));
            }
        }
        None
    }

    /// Sets the sizes and colors of materials from their images, and reports missing images, which get a stand-in.
    pub(super) fn find_all(&mut self, materials: &mut [Material], findings: &mut Findings) {
        let mut has_remedy = false;
        for material in materials {
            let shader = &material.shader;
            if shader.surface_flags & HIDDEN != 0 {
                continue;
            }
            let is_sky = shader.surface_flags & surface::SKY != 0;
            let name = self.main_image(shader);
            // The picture of a sky is in its stages, and a fog needs none.
            let is_bare_fog = shader.is_fog() && shader.images.is_empty();
            let is_needed = !(is_sky && shader.place.is_some() || is_bare_fog);
            if let Some(Err(what)) = self.known.get(&name)
                && is_needed
            {
                let remedy = format!(
                    " (expected it beside the source or in the game's data as .tga, .jpg or .png, or a shader {:?} \
                     in a script)",
                    shader.name
                );
                let is_missing = what.starts_with(MISSING);
                let needs_remedy = is_missing && !std::mem::replace(&mut has_remedy, is_missing);
                let remedy = if needs_remedy { remedy.as_str() } else { "" };
                if self.has_all_shaders || !is_missing {
                    findings.warn(material.line, format!("{what}; drawn with a stand-in{remedy}"));
                }
                let image = stand_in();
                self.known.insert(name.clone(), Ok(Found { image, origin: Origin::StandIn }));
            }
            if let Some(Err(error)) = self.packed_name(&name).map(|name| package::check_name(&name))
            {
                findings.error(material.line, error.to_string());
            }
            if let Some(Ok(found)) = self.known.get(&name) {
                material.size = [found.image.width() as f64, found.image.height() as f64];
                material.color = super::Vector(found.image.mean());
            }
            // Those of the game's shaders are the game's.
            for image in shader.images.iter().filter(|_| !shader.is_of_game) {
                if let Some(Err(what)) = self.known.get(stem(image)) {
                    let (script, line) = shader.place.clone().unwrap_or_default();
                    let remedy = " (expected it beside the source or in the game's data as .tga, .jpg or .png)";
                    let remedy = if what.starts_with(MISSING) { remedy } else { "" };
                    let what = format!("{what}{remedy}");
                    findings.warn_in(&script, line, what);
                }
            }
        }
    }

    /// Returns the name in the archive of an image of the author.
    fn packed_name(&self, stem: &str) -> Option<String> {
        match &self.known.get(stem)?.as_ref().ok()?.origin {
            Origin::Author(Some((extension, _))) => Some(format!("{stem}.{extension}")),
            Origin::Author(None) => Some(format!("{stem}.jpg")),
            Origin::Game | Origin::Drawn | Origin::StandIn => None,
        }
    }

    /// Returns the image that gives size and color of a texture. Scripts often name an image for editors that is in no
    /// package; then it is one that clients draw.
    fn main_image(&mut self, shader: &Shader) -> String {
        let main = stem(shader.main_image()).to_owned();
        if shader.place.is_some() && self.known.get(&main).is_some_and(Result::is_err) {
            for name in shader.images.iter().chain([&shader.name]).map(|name| stem(name)) {
                if !self.known.contains_key(name)
                    && let Some(read) = self.read(name)
                {
                    self.known.insert(name.to_owned(), read);
                }
                if self.known.get(name).is_some_and(Result::is_ok) {
                    return name.to_owned();
                }
            }
        }
        main
    }

    /// Returns the names of the textures and shaders of the game's data in use.
    pub(super) fn of_game(&self, materials: &[Material]) -> Vec<String> {
        let is_game = |name: &str| {
            let found = self.known.get(stem(name)).and_then(|found| found.as_ref().ok());
            found.is_some_and(|found| matches!(found.origin, Origin::Game))
        };
        let drawn = materials.iter().filter(|material| material.shader.surface_flags & HIDDEN == 0);
        let mut names = BTreeSet::new();
        for Material { shader, .. } in drawn {
            if shader.is_of_game || shader.place.is_none() && is_game(&shader.name) {
                names.insert(shader.name.clone());
            } else {
                let images = shader.images.iter().filter(|name| is_game(name));
                names.extend(images.map(|name| stem(name).to_owned()));
            }
        }
        names.into_iter().collect()
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
            let encoded = match found.origin {
                Origin::Game => continue,
                // Clients that have the image draw it.
                Origin::StandIn if !name.starts_with(&self.own_folder) => continue,
                Origin::Author(Some(file)) => Ok(file),
                Origin::Author(None) | Origin::Drawn | Origin::StandIn => {
                    textures::encode(&found.image).map_err(|error| error.to_string())
                }
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

/// Returns the stand-in for a missing image: a gray checkerboard.
fn stand_in() -> Image {
    let gray = |at: usize| {
        let (x, y) = (at % STAND_IN_SIZE, at / STAND_IN_SIZE);
        if (x / 8 + y / 8).is_multiple_of(2) { 96 } else { 128 }
    };
    let pixels = (0..STAND_IN_SIZE * STAND_IN_SIZE).flat_map(|at| [gray(at); 3]).collect();
    Image::rgb(STAND_IN_SIZE, STAND_IN_SIZE, pixels)
}

/// Returns a name without the extension of an image.
fn stem(name: &str) -> &str {
    let known = |extension: &str| {
        ["tga", "jpg", "jpeg", "png", "pcx", "bmp"]
            .iter()
            .any(|e| e.eq_ignore_ascii_case(extension))
    };
    name.rsplit_once('.').filter(|(_, extension)| known(extension)).map_or(name, |(stem, _)| stem)
}

//! Map compiler: from a `.map` source to the pk3 that clients download.
//!
//! [`build`] reads the source, closes and divides space (planes, tree, portals, visible set), draws (surfaces,
//! light) and packs. The compiler is sans-I/O: source files come in as bytes by name, and the files of the pk3 go
//! out as bytes.
//!
//! Invariants: the same source gives the same bytes on every machine and with any number of threads. A problem of
//! the source is a [`Diagnostic`] with file and line. Counts are limited, so that no source costs unbounded work.
//!
//! Source: IBSP 46, and the `.map` format of the base game's editors.

mod archive;
mod areas;
mod blocks;
mod brushes;
mod checks;
mod classes;
mod costly;
mod diagnostic;
#[cfg(test)]
mod draft_work;
mod flood;
mod fogs;
mod geometry;
pub mod image;
mod images;
mod keys;
pub mod light;
mod lit_scene;
pub mod map_file;
mod materials;
mod models;
pub mod package;
mod patches;
mod planes;
mod portals;
mod projection;
pub mod shaders;
mod source_form;
mod surfaces;
pub mod textures;
mod tokens;
mod tree;
mod vector;
mod visibility;
mod visible_sides;
mod winding;
mod writer;

pub use diagnostic::{BuildError, Diagnostic, Leak, shortened};
pub use images::Files;
pub use vector::Vector;

use diagnostic::Findings;
use materials::Materials;
use shaders::Shaders;

/// Installed data of a game, which clients have too. Nothing of it is packed.
#[derive(Clone, Copy)]
pub struct GameSources<'a> {
    /// Shader scripts with their names.
    pub scripts: &'a [(String, Vec<u8>)],
    /// Reader of images by name.
    pub files: &'a images::Files<'a>,
}

/// Source of a map, and how to build it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Name of the map: that of the `.bsp` file without extension.
    pub name: &'a str,
    /// Name of the source for error messages.
    pub file: &'a str,
    /// Text of the `.map` file.
    pub text: &'a [u8],
    /// Shader scripts with their names.
    pub scripts: &'a [(String, Vec<u8>)],
    /// Reader of the author's images by name, such as `textures/arena/wall.tga`.
    pub files: &'a images::Files<'a>,
    /// Data of the game, if it is installed.
    pub game: Option<GameSources<'a>>,
    /// Effort for light.
    pub effort: Effort,
    /// Number of threads for light.
    pub threads: usize,
}

/// Effort for light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// No light: geometry alone, for tests and tools.
    Dark,
    /// Fewer samples, no bounce, and a visible set without planes between openings: for drafts.
    Fast,
    /// Everything.
    Full,
}

impl Effort {
    /// Returns the effort for the visible set.
    const fn precision(self) -> visibility::Precision {
        match self {
            Self::Fast => visibility::Precision::Draft,
            Self::Dark | Self::Full => visibility::Precision::Full,
        }
    }
}

/// Stage of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildPhase {
    /// Brushes, and textures that are drawn.
    Source,
    /// Planes and trees.
    Tree,
    /// Potentially visible set.
    Visibility,
    /// Surfaces.
    Surfaces,
    /// Light.
    Light,
    /// Textures and archive.
    Package,
}

impl BuildPhase {
    /// Returns the name of the stage.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Tree => "tree",
            Self::Visibility => "visibility",
            Self::Surfaces => "surfaces",
            Self::Light => "light",
            Self::Package => "package",
        }
    }
}

/// A built map.
#[derive(Clone, Debug)]
pub struct Built {
    /// Archive for clients, the map file included; empty without light.
    pub pk3: Vec<u8>,
    /// Map file alone.
    pub bsp: Vec<u8>,
    /// Problems that did not stop the build.
    pub warnings: Vec<Diagnostic>,
    /// Brushes that cost the most work of visibility, of use when that took long.
    pub hints: Vec<Diagnostic>,
    /// Counts of the map.
    pub counts: Counts,
    /// Textures and shaders of the game's data that the map uses, by name.
    pub of_game: Vec<String>,
    /// Layers that were left out.
    pub omitted_layers: Vec<String>,
    /// Way out of the map, if it is not closed.
    pub leak: Option<Leak>,
}

/// Counts of a built map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Brushes.
    pub brushes: usize,
    /// Planes, both directions.
    pub planes: usize,
    /// Nodes of the tree.
    pub nodes: usize,
    /// Clusters.
    pub clusters: usize,
    /// Portals between leafs.
    pub portals: usize,
    /// Work of the visible set, in visits of a portal.
    pub sight_work: u64,
    /// Areas.
    pub areas: usize,
    /// Surfaces.
    pub surfaces: usize,
}

impl Counts {
    fn of_geometry(geometry: &geometry::Geometry) -> Self {
        let brushes = geometry.models.iter().flat_map(|model| &model.brushes);
        Self {
            brushes: brushes.filter(|brush| brush.number.is_some()).count(),
            planes: geometry.planes.all().len(),
            nodes: geometry.tree.nodes.len(),
            clusters: geometry.clusters,
            portals: geometry.portals,
            sight_work: geometry.sight_work,
            areas: geometry.areas,
            surfaces: geometry.surfaces.len(),
        }
    }
}

/// Reads the shaders of author and game. Problems of the author's scripts are reported.
fn shaders_of(source: &Source<'_>, findings: &mut Findings) -> Shaders {
    let mut shaders = Shaders::new();
    for (file, text) in source.scripts {
        shaders.add_script(file, text, findings);
    }
    for (file, text) in source.game.iter().flat_map(|game| game.scripts) {
        shaders.add_game_script(file, text);
    }
    shaders
}

/// Builds a map. `progress` receives stage, finished and total steps.
///
/// # Errors
/// Returns all problems that stopped the build.
pub fn build(
    source: &Source<'_>,
    progress: &mut dyn FnMut(BuildPhase, usize, usize),
) -> Result<Built, BuildError> {
    progress(BuildPhase::Source, 0, 1);
    let mut findings = Findings::new(source.file);
    // The longest name of the archive with that of the map.
    let longest = format!("levelshots/{}.jpg", source.name);
    if source.effort != Effort::Dark
        && let Err(error) = package::check_name(&longest)
    {
        findings.error(0, error.to_string());
    }
    let before = findings.error_count();
    let shaders = shaders_of(source, &mut findings);
    let has_all_shaders = findings.error_count() == before;
    let reading = map_file::read_parts(source.text, &mut findings);
    let reading = reading.ok_or_else(|| findings.fail())?;
    let omitted_layers = reading.map.omitted_layers.clone();
    let mut images = images::Images::new(source, has_all_shaders);
    let mut geometry = geometry::compile(
        reading,
        Materials::new(shaders),
        &mut images,
        geometry::Options { precision: source.effort.precision(), threads: source.threads },
        &mut findings,
        progress,
    )?;
    lit_scene::fit_grid(&mut geometry);
    let mut bsp = writer::write(&geometry, &light::Lighting::default());
    // Light takes longest, so that errors come before it.
    checks::check_file(&bsp, &geometry, &mut findings);
    findings.check()?;
    let of_game = images.of_game(geometry.materials.all());
    let mut pk3 = Vec::new();
    if source.effort != Effort::Dark {
        let fast = source.effort == Effort::Fast;
        let options = light::Options { fast, threads: source.threads };
        let mut report = |done, total| progress(BuildPhase::Light, done, total);
        let scene = lit_scene::of_geometry(&geometry);
        let lighting = light::light(&scene, options, &mut report);
        lit_scene::report_luxel(&scene, &lighting, &mut findings);
        lit_scene::report_savings(&lighting, fast, &mut findings);
        bsp = writer::write(&geometry, &lighting);
        progress(BuildPhase::Package, 0, 1);
        let contents = archive::Contents {
            name: source.name,
            geometry: &geometry,
            scene: &scene,
            lighting: &lighting,
        };
        pk3 = contents.pack(&bsp, images, &mut findings);
        findings.check()?;
    }
    let counts = Counts::of_geometry(&geometry);
    let (warnings, hints, leak) = (findings.into_warnings(), geometry.hints, geometry.leak);
    Ok(Built { pk3, bsp, warnings, hints, counts, of_game, omitted_layers, leak })
}

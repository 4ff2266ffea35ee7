//! Geometry of a map: from the source to trees, visibility and surfaces.

use super::{
    BuildPhase,
    areas::{number_areas, number_clusters},
    blocks::Blocks,
    brushes::BrushSide,
    checks,
    costly::{self, costly_brushes},
    diagnostic::{BuildError, Diagnostic, Findings, Leak},
    flood::{Start, flood},
    fogs::Fogs,
    images::Images,
    map_file::{Entity, MapReading},
    materials::Materials,
    models::{self, Model},
    planes::Planes,
    portals::Portals,
    surfaces::{self, Shape, Surface, close_gaps, fitting, is_drawn, list_in_leafs},
    tree::{SplitFace, Tree},
    vector::{Bounds, Vector},
    visibility::{Bits, Precision, VisibleSet, visible_set},
    visible_sides::{Scene, VisibleSide},
    winding::Winding,
};
use crate::model::contents::{content, surface};

/// Progress steps of each of the three parts of the tree stage.
const PART: usize = 100;
/// Brushes between two progress reports.
const REPORT_INTERVAL: usize = 64;

/// Geometry of a map.
#[derive(Debug)]
pub(super) struct Geometry {
    /// Entities that are written, without groups.
    pub entities: Vec<Entity>,
    /// Planes.
    pub planes: Planes,
    /// Shaders in use.
    pub materials: Materials,
    /// The world, then the brush models.
    pub models: Vec<Model>,
    /// Tree with brushes and surfaces.
    pub tree: Tree,
    /// Number of clusters.
    pub clusters: usize,
    /// Number of areas.
    pub areas: usize,
    /// Visible clusters by cluster; none without visibility data.
    pub visibility: Option<Vec<Bits>>,
    /// Fogs.
    pub fogs: Fogs,
    /// Surfaces, model by model.
    pub surfaces: Vec<Surface>,
    /// Number of portals, for statistics.
    pub portals: usize,
    /// Work of the visible set, in visits of a portal.
    pub sight_work: u64,
    /// Way out of the map, if it is not closed.
    pub leak: Option<Leak>,
    /// Brushes that an author should make detail to save work.
    pub hints: Vec<Diagnostic>,
}

/// Effort for geometry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Effort for the visible set.
    pub precision: Precision,
    /// Number of threads.
    pub threads: usize,
}

/// Compiler of one map's geometry.
struct Compiler<'a> {
    planes: Planes,
    materials: Materials,
    models: Vec<Model>,
    bounds: Bounds,
    blocks: Blocks,
    starts: Vec<Start>,
    leak: Option<Leak>,
    findings: &'a mut Findings,
}

/// Compiles a map's geometry.
///
/// # Errors
/// Returns all problems found.
pub(super) fn compile(
    mut reading: MapReading,
    mut materials: Materials,
    images: &mut Images<'_>,
    options: Options,
    findings: &mut Findings,
    progress: &mut dyn FnMut(BuildPhase, usize, usize),
) -> Result<Geometry, BuildError> {
    let mut planes = Planes::default();
    let models = models::of_map(&mut reading.map, &mut planes, &mut materials, findings);
    checks::check_source(&reading, models[0].brushes.is_empty(), findings);
    images.load(materials.all(), options.threads);
    images.find_all(materials.all_mut(), findings);
    let map = reading.map;
    let starts = starts(&map.entities);
    if starts.is_empty() && reading.is_whole {
        findings.error(1, "no entity has an origin (expected spawn points inside the map)");
    }
    findings.check()?;
    let world = models[0].brushes.iter();
    let bounds = world.fold(Bounds::EMPTY, |bounds, brush| bounds.union(brush.bounds));
    let blocks = Blocks::of_map(&map.entities[0], &bounds, findings);
    let mut compiler =
        Compiler { planes, materials, models, bounds, blocks, starts, leak: None, findings };
    let (mut tree, portals, visible) = compiler.trees(progress)?;

    let clusters = number_clusters(&mut tree);
    let world = &compiler.models[0].brushes;
    let areas = number_areas(&mut tree, &portals, world, compiler.findings);
    let costly = costly_brushes(&tree, &portals, &compiler.planes, world);
    let mut report = |done, total| progress(BuildPhase::Visibility, done, total);
    let set = if compiler.leak.is_none() {
        let planes = &compiler.planes;
        let set = visible_set(&tree, &portals, planes, clusters, options.precision, &mut report);
        costly::report_budget(&set, &costly, compiler.findings);
        set
    } else {
        VisibleSet::default()
    };
    compiler.add_detail(&mut tree)?;
    let mut report = |done, total| progress(BuildPhase::Surfaces, done, total);
    let fogs = compiler.fogs(&visible);
    let origins = models::origins(&map.entities, compiler.models.len());
    let surfaces = close_gaps(compiler.surfaces(visible, &fogs, &origins), &mut report);
    let lost = list_in_leafs(&mut tree, &surfaces, &compiler.planes);
    compiler.report_lost(&surfaces, &lost);
    compiler.findings.check()?;
    let hints = costly::hints(compiler.findings.file(), &set, &costly);
    let Compiler { planes, materials, models, leak, .. } = compiler;
    Ok(Geometry {
        entities: map.entities,
        planes,
        materials,
        models,
        tree,
        clusters,
        areas,
        visibility: set.rows,
        fogs,
        surfaces,
        portals: portals.list.len(),
        sight_work: set.work,
        leak,
        hints,
    })
}

/// Returns the entities from which the inside is found.
fn starts(entities: &[Entity]) -> Vec<Start> {
    let point = |entity: &Entity| {
        let origin = entity.vector("origin")?;
        let is_point = entity.value("model").is_none_or(|model| !model.starts_with('*'));
        is_point.then(|| Start { class: entity.class().to_owned(), line: entity.line, origin })
    };
    let starts: Vec<Start> = entities.iter().skip(1).filter_map(point).collect();
    // Editors leave entities without a place at the origin of the world.
    let placed: Vec<Start> =
        starts.iter().filter(|start| start.origin != Vector::ZERO).cloned().collect();
    if placed.is_empty() { starts } else { placed }
}

impl Compiler<'_> {
    /// Makes both trees. Returns the second with its portals, and the visible parts of the world's sides.
    fn trees(
        &mut self,
        progress: &mut dyn FnMut(BuildPhase, usize, usize),
    ) -> Result<(Tree, Portals, Vec<Vec<VisibleSide>>), BuildError> {
        let mut faces = Vec::new();
        for brush in self.models[0].brushes.iter().filter(|brush| !brush.is_detail) {
            for side in &brush.sides {
                faces.extend(self.face(side, side.winding.clone()));
            }
        }
        let mut report = |part: usize, done: usize, total: usize| {
            progress(BuildPhase::Tree, part * PART + done * PART / total.max(1), 3 * PART);
        };
        let (first, _) = self.tree(faces, &mut |done, total| report(0, done, total))?;
        let visible = self.visible_sides(&first, &mut |done, total| report(1, done, total));
        let mut faces = Vec::new();
        for (brush, visible) in self.models[0].brushes.iter().zip(&visible) {
            for (side, visible) in brush.sides.iter().zip(visible) {
                if !brush.is_detail {
                    faces.extend(self.face(side, visible.for_tree.clone()));
                }
            }
        }
        let (tree, portals) = self.tree(faces, &mut |done, total| report(2, done, total))?;
        Ok((tree, portals, visible))
    }

    /// Adds the detail brushes to the leafs of a tree.
    fn add_detail(&mut self, tree: &mut Tree) -> Result<(), BuildError> {
        for (index, brush) in self.models[0].brushes.iter().enumerate() {
            if brush.is_detail
                && brush.number.is_some()
                && let Err(error) = tree.add_brush(index, brush, &self.planes)
            {
                return Err(self.failed(error.text()));
            }
        }
        tree.leafs.iter_mut().for_each(|leaf| leaf.brushes.sort_unstable());
        Ok(())
    }

    /// Returns the face that splits the tree for a side.
    fn face(&self, side: &BrushSide, winding: Option<Winding>) -> Option<SplitFace> {
        let flags = self.materials[side.material].shader.surface_flags;
        if flags & surface::SKIP != 0 {
            return None;
        }
        let is_hint = flags & surface::HINT != 0;
        Some(SplitFace { winding: winding?, plane: side.plane & !1, is_hint })
    }

    /// Makes a tree with its structural brushes and portals, and closes what no entity reaches.
    fn tree(
        &mut self,
        faces: Vec<SplitFace>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(Tree, Portals), BuildError> {
        let built = Tree::build(faces, self.bounds, &mut self.planes, self.blocks, progress);
        let mut tree = built.map_err(|error| self.failed(error.text()))?;
        for (index, brush) in self.models[0].brushes.iter().enumerate() {
            if brush.is_detail {
                continue;
            }
            let reached = tree.add_brush(index, brush, &self.planes);
            let reached = match reached {
                Ok(reached) => reached,
                Err(error) => return Err(self.failed(error.text())),
            };
            for leaf in reached {
                let leaf = &mut tree.leafs[leaf];
                leaf.is_opaque |= brush.is_opaque();
                if brush.contents & content::AREAPORTAL != 0 {
                    leaf.area_portal = Some(index);
                }
            }
        }
        let Some(portals) = Portals::of_tree(&mut tree, self.bounds, &self.planes) else {
            let what =
                "too many portals between structural brushes (expected small brushes as detail)";
            return Err(self.failed(what));
        };
        match flood(&mut tree, &portals, &self.starts, &self.planes) {
            Ok(in_solid) if in_solid.len() == self.starts.len() => {
                let what =
                    "all entities are in solid brushes (expected spawn points inside the map)";
                self.findings.error(in_solid[0].line, what);
                Err(self.findings.fail())
            }
            Ok(_) => Ok((tree, portals)),
            Err(leak) => {
                // The second tree has the same leak.
                if self.leak.is_none() {
                    self.findings.leak(&leak);
                    self.leak = Some(leak);
                }
                Ok((tree, portals))
            }
        }
    }

    /// Returns a failed build with one more problem.
    fn failed(&mut self, what: &str) -> BuildError {
        self.findings.error(0, what);
        self.findings.fail()
    }

    /// Returns the visible parts of each side of each world brush.
    fn visible_sides(
        &self,
        tree: &Tree,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Vec<Vec<VisibleSide>> {
        let brushes = &self.models[0].brushes;
        let mut scene = Scene::new(tree, &self.planes, brushes);
        let mut of_brush = |(number, brush): (usize, &super::brushes::Brush)| {
            if number.is_multiple_of(REPORT_INTERVAL) {
                progress(number, brushes.len());
            }
            scene.visible(number, |side| is_drawn(&self.materials, brush.sides[side].material))
        };
        brushes.iter().enumerate().map(&mut of_brush).collect()
    }

    fn fogs(&mut self, visible: &[Vec<VisibleSide>]) -> Fogs {
        let world = &self.models[0].brushes;
        Fogs::of_world(world, visible, &self.planes, &self.materials, self.findings)
    }

    /// Returns the surfaces of all models, whose origins are given.
    fn surfaces(
        &self,
        world: Vec<Vec<VisibleSide>>,
        fogs: &Fogs,
        origins: &[Vector],
    ) -> Vec<Surface> {
        let mut list = Vec::new();
        let mut world = world.into_iter();
        for (number, (model, &origin)) in self.models.iter().zip(origins).enumerate() {
            for brush in &model.brushes {
                let visible = if number == 0 { world.next() } else { None };
                for (index, side) in brush.sides.iter().enumerate() {
                    if !is_drawn(&self.materials, side.material) {
                        continue;
                    }
                    let drawn = match &visible {
                        Some(sides) => sides[index].drawn.clone(),
                        None => side.winding.iter().cloned().collect(),
                    };
                    let plane = &self.planes[side.plane];
                    let parts =
                        drawn.into_iter().flat_map(|part| fogs.cut(part, plane.normal, origin));
                    for (part, fog) in parts {
                        let parts = fitting(part, plane).into_iter();
                        list.extend(parts.map(|winding| self.polygon(number, side, winding, fog)));
                    }
                }
            }
            for (material, patch) in &model.patches {
                if surfaces::is_drawn(&self.materials, *material) || number == 0 {
                    let fog = fogs.of_patch(patch, origin);
                    let shape = Shape::Patch(patch.clone());
                    list.push(Surface { material: *material, model: number, shape, fog });
                }
            }
        }
        list
    }

    fn polygon(
        &self,
        model: usize,
        side: &BrushSide,
        winding: Winding,
        fog: Option<usize>,
    ) -> Surface {
        let BrushSide { plane, projection, material, .. } = *side;
        Surface { material, model, shape: Shape::Polygon { winding, plane, projection }, fog }
    }

    fn report_lost(&mut self, surfaces: &[Surface], lost: &[usize]) {
        for &number in lost {
            if let Shape::Patch(patch) = &surfaces[number].shape {
                let what =
                    "patch is outside the map or inside solid brushes (expected it in a room)";
                self.findings.warn(patch.line, what);
            }
        }
    }
}

//! Brush models of a map: the world, and each entity with brushes or patches.
//!
//! Invariants: model 0 is the world with all groups; the key `model` of another model's entity is `*N`; brushes
//! are numbered without gaps, model by model.

use std::collections::BTreeMap;

use super::{
    brushes::{Brush, MixedContents},
    diagnostic::Findings,
    map_file::{Entity, MapFile, Patch},
    materials::Materials,
    planes::Planes,
    vector::{Bounds, Vector},
};
use crate::{model::contents::content, world::bsp::MAX_MODELS};

/// Spawn flag of a model of a file with which other compilers make it solid.
const SOLID_MODEL: i64 = 2;

/// A brush model.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// Brushes, those that only steer the compiler included.
    pub brushes: Vec<Brush>,
    /// Patches with their materials.
    pub patches: Vec<(usize, Patch)>,
}

impl Model {
    /// Returns the box around brushes and patches.
    #[must_use]
    pub(super) fn bounds(&self) -> Bounds {
        let brushes = self.brushes.iter().filter(|brush| brush.number.is_some());
        let brushes = brushes.fold(Bounds::EMPTY, |bounds, brush| bounds.union(brush.bounds));
        let patches = self.patches.iter().flat_map(|(_, patch)| &patch.points);
        patches.fold(brushes, |bounds, point| bounds.with(point.position))
    }
}

/// Makes the models of a source and updates its entities.
///
/// Groups and empty entities are removed; the keys `model` and `origin` are set.
pub(super) fn of_map(
    map: &mut MapFile,
    planes: &mut Planes,
    materials: &mut Materials,
    findings: &mut Findings,
) -> Vec<Model> {
    leave_out(&mut map.entities, findings);
    let mut mixed = MixedContents::of_world(&map.entities[0], findings);
    let mut models = vec![Model::default()];
    let mut first_too_many = None;
    for (index, entity) in map.entities.iter_mut().enumerate() {
        let is_world = index == 0 || entity.class().eq_ignore_ascii_case("func_group");
        let (mut model, origin) = model_of(entity, planes, materials, &mut mixed, findings);
        if is_world {
            models[0].brushes.append(&mut model.brushes);
            models[0].patches.append(&mut model.patches);
            continue;
        }
        if model.brushes.is_empty() && model.patches.is_empty() {
            continue;
        }
        if let Some(origin) = origin {
            entity.set("origin", text(origin));
            for brush in &mut model.brushes {
                brush.move_to_origin(origin, planes);
            }
            for point in model.patches.iter_mut().flat_map(|(_, patch)| &mut patch.points) {
                point.position = point.position - origin;
            }
        }
        entity.set("model", format!("*{}", models.len()));
        models.push(model);
        if models.len() > MAX_MODELS {
            first_too_many.get_or_insert(entity.line);
        }
    }
    mixed.report(findings);
    if let Some(line) = first_too_many {
        let what = format!(
            "too many entities with brushes: {} (max {}; the first beyond it is here; expected still ones as \
             func_group or brushes of the world)",
            models.len() - 1,
            MAX_MODELS - 1
        );
        findings.error(line, what);
    }
    let is_group = |entity: &Entity| entity.class().eq_ignore_ascii_case("func_group");
    map.entities.retain(|entity| !is_group(entity));
    finish(&mut models, planes, materials);
    models
}

/// Removes entities that only other compilers use, and reports them by class.
///
/// Models of files and decals are not drawn, and a sky box is not made. A class of the game begins with a letter.
fn leave_out(entities: &mut Vec<Entity>, findings: &mut Findings) {
    let mut left_out: BTreeMap<String, (u32, usize, usize)> = BTreeMap::new();
    entities.retain(|entity| {
        let class = entity.class().to_ascii_lowercase();
        if class != "misc_model" && !class.starts_with('_') {
            return true;
        }
        let is_solid = entity.number("spawnflags", 0.0) as i64 & SOLID_MODEL != 0;
        let (_, count, solid) = left_out.entry(class).or_insert((entity.line, 0, 0));
        *count += 1;
        *solid += usize::from(is_solid);
        false
    });
    for (class, (line, count, solid)) in left_out {
        let what = match (class.as_str(), solid) {
            ("misc_model", 0) => "they are not drawn (expected brushes or patches)".to_owned(),
            ("misc_model", _) => format!(
                "they are not drawn, and {solid} solid ones do not collide (expected brushes or patches, \
                 and clip brushes for collision)"
            ),
            _ => "only other compilers use them".to_owned(),
        };
        findings
            .warn(line, format!("{class} entities left out: {count}, the first one here; {what}"));
    }
}

/// Returns the origins of the models. An entity names its model by the key `model`.
pub(super) fn origins(entities: &[Entity], models: usize) -> Vec<Vector> {
    let mut origins = vec![Vector::ZERO; models];
    for entity in entities {
        let number = entity.value("model").and_then(|name| name.strip_prefix('*')?.parse().ok());
        let origin = number.and_then(|number: usize| origins.get_mut(number));
        if let (Some(at), Some(origin)) = (origin, entity.vector("origin")) {
            *at = origin;
        }
    }
    origins
}

/// Reads brushes and patches of an entity, and the middle of its origin brush.
fn model_of(
    entity: &mut Entity,
    planes: &mut Planes,
    materials: &mut Materials,
    mixed: &mut MixedContents,
    findings: &mut Findings,
) -> (Model, Option<Vector>) {
    let mut model = Model::default();
    let mut origin = None;
    for source in std::mem::take(&mut entity.brushes) {
        let Some(brush) = Brush::new(&source, planes, materials, mixed, findings) else { continue };
        if brush.contents & content::ORIGIN != 0 {
            origin = Some(brush.bounds.center());
        } else {
            model.brushes.push(brush);
        }
    }
    for patch in std::mem::take(&mut entity.patches) {
        model.patches.push((materials.add(&patch.texture, patch.line), patch));
    }
    (model, origin)
}

/// Adds bevels and numbers the brushes that are written.
fn finish(models: &mut [Model], planes: &mut Planes, materials: &Materials) {
    let mut number = 0;
    for brush in models.iter_mut().flat_map(|model| &mut model.brushes) {
        brush.add_bevels(planes);
        if !brush.is_hint(materials) {
            brush.number = Some(number);
            number += 1;
        }
    }
}

/// Returns the text of a position as in entity values.
fn text(point: Vector) -> String {
    let [x, y, z] = point.0;
    format!("{x} {y} {z}")
}

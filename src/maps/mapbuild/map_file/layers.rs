//! Layers that the editor omits from export, with all that belongs to them.
//!
//! Source: TrenchBroom. A layer is a `func_group` with `_tb_type _tb_layer`; `_tb_layer` of a group or an entity names the
//! number `_tb_id` of its layer, `_tb_group` that of its group. The default layer is `worldspawn`.

use std::collections::BTreeSet;

use super::Entity;

/// Removes the omitted layers and returns their names.
pub(super) fn leave_out(entities: &mut Vec<Entity>) -> Vec<String> {
    let mut omitted = Vec::new();
    let mut layers = BTreeSet::new();
    let mut has_default = true;
    for (index, entity) in entities.iter().enumerate() {
        let is_layer = index == 0 || is(entity, "_tb_type", "_tb_layer");
        if !is_layer || !is(entity, "_tb_layer_omit_from_export", "1") {
            continue;
        }
        if index == 0 {
            has_default = false;
            omitted.push("default".to_owned());
        } else if let Some(id) = entity.value("_tb_id") {
            layers.insert(id.to_owned());
            omitted.push(entity.value("_tb_name").unwrap_or(id).to_owned());
        }
    }
    if omitted.is_empty() {
        return omitted;
    }
    // A group may be inside a group that follows it.
    let mut groups = BTreeSet::new();
    let mut known = usize::MAX;
    while known != groups.len() {
        known = groups.len();
        for entity in entities.iter().filter(|entity| is(entity, "_tb_type", "_tb_group")) {
            if is_left_out(entity, &layers, &groups, has_default) {
                groups.extend(entity.value("_tb_id").map(str::to_owned));
            }
        }
    }
    let mut index = 0;
    entities.retain(|entity| {
        index += 1;
        let is_own_layer =
            is(entity, "_tb_type", "_tb_layer") && has(&layers, entity.value("_tb_id"));
        index == 1 || !is_own_layer && !is_left_out(entity, &layers, &groups, has_default)
    });
    if !has_default {
        entities[0].brushes.clear();
        entities[0].patches.clear();
    }
    omitted
}

/// Whether an entity belongs to an omitted layer, itself or by its group.
fn is_left_out(
    entity: &Entity,
    layers: &BTreeSet<String>,
    groups: &BTreeSet<String>,
    has_default: bool,
) -> bool {
    match (entity.value("_tb_layer"), entity.value("_tb_group")) {
        (_, Some(group)) => groups.contains(group),
        (Some(layer), None) => layers.contains(layer),
        (None, None) => !has_default && !is(entity, "_tb_type", "_tb_layer"),
    }
}

fn has(set: &BTreeSet<String>, id: Option<&str>) -> bool {
    id.is_some_and(|id| set.contains(id))
}

fn is(entity: &Entity, key: &str, value: &str) -> bool {
    entity.value(key) == Some(value)
}

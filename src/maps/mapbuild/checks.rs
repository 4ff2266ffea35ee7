//! Checks of a source's entities, and of a built map.
//!
//! The written file is loaded and traced with the code of the server.

use super::{
    classes,
    diagnostic::Findings,
    geometry::Geometry,
    keys,
    map_file::{Entity, MapReading},
    surfaces::{Shape, Surface},
};
use crate::{
    bg::items::ITEMS,
    model::{Vec3, contents::mask, text::counted},
    world::{
        Bsp, CollisionMap, MapEntities, TracePrecision, TraceQuery,
        collision::{CollisionError, PatchError, rejected_patches},
        entity_string::{
            EntityStringError, EntityStringErrorKind, MAX_ENTITIES, MAX_ENTITY_BYTES, MAX_TEXT_LEN,
        },
    },
};

/// Half the width of the boxes of items and players.
const HALF_WIDTH: f32 = 15.0;
/// Height that the game adds to the origin of a spawn point.
const SPAWN_LIFT: f32 = 9.0;
/// Lowest and highest point of a player, relative to the origin.
const PLAYER_HEIGHT: [f32; 2] = [-24.0, 32.0];

/// Spawn flag of items that float where they are, also in a wall.
const SUSPENDED: i64 = 1;
/// Classes of spawn points.
const SPAWN_POINTS: [&str; 6] = [
    "info_player_deathmatch",
    "info_player_start",
    "team_ctf_redplayer",
    "team_ctf_blueplayer",
    "team_ctf_redspawn",
    "team_ctf_bluespawn",
];
/// Brush entities that do nothing without a target.
const NEED_TARGET: [&str; 2] = ["trigger_push", "trigger_teleport"];

/// Checks the entities of a source, whose brushes are in models already. What was not read is not missed.
pub(super) fn check_source(source: &MapReading, is_empty: bool, findings: &mut Findings) {
    let entities = &source.map.entities;
    if is_empty && source.is_whole {
        let what = match source.map.omitted_layers.as_slice() {
            [] => "worldspawn has no brushes (expected solid brushes around all rooms)".to_owned(),
            omitted => format!(
                "worldspawn has no brushes without its omitted layers: {} (expected layers with the rooms in the export)",
                omitted.join(", ")
            ),
        };
        findings.error(1, what);
    }
    check_lengths(entities, findings);
    for world in entities.iter().skip(1) {
        if world.class().eq_ignore_ascii_case("worldspawn") {
            let what = "second worldspawn has no effect (expected one, its keys and brushes in the first entity)";
            findings.warn(world.line, what);
        }
    }
    for entity in entities {
        classes::check(entity, source.is_whole, findings);
        keys::check(entity, findings);
    }
    if source.has_all_keys {
        check_keys(entities, findings);
        check_links(entities, findings);
    }
}

/// Checks the written file and the places of its entities.
pub(super) fn check_file(file: &[u8], geometry: &Geometry, findings: &mut Findings) {
    let entities = &geometry.entities;
    let map = match Bsp::load(file) {
        Ok(map) => map,
        Err(error) => return findings.error(0, format!("written map file is not valid: {error}")),
    };
    for warning in &map.warnings {
        findings.error(0, format!("written map file is not valid: {warning}"));
    }
    if let Err(error) = MapEntities::parse(&map.entity_text) {
        report_entities(&error, map.entity_text.len(), entities, findings);
    }
    match CollisionMap::new(&map, TracePrecision::default()) {
        Ok(collision) => check_places(&collision, entities, findings),
        Err(_) => report_patches(&rejected_patches(&map), &geometry.surfaces, findings),
    }
}

/// Reports entities beyond the limits of servers, at the first key or entity that is too much.
fn report_entities(
    error: &EntityStringError,
    len: usize,
    entities: &[Entity],
    findings: &mut Findings,
) {
    let (line, what) = match &error.fault {
        EntityStringErrorKind::TooLong { .. } => (
            written_line(entities, |place| place.bytes > MAX_TEXT_LEN),
            format!(
                "entities too long for servers: {len} bytes (max {MAX_TEXT_LEN}, reached here; expected fewer \
                 entities, or shorter keys and values)"
            ),
        ),
        EntityStringErrorKind::TooManyEntities => (
            written_line(entities, |place| place.entities > MAX_ENTITIES),
            format!(
                "too many entities for servers: {} without lights and groups (max {MAX_ENTITIES}, reached here; \
                 expected fewer entities)",
                entities.iter().filter(|entity| entity.is_written()).count()
            ),
        ),
        fault => (
            written_line(entities, |place| place.lines >= error.line),
            format!("entity cannot be read by servers: {fault}"),
        ),
    };
    findings.error(line, what);
}

/// Text of entities up to a pair.
#[derive(Clone, Copy)]
struct WrittenPlace {
    entities: usize,
    lines: u32,
    bytes: usize,
}

/// Returns the line of the source at which written entities reach a place; 0 if none does.
fn written_line(entities: &[Entity], is_there: impl Fn(WrittenPlace) -> bool) -> u32 {
    let mut place = WrittenPlace { entities: 0, lines: 0, bytes: 0 };
    for entity in entities.iter().filter(|entity| entity.is_written()) {
        place.entities += 1;
        place.lines += 1;
        place.bytes += "{\n".len();
        if is_there(place) {
            return entity.line;
        }
        for pair in entity.written_pairs() {
            place.lines += 1;
            // A byte per character, four quotes, a space and the end of the line.
            place.bytes += pair.key.chars().count() + pair.value.chars().count() + 6;
            if is_there(place) {
                return pair.line;
            }
        }
        place.lines += 1;
        place.bytes += "}\n".len();
    }
    0
}

/// Reports patches that engines reject, each at its line.
fn report_patches(rejected: &[CollisionError], surfaces: &[Surface], findings: &mut Findings) {
    for CollisionError { surface, fault } in rejected {
        let shape = surfaces.get(surface.index()).map(|surface| &surface.shape);
        let line = if let Some(Shape::Patch(patch)) = shape { patch.line } else { 0 };
        let remedy = match fault {
            PatchError::Work => "fewer or flatter patches",
            _ => "several smaller patches, or fewer control points",
        };
        findings.error(line, format!("patch too fine for engines: {fault} (expected {remedy})"));
    }
}

fn check_lengths(entities: &[Entity], findings: &mut Findings) {
    for entity in entities {
        let written = entity.written_pairs();
        let len: usize = written.map(|pair| pair.key.len() + pair.value.len() + 2).sum();
        if len > MAX_ENTITY_BYTES {
            let what = format!(
                "keys and values of an entity too long: {} (max {MAX_ENTITY_BYTES})",
                counted(len, "byte")
            );
            findings.error(entity.line, what);
        }
    }
}

/// Reports entities without a class, and spawn points without a position.
fn check_keys(entities: &[Entity], findings: &mut Findings) {
    for entity in entities {
        if entity.class().is_empty() {
            findings.error(entity.line, "entity without a class (expected the key \"classname\")");
        }
        if is_spawn_point(entity) && entity.value("origin").is_none() {
            let what =
                format!("{} without a position (expected the key \"origin\")", entity.class());
            findings.warn(entity.line, what);
        }
    }
}

fn check_links(entities: &[Entity], findings: &mut Findings) {
    let has_name = |target: &str| {
        let mut names = entities.iter().filter_map(|entity| entity.value("targetname"));
        names.any(|name| name.eq_ignore_ascii_case(target))
    };
    for entity in entities {
        let class = entity.class();
        match entity.value("target") {
            Some(target) if !has_name(target) => {
                let line = entity.pair("target").map_or(entity.line, |pair| pair.line);
                let what = format!(
                    "target of {class} does not exist: {target:?} (expected an entity with this targetname)"
                );
                findings.warn(line, what);
            }
            None if NEED_TARGET.iter().any(|known| known.eq_ignore_ascii_case(class)) => {
                let what = format!("{class} without a target (expected the key \"target\")");
                findings.warn(entity.line, what);
            }
            _ => {}
        }
    }
    if !entities.iter().any(is_spawn_point) {
        findings.warn(1, "no spawn point (expected 8 to 12 info_player_deathmatch)");
    }
}

/// Reports items and spawn points that do not fit where they stand.
fn check_places(collision: &CollisionMap, entities: &[Entity], findings: &mut Findings) {
    for entity in entities {
        let Some(origin) = entity.vector("origin") else { continue };
        let origin = Vec3(origin.to_f32());
        let flat = |z: f32| Vec3::new(HALF_WIDTH, HALF_WIDTH, z);
        let (mins, maxs, lift, clip_mask) = if is_spawn_point(entity) {
            let [low, high] = PLAYER_HEIGHT;
            (Vec3::new(-HALF_WIDTH, -HALF_WIDTH, low), flat(high), SPAWN_LIFT, mask::PLAYER_SOLID)
        } else if is_dropped_item(entity) {
            (flat(HALF_WIDTH) * -1.0, flat(HALF_WIDTH), 0.0, mask::SHOT)
        } else {
            continue;
        };
        let at = origin + Vec3::new(0.0, 0.0, lift);
        if collision.trace(&TraceQuery::line(at, at, clip_mask).with_box(mins, maxs)).startsolid {
            let [x, y, z] = origin.0;
            let what = format!(
                "{} in solid: its box at ({x} {y} {z}) touches a brush or patch (expected {HALF_WIDTH} \
                 units of space on all sides, the origin {} units over the floor)",
                entity.class(),
                if lift > 0.0 { "25" } else { "16" },
            );
            findings.warn(entity.line, what);
        }
    }
}

fn is_spawn_point(entity: &Entity) -> bool {
    SPAWN_POINTS.iter().any(|class| class.eq_ignore_ascii_case(entity.class()))
}

/// Whether the game drops the entity to the floor at the start. Other entities of editors stay.
fn is_dropped_item(entity: &Entity) -> bool {
    let is_item = ITEMS.iter().skip(1).any(|item| item.class.eq_ignore_ascii_case(entity.class()));
    is_item && entity.number("spawnflags", 0.0) as i64 & SUSPENDED == 0
}

//! Entities of a level from the entity string of its map.
//!
//! | class | becomes |
//! |---|---|
//! | `func_train` | mover along its path corners; a corner is the place of the model's lower corner, minus 1 |
//! | `func_lift` | mover up and down by 96 units |
//! | `trigger_teleport`, `trigger_push`, `trigger_hurt` | trigger in the box of its model |
//! | `info_intermission` | view between two matches: `origin`, and angles `mangle`; without one the first spawn point |
//! | `info_player_deathmatch`, `info_player_start` | spawn points; the second kind counts only without the first |
//!
//! Other classes are ignored.

use thiserror::Error;

use super::MAX_MOVERS;
use super::mover::{Mover, Stop};
use super::trigger::{Effect, Trigger};
use crate::bsp29::Bsp29;
use crate::model::Vec3;
use crate::world::{EntityStringError, entity_string::MapEntity};

/// Maximum number of corners of a train.
const MAX_CORNERS: usize = 64;
/// Distance at which a player touches the box of a trigger, in units: the engine widens both boxes by one.
const TOUCH_DISTANCE: f32 = 2.0;
/// Height of a player above the origin of a teleport destination, in units.
const DESTINATION_HEIGHT: f32 = 27.0;
/// Height of a player above the origin of a spawn point, in units.
const SPOT_HEIGHT: f32 = 1.0;
/// Way and speed of a lift, in units.
const LIFT: (f32, f32) = (96.0, 32.0);
/// Shortest pause of a train at a corner, in seconds.
const MIN_TRAIN_WAIT: f32 = 0.1;
/// Pause of a train before its first move, in seconds.
const TRAIN_PAUSE: f32 = 0.1;
/// Pause of a lift before its first move, in seconds.
const LIFT_PAUSE: f32 = 1.0;

/// Reasons to reject a map.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LevelError {
    /// Invalid entity string.
    #[error(transparent)]
    Entities(#[from] EntityStringError),
    /// More movers than supported.
    #[error("too many movers (max {MAX_MOVERS})")]
    TooManyMovers,
}

/// A spawn point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spot {
    pub(super) origin: Vec3,
    pub(super) angles: Vec3,
}

/// Entities of a level.
#[derive(Debug, Default)]
pub(super) struct Spawned {
    pub(super) movers: Vec<Mover>,
    pub(super) triggers: Vec<Trigger>,
    pub(super) spots: Vec<Spot>,
    pub(super) camera: Spot,
}

pub(super) fn spawn(map: &Bsp29) -> Result<Spawned, LevelError> {
    let entities = map.entities()?;
    let by_target =
        |name: &str| entities.all().iter().find(|entity| entity.field("targetname") == Some(name));
    let mut spawned = Spawned::default();
    let (mut starts, mut camera) = (Vec::new(), None);
    for entity in entities.all() {
        match entity.classname() {
            "func_train" => spawned.movers.extend(train(map, entity, by_target)),
            "func_lift" => spawned.movers.extend(lift(map, entity)),
            "trigger_teleport" | "trigger_push" | "trigger_hurt" => {
                spawned.triggers.extend(trigger(map, entity, by_target));
            }
            "info_player_deathmatch" => spawned.spots.push(spot(entity)),
            "info_player_start" => starts.push(spot(entity)),
            "info_intermission" => {
                let angles = entity.vec3("mangle").unwrap_or_else(|| entity.angles());
                camera = camera.or(Some(Spot { origin: entity.origin(), angles }));
            }
            _ => {}
        }
        if spawned.movers.len() > MAX_MOVERS {
            return Err(LevelError::TooManyMovers);
        }
    }
    if spawned.spots.is_empty() {
        spawned.spots = starts;
    }
    let first = spawned.spots.first().copied().unwrap_or_default();
    spawned.camera = camera.unwrap_or(first);
    Ok(spawned)
}

/// Returns the number of an entity's model.
fn model(map: &Bsp29, entity: &MapEntity) -> Option<usize> {
    let model = entity.field("model")?.strip_prefix('*')?.parse().ok()?;
    (1..map.models().len()).contains(&model).then_some(model)
}

fn spot(entity: &MapEntity) -> Spot {
    let origin = entity.origin() + Vec3::new(0.0, 0.0, SPOT_HEIGHT);
    Spot { origin, angles: entity.angles() }
}

fn train<'a>(
    map: &Bsp29,
    entity: &MapEntity,
    by_target: impl Fn(&str) -> Option<&'a MapEntity>,
) -> Option<Mover> {
    let model = model(map, entity)?;
    let (low, _) = map.models()[model].grown_box();
    let mut stops = Vec::new();
    let first = entity.field("target")?;
    let mut name = first;
    while let Some(corner) = by_target(name).filter(|_| stops.len() < MAX_CORNERS) {
        let wait = corner.float("wait").unwrap_or(0.0).max(MIN_TRAIN_WAIT);
        stops.push(Stop { offset: corner.origin() - low, wait });
        match corner.field("target") {
            // The path leads from its last corner to its first.
            Some(next) if next != first => name = next,
            _ => break,
        }
    }
    let speed = entity.float("speed").unwrap_or(100.0);
    Some(Mover::new(model, stops, speed, entity.int("dmg").unwrap_or(2), TRAIN_PAUSE))
}

fn lift(map: &Bsp29, entity: &MapEntity) -> Option<Mover> {
    let (height, speed) = LIFT;
    let bottom = entity.origin();
    let stops = [bottom, bottom + Vec3::new(0.0, 0.0, height)];
    let stops = stops.map(|offset| Stop { offset, wait: 0.0 });
    Some(Mover::new(model(map, entity)?, stops.into(), speed, 0, LIFT_PAUSE))
}

fn trigger<'a>(
    map: &Bsp29,
    entity: &MapEntity,
    by_target: impl Fn(&str) -> Option<&'a MapEntity>,
) -> Option<Trigger> {
    let (low, high) = map.models()[model(map, entity)?].grown_box();
    let origin = entity.origin();
    let effect = match entity.classname() {
        "trigger_teleport" => {
            let destination = by_target(entity.field("target")?)?;
            Effect::Teleport {
                origin: destination.origin() + Vec3::new(0.0, 0.0, DESTINATION_HEIGHT),
                angles: destination.angles(),
            }
        }
        "trigger_push" => {
            let speed = entity.float("speed").filter(|&speed| speed != 0.0).unwrap_or(1000.0);
            Effect::Push { velocity: direction(entity.angles()) * speed * 10.0 }
        }
        _ => Effect::Hurt { damage: entity.int("dmg").filter(|&dmg| dmg != 0).unwrap_or(5) },
    };
    let margin = Vec3([TOUCH_DISTANCE; 3]);
    Some(Trigger { low: origin + low - margin, high: origin + high + margin, effect })
}

/// Returns the direction of angles; a yaw of -1 is up, one of -2 down.
fn direction(angles: Vec3) -> Vec3 {
    use crate::model::trig::{Axes, DegreeFactor};
    match angles.0 {
        [0.0, -1.0, 0.0] => Vec3::new(0.0, 0.0, 1.0),
        [0.0, -2.0, 0.0] => Vec3::new(0.0, 0.0, -1.0),
        _ => Axes::of_angles(angles, DegreeFactor::Double).forward,
    }
}

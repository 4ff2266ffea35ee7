//! Solid entities around a player: the world, brush entities and players.
//!
//! Invariant: the entities in reach of a move are found once, and its result is that of a search for each trace.
//!
//! Source: QuakeWorld protocol 28. Engine names: `physent_t`, `PM_TraceLine`, `PM_TestPlayerPosition`,
//! `PM_PointContents`.

use super::{PLAYER_MAXS, PLAYER_MINS};
use crate::bsp29::{BoxHull, Bsp29, Contents, HullSize, HullTrace};
use crate::model::Vec3;

/// Maximum number of entities of a move, with the world. Later ones are not solid.
pub const MAX_SOLID_ENTITIES: usize = 64;

/// A solid entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidEntity {
    /// Shape around the origin.
    pub shape: SolidShape,
    /// Position.
    pub origin: Vec3,
}

/// Shape of a solid entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolidShape {
    /// A model of the map, by its number.
    Model(usize),
    /// A box, e.g. of a player.
    Box {
        /// Lower corner.
        mins: Vec3,
        /// Upper corner.
        maxs: Vec3,
    },
}

impl SolidEntity {
    /// Returns the box of a player at a position.
    #[must_use]
    pub const fn player(origin: Vec3) -> Self {
        Self { shape: SolidShape::Box { mins: PLAYER_MINS, maxs: PLAYER_MAXS }, origin }
    }

    /// Returns a model of the map at an offset.
    #[must_use]
    pub const fn model(model: usize, origin: Vec3) -> Self {
        Self { shape: SolidShape::Model(model), origin }
    }
}

/// The world and the entities in it.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The map.
    pub map: &'a Bsp29,
    /// Entities beside the world: index 0 here is entity 1 of a move.
    pub entities: &'a [SolidEntity],
}

/// Result of a trace of a player.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayerTrace {
    pub(super) hit: HullTrace,
    /// SolidEntity that was hit; 0 is the world.
    pub(super) entity: Option<usize>,
}

impl PlayerTrace {
    /// Whether nothing was hit.
    pub(super) fn is_clear(&self) -> bool {
        self.hit.fraction == 1.0
    }
}

impl Scene<'_> {
    /// Whether a player fits at a position.
    pub(in super::super) fn has_room(&self, position: Vec3) -> bool {
        Nearby::all(self).has_room(position)
    }

    /// Entities that collide with a move, with their index in `entities`.
    fn solid(&self) -> impl Iterator<Item = (usize, &SolidEntity)> {
        self.entities.iter().take(MAX_SOLID_ENTITIES - 1).enumerate()
    }

    /// Whether the box of an entity touches the box between two corners.
    fn touches(&self, entity: &SolidEntity, mins: Vec3, maxs: Vec3) -> bool {
        let (low, high) = self.extent(entity);
        (0..3)
            .all(|i| low[i] + entity.origin[i] <= maxs[i] && high[i] + entity.origin[i] >= mins[i])
    }

    fn extent(&self, entity: &SolidEntity) -> (Vec3, Vec3) {
        match entity.shape {
            SolidShape::Model(model) => {
                let models = self.map.models();
                models.get(model).unwrap_or(&models[0]).grown_box()
            }
            SolidShape::Box { mins, maxs } => (mins, maxs),
        }
    }
}

/// A scene and the entities that one move can reach. All traces of the move look at these only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearby<'a> {
    scene: &'a Scene<'a>,
    /// One bit for each entity.
    reached: u64,
}

impl<'a> Nearby<'a> {
    /// All entities.
    pub(super) const fn all(scene: &'a Scene<'a>) -> Self {
        const { assert!(MAX_SOLID_ENTITIES <= 64, "one bit for each") };
        Self { scene, reached: u64::MAX }
    }

    /// Finds the entities within a distance of the box of a player at a position, on each axis. A distance that is not
    /// finite reaches all.
    pub(super) fn find(scene: &'a Scene<'a>, position: Vec3, distance: Vec3) -> Self {
        if !distance.is_finite() {
            return Self::all(scene);
        }
        let (mins, maxs) = (position + PLAYER_MINS - distance, position + PLAYER_MAXS + distance);
        let near = scene.solid().filter(|(_, entity)| scene.touches(entity, mins, maxs));
        Self { scene, reached: near.fold(0, |bits, (index, _)| bits | 1 << index) }
    }

    /// The map.
    pub(super) const fn map(&self) -> &'a Bsp29 {
        self.scene.map
    }

    /// Traces the box of a player.
    pub(super) fn trace(&self, start: Vec3, end: Vec3) -> PlayerTrace {
        let map = self.scene.map;
        let mut best = PlayerTrace { hit: HullTrace::clear(end), entity: None };
        let world = map.hull(0, HullSize::Player).trace(start, end);
        keep_nearest(&mut best, world, 0);
        for (index, entity) in self.near(start, end) {
            let (from, to) = (start - entity.origin, end - entity.origin);
            let mut hit = match entity.shape {
                SolidShape::Model(model) => map.hull(model, HullSize::Player).trace(from, to),
                SolidShape::Box { mins, maxs } => player_hull(mins, maxs).hull().trace(from, to),
            };
            hit.end += entity.origin;
            keep_nearest(&mut best, hit, index);
        }
        best
    }

    /// Whether a player fits at a position.
    pub(super) fn has_room(&self, position: Vec3) -> bool {
        let map = self.scene.map;
        let is_free = |contents| contents != Contents::SOLID;
        if !is_free(map.hull(0, HullSize::Player).contents_at(position)) {
            return false;
        }
        self.reached().all(|(_, entity)| {
            let point = position - entity.origin;
            match entity.shape {
                SolidShape::Model(model) => {
                    let hull = map.hull(model, HullSize::Player);
                    !self.is_near(entity, position, position) || is_free(hull.contents_at(point))
                }
                SolidShape::Box { mins, maxs } => !is_in_player_hull(mins, maxs, point),
            }
        })
    }

    /// Returns the contents of the world and of all brush entities at a point; solid before others.
    pub(super) fn contents_at(&self, point: Vec3) -> Contents {
        let map = self.scene.map;
        let mut found = map.contents_at(point);
        for (_, entity) in self.scene.solid() {
            if found == Contents::SOLID {
                break;
            }
            let SolidShape::Model(model) = entity.shape else { continue };
            let contents = map.hull(model, HullSize::Point).contents_at(point - entity.origin);
            if contents == Contents::SOLID || found == Contents::EMPTY {
                found = contents;
            }
        }
        found
    }

    /// Entities in reach whose box is within 1 unit of a trace, with their index in the move.
    fn near(&self, start: Vec3, end: Vec3) -> impl Iterator<Item = (usize, &'a SolidEntity)> {
        self.reached().filter(move |(_, entity)| self.is_near(entity, start, end))
    }

    fn is_near(&self, entity: &SolidEntity, start: Vec3, end: Vec3) -> bool {
        const REACH: f32 = 1.0;
        let side = |pick: fn(f32, f32) -> f32, corner: Vec3, reach: f32| {
            Vec3(std::array::from_fn(|i| pick(start[i], end[i]) + corner[i] + reach))
        };
        let mins = side(f32::min, PLAYER_MINS, -REACH);
        let maxs = side(f32::max, PLAYER_MAXS, REACH);
        self.scene.touches(entity, mins, maxs)
    }

    /// Entities in reach, with their index in the move.
    fn reached(&self) -> impl Iterator<Item = (usize, &'a SolidEntity)> {
        let entities = self.scene.entities;
        let entities = &entities[..entities.len().min(MAX_SOLID_ENTITIES - 1)];
        let mut left = self.reached;
        std::iter::from_fn(move || {
            let index = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            Some((index + 1, entities.get(index)?))
        })
    }
}

/// Returns the hull in which a player is a point.
fn player_hull(mins: Vec3, maxs: Vec3) -> BoxHull {
    BoxHull::new(mins - PLAYER_MAXS, maxs - PLAYER_MINS)
}

/// Whether a point is solid in that hull.
fn is_in_player_hull(mins: Vec3, maxs: Vec3, point: Vec3) -> bool {
    let (low, high) = (mins - PLAYER_MAXS, maxs - PLAYER_MINS);
    // A point on a plane is in front of it, as in trees.
    (0..3).all(|i| point[i] - high[i] < 0.0 && point[i] - low[i] >= 0.0)
}

/// Keeps the smallest fraction, and the first of equal ones.
fn keep_nearest(best: &mut PlayerTrace, mut hit: HullTrace, entity: usize) {
    if hit.start_solid {
        hit.fraction = 0.0;
    }
    if hit.fraction < best.hit.fraction {
        *best = PlayerTrace { hit, entity: Some(entity) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn solid_place_in_box_is_that_of_its_hull(
            at in prop::array::uniform3(-72_i16..72),
            grain in prop::sample::select(vec![1.0_f32, 0.5, 0.123]),
        ) {
            let point = Vec3(at.map(|part| f32::from(part) * grain));
            let hull = player_hull(PLAYER_MINS, PLAYER_MAXS);
            let is_solid = hull.hull().contents_at(point) == Contents::SOLID;
            prop_assert_eq!(is_in_player_hull(PLAYER_MINS, PLAYER_MAXS, point), is_solid);
        }
    }
}

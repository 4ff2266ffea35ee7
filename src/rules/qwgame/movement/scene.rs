//! Solid entities around a player: the world, brush entities and players.
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
    /// Traces the box of a player.
    pub(super) fn trace(&self, start: Vec3, end: Vec3) -> PlayerTrace {
        let mut best = PlayerTrace { hit: HullTrace::clear(end), entity: None };
        let world = self.map.hull(0, HullSize::Player).trace(start, end);
        keep_nearest(&mut best, world, 0);
        for (index, entity) in self.near(start, end) {
            let (from, to) = (start - entity.origin, end - entity.origin);
            let mut hit = match entity.shape {
                SolidShape::Model(model) => self.map.hull(model, HullSize::Player).trace(from, to),
                SolidShape::Box { mins, maxs } => player_hull(mins, maxs).hull().trace(from, to),
            };
            hit.end += entity.origin;
            keep_nearest(&mut best, hit, index);
        }
        best
    }

    /// Whether a player fits at a position.
    pub(in super::super) fn has_room(&self, position: Vec3) -> bool {
        let is_free = |contents| contents != Contents::SOLID;
        if !is_free(self.map.hull(0, HullSize::Player).contents_at(position)) {
            return false;
        }
        self.near(position, position).all(|(_, entity)| {
            let point = position - entity.origin;
            is_free(match entity.shape {
                SolidShape::Model(model) => {
                    self.map.hull(model, HullSize::Player).contents_at(point)
                }
                SolidShape::Box { mins, maxs } => player_hull(mins, maxs).hull().contents_at(point),
            })
        })
    }

    /// Returns the contents of the world and of all brush entities at a point; solid before others.
    pub(super) fn contents_at(&self, point: Vec3) -> Contents {
        let mut found = self.map.contents_at(point);
        for entity in self.entities.iter().take(MAX_SOLID_ENTITIES - 1) {
            if found == Contents::SOLID {
                break;
            }
            let SolidShape::Model(model) = entity.shape else { continue };
            let contents = self.map.hull(model, HullSize::Point).contents_at(point - entity.origin);
            if contents == Contents::SOLID || found == Contents::EMPTY {
                found = contents;
            }
        }
        found
    }

    /// Entities whose box is within 1 unit of a move, with their index in the move.
    fn near(&self, start: Vec3, end: Vec3) -> impl Iterator<Item = (usize, &SolidEntity)> {
        const REACH: f32 = 1.0;
        let side = |pick: fn(f32, f32) -> f32, corner: Vec3, reach: f32| {
            Vec3(std::array::from_fn(|i| pick(start[i], end[i]) + corner[i] + reach))
        };
        let mins = side(f32::min, PLAYER_MINS, -REACH);
        let maxs = side(f32::max, PLAYER_MAXS, REACH);
        let entities = self.entities.iter().take(MAX_SOLID_ENTITIES - 1).enumerate();
        entities.map(|(index, entity)| (index + 1, entity)).filter(move |(_, entity)| {
            let (low, high) = self.extent(entity);
            (0..3).all(|i| {
                low[i] + entity.origin[i] <= maxs[i] && high[i] + entity.origin[i] >= mins[i]
            })
        })
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

/// Returns the hull in which a player is a point.
fn player_hull(mins: Vec3, maxs: Vec3) -> BoxHull {
    BoxHull::new(mins - PLAYER_MAXS, maxs - PLAYER_MINS)
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

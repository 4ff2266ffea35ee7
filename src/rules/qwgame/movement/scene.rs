//! Solid things around a player: the world, brush entities and players.
//!
//! Source: QuakeWorld protocol 28. Engine names: `physent_t`, `PM_TraceLine`, `PM_TestPlayerPosition`,
//! `PM_PointContents`.

use super::{PLAYER_MAXS, PLAYER_MINS};
use crate::bsp29::{BoxHull, Bsp29, Contents, HullSize, HullTrace};
use crate::model::Vec3;

/// Maximum number of things of a move, with the world. Later ones are not solid.
pub const MAX_THINGS: usize = 64;

/// A solid thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thing {
    /// Shape around the origin.
    pub shape: ThingShape,
    /// Position.
    pub origin: Vec3,
}

/// Shape of a solid thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThingShape {
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

impl Thing {
    /// Returns the box of a player at a position.
    #[must_use]
    pub const fn player(origin: Vec3) -> Self {
        Self { shape: ThingShape::Box { mins: PLAYER_MINS, maxs: PLAYER_MAXS }, origin }
    }

    /// Returns a model of the map at an offset.
    #[must_use]
    pub const fn model(model: usize, origin: Vec3) -> Self {
        Self { shape: ThingShape::Model(model), origin }
    }
}

/// The world and the things in it.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The map.
    pub map: &'a Bsp29,
    /// Things beside the world: index 0 here is thing 1 of a move.
    pub things: &'a [Thing],
}

/// Result of a trace of a player.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayerTrace {
    pub(super) hit: HullTrace,
    /// Thing that was hit; 0 is the world.
    pub(super) thing: Option<usize>,
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
        let mut best = PlayerTrace { hit: HullTrace::clear(end), thing: None };
        let world = self.map.hull(0, HullSize::Player).trace(start, end);
        keep_nearest(&mut best, world, 0);
        for (index, thing) in self.near(start, end) {
            let (from, to) = (start - thing.origin, end - thing.origin);
            let mut hit = match thing.shape {
                ThingShape::Model(model) => self.map.hull(model, HullSize::Player).trace(from, to),
                ThingShape::Box { mins, maxs } => player_hull(mins, maxs).hull().trace(from, to),
            };
            hit.end += thing.origin;
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
        self.near(position, position).all(|(_, thing)| {
            let point = position - thing.origin;
            is_free(match thing.shape {
                ThingShape::Model(model) => {
                    self.map.hull(model, HullSize::Player).contents_at(point)
                }
                ThingShape::Box { mins, maxs } => player_hull(mins, maxs).hull().contents_at(point),
            })
        })
    }

    /// Returns the contents of the world and of all brush entities at a point; solid before others.
    pub(super) fn contents_at(&self, point: Vec3) -> Contents {
        let mut found = self.map.contents_at(point);
        for thing in self.things.iter().take(MAX_THINGS - 1) {
            if found == Contents::SOLID {
                break;
            }
            let ThingShape::Model(model) = thing.shape else { continue };
            let contents = self.map.hull(model, HullSize::Point).contents_at(point - thing.origin);
            if contents == Contents::SOLID || found == Contents::EMPTY {
                found = contents;
            }
        }
        found
    }

    /// Things whose box is within 1 unit of a move, with their index in the move.
    fn near(&self, start: Vec3, end: Vec3) -> impl Iterator<Item = (usize, &Thing)> {
        const REACH: f32 = 1.0;
        let side = |pick: fn(f32, f32) -> f32, corner: Vec3, reach: f32| {
            Vec3(std::array::from_fn(|i| pick(start[i], end[i]) + corner[i] + reach))
        };
        let mins = side(f32::min, PLAYER_MINS, -REACH);
        let maxs = side(f32::max, PLAYER_MAXS, REACH);
        let things = self.things.iter().take(MAX_THINGS - 1).enumerate();
        things.map(|(index, thing)| (index + 1, thing)).filter(move |(_, thing)| {
            let (low, high) = self.extent(thing);
            (0..3).all(|i| {
                low[i] + thing.origin[i] <= maxs[i] && high[i] + thing.origin[i] >= mins[i]
            })
        })
    }

    fn extent(&self, thing: &Thing) -> (Vec3, Vec3) {
        match thing.shape {
            ThingShape::Model(model) => {
                let models = self.map.models();
                models.get(model).unwrap_or(&models[0]).grown_box()
            }
            ThingShape::Box { mins, maxs } => (mins, maxs),
        }
    }
}

/// Returns the hull in which a player is a point.
fn player_hull(mins: Vec3, maxs: Vec3) -> BoxHull {
    BoxHull::new(mins - PLAYER_MAXS, maxs - PLAYER_MINS)
}

/// Keeps the smallest fraction, and the first of equal ones.
fn keep_nearest(best: &mut PlayerTrace, mut hit: HullTrace, thing: usize) {
    if hit.start_solid {
        hit.fraction = 0.0;
    }
    if hit.fraction < best.hit.fraction {
        *best = PlayerTrace { hit, thing: Some(thing) };
    }
}

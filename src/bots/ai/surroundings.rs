//! Surroundings of a bot: questions of navigation about the map of either family.
//!
//! Source: collision of the two families; players have other boxes in each.

use crate::{
    bg::player_box,
    bsp29::{Bsp29, Contents, HullSize},
    model::{
        Vec3,
        contents::{content, mask},
    },
    world::{CollisionMap, TraceQuery},
};

/// Contents that a player swims in.
const LIQUID: i32 = content::WATER | content::SLIME | content::LAVA;
/// Height of the feet above the lower corner at which they touch a liquid, in units.
const FEET: f32 = -23.0;

/// Map of a level.
#[derive(Clone, Copy, Debug)]
pub(super) enum Surroundings<'a> {
    /// Not known: every direction is clear.
    Unknown,
    Quake3(&'a CollisionMap),
    QuakeWorld(&'a Bsp29),
}

/// A way of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Way {
    /// Share of the way up to an obstacle.
    pub(super) fraction: f32,
    /// Whether the player does not fit at its start.
    pub(super) starts_in_wall: bool,
}

impl Surroundings<'_> {
    /// Whether a player at a position swims.
    pub(super) fn swims(self, origin: Vec3) -> bool {
        match self {
            Self::Unknown => false,
            Self::Quake3(map) => map.point_contents(origin) & LIQUID != 0,
            Self::QuakeWorld(map) => map.contents_at(origin).is_liquid(),
        }
    }

    /// Whether nothing is between two points.
    pub(super) fn sees(self, from: Vec3, to: Vec3) -> bool {
        match self {
            Self::Unknown => true,
            Self::Quake3(map) => {
                map.trace(&TraceQuery::line(from, to, content::SOLID)).fraction >= 1.0
            }
            Self::QuakeWorld(map) => map.hull(0, HullSize::Point).trace(from, to).fraction >= 1.0,
        }
    }

    /// Moves the box of a player along a line.
    pub(super) fn walk(self, from: Vec3, to: Vec3) -> Way {
        match self {
            Self::Unknown => Way { fraction: 1.0, starts_in_wall: false },
            Self::Quake3(map) => {
                let path = TraceQuery::line(from, to, mask::PLAYER_SOLID);
                let hit = map.trace(&path.with_box(player_box::MINS, player_box::MAXS));
                Way { fraction: hit.fraction, starts_in_wall: hit.startsolid }
            }
            Self::QuakeWorld(map) => {
                let hit = map.hull(0, HullSize::Player).trace(from, to);
                let fraction = if hit.start_solid { 0.0 } else { hit.fraction };
                Way { fraction, starts_in_wall: hit.start_solid }
            }
        }
    }

    /// Whether a player who falls along a line lands safely.
    pub(super) fn has_floor(self, from: Vec3, to: Vec3) -> bool {
        match self {
            Self::Unknown => true,
            Self::Quake3(map) => {
                let stops = mask::PLAYER_SOLID | content::LAVA | content::SLIME;
                let fall = TraceQuery::line(from, to, stops);
                let floor = map.trace(&fall.with_box(player_box::MINS, player_box::MAXS));
                floor.fraction < 1.0 && floor.contents & (content::LAVA | content::SLIME) == 0
            }
            Self::QuakeWorld(map) => {
                let fall = map.hull(0, HullSize::Player).trace(from, to);
                let feet = fall.end + Vec3::new(0.0, 0.0, FEET);
                let deadly = [Contents::LAVA, Contents::SLIME].contains(&map.contents_at(feet));
                fall.fraction < 1.0 && !deadly
            }
        }
    }
}

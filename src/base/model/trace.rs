//! Trace results.
//!
//! Shared by the provider (map and entities) and the users (pmove, weapons). Source: the base
//! game's interface to the engine.

use super::{EntityNum, Vec3};

/// Result of a trace.
///
/// A trace that is all solid has fraction 0 and no plane; one without a hit has fraction 1, no
/// plane and no entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace {
    /// Free fraction of the path, 0 to 1. Exactly 1 without a hit.
    pub fraction: f32,
    /// End position.
    pub endpos: Vec3,
    /// Surface hit, in world coordinates; all zero without one.
    pub plane: TracePlane,
    /// Whether the whole path is in solid.
    pub allsolid: bool,
    /// Whether the start is in solid.
    pub startsolid: bool,
    /// Contents of the volume hit or of the solid at the start.
    pub contents: i32,
    /// Surface flags of the side hit.
    pub surface_flags: i32,
    /// Entity hit: [`EntityNum::WORLD`] for the map, [`EntityNum::NONE`] for none.
    pub entity: EntityNum,
}

/// Plane of the surface that a trace hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracePlane {
    /// Normal, of length 1.
    pub normal: Vec3,
    /// Distance from the origin along the normal.
    pub dist: f32,
}

impl Trace {
    /// Returns the result of a free path to `end`.
    #[must_use]
    pub const fn free(end: Vec3) -> Self {
        Self {
            fraction: 1.0,
            endpos: end,
            plane: TracePlane { normal: Vec3::ZERO, dist: 0.0 },
            allsolid: false,
            startsolid: false,
            contents: 0,
            surface_flags: 0,
            entity: EntityNum::NONE,
        }
    }
}
